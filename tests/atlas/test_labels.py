"""The equations of a label: Newton's method, tangents, and signs, on a problem whose solutions are
known."""

import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.atlas.labels import newton, predict, signs, start
from bezierflow.atlas.local_solves import solve
from bezierflow.atlas.program import Program
from bezierflow.objectives import feasible_set

A, B = np.array([1.5, 0.2]), np.array([-0.3, 0.9])


def distances(x):
    return jnp.array([jnp.sum((x - A) ** 2), jnp.sum((x - B) ** 2)])


@pytest.fixture(scope="module")
def program():
    feasible = feasible_set((np.zeros(2), np.ones(2)), None, 2)
    return Program(distances, 2, feasible, (feasible.lower, feasible.upper))


def chart(level):
    level = np.atleast_1d(level)
    return np.stack([level, -level], axis=1)


def exact(a):
    """The point of the set with f₁ − f₂ = a₁ − a₂: weighted means of A and B, clipped to the box,
    are all of it."""
    w = np.linspace(0, 1, 200_001)[:, None]
    x = np.clip(w * A + (1 - w) * B, 0, 1)
    f = np.stack([np.sum((x - A) ** 2, axis=1), np.sum((x - B) ** 2, axis=1)], axis=1)
    return x[np.argmin(np.abs(f[:, 0] - f[:, 1] - (a[0] - a[1])))]


def test_solutions_are_the_points_of_the_set(program):
    a = chart(np.array([-0.4, -0.1, 0.0, 0.2, 0.5]))
    answers = solve(program, a, np.full((5, 2), 0.5))
    assert answers.good.all()
    np.testing.assert_allclose(answers.found.z, [exact(row) for row in a], atol=1e-5)
    assert signs(program, answers.found).min() > -1e-9


def test_multipliers_of_the_objectives_are_weights(program):
    answers = solve(program, chart(np.array([-0.1, 0.2])), np.full((2, 2), 0.5))
    np.testing.assert_allclose(answers.found.mu.sum(axis=1), 1, atol=1e-9)
    gradients = np.einsum(
        "nm,nml->nl", answers.found.mu, 2 * (answers.found.z[:, None] - np.stack([A, B]))
    )
    np.testing.assert_allclose(np.where(answers.found.side == 0, gradients, 0.0), 0, atol=1e-8)
    assert np.all(answers.found.side * gradients <= 1e-9)  # bounds hold the point back


def test_tangents_lead_to_neighboring_solutions(program):
    (here,) = (solve(program, chart(0.1), np.full((1, 2), 0.5)).found,)
    h = 1e-4
    there = newton(program, predict(here, chart(0.1 + h)))
    assert there.ok.all()
    np.testing.assert_allclose(
        there.z, here.z + np.einsum("nij,nj->ni", here.tangent[:, :2], chart(h)), atol=10 * h**2
    )
    # s* falls by w as a grows: ds/da = −μ.
    np.testing.assert_allclose(here.tangent[:, 2], -here.mu, atol=1e-6)


def test_a_label_goes_on_smoothly_where_it_does_not_hold(program):
    """Both objectives active and no variable at its bound: beyond the box the equations give the
    unclipped set."""
    a = chart(0.6)
    z, r = np.array([[0.2, 0.8]]), program.values(np.array([[0.2, 0.8]]))
    free = newton(
        program,
        start(
            program,
            a,
            z,
            np.full((1, 2), 0.5),
            np.ones((1, 2), dtype=bool),
            np.zeros((1, 2), dtype=int),
            r,
        ),
    )
    assert free.ok.all()
    w = free.mu[0, 0]
    np.testing.assert_allclose(free.z[0], w * A + (1 - w) * B, atol=1e-8)


def square(objectives, n_objectives):
    """The problem on the unit square."""
    feasible = feasible_set((np.zeros(2), np.ones(2)), None, 2)
    return Program(objectives, n_objectives, feasible, (feasible.lower, feasible.upper))


def label_solution(program, a, z, active, side, most=8):
    """Newton's method on a label, from z."""
    z, active, side = np.array([z]), np.array([active]), np.array([side])
    mu = np.where(active, 1 / active.sum(), 0.0)
    return newton(
        program, start(program, np.array([a]), z, mu, active, side, program.values(z)), most
    )


def test_variables_at_bounds_stay_there_to_the_last_bit():
    """Where a slope is infinite, rounding in a variable at its bound would be an error of its
    fourth root."""
    steep = square(
        lambda x: jnp.array([x[0] ** 2 + x[1] ** 0.25, (x[0] - 1) ** 2 + x[1] ** 0.25]), 2
    )
    found = label_solution(steep, [0.1, -0.1], [0.37, 0.0], [True, True], [0, -1])
    assert found.ok.all()
    assert found.z[0, 1] == 0.0
    np.testing.assert_allclose(found.z[0, 0], 0.6, atol=1e-9)  # f₁ − f₂ = 2 x₁ − 1 = 0.2


def test_a_variable_that_nothing_depends_on_stays_where_it_is():
    flat = square(lambda x: jnp.array([x[0] ** 2, (x[0] - 1) ** 2 + 0 * x[1]]), 2)
    found = label_solution(flat, [0.1, -0.1], [0.37, 0.8], [True, True], [0, 0])
    assert found.ok.all()
    np.testing.assert_allclose(found.z[0], [0.6, 0.8], atol=1e-9)


def test_a_minimum_flatter_than_quadratic_counts_as_found():
    flat = square(lambda x: jnp.array([(x[0] - 0.5) ** 6 + (x[1] - 0.5) ** 2, x[1]]), 2)
    found = label_solution(flat, [-9.0, 9.0], [0.55, 0.5], [True, False], [0, 0])
    assert found.ok.all()
    assert found.r[0, 0] < 1e-9


def test_a_bound_without_a_price_does_not_hold_a_maximum():
    """cos x₁ at its maximum x₁ = 0, a bound: all slopes vanish there, and inward it falls."""
    arc = square(lambda x: jnp.array([jnp.cos(x[0]) + x[1], jnp.sin(x[0]) + x[1]]), 2)
    found = label_solution(arc, [-1.0, 1.0], [0.0, 0.0], [True, False], [-1, -1])
    assert not found.ok.any()
    # where sin x₁ is least
    assert label_solution(arc, [1.0, -1.0], [0.0, 0.0], [False, True], [-1, -1]).ok.all()
