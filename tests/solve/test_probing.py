"""What an answer is held against before it is called converged."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint, rosen

import bezierflow as bf
from bezierflow.evaluations import Evaluations
from bezierflow.objectives import feasible_set
from bezierflow.precision import double_precision
from bezierflow.solve import Call, only_point, probe


def rippled(x):
    """A front behind ripples: the others are at their best at 0.7, and nearly so every 2/9."""
    y = x[1:] - 0.7
    g = jnp.sum(10 * y**2 + 2 * (1 - jnp.cos(9 * jnp.pi * y)))
    return jnp.array([x[0] + g, (x[0] - 1) ** 2 + g])


def line(others):
    """The surface from x_0 = 0 to 1 with these other variables."""
    ends = np.array([[share, *others] for share in (0.0, 1.0)])
    return bf.BezierSimplex(ends, 2, 1)


def probed(objectives, surface, bounds, constraints=None, budget=None):
    n = np.shape(surface.control_points)[1]
    feasible = feasible_set(bounds, constraints, n)
    call = replace(Call(objectives, np.zeros(n)), bounds=bounds)
    call = replace(call, method=bf.NormalFlow(budget=budget)) if budget else call
    with double_precision():
        problem = Call(objectives, np.zeros(n)).read_problem()
        return probe(
            problem, surface, feasible, (feasible.lower, feasible.upper), Evaluations(), call
        )


@pytest.mark.slow("10")
@pytest.mark.parametrize("n", [3, 10])
def test_another_basin_of_one_variable_is_found_among_many(n):
    """Random designs never meet it: 1 of 10^6 is near the best place in all of ten variables."""
    box = np.zeros(n), np.ones(n)
    others = np.full(n - 1, 0.7)
    assert not len(probed(rippled, line(others), box).rivals)
    others[-1] = 0.4805  # the next valley
    found = probed(rippled, line(others), box)
    assert len(found.rivals)
    np.testing.assert_allclose(found.rivals[0, -1], 0.7, atol=0.1)


@pytest.mark.slow
def test_another_basin_is_found_in_a_direction_that_no_variable_has():
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(9, 9)))[0]

    def turned(x):
        y = (x[1:] - 0.5) @ turn
        g = jnp.sum(20 * y**2 + 2 * (1 - jnp.cos(9 * jnp.pi * y)))
        return jnp.array([x[0] + g, (x[0] - 1) ** 2 + g])

    box = np.zeros(10), np.ones(10)
    y = np.zeros(9)
    y[:4] = 0.2168, -0.2168, 0.2168, 0.2168  # the next valleys
    found = probed(turned, line(0.5 + turn @ y), box)
    assert len(found.rivals)
    g = turned(found.rivals[0])[0] - found.rivals[0, 0]
    assert g < turned(np.r_[0.0, 0.5 + turn @ y])[0] - 0.5


def test_of_values_alone_the_lowest_end_is_descended_to():
    """Rosenbrock's function has a second minimum, 3.7 above the lowest, at the end of a narrow
    valley that no design shows."""
    near = np.array([-0.775657, 0.613091, 0.382060, 0.145969])
    center = near + np.array([0.01, -0.01, 0.03, 0.01])

    def by_values(x):
        x = np.array([float(value) for value in x])
        return [float(np.sum((x - center) ** 2)), float(rosen(x))]

    ends = bf.BezierSimplex(np.stack([center, near]), 2, 1)
    found = probed(by_values, ends, (np.full(4, -3.0), np.full(4, 3.0)))
    assert min(rosen(x) for x in found.rivals) < 1e-3


def test_of_convex_objectives_a_few_lines_are_looked_at():
    def bowls(x):
        return jnp.array([jnp.sum(x**2), jnp.sum((x - jnp.array([1.0, 0.0, 0.0])) ** 2)])

    box = np.full(3, -1.0), np.full(3, 2.0)
    found = probed(bowls, line(np.zeros(2)), box)
    assert not len(found.rivals)
    assert not found.short
    assert found.n < 7000
    assert "convex" in found.words


def test_a_basin_that_no_line_crosses_is_seen_by_its_tangent_planes():
    """Within 1.2 of its bottom a narrow bowl is lower than the broad one, which is convex: that is
    one of some 300 designs of the box, and one of 200,000 is better than the broad one's bottom."""

    def two_bowls(x):
        broad, narrow = jnp.sum((x - 0.8) ** 2) / 6, jnp.sum((x + 1.2) ** 2) / 6
        f = jnp.minimum(0.2 + 0.2 * broad, narrow / 0.25)
        return jnp.array([f, f**2])

    box = np.full(6, -2.0), np.full(6, 2.0)
    found = probed(two_bowls, bf.BezierSimplex(np.full((2, 6), 0.8), 2, 1), box)
    assert "convex" not in found.words
    np.testing.assert_allclose(found.rivals[0], -1.2, atol=0.5)


