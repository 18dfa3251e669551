"""What must hold for every problem with a known Pareto set: gradients, optimality of the set,
projection onto it."""

import inspect
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import nnls

from bezierflow import problems
from bezierflow.precision import double_precision
from bezierflow.problems import (
    AbstractSolvedProblem,
    Fonseca,
    Quadratic,
    ScaledMED,
    SkewMED,
    SkewMMD,
    Warped,
)
from bezierflow.simplex import grid

DENSE = np.array([[[1.0, 0.3], [0.0, 0.8]], [[0.5, 0.0], [-0.4, 1.2]], [[1.0, 1.0], [0.2, 0.4]]])

EXAMPLES = {
    "scaled-med": ScaledMED(),
    "skew-3med": SkewMED(3),
    "skew-5med": SkewMED(5),
    "skew-3mmd": SkewMMD(3),
    "skew-mmd-dense": SkewMMD(3, DENSE, [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0.5, 1.0, 3.0]),
    "fonseca-4": Fonseca(4),
    "quadratic-3-5": Quadratic.random(3, 5, seed=1),
    "quadratic-diagonal": Quadratic(
        [[1.0, 2.0], [3.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]], [5.0, -1.0]
    ),
    "warped-scaled-med": Warped(ScaledMED()),
    "warped-skew-3med": Warped(SkewMED(3), bend=-0.7),
    "warped-fonseca-2": Warped(Fonseca(2), bend=0.5),
}

every_problem = pytest.mark.parametrize("problem", EXAMPLES.values(), ids=EXAMPLES)


@lru_cache
def compiled(problem):
    """Values and Jacobians over batches of x; compiled once for all tests of an example."""
    both = jnp.vectorize(
        lambda x: (problem(x), jax.jacobian(problem)(x)), signature="(l)->(m),(m,l)"
    )
    return jax.jit(both)


def evaluate(problem, x):
    with double_precision():
        return [np.asarray(part) for part in compiled(problem)(x)]


def weights(problem, n, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(problem.n_objectives), n)


def test_every_exported_problem_has_an_example():
    exported = {getattr(problems, name) for name in problems.__all__}
    solved = {
        thing
        for thing in exported
        if inspect.isclass(thing) and issubclass(thing, AbstractSolvedProblem)
    }
    assert solved - {AbstractSolvedProblem} == {type(problem) for problem in EXAMPLES.values()}


@every_problem
def test_sizes(problem):
    values = problem(np.full(problem.n_variables, 0.3))
    assert values.shape == (problem.n_objectives,)
    assert values.dtype == np.float64
    problem.names.check(problem.n_objectives, problem.n_variables)


@every_problem
def test_gradients_agree_with_finite_differences(problem):
    step = 1e-6
    x = np.random.default_rng(2).normal(size=(3, 1, problem.n_variables))
    shifts = step * np.eye(problem.n_variables)
    values, gradients = evaluate(problem, x + np.stack([-shifts, 0 * shifts, shifts])[:, None])
    differences = (values[2] - values[0]) / (2 * step)
    np.testing.assert_allclose(
        gradients[1, :, 0], differences.transpose(0, 2, 1), rtol=1e-6, atol=1e-7
    )


@every_problem
def test_minimizers_of_weighted_sums_are_stationary(problem):
    if not hasattr(problem, "pareto_map"):
        assert isinstance(problem, SkewMED | SkewMMD | Fonseca | Warped)
        return
    t = weights(problem, 5)
    gradients = evaluate(problem, np.asarray(problem.pareto_map(t)))[1]
    np.testing.assert_allclose(np.einsum("nm,nml->nl", t, gradients), 0, atol=1e-12)


@every_problem
def test_points_of_the_set_are_pareto_critical_face_by_face(problem):
    """Some convex combination of the gradients of the face's objectives vanishes."""
    w = weights(problem, 4)
    w[1:, 0] = 0
    if problem.n_objectives > 2:
        w[2:, 1] = 0
    w /= w.sum(axis=1, keepdims=True)
    gradients = evaluate(problem, np.asarray(problem.pareto_point(w)))[1]
    for w_n, of_all in zip(w, gradients, strict=True):
        face = np.flatnonzero(w_n)
        if len(face) > 1:
            directions = of_all[face] / np.linalg.norm(of_all[face], axis=1, keepdims=True)
            target = np.append(np.zeros(problem.n_variables), 1.0)
            assert nnls(np.vstack([directions.T, np.ones(len(face))]), target)[1] < 1e-9


