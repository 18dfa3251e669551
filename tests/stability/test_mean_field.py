"""Where Algorithm 2 goes: the mean field's zero against long runs, and when convergence is proved."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.bezier import design_matrix
from bezierflow.precision import double_precision
from bezierflow.simplex import gauss_nodes
from bezierflow.stability import (
    Exchange,
    Setting,
    empirical_stability,
    gram_root,
    mean_field,
    run_many,
)

PROBLEM = bf.problems.Quadratic(
    np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
)
"""Curvatures in [2, 4]: (β + m)/(β − m) = 3."""


def algorithm_2(sampler, degree=1, step_size=lambda k: 1 / k):
    return bf.lift(bf.GradientDescent(step_size), degree, sampler)


@cache
def field_of(sampler):
    return mean_field(algorithm_2(sampler), PROBLEM, np.zeros(2), n_draws=4000)


def galerkin(problem, degree):
    """The surface whose gradient field is orthogonal to all polynomials of its degree."""
    nodes = gauss_nodes(problem.n_objectives, 12)
    flow = bf.lift(bf.GradientDescent(0.3), degree, bf.Fixed(nodes), n_iterations=300)
    return bf.minimize(problem, np.zeros(problem.n_variables), flow).pareto_set


def apart(one, other):
    """The RMS distance of two surfaces."""
    difference = np.asarray(one.control_points) - np.asarray(other.control_points)
    return np.linalg.norm(gram_root(one.n_objectives, one.degree) @ difference)


@pytest.mark.parametrize(
    "sampler",
    [bf.Uniform(6), pytest.param(bf.Leverage(4), marks=pytest.mark.slow)],
    ids=["uniform", "leverage"],
)
def test_long_runs_end_at_the_zero_of_the_mean_field(sampler):
    """The mean of many runs is within their standard error of P_N; with few uniform samples that is
    far from the Galerkin surface, which joint leverage draws lead to."""
    with double_precision():
        start = bf.BezierSimplex.constant(np.zeros(2), 2, 1)
        setting = Setting(algorithm_2(sampler), PROBLEM, start, 2000)
        keys = jax.random.split(jax.random.key(3), 24)
        ends = np.asarray(run_many(setting, keys, Exchange.none(24, 2)))
    mean, found = bf.BezierSimplex(ends.mean(axis=0), 2, 1), field_of(sampler)
    scatter = np.sqrt(np.mean([apart(bf.BezierSimplex(end, 2, 1), mean) ** 2 for end in ends]) / 23)
    error = np.hypot(scatter, found.zero_error)
    assert apart(mean, found.zero) < 3 * error
    away = apart(found.zero, galerkin(PROBLEM, 1))
    if isinstance(sampler, bf.Leverage):
        assert found.unbiased
        assert away < 4 * found.zero_error
    else:
        assert away > 8 * error


def test_the_monotonicity_of_the_theorem_is_a_lower_bound():
    found = field_of(bf.Uniform(40))
    assert found.converges
    assert 0 < found.monotonicity < found.at_zero
    assert found.monotonicity == pytest.approx(3 - found.kappa.high)
    assert field_of(bf.Leverage(4)).monotonicity == 2.0


def test_one_iteration_contracts_towards_another_as_its_condition_says():
    """The step of the proof: |(ZᵀΩZ)⁻¹ZᵀΩ(G(P) − G(P')) − c(P − P')|_Γ ≤ (β−m)/2 κ_N |P − P'|_Γ, for
    every draw; some draw comes within a factor of two."""
    rng, root = np.random.default_rng(0), gram_root(2, 1)
    hessians, tightest = 2 * np.array([[1.0, 2.0], [2.0, 1.0]]), 0.0
    for _ in range(300):
        t = rng.dirichlet(np.ones(2), 4)
        weights, Z = rng.uniform(0.1, 2, 4), design_matrix(t, 1)
        Y = np.sqrt(weights)[:, None] * (Z @ np.linalg.inv(root))
        difference = rng.standard_normal((2, 2))
        G = (Z @ difference) * (t @ hessians)
        moved = np.linalg.solve(Z.T @ (weights[:, None] * Z), Z.T @ (weights[:, None] * G))
        left = np.linalg.norm(root @ (moved - 3 * difference))
        bound = np.linalg.cond(Y) * np.linalg.norm(root @ difference)
        assert left <= bound * (1 + 1e-9)
        tightest = max(tightest, left / bound)
    assert tightest > 0.5


def test_what_is_not_covered_is_said():
    few = mean_field(algorithm_2(bf.Uniform(3)), PROBLEM, np.zeros(2), n_draws=200)
    assert not few.converges
    assert "E κ_N" in str(few)
    assert "N = 3 is not above D (n_c + 1) = 3" in str(few)
    function = lambda x: PROBLEM(x)
    unknown = mean_field(algorithm_2(bf.Uniform(40)), function, np.zeros(2), n_draws=50)
    assert unknown.why_not == (
        "the curvature of the objectives is not known: give curvature=(m, beta)",
    )
    given = mean_field(
        algorithm_2(bf.Uniform(40)), function, np.zeros(2), curvature=(2.0, 4.0), n_draws=50
    )
    assert "converges to P_N" in str(given)
    for rule, power in ((0.1, "0"), (lambda k: k**-0.5, "0.5"), (lambda k: 1 / k**2, "2")):
        steps = mean_field(algorithm_2(bf.Uniform(40), 1, rule), PROBLEM, np.zeros(2), n_draws=50)
        assert f"Σα² < ∞, as 1/k does; these fall like k^-{power}" in str(steps)
    spread = mean_field(algorithm_2(bf.Stratified(40)), PROBLEM, np.zeros(2), n_draws=50)
    assert "nothing is proved about the moments of Stratified" in str(spread)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="objectives must be at least 2 for a flow over t, got 1"):
        mean_field(algorithm_2(bf.Uniform(3)), lambda x: jnp.sum(x**2)[None], np.zeros(2))
    with pytest.raises(ValueError, match="sampler must draw t at random"):
        mean_field(algorithm_2(None), PROBLEM, np.zeros(2))
    with pytest.raises(ValueError, match="sampler draws n_samples=1 points per iteration, fewer"):
        mean_field(
            bf.lift(bf.GradientDescent(0.1), 1, bf.Uniform(1), refit=bf.LeastSquares()),
            PROBLEM,
            np.zeros(2),
        )
    with pytest.raises(ValueError, match="n_samples=1 is below the 2 control points of degree 1"):
        mean_field(bf.lift(bf.GradientDescent(0.1), 1, bf.Uniform(1)), PROBLEM, np.zeros(2))
    with pytest.raises(
        TypeError, match="about which theorems are, got GradientDescent on Weighted"
    ):
        mean_field(
            bf.lift(bf.GradientDescent(0.1), 1, bf.Uniform(4), refit=bf.PullBack()),
            PROBLEM,
            np.zeros(2),
        )


def test_twins_need_points_of_equal_weight():
    setting = Setting(
        algorithm_2(bf.Leverage(4)), PROBLEM, bf.BezierSimplex.constant(np.zeros(2), 2, 1), 2
    )
    exchange = Exchange.random(np.array([1]), 4, 2)
    with pytest.raises(TypeError, match="sampler must draw points of equal weight"):
        empirical_stability(setting, exchange, keys=jax.random.split(jax.random.key(0), 1))
