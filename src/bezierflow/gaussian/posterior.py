"""What Gaussian processes know after evaluations: mean and standard deviation anywhere, covariances
among points."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Bool, Float, Int

from ..compilation import compiled, pad_rows
from ..precision import double_precision
from .fitting import JITTER, Fit
from .kernels import Numbers, correlation

LEAST_SIZE = 64
"""Arrays are filled up to this many points at least, then to powers of two: few sizes, so few
programs to compile."""

LEAST_VARIANCE = 1e-14
"""Variances below this share of that of the process are rounding."""


class Posterior(eqx.Module):
    """M processes of L variables given n evaluations, filled up to N rows. Values are in the units
    of the evaluations.

    Attributes:
        points: where the functions were evaluated; rows from n on mean nothing.
        is_point: which rows are evaluations.
        lengths: of the kernels.
        variance: of the processes, of scaled values.
        nugget: the variance of noise, of scaled values.
        level: the constant mean, of scaled values.
        kind: the number of each kernel.
        values: the scaled values of the evaluations.
        factor: Cholesky factors of the covariances of the evaluations.
        alpha: the covariances' inverses times the scaled values.
        shift: what is taken from values before they are scaled.
        scale: what they are divided by then.
    """

    points: Float[Array | np.ndarray, "N n_variables"]
    is_point: Bool[Array | np.ndarray, " N"]
    lengths: Float[Array | np.ndarray, "M n_variables"]
    variance: Float[Array | np.ndarray, " M"]
    nugget: Float[Array | np.ndarray, " M"]
    level: Float[Array | np.ndarray, " M"]
    kind: Int[Array | np.ndarray, " M"]
    values: Float[Array | np.ndarray, "N M"]
    factor: Float[Array | np.ndarray, "M N N"]
    alpha: Float[Array | np.ndarray, "M N"]
    shift: Float[Array | np.ndarray, " M"]
    scale: Float[Array | np.ndarray, " M"]

    def mean(self, u: Float[Array | np.ndarray, " n_variables"]) -> Float[Array, " M"]:
        """The expected values at a point of the cube. Traceable, and so are two derivatives."""
        return jnp.asarray(self.shift) + jnp.asarray(self.scale) * self.scaled(u, self.alpha)

    def scaled(
        self, u: Float[Array | np.ndarray, " n_variables"], alpha: Float[Array | np.ndarray, "M N"]
    ) -> Float[Array, " M"]:
        """Level and kernels with the coefficients alpha, as scaled values."""

        def one(
            lengths: Array, variance: Array, level: Array, kind: Array, coefficients: Array
        ) -> Array:
            s = jnp.sum(((jnp.asarray(self.points) - u) / lengths) ** 2, axis=1)
            return (
                level
                + variance * jnp.where(self.is_point, correlation(s, kind), 0.0) @ coefficients
            )

        return jax.vmap(one)(
            *map(jnp.asarray, (self.lengths, self.variance, self.level, self.kind, alpha))
        )

    def covariance(self, u: Float[Array | np.ndarray, "k n_variables"]) -> Float[Array, "M k k"]:
        """The covariances of scaled values among points, without noise."""

        def one(lengths: Array, variance: Array, kind: Array, factor: Array) -> Array:
            cross = jnp.where(
                self.is_point[:, None], variance * _correlations(self.points, u, lengths, kind), 0.0
            )
            v = solve_triangular(factor, cross, lower=True)
            return variance * _correlations(u, u, lengths, kind) - v.T @ v

        return jax.vmap(one)(
            *map(jnp.asarray, (self.lengths, self.variance, self.kind, self.factor))
        )

    def std(self, u: Float[Array | np.ndarray, " n_variables"]) -> Float[Array, " M"]:
        """The standard deviation of the values, noise left out, at a point of the cube."""
        variance = self.covariance(u[None])[:, 0, 0]
        return jnp.asarray(self.scale) * jnp.sqrt(
            jnp.maximum(variance, LEAST_VARIANCE * self.variance)
        )

    @property
    def noise(self) -> Float[np.ndarray, " M"]:
        """The standard deviation of the noise of evaluations, as learned."""
        return np.asarray(self.scale) * np.sqrt(np.asarray(self.nugget))


def _correlations(a: Numbers, b: Numbers, lengths: Numbers, kind: Numbers) -> Array:
    return correlation(jnp.sum((a[:, None] / lengths - b[None] / lengths) ** 2, axis=-1), kind)


class Parameters(NamedTuple):
    """Of M processes: the hyperparameters of the `Posterior` that has the same names."""

    lengths: Numbers
    variance: Numbers
    nugget: Numbers
    level: Numbers
    kind: Numbers

    @classmethod
    def of(cls, fits: Sequence[Fit]) -> "Parameters":
        """Those of fitted processes."""
        theta, kind = np.stack([one.best for one in fits]), np.array([one.kind for one in fits])
        L = theta.shape[1] - 3
        return cls(
            np.exp(theta[:, :L]),
            np.exp(theta[:, L]),
            np.exp(theta[:, L + 1]),
            theta[:, L + 2],
            kind,
        )


def condition(
    u: Float[np.ndarray, "n n_variables"],
    values: Float[np.ndarray, "n M"],
    parameters: Parameters,
    shift: Float[np.ndarray, " M"],
    scale: Float[np.ndarray, " M"],
) -> Posterior:
    """The posterior of processes given values at points of the cube; arrays are filled up to a
    power of two of rows."""
    return _conditioned(u, (values - shift) / scale, parameters, shift, scale)


def _conditioned(
    u: np.ndarray, values: np.ndarray, parameters: Parameters, shift: np.ndarray, scale: np.ndarray
) -> Posterior:
    """Given scaled values."""
    n, L = u.shape
    size = 1 << (max(n, LEAST_SIZE) - 1).bit_length()
    is_point = np.arange(size) < n
    points, scaled = np.full((size, L), 0.5), np.zeros((size, values.shape[1]))
    points[:n], scaled[:n] = u, values
    with double_precision():
        factor, alpha = (
            np.asarray(part) for part in _factors(points, is_point, scaled, parameters)
        )
    return Posterior(
        points, is_point, *parameters, scaled, factor, alpha, np.asarray(shift), np.asarray(scale)
    )


@compiled
def _factors(
    points: Numbers, is_point: Numbers, values: Numbers, parameters: Parameters
) -> tuple[Array, Array]:
    """The Cholesky factors and the coefficients alpha; rows that are no point are those of the
    identity."""

    def one(y: Numbers, own: Parameters) -> tuple[Array, Array]:
        unit = jnp.eye(len(points))
        K = (
            own.variance * _correlations(points, points, own.lengths, own.kind)
            + (own.nugget + JITTER * own.variance) * unit
        )
        factor = jnp.linalg.cholesky(jnp.where(is_point[:, None] & is_point[None], K, unit))
        return factor, cho_solve((factor, True), jnp.where(is_point, y - own.level, 0.0))

    return jax.vmap(one)(values.T, parameters)


def describe_posterior(posterior: Posterior) -> dict[str, np.ndarray]:
    """What `restore_posterior` makes the same posterior from: everything but what is computed from
    it."""
    n = int(np.sum(posterior.is_point))
    kept = ("lengths", "variance", "nugget", "level", "kind", "shift", "scale")
    rows = {name: np.asarray(getattr(posterior, name))[:n] for name in ("points", "values")}
    return {**rows, **{name: np.asarray(getattr(posterior, name)) for name in kept}}


def restore_posterior(arrays: Mapping[str, np.ndarray]) -> Posterior:
    """What `describe_posterior` described."""
    parameters = Parameters(*(arrays[name] for name in Parameters._fields))
    return _conditioned(
        arrays["points"], arrays["values"], parameters, arrays["shift"], arrays["scale"]
    )


def means(posterior: Posterior, u: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n M"]:
    """The expected values at many points."""
    with double_precision():
        return np.asarray(_means(posterior, pad_rows(u, LEAST_SIZE)))[: len(u)]


def stds(posterior: Posterior, u: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n M"]:
    """The standard deviations at many points."""
    with double_precision():
        return np.asarray(_stds(posterior, pad_rows(u, LEAST_SIZE)))[: len(u)]


def covariances(
    posterior: Posterior, u: Float[np.ndarray, "n n_variables"]
) -> Float[np.ndarray, "M n n"]:
    """The covariances of scaled values among many points."""
    with double_precision():
        return np.asarray(_covariances(posterior, pad_rows(u, LEAST_SIZE)))[:, : len(u), : len(u)]


@compiled
def _means(posterior: Posterior, u: Numbers) -> Array:
    return jax.vmap(posterior.mean)(u)


@compiled
def _stds(posterior: Posterior, u: Numbers) -> Array:
    return jax.vmap(posterior.std)(u)


@compiled
def _covariances(posterior: Posterior, u: Numbers) -> Array:
    return posterior.covariance(u)
