import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.normal import Evaluator, estimate_error, follow_chord
from bezierflow.problems import ScaledMED, SkewMMD

POWERS = jnp.array([0.7, 1.0, 2.5])
CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.3, 1.0, 0.4]])


def powers_of_norms(x):
    return jnp.sum((x - jnp.asarray(CORNERS)) ** 2, axis=1) ** POWERS


def bent(x):
    """Increasing functions of the same: another Hessian, the same set."""
    f = jnp.sum((x - jnp.asarray(CORNERS)) ** 2, axis=1)
    return jnp.stack([jnp.log(f[0] + 0.1), 1e6 * f[1] ** 3, -jnp.exp(-f[2])])


def test_a_power_of_a_norm_lends_its_own_hessian_along_rays():
    count = Evaluator(powers_of_norms, 3, 3)
    x = np.array([[0.4, 0.3, 0.2]])
    count.at(x)
    for corner in range(3):
        along = CORNERS[corner] + 1.7 * (x - CORNERS[corner])
        lent = count.with_borrowed_hessians(along, CORNERS).hessians[0, corner]
        own = Evaluator(powers_of_norms, 3, 3).at(along).hessians[0, corner]
        np.testing.assert_allclose(lent, own, rtol=1e-10, atol=1e-12)


def test_what_is_lent_across_the_gradient_does_not_depend_on_how_objectives_are_bent():
    x, near = np.array([[0.4, 0.3, 0.2]]), np.array([[0.45, 0.28, 0.25]])
    across = []
    for objectives in (powers_of_norms, bent):
        count = Evaluator(objectives, 3, 3)
        count.at(x)
        lent = count.with_borrowed_hessians(near, CORNERS)
        size = np.linalg.norm(lent.gradients[0], axis=1)
        # In the plane across the lender's gradient, in units of the slope.
        direction = (x - CORNERS) / np.linalg.norm(x - CORNERS, axis=1)[:, None]
        plane = np.eye(3) - direction[:, :, None] * direction[:, None, :]
        across.append(plane @ (lent.hessians[0] / size[:, None, None]) @ plane)
    np.testing.assert_allclose(across[0], across[1], rtol=1e-10, atol=1e-12)


def test_nothing_is_lent_by_corners_or_where_hessians_are_not_finite():
    count = Evaluator(powers_of_norms, 3, 3)
    assert not count.known.can_lend(CORNERS)
    count.at(CORNERS)
    count.at(np.full((2, 3), np.nan))
    assert not count.known.can_lend(CORNERS)
    assert np.isfinite(count.with_borrowed_hessians(np.array([[0.4, 0.3, 0.2]]), CORNERS).hessians).all()
    assert count.n_hessian == 6


@pytest.mark.parametrize("problem", [ScaledMED(), SkewMMD(3)], ids=["scaled-MED", "skew-3MMD"])
def test_a_chord_knows_by_how_much_it_misses(problem):
    """Points 1e-3 off the set, Hessians from points 0.1 away: two gradients reach the set as nearly as they say."""
    rng = np.random.default_rng(3)
    t = rng.dirichlet([3.0] * 3, size=40)
    x = problem.pareto_point(t) + 1e-3 * rng.normal(size=(40, 3))
    corners = problem.pareto_point(np.eye(3))
    count = Evaluator(problem, 3, 3)
    count.at(x + 0.1 * rng.normal(size=x.shape))
    at = count.with_borrowed_hessians(x, corners)
    lin = count.linearize(at, t > 0)
    chord = follow_chord(count, at, lin, t > 0, 1.0)
    before, after = problem.distance(x), problem.distance(x + chord.way)
    assert chord.believed.mean() > 0.9
    assert np.median(after / before) < 0.02
    kept = chord.believed
    assert (after[kept] < 5 * chord.miss[kept] + 1e-6).all()
    assert count.n_hessian == 40


def test_a_wrong_hessian_is_not_believed():
    """Ten times too stiff, it would make any surface look ten times better than it is."""
    problem = ScaledMED()
    t = np.random.default_rng(0).dirichlet([3.0] * 3, size=20)
    x = problem.pareto_point(t) + 1e-3
    count = Evaluator(problem, 3, 3)
    at = count.at(x)
    at.hessians *= 10
    chord = follow_chord(count, at, count.linearize(at, t > 0), t > 0, 1.0)
    assert not chord.believed.any()


def test_the_estimate_is_the_same_with_borrowed_hessians():
    problem = ScaledMED()
    t = np.random.default_rng(0).dirichlet([1.0] * 3, size=400)
    surface = bf.fit(t, problem.pareto_map(t), 4)
    count = Evaluator(problem, 3, 3)
    count.at(problem.pareto_point(np.random.default_rng(1).dirichlet([1.0] * 3, size=60)))
    own, lent = estimate_error(problem, surface), estimate_error(problem, surface, evaluations=count.successor())
    assert lent.max == pytest.approx(own.max, rel=0.05)
    assert lent.rms == pytest.approx(own.rms, rel=0.02)
    assert lent.flags == own.flags
