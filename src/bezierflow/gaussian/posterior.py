"""Posteriors of Gaussian processes, functions drawn from them, and their mean as objectives."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Bool, Float, Int, PyTree

from ..bezier import Raveling
from ..compilation import compiled, pad_rows
from ..names import Names
from ..precision import ROUNDING, double_precision
from .fitting import KINDS, Fit, Numbers, correlation, correlation_and_slope, fit
from .schedule import SCHEDULE

HYPERPARAMETERS = ("lengths", "variance", "nugget", "level", "kind")
"""Attributes of a `Posterior` that files hold as they are."""

STUDENT = 5.0
"""The spectral density of the Matérn-5/2 kernel is that of Student's t with 5 degrees of
freedom."""

LOGARITHMS = {"": lambda x: x, "log10": jnp.log10, "log": jnp.log}


class Posterior(eqx.Module):
    """M processes of L variables given n evaluations, filled up to N rows.

    Attributes:
        points: where the functions were evaluated; rows from n on mean nothing.
        is_point: which rows are evaluations.
        lengths: length scales of the kernels.
        variance: of the processes; this and what follows is of standardized values.
        nugget: variance of the noise.
        level: constant mean.
        kind: number of each kernel in `KINDS`.
        values: of the evaluations.
        factor: Cholesky factors of the covariances K of the evaluations.
        alpha: K⁻¹ (values − level).
        shift: values are standardized to (value − shift) / scale.
        scale: likewise.
    """

    points: Float[Numbers, "N n_variables"]
    is_point: Bool[Numbers, " N"]
    lengths: Float[Numbers, "M n_variables"]
    variance: Float[Numbers, " M"]
    nugget: Float[Numbers, " M"]
    level: Float[Numbers, " M"]
    kind: Int[Numbers, " M"]
    values: Float[Numbers, "N M"]
    factor: Float[Numbers, "M N N"]
    alpha: Float[Numbers, "M N"]
    shift: Float[Numbers, " M"]
    scale: Float[Numbers, " M"]

    def mean(self, u: Float[Numbers, " n_variables"]) -> Float[Array, " M"]:
        """The expected values at a point. Traceable, and so are two derivatives."""

        def one(
            lengths: Array, variance: Array, level: Array, kind: Array, coefficients: Array
        ) -> Array:
            # Not |u|² − 2u·p + |p|²: rounding would make distances to the data negative.
            s = jnp.sum(((jnp.asarray(self.points) - u) / lengths) ** 2, axis=1)
            k = jnp.where(self.is_point, correlation(s, kind), 0.0)
            return level + variance * k @ coefficients

        each = self.lengths, self.variance, self.level, self.kind, self.alpha
        scaled = jax.vmap(one)(*map(jnp.asarray, each))
        return jnp.asarray(self.shift) + jnp.asarray(self.scale) * scaled

    def covariance(self, u: Float[Numbers, "k n_variables"]) -> Float[Array, "M k k"]:
        """The covariances of standardized values among points, without noise."""

        def one(lengths: Array, variance: Array, kind: Array, factor: Array) -> Array:
            cross = variance * _correlations(self.points, u, lengths, kind)
            v = solve_triangular(factor, jnp.where(self.is_point[:, None], cross, 0.0), lower=True)
            return variance * _correlations(u, u, lengths, kind) - v.T @ v

        return jax.vmap(one)(
            *map(jnp.asarray, (self.lengths, self.variance, self.kind, self.factor))
        )

    def std(self, u: Float[Numbers, " n_variables"]) -> Float[Array, " M"]:
        """The standard deviation of the values at a point, noise left out."""
        variance = self.covariance(u[None])[:, 0, 0]
        # A difference of nearly equal numbers at evaluated points: it may be negative.
        least = SCHEDULE.least_variance * self.variance
        return jnp.asarray(self.scale) * jnp.sqrt(jnp.maximum(variance, least))


def _correlations(a: Numbers, b: Numbers, lengths: Numbers, kind: Numbers) -> Array:
    return correlation(jnp.sum((a[:, None] / lengths - b[None] / lengths) ** 2, axis=-1), kind)


def fit_posterior(
    u: Float[np.ndarray, "n n_variables"],
    values: Float[np.ndarray, "n M"],
    noise: str = "auto",
    former: Sequence[Fit] | None = None,
    effort: str = "full",
    lengths: tuple[float, float] = SCHEDULE.lengths,
) -> tuple[tuple[Fit, ...], Posterior]:
    """Processes fitted to values, in any units, at points u of the cube, and their posterior.

    `noise` is a key of `NOISE`; `former` an earlier fit of each function. With the effort "full" it
    is one of several starts, with "quick" the only one, with "none" it is taken as it is. `lengths`
    are bounds of length scales.
    """
    shift, spread = values.mean(axis=0), values.std(axis=0)
    # A constant objective has no spread: units of its own size keep its process near it.
    varies = spread > ROUNDING * np.abs(shift)
    scale = np.where(varies, spread, np.maximum(np.abs(shift), 1.0))
    scaled = (values - shift) / scale
    if former and effort == "none":
        fits = tuple(former)
    else:
        fits = fit(u, scaled, noise, former, effort == "full" or not former, lengths)
    kind, L = np.array([KINDS.index(one.kind) for one in fits]), u.shape[1]
    theta = np.stack([one.theta[k] for one, k in zip(fits, kind, strict=True)])
    hyperparameters = {
        "lengths": np.exp(theta[:, :L]),
        "variance": np.exp(theta[:, L]),
        "nugget": np.exp(theta[:, L + 1]),
        "level": theta[:, L + 2],
        "kind": kind,
    }
    return fits, condition(u, scaled, hyperparameters, shift, scale)


def condition(
    u: Float[np.ndarray, "n n_variables"],
    scaled: Float[np.ndarray, "n M"],
    hyperparameters: Mapping[str, np.ndarray],
    shift: Float[np.ndarray, " M"],
    scale: Float[np.ndarray, " M"],
) -> Posterior:
    """The posterior of processes given standardized values at points of the cube; hyperparameters
    are lengths, variance, nugget, level and kind, as in `Posterior`."""
    n, L = u.shape
    size = 1 << (max(n, SCHEDULE.least_rows) - 1).bit_length()
    is_point = np.arange(size) < n
    # rows that are no point must be finite: 0 times what is not finite is not 0
    points, values = np.full((size, L), 0.5), np.zeros((size, scaled.shape[1]))
    points[:n], values[:n] = u, scaled
    with double_precision():
        factor, alpha = map(np.asarray, _factor(points, is_point, values.T, hyperparameters))
    found = {"values": values, "factor": factor, "alpha": alpha, "shift": shift, "scale": scale}
    return Posterior(points, is_point, **hyperparameters, **found)


@compiled
@partial(jax.vmap, in_axes=(None, None, 0, 0))
def _factor(
    points: Numbers, is_point: Numbers, y: Numbers, own: Mapping[str, Numbers]
) -> tuple[Array, Array]:
    """Cholesky factor and coefficients alpha; rows that are no point are those of the identity."""
    unit = jnp.eye(len(points))
    K = own["variance"] * _correlations(points, points, own["lengths"], own["kind"])
    K = K + (own["nugget"] + SCHEDULE.jitter * own["variance"]) * unit
    factor = jnp.linalg.cholesky(jnp.where(is_point[:, None] & is_point[None], K, unit))
    return factor, cho_solve((factor, True), jnp.where(is_point, y - own["level"], 0.0))


def means(posterior: Posterior, u: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n M"]:
    """The expected values at many points."""
    with double_precision():
        return np.asarray(_at_rows(posterior.mean, pad_rows(u, SCHEDULE.least_rows)))[: len(u)]


def stds(posterior: Posterior, u: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n M"]:
    """The standard deviations at many points."""
    with double_precision():
        return np.asarray(_at_rows(posterior.std, pad_rows(u, SCHEDULE.least_rows)))[: len(u)]


def covariances(
    posterior: Posterior, u: Float[np.ndarray, "n n_variables"]
) -> Float[np.ndarray, "M n n"]:
    """The covariances of standardized values among many points."""
    with double_precision():
        found = _covariances(posterior, pad_rows(u, SCHEDULE.least_rows))
        return np.asarray(found)[:, : len(u), : len(u)]


# Equinox takes a bound method for a function of its module's arrays: one program serves all
# posteriors of the same size.
@compiled
def _at_rows(function: Callable[[Numbers], Array], u: Numbers) -> Array:
    return jax.vmap(function)(u)


_covariances = compiled(Posterior.covariance)


def above_zero(
    values: Float[Numbers, "*n M"], posterior: Posterior, nonnegative: Sequence[bool], xp: Any = np
) -> Any:
    """Expected values with their own signs, those that cannot be negative bent smoothly away from
    0: increasing, so that the Pareto set stays as it is, and the same farther above."""
    if not any(nonnegative):
        return values
    width = SCHEDULE.rounded * xp.asarray(posterior.scale)
    bent = (values + xp.sqrt(values**2 + 4 * width**2)) / 2
    return xp.where(xp.asarray(nonnegative), bent, values)


class Paths(eqx.Module):
    """P functions drawn from each of M posteriors, whole, so that JAX differentiates them.

    By Matheron's rule, path = prior path + k(·, X) K⁻¹ (y − prior path at X − noise), and random
    Fourier features make the prior path (Wilson et al., "Efficiently sampling functions from
    Gaussian process posteriors", ICML 2020). The posterior mean is a path without features.

    Attributes:
        posterior: which they are drawn from.
        frequency: of the features.
        phase: of the features.
        height: of the features, in units of √(2 variance / n_features).
        alpha: coefficients of the kernels.
    """

    posterior: Posterior
    frequency: Float[Numbers, "M n_features n_variables"]
    phase: Float[Numbers, "M n_features"]
    height: Float[Numbers, "P M n_features"]
    alpha: Float[Numbers, "P M N"]

    def at_rows(
        self, u: Float[Numbers, "n n_variables"], height: Numbers, alpha: Numbers
    ) -> tuple[Float[Array, "M n"], Float[Array, "M n n_variables"]]:
        """The standardized values of the path with these coefficients at many points, and its
        gradients: by matrix products and one exponential per kernel. Rounding of about 1e-12 is too
        much for second derivatives."""
        own = self.posterior

        def one(part: tuple[Array, ...]) -> tuple[Array, Array]:
            lengths, variance, level, kind, frequency, phase, height, alpha = part
            a, b = (u - 0.5) / lengths, (jnp.asarray(own.points) - 0.5) / lengths
            s = jnp.sum(a * a, axis=1)[:, None] + jnp.sum(b * b, axis=1) - 2 * a @ b.T
            # alpha is 0 in rows that are no point
            k, slope = correlation_and_slope(jnp.maximum(s, 0.0), kind)
            by_s = slope * (2 * variance * alpha)
            by_u = (a * jnp.sum(by_s, axis=1)[:, None] - by_s @ b) / lengths
            heights = height * jnp.sqrt(2 * variance / max(len(frequency), 1))
            angle = u @ frequency.T + phase
            prior, by_prior = jnp.cos(angle) @ heights, -(jnp.sin(angle) * heights) @ frequency
            return level + variance * k @ alpha + prior, by_u + by_prior

        each = own.lengths, own.variance, own.level, own.kind, self.frequency, self.phase
        return jax.vmap(one)(tuple(map(jnp.asarray, (*each, height, alpha))))


def mean_path(posterior: Posterior) -> Paths:
    """The posterior mean, as the only path."""
    M, L = np.shape(posterior.lengths)
    none = np.zeros((M, 0, L)), np.zeros((M, 0)), np.zeros((1, M, 0))
    return Paths(posterior, *none, np.asarray(posterior.alpha)[None])


def sample_paths(posterior: Posterior, n: int, rng: np.random.Generator) -> Paths:
    """Draws n paths from the posterior."""
    (M, L), K = np.shape(posterior.lengths), SCHEDULE.n_features
    # Bochner's theorem: frequencies are drawn from the spectral density of the kernel.
    normal = rng.standard_normal((M, K, L))
    tails = np.sqrt(rng.chisquare(STUDENT, (M, K, 1)) / STUDENT)
    frequency = np.where(np.asarray(posterior.kind)[:, None, None] == 0, normal, normal / tails)
    frequency = frequency / np.asarray(posterior.lengths)[:, None, :]
    phase = rng.uniform(0, 2 * np.pi, (M, K))
    height = rng.standard_normal((n, M, K))
    noise = rng.standard_normal((n, M, len(posterior.points)))
    with double_precision():
        alpha = np.asarray(_coefficients(posterior, frequency, phase, height, noise))
    return Paths(posterior, frequency, phase, height, alpha)


@compiled
@partial(jax.vmap, in_axes=(None, None, None, 0, 0))
def _coefficients(
    posterior: Posterior, frequency: Numbers, phase: Numbers, height: Numbers, noise: Numbers
) -> Array:
    """Alpha of a path: K⁻¹ (y − prior path − noise), where y is in the alpha of the mean."""
    size = jnp.sqrt(2 * jnp.asarray(posterior.variance) / max(frequency.shape[1], 1))

    def prior(u: Array) -> Array:
        return size * jnp.sum(height * jnp.cos(frequency @ u + phase), axis=1)

    seen = jax.vmap(prior)(posterior.points).T + jnp.sqrt(posterior.nugget)[:, None] * noise
    miss = jnp.where(posterior.is_point, seen, 0.0)
    return jnp.asarray(posterior.alpha) - jax.vmap(
        lambda factor, miss: cho_solve((factor, True), miss)
    )(posterior.factor, miss)


class PosteriorMean(eqx.Module):
    """The posterior mean as objectives: designs shaped like the user's to expected values.

    Attributes:
        posterior: of the objectives as they are minimized, on the unit cube.
        low: lower bounds of the variables that vary, or their logarithms: 0 in the cube.
        width: from there to their upper bounds: 1 in the cube.
        calibration: factor of standard deviations that makes them agree with held-out errors.
        free: the number of the variable of each coordinate of the cube.
        raveling: how x lies in a flat vector.
        names: with directions and transforms.
        hot: of each coordinate of the cube the place in a list of choices for which it is 1, 0 for
            the others; −1 for a number.
        nonnegative: which objectives are never expected below 0; none where it is empty.
    """

    posterior: Posterior
    low: Float[Numbers, " n_free"]
    width: Float[Numbers, " n_free"]
    calibration: Float[Numbers, ""]
    free: tuple[int, ...] = eqx.field(static=True)
    raveling: Raveling
    names: Names = eqx.field(static=True)
    hot: tuple[int, ...] = eqx.field(static=True, default=())
    nonnegative: tuple[bool, ...] = eqx.field(static=True, default=())

    @property
    def n_objectives(self) -> int:
        """M."""
        return len(self.names.objectives)

    @property
    def n_variables(self) -> int:
        """L."""
        return self.raveling.n_variables

    def place(self, x: PyTree) -> Float[Array, " n_free"]:
        """A design as a point of the unit cube."""
        flat = jnp.asarray(self.raveling.ravel(x))
        z = jnp.stack([LOGARITHMS[self.names.transforms[i]](flat[i]) for i in self.free])
        u = (z - self.low) / self.width
        hot = np.array(self.hot or (-1,) * len(self.free))
        # No other choice is nearer than 1: a number in place of a choice is 1 for itself alone.
        return jnp.where(hot < 0, u, jnp.maximum(1 - jnp.abs(z - hot), 0.0)) if self.hot else u

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """The expected values, with their own signs. Traceable, and so are two derivatives."""
        own = jnp.asarray(self.names.signs) * self.posterior.mean(self.place(x))
        return above_zero(own, self.posterior, self.nonnegative, jnp)

    def std(self, x: PyTree, batch_axes: int = 0) -> Float[np.ndarray, "*batch n_objectives"]:
        """The calibrated standard deviations of the values at designs, noise left out."""
        flat = np.asarray(self.raveling.ravel(x, batch_axes), dtype=float)
        with double_precision():
            found = np.asarray(_at_rows(self.row_std, flat.reshape(-1, flat.shape[-1])))
        return found.reshape(*flat.shape[:-1], self.n_objectives)

    def row_std(self, row: Float[Numbers, " n_variables"]) -> Float[Array, " n_objectives"]:
        """The calibrated standard deviations at one flat design. Traceable."""
        std = self.posterior.std(self.place(self.raveling.unravel(row)))
        return jnp.asarray(self.calibration) * std

    def describe(self) -> tuple[dict[str, object], dict[str, np.ndarray]]:
        """What `restore` makes the same processes from: JSON, and arrays."""
        posterior, n = self.posterior, int(np.sum(self.posterior.is_point))
        rows = {"points": posterior.points[:n], "values": posterior.values[:n]}
        kept = {name: getattr(posterior, name) for name in (*HYPERPARAMETERS, "shift", "scale")}
        place = {"low": self.low, "width": self.width, "calibration": self.calibration}
        arrays = {name: np.asarray(part) for name, part in {**rows, **kept, **place}.items()}
        own = {"free": self.free, "hot": self.hot, "nonnegative": self.nonnegative}
        return {name: list(part) for name, part in own.items()}, arrays

    @classmethod
    def restore(
        cls,
        manifest: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        raveling: Raveling,
        names: Names,
    ) -> "PosteriorMean":
        """What `describe` described. The factors are computed anew, to the same bits."""
        hyperparameters = {name: arrays[name] for name in HYPERPARAMETERS}
        units = arrays["shift"], arrays["scale"]
        posterior = condition(arrays["points"], arrays["values"], hyperparameters, *units)
        place = arrays["low"], arrays["width"], arrays["calibration"], tuple(manifest["free"])
        # Files of earlier versions have no choices, and nothing nonnegative.
        later = tuple(manifest.get("hot", ())), tuple(manifest.get("nonnegative", ()))
        return cls(posterior, *place, raveling, names, *later)
