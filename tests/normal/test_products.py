"""Displacements and minimizers without Hessian matrices against those with, on the same problem,
and the linear systems behind them."""

import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.normal import (
    Layout,
    LongEvaluator,
    Matrices,
    Products,
    Schedule,
    Systems,
    find_minimizers,
    linearize,
)
from bezierflow.normal.descent import not_unique
from bezierflow.normal.products import Subspace, read_nodes
from bezierflow.normal.span import Span, resize
from bezierflow.objectives import BudgetSpentError, JaxEvaluator
from bezierflow.precision import double_precision

L, M = 12, 3
RNG = np.random.default_rng(3)
A = RNG.normal(size=(M, L, L)) / 6
MATRICES = A @ np.swapaxes(A, 1, 2) + 0.5 * np.eye(L)
CENTERS = RNG.normal(size=(M, L))
EXACT = Schedule(finest=1e-12, coarsest=1e-12)


def objectives(x):
    away = x - CENTERS
    return jnp.einsum("mi,mij,mj->m", away, MATRICES, away) / 2 + 0.02 * jnp.sum(away**4, axis=1)


@pytest.fixture(autouse=True)
def double():
    with double_precision():
        yield


def products_of(x, kind="free", diameter=3.0, schedule=EXACT):
    """The curvature with a span that holds these points, and their coordinates."""
    span, rows = Span.of([jnp.asarray(x)], 8, Layout())
    evaluator = LongEvaluator(objectives, M, L, Layout(), kind)
    memory = Subspace(span, kind)
    return Products(evaluator, rows[:M], diameter, schedule, memory=memory), rows


def near_the_set(n=6):
    w = RNG.dirichlet(np.ones(M), n)
    x = np.stack(
        [
            np.linalg.solve(
                np.einsum("m,mij->ij", v, MATRICES), np.einsum("m,mij,mj->i", v, MATRICES, CENTERS)
            )
            for v in w
        ]
    )
    return x + 0.02 * RNG.normal(size=x.shape)


def dense(x, faces, support=False):
    return linearize(JaxEvaluator(objectives, M, L).hessians(x), faces, support)


@pytest.mark.parametrize("kind", ["free", "none"])
def test_the_displacement_is_that_of_matrices(kind):
    x = near_the_set()
    faces = np.ones((len(x), M), dtype=bool)
    faces[0, 1] = False
    expected = dense(x, faces)
    # A span that holds the tangents of the set itself: everything.
    curvature, rows = products_of(np.concatenate([x, np.eye(L)]), kind)
    points, span = rows[: len(x)], curvature.memory.span
    tangents = [span.coordinates(jnp.asarray(expected.tangents[:, :, k])) for k in range(M - 1)]
    seen = curvature.look(points, faces, np.stack(tangents, axis=2)).linearization
    atol = 1e-9 if kind == "free" else 1e-6
    np.testing.assert_allclose(seen.multipliers, expected.multipliers, atol=1e-9)
    moved = curvature.memory.points(points + seen.displacement) - x
    np.testing.assert_allclose(moved, expected.displacement, atol=atol)
    assert seen.valid.all()
    assert seen.minimal.all()
    spent = curvature.evaluator.evaluations
    assert spent.hessian == 0
    assert spent.jacobian > 2 * len(x)


def test_followed_points_end_on_the_set_whatever_the_tangents_of_the_surface_are():
    x = near_the_set()
    faces = np.ones((len(x), M), dtype=bool)
    curvature, rows = products_of(np.concatenate([x, np.eye(L)]))
    points = rows[: len(x)]
    wrong = np.linalg.qr(np.random.default_rng(0).normal(size=(len(x), points.shape[1], M - 1)))[0]
    left, claimed = [], []
    for whole in (False, True):
        sight = curvature.look(points, faces, wrong, whole=whole)
        there = curvature.memory.points(points + sight.linearization.displacement)
        left.append(np.linalg.norm(dense(there, faces).displacement, axis=1))
        claimed.append(sight.miss)
    # Measured where a point ends, not assumed: within a factor of the distance that is left.
    ratios = np.concatenate(claimed) / np.concatenate(left)
    assert (left[1] < 0.3 * left[0]).all()
    assert ratios.min() > 0.3
    assert ratios.max() < 10


