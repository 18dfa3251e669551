"""Kernels and hyperparameters of Gaussian processes: maximum a posteriori estimates by L-BFGS.

Kernels are functions of the squared distance s of two points in units of the length scales.
"""

from collections.abc import Sequence
from typing import NamedTuple

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


@jax.custom_jvp
def correlation(s: Float[Array, "*shape"], kind: Numbers) -> Float[Array, "*shape"]:
    """The kernel of number `kind` in `KINDS`. Traceable, and so are two derivatives by s."""
    r = jnp.sqrt(5 * s)
    return jnp.where(kind == 0, 1.0, 1 + r + r * r / 3) * _decay(s, r, kind)


@jax.custom_jvp
def _slope(s: Array, kind: Numbers) -> Array:
    r = jnp.sqrt(5 * s)
    return jnp.where(kind == 0, -1 / 2, -5 / 6 * (1 + r)) * _decay(s, r, kind)


def _decay(s: Array, r: Array, kind: Numbers) -> Array:
    # One exponential for either kernel: exponentials take most of the time of a posterior mean.
    return jnp.exp(jnp.where(kind == 0, -s / 2, -r))


# The chain rule would divide the derivatives of Matérn's kernel by r, which is 0 at the data.
correlation.defjvps(lambda ds, _, s, kind: _slope(s, kind) * ds, None)
_slope.defjvps(
    lambda ds, _, s, kind: (
        jnp.where(kind == 0, 1 / 4, 25 / 12) * _decay(s, jnp.sqrt(5 * s), kind) * ds
    ),
    None,
)


def correlation_and_slope(s: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """A kernel and its derivative by s in NumPy: fits need no compiled program."""
    if kind == "rbf":
        k = np.exp(-s / 2)
        return k, -k / 2
    r = np.sqrt(5 * s)
    decay = np.exp(-r)
    return (1 + r + r * r / 3) * decay, -5 / 6 * (1 + r) * decay


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
) -> tuple[Fit, ...]:
    """A process for each function, with the kernel of larger posterior density.

    Args:
        u: points of the cube.
        values: of mean 0 and variance 1, or all 0.
        noise: a key of `NOISE`.
        former: an earlier fit of each function, whose optima are starts as well.
    """
    from scipy.optimize import minimize

    L, nuggets = u.shape[1], NOISE[noise]
    squares = (u.T[:, :, None] - u.T[:, None, :]) ** 2
    # of all variables: L-BFGS-B starts with shorter steps where one has no bounds
    bounds = [SCHEDULE.length_bounds] * L
    bounds += [SCHEDULE.variance_bounds, SCHEDULE.nugget_bounds, SCHEDULE.level_bounds]
    length = np.full(L, np.log(SCHEDULE.length_start) + np.log(L) / 2)
    # At the prior mean of exact values the likelihood is flat in the nugget: start above it.
    starts = [
        np.array([*length, 0.0, max(nugget, SCHEDULE.exact_start), 0.0]) for nugget in nuggets
    ]
    fits = []
    for m, y in enumerate(values.T):
        best = []
        for row, kind in enumerate(KINDS):
            ends = [
                minimize(
                    negative_log_density,
                    start,
                    args=(squares, y, kind, nuggets),
                    jac=True,
                    method="L-BFGS-B",
                    bounds=bounds,
                    options={"maxiter": SCHEDULE.most_steps},
                )
                for start in (*starts, *([former[m].theta[row]] if former else []))
            ]
            best.append(min(ends, key=lambda end: end.fun))
        kind = KINDS[int(np.argmin([end.fun for end in best]))]
        fits.append(Fit(kind, np.stack([end.x for end in best])))
    return tuple(fits)


def negative_log_density(
    theta: Float[np.ndarray, " n_theta"],
    squares: Float[np.ndarray, "n_variables n n"],
    y: Float[np.ndarray, " n"],
    kind: str,
    nuggets: tuple[float, ...],
) -> tuple[float, np.ndarray]:
    """−log p(theta | y) up to a constant, and its gradient; theta is a row of `Fit.theta`,
    `squares` are squared differences of the points by variable, `nuggets` a value of `NOISE`."""
    import scipy.linalg as linalg

    L, n = len(squares), len(y)
    precision, level = np.exp(-2 * theta[:L]), theta[L + 2]
    variance, nugget = np.exp(theta[L]), np.exp(theta[L + 1])
    k, slope = correlation_and_slope(np.tensordot(precision, squares, 1), kind)
    K = variance * k
    K[np.diag_indices(n)] += nugget + SCHEDULE.jitter * variance
    try:
        factor = linalg.cholesky(K, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return SCHEDULE.not_definite, np.zeros_like(theta)
    inverse = linalg.cho_solve((factor, True), np.eye(n), check_finite=False)
    alpha = inverse @ (y - level)
    value = 0.5 * (y - level) @ alpha + np.log(np.diag(factor)).sum()
    Q = 0.5 * (inverse - np.outer(alpha, alpha))  # ∂value/∂K
    gradient = np.empty_like(theta)
    gradient[:L] = -2 * variance * precision * np.tensordot(squares, Q * slope, ((1, 2), (0, 1)))
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
