"""Sets from values alone: a mesh of the chart. Functions here are called through `float`, so that
nothing of them can be traced."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial import KDTree

import bezierflow as bf
from bezierflow.answer import best_levels
from bezierflow.atlas.cells import connected, cubic, lowest, triangulated
from bezierflow.atlas.local_solves import descend
from bezierflow.atlas.lone_points import groups
from bezierflow.atlas.mesh_search import MeshSearch
from bezierflow.atlas.program import Program
from bezierflow.bezier import design_matrix
from bezierflow.objectives import BudgetSpentError, InfeasibleError, feasible_set, read_problem


class Recorder:
    """A function that keeps what it was asked for."""

    def __init__(self, f):
        self.f, self.x, self.y = f, [], []

    def __call__(self, x):
        x = np.array([float(value) for value in x])
        self.x.append(x)
        self.y.append(np.array(self.f(x), dtype=float))
        return [float(value) for value in self.y[-1]]


def zdt1(x):
    g = 1 + 9 * np.mean(x[1:])
    return [x[0], g * (1 - np.sqrt(x[0] / g))]


def waves(x):
    """A front in several pieces."""
    g = 1 + 3 * np.sum((x[1:] - 0.3) ** 2)
    return [x[0], g + 1 - np.sqrt(x[0]) - x[0] * np.sin(10 * np.pi * x[0])]


def sphere(x):
    g = 1 + np.sum((x[2:] - 0.5) ** 2)
    a, b = np.pi / 2 * x[0], np.pi / 2 * x[1]
    return [g * np.cos(a) * np.cos(b), g * np.cos(a) * np.sin(b), g * np.sin(a)]


def rastrigin(x):
    g = 1 + 10 * (len(x) - 1) + np.sum(x[1:] ** 2 - 10 * np.cos(4 * np.pi * x[1:]))
    return [x[0], g * (1 - np.sqrt(x[0] / g))]


def test_a_curve_from_values_is_the_front():
    solution = bf.minimize(Recorder(zdt1), bounds=(np.zeros(8), np.ones(8)), budget=5000)
    assert isinstance(solution.pareto_set, bf.BezierAtlas)
    f = solution.spread(300).F
    assert np.abs(f[:, 1] - (1 - np.sqrt(f[:, 0]))).max() < 2e-3
    assert f[:, 0].min() < 1e-3
    assert f[:, 0].max() > 0.999
    assert solution.error.front < 1e-3


@pytest.mark.slow("1.6")
@pytest.mark.parametrize("most", [np.inf, 1.6])
def test_smooth_pairs_are_exact_while_a_budget_lasts(most):
    """Bowls with unlike axes, whose designs of least w · f inside of a ball have a closed form but
    for one multiplier."""
    centers, axes = np.array([[-2.0, -2.0], [2.0, 2.0]]), np.array([[1.0, 6.0], [5.0, 1.0]])

    def bowls(x):
        return (axes * (x - centers) ** 2).sum(axis=1)

    def least(w, price):
        return (w @ (axes * centers)) / (w @ axes + price)

    def design(w):
        # by bisection: |x| falls with the price of leaving the ball
        low, high = 0.0, 20.0
        for _ in range(200 if least(w, 0.0) @ least(w, 0.0) > most**2 else 0):
            price = (low + high) / 2
            low, high = (price, high) if np.linalg.norm(least(w, price)) > most else (low, price)
        return least(w, low)

    x = np.array([design(np.array([w, 1 - w])) for w in np.linspace(0, 1, 9)])
    f = np.array([bowls(row) for row in x])
    ball = Recorder(lambda x: [np.sum(x**2) - most**2]) if most < np.inf else None
    box = np.full(2, -4.0), np.full(2, 4.0)
    solution = bf.minimize(Recorder(bowls), bounds=box, constraints=ball, budget=6000)
    found = np.array([solution.at(aspiration=wish) for wish in f])
    off = (np.array([bowls(row) for row in found]) - f) / np.ptp(f, axis=0)
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.nfev <= 6000
    assert off.min(axis=1).max() < max(1e-6, solution.error.front)
    assert np.abs(off).max() < 2e-5
    assert np.abs(found - x).max() < 1e-3


def test_gradients_alone_make_pairs_exact():
    centers, axes = np.array([[-2.0, -2.0], [2.0, 2.0]]), np.array([[1.0, 6.0], [5.0, 1.0]])

    def bowls(x):
        return (axes * (x - centers) ** 2).sum(axis=1)

    weights = np.linspace(0, 1, 9)[:, None] * [1, -1] + [0, 1]
    x = np.clip((weights @ (axes * centers)) / (weights @ axes), -1, 1.5)
    f = np.array([bowls(row) for row in x])
    given = bf.Objectives(Recorder(bowls), jac=lambda x: 2 * axes * (x - centers))
    solution = bf.minimize(given, bounds=(np.full(2, -1.0), np.full(2, 1.5)))
    found = np.array([bowls(solution.at(aspiration=wish)) for wish in f])
    assert solution.result.success
    assert (np.abs(found - f) / np.ptp(f, axis=0)).max() < 1e-6


def test_gaps_of_a_front_have_no_answers():
    solution = bf.minimize(Recorder(waves), bounds=(np.zeros(3), np.ones(3)), budget=4000)
    x = np.linspace(0, 1, 20001)
    f = np.stack([x, 2 - np.sqrt(x) - x * np.sin(10 * np.pi * x)], axis=1)
    low = np.minimum.accumulate(f[:, 1])
    best = f[np.r_[True, f[1:, 1] < low[:-1]]]
    found = solution.spread(300).F
    # nothing is dominated, and everything is reached
    assert np.abs(best_levels(best, found)[0]).max() < 5e-3
    assert best_levels(found, best)[0].max() < 5e-3


def test_three_objectives_from_values():
    solution = bf.minimize(Recorder(sphere), bounds=(np.zeros(4), np.ones(4)), budget=3000)
    f = solution.spread(300).F
    off = np.linalg.norm(f, axis=1) - 1
    assert np.median(off) < 4e-3
    assert np.quantile(off, 0.95) < 0.03


def test_every_answer_keeps_the_constraints():
    def ring(x):
        wave = 0.1 * np.cos(16 * np.arctan2(x[0], x[1]))
        return [1 + wave - x[0] ** 2 - x[1] ** 2, np.sum((x - 0.5) ** 2) - 0.5]

    solution = bf.minimize(
        Recorder(lambda x: x),
        bounds=(np.full(2, 1e-6), np.full(2, np.pi)),
        constraints=ring,
        budget=1000,
    )
    for x in np.asarray(solution.spread(400).X):
        assert max(ring(x)) < 1e-6


def test_holes_of_a_front_are_not_crossed_by_cells():
    """A cell that is feasible where it is looked at may be infeasible beside."""

    def hole(x):
        return [np.sin(12 * x[0]) * np.sin(12 * x[1]) - 0.5]

    def bowl(x):
        return [x[0], x[1], 2 - x[0] - x[1] + x[0] * x[1] + (x[2] - 0.5) ** 2]

    shares = []
    for budget in (600, 1000):
        solution = bf.minimize(
            Recorder(bowl), bounds=(np.zeros(3), np.ones(3)), constraints=hole, budget=budget
        )
        shares += [np.mean([max(hole(x)) > 1e-6 for x in np.asarray(solution.spread(400).X)])]
    assert np.mean(shares) < 0.02


@pytest.mark.parametrize("budget", [60, 1000])
def test_no_evaluated_design_is_better_than_the_answer(budget):
    recorder = Recorder(rastrigin)
    low, high = np.r_[0.0, np.full(4, -5.0)], np.r_[1.0, np.full(4, 5.0)]
    solution = bf.minimize(recorder, bounds=(low, high), budget=budget)
    assert len(recorder.y) <= budget
    made = solution.stats.calls.made
    n = made["probes"].objective + made["search"].objective  # the estimate comes last
    seen, answers = np.array(recorder.y[:n]), solution.spread(400).F
    scale = np.ptp(answers, axis=0)
    # by how much the best answer for each design exceeds it in any objective
    assert best_levels(answers / scale, seen / scale)[0].max() < 0.02


@pytest.mark.slow
def test_noise_of_values_is_survived():
    noise = np.random.default_rng(3)

    def noisy(x):
        return np.array(zdt1(x)) + 1e-4 * noise.normal(size=2)

    solution = bf.minimize(Recorder(noisy), bounds=(np.zeros(4), np.ones(4)), budget=4000)
    x = np.asarray(solution.spread(50).X)
    f = np.array([zdt1(row) for row in x])
    assert np.median(np.abs(f[:, 1] - (1 - np.sqrt(f[:, 0])))) < 0.01


def test_the_same_seed_gives_the_same_answer():
    first, second = (
        bf.minimize(Recorder(zdt1), bounds=(np.zeros(3), np.ones(3)), budget=500, seed=4)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.spread(50).X, second.spread(50).X)


def test_a_mesh_is_kept_in_a_file(tmp_path):
    solution = bf.minimize(Recorder(zdt1), bounds=(np.zeros(3), np.ones(3)), budget=500)
    solution.save(tmp_path / "mesh.bez")
    again = bf.load(tmp_path / "mesh.bez")
    t = np.random.default_rng(0).dirichlet(np.ones(2), 40)
    np.testing.assert_array_equal(again.pareto_set(t), solution.pareto_set(t))
    assert [patch.label.trimmed for patch in again.pareto_set.patches] == [
        patch.label.trimmed for patch in solution.pareto_set.patches
    ]


def test_a_run_from_values_goes_on_from_its_folder(tmp_path):
    box = np.zeros(3), np.ones(3)
    whole = bf.minimize(Recorder(zdt1), bounds=box, budget=600, checkpoint=tmp_path / "whole")
    stopped = Recorder(zdt1)

    def stop(iteration):
        return iteration.number == 3

    folder = tmp_path / "run"
    bf.minimize(stopped, bounds=box, budget=600, callback=stop, checkpoint=folder)
    more = bf.minimize(stopped, bounds=box, budget=600, checkpoint=folder)
    t = np.random.default_rng(0).dirichlet(np.ones(2), 40)
    np.testing.assert_array_equal(more.pareto_set(t), whole.pareto_set(t))


# parts


def test_searches_learn_the_curvature():
    """Along the front of two quadratics with different axes, by values alone."""
    A = np.diag([1.0, 8.0, 3.0])
    p, q = np.full(3, 0.3), np.array([0.7, 0.6, 0.4])

    def f(x):
        return [(x - p) @ A @ (x - p), (x - q) @ (x - q)]

    problem = read_problem(Recorder(f), np.full(3, 0.5), bounds=(np.zeros(3), np.ones(3)))
    feasible = feasible_set((np.zeros(3), np.ones(3)), None, 3)
    program = Program(problem.flat, 2, feasible, (np.zeros(3), np.ones(3)))
    assert not program.has_hessians
    program.ideal, program.span = np.zeros(2), np.ones(2)
    a = np.array([[0.05, -0.05], [-0.1, 0.1]])
    ends = descend(program, a, np.full((2, 3), 0.9), least=1e-10, enough=1e-12)
    for k in range(2):
        # at a solution both levels agree, and the weighted slopes cancel
        assert np.ptp(ends.r[k] - a[k]) < 1e-5
        slopes = np.stack([2 * A @ (ends.z[k] - p), 2 * (ends.z[k] - q)])
        w = np.linalg.norm(slopes, axis=1)[::-1] / np.linalg.norm(slopes, axis=1).sum()
        assert np.abs(w @ slopes).max() < 1e-2


def test_cells_between_points():
    nodes, beside = triangulated(np.array([[0.3], [0.0], [1.0]]))
    assert nodes.tolist() == [[1, 0], [0, 2]]
    assert beside.tolist() == [[1, -1], [-1, 0]]
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert len(triangulated(corners)[0]) == 2
    assert len(triangulated(corners[:1])[0]) == 0
    assert len(triangulated(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))[0]) == 0


def test_cells_lie_between_places_that_differ():
    # On the chart of two of three objectives nodes that differ in the third alone are at one place.
    c = np.array([[0.5], [0.1], [0.5], [0.5 + 1e-12], [0.9]])
    rows = lowest(c, np.array([0.3, 0.2, 0.1, 0.2, 0.2]))
    assert rows.tolist() == [1, 2, 4]
    nodes, beside = triangulated(c[rows])
    across = np.where(beside >= 0, nodes[beside, [[1, 0]]], -1)
    for own, others in zip(nodes, across, strict=True):
        assert np.isfinite(cubic(c[rows], c[rows], own, others)[1]).all()
    assert lowest(np.zeros((3, 0)), np.array([2.0, 1.0, 3.0])).tolist() == [1]


def test_an_interval_goes_through_its_nodes_and_their_neighbors():
    c = np.array([[0.0], [1.0], [2.5], [4.0]])
    y = (c**3 - c)[:, :1]
    degree, control = cubic(c, y, np.array([1, 2]), np.array([3, 0]))
    assert degree == 3
    t = np.linspace(0, 1, 5)
    x = 1.0 + 1.5 * t
    said = design_matrix(np.stack([1 - t, t], axis=1), 3) @ control
    np.testing.assert_allclose(said[:, 0], x**3 - x, atol=1e-12)


def test_cells_that_share_a_side_are_one_piece():
    nodes = np.array([[0, 1], [1, 2], [3, 4]])
    assert len(set(connected(nodes, [b"", b"", b""]))) == 2
    assert len(set(connected(nodes, [b"", b"a", b""]))) == 3


def test_points_beside_each_other_are_one_piece():
    f = np.array([[0.0, 1.0], [0.01, 0.99], [0.02, 0.98], [1.0, 0.0]])
    assert len(np.unique(groups(f))) == 2


@pytest.mark.slow
def test_a_front_in_a_small_part_of_a_wide_box():
    # Stress and volume of a truss of two bars: sections of 1e-5 of their bounds.
    def f(x):
        return jnp.stack([x[0] + x[1], 1e-8 / x[0] + 2e-8 / x[1] + x[2] ** 2])

    low, high = np.array([1e-5, 1e-5, -1.0]), np.array([100.0, 100.0, 1.0])
    solution = bf.minimize(f, bounds=(low, high), constraints=lambda x: x[0] + x[1] - 1e-3)
    assert solution.result.reason in (bf.Reason.CONVERGED, bf.Reason.NOT_AT_TOLERANCE)
    t = np.linspace(0, 1, 9)[1:-1]
    t = np.stack([t, 1 - t], axis=1)
    x, F = np.asarray(solution.design(t)), np.asarray(solution.front(t))
    # least for a given volume: sections in the ratio of roots
    total = x[:, 0] + x[:, 1]
    np.testing.assert_allclose(x[:, 1] / x[:, 0], np.sqrt(2), rtol=1e-3)
    np.testing.assert_allclose(F[:, 1], 1e-8 * (1 + np.sqrt(2)) ** 2 / total, rtol=1e-5)


def test_as_long_as_nothing_is_feasible_evaluations_explore():
    recorder = Recorder(lambda x: [x[0], 1 - x[0] + np.sum(x[1:] ** 2)])
    with pytest.raises(InfeasibleError):
        bf.minimize(
            recorder,
            bounds=(np.zeros(6), np.ones(6)),
            constraints=lambda x: 0.5 + np.sum(np.cos(6 * np.asarray(x))) ** 2,
            budget=2000,
        )
    assert 1500 < len(recorder.x) <= 2000
    # designs of differences lie beside each other
    near, _ = KDTree(recorder.x).query(recorder.x, 2)
    assert np.mean(near[:, 1] > 1e-4) > 0.4


def test_a_round_without_evaluations_left_ends_the_search():
    """It would change nothing, and so would all that follow."""
    box = np.zeros(4), np.ones(4)
    problem = read_problem(Recorder(zdt1), np.full(4, 0.5), bounds=box)
    program = Program(problem.flat, 2, feasible_set(box, None, 4), box)
    search = MeshSearch(program, 1e-3, 0, box)
    search.begin(np.full((1, 4), 0.5))
    search.round()
    program.evaluator.budget = 0
    for search.refining in (False, True):
        with pytest.raises(BudgetSpentError):
            search.round()
