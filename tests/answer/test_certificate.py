"""Certificates: they hold for every t, both ways, are near what is true, and refuse what they cannot
prove."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.bezier import project

SCALED = bf.problems.ScaledMED()
CURVES = bf.problems.Quadratic.random(2, 3, seed=0)


def hausdorff(solution, problem, n=3000):
    """The largest distance between surface and set, both ways, at random t and at the corners."""
    M = problem.n_objectives
    t = np.concatenate([np.eye(M), np.random.default_rng(0).dirichlet(np.ones(M), n)])
    to_surface = project(solution.pareto_set, np.asarray(problem.pareto_point(t[:500])))[1]
    to_set = problem.distance(np.asarray(solution.pareto_set(t)))
    return max(float(np.max(to_set)), float(np.max(to_surface)))


@pytest.mark.parametrize(
    ("problem", "flow"),
    [
        (SCALED, bf.NormalFlow(degree=3)),
        (SCALED, bf.WeightsFlow(degree=4)),
        (CURVES, bf.NormalFlow(degree=3)),
    ],
    ids=["free", "weights", "curve"],
)
def test_the_bound_holds_and_is_near_the_truth(problem, flow):
    solution = bf.minimize(problem, np.full(3, 0.2), flow)
    certificate = solution.certify()
    true = hausdorff(solution, problem)
    assert true <= float(certificate) <= 1.8 * true
    assert "proved:   within" in str(certificate)
    assert "sampled:" in str(certificate)


def test_an_error_that_samples_might_miss_is_in_the_bound():
    """A surface of degree 6 with one control point displaced."""
    solution = bf.minimize(SCALED, np.full(3, 0.2))
    points = np.array(solution.pareto_set.control_points)
    points[10] += np.array([0.0, 0.0, 0.01])
    bent = replace(solution, pareto_set=bf.BezierSimplex(points, 3, solution.degree))
    true = hausdorff(bent, SCALED)
    assert true > 1e-4
    assert true <= float(bent.certify()) <= 3 * true


@pytest.mark.parametrize(
    ("objectives", "message"),
    [
        (lambda x: jnp.stack([jnp.sum((x - 1) ** 4), jnp.sum(x**2)]), "polynomials of degree 4"),
        (lambda x: jnp.stack([jnp.sum(x**2), jnp.sum(jnp.exp(x) - x)]), "no polynomials"),
        (lambda x: jnp.stack([jnp.sum(jnp.round(x) * x), jnp.sum(x**2)]), "no polynomials"),
        (
            lambda x: jnp.stack([(x[0] - 1) ** 2, jnp.sum(x**2)]),
            "objective 0 has the curvature 0",
        ),
    ],
    ids=["quartic", "exponential", "rounding", "flat"],
)
def test_what_is_not_strongly_convex_quadratics_is_refused(objectives, message):
    solution = bf.minimize(CURVES, np.zeros(3), bf.NormalFlow(degree=2))
    with pytest.raises(ValueError, match=message):
        replace(solution, objectives=objectives).certify()


def test_bounds_are_refused():
    flow = bf.lift(bf.GradientDescent(0.1), 1, n_iterations=3)
    bounded = bf.minimize(CURVES, np.zeros(3), flow, bounds=(-5.0, 5.0))
    with pytest.raises(ValueError, match="certify is for problems without bounds"):
        bounded.certify()
