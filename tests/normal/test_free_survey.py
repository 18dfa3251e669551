"""Displacements without Hessian matrices against those with, on the same problem, and the linear
systems behind them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.normal.conjugate import Systems, conjugate, look
from bezierflow.normal.displacement import linearize_points
from bezierflow.normal.free_descent import descend_freely, singular_minimizers, start_free_descent
from bezierflow.normal.free_multipliers import read_nodes
from bezierflow.normal.free_survey import FreeSurvey
from bezierflow.normal.host_displacement import linearize_on_host
from bezierflow.normal.layout import Layout
from bezierflow.normal.long_evaluator import LongEvaluator
from bezierflow.normal.schedule import FreeSchedule, Schedule
from bezierflow.normal.span import start_span
from bezierflow.objectives import JaxEvaluator
from bezierflow.objectives.multipliers import face_multipliers
from bezierflow.precision import double_precision

L, M = 12, 3
RNG = np.random.default_rng(3)
A = RNG.normal(size=(M, L, L)) / 6
MATRICES = A @ np.swapaxes(A, 1, 2) + 0.5 * np.eye(L)
CENTERS = RNG.normal(size=(M, L))
EXACT = Schedule(free=FreeSchedule(finest=1e-12, coarsest=1e-12))


def objectives(x):
    away = x - CENTERS
    return jnp.einsum("mi,mij,mj->m", away, MATRICES, away) / 2 + 0.02 * jnp.sum(away**4, axis=1)


@pytest.fixture(autouse=True)
def double():
    with double_precision():
        yield


def evaluator(kind="free"):
    return LongEvaluator(objectives, M, L, Layout(), kind)


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
    found = JaxEvaluator(objectives, M, L).hessians(x)
    return found, linearize_points(found.gradients, found.hessians, faces, np.asarray(support))


@pytest.mark.parametrize("kind", ["free", "none"])
def test_the_displacement_is_that_of_the_dense_path(kind):
    x = near_the_set()
    faces = np.ones((len(x), M), dtype=bool)
    faces[0, 1] = False
    _, expected = dense(x, faces)
    # A span that holds the tangents of the set itself: everything.
    span, coordinates = start_span([jnp.asarray(np.concatenate([x, np.eye(L)]))], 8, Layout())
    points = coordinates[: len(x)]
    tangents = [span.coordinates(jnp.asarray(expected.tangents[:, :, k])) for k in range(M - 1)]
    survey = FreeSurvey(evaluator(kind), span, points[:M], 3.0, schedule=EXACT)
    seen = survey.see(points, faces, np.stack(tangents, axis=2)).linearization
    atol = 1e-9 if kind == "free" else 1e-6
    np.testing.assert_allclose(seen.multipliers, expected.multipliers, atol=1e-9)
    moved = np.asarray(survey.span.points(points + seen.displacement)) - x
    np.testing.assert_allclose(moved, expected.displacement, atol=atol)
    assert np.asarray(seen.valid).all()
    assert np.asarray(seen.minimal).all()
    spent = survey.evaluator.evaluations
    assert spent.hessian == 0
    assert spent.jacobian > 2 * len(x)


def test_followed_points_end_on_the_set_whatever_the_tangents_of_the_surface_are():
    x = near_the_set()
    faces = np.ones((len(x), M), dtype=bool)
    span, coordinates = start_span([jnp.asarray(np.concatenate([x, np.eye(L)]))], 8, Layout())
    points = coordinates[: len(x)]
    wrong = np.linalg.qr(np.random.default_rng(0).normal(size=(len(x), points.shape[1], M - 1)))[0]
    survey = FreeSurvey(evaluator(), span, points[:M], 3.0, schedule=EXACT)
    left, claimed = {}, {}
    for name in ("see", "follow"):
        sight = getattr(survey, name)(points, faces, wrong)
        there = np.asarray(survey.span.points(points + sight.linearization.displacement))
        left[name] = np.linalg.norm(dense(there, faces)[1].displacement, axis=1)
        claimed[name] = sight.miss
    # Measured where a point ends, not assumed: within a factor of the distance that is left.
    ratios = np.concatenate([claimed[name] / left[name] for name in left])
    assert (left["follow"] < 0.3 * left["see"]).all()
    assert ratios.min() > 0.3
    assert ratios.max() < 10


def test_beyond_the_boundary_the_displacement_is_that_with_support_rows():
    x = (
        CENTERS.mean(axis=0)
        + 3 * (CENTERS[:2].mean(axis=0) - CENTERS.mean(axis=0))
        + 0.01 * RNG.normal(size=(4, L))
    )
    faces = np.ones((4, M), dtype=bool)
    _, expected = dense(x, faces, support=True)
    assert (np.asarray(expected.multipliers) == 0).any(axis=1).all()
    span, coordinates = start_span([jnp.asarray(x)], 8, Layout())
    span = span.widened(60)
    points = np.pad(coordinates, ((0, 0), (0, 60 - coordinates.shape[1])))
    survey = FreeSurvey(evaluator(), span, points[:M], 1e3, schedule=EXACT)
    seen = survey.see(points, faces, np.zeros((4, 60, M - 1)), support=True).linearization
    moved = np.asarray(survey.span.points(points + seen.displacement)) - x
    np.testing.assert_allclose(moved, expected.displacement, atol=1e-6)


def test_one_factorization_on_the_host_gives_what_the_compiled_program_gives():
    x = np.concatenate([near_the_set(4), 3 * RNG.normal(size=(3, L))])
    faces = RNG.random((7, M)) < 0.8
    faces[:, 0] = True
    for support in (False, True):
        found, expected = dense(x, faces, support)
        host = linearize_on_host(found.gradients, found.hessians, faces, support)
        np.testing.assert_allclose(host.displacement, expected.displacement, atol=1e-8)
        np.testing.assert_allclose(host.multipliers, expected.multipliers, atol=1e-9)
        spaces = [
            np.asarray(one.tangents) @ np.swapaxes(np.asarray(one.tangents), 1, 2)
            for one in (host, expected)
        ]
        np.testing.assert_allclose(*spaces, atol=1e-8)
        np.testing.assert_array_equal(host.minimal, expected.minimal)


def test_multipliers_from_inner_products_are_those_from_vectors():
    g = RNG.normal(size=(20, M, L)) - 0.3
    faces = np.ones((20, M), dtype=bool)
    nodes = read_nodes(g @ np.swapaxes(g, 1, 2), faces, M - 1, 2e-16)
    unit = g / np.linalg.norm(g, axis=2, keepdims=True)
    np.testing.assert_allclose(
        nodes.multipliers, jax.vmap(face_multipliers)(unit, faces), atol=1e-10
    )
    U = nodes.absorbed @ g
    np.testing.assert_allclose(
        U @ np.swapaxes(U, 1, 2), np.broadcast_to(np.eye(M - 1), (20, M - 1, M - 1)), atol=1e-10
    )


def test_negative_curvature_is_reported_and_no_solution_is_made_up():
    x = jnp.zeros((1, 2))
    saddle = lambda x: jnp.stack([x[0] + x[0] ** 2 - 3 * x[1] ** 2 + 0.5 * x[1], x[1]])
    _, gradients, _ = look(Layout(), saddle, x)
    zero, w = np.zeros(1), np.array([[1.0, 0.0]])
    systems = Systems(w, -w, np.zeros((1, 1, 2)), zero, zero, zero, np.full(1, 1e-8))
    solved = conjugate(
        Layout(), saddle, "free", x, gradients, systems, (jnp.ones((2, 2)), np.ones((1, 2))), 10
    )
    assert solved.negative.all()
    assert solved.least[0] < 0


def test_minimizers_are_found_and_a_flat_direction_is_noticed():
    def flat(x):
        return jnp.stack(
            [
                jnp.sum((x[1:] - 1) ** 4 + (x[1:] - 1) ** 2),
                jnp.sum((x + 2) ** 2),
                jnp.sum((x - 3) ** 2),
            ]
        )

    own = LongEvaluator(flat, M, L, Layout(), "free")
    (x,) = own.place(np.zeros((M, L)))
    descent = start_free_descent(np.eye(M), x, own.layout)
    while descent.active.any():
        descent = descend_freely(own, descent, Schedule(), 1e-10)
    assert descent.converged.all()
    np.testing.assert_allclose(descent.x[0, 1:], 1, atol=1e-7)
    np.testing.assert_allclose(descent.x[1], -2, atol=1e-8)
    np.testing.assert_array_equal(
        singular_minimizers(own, descent.x, Schedule()), [True, False, False]
    )
