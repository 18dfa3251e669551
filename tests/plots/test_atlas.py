"""Pictures of an atlas: every piece is drawn, and what cannot be drawn is said."""

import jax.numpy as jnp
import matplotlib
import numpy as np
import pytest

import bezierflow as bf

matplotlib.use("Agg")

CENTERS = np.array([[1.5, 0.2, 0.4], [-0.3, 0.9, 0.1], [0.2, -0.5, 1.4]])


@pytest.fixture(scope="module", params=[2, 3])
def solution(request):
    objectives = lambda x: jnp.sum((x - CENTERS[: request.param]) ** 2, axis=1)
    return bf.minimize(objectives, None, bounds=(np.full(3, 0.1), np.full(3, 0.7)), tol=1e-4)


def own_pieces(solution):
    return [piece for piece in solution.pareto_set.pieces if not piece.face]


def test_every_piece_is_drawn_on_the_front_and_among_designs(solution):
    for draw in (bf.plots.front, bf.plots.surface):
        labels = draw(solution).get_legend_handles_labels()[1]
        full = [piece for piece in own_pieces(solution) if piece.dimension == solution.n_objectives - 1]
        assert len(labels) >= 0.5 * len(full) > 0  # the thinnest may be smaller than the picture's triangles


def test_the_chart_has_a_color_for_each_region(solution):
    ax = bf.plots.chart(solution)
    if solution.n_objectives == 3:
        (picture,) = ax.images
        colors = np.unique(np.asarray(picture.get_array()).reshape(-1, 3), axis=0)
        assert len(colors) >= len({piece.dimension for piece in own_pieces(solution)}) + 1
    else:
        assert len(ax.lines) == 1 + sum(piece.dimension == 1 for piece in solution.pareto_set.pieces)


def test_pairs_show_the_whole_front(solution):
    figure = bf.plots.pairs(solution)
    (cloud,) = figure.axes[0].collections
    assert len(cloud.get_offsets()) == len(solution.pareto_set.points.f)


def test_what_takes_one_surface_says_so(solution):
    with pytest.raises(TypeError, match="atlas"):
        bf.plots.edges(solution)
    with pytest.raises(TypeError, match="atlas"):
        bf.plots.paths(solution)


def test_a_chart_needs_an_atlas():
    objectives = lambda x: jnp.sum((x - CENTERS) ** 2, axis=1)
    with pytest.raises(TypeError, match="one surface"):
        bf.plots.chart(bf.minimize(objectives, np.zeros(3)))
