"""Leverage sampling: t drawn where a least-squares fit of degree D depends on its values most.

With polynomials y_1, …, y_n of degree D that are orthonormal on Δ^{M−1}, n = |N^M_D|, the leverage
is K(t) = Σ_j y_j(t)² = z(t)ᵀΓ⁻¹z(t), of mean n: n² at the vertices, less inside. Points with the
density K/n and the weights n/K make all rows of the weighted design equally long (Cohen and
Migliorati, "Optimal weighted least-squares methods", SMAI J. Comput. Math. 3, 2017).
"""

from dataclasses import replace
from functools import lru_cache, partial
from types import ModuleType

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..arguments import read_count
from ..kinds import kind
from .points import broken_stick, multi_indices, n_controls, read_only
from .samplers import AbstractSampler
from .schedule import SCHEDULE


@kind("sampler.leverage/1")
class Leverage(AbstractSampler):
    """N fresh points with density K(t)/n and weights n/K(t), for surfaces of n control points.

    The first n are drawn jointly, with a density ∝ det(y_j(t_i))² that keeps them apart, the others
    independently. Together they are a volume-rescaled sample (Dereziński, Warmuth and Hsu, JMLR 23,
    2022): the refit is unbiased for every N ≥ n, and Algorithm 2 settles at the same surface
    whatever N is. With 30 points per iteration it is more exact than with 100 of `Uniform`. Choose
    it where many objectives make quadrature nodes too many (`docs/convergence.md`).

    Args:
        n: N.
        independent: draw all points independently; the refit is then biased.
        degree: D; a flow fills in its own.
    """

    n: int = eqx.field(static=True, converter=partial(read_count, name="n", least=1))
    independent: bool = eqx.field(static=True, default=False)
    degree: int | None = eqx.field(static=True, default=None)

    @property
    def n_samples(self) -> int:
        """N."""
        return self.n

    def for_degree(self, degree: int) -> "Leverage":
        """This sampler for surfaces of that degree."""
        return replace(self, degree=degree)

    def __call__(self, key: Array, n_objectives: int) -> tuple[Array, Array]:
        """The points, and their weights n/K."""
        if self.degree is None:
            raise ValueError(
                "degree must be given to draw by leverage outside of a flow: Leverage("
                f"{self.n}, degree=3)"
            )
        joint = 0 if self.independent else min(self.n, n_controls(n_objectives, self.degree))
        return _draw(key, self.n, joint, n_objectives, self.degree)


def orthonormal(s: Float[Array, "n shares"], degree: int) -> Float[Array, "n n_controls"]:
    """y_1, …, y_n at the points whose coordinates take these shares of what is left of the stick.

    Products over the shares s_k, whose density is ∝ (1 − s_k)^r, r = M − 1 − k: of
    P_{n_k}^{(a_k,0)}(2s_k − 1) (1 − s_k)^{ν_k} √((2n_k + a_k + 1)/(r + 1)) with ν_k = n_{k+1} + …
    and a_k = 2ν_k + r (Proriol, Koornwinder, Dubiner).
    """
    orders, a = _orders(s.shape[-1] + 1, degree)
    rest = np.arange(s.shape[-1] - 1, -1, -1)
    nu, values = (a - rest) // 2, jnp.ones((len(s), len(orders)), s.dtype)
    for k, share in enumerate(s.T):
        P = _jacobi(share[:, None], a[:, k].astype(s.dtype), degree, jnp)
        P = P[:, np.arange(len(orders)), orders[:, k]]
        size = np.sqrt((2 * orders[:, k] + a[:, k] + 1) / (rest[k] + 1)).astype(s.dtype)
        values = values * size * P * (1 - share)[:, None] ** nu[:, k]
    return values


