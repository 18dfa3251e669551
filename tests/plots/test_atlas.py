"""Pictures of an atlas: every piece is drawn, and what cannot be drawn is said."""

import dataclasses
from collections import Counter
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.plots.atlas import describe
from solved import distances_to_points

matplotlib.use("Agg")

ATLASES = Path(__file__).parents[1] / "explorer" / "atlases"


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    """Pictures of three objectives have a sixteenth of their triangles: drawing takes as long as
    there are triangles."""
    monkeypatch.setattr("bezierflow.plots.atlas.FINE", 60)


@pytest.fixture(scope="module", params=["constrained", 3])
def solution(request):
    """Two objectives with constraints, three in a box."""
    return bf.load(ATLASES / f"{request.param}.bez")


def own_pieces(solution):
    return [piece for piece in solution.pareto_set.pieces if not piece.face]


def test_every_piece_is_drawn_on_the_front_and_among_designs(solution):
    atlas, M = solution.pareto_set, solution.n_objectives
    full = [piece for piece in own_pieces(solution) if piece.dimension == M - 1]
    # Curves are drawn from the set's own points. A surface above fewer than 5 of 2,000 chart points
    # may miss all triangles.
    a = np.random.default_rng(0).uniform(size=(2000, M))
    answers = np.bincount(
        atlas.ask(a - a.mean(axis=1, keepdims=True)).number, minlength=len(atlas.patches)
    )
    clear = [piece for piece in full if M == 2 or answers[list(piece.patches)].sum() >= 5]
    assert len(clear) > len(full) / 2
    for draw in (bf.plots.front, bf.plots.surface):
        labels = Counter(draw(solution).get_legend_handles_labels()[1])
        assert (
            Counter(describe(piece, atlas, solution.names.variables) for piece in clear) <= labels
        )
        assert labels <= Counter(describe(piece, atlas, solution.names.variables) for piece in full)


def test_legends_have_the_names_of_variables(solution):
    """Those at a bound on some piece, and no others; x1, x2, … only where nobody gave names."""
    width = solution.pareto_set.n_variables
    names = tuple(f"gain {'abcdefgh'[i]}" for i in range(width))
    named = dataclasses.replace(
        solution, names=dataclasses.replace(solution.names, variables=names)
    )
    drawn = [piece for piece in own_pieces(named) if piece.dimension == named.n_objectives - 1]
    bound = {names[i] for piece in drawn for i in np.flatnonzero(piece.side)}
    pictures = [
        bf.plots.front(named),
        *([bf.plots.chart(named)] if named.n_objectives == 3 else []),
    ]
    for ax in pictures:
        text = " ".join(ax.get_legend_handles_labels()[1])
        assert {name for name in names if name in text} == bound
        assert "x1" not in text


def test_the_chart_has_a_color_for_each_region(solution):
    ax = bf.plots.chart(solution)
    if solution.n_objectives == 3:
        (picture,) = ax.images
        colors = np.unique(np.asarray(picture.get_array()).reshape(-1, 3), axis=0)
        assert len(colors) >= len({piece.dimension for piece in own_pieces(solution)}) + 1
    else:
        assert len(ax.lines) == 1 + sum(
            piece.dimension == 1 for piece in solution.pareto_set.pieces
        )


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
    with pytest.raises(TypeError, match="one surface"):
        bf.plots.chart(distances_to_points(3, 3))