def test_beyond_the_boundary_the_displacement_is_that_with_support_rows():
    x = (
        CENTERS.mean(axis=0)
        + 3 * (CENTERS[:2].mean(axis=0) - CENTERS.mean(axis=0))
        + 0.01 * RNG.normal(size=(4, L))
    )
    faces = np.ones((4, M), dtype=bool)
    expected = dense(x, faces, support=True)
    assert (expected.multipliers == 0).any(axis=1).all()
    curvature, rows = products_of(x, diameter=1e3)
    points = resize(rows, curvature.reserve(20))
    nothing = np.zeros((*points.shape, M - 1))
    sight = curvature.look(points, faces, nothing, support=True)
    back = curvature.look_back(sight, np.ones(4, dtype=bool), faces)
    for seen in (sight.linearization, back):
        moved = curvature.memory.points(points + seen.displacement) - x
        np.testing.assert_allclose(moved, expected.displacement, atol=1e-6)


def test_points_of_an_exact_surface_have_no_distance_and_are_valid():
    """Spheres: ρ is rounding there, and conjugate gradients for it meet rounding only."""
    centers = np.random.default_rng(0).normal(size=(2, 40))
    objectives = lambda x: jnp.sum((x - centers) ** 2, axis=1)
    s = np.linspace(0.1, 0.9, 9)[:, None]
    span, rows = Span.of([jnp.asarray((1 - s) * centers[0] + s * centers[1])], 16, Layout())
    evaluator = LongEvaluator(objectives, 2, 40, Layout(), "free")
    curvature = Products(evaluator, rows[[0, -1]], 9.0, memory=Subspace(span, "free"))
    width = curvature.reserve(10)
    nothing = np.zeros((9, width, 1))
    sight = curvature.measure(resize(rows, width), np.ones((9, 2), dtype=bool), nothing)
    assert sight.linearization.valid.all()
    assert sight.linearization.minimal.all()
    assert np.linalg.norm(sight.linearization.displacement, axis=1).max() < 1e-13


def test_absorbed_directions_are_orthonormal():
    g = RNG.normal(size=(20, M, L)) - 0.3
    nodes = read_nodes(g @ np.swapaxes(g, 1, 2), np.ones((20, M), dtype=bool), M - 1, 2e-16)
    U = nodes.absorbed @ g
    np.testing.assert_allclose(
        U @ np.swapaxes(U, 1, 2), np.broadcast_to(np.eye(M - 1), (20, M - 1, M - 1)), atol=1e-10
    )
    np.testing.assert_allclose(
        np.linalg.norm(np.einsum("nm,nml->nl", nodes.curvature, g), axis=1), nodes.residual
    )


def test_negative_curvature_is_reported_and_no_solution_is_made_up():
    saddle = lambda x: jnp.stack([x[0] + x[0] ** 2 - 3 * x[1] ** 2 + 0.5 * x[1], x[1]])
    evaluator = LongEvaluator(saddle, 2, 2, Layout(), "free")
    x = jnp.zeros((1, 2))
    _, gradients, _ = evaluator.look(x, 1)
    zero, w = np.zeros(1), np.array([[1.0, 0.0]])
    systems = Systems(w, -w, np.zeros((1, 1, 2)), zero, zero, np.full(1, 1e-8))
    solved = evaluator.solve(x, gradients, systems, None, 1, 10)
    assert solved.negative.all()
    assert solved.least[0] < 0


def test_room_must_be_reserved_before_a_look():
    x = near_the_set(4)
    curvature, rows = products_of(x)
    with pytest.raises(ValueError, match="reserve"):
        curvature.look(rows, np.ones((4, M), dtype=bool), np.zeros((*rows.shape, M - 1)))


