"""Hessian matrices, computed or borrowed, and chords that measure their own error."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.normal import KnownHessians, Matrices, estimate_error, linearize
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import ScaledMED, SkewMMD

POWERS = jnp.array([0.7, 1.0, 2.5])
CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.3, 1.0, 0.4]])


def curvature_of(objectives, corners=CORNERS, diameter=1.0):
    return Matrices(JaxEvaluator(objectives, *corners.shape), corners, diameter)


def powers_of_norms(x):
    return jnp.sum((x - jnp.asarray(CORNERS)) ** 2, axis=1) ** POWERS


def bent(x):
    """Increasing functions of the same: another Hessian, the same set."""
    f = jnp.sum((x - jnp.asarray(CORNERS)) ** 2, axis=1)
    return jnp.stack([jnp.log(f[0] + 0.1), 1e6 * f[1] ** 3, -jnp.exp(-f[2])])


def test_a_power_of_a_norm_lends_its_own_hessian_along_rays():
    curvature = curvature_of(powers_of_norms)
    x = np.array([[0.4, 0.3, 0.2]])
    curvature.compute(x)
    for corner in range(3):
        along = CORNERS[corner] + 1.7 * (x - CORNERS[corner])
        lent = curvature.borrow(along).hessians[0, corner]
        own = curvature_of(powers_of_norms).compute(along).hessians[0, corner]
        np.testing.assert_allclose(lent, own, rtol=1e-10, atol=1e-12)


def test_what_is_lent_across_the_gradient_does_not_depend_on_how_objectives_are_bent():
    x, near = np.array([[0.4, 0.3, 0.2]]), np.array([[0.45, 0.28, 0.25]])
    across = []
    for objectives in (powers_of_norms, bent):
        curvature = curvature_of(objectives)
        curvature.compute(x)
        lent = curvature.borrow(near)
        size = np.linalg.norm(lent.gradients[0], axis=1)
        # In the plane across the lender's gradient, in units of the slope.
        direction = (x - CORNERS) / np.linalg.norm(x - CORNERS, axis=1)[:, None]
        plane = np.eye(3) - direction[:, :, None] * direction[:, None, :]
        across.append(plane @ (lent.hessians[0] / size[:, None, None]) @ plane)
    np.testing.assert_allclose(across[0], across[1], rtol=1e-10, atol=1e-12)


def test_nothing_is_lent_by_corners_or_where_hessians_are_not_finite():
    curvature = curvature_of(powers_of_norms)
    assert curvature.memory.lenders(CORNERS, 1e-6) is None
    curvature.compute(CORNERS)
    curvature.compute(np.full((2, 3), np.nan))
    assert curvature.memory.lenders(CORNERS, 1e-6) is None
    assert np.isfinite(curvature.borrow(np.array([[0.4, 0.3, 0.2]])).hessians).all()
    assert curvature.evaluator.evaluations.hessian == 6


def test_the_nearest_point_lends():
    curvature = curvature_of(
        lambda x: jnp.sum((x - jnp.asarray(CORNERS)) ** 2, axis=1) * (1 + x[0] ** 2)
    )
    curvature.compute(np.array([[0.4, 0.3, 0.2], [0.8, 0.9, 0.7]]))
    lent = curvature.borrow(np.array([[0.8, 0.9, 0.7001]])).hessians[0]
    own = curvature.evaluator.hessians(np.array([[0.8, 0.9, 0.7001]])).hessians[0]
    np.testing.assert_allclose(lent, own, rtol=1e-2)


def test_every_computed_hessian_is_remembered_and_borrowed_ones_are_not():
    curvature = curvature_of(powers_of_norms)
    x = np.random.default_rng(0).normal(size=(5, 3))
    curvature.compute(x)
    curvature.borrow(x + 0.1)
    np.testing.assert_array_equal(curvature.memory.derivatives.points, x)
    assert curvature.evaluator.evaluations == (10, 10, 5)


def test_the_set_has_at_most_as_many_tangents_as_variables():
    assert curvature_of(powers_of_norms).n_tangents == 2
    assert curvature_of(lambda x: powers_of_norms(x)[:1], CORNERS[:1]).n_tangents == 0
    assert curvature_of(lambda x: jnp.stack([x[0]] * 3), CORNERS[:, :1]).n_tangents == 1


def near_the_set(problem, n, off, seed=3):
    rng = np.random.default_rng(seed)
    t = rng.dirichlet([3.0] * 3, size=n)
    return t, problem.pareto_point(t) + off * rng.normal(size=(n, 3)), rng


@pytest.mark.parametrize("problem", [ScaledMED(), SkewMMD(3)], ids=["scaled-MED", "skew-3MMD"])
def test_a_chord_measures_by_how_much_it_misses(problem):
    """Points 1e-3 off the set, Hessians from points 0.1 away: two gradients reach the set as nearly
    as they say."""
    t, x, rng = near_the_set(problem, 40, 1e-3)
    curvature = curvature_of(problem, problem.pareto_point(np.eye(3)))
    curvature.compute(x + 0.1 * rng.normal(size=x.shape))
    start = curvature.borrow(x)
    _, settled, miss = curvature.along_chords(start, linearize(start, t > 0), t > 0)
    before, after = problem.distance(x), problem.distance(x + settled.displacement)
    accepted = ~np.isnan(miss)
    assert accepted.mean() > 0.9
    assert np.median(after / before) < 0.02
    assert (after[accepted] < 5 * miss[accepted] + 1e-6).all()
    assert curvature.evaluator.evaluations.hessian == 40 + np.sum(~accepted)


def test_a_chord_with_a_wrong_hessian_is_rejected_and_a_hessian_computed():
    """Ten times too stiff, it would make any surface look ten times better than it is."""
    problem = ScaledMED()
    t, x, _ = near_the_set(problem, 20, 1e-3)
    curvature = curvature_of(problem, problem.pareto_point(np.eye(3)))
    start = curvature.evaluator.hessians(x)
    start.hessians[:] *= 10
    _, settled, miss = curvature.along_chords(start, linearize(start, t > 0), t > 0)
    np.testing.assert_allclose(
        np.linalg.norm(settled.displacement, axis=1), problem.distance(x), rtol=0.05
    )
    assert np.isnan(miss).all()


def test_the_estimate_is_the_same_with_borrowed_hessians():
    problem = ScaledMED()
    t = np.random.default_rng(0).dirichlet([1.0] * 3, size=400)
    surface = bf.fit(t, problem.pareto_map(t), 4)
    nearby = problem.pareto_point(np.random.default_rng(1).dirichlet([1.0] * 3, size=60))
    known = KnownHessians(JaxEvaluator(problem, 3, 3).hessians(nearby))
    own, lent = estimate_error(problem, surface), estimate_error(problem, surface, memory=known)
    assert lent.max == pytest.approx(own.max, rel=0.05)
    assert lent.rms == pytest.approx(own.rms, rel=0.02)
    assert lent.flags == own.flags
