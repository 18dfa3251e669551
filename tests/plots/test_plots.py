"""Every picture is drawn, holds what it should, and says clearly when it cannot."""

import dataclasses

import matplotlib as mpl
import numpy as np
import pytest

import bezierflow as bf
from bezierflow import plots
from bezierflow.answer import Result
from bezierflow.names import Names
from bezierflow.plots.drawing import grid_triangles, net_edges, pyplot
from bezierflow.simplex import grid, multi_indices, n_controls
from solved import distances_to_points, solved, turned

mpl.use("Agg")

TWO = distances_to_points(2, 2)
THREE = distances_to_points(
    3, 3, degree=3, names=Names(objectives=("cost", "mass", "noise"), variables=("a", "b", "c"))
)
FIVE = distances_to_points(5, 9)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot().close("all")


def n_colors(drawn):
    """How many colors the finished figure has; drawing it is where most mistakes show, and an empty
    one has two."""
    figure = drawn if hasattr(drawn, "savefig") else drawn.figure
    figure.canvas.draw()
    # a pixel is four bytes
    return len(np.unique(np.asarray(figure.canvas.buffer_rgba()).view(np.uint32)))


CASES = [
    (name, which)
    for name in plots.__all__
    for which in ("two", "three", "five")
    if (name, which)
    not in {("surface", "five"), ("front", "five"), ("ternary", "two"), ("ternary", "five")}
    and name not in ("chart", "error")  # tests of their own
]


@pytest.mark.parametrize(("name", "which"), CASES)
def test_one_line_each(name, which):
    solution = {"two": TWO, "three": THREE, "five": FIVE}[which]
    drawn = getattr(plots, name)(solution, title="a title")
    figure = drawn if hasattr(drawn, "savefig") else drawn.figure
    titles = [figure.get_suptitle(), *(ax.get_title() for ax in figure.axes)]
    assert "a title" in titles
    assert n_colors(drawn) > 10


def test_the_surface_shows_its_net_and_points():
    ax = plots.surface(THREE, net=True, points=np.zeros((2, 3)))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["Bézier simplex", "control points", "points"]
    assert (ax.get_xlabel(), ax.get_zlabel()) == ("a", "c")
    assert n_colors(ax) > 10


def test_the_truth_is_drawn_where_a_problem_knows_it():
    solution = solved(bf.problems.ScaledMED(), 3)
    for ax, name in (
        (plots.surface(solution), "Pareto set"),
        (plots.front(solution), "Pareto front"),
    ):
        assert name in [text.get_text() for text in ax.get_legend().get_texts()]
    heat = plots.error(solution)
    assert n_colors(heat) > 10
    values = heat.collections[0].get_array()
    assert 1e-6 < float(values.max()) < 1


def test_the_front_marks_choices():
    choice = bf.decisions.knee(THREE)
    ax = plots.front(THREE, choices=[choice], points=np.zeros((1, 3)))
    assert choice.question in [text.get_text() for text in ax.get_legend().get_texts()]
    ax = plots.front(THREE, choices={"mine": choice, "yours": choice})
    assert [text.get_text() for text in ax.get_legend().get_texts()][-2:] == ["mine", "yours"]


def test_a_curve_is_the_surface_itself():
    line = plots.surface(TWO).lines[0]
    np.testing.assert_allclose(
        np.array(line.get_data()).T, TWO.pareto_set(grid(2, 200)), atol=1e-12
    )


def test_ternary_takes_objectives_variables_and_functions():
    for what, expected in (("cost", "cost"), (1, "mass"), ("b", "b"), (lambda t: t[:, 0], "")):
        ax = plots.ternary(THREE, what)
        assert ax.figure.axes[1].get_ylabel() == expected
    t = grid(3, 40)
    shown = plots.ternary(THREE, "mass").collections[0].get_array()
    np.testing.assert_allclose(shown, np.asarray(THREE.front(t))[:, 1])


def test_every_pair_of_objectives_has_its_panel():
    assert sum(ax.get_visible() for ax in plots.pairs(FIVE).axes) == 10
    assert sum(ax.get_visible() for ax in plots.edges(FIVE).axes) == 10


def test_paths_go_through_the_points_given():
    figure = plots.paths(THREE, [[1, 0, 0], [0.2, 0.3, 0.5]])
    assert [tick.get_text() for tick in figure.axes[1].get_xticklabels()] == [
        "1, 0, 0",
        "0.2, 0.3, 0.5",
    ]


def test_the_overview_of_two_objectives_has_front_and_designs():
    one = distances_to_points(2, 1)
    designs, front = plots.overview(one).axes
    f = front.lines[0].get_xydata()
    np.testing.assert_allclose(f, np.asarray(one.front(grid(2, len(f) - 1))))
    along = designs.lines[0].get_xydata()
    x = np.asarray(one.flat_designs(grid(2, len(along) - 1)))[:, 0]
    np.testing.assert_allclose(along[:, 1], (x - x.min()) / np.ptp(x), atol=1e-12)