def test_a_budget_is_never_exceeded():
    x = near_the_set(4)
    for budget in (0, 5, 30):
        curvature, rows = products_of(x)
        curvature.evaluator.budget = budget
        points = resize(rows, curvature.reserve(20))
        nothing = np.zeros((*points.shape, M - 1))
        with pytest.raises(BudgetSpentError):
            curvature.look(points, np.ones((4, M), dtype=bool), nothing)
        assert curvature.evaluator.evaluations.objective <= budget


def flat(x):
    return jnp.stack(
        [jnp.sum((x[1:] - 1) ** 4 + (x[1:] - 1) ** 2), jnp.sum((x + 2) ** 2), jnp.sum((x - 3) ** 2)]
    )


def both(objectives, x0, weights):
    """Descents by matrices and by products from one point, and their curvatures."""
    n = weights.shape[1]
    starts = np.tile(np.asarray(x0, dtype=float), (len(weights), 1))
    width = starts.shape[1]
    span, rows = Span.of([jnp.asarray(starts[:1])], 8, Layout())
    long = LongEvaluator(objectives, n, width, Layout(), "free")
    rows = np.tile(rows, (len(weights), 1))
    curvatures = (
        Matrices(JaxEvaluator(objectives, n, width), starts[:n]),
        Products(long, rows[:n], memory=Subspace(span, "free"), tol=1e-7),
    )
    return [
        (curvature, find_minimizers(curvature, weights, own))
        for curvature, own in zip(curvatures, (starts, rows), strict=True)
    ]


def test_minimizers_are_found_and_a_flat_direction_is_noticed():
    for curvature, descent in both(flat, np.zeros(L), np.eye(M)):
        assert descent.converged.all()
        x = curvature.memory.points(descent.x)
        np.testing.assert_allclose(x[0, 1:], 1, atol=1e-7)
        np.testing.assert_allclose(x[1], -2, atol=1e-8)
        np.testing.assert_array_equal(not_unique(curvature, descent), [True, False, False])


@pytest.mark.parametrize("power", [0.35, 0.5, 1.0, 2.5])
def test_cusps_norms_and_flat_bottoms_are_minimized_as_with_matrices(power):
    """The factor β of homogeneous objectives, which makes all of them as easy as a quadratic."""
    rng = np.random.default_rng(1)
    centers, scales = rng.normal(size=(2, L)), 10 ** rng.random((2, L))
    objectives = lambda x: jnp.sum(scales * (x - centers) ** 2, axis=1) ** power
    for curvature, descent in both(objectives, np.full(L, 3.0), np.eye(2)):
        assert descent.converged.all()
        np.testing.assert_allclose(curvature.memory.points(descent.x), centers, atol=1e-5)
        assert descent.n_trials.max() < 20


def test_weighted_sums_have_the_same_minimizers():
    weights = np.array([[0.2, 0.3, 0.5], [0.6, 0.0, 0.4]])
    (_, exact), (curvature, descent) = both(objectives, np.zeros(L), weights)
    np.testing.assert_allclose(curvature.memory.points(descent.x), exact.x, atol=1e-8)


def test_an_objective_without_minimizer_is_not_called_converged():
    unbounded = lambda x: jnp.stack([jnp.sum(x), jnp.sum(x**2)])
    for _, descent in both(unbounded, np.full(4, 0.5), np.eye(2)):
        assert descent.converged.tolist() == [False, True]


@pytest.mark.parametrize("seed", range(5))
def test_starting_at_a_kink_does_not_stop_a_descent(seed):
    """And a descent ends at a kink however rounding falls beside it."""
    centers = np.stack([np.zeros(L), np.ones(L)])
    centers[1] += 1e-12 * np.random.default_rng(seed).normal(size=L)
    norms = lambda x: jnp.sqrt(jnp.sum((x - centers) ** 2, axis=1))
    for curvature, descent in both(norms, np.zeros(L), np.eye(2)):
        assert descent.converged.all()
        np.testing.assert_allclose(curvature.memory.points(descent.x), centers, atol=1e-5)
