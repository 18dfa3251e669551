"""Which operations are kinks, which are none, and what is said of those that cannot be lifted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.kinks import (
    CannotLiftError,
    find_kinks,
    has_norms,
    lift_kinks,
    with_slopes,
)
from bezierflow.precision import double_precision

L = 3
BOX = (np.full(L, -2.0), np.full(L, 2.0))
A = np.random.default_rng(0).normal(size=(4, L))


def beside(kinked):
    """Two objectives, the second with the number given."""
    return lambda x: jnp.stack([jnp.sum((x - 1) ** 2), kinked(x)])


@jax.custom_jvp
def own_derivative(e):
    return jnp.where(e > 0, e, 0.0) + jnp.abs(e) * 0


own_derivative.defjvp(lambda primals, tangents: (own_derivative(*primals), tangents[0] * 0.5))


COUNTED = {
    "abs": (lambda x: jnp.abs(x[0]), 1),
    "one for each entry": (lambda x: jnp.sum(jnp.abs(x)), 3),
    "max of two": (lambda x: jnp.maximum(x[0], x[1]), 1),
    "max of many": (lambda x: jnp.max(x), 1),
    "max along an axis": (lambda x: jnp.sum(jnp.max(jnp.outer(x, x), axis=1)), 3),
    "a clip on both sides": (lambda x: jnp.clip(x[0], -1, 1), 2),
    "relu": (lambda x: jnp.sum(jax.nn.relu(x)), 3),
    "leaky relu": (lambda x: jnp.maximum(x[0], 0.1 * x[0]), 1),
    "a Euclidean norm": (lambda x: jnp.linalg.norm(x), 1),
    "a root of a product with itself": (lambda x: jnp.sqrt(x @ x), 1),
    "a root of squares of parts": (lambda x: jnp.sqrt(x[0] ** 2 + x[1] * x[1]), 1),
    "a power of one half": (lambda x: jnp.sum(jnp.square(x)) ** 0.5, 1),
    "norms of rows": (lambda x: jnp.sum(jnp.linalg.norm(jnp.outer(x, x + 1), axis=1)), 3),
    "the largest coordinate": (lambda x: jnp.linalg.norm(x, jnp.inf), 5),
    "in a jit": (lambda x: jax.jit(lambda x: jnp.abs(x[0]))(x), 1),
    "in two jits": (lambda x: jax.jit(lambda x: jax.jit(jnp.max)(x) + 1)(x), 1),
    "in a checkpoint": (lambda x: jax.checkpoint(lambda x: jnp.abs(x[0]) + x[1])(x), 1),
    "in a map": (lambda x: jnp.sum(jax.vmap(jnp.abs)(x)), 3),
    "larger than −inf": (lambda x: jnp.max(x, initial=-jnp.inf), 1),
    "behind stop_gradient": (lambda x: jax.lax.stop_gradient(jnp.max(x)) * x[0], 0),
    "of what is nowhere negative": (lambda x: jnp.abs(jnp.exp(x[0]) + x[1] ** 2), 0),
    "of a stack of such": (lambda x: jnp.sum(jnp.abs(jnp.stack([x[0] ** 2, jnp.exp(x[1])]))), 0),
    "of a constant": (lambda x: x[0] * jnp.abs(jnp.asarray(-2.0)), 0),
    "of whole numbers": (lambda x: x[0] * jnp.max((x > 0).astype(int)), 0),
    "with a derivative of its own": (lambda x: own_derivative(x[0]), 0),
    "softplus": (lambda x: jnp.sum(jax.nn.softplus(x)), 0),
    "log-sum-exp": (lambda x: jax.nn.logsumexp(x), 0),
    "a smooth root": (lambda x: jnp.sqrt(1 + x[0] ** 2), 0),
}


@pytest.mark.parametrize(("kinked", "n"), COUNTED.values(), ids=COUNTED)
def test_kinks_are_found_in_the_trace(kinked, n):
    assert find_kinks(beside(kinked), L) == n


def test_norms_are_told_apart():
    assert has_norms(beside(lambda x: jnp.linalg.norm(x) + jnp.abs(x[0])), L)
    assert not has_norms(beside(lambda x: jnp.linalg.norm(x, 1)), L)
    assert not has_norms(beside(lambda x: jnp.sqrt(1 + x @ x)), L)


def in_a_scan(x):
    return jax.lax.scan(lambda total, e: (total + jnp.abs(e), None), 0.0, x)[0]


def in_a_while_loop(x):
    return jax.lax.while_loop(lambda s: s[1] < 3, lambda s: (jnp.abs(s[0]), s[1] + 1), (x[0], 0))[0]


def in_a_condition(x):
    return jax.lax.cond(x[0] > 0, lambda x: jnp.max(x), lambda x: x[1], x)


def pooled(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (2,), (1,), "VALID").sum()


OUT_OF_REACH = {
    "sort": lambda x: jnp.sort(x)[-1],
    "top_k": lambda x: jnp.sum(jax.lax.top_k(x, 2)[0]),
    "cummax": lambda x: jnp.sum(jax.lax.cummax(x)),
    "cummin": lambda x: -jnp.sum(jax.lax.cummin(x)),
    "reduce_window_max": pooled,
    "scan": in_a_scan,
    "while": in_a_while_loop,
    "cond": in_a_condition,
    "norm": lambda x: jnp.sqrt(x @ (A.T @ A) @ x),
}


@pytest.mark.parametrize(("name", "kinked"), OUT_OF_REACH.items(), ids=OUT_OF_REACH)
def test_a_refusal_names_the_operation(name, kinked):
    with pytest.raises(CannotLiftError, match=rf"those of {name} have no finite number"):
        find_kinks(beside(kinked), L)


@pytest.mark.parametrize("name", ["sort", "scan"])
def test_kinks_that_can_be_lifted_are_so_beside_others_that_are_named(name):
    kinked = OUT_OF_REACH[name]
    lifting = lift_kinks(beside(lambda x: kinked(x) + jnp.abs(x[0] - 1)), BOX)
    assert lifting.lifted.n_auxiliary == 1
    assert lifting.rest == (name,)


UPWARDS = {
    "minus an absolute value": (lambda x: -jnp.abs(x[0]), "objective 2 falls"),
    "a minimum": (lambda x: jnp.min(x), "objective 2 falls"),
    "a clip from above": (lambda x: jnp.clip(x[0], -1, 1), "objective 2 falls"),
    "inside of another kink": (
        lambda x: jnp.maximum(1 - jnp.abs(x[0]), -0.5),
        "another kink falls",
    ),
    "not a number": (lambda x: jnp.abs(jnp.log(-9.0 - x[0] ** 2)), "not finite at any sample"),
}


@pytest.mark.parametrize(("kinked", "words"), UPWARDS.values(), ids=UPWARDS)
def test_kinks_that_point_upwards_are_refused(kinked, words):
    with pytest.raises(CannotLiftError, match=words):
        lift_kinks(beside(kinked), BOX)


def test_multiples_of_one_kink_share_a_variable():
    """|e|, |2e|, max(e, −e) and the hinges of e and −e are all kinks at e = 0."""

    def kinked(x):
        e = x[0] - 0.5 * x[1]
        rectified = jax.nn.relu(e) + jax.nn.relu(-e)
        return jnp.abs(e) + jnp.abs(2 * e) + jnp.maximum(e, -e) + rectified

    lifted = lift_kinks(beside(kinked), BOX).lifted
    assert lifted.n_auxiliary == 1
    assert len(lifted.plan.variables) == 5
    # in the order of evaluation, hinges first; max(a, b) = (a + b + |a − b|) / 2 for each of them
    np.testing.assert_allclose(lifted.plan.factors, [1, 1, 2, 4, 2])


def test_what_never_switches_in_a_box_is_its_largest_arm_there_and_lifted_elsewhere():
    objectives = beside(lambda x: jnp.clip(x[0], -9.0) + jnp.abs(x[1]))
    assert lift_kinks(objectives, BOX, whole=True).lifted.n_auxiliary == 1
    assert lift_kinks(objectives, BOX).lifted.n_auxiliary == 2


@pytest.mark.parametrize("power", [1, 2, 3])
def test_a_kink_stays_where_a_power_makes_it_smooth(power):
    """|e|^p has a kink at 0 for p = 1 alone, also where values far from it are large."""
    objectives = beside(lambda x: jnp.exp(jnp.exp(jnp.abs(x[0]) ** power)))
    assert (lift_kinks(objectives, BOX) is None) == (power > 1)


def test_slopes_of_norms_are_finite_at_their_tips():
    objectives = beside(lambda x: jnp.linalg.norm(x[:2]) + jnp.abs(x[2]))
    with double_precision():
        finite = with_slopes(objectives, L)
        at_0 = jax.jacfwd(finite)(jnp.zeros(L))
        assert np.isnan(jax.jacfwd(objectives)(jnp.zeros(L))).any()
        np.testing.assert_array_equal(at_0[1, :2], 0)
        x = jnp.array([0.3, -0.4, 0.5])
        np.testing.assert_allclose(finite(x), objectives(x), rtol=1e-15)
        np.testing.assert_allclose(jax.jacfwd(finite)(x), jax.jacfwd(objectives)(x), rtol=1e-14)
