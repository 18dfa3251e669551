"""Pictures of an atlas: every piece is drawn, and what cannot be drawn is said."""

import dataclasses
from collections import Counter
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import bezierflow as bf
from solved import distances_to_points

matplotlib.use("Agg")

ATLASES = Path(__file__).parents[1] / "explorer" / "atlases"


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    """Pictures of three objectives have a sixteenth of their triangles: drawing takes as long as
    there are triangles."""
    monkeypatch.setattr("bezierflow.plots.simplex.FINE", 60)


@pytest.fixture(scope="module", params=["constrained", 3])
def solution(request):
    """Two objectives with constraints, three in a box."""
    return bf.load(ATLASES / f"{request.param}.bez")


def own_pieces(solution):
    return [piece for piece in solution.pareto_set.pieces if not piece.face]


def test_every_piece_is_drawn_on_the_front_and_among_designs(solution):
    pieces, M = solution.set.pieces, solution.n_objectives
    full = [k for k, piece in enumerate(pieces) if not piece.face and piece.dimension == M - 1]
    # Curves are drawn from the set's own points. A surface at fewer than 5 of 4,000 points
    # may miss all triangles.
    t = np.random.default_rng(0).dirichlet(np.ones(M), 4000)
    answers = np.bincount(solution.set.owners(t) + 1, minlength=len(pieces) + 1)[1:]
    clear = [number for number in full if M == 2 or answers[number] >= 5]
    assert len(clear) > len(full) / 2
    for draw in (bf.plots.front, bf.plots.surface):
        labels = Counter(draw(solution).get_legend_handles_labels()[1])
        texts = [
            [solution.set.piece_text(k, solution.names) for k in some] for some in (clear, full)
        ]
        assert Counter(texts[0]) <= labels <= Counter(texts[1])


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
        (cells,) = ax.collections
        colors = np.unique(np.round(cells.get_facecolor(), 6), axis=0)
        assert len(colors) >= len(own_pieces(solution)) + 1  # and what lies beside the front
    else:
        curves = sum(piece.dimension == 1 for piece in solution.set.pieces)
        assert len(ax.lines) == 2 * (1 + curves) + 2  # both objectives, and the legend


def test_pairs_show_the_whole_front(solution):
    figure = bf.plots.pairs(solution)
    (cloud,) = figure.axes[0].collections
    assert len(cloud.get_offsets()) == len(solution.pareto_set.points.f)


def test_edges_and_paths_are_those_of_the_simplex(solution):
    M, scale = solution.n_objectives, np.abs(solution.set.scale)
    drawn = bf.plots.edges(solution).axes[0].lines[0].get_xydata()
    ends = np.asarray(solution.front(np.eye(M)))[:2, :2]
    np.testing.assert_allclose(drawn[[0, -1]] / scale[:2], ends / scale[:2], atol=1e-9)
    objectives, designs = bf.plots.paths(solution).axes
    assert len(objectives.lines) >= M
    assert len(designs.lines) >= solution.raveling.n_variables


def test_a_chart_needs_an_atlas():
    with pytest.raises(TypeError, match="one surface"):
        bf.plots.chart(distances_to_points(3, 3))


@pytest.fixture(scope="module")
def lasso():
    """Twelve curves; kinks are variables inside."""
    return bf.load(Path(__file__).parents[2] / "docs" / "data" / "lasso.bez")


def test_pieces_of_a_set_with_kinks_are_named_by_the_users_variables(lasso):
    """The variables that stand for kinks have no names and no part in the legend."""
    assert lasso.pareto_set.units.n_auxiliary > 0
    texts = bf.plots.front(lasso).get_legend_handles_labels()[1][:-1]
    bounded = {
        word for text in texts for word in text.replace(" …", "").split(" = ")[0].split(", ")
    }
    rows = {word for word in bounded if word.startswith("constraint row")}
    assert texts
    assert bounded - rows <= {*lasso.names.variables, "inside"}


def test_a_legend_has_eight_entries_and_counts_the_other_pieces(lasso):
    curves = [k for k, one in enumerate(lasso.set.pieces) if one.dimension == 1 and not one.face]
    assert len(curves) > 8
    texts = bf.plots.front(lasso).get_legend_handles_labels()[1]
    assert len(texts) == 8
    assert texts[-1] == f"and {len(curves) - 7} more pieces"
    # what answers more trade-offs is named first
    t = np.random.default_rng(0).dirichlet(np.ones(2), 2000)
    share = np.bincount(lasso.set.owners(t) + 1, minlength=len(lasso.set.pieces) + 1)[1:]
    largest = max(curves, key=lambda number: share[number])
    assert lasso.set.piece_text(largest, lasso.names) in texts
    # entries of other kinds take their room from the pieces
    ax = bf.plots.front(lasso, points=[[1.0, 1.0]], choices={"mine": bf.decisions.knee(lasso)})
    texts = ax.get_legend_handles_labels()[1]
    assert len(texts) == 8
    assert {"points", "mine", f"and {len(curves) - 5} more pieces"} <= set(texts)


def test_all_surfaces_lie_within_the_axes():
    solution = bf.load(ATLASES / "3.bez")
    ax, F = bf.plots.front(solution), solution.F
    margin = 0.1 * np.ptp(F, axis=0)  # triangles are coarse at the tips of pieces
    limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
    assert (limits.min(axis=1) <= F.min(axis=0) + margin).all()
    assert (limits.max(axis=1) >= F.max(axis=0) - margin).all()
