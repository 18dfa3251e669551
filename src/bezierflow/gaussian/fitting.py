"""Kernels and hyperparameters of Gaussian processes: maximum a posteriori estimates by L-BFGS.

Kernels are functions of the squared distance s of two points in units of the length scales.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .schedule import SCHEDULE

Numbers = Array | np.ndarray
"""What compiled functions take."""

KINDS = ("rbf", "matern52")
"""The kernels exp(−s/2), of functions with all derivatives, and (1 + r + r²/3) exp(−r) with
r = √(5s), of functions with two. Files hold their numbers in this order."""

NOISE = {
    "none": (SCHEDULE.exact_nugget,),
    "some": (SCHEDULE.noisy_nugget,),
    "auto": (SCHEDULE.exact_nugget, SCHEDULE.noisy_nugget),
}
"""Prior means of the log nugget; two are a mixture of equal parts."""


def correlation_and_slope(s: Any, kind: Any) -> tuple[Any, Any]:
    """A kernel and its derivative by s: of arrays of NumPy with a name of `KINDS`, since fits need
    no compiled program, or of JAX with its number."""
    if isinstance(kind, str):
        r, is_rbf, xp = np.sqrt(5 * s), kind == "rbf", np
        decay = np.exp(-s / 2 if is_rbf else -r)
    else:
        r, is_rbf, xp = jnp.sqrt(5 * s), kind == 0, jnp
        decay = _decay(s, r, kind)
    k = xp.where(is_rbf, 1.0, 1 + r + r * r / 3)
    return k * decay, xp.where(is_rbf, -1 / 2, -5 / 6 * (1 + r)) * decay


def _decay(s: Array, r: Array, kind: Numbers) -> Array:
    # One exponential for either kernel: exponentials take most of the time of a posterior mean.
    return jnp.exp(jnp.where(kind == 0, -s / 2, -r))


@jax.custom_jvp
def correlation(s: Float[Array, "*shape"], kind: Numbers) -> Float[Array, "*shape"]:
    """The kernel of number `kind` in `KINDS`. Traceable, and so are two derivatives by s."""
    return correlation_and_slope(s, kind)[0]


@jax.custom_jvp
def _slope(s: Array, kind: Numbers) -> Array:
    return correlation_and_slope(s, kind)[1]


# The chain rule would divide the derivatives of Matérn's kernel by r, which is 0 at the data.
correlation.defjvps(lambda ds, _, s, kind: _slope(s, kind) * ds, None)
_slope.defjvps(
    lambda ds, _, s, kind: (
        jnp.where(kind == 0, 1 / 4, 25 / 12) * _decay(s, jnp.sqrt(5 * s), kind) * ds
    ),
    None,
)


class Fit(NamedTuple):
    """The fitted process of one function of L variables.

    Attributes:
        kind: its kernel, one of `KINDS`.
        theta: the optimum for each of `KINDS`: L log length scales, log variance, log nugget and
            level, of standardized values. All are kept, since each is a start of the next fit.
    """

    kind: str
    theta: Float[np.ndarray, "n_kinds n_theta"]


def fit(
    u: Float[np.ndarray, "n n_variables"],
    values: Float[np.ndarray, "n n_functions"],
    noise: str = "auto",
    former: Sequence[Fit] | None = None,
    in_full: bool = True,
    lengths: tuple[float, float] = SCHEDULE.lengths,
) -> tuple[Fit, ...]:
    """A process for each function, with the kernel of larger posterior density.

    Args:
        u: points of the cube.
        values: of mean 0 and variance 1, or all 0.
        noise: a key of `NOISE`.
        former: an earlier fit of each function, whose optima are starts as well.
        in_full: False to start from `former` alone, with the kernels that it has: some twenty times
            faster, for a few values more.
        lengths: the least and the largest length scale.
    """
    from scipy.optimize import minimize

    L, nuggets = u.shape[1], NOISE[noise]
    # of all variables: L-BFGS-B starts with shorter steps where one has no bounds
    bounds = [(np.log(lengths[0]), np.log(lengths[1]))] * L
    bounds += [SCHEDULE.variance_bounds, SCHEDULE.nugget_bounds, SCHEDULE.level_bounds]
    length = np.log(np.clip(np.full(L, SCHEDULE.length_start * np.sqrt(L)), *lengths))
    # At the prior mean of exact values the likelihood is flat in the nugget: start above it.
    starts = [
        np.array([*length, 0.0, max(nugget, SCHEDULE.exact_start), 0.0]) for nugget in nuggets
    ]

    def optimum(start: np.ndarray, y: np.ndarray, kind: str) -> tuple[float, np.ndarray]:
        steps = SCHEDULE.most_steps if in_full else SCHEDULE.quick_steps
        end = minimize(
            negative_log_density,
            start,
            args=(u, y, kind, nuggets),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": steps},
        )
        return end.fun, end.x

    fits = []
    for m, y in enumerate(values.T):
        if former and not in_full:
            kind, theta = former[m].kind, former[m].theta.copy()
            theta[KINDS.index(kind)] = optimum(theta[KINDS.index(kind)], y, kind)[1]
            fits.append(Fit(kind, theta))
            continue
        best = []
        for row, kind in enumerate(KINDS):
            begins = (*starts, *([former[m].theta[row]] if former else []))
            ends = [optimum(start, y, kind) for start in begins]
            best.append(min(ends, key=lambda end: end[0]))
        kind = KINDS[int(np.argmin([value for value, _ in best]))]
        fits.append(Fit(kind, np.stack([theta for _, theta in best])))
    return tuple(fits)


def negative_log_density(
    theta: Float[np.ndarray, " n_theta"],
    u: Float[np.ndarray, "n n_variables"],
    y: Float[np.ndarray, " n"],
    kind: str,
    nuggets: tuple[float, ...],
) -> tuple[float, np.ndarray]:
    """−log p(theta | y) up to a constant, and its gradient; theta is a row of `Fit.theta`, `u` are
    points, `nuggets` a value of `NOISE`."""
    from scipy.linalg.lapack import get_lapack_funcs

    n, L = u.shape
    level, variance, nugget = theta[L + 2], np.exp(theta[L]), np.exp(theta[L + 1])
    # by matrix products, which are several times faster than differences of all points
    scaled = (u - 0.5) * np.exp(-theta[:L])
    size = np.einsum("nl,nl->n", scaled, scaled)
    s = np.maximum(size[:, None] + size - 2 * scaled @ scaled.T, 0.0)
    s[np.diag_indices(n)] = 0.0
    k, slope = correlation_and_slope(s, kind)
    K = variance * k
    K[np.diag_indices(n)] += nugget + SCHEDULE.jitter * variance
    cholesky, inverse_of = get_lapack_funcs(("potrf", "potri"), (K,))
    factor, failed = cholesky(K, lower=True)
    if failed:
        return SCHEDULE.not_definite, np.zeros_like(theta)
    inverse = np.tril(inverse_of(factor, lower=True)[0])
    inverse += np.tril(inverse, -1).T
    alpha = inverse @ (y - level)
    value = 0.5 * (y - level) @ alpha + np.log(np.diag(factor)).sum()
    Q = 0.5 * (inverse - np.outer(alpha, alpha))  # ∂value/∂K
    gradient = np.empty_like(theta)
    # Σ_ij W_ij (a_i − a_j)² = 2 Σ_i a_i² Σ_j W_ij − 2 aᵀ W a, of a symmetric W
    W = Q * slope
    spread = np.einsum("nl,nl->l", scaled, W.sum(axis=1)[:, None] * scaled - W @ scaled)
    gradient[:L] = -4 * variance * spread
    gradient[L] = variance * (np.sum(Q * k) + SCHEDULE.jitter * np.trace(Q))
    gradient[L + 1], gradient[L + 2] = nugget * np.trace(Q), -alpha.sum()

    # Normal priors but for the nugget. Typical distances in a cube grow with √L, and the prior of
    # length scales with them (Hvarfner, Hellsten and Nardi, "Vanilla Bayesian optimization performs
    # great in high dimensions", ICML 2024).
    away = theta.copy()
    away[:L] -= SCHEDULE.length_mean + np.log(L) / 2
    away[L] -= SCHEDULE.variance_mean
    weight = np.full(L + 3, 1 / SCHEDULE.length_variance)
    weight[L:] = 1 / SCHEDULE.variance_variance, 0.0, 1 / SCHEDULE.level_variance
    by_theta = weight * away
    prior = 0.5 * float(by_theta @ away)
    from_means = theta[L + 1] - np.array(nuggets)
    exponents = -0.5 * (from_means / SCHEDULE.nugget_std) ** 2
    total = float(np.logaddexp.reduce(exponents))
    by_theta[L + 1] = np.exp(exponents - total) @ from_means / SCHEDULE.nugget_std**2
    return value + (prior - total), gradient + by_theta
