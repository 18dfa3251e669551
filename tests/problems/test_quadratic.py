"""Random convex quadratics: the Pareto map, the projection, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.problems import Quadratic
from bezierflow.simplex import nearest_from

quadratics = st.builds(
    Quadratic.random,
    n_objectives=st.integers(2, 5),
    n_variables=st.integers(1, 6),
    condition=st.sampled_from([1.0, 10.0, 100.0]),
    seed=st.integers(0, 1000),
)


@given(quadratics, st.integers(0, 100))
@settings(deadline=None, max_examples=40)
def test_pareto_map_is_stationary(problem, seed):
    t = np.random.default_rng(seed).dirichlet(np.ones(problem.n_objectives), 20)
    x = problem.pareto_map(t)
    gradients = 2 * np.einsum("mij,nmj->nmi", problem.matrices, x[:, None] - problem.centers)
    np.testing.assert_allclose(np.einsum("nm,nmi->ni", t, gradients), 0, atol=1e-10)


@given(quadratics)
@settings(deadline=None, max_examples=40)
def test_faces_go_to_faces(problem):
    """With one objective left out, the map is that of the problem without it."""
    t = np.random.default_rng(0).dirichlet(np.ones(problem.n_objectives - 1), 5)
    without_last = Quadratic(problem.matrices[:-1], problem.centers[:-1])
    on_face = np.column_stack([t, np.zeros(5)])
    np.testing.assert_allclose(problem.pareto_map(on_face), without_last.pareto_map(t), rtol=1e-12)


@given(
    quadratics.filter(lambda problem: problem.n_variables >= problem.n_objectives - 1),
    st.integers(0, 100),
)
@settings(deadline=None, max_examples=25, derandomize=True)
def test_projection_is_no_farther_than_from_random_starts(problem, seed):
    """Ten starts of each point from anywhere find nothing nearer. On other examples they might,
    once in thousands of points."""
    rng = np.random.default_rng(seed)
    x, n_starts = rng.normal(size=(6, problem.n_variables)) * 2, 10
    w = rng.dirichlet(np.full(problem.n_objectives, 0.5), 6 * n_starts)
    targets = np.repeat(x, n_starts, axis=0)
    found = problem.set_map()(nearest_from(problem.set_map(), targets, w)[0])
    others = np.linalg.norm(found - targets, axis=1).reshape(6, n_starts).min(axis=1)
    assert (problem.distance(x) <= others + 1e-6).all()


@given(quadratics)
@settings(deadline=None, max_examples=10)
def test_values(problem):
    x = np.full(problem.n_variables, 0.3)
    away = x - problem.centers
    np.testing.assert_allclose(
        problem(x), np.einsum("mi,mij,mj->m", away, problem.matrices, away), rtol=1e-12
    )


def test_scales_and_offsets_do_not_move_the_set():
    problem = Quadratic.random(3, 3, seed=3)
    scaled = Quadratic(
        problem.matrices * np.array([1e6, 1.0, 1e-3])[:, None, None],
        problem.centers,
        [7.0, 0.0, -1e4],
    )
    x = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(scaled.distance(x), problem.distance(x), rtol=1e-10)
    np.testing.assert_allclose(scaled(problem.centers[2])[2], -1e4)


def test_random_has_the_condition_asked_for_and_repeats():
    problem = Quadratic.random(2, 4, condition=50.0, seed=9)
    np.testing.assert_allclose(np.linalg.cond(problem.matrices), 50, rtol=1e-10)
    np.testing.assert_array_equal(
        problem.matrices, Quadratic.random(2, 4, condition=50.0, seed=9).matrices
    )
    assert (problem.matrices != Quadratic.random(2, 4, condition=50.0, seed=10).matrices).any()


def test_no_points_have_no_distances():
    assert Quadratic.random(2, 3).distance(np.zeros((0, 3))).shape == (0,)


def test_one_objective_is_its_minimizer():
    problem = Quadratic.random(1, 3)
    x = np.ones((2, 3))
    np.testing.assert_allclose(
        problem.distance(x), np.linalg.norm(x - problem.centers, axis=1), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([[1.0, -1.0]], [[0.0, 0.0]]),
            r"positive definite, but matrices\[0\] has the eigenvalue -1",
        ),
        (
            ([np.eye(2), [[1, 2], [2, 1]]], np.zeros((2, 2))),
            r"positive definite, but matrices\[1\] has the eigenvalue -1",
        ),
        (([[[1.0, 0.5], [0.0, 1.0]]], [[0.0, 0.0]]), r"symmetric, but matrices\[0\]"),
        ((np.ones((1, 2, 3)), [[0.0, 0.0, 0.0]]), "must be square"),
        (([[1.0, 1.0]], [0.0, 0.0]), r"centers must have shape \(1, 2\)"),
        (([[1.0, 1.0]], [[0.0, 0.0]], [1.0, 2.0]), "offsets must be one number or 1 of them"),
    ],
)
def test_misuse_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Quadratic(*arguments)


@pytest.mark.parametrize("arguments", [(0, 2), (2, 0), (2, 2, 0.5), (2, 2, np.inf)])
def test_random_refuses_what_cannot_be(arguments):
    with pytest.raises(ValueError, match="must be a"):
        Quadratic.random(*arguments)


def test_points_must_be_finite_to_be_projected():
    with pytest.raises(ValueError, match="x must be finite"):
        Quadratic.random(2, 2).distance(np.array([0.0, np.nan]))
