from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.normal import linearize
from bezierflow.objectives import Derivatives, JaxEvaluator
from bezierflow.precision import double_precision
from bezierflow.problems import ScaledMED, SkewMMD

PROBLEM = ScaledMED()
EVERY = np.ones(3, dtype=bool)


def linearized(objectives, x, face=EVERY, support=False):
    """At one point, without the axis of points."""
    x = np.asarray(x)[None]
    found = JaxEvaluator(objectives, 3, 3).hessians(x)
    lin = linearize(found, np.asarray(face)[None], support)
    return SimpleNamespace(**{name: part[0] for name, part in lin._asdict().items()})


def weights(seed):
    return np.random.default_rng(seed).dirichlet([2, 2, 2])


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_vanishes_on_the_set_and_its_tangents_are_the_sets(seed):
    w = weights(seed)
    x = np.asarray(PROBLEM.pareto_map(w))
    lin = linearized(PROBLEM, x)
    assert np.linalg.norm(lin.displacement) < 1e-12
    assert lin.minimal
    with double_precision():
        along = np.asarray(jax.jacfwd(PROBLEM.pareto_map)(jnp.asarray(w))) @ np.array(
            [[1, 0], [0, 1], [-1, -1]]
        )
    tangents = np.asarray(lin.tangents)
    np.testing.assert_allclose(tangents.T @ tangents, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(along - tangents @ (tangents.T @ along), 0, atol=1e-10)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_points_to_the_nearest_point_of_the_set(seed):
    x = np.asarray(PROBLEM.pareto_map(weights(seed)))
    normal = np.linalg.svd(np.asarray(linearized(PROBLEM, x).tangents))[0][:, 2]
    lin = linearized(PROBLEM, x + 1e-3 * normal)
    np.testing.assert_allclose(lin.displacement, -1e-3 * normal, atol=2e-5)


def test_does_not_care_about_scales_offsets_and_powers():
    x = np.asarray(PROBLEM.pareto_map(weights(1))) + np.array([1e-3, -2e-3, 1e-3])

    def changed(x):
        f = PROBLEM(x)
        return jnp.stack([1e6 * f[0] - 3, jnp.log(f[1]), 1e-6 * f[2] ** 3 + 1e3])

    plain, other = linearized(PROBLEM, x).displacement, linearized(changed, x).displacement
    assert np.linalg.norm(np.asarray(plain) - other) < 0.01 * np.linalg.norm(plain)


def test_support_rows_see_what_lies_beyond_the_boundary():
    # A step from an edge of the set, outwards along the set's own tangent plane.
    w = np.array([0.5, 0.5, 0.0])
    x = np.asarray(PROBLEM.pareto_map(w))
    with double_precision():
        outwards = -np.asarray(jax.jacfwd(PROBLEM.pareto_map)(jnp.asarray(w))) @ np.array(
            [-0.5, -0.5, 1.0]
        )
    beyond = x + 1e-3 * outwards / np.linalg.norm(outwards)
    blind, seeing = linearized(PROBLEM, beyond), linearized(PROBLEM, beyond, support=True)
    distance = float(PROBLEM.distance(beyond))
    assert float(np.linalg.norm(blind.displacement)) < 0.05 * distance
    assert float(np.linalg.norm(seeing.displacement)) == pytest.approx(distance, rel=0.1)


def test_asks_only_for_the_objectives_of_the_face():
    edge = np.array([True, False, True])
    x = np.asarray(PROBLEM.pareto_map(np.array([0.4, 0.0, 0.6])))
    assert np.linalg.norm(linearized(PROBLEM, x, edge).displacement) < 1e-13
    off = linearized(PROBLEM, x + np.array([0, 1e-3, 0]), edge)
    assert np.asarray(off.multipliers)[1] == 0
    assert np.asarray(off.tangents)[:, 1] == pytest.approx(np.zeros(3))


def test_a_kinked_objective_is_met_as_its_convex_power():
    # f = |A(x − c)|^{0.37}: its Hessian is indefinite everywhere, its set that of the squared
    # norms.
    problem = SkewMMD(3)
    x = np.asarray(problem.pareto_point(np.array([0.4, 0.3, 0.3])))
    assert linearized(problem, x + 1e-4).minimal
    assert np.linalg.norm(linearized(problem, x).displacement) < 1e-12


def test_without_gradients_there_is_no_answer_and_no_nan():
    bad = Derivatives(
        np.zeros((2, 3)), np.zeros((2, 3)), np.full((2, 3, 3), np.nan), np.ones((2, 3, 3, 3))
    )
    lin = linearize(bad, np.ones((2, 3), dtype=bool))
    assert not lin.valid.any()
    assert np.all(lin.displacement == 0)


def test_without_curvature_there_is_no_answer():
    """Linear objectives: nothing says how far away the set is."""
    rng = np.random.default_rng(0)
    flat = Derivatives(
        np.zeros((1, 3)), np.zeros((1, 2)), rng.normal(size=(1, 2, 3)), np.zeros((1, 2, 3, 3))
    )
    assert not linearize(flat, np.ones((1, 2), dtype=bool)).minimal.any()


def test_many_points_are_linearized_as_each_of_them_is():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 3))
    faces = rng.random((20, 3)) < 0.7
    faces[:, 0] = True
    found = JaxEvaluator(PROBLEM, 3, 3).hessians(x)
    batch = linearize(found, faces)
    for i in (0, 7, 19):
        one = linearized(PROBLEM, x[i], faces[i])
        np.testing.assert_allclose(batch.displacement[i], one.displacement, atol=1e-12)
        np.testing.assert_allclose(batch.multipliers[i], one.multipliers, atol=1e-12)