@every_problem
def test_vertices_are_the_individual_minimizers(problem):
    vertices = np.asarray(problem.pareto_point(np.eye(problem.n_objectives)))[:, None]
    rng = np.random.default_rng(3)
    shifts = rng.normal(size=(20, problem.n_variables)) * 10.0 ** rng.uniform(-4, 0, size=(20, 1))
    least, others = evaluate(problem, vertices)[0], evaluate(problem, vertices + shifts)[0]
    for m in range(problem.n_objectives):
        assert (others[m, :, m] > least[m, :, m]).all()


@every_problem
def test_nothing_found_at_random_dominates_the_set(problem):
    found = evaluate(problem, np.random.default_rng(4).normal(size=(2000, problem.n_variables)))[0]
    front = evaluate(problem, np.asarray(problem.pareto_point(grid(problem.n_objectives, 6))))[0]
    dominated = (found[:, None] <= front - 1e-9).all(axis=2).any(axis=0)
    assert not dominated.any()


@every_problem
def test_points_of_the_set_have_distance_zero(problem):
    points = np.asarray(
        problem.pareto_point(np.concatenate([weights(problem, 50), grid(problem.n_objectives, 3)]))
    )
    assert problem.distance(points).max() < 1e-12


@every_problem
def test_distances_agree_with_a_dense_grid(problem):
    resolution = {2: 2000, 3: 80, 5: 14}[problem.n_objectives]
    w = grid(problem.n_objectives, resolution)
    dense = np.asarray(problem.pareto_point(w))
    x = np.random.default_rng(5).normal(size=(60, problem.n_variables))
    on_grid = np.linalg.norm(x[:, None] - dense, axis=2).min(axis=1)
    found = problem.distance(x)
    moved = np.asarray(
        problem.pareto_point((w + np.roll(w, 1, axis=1) / resolution) / (1 + 1 / resolution))
    )
    spacing = np.linalg.norm(moved - dense, axis=1).max() * problem.n_objectives
    assert (found <= on_grid + 1e-12).all()
    assert (found >= on_grid - spacing).all()


@every_problem
def test_a_point_moved_along_a_normal_is_that_far_away(problem):
    if problem.n_variables < problem.n_objectives:
        return  # the set has an inside: no normal there
    offset, step = 0.01, 1e-6
    w = weights(problem, 20, seed=6) * 0.7 + 0.3 / problem.n_objectives
    along = np.eye(problem.n_objectives)[:-1] - np.eye(problem.n_objectives)[-1]
    x = np.asarray(problem.pareto_point(w))
    tangents = np.stack(
        [
            problem.pareto_point(w + step * v) - np.asarray(problem.pareto_point(w - step * v))
            for v in along
        ],
        axis=1,
    )
    normals = np.linalg.svd(tangents)[2][:, problem.n_objectives - 1 :]
    for which in range(normals.shape[1]):
        moved = x + offset * normals[:, which]
        np.testing.assert_allclose(problem.distance(moved), offset, rtol=1e-9)
        np.testing.assert_allclose(problem.project(moved), x, atol=1e-9)


@every_problem
def test_projecting_twice_is_projecting_once(problem):
    x = np.random.default_rng(7).normal(size=(4, 5, problem.n_variables)) * 3
    once = problem.project(x)
    assert once.shape == x.shape
    assert problem.distance(x).shape == (4, 5)
    np.testing.assert_allclose(problem.project(once), once, atol=1e-11)


@every_problem
@pytest.mark.usefixtures("unchecked")
def test_wrong_shapes_are_named(problem):
    wrong = np.zeros((2, problem.n_variables + 1))
    with pytest.raises(ValueError, match="x must have"):
        problem.distance(wrong)
    with pytest.raises(ValueError, match="must have"):
        problem.pareto_point(np.zeros(problem.n_objectives + 1))
