"""The Bézier simplex: its mathematics over many M, D and L, and its manners as an immutable
pytree."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import BezierSimplex, fit
from bezierflow.precision import double_precision
from bezierflow.simplex import faces, grid, n_controls
from exact_bernstein import exact_value


@st.composite
def surfaces(draw, most_objectives=5, most_degree=5, shapes=None):
    """A surface with random control points, and the generator that made it."""
    shape = (
        draw(st.sampled_from(shapes))
        if shapes
        else (draw(st.integers(1, most_objectives)), draw(st.integers(0, most_degree)))
    )
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    width = 2 if shapes else draw(st.integers(1, 4))
    return BezierSimplex(rng.normal(size=(n_controls(*shape), width)), *shape), rng


SHAPES = [(1, 2), (2, 4), (3, 3), (4, 2)]
"""Where JAX compiles for each shape, properties run over these and random control points."""


@settings(deadline=None, max_examples=40)
@given(surfaces())
def test_vertices_are_interpolated(case):
    surface, _ = case
    values = surface(np.eye(surface.n_objectives))
    for m in range(surface.n_objectives):
        np.testing.assert_allclose(values[m], surface.vertex(m), rtol=1e-14)


@settings(deadline=None, max_examples=40)
@given(surfaces())
def test_values_lie_in_the_box_of_the_control_points(case):
    surface, rng = case
    lower, upper = surface.bounds()
    values = surface(rng.dirichlet(np.full(surface.n_objectives, 0.5), 50))
    assert (values >= lower - 1e-13).all()
    assert (values <= upper + 1e-13).all()


@settings(deadline=None, max_examples=40)
@given(surfaces())
def test_restriction_is_the_surface_over_the_face(case):
    surface, rng = case
    for face in faces(surface.n_objectives):
        t = rng.dirichlet(np.ones(len(face)), 4)
        inside = np.zeros((4, surface.n_objectives))
        inside[:, face] = t
        np.testing.assert_allclose(surface.restrict(face)(t), surface(inside), atol=1e-13)


@settings(deadline=None, max_examples=40)
@given(surfaces())
def test_fit_after_evaluate_is_the_identity(case):
    surface, _ = case
    t = grid(surface.n_objectives, surface.degree + 2)
    found = fit(t, surface(t), surface.degree)
    np.testing.assert_allclose(found.control_points, surface.control_points, atol=1e-10)


@settings(deadline=None, max_examples=20)
@given(surfaces(shapes=SHAPES), st.sampled_from([0, 1, 3]))
def test_elevation_leaves_the_map_unchanged(case, more):
    surface, rng = case
    elevated = surface.elevate(surface.degree + more)
    assert (elevated.degree, elevated.n_objectives) == (surface.degree + more, surface.n_objectives)
    t = rng.dirichlet(np.ones(surface.n_objectives), 20)
    np.testing.assert_allclose(elevated(t), surface(t), atol=1e-13)


@settings(deadline=None, max_examples=20)
@given(surfaces(shapes=SHAPES))
def test_jacobian_is_the_derivative_along_the_simplex(case):
    surface, rng = case
    t = rng.dirichlet(np.ones(surface.n_objectives), 5)
    jacobian, derivative = surface.jacobian(t), surface.derivative(t)
    assert jacobian.shape == derivative.shape == (5, 2, surface.n_objectives)
    np.testing.assert_allclose(jacobian.sum(axis=-1), 0, atol=1e-12)
    with double_precision():
        automatic = automatic_derivative(surface, t)
    np.testing.assert_allclose(derivative, automatic, atol=1e-11)
    along = rng.normal(size=surface.n_objectives)
    along -= along.mean()
    step = 1e-6 * along
    difference = (surface(t + step) - surface(t - step)) / 2e-6
    np.testing.assert_allclose(jacobian @ along, difference, atol=1e-6)


@jax.jit
def automatic_derivative(surface, t):
    return jax.vmap(jax.jacfwd(surface))(t)


@settings(deadline=None, max_examples=15)
@given(surfaces(shapes=[(2, 4), (3, 3)]))
def test_subdivision_is_the_same_map_over_any_sub_simplex(case):
    surface, rng = case
    m = surface.n_objectives
    corners, s = rng.dirichlet(np.ones(m), m), rng.dirichlet(np.ones(m), 10)
    np.testing.assert_allclose(surface.subdivide(corners)(s), surface(s @ corners), atol=1e-12)
    for place in range(m):
        within = np.eye(m)
        within[place] = corners[0]
        part = surface.subdivide(within)
        np.testing.assert_allclose(part(s), surface(s @ within), atol=1e-12)
        np.testing.assert_allclose(part.vertex(place), surface(corners[0]), atol=1e-12)


@pytest.mark.parametrize(("n_objectives", "degree"), [(2, 20), (3, 20), (20, 3)])
def test_high_degrees_and_many_objectives_lose_no_digits(n_objectives, degree):
    """Against exact arithmetic: all terms of one sign or not, the error stays some roundings of the
    largest control point."""
    rng = np.random.default_rng(0)
    points, t = (
        rng.normal(size=(n_controls(n_objectives, degree), 1)),
        rng.dirichlet(np.ones(n_objectives), 2),
    )
    exact = np.array([exact_value(points, row, degree) for row in t])
    bound = 4 * (degree + n_objectives) * 1.2e-16 * np.abs(points).max()
    surface = BezierSimplex(points, n_objectives, degree)
    np.testing.assert_allclose(surface(t), exact, rtol=0, atol=bound)
    with double_precision():
        compiled = BezierSimplex(jnp.asarray(points), n_objectives, degree)(jnp.asarray(t))
    np.testing.assert_allclose(compiled, exact, rtol=0, atol=bound)


def test_operations_hold_at_degree_twenty():
    rng = np.random.default_rng(0)
    surface, t = BezierSimplex(rng.normal(size=(21, 2)), 2, 20), rng.dirichlet(np.ones(2), 30)
    np.testing.assert_allclose(surface.elevate(23)(t), surface(t), atol=1e-12)
    np.testing.assert_allclose(surface.restrict((1,))(np.ones((1, 1)))[0], surface.vertex(1))
    corners = np.array([[0.9, 0.1], [0.3, 0.7]])
    np.testing.assert_allclose(surface.subdivide(corners)(t), surface(t @ corners), atol=1e-12)


def test_small_batches_on_the_host_and_large_ones_compiled_agree():
    rng = np.random.default_rng(0)
    surface, t = BezierSimplex(rng.normal(size=(10, 3)), 3, 3), rng.dirichlet(np.ones(3), 20_000)
    np.testing.assert_allclose(surface(t)[:50], surface(t[:50]), atol=1e-13)
    assert surface(t).dtype == surface(t[:50]).dtype == np.float64


def test_batch_axes_come_first():
    surface = BezierSimplex(np.random.default_rng(0).normal(size=(6, 4, 5)), 3, 2)
    t = np.random.default_rng(1).dirichlet(np.ones(3), (2, 7))
    assert surface(t).shape == (2, 7, 4, 5)
    assert surface(t[0, 0]).shape == (4, 5)
    assert surface.jacobian(t).shape == (2, 7, 4, 5, 3)
    np.testing.assert_allclose(surface(t)[1, 3], surface(t[1, 3]), atol=1e-14)


@pytest.mark.usefixtures("unchecked")
def test_a_list_serves_as_a_point():
    surface = BezierSimplex(np.eye(3), 3, 1)
    np.testing.assert_allclose(surface([0.2, 0.3, 0.5]), [0.2, 0.3, 0.5], atol=1e-15)


def test_pytree_values():
    rng = np.random.default_rng(0)
    surface = BezierSimplex({"w": rng.normal(size=(6, 2, 2)), "b": (rng.normal(size=6),)}, 3, 2)
    assert surface.n_variables == 5
    t = rng.dirichlet(np.ones(3), 4)
    value = surface(t)
    np.testing.assert_allclose(
        value["b"][0], BezierSimplex(surface.control_points["b"][0], 3, 2)(t)
    )
    for same in (surface.elevate(3), surface.subdivide(np.eye(3))):
        np.testing.assert_allclose(same(t)["w"], value["w"], atol=1e-13)
    assert surface.restrict((0, 2)).control_points["w"].shape == (3, 2, 2)
    assert surface.bounds()[0]["w"].shape == (2, 2)
    assert surface.derivative(t)["b"][0].shape == (4, 3)


def test_constant_surfaces_keep_their_value_exactly():
    surface = BezierSimplex.constant({"a": np.array([0.1, 0.2]), "b": 0.3}, 3, 2)
    t = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    np.testing.assert_allclose(surface(t)["a"], np.broadcast_to([0.1, 0.2], (5, 2)), rtol=1e-14)
    assert surface.control_points["a"].dtype == surface.control_points["b"].dtype == np.float64
    assert (
        BezierSimplex.constant(jnp.zeros(2, jnp.float32), 3, 2).control_points.dtype == jnp.float32
    )


def test_transformations_of_jax():
    points, t = (
        jnp.asarray(np.random.default_rng(0).normal(size=(6, 2)), jnp.float32),
        jnp.array([0.2, 0.3, 0.5]),
    )
    surface = BezierSimplex(points, 3, 2)
    np.testing.assert_allclose(jax.jit(lambda s, t: s(t))(surface, t), surface(t), rtol=1e-6)
    batch = jnp.stack([t, t[::-1]])
    np.testing.assert_allclose(jax.vmap(surface)(batch), surface(batch), rtol=1e-6)
    gradient = jax.grad(lambda s: s(t)[0])(surface)
    assert isinstance(gradient, BezierSimplex)
    # ∂b/∂p_d is z_d(t)
    np.testing.assert_allclose(gradient.control_points[:, 0].sum(), 1, rtol=1e-6)
    many = eqx.filter_vmap(lambda p: BezierSimplex(p, 3, 2))(jnp.stack([points, 2 * points]))
    np.testing.assert_allclose(
        eqx.filter_vmap(lambda s: s(t))(many), [surface(t), 2 * surface(t)], rtol=1e-5
    )
    assert np.isfinite(jax.jacfwd(surface)(jnp.eye(3)[0])).all()


def test_float32_stays_float32_and_float64_survives_without_the_global_switch():
    points = np.random.default_rng(0).normal(size=(6, 2))
    t = np.random.default_rng(1).dirichlet(np.ones(3), 4)
    single = BezierSimplex(jnp.asarray(points, jnp.float32), 3, 2)
    for value in (
        single(jnp.asarray(t, jnp.float32)),
        single.jacobian(jnp.asarray(t, jnp.float32)),
        single.elevate(4).control_points,
    ):
        assert value.dtype == jnp.float32
    assert single.subdivide(jnp.eye(3, dtype=jnp.float32)).control_points.dtype == jnp.float32
    double = BezierSimplex(points, 3, 2)
    for value in (
        double(t),
        double.jacobian(t),
        double.elevate(4).control_points,
        double.subdivide(np.eye(3)).control_points,
    ):
        assert value.dtype == np.float64
    assert not jax.config.jax_enable_x64


def test_surfaces_cannot_be_changed():
    surface = BezierSimplex(np.zeros((3, 1)), 3, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        surface.degree = 2
    assert jax.tree.structure(surface) == jax.tree.structure(BezierSimplex(np.ones((3, 1)), 3, 1))
    assert isinstance(BezierSimplex(jnp.zeros((3, 1)), 3, 1).on_host().control_points, np.ndarray)


@pytest.mark.usefixtures("unchecked")
def test_integers_of_numpy_serve_as_numbers():
    surface = BezierSimplex(np.zeros((6, 1)), np.int64(3), np.int32(2))
    assert (type(surface.n_objectives), type(surface.degree)) == (int, int)
    with pytest.raises((TypeError, ValueError), match="degree"):
        BezierSimplex(np.zeros((6, 1)), 3, 2.5)


def test_faces_of_faces_and_included_points():
    surface = BezierSimplex(np.random.default_rng(0).normal(size=(35, 2)), 4, 4)
    np.testing.assert_array_equal(
        surface.restrict((0, 1, 3)).restrict((0, 2)).control_points,
        surface.restrict((0, 3)).control_points,
    )
    t = np.random.default_rng(1).dirichlet(np.ones(2), 6)
    np.testing.assert_allclose(
        surface.restrict((3, 0))(t), surface(t @ np.eye(4)[[0, 3]]), atol=1e-13
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda s: BezierSimplex(np.zeros((5, 1)), 3, 2),
            r"must have 6 rows for n_objectives=3 and degree=2, got a leaf of shape",
        ),
        (lambda s: BezierSimplex({}, 3, 2), "at least one array, got an empty pytree"),
        (
            lambda s: BezierSimplex(np.zeros(1), 3, -1),
            "degree must be a whole number of at least 0, got -1",
        ),
        (
            lambda s: s(np.ones((4, 2))),
            r"t must have 3 coordinates along its last axis, got shape \(4, 2\)",
        ),
        (lambda s: s.elevate(1), "degree must be a whole number from 2 to 200, got 1"),
        (lambda s: s.restrict((0, 3)), "distinct numbers from 0 to 2"),
        (
            lambda s: s([50.0, 50.0, 0.0]),
            r"t must hold points of the simplex .* row 0 is \[50.0, 50.0, 0.0\] with sum 100",
        ),
        (lambda s: s([-0.5, 1.0, 0.5]), "no coordinate below 0"),
        (lambda s: s([np.nan, 0.5, 0.5]), "t must hold points of the simplex"),
        (lambda s: s.jacobian([1.0, 1.0, 1.0]), "t must hold points of the simplex"),
        (lambda s: s.subdivide(np.ones(3) / 3), r"vertices must be a matrix .* got shape \(3,\)"),
        (lambda s: s.subdivide(np.ones((3, 3))), "vertices must hold points of the simplex"),
        (lambda s: s.vertex(3), "m must be a whole number from 0 to 2, got 3"),
        (lambda s: s.vertex(-1), "m must be a whole number from 0 to 2, got -1"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_misuse_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(BezierSimplex(np.zeros((6, 2)), 3, 2))


def test_inside_a_jit_t_is_not_known_and_not_checked():
    surface = BezierSimplex(np.array([[0.0], [1.0]]), 2, 1)
    np.testing.assert_allclose(jax.jit(lambda t: surface(t))(jnp.array([0.25, 0.75])), [0.75])
    np.testing.assert_allclose(jax.grad(lambda t: surface(t)[0])(jnp.array([0.5, 0.5])), [0, 1])
    np.testing.assert_allclose(jax.jit(lambda t: surface(t))(jnp.array([2.0, 3.0])), [3.0])
