"""Quadratic programs: first-order conditions hold, SciPy finds nothing better, and what contradicts
itself is violated as little as pays."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from bezierflow.atlas.program import Program
from bezierflow.atlas.quadratic import Model
from bezierflow.objectives import feasible_set

RADIUS = 0.3


def model(seed, radius=np.inf, limit=0.2, price=20.0):
    """Two objectives of four variables with three inequalities and an equality, at random."""
    rng, box = np.random.default_rng(seed), (np.zeros(4), np.ones(4))
    root, rows = rng.normal(size=(4, 4)), rng.normal(size=(6, 4))
    constraints = [lambda x, k=k: rows[k] @ x for k in range(2, 5)]
    feasible = feasible_set(box, [*constraints, LinearConstraint(rows[5], 0, 0)], 4)
    program = Program(lambda x: rows[:2] @ x, 2, feasible, box)
    program.price = price
    r = np.r_[rng.normal(size=2), np.full(3, -limit), 0.0]
    at = np.zeros(2), rng.uniform(0.2, 0.8, 4)
    return Model(program, at, r, rows, root @ root.T + 0.1 * np.eye(4), radius)


def value(one, d):
    """The largest objective and the curvature, and what violations cost."""
    rows = one.over + one.J @ d
    out = np.maximum(np.r_[rows[2:5], np.abs(rows[5])], 0).max()
    price = one.price if np.isfinite(one.price) else 1e3
    return rows[:2].max() + one.tie @ d + d @ one.H @ d / 2 + price * out


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("radius", [np.inf, RADIUS])
def test_scipy_finds_nothing_better(seed, radius):
    one = model(seed, radius)
    nothing = np.zeros(6, dtype=bool), np.zeros(4, dtype=int)
    for step in (one.solve(*nothing), one.solve_cold()):
        assert np.all(one.lower <= step.d)
        assert np.all(step.d <= one.upper)
        rows = one.over + one.J @ step.d
        assert rows[2:5].max() < 1e-6
        assert abs(rows[5]) < 1e-6
        inside = [
            {"type": "ineq", "fun": lambda y: y[4] - one.over[:2] - one.J[:2] @ y[:4]},
            {"type": "ineq", "fun": lambda y: -one.over[2:5] - one.J[2:5] @ y[:4]},
            {"type": "eq", "fun": lambda y: one.over[5] + one.J[5] @ y[:4]},
        ]
        other = minimize(
            lambda y: y[4] + one.tie @ y[:4] + y[:4] @ one.H @ y[:4] / 2,
            np.r_[np.zeros(4), one.over[:2].max()],
            bounds=[*zip(one.lower, one.upper, strict=True), (None, None)],
            constraints=inside,
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        assert value(one, step.d) < value(one, other.x[:4]) + 1e-5


@pytest.mark.parametrize("seed", range(5))
def test_optima_obey_their_first_order_conditions(seed):
    one = model(seed, RADIUS)
    step = one.solve(np.zeros(6, dtype=bool), np.zeros(4, dtype=int))
    slope = one.tie + one.H @ step.d + one.J.T @ step.mu
    np.testing.assert_allclose(slope[step.side == 0], 0, atol=1e-8)
    assert np.all(step.side * slope <= 1e-8)
    assert step.mu[:5].min() > -1e-8
    assert step.mu[:2].sum() == pytest.approx(1)
    rows = one.over + one.J @ step.d
    rows[:2] -= rows[:2].max()
    np.testing.assert_allclose(step.mu * rows, 0, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_constraints_that_cannot_be_kept_are_violated_as_little_as_pays(seed):
    one = model(seed, 0.01, limit=-1.0)
    step = one.solve(np.zeros(6, dtype=bool), np.zeros(4, dtype=int))
    assert np.abs(step.mu[2:]).sum() == pytest.approx(one.price, rel=1e-4)
    rng = np.random.default_rng(seed)
    others = rng.uniform(one.lower, one.upper, (2000, 4))
    assert value(one, step.d) < min(value(one, d) for d in others) + 1e-9


def test_what_was_active_in_the_last_step_changes_nothing():
    one = model(3, RADIUS)
    found = one.solve(np.zeros(6, dtype=bool), np.zeros(4, dtype=int))
    again = one.solve(found.active, found.side)
    np.testing.assert_allclose(again.d, found.d, atol=1e-9)
    np.testing.assert_allclose(again.mu, found.mu, atol=1e-9)


def test_derivatives_of_quadratics_are_known_from_one_point():
    """Elsewhere they are what JAX computes there, in the units of the program; none is evaluated."""
    rng, box = np.random.default_rng(0), (np.full(4, -1.0), np.full(4, 3.0))
    roots, rows = rng.normal(size=(2, 4, 4)), rng.normal(size=(1, 4))
    feasible = feasible_set(box, [lambda x: jnp.sum(x**2) - 9, LinearConstraint(rows, 1, 1)], 4)

    def f(x):
        return jnp.sum((roots @ (x - 1)) ** 2, axis=1)

    program = Program(f, 2, feasible, box)
    program.ideal, program.span, program.row_scale = np.ones(2), np.array([2.0, 5.0]), np.ones(2)
    assert program.is_quadratic
    program.look(rng.uniform(0, 1, (1, 4)))
    spent = program.evaluator.evaluations
    z = rng.uniform(0, 1, (5, 4))
    made = program.look(z)
    assert program.evaluator.evaluations == spent
    at = program.evaluator.hessians(program.origin + z * program.unit)
    np.testing.assert_allclose(made.r, program.values(z), atol=1e-12)
    np.testing.assert_allclose(made.J, at.gradients * 4 / program.scale[:, None], atol=1e-12)
    H = at.hessians * 16 / program.scale[:, None, None]
    np.testing.assert_allclose(np.broadcast_to(made.H, H.shape), H, atol=1e-12)
    assert program.is_convex


@pytest.mark.parametrize(("sign", "is_convex"), [(1.0, True), (-1.0, False)])
def test_convexity_is_proved_by_hessians(sign, is_convex):
    def f(x):
        return jnp.stack([jnp.sum(x**2), sign * x[0] ** 2 + jnp.sum(x[1:] ** 2) - x[1]])

    box = np.zeros(3), np.ones(3)
    program = Program(f, 2, feasible_set(box, None, 3), box)
    assert not program.is_convex  # as long as nobody has looked
    program.look(np.full((1, 3), 0.5))
    assert program.is_convex == is_convex
