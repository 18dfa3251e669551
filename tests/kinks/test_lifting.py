"""Functions with kinks as smooth functions of more variables: the same values where these are the
kinks, and the same minima."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.kinks import CannotLiftError, find_kinks, keeps_kinks, lift_kinks, unseen_arms
from bezierflow.precision import double_precision

A = np.random.default_rng(0).normal(size=(6, 3))
b = np.ones(6)
BOX = (np.full(3, -3.0), np.full(3, 3.0))


def misfit(x):
    return jnp.sum((A @ x - b) ** 2)


def places(x):
    return x, np.ones(len(x), dtype=bool)


def pinball(x):
    """Quantile regression at three levels: all objectives have the same kinks."""
    r = A @ x - b
    return jnp.stack(
        [jnp.sum(jnp.maximum(level * r, (level - 1) * r)) for level in (0.1, 0.5, 0.9)]
    )


CONVEX = {
    "of several weights": (
        lambda x: jnp.stack([jnp.sum(jnp.abs(x)), jnp.abs(x) @ jnp.arange(1.0, 4.0)]),
        3,
        6,
    ),
    "a norm": (lambda x: jnp.stack([misfit(x), jnp.linalg.norm(x, 1)]), 3, 6),
    "the worst of many": (
        lambda x: jnp.stack([jnp.max(jnp.sum((x - A) ** 2, axis=1)), jnp.sum(x**2)]),
        1,
        6,
    ),
    "the worst twice": (
        lambda x: jnp.stack([jnp.max(jnp.sum((x - A[[0, 1, 2, 2]]) ** 2, axis=1)), x @ x]),
        1,
        3,
    ),
    "a minimum": (lambda x: jnp.stack([misfit(x), -jnp.min(x)]), 1, 3),
    "hinges": (lambda x: jnp.stack([jnp.sum(jax.nn.relu(1 - A @ x)), x @ x]), 6, 12),
    "quantiles": (pinball, 6, 12),
    "kinks of kinks": (lambda x: jnp.stack([misfit(x), jnp.max(jnp.abs(x))]), 4, 9),
    "beside a softmax": (
        lambda x: jnp.stack([misfit(x) + jax.nn.logsumexp(x), jnp.sum(jnp.abs(x))]),
        3,
        6,
    ),
    "two kinks in one": (
        lambda x: jnp.stack([misfit(x), jnp.maximum(jnp.abs(x[0]), jnp.abs(x[1]))]),
        3,
        6,
    ),
}
SMOOTH = {
    "no kink": lambda x: jnp.stack([misfit(x), x @ x]),
    "smooth by their own rules": lambda x: jnp.stack(
        [jnp.sum(jax.nn.softplus(x)), jax.nn.logsumexp(x)]
    ),
    "squares": lambda x: jnp.stack([misfit(x), jnp.sum(jnp.abs(x) ** 2)]),
    "of constants": lambda x: jnp.stack([misfit(x), x @ x * jnp.max(jnp.abs(jnp.asarray(A)))]),
    "of whole numbers": lambda x: jnp.stack([misfit(x), x @ x + jnp.max((x > 9).astype(int))]),
    "a squared norm": lambda x: jnp.stack([misfit(x), jnp.linalg.norm(x) ** 2]),
    "a root that is smooth": lambda x: jnp.stack([misfit(x), jnp.sqrt(1 + x[0] ** 2)]),
    "the sign of a sum of powers": lambda x: jnp.stack(
        [misfit(x), jnp.abs(jnp.exp(x) @ jnp.exp(x) + 1)]
    ),
    "a guard": lambda x: jnp.stack([misfit(x), jnp.log(jnp.maximum(1 + x @ x, 1e-9))]),
}
HOPELESS = {
    "objective 2 falls": lambda x: jnp.stack([misfit(x), -jnp.sum(jnp.abs(x))]),
    "another kink falls": lambda x: jnp.stack([misfit(x), jnp.abs(jnp.abs(x[0]) - 1)]),
    "of norm": lambda x: jnp.stack([misfit(x), jnp.sqrt(x @ (A.T @ A) @ x)]),
    "of scan": lambda x: jnp.stack(
        [misfit(x), jax.lax.fori_loop(0, 3, lambda i, s: s + jnp.abs(x[i]), 0.0)]
    ),
    "of sort": lambda x: jnp.stack([misfit(x), jnp.sum(jnp.sort(x)[-2:])]),
    "at most 100": lambda x: jnp.stack(
        [misfit(x), jnp.sum(jnp.abs(jnp.arange(101.0) * x[0] - x[1]))]
    ),
}


@pytest.mark.slow("the worst of many", "of several weights", "hinges")
@pytest.mark.parametrize(("objectives", "n_kinks", "n_rows"), CONVEX.values(), ids=CONVEX)
def test_where_u_is_the_kinks_nothing_changes_and_elsewhere_it_is_smooth(
    objectives, n_kinks, n_rows
):
    lifted = lift_kinks(objectives, BOX).lifted
    assert (lifted.n_auxiliary, len(lifted.plan.rows)) == (n_kinks, n_rows)
    x = np.random.default_rng(1).normal(size=(40, 3))
    x[0] = 0

    # Not compiled as a whole: with the flags of the tests XLA has put NaN into these slopes.
    @jax.vmap
    def look(x):
        xu = jnp.concatenate([x, lifted.exact(x)])
        slope = jax.jacobian(lifted)
        return objectives(x), lifted(xu), lifted.rows(xu), slope(xu), slope(xu + 1e-9)

    with double_precision():
        f, lifted_f, rows, slopes, slopes_nearby = map(np.asarray, look(x))
    np.testing.assert_allclose(lifted_f, f, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(rows.max(axis=1), 0, atol=1e-12)
    assert ((np.abs(rows) < 1e-12).sum(axis=1) >= n_kinks).all(), (
        "each u is as small as its rows allow"
    )
    np.testing.assert_allclose(slopes, slopes_nearby, atol=1e-6)
    np.testing.assert_array_less(-1e-12, slopes[:, :, 3:])


NORMS = {
    "one": (lambda x: jnp.stack([misfit(x), jnp.linalg.norm(x)]), [3]),
    "of groups": (
        lambda x: jnp.stack([misfit(x), jnp.sqrt(x[0] ** 2 + x[1] ** 2) + jnp.sqrt(x[2:] @ x[2:])]),
        [2, 1],
    ),
    "of rows": (
        lambda x: jnp.stack(
            [misfit(x), jnp.sum(jnp.linalg.norm(x[:, None] * jnp.array([1.0, 2.0]), axis=1))]
        ),
        [2, 2, 2],
    ),
    "a power": (lambda x: jnp.stack([jnp.sum(jnp.square(x)) ** 0.5, misfit(x)]), [3]),
    "of two multiples": (lambda x: jnp.stack([jnp.linalg.norm(x), jnp.linalg.norm(2 * x)]), [3]),
}


@pytest.mark.parametrize(("objectives", "sizes"), NORMS.values(), ids=NORMS)
def test_a_norm_is_lifted_with_a_direction_that_is_its_multipliers_at_the_tip(objectives, sizes):
    lifted = lift_kinks(objectives, BOX, places=places(np.zeros((1, 3)))).lifted
    assert [norm.n_terms for norm in lifted.plan.norms] == sizes
    lower, upper = lifted.plan.limits
    x = np.random.default_rng(1).normal(size=(40, 3))
    x[0] = 0

    @jax.jit
    @jax.vmap
    def look(x):
        xu = jnp.concatenate([x, lifted.exact(x)])
        return objectives(x), lifted(xu), lifted.rows(xu), jax.jacobian(lifted)(xu)

    with double_precision():
        f, lifted_f, rows, slopes = map(np.asarray, look(x))
    np.testing.assert_allclose(lifted_f[1:], f[1:], rtol=1e-13, err_msg="exact off the tip")
    np.testing.assert_allclose(lifted_f[0], f[0], atol=1e-6)
    assert (lower - 1e-12 <= rows).all()
    assert (rows <= upper + 1e-12).all()
    assert np.isfinite(slopes).all()


CORNERS = np.array([[0.0, 0.0, 0.0], [2.0, 0.3, 0.1], [0.7, 1.8, -0.2]])
"""Distances to them have their triangle for a Pareto set."""


@pytest.mark.parametrize(
    ("tip", "inside"),
    [([0.9, 0.7, 0.05], True), ([0.9, 0.7, 2.5], False), ([2.5, 2.5, 0.0], False)],
)
def test_a_norm_is_lifted_where_its_tip_may_be_on_the_set(tip, inside):
    def objectives(x):
        return jnp.sum((x - CORNERS) ** 2, axis=1) + 0.5 * jnp.linalg.norm(x - np.array(tip))

    w = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    lifting = lift_kinks(objectives, BOX, places=places(w @ CORNERS))
    assert (lifting is not None) == inside


def test_a_norm_is_lifted_where_a_part_of_the_plane_of_its_tip_is_on_the_set():
    def objectives(x, shift):
        return jnp.sum((x - CORNERS) ** 2, axis=1) + 0.5 * jnp.linalg.norm(x[1:] - shift)

    w = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    for shift, inside in ((np.array([0.8, 0.0]), True), (np.array([0.8, 2.0]), False)):
        assert (
            lift_kinks(lambda x, s=shift: objectives(x, s), BOX, places=places(w @ CORNERS))
            is not None
        ) == inside


@pytest.mark.parametrize("objectives", SMOOTH.values(), ids=SMOOTH)
def test_what_is_smooth_stays(objectives):
    assert lift_kinks(objectives, BOX, whole=True) is None


def test_what_never_switches_in_the_bounds_is_its_largest_arm_there():
    def objectives(x):
        return jnp.stack([jnp.sum(jnp.abs(x)), jnp.maximum(x[0], 0.5)])

    lifted = lift_kinks(objectives, (np.zeros(3), np.ones(3)), whole=True).lifted
    assert lifted.n_auxiliary == 1
    with double_precision():
        slopes = jax.jacobian(lifted)(jnp.zeros(4))
    np.testing.assert_array_equal(
        slopes[0, :3], 1, err_msg="also at 0, where the slope of |x| is not defined"
    )


@pytest.mark.parametrize(("reason", "objectives"), HOPELESS.items(), ids=HOPELESS)
def test_what_cannot_be_lifted_is_said(reason, objectives):
    with pytest.raises(CannotLiftError, match=reason):
        lift_kinks(objectives, BOX)


def test_finding_kinks_evaluates_nothing():
    def objectives(x):
        jax.debug.callback(lambda: pytest.fail("evaluated"))
        return jnp.stack([misfit(x), jnp.sum(jnp.abs(x))])

    assert find_kinks(objectives, 3) == 3


SOFTMAX = {
    "log-sum-exp": lambda scores: jax.nn.logsumexp(scores, axis=1) - scores[:, 0],
    "with weights": (
        lambda scores: jax.nn.logsumexp(scores, axis=1, b=np.array([1.0, 2.0])) - scores[:, 0]
    ),
    "log-softmax": lambda scores: -jax.nn.log_softmax(scores)[:, 0],
    "softmax": lambda scores: -jnp.log(jax.nn.softmax(scores)[:, 0]),
    "in a loop": lambda scores: jax.lax.map(lambda s: jax.nn.logsumexp(s) - s[0], scores),
    "in a call": lambda scores: jax.jit(
        lambda s, top: jax.nn.logsumexp(s - jax.lax.stop_gradient(top)[:, None], 1)
    )(scores, scores.max(axis=1)),
}


@pytest.mark.parametrize("losses", SOFTMAX.values(), ids=SOFTMAX)
def test_the_largest_score_of_a_softmax_is_no_kink_and_those_beside_it_are(losses):
    def smooth(x):
        return jnp.stack([jnp.mean(losses(A[:, :1] * x[:2])), x @ x])

    def with_kinks(x):
        return smooth(x) + jnp.stack([jnp.sum(jnp.abs(x)), jnp.max(x)])

    assert find_kinks(smooth, 3) == 0
    assert find_kinks(with_kinks, 3) == 4


def test_a_largest_value_whose_slope_is_stopped_on_one_way_only_is_a_kink():
    def objectives(x):
        top = jnp.max(x)
        return jnp.stack(
            [misfit(x), top + jnp.log(jnp.sum(jnp.exp(x - jax.lax.stop_gradient(top))))]
        )

    assert find_kinks(objectives, 3) == 1


def test_arms_that_are_nowhere_the_value_are_functions_of_their_own():
    def envelope(x):
        hidden = jnp.sum((x - 5) ** 2) - 1
        return jnp.array([jnp.minimum(jnp.sum(x**2), hidden), jnp.max(jnp.abs(x))])

    x = np.random.default_rng(0).uniform(-2, 2, (200, 3))
    (arm,) = unseen_arms(envelope, 3, x)
    np.testing.assert_allclose(arm(jnp.full(3, 5.0)), [-1.0, 5.0])
    assert not unseen_arms(envelope, 3, np.vstack([x, np.full((1, 3), 5.0)]))


@pytest.mark.parametrize(("order", "kept"), [(jnp.sort, True), (jnp.abs, False), (jnp.sin, False)])
def test_kinks_that_cannot_be_lifted_are_kept(order, kept):
    assert keeps_kinks(lambda x: jnp.stack([order(x)[0], jnp.sum(x**2)]), 3) is kept