def _orders(n_objectives: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """n_k and a_k of each y_j, one row per j."""
    orders = multi_indices(n_objectives, degree)[:, :-1]
    nu = np.cumsum(orders[:, ::-1], axis=1)[:, ::-1] - orders
    return orders, 2 * nu + np.arange(n_objectives - 2, -1, -1)


def _jacobi(s, a, degree: int, xp: ModuleType):
    """P_n^{(a,0)}(2s − 1) for n = 0, …, degree along a new last axis; s and a broadcast."""
    x = 2 * s - 1
    rows = [1 + 0 * (x + a), (a + 1) + (a + 2) * (x - 1) / 2]
    for n in range(1, degree):
        b = 2 * n + a
        up = (b + 1) * ((b + 2) * b * x + a**2) * rows[n] - 2 * (n + a) * n * (b + 2) * rows[n - 1]
        rows.append(up / (2 * (n + 1) * (n + 1 + a) * b))
    return xp.stack(rows[: degree + 1], axis=-1)


def _density(theta, order, a, degree: int, xp: ModuleType):
    """Of θ, s = sin²(θ/2), where s has the density (2n + a + 1) P_n^{(a,0)}(2s − 1)² (1 − s)^a."""
    s = xp.sin(theta / 2) ** 2
    P = xp.take_along_axis(_jacobi(s, a, degree, xp), order[..., None], axis=-1)[..., 0]
    return (2 * order + a + 1) * P**2 * (1 - s) ** a * xp.sin(theta) / 2


@lru_cache(maxsize=64)
def _peaks(n_objectives: int, degree: int) -> Float[np.ndarray, "n_controls shares"]:
    """What `_density` of each y_j and share stays below, for all θ.

    It is a trigonometric polynomial of degree d < 2D + M, so that its largest value at 2g places of
    the circle, over cos(πd/2g), bounds it everywhere (Ehlich and Zeller, Math. Z. 86, 1964).
    """
    orders, a = _orders(n_objectives, degree)
    g = SCHEDULE.envelope_fineness * (2 * degree + n_objectives)
    theta = np.pi * np.arange(g + 1) / g
    shape = (*orders.shape, g + 1)
    order, exponent = (np.broadcast_to(x[..., None], shape) for x in (orders, a.astype(float)))
    peaks = _density(theta, order, exponent, degree, np).max(axis=-1)
    return read_only(peaks / np.cos(np.pi / (2 * SCHEDULE.envelope_fineness)))


def _independent(key: Array, n: int, n_objectives: int, degree: int) -> Float[Array, "n shares"]:
    """Shares of n independent points with density K/n: of y_j² for a random j, by rejection."""
    for_rows, key = jax.random.split(key)
    orders, a = _orders(n_objectives, degree)
    rows = jax.random.randint(for_rows, (n,), 0, len(orders))
    float_type = jnp.result_type(float)
    order, exponent = jnp.asarray(orders)[rows], jnp.asarray(a, float_type)[rows]
    peak = jnp.asarray(_peaks(n_objectives, degree), float_type)[rows]

    def again(state):
        round, theta, found = state
        place, height = jax.random.uniform(jax.random.fold_in(key, round), (2, *theta.shape))
        theta = jnp.where(found, theta, jnp.pi * place)
        below = peak * height < _density(theta, order, exponent, degree, jnp)
        return round + 1, theta, found | below

    start = jnp.asarray(0), jnp.zeros(order.shape, float_type), jnp.zeros(order.shape, bool)
    theta = jax.lax.while_loop(lambda state: ~jnp.all(state[2]), again, start)[1]
    return jnp.sin(theta / 2) ** 2


@partial(jax.jit, static_argnums=(1, 2, 3, 4))
def _draw(
    key: Array, n: int, joint: int, n_objectives: int, degree: int
) -> tuple[Float[Array, "n n_objectives"], Float[Array, " n"]]:
    """N points, the first `joint` of them from the projection ensemble of the y_j, and n/K.

    Given points t_1, …, t_i of the ensemble, the next has a density ∝ |y(t)|² less the square of
    the projection of y(t) on y(t_1), …, y(t_i): one of density K is kept with that share of K
    (Hough, Krishnapur, Peres and Virág, Probab. Surv. 3, 2006).
    """
    controls, key_joint, key_rest = n_controls(n_objectives, degree), *jax.random.split(key)
    shares = jnp.zeros((n, n_objectives - 1))
    if joint < n:
        rest = _independent(key_rest, n - joint, n_objectives, degree)
        shares = shares.at[joint:].set(rest)

    def offer(state: tuple[Array, ...], candidate: tuple[Array, ...]) -> tuple[tuple, None]:
        count, Q, shares = state
        s, y, height = candidate
        left = y - Q.T @ (Q @ y)
        left = left - Q.T @ (Q @ left)  # again: rounding has left a part of Q in it
        size = left @ left
        kept = (height * (y @ y) < size) & (count < joint)
        kept_at = jnp.where(kept, count, joint)  # beyond the last row, where nothing is written
        Q = Q.at[kept_at].set(left / jnp.sqrt(jnp.where(kept, size, 1)), mode="drop")
        shares = jnp.where(kept, shares.at[count].set(s, mode="drop"), shares)
        return (count + kept, Q, shares), None

    def following(state: tuple[Array, ...]) -> tuple[Array, ...]:
        for_points, for_heights, key = jax.random.split(state[0], 3)
        block = SCHEDULE.joint_candidates * controls
        s = _independent(for_points, block, n_objectives, degree)
        heights = jax.random.uniform(for_heights, (block,))
        return key, *jax.lax.scan(offer, state[1:], (s, orthonormal(s, degree), heights))[0]

    if joint:
        start = key_joint, jnp.asarray(0), jnp.zeros((joint, controls), shares.dtype), shares
        shares = jax.lax.while_loop(lambda state: state[1] < joint, following, start)[3]
    weights = controls / jnp.sum(orthonormal(shares, degree) ** 2, axis=1)
    return broken_stick(1 - shares), weights
