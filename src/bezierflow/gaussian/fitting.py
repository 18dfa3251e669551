"""The hyperparameters of a Gaussian process: the largest posterior density, by L-BFGS from a
default and a former optimum."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..runs import Record
from .kernels import KINDS, correlation_and_slope

NOISE = {"none": (-17.0,), "some": (-6.0,), "auto": (-17.0, -6.0)}
"""Means of the log-normal prior of the nugget, relative to the variance of the values: for
deterministic values, for noisy ones, and for both possibilities, each as likely as the other. 2 %
noise of a range is about −7."""

NUGGET_WIDTH = 3.0
"""Standard deviation of the log nugget around each of these means. Where large nuggets are made
less likely than so, searches begin better on functions that are flat but for a basin, or have
poles; but values that are half noise are then overfitted."""

LENGTH_MEAN, LENGTH_VARIANCE = np.sqrt(2.0), 3.0
"""Of log lengths, plus log √L: typical distances in a cube grow with √L (Hvarfner, Hellsten and
Nardi, "Vanilla Bayesian optimization performs great in high dimensions", ICML 2024)."""

VARIANCE_MEAN, VARIANCE_VARIANCE = 1.0, 9.0
"""Of the log variance of the process, for values of unit variance."""

LEVEL_VARIANCE = 4.0
"""Of the constant mean of the process around 0, for values of mean 0."""

JITTER = 1e-9
"""Added to the correlation of a point with itself, so that factorizations exist."""

BOUNDS = {
    "length": (np.log(0.02), np.log(50.0)),
    "variance": (-6.0, 12.0),
    "nugget": (-20.0, 0.0),
    "level": (-20.0, 20.0),
}
"""Of the logarithms, and of the level."""

MOST_STEPS = 80
"""Of L-BFGS from each start."""


class Fit(NamedTuple):
    """A fitted process of one function of L variables.

    Attributes:
        kind: the number of its kernel in `KINDS`.
        theta: for each kernel the optimum, L log lengths, log variance, log nugget and level, of
            values with mean 0 and variance
            1. All are kept: each is a start of the next fit.
    """

    kind: int
    theta: Float[np.ndarray, "n_kinds n_theta"]

    @property
    def best(self) -> Float[np.ndarray, " n_theta"]:
        """The parameters of its kernel."""
        return self.theta[self.kind]


def fit_to_dict(one: Fit) -> Record:
    """A fit as JSON has it; numbers survive to the last bit."""
    return {"kind": KINDS[one.kind], "theta": one.theta.tolist()}


def fit_from_dict(data: Record) -> Fit:
    """What `fit_to_dict` gave, back again."""
    return Fit(KINDS.index(data["kind"]), np.asarray(data["theta"], dtype=float))


def fit(
    u: Float[np.ndarray, "n n_variables"],
    values: Float[np.ndarray, "n n_functions"],
    noise: str = "auto",
    former: Sequence[Fit] | None = None,
) -> tuple[Fit, ...]:
    """A process for each function, with the kernel of larger posterior density.

    Args:
        u: points of the unit cube.
        values: of mean 0 and variance 1, or all 0.
        noise: a key of `NOISE`.
        former: an earlier fit of each, whose optima are starts as well.
    """
    squares = (u.T[:, :, None] - u.T[:, None, :]) ** 2
    return tuple(
        _fit_one(squares, y, noise, former[m] if former else None) for m, y in enumerate(values.T)
    )


def _fit_one(squares: np.ndarray, y: np.ndarray, noise: str, former: Fit | None) -> Fit:
    from scipy.optimize import minimize

    L = len(squares)
    limits = [BOUNDS["length"]] * L + [BOUNDS["variance"], BOUNDS["nugget"], BOUNDS["level"]]
    length, first = (
        np.log(0.5) + np.log(L) / 2,
        [-14.0 if mean < -10 else mean for mean in NOISE[noise]],
    )
    best = []
    for kind in range(len(KINDS)):
        starts = [np.concatenate([np.full(L, length), [0.0, nugget, 0.0]]) for nugget in first]
        starts += [] if former is None else [former.theta[kind]]
        ends = [
            minimize(
                negative_log_density,
                start,
                args=(squares, y, kind, NOISE[noise]),
                jac=True,
                method="L-BFGS-B",
                bounds=limits,
                options={"maxiter": MOST_STEPS},
            )
            for start in starts
        ]
        best.append(min(ends, key=lambda end: end.fun))
    return Fit(int(np.argmin([end.fun for end in best])), np.stack([end.x for end in best]))


def negative_log_density(
    theta: np.ndarray, squares: np.ndarray, y: np.ndarray, kind: int, nuggets: tuple[float, ...]
) -> tuple[float, np.ndarray]:
    """−log p(theta | y) up to a constant, and its gradient."""
    import scipy.linalg as linalg

    L, n = len(squares), len(y)
    precision, variance, nugget, level = (
        np.exp(-2 * theta[:L]),
        np.exp(theta[L]),
        np.exp(theta[L + 1]),
        theta[L + 2],
    )
    k, slope = correlation_and_slope(np.tensordot(precision, squares, 1), kind)
    K = variance * k
    K[np.diag_indices(n)] += nugget + JITTER * variance
    try:
        factor = linalg.cholesky(K, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return 1e10, np.zeros_like(theta)
    inverse = linalg.cho_solve((factor, True), np.eye(n), check_finite=False)
    alpha = inverse @ (y - level)
    value = 0.5 * (y - level) @ alpha + np.log(np.diag(factor)).sum()
    Q = 0.5 * (inverse - np.outer(alpha, alpha))  # ∂value/∂K
    gradient = np.empty_like(theta)
    gradient[:L] = -2 * variance * precision * np.tensordot(squares, Q * slope, ((1, 2), (0, 1)))
    gradient[L] = variance * (np.sum(Q * k) + JITTER * np.trace(Q))
    gradient[L + 1], gradient[L + 2] = nugget * np.trace(Q), -alpha.sum()
    prior, by_theta = _negative_log_prior(theta, nuggets)
    return value + prior, gradient + by_theta


def _negative_log_prior(theta: np.ndarray, nuggets: tuple[float, ...]) -> tuple[float, np.ndarray]:
    L = len(theta) - 3
    away = theta.copy()
    away[:L] -= LENGTH_MEAN + np.log(L) / 2
    away[L] -= VARIANCE_MEAN
    weight = np.concatenate(
        [np.full(L, 1 / LENGTH_VARIANCE), [1 / VARIANCE_VARIANCE, 0.0, 1 / LEVEL_VARIANCE]]
    )
    gradient = weight * away
    value = 0.5 * float(gradient @ away)
    from_means = theta[L + 1] - np.array(nuggets)
    exponents = -0.5 * (from_means / NUGGET_WIDTH) ** 2
    total = float(np.logaddexp.reduce(exponents))
    gradient[L + 1] = np.exp(exponents - total) @ from_means / NUGGET_WIDTH**2
    return value - total, gradient
