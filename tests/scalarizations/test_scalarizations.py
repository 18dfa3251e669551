"""Scalarizations: their values, and that they reach what weighted sums cannot."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow import scalarizations
from bezierflow.precision import double_precision
from bezierflow.scalarizations import Reference

REFERENCE = Reference(np.array([1.0, -2.0, 0.0]), np.array([2.0, 4.0, 1.0]))
VALUES = np.array([2.0, 0.0, 0.25])
T = np.array([0.2, 0.3, 0.5])


def test_formulas():
    u = np.array([0.5, 0.5, 0.25])
    with double_precision():
        values, t = jnp.asarray(VALUES), jnp.asarray(T)
        np.testing.assert_allclose(bf.WeightedSum()(values, t), T @ VALUES)
        np.testing.assert_allclose(bf.WeightedPower(3.0, REFERENCE)(values, t), T @ u**3)
        smooth = bf.SmoothTchebycheff(0.1, REFERENCE)(values, t)
        np.testing.assert_allclose(smooth, 0.1 * np.log(np.sum(np.exp(T * u / 0.1))))
        sharp = bf.SmoothTchebycheff(1e-4, REFERENCE)(values, t)
        np.testing.assert_allclose(sharp, np.max(T * u), atol=1e-3)


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in scalarizations.__all__
        if n not in ("Reference", "Scalarized") and "Abstract" not in n
    ],
)
def test_objectives_not_asked_for_do_not_count(name):
    """On a face, the scalarization depends on that face's objectives alone; and its derivatives are
    finite everywhere."""
    with double_precision():
        made = getattr(scalarizations, name)
        rule = made() if name == "WeightedSum" else made(reference=REFERENCE)
        t = jnp.array([0.4, 0.6, 0.0])
        slope = jax.grad(rule)(jnp.asarray(VALUES), t)
        assert slope[2] == 0
        assert np.all(np.asarray(slope[:2]) > 0)
        assert np.isfinite(jax.grad(rule)(jnp.asarray(REFERENCE.ideal) - 1e-9, t)).all()


def missed(rule):
    """A run on a concave front: the solution, how far off the set it is, and what it leaves out."""
    problem = bf.problems.Fonseca(2)
    flow = bf.lift(
        bf.SciPy("BFGS", n_steps=100),
        degree=5,
        sampler=bf.Fixed(bf.simplex.grid(2, 24)),
        scalarization=rule,
        n_iterations=1,
    )
    solution = bf.minimize(problem, np.array([0.05, -0.02]), flow)
    x = np.asarray(solution.pareto_set(bf.simplex.grid(2, 400)))
    exact = problem.pareto_point(bf.simplex.grid(2, 200))
    return solution, problem.distance(x).max(), bf.metrics.igd(x, exact)


@pytest.mark.parametrize(
    "rule", [bf.SmoothTchebycheff(0.05), bf.WeightedPower(3.0)], ids=["Tchebycheff", "power"]
)
def test_a_concave_front_is_covered(rule):
    solution, distance, uncovered = missed(rule)
    assert solution.stats.evaluations.hessian > 0  # the reference was found by the run, and counted
    assert distance < 0.02
    assert uncovered < 0.02


def test_a_weighted_sum_covers_the_ends_of_a_concave_front():
    """It jumps from one end to the other; a polynomial through a jump misses the middle or
    overshoots the ends."""
    _, distance, uncovered = missed(bf.WeightedSum())
    assert max(distance, uncovered) > 0.05


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: bf.WeightedPower(0.5), "power must be a finite number of at least 1, got 0.5"),
        (lambda: bf.SmoothTchebycheff(0.0), "smoothing must be a finite number above 0, got 0.0"),
        (
            lambda: bf.SmoothTchebycheff()(jnp.asarray(VALUES), jnp.asarray(T)),
            "has no reference yet",
        ),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()
