"""Pareto points of any optimizer as a solution."""

import jax
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.answer import Flag
from bezierflow.precision import double_precision
from bezierflow.simplex import grid


def pareto_points(problem, n, noise=0.0, seed=0):
    """Points on or near a known Pareto set, edges and corners among them, as an evolutionary
    algorithm leaves them."""
    rng, M = np.random.default_rng(seed), problem.n_objectives
    t = np.concatenate([rng.dirichlet(np.ones(M), n), np.eye(M)])
    if M > 2:
        edges = rng.dirichlet(np.ones(M), n // 2)
        edges[np.arange(len(edges)), rng.integers(0, M, len(edges))] = 0
        t = np.concatenate([t, edges / edges.sum(axis=1, keepdims=True)])
    with double_precision():
        x = np.asarray(problem.pareto_point(t))
        x = x + noise * rng.normal(size=x.shape)
        return x, np.asarray(jax.vmap(problem)(x))


def true_rms(solution, problem):
    with double_precision():
        x = np.asarray(solution.flat_surface(grid(problem.n_objectives, 15)))
        return float(np.sqrt(np.mean(problem.distance(x) ** 2)))


# Problems of this size alone where no other one is needed: they share their compiled programs.
CURVE = bf.problems.Quadratic.random(2, 4, condition=5.0, seed=1)
TRIANGLE = bf.problems.ScaledMED()


@pytest.fixture(scope="module")
def curve():
    return bf.from_points(*pareto_points(CURVE, 60))


@pytest.fixture(scope="module")
def triangle():
    x, f = pareto_points(TRIANGLE, 80, noise=0.01)
    return bf.from_points(x, f, names={"objectives": ["cost", "mass", "noise"]})


def test_points_of_a_curve_become_a_surface(curve):
    assert curve.result.success
    assert curve.degree > 1
    assert true_rms(curve, CURVE) < 1e-3 * curve.error.diameter
    assert float(curve.error) < 1e-3 * curve.error.diameter


@pytest.mark.slow
def test_noisy_points_of_three_objectives_become_a_surface(triangle):
    assert triangle.result.success, triangle.result
    assert true_rms(triangle, TRIANGLE) < 0.02 * triangle.error.diameter
    assert true_rms(triangle, TRIANGLE) < 2 * float(triangle.error)


def test_corners_belong_to_their_objectives(triangle):
    corners = np.asarray(triangle.front(np.eye(3)))
    np.testing.assert_array_equal(corners.argmin(axis=0), [0, 1, 2])


def test_the_front_belongs_to_the_designs(triangle):
    t = grid(3, 12)
    with double_precision():
        exact = np.asarray(jax.vmap(TRIANGLE)(np.asarray(triangle.flat_surface(t))))
    miss = np.abs(np.asarray(triangle.front(t)) - exact).max(axis=0)
    assert (miss < 0.05 * np.ptp(exact, axis=0)).all()


def test_questions_are_answered(triangle):
    best = bf.decisions.best(triangle, minimize="cost", subject_to={"mass": (None, 1.0)})
    assert best.f[1] <= 1.0 + 1e-6
    assert best.confidence.source == "fitted front"
    spans = bf.decisions.ranges(triangle)
    knee, near = bf.decisions.knee(triangle), bf.decisions.nearest(triangle, spans.ideal)
    for choice in (knee, near):
        assert (choice.f <= spans.nadir + 1e-9).all()
        assert (choice.f >= spans.ideal - 1e-9).all()
    x = triangle.at(weights=[1, 1, 1])
    np.testing.assert_allclose(bf.decisions.locate(triangle, x).distance, 0, atol=1e-6)


def test_files_pictures_and_pages_take_it(triangle, tmp_path):
    triangle.save(tmp_path / "points.bez")
    loaded, t = bf.load(tmp_path / "points.bez"), grid(3, 4)
    np.testing.assert_array_equal(loaded.front(t), triangle.front(t))
    np.testing.assert_array_equal(loaded.pareto_set(t), triangle.pareto_set(t))
    assert (loaded.result, loaded.names, loaded.error.flags) == (
        triangle.result,
        triangle.names,
        triangle.error.flags,
    )
    assert bf.explore(loaded, tmp_path / "page.html").stat().st_size > 10_000
    for picture in (
        bf.plots.front,
        bf.plots.surface,
        bf.plots.overview,
        bf.plots.pairs,
        bf.plots.history,
    ):
        picture(triangle)


def test_dominated_and_repeated_points_are_counted_and_change_nothing(curve):
    x, f = pareto_points(CURVE, 60)
    worse = np.concatenate([x, x[:20], x[:7]]), np.concatenate([f, f[:20] + 0.1, f[:7]])
    solution = bf.from_points(*worse)
    assert "62 points of 89 (20 dominated, 7 repeated)" in solution.result.message
    t = grid(2, 10)
    np.testing.assert_allclose(solution.pareto_set(t), curve.pareto_set(t), atol=1e-9)


def test_units_of_variables_and_objectives_do_not_matter(curve):
    x, f = pareto_points(CURVE, 60)
    units, prices = np.array([1e6, 1e-6, 1.0, 50.0]), np.array([1e-4, 1e5])
    solution, t = bf.from_points(x * units, f * prices), grid(2, 10)
    np.testing.assert_allclose(
        np.asarray(solution.pareto_set(t)) / units, curve.pareto_set(t), atol=1e-6
    )
    np.testing.assert_allclose(np.asarray(solution.front(t)) / prices, curve.front(t), atol=1e-6)


def test_variables_at_random_do_not_move_the_front():
    s, rng = np.linspace(0, 1, 62), np.random.default_rng(0)
    x = np.column_stack([s, rng.uniform(size=(62, 3))])
    solution, t = bf.from_points(x, np.column_stack([s**2, (1 - s) ** 2])), grid(2, 20)
    np.testing.assert_allclose(
        np.sqrt(np.asarray(solution.front(t)).clip(0)).sum(axis=1), 1, atol=5e-3
    )


def test_one_variable_may_be_a_vector():
    x = np.linspace(0, 1, 40)
    solution = bf.from_points(x, np.column_stack([x**2, (x - 1) ** 2]))
    assert solution.result.success
    np.testing.assert_allclose(solution.at(weights=[1, 1]), [0.5], atol=1e-3)


def test_designs_in_a_dict_keep_their_form():
    x, f = pareto_points(CURVE, 60)
    solution = bf.from_points({"a": x[:, :1], "b": x[:, 1:]}, f)
    assert solution.at(weights=[1, 2])["b"].shape == (3,)


def test_column_names_of_data_frames_become_names():
    pandas = pytest.importorskip("pandas")
    x, f = pareto_points(CURVE, 60)
    table = pandas.DataFrame(np.column_stack([x, f]), columns=["a", "b", "c", "d", "cost", "mass"])
    solution = bf.from_points(
        table[["a", "b", "c", "d"]],
        table[["cost", "mass"]],
        names={"objective_units": ["EUR", "kg"]},
    )
    assert solution.names.variables == ("a", "b", "c", "d")
    assert solution.names.objective_labels == ("cost [EUR]", "mass [kg]")
    with pytest.raises(
        TypeError, match="X must hold numbers alone, one point per row; its columns 'kind' do not"
    ):
        bf.from_points(table.assign(kind="steel")[["a", "kind"]], table[["cost", "mass"]])


@pytest.mark.slow
def test_designs_keep_bounds_everywhere():
    """The set follows x₁ = 0 for half of its length, where an unbounded polynomial swings to both
    sides."""
    s = np.linspace(0, 1, 80)
    x = np.column_stack([np.maximum(s - 0.5, 0), s])
    f = np.column_stack([(1 - s) ** 2, s**2])
    free, kept = bf.from_points(x, f), bf.from_points(x, f, bounds=(0, 1))
    t = grid(2, 200)
    assert np.asarray(free.pareto_set(t)).min() < -1e-4
    assert np.asarray(kept.pareto_set(t)).min() >= 0
    assert float(kept.error) < 0.03


def zdt3(n=150):
    x = np.linspace(0, 1, 5000)
    f = np.column_stack([x, 1 - np.sqrt(x) - x * np.sin(10 * np.pi * x)])
    kept = np.flatnonzero([not ((f <= row).all(axis=1) & (f < row).any(axis=1)).any() for row in f])
    kept = kept[:: max(1, len(kept) // n)]
    return x[kept], f[kept]


def test_pieces_apart_are_suspect():
    result = bf.from_points(*zdt3()).result
    assert result.reason is bf.Reason.SUSPECT
    assert "groups apart" in result.message


def test_objectives_that_agree_are_suspect():
    x, f = pareto_points(CURVE, 60)
    solution = bf.from_points(x, np.column_stack([f, 2 * f[:, 0] + 1]))
    assert solution.result.reason is bf.Reason.SUSPECT
    assert Flag.POINTS_DEGENERATE in solution.error.flags


def test_designs_without_order_are_suspect():
    s = np.linspace(0, 1, 62)
    x = np.random.default_rng(0).normal(size=(62, 4))
    solution = bf.from_points(x, np.column_stack([s**2, (1 - s) ** 2]))
    assert Flag.POINTS_MISSED in solution.error.flags


def test_there_are_no_objectives_to_call(curve):
    with pytest.raises(ValueError, match="came from points"):
        curve.weights(np.array([0.5, 0.5]))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("X", "F", "message"),
    [
        (
            np.zeros((5, 2)),
            np.zeros(5),
            "F must have a column for each of two objectives or more, got 1",
        ),
        (
            np.zeros((5, 2)),
            np.zeros((4, 2)),
            "X and F must have one row for each point, got 5 and 4 rows",
        ),
        (
            np.eye(4),
            np.eye(4)[:, :2],
            "F must have at least 4 distinct points that no other one dominates.* got 2",
        ),
        (
            [[0.0], [1.0], [2.0]],
            [[0, 1], [np.nan, 1], [1, np.inf]],
            "finite; these rows are not: 1, 2; leave",
        ),
        (
            np.full((9, 1), np.nan),
            np.zeros((9, 2)),
            "finite; these rows are not: 0, 1, 2, 3, 4 and 4 more; leave",
        ),
        (
            np.zeros((3, 1)),
            np.array([3.0, np.nan, 1.0]),
            "a single objective has no trade-off, and its best point is row 2",
        ),
        (
            {"a": 3.0},
            np.zeros((5, 2)),
            r"X\['a'\] must be an array with one point per row, got a single number",
        ),
        (
            np.zeros((5, 2, 2)),
            np.zeros((5, 2)),
            r"X must be a matrix with one point per row, got shape \(5, 2, 2\)",
        ),
    ],
)
def test_misuse_is_named(X, F, message):
    with pytest.raises(ValueError, match=message):
        bf.from_points(X, F)


def test_points_outside_of_the_bounds_are_named():
    x, f = pareto_points(CURVE, 30)
    with pytest.raises(ValueError, match=r"X must obey the bounds, but x1 is .* in row"):
        bf.from_points(x, f, bounds=(x[:, 0].max(), 9.0))
    with pytest.raises(ValueError, match="objectives must hold 2 texts"):
        bf.from_points(x, f, names={"objectives": ["cost"]})