def test_a_variable_that_does_not_change_is_a_straight_line():
    """Rounding errors of a constant, be it 0 or not, are not blown up to the height of the
    picture."""
    noise = 1e-12 * np.random.default_rng(0).normal(size=THREE.pareto_set.control_points.shape)
    points = np.asarray(THREE.pareto_set.control_points) * [1, 0, 1] + [0, 5, 0] + noise
    still = dataclasses.replace(THREE, pareto_set=bf.BezierSimplex(points, 3, THREE.degree))
    moving, constant = plots.paths(still).axes[1].lines[:2]
    assert np.ptp(constant.get_ydata()) == 0
    assert "= 5 throughout" in constant.get_label()
    assert np.ptp(moving.get_ydata()) == 1
    at_zero = dataclasses.replace(
        still, pareto_set=bf.BezierSimplex(points - [0, 5, 0], 3, THREE.degree)
    )
    at_zero = dataclasses.replace(
        at_zero, known_error=dataclasses.replace(THREE.known_error, rms=1e-11)
    )
    assert np.ptp(plots.paths(at_zero).axes[1].lines[1].get_ydata()) == 0


def test_a_front_in_space_is_seen_from_its_wide_side_and_lit():
    ax = plots.front(THREE)
    faces = next(one for one in ax.collections if len(one.get_facecolor()) > 100)
    assert len(np.unique(faces.get_facecolor(), axis=0)) > 10
    up, around = np.radians([ax.elev, ax.azim])
    towards = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    f = np.asarray(THREE.front(grid(3, 20)))
    corners = (f / np.ptp(f, axis=0))[grid_triangles(20)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.abs(normals @ towards).sum() > 0.7 * np.linalg.norm(normals, axis=1).sum()


def test_triangles_tile_the_grid_and_edges_join_neighbors():
    triangles = grid_triangles(6)
    assert len(triangles) == 36
    corners = grid(3, 6)[triangles]
    areas = np.abs(np.linalg.det(corners))
    np.testing.assert_allclose(areas, 1 / 36)
    indices = multi_indices(3, 4)
    pairs = net_edges(3, 4)
    assert (np.abs(indices[pairs[:, 0]] - indices[pairs[:, 1]]).sum(axis=1) == 2).all()
    assert len(pairs) == 3 * n_controls(3, 3)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.surface(FIVE), "plots.paths draws any number"),
        (lambda: plots.front(FIVE), "plots.pairs draws any number"),
        (lambda: plots.ternary(TWO), "ternary draws 3 objectives, got 2"),
        (lambda: plots.ternary(THREE, "speed"), "what must be an objective's number"),
        (lambda: plots.error(FIVE), "error draws 2 or 3 objectives, got 5"),
        (lambda: plots.error(THREE), "without its objectives"),
        (
            lambda: plots.paths(THREE, [[0.5, 0.6, 0.2], [1, 0, 0]]),
            "through must hold points of the simplex",
        ),
        (lambda: plots.history(bf.decisions.zoom(THREE, 0.5 * np.eye(3) + 1 / 6)), "no history"),
    ],
)
def test_what_cannot_be_drawn_is_said(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_maximized_objectives_are_drawn_with_their_own_sign_and_say_so():
    shown = turned(TWO, 1)
    ax = plots.front(shown)
    line = ax.lines[0].get_xydata()
    np.testing.assert_allclose(line, np.asarray(shown.front(grid(2, len(line) - 1))))
    assert ax.get_xlabel() == "f1"
    assert ax.get_ylabel() == "f2 (higher is better)"
    labels = [text.get_text() for text in plots.paths(shown).axes[1].get_xticklabels()]
    assert labels == ["least\nf1", "largest\nf2"]


def test_logarithmic_variables_are_drawn_as_themselves():
    names = dataclasses.replace(TWO.names, transforms=("log10", ""))
    line = plots.surface(dataclasses.replace(TWO, names=names)).lines[0].get_xydata()
    z = np.asarray(TWO.flat_surface(grid(2, len(line) - 1)))
    np.testing.assert_allclose(line, np.column_stack([10 ** z[:, 0], z[:, 1]]))


def test_a_doubtful_result_says_so_above_the_picture():
    doubtful = dataclasses.replace(THREE, result=Result(bf.Reason.SUSPECT, "something is wrong"))
    assert (
        plots.front(doubtful, title="mine").get_title()
        == "suspect: read solution.result before you use this\nmine"
    )
    assert plots.pairs(doubtful).get_suptitle().startswith("suspect")
    assert plots.front(THREE, title="mine").get_title() == "mine"


def test_a_surface_of_the_plane_is_filled_in_its_color():
    surface = bf.BezierSimplex(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 3, 1)
    ax = plots.surface(surface)
    (filled,) = ax.collections
    red, _, blue, alpha = filled.get_facecolor()[0]
    assert alpha == 1
    assert red < 0.9 < blue