def test_an_arm_of_a_minimum_that_no_design_shows_is_descended_alone():
    """Half as wide a narrow bowl in twelve dimensions holds one design in 10^11 of the box."""

    def two_bowls(x):
        narrow = jnp.sum((x + 1.2) ** 2) / 0.75
        f = jnp.minimum(0.2 + jnp.sum((x - 0.8) ** 2) / 60, narrow)
        return jnp.array([f, f**2])

    box = np.full(12, -2.0), np.full(12, 2.0)
    found = probed(two_bowls, bf.BezierSimplex(np.full((2, 12), 0.8), 2, 1), box)
    np.testing.assert_allclose(found.rivals[0], -1.2, atol=1e-6)


def test_small_steps_see_what_kinks_of_sorting_hide():
    """A valley with steep sides that falls along a kink: no design of the box lies in it, lines
    show convex functions, and every descent stops where it is."""

    def valley(x):
        apart = 10 * (x[0] - x[1])
        f = jnp.sort(jnp.array([apart, -apart]))[1] + 0.05 * jnp.sum(x)
        return jnp.array([f, 2 * f])

    box = np.zeros(2), np.ones(2)
    found = probed(valley, bf.BezierSimplex(np.full((2, 2), 0.1), 2, 1), box)
    assert len(found.rivals)
    assert found.rivals[0].max() < 0.1


def test_ends_beside_a_tip_whose_slope_has_no_end_are_moved_to_it():
    """A design that is exact to 1e-6, in which the first objective is worse by a hundredth."""

    def root(x):
        return jnp.array([jnp.abs(x[0] - 0.2) ** 0.3, (x[0] - 1) ** 2])

    beside = bf.BezierSimplex(np.array([[0.2 + 1e-6], [1.0]]), 2, 1)
    found = probed(root, beside, (np.full(1, -2.0), np.full(1, 2.0)))
    np.testing.assert_allclose(found.rivals, 0.2, atol=1e-14)
    assert found.n < 1500  # before designs all over the box are looked at


def test_probes_land_on_small_feasible_sets():
    """A disc of radius 0.03, a 1,500th of a percent of the box, beside the channel of the answer."""

    def outside(x):
        return jnp.minimum(x[1] ** 2 - 0.01, jnp.sum((x - 0.8) ** 2) - 0.03**2)

    def bowls(x):
        return jnp.array([jnp.sum((x - jnp.array([p, 1.2])) ** 2) for p in (0.2, 0.8)])

    box = np.full(2, -2.0), np.full(2, 2.0)
    channel = bf.BezierSimplex(np.array([[0.2, 0.1], [0.8, 0.1]]), 2, 1)
    constraint = NonlinearConstraint(outside, -np.inf, 0)
    found = probed(bowls, channel, box, constraint)
    assert len(found.rivals)
    np.testing.assert_allclose(found.rivals, 0.8, atol=0.0301)


def test_probes_keep_equality_constraints():
    """Two wells on a circle: the answer is the point of the right one."""

    def wells(x):
        return jnp.array([-(x[0] ** 2) + 0.3 * x[0], -(x[0] ** 2) + 0.3 * x[0] + x[1] ** 2])

    circle = NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, 1, 1)
    box = np.full(2, -2.0), np.full(2, 2.0)
    answer = bf.BezierSimplex(np.array([[1.0, 0.0], [1.0, 0.0]]), 2, 1)
    found = probed(wells, answer, box, circle)
    assert len(found.rivals)
    np.testing.assert_allclose(np.linalg.norm(found.rivals, axis=1), 1, atol=1e-8)
    assert found.rivals[0, 0] < -0.5


