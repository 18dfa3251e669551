"""Random compositions of |·|, max, min, hinges and norms: the lifted problem has the same values,
slopes and minima as the one with kinks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.kinks import find_kinks, lift_kinks
from bezierflow.precision import double_precision

L = 3
BOX = (np.full(L, -2.0), np.full(L, 2.0))
X = np.vstack([np.zeros((1, L)), np.random.default_rng(1).uniform(-2, 2, size=(20, L))])
"""Where functions are compared: at 0, where many kinks meet, and elsewhere."""

OF_ONE = {
    "abs": lambda e: jnp.abs(e),
    "hinge": lambda e: jax.nn.relu(1 - e),
    "quantile": lambda e: jnp.maximum(0.3 * e, -0.7 * e),
    "the least of three": lambda e: -jnp.min(jnp.stack([e, -e, e / 2 + 0.5])),
    "in a jit": lambda e: jax.jit(lambda e: jnp.abs(e) + jnp.maximum(e, 0.5))(e),
    "in a map": lambda e: jnp.sum(jax.vmap(jnp.abs)(jnp.stack([e, e - 1]))),
    "in a checkpoint": lambda e: jax.checkpoint(lambda e: jnp.abs(e) + e)(e),
}
"""Convex functions with kinks of an affine number."""

OF_TWO = {
    "max": jnp.maximum,
    "the largest of three": lambda e, g: jnp.max(jnp.stack([e, g, e / 2])),
    "along streets": lambda e, g: jnp.linalg.norm(jnp.stack([e, g]), 1),
    "the largest coordinate": lambda e, g: jnp.linalg.norm(jnp.stack([e, g]), jnp.inf),
}
"""The same of two affine numbers."""

GROWING = {
    "sum": lambda e, g: 2.0 * e + 0.5 * g,
    "max": jnp.maximum,
    "clip from below": lambda e, g: jnp.clip(e, 0.25) + g,
    "exp": lambda e, g: jnp.exp(0.3 * e) + jax.nn.softplus(g),
    "square": lambda e, g: (e + 9) ** 2 + g,
    "shared": lambda e, g: jnp.maximum(e + g, e) + g,
}
"""Nondecreasing convex functions: of convex functions with kinks they are convex, and nondecreasing
in every kink."""


def composition(seed):
    """A smooth objective and one with kinks, and kinks of kinks, chosen at random."""
    rng = np.random.default_rng(seed)

    def affine():
        a, b = rng.integers(-2, 3, size=L).astype(float), float(rng.integers(-1, 2))
        return lambda x: x @ a + b

    def convex(depth):
        if depth == 0 and rng.random() < 0.6:
            part, e = OF_ONE[rng.choice(list(OF_ONE))], affine()
            return lambda x: part(e(x))
        kind = OF_TWO if depth == 0 else GROWING
        part = kind[rng.choice(list(kind))]
        e, g = (affine(), affine()) if depth == 0 else (convex(depth - 1), convex(depth - 1))
        return lambda x: part(e(x), g(x))

    worst = convex(int(rng.integers(1, 3)))
    return lambda x: jnp.stack([jnp.sum((x - 1) ** 2), worst(x)])


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 8))]
)
def test_a_lifted_composition_has_the_same_values_slopes_and_minima(seed):
    objectives = composition(seed)
    lifting = lift_kinks(objectives, BOX)
    lifted, n = lifting.lifted, lifting.lifted.n_auxiliary
    away = 0.3 * np.random.default_rng(seed).normal(size=(30, n))

    def look(x):
        def followed(x):
            return lifted(jnp.concatenate([x, lifted.exact(x)]))

        def both(xu):
            return lifted(xu), lifted.rows(xu)

        xu = jnp.concatenate([x, lifted.exact(x)])
        others = xu + jnp.concatenate([jnp.zeros((30, L)), away], axis=1)
        less = xu - 1e-3 * jnp.eye(L + n)[L:]
        # each function is traced once
        df = jax.vmap(jax.jacfwd(objectives))(jnp.stack([x, x + 1e-7]))
        dF = jax.vmap(jax.jacfwd(lifted))(jnp.stack([xu, xu + 1e-7]))
        F, rows = jax.vmap(both)(jnp.concatenate([xu[None], others, less]))
        return (
            (objectives(x), df[0], df[1]),
            (F[0], rows[0], dF[0], dF[1]),
            jax.jacfwd(followed)(x),
            (F[1:31], rows[1:31]),
            rows[31:],
        )

    with double_precision():
        found = jax.tree.map(np.asarray, jax.jit(jax.vmap(look))(jnp.asarray(X)))
    (f, df, df_nearby), (F, rows, dF, dF_nearby), followed, (others_F, others_rows), less = found
    size = 1 + np.abs(f).max()

    np.testing.assert_allclose(F, f, rtol=1e-12, atol=1e-12 * size)
    assert rows.max() <= 1e-12 * size, "the exact values are feasible"
    # with any one of them less, a row is violated: each is as small as its rows allow
    assert (less.max(axis=2) > 1e-4).all()

    # min F(x, u) subject to the rows is f(x), so that the lifted problem has the same minima
    feasible = others_rows.max(axis=2) <= 0
    assert np.where(feasible[..., None], others_F - f[:, None], 0.0).min() >= -1e-10 * size
    assert dF[:, :, L:].min() >= -1e-9, "objectives are nondecreasing in every kink"

    # F is smooth at kinks, too; d/dx F(x, u*(x)) is the slope of f where f has one
    steepest = 1 + np.abs(dF).max()
    np.testing.assert_allclose(dF, dF_nearby, atol=1e-4 * steepest)
    smooth = np.abs(df - df_nearby).max(axis=(1, 2)) < 1e-4 * steepest
    smooth[0] = False  # kinks meet at 0
    assert smooth.sum() > 10
    np.testing.assert_allclose(followed[smooth], df[smooth], rtol=1e-9, atol=1e-9)

    assert n <= find_kinks(objectives, L)
    assert lifting.rest == ()
    assert (lifting.box[0] < lifting.box[1]).all()
    assert (lifting.lower == -np.inf).all()


@pytest.mark.parametrize("seed", range(4))
def test_norms_of_linear_maps_are_lifted_to_polar_coordinates(seed):
    """e = (u + ε) d with |d| = 1 off the tip; at the tip u = 0, and the value is off by at most
    ε/2 per norm."""
    rng = np.random.default_rng(seed)
    maps = [rng.normal(size=(rng.integers(1, 4), L)) for _ in range(rng.integers(1, 3))]

    def objectives(x):
        kink = jnp.abs(x[0] - 1) if seed % 2 else 0.0
        return jnp.stack([jnp.sum((x - 1) ** 2), sum(jnp.linalg.norm(A @ x) for A in maps) + kink])

    at_the_tip = (np.zeros((1, L)), np.ones(1, dtype=bool))
    lifting = lift_kinks(objectives, BOX, places=at_the_tip)
    lifted, plan = lifting.lifted, lifting.lifted.plan
    assert sorted(norm.n_terms for norm in plan.norms) == sorted(len(A) for A in maps)

    def look(x):
        xu = jnp.concatenate([x, lifted.exact(x)])
        slopes = jax.jacfwd(lambda x: lifted(jnp.concatenate([x, lifted.exact(x)])))(x)
        return xu, objectives(x), lifted(xu), lifted.rows(xu), jax.jacfwd(objectives)(x), slopes

    with double_precision():
        xu, f, F, rows, df, dF = map(np.asarray, jax.jit(jax.vmap(look))(jnp.asarray(X)))
    np.testing.assert_allclose(F[1:], f[1:], rtol=1e-12)
    assert 0 <= (F[0] - f[0]).max() <= sum(norm.tip for norm in plan.norms) / 2 + 1e-15
    lower, upper = plan.limits
    assert (rows >= lower - 1e-12).all()
    assert (rows <= upper + 1e-12).all()
    np.testing.assert_allclose(dF[1:], df[1:], rtol=1e-6, atol=1e-6)
    start = L + plan.n_kinks
    for norm in plan.norms:
        d = xu[:, start : start + norm.n_terms]
        start += norm.n_terms
        np.testing.assert_allclose(np.linalg.norm(d[1:], axis=1), 1, rtol=1e-12)
        np.testing.assert_array_equal(d[0], 0)
        assert (xu[:, L + norm.variable] >= 0).all()
        assert lifting.lower[norm.variable] == 0