def test_a_search_that_cannot_be_paid_for_is_said():
    box = np.zeros(3), np.ones(3)
    found = probed(rippled, line(np.full(2, 0.7)), box, budget=4000)
    assert "takes more than 6000 evaluations, was not within the budget" in found.short
    assert found.evaluations.objective <= 4000
    assert "convex" not in found.words


@pytest.mark.slow
def test_kinks_without_bounds_do_not_hide_a_well():
    def two_wells(x):
        smooth = (x[0] ** 2 - 1) ** 2 + 0.2 * x[0] + (x[1] - 0.4) ** 2
        return jnp.array([smooth, jnp.abs(x[0] - 0.2) + jnp.abs(x[1])])

    solution = bf.minimize(two_wells, np.array([1.0, 0.4]))
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.spread(50).X[:, 0].min() < -1


@pytest.mark.slow
def test_a_best_value_that_is_attained_nowhere_is_said():
    def runs_away(x):
        return jnp.array([jnp.exp(-x[0]) + x[1] ** 2, (x[0] - 1) ** 2 + (x[1] - 1) ** 2])

    solution = bf.minimize(runs_away, np.zeros(2))
    assert solution.result.reason is bf.Reason.SUSPECT
    assert "f1 falls towards x1 = infinity" in solution.result.message
    # Before anything is searched for all over a box.
    assert solution.stats.evaluations.objective < 5000
    bounded = bf.minimize(runs_away, np.zeros(2), bounds=(np.full(2, -3.0), np.full(2, 3.0)))
    assert "infinity" not in bounded.result.message


def test_a_wrong_jac_of_a_constraint_is_refused():
    def disc(x):
        return np.array([float(x[0]) ** 2 + float(x[0]) * float(x[1]) + float(x[1]) ** 2 - 2])

    def wrong(x):  # the mixed term is forgotten
        return np.array([[2 * x[0], 2 * x[1]]])

    bowls = lambda x: jnp.array([jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2)])
    box = np.full(2, -2.0), np.full(2, 2.0)
    constraint = NonlinearConstraint(disc, -np.inf, 0, jac=wrong)
    with pytest.raises(ValueError, match="constraints: the gradient of row 1 of constraint 1"):
        bf.minimize(bowls, np.zeros(2), bounds=box, constraints=constraint)


def test_constraints_may_leave_one_point_or_several():
    box = np.full(2, -2.0), np.full(2, 2.0)
    lines = LinearConstraint([[1, 2], [1, -1]], [0.7, -0.2], [0.7, -0.2])
    circle = NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, 1, 1)
    crossing = [circle, LinearConstraint([[1, 1]], 0.5, 0.5)]
    passing = [circle, LinearConstraint([[1, 1]], 2.0, 2.0)]
    beside = NonlinearConstraint(lambda x: (x[0] - 2) ** 2 + x[1] ** 2, 1, 1)
    wide, narrow = (
        NonlinearConstraint(lambda x, r=r: (x[0] - 0.3) ** 2 + x[1] ** 2, -np.inf, r**2)
        for r in (0.01, 0.0)
    )
    discs = [NonlinearConstraint(c.fun, -np.inf, 1) for c in (circle, beside)]
    with double_precision():
        points = [
            only_point(feasible_set(box, constraints, 2), box)
            for constraints in (
                *(lines, [circle, beside], discs, narrow),
                *(crossing, passing, [circle], wide),
            )
        ]
    np.testing.assert_allclose(points[0], [0.1, 0.3], atol=1e-12)
    for point, expected in zip(points[1:4], ([1, 0], [1, 0], [0.3, 0]), strict=True):
        np.testing.assert_allclose(point, expected, atol=1e-6)
    assert points[4:] == [None] * 4
