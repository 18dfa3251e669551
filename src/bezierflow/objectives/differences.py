"""Finite differences within bounds: steps from the scales of the variables and the noise of the
function.

For a function with noise ε, relative to the size of its variation over a length s of a variable,
the error of a central difference of values is about ε/h + h² in units of s, least for h = ε^(1/3);
that of a second difference is ε/h² + h², least for h = ε^(1/4). Where a bound is nearer than h the
three points lie on one side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from jaxtyping import Float

Values = Callable[[Float[np.ndarray, "n n_variables"]], Float[np.ndarray, "n n_rows"]]
Gradients = Callable[
    [Float[np.ndarray, "n n_variables"]], Float[np.ndarray, "n n_rows n_variables"]
]
Vector = Float[np.ndarray, " n_variables"]

LEAST_NOISE = 1.2e-16
"""The relative error of a float64."""

MOST_NOISE = 1e-2
"""Noise beyond this share of a function's size is not believed: steps would leave the region in
which a difference means much."""

NOISE_STEPS = (1e-9, 1e-7, 1e-5)
"""Where noise is looked for: steps in units of the scale, the first at which more than half of the
values differ. At the smallest a smooth function of ordinary shape is a straight line to rounding; a
function in single precision needs the others."""

NOISE_POINTS = 9
NOISE_ORDERS = (3, 4, 5, 6)
"""Differences of these orders of so many values along a line: the smooth part is gone, the noise is
left."""

POINT_NUMBERS = 4_000_000
"""The points of one batch of differences hold at most this many numbers."""

LARGEST_CORRECTION = 1e4
"""By how much a round of `measured` may change the scale of a variable at most."""


@dataclass(frozen=True)
class Differences:
    """Derivatives of a function from its values, or of its gradients.

    Attributes:
        scale: the length over which the function varies as much as its own size, variable by
            variable.
        noise: its relative error: ε above.
        lower: bounds that no point of a difference leaves; −inf for none.
        upper: likewise; +inf for none.
    """

    scale: Vector
    noise: float
    lower: Vector
    upper: Vector

    @classmethod
    def measured(
        cls, values: Values, x: Vector, scale: Vector, lower: Vector, upper: Vector
    ) -> "Differences":
        """Scales and noise as seen at x: curvatures correct the scale that was guessed, twice."""
        found = cls(scale, LEAST_NOISE, lower, upper)
        found = cls(scale, noise(values, x, found), lower, upper)
        for _ in range(2):
            f, _, second = found._axes(values, x[None])
            size = np.abs(f[0])[:, None]
            bent = np.where(
                np.isfinite(second[0]) & (size > 0),
                np.abs(second[0]) / np.where(size > 0, size, 1),
                0.0,
            ).max(axis=0)
            curved = np.where(bent > 0, 1 / np.sqrt(np.where(bent > 0, bent, 1)), found.scale)
            nearer = np.clip(
                curved, found.scale / LARGEST_CORRECTION, found.scale * LARGEST_CORRECTION
            )
            found = cls(np.minimum(nearer, upper - lower), found.noise, lower, upper)
        return found

    def accuracy(self, order: int) -> float:
        """About how exact gradients are, relative to their size, where derivatives up to this order
        are given."""
        return self.noise if order else self.noise ** (2 / 3)

    def gradients(
        self, values: Values, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables"]:
        """∂f_m/∂x_i from 2 L values a point, and the one at x."""
        return self._axes(values, x, 1 / 3)[1]

    def hessians(
        self, values: Values, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables n_variables"]:
        """∂²f_m/∂x_i∂x_j from L² + L values a point, and the one at x."""
        chunk = max(1, POINT_NUMBERS // max(x.shape[1] ** 3, 1))
        return np.concatenate(
            [self._hessians(values, x[start : start + chunk]) for start in range(0, len(x), chunk)]
        )

    def hessians_of_gradients(
        self, gradients: Gradients, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables n_variables"]:
        """The same from 2 L gradients a point, and the one at x."""
        n, L = x.shape
        offsets = self._offsets(x, 1 / 3)
        g0 = gradients(x)
        g = gradients(_along_axes(x, offsets)).reshape(n, 2, L, *g0.shape[1:])
        H = _slope(offsets, g0[:, None], g[:, 0], g[:, 1])  # (n, direction, row, variable)
        H = np.moveaxis(H, 1, 2)
        return (H + np.swapaxes(H, -1, -2)) / 2

    def _hessians(self, values: Values, x: np.ndarray) -> np.ndarray:
        n, L = x.shape
        offsets, f0 = self._offsets(x, 1 / 4), values(x)
        axes = values(_along_axes(x, offsets)).reshape(n, 2, L, -1)
        first, second = np.triu_indices(L, 1)
        # (n, side, pair, variable)
        corners = np.repeat(x[:, None, None], len(first), axis=2).repeat(2, axis=1)
        pairs = np.arange(len(first))
        for variable in (first, second):
            corners[:, :, pairs, variable] += offsets[:, :, variable]
        f = values(corners.reshape(-1, L)).reshape(n, 2, len(first), f0.shape[1])
        area = (offsets[:, :, first] * offsets[:, :, second])[..., None]
        mixed = ((f - axes[:, :, first] - axes[:, :, second] + f0[:, None, None]) / area).mean(
            axis=1
        )
        H = np.zeros((n, f0.shape[1], L, L))
        H[:, :, first, second] = H[:, :, second, first] = np.swapaxes(mixed, 1, 2)
        H[:, :, np.arange(L), np.arange(L)] = np.swapaxes(
            _curvature(offsets, f0[:, None], axes[:, 0], axes[:, 1]), 1, 2
        )
        return H

    def _axes(
        self, values: Values, x: np.ndarray, power: float = 1 / 4
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, first and unmixed second derivatives (n, rows, variables) from points along the
        axes."""
        n, L = x.shape
        offsets = self._offsets(x, power)
        f0 = values(x)
        f = values(_along_axes(x, offsets)).reshape(n, 2, L, -1)
        slope = _slope(offsets, f0[:, None], f[:, 0], f[:, 1])
        curvature = _curvature(offsets, f0[:, None], f[:, 0], f[:, 1])
        return f0, np.swapaxes(slope, 1, 2), np.swapaxes(curvature, 1, 2)

    def _offsets(
        self, x: Float[np.ndarray, "n n_variables"], power: float
    ) -> Float[np.ndarray, "n 2 n_variables"]:
        """Two steps along each axis that stay within the bounds: one on each side where there is
        room, else two on one side."""
        h = np.minimum(self.scale * self.noise**power, (self.upper - self.lower) / 4)
        h = np.maximum(h, 4 * np.finfo(float).eps * np.abs(x))
        low, high = x - h < self.lower, x + h > self.upper
        first = np.where(low, h, -h)
        second = np.where(low, 2 * h, np.where(high, -2 * h, h))
        moved = np.stack([x + first, x + second], axis=1)
        return moved - x[:, None]  # as it comes out in floating point


def _along_axes(
    x: Float[np.ndarray, "n n_variables"], offsets: Float[np.ndarray, "n 2 n_variables"]
) -> np.ndarray:
    """The points at the offsets from x along each axis, as rows in the order (point, side,
    axis)."""
    L = x.shape[1]
    points = np.repeat(x[:, None, None], L, axis=2).repeat(2, axis=1)
    points[:, :, np.arange(L), np.arange(L)] += offsets
    return points.reshape(-1, L)


def _slope(offsets: np.ndarray, f0: np.ndarray, fa: np.ndarray, fb: np.ndarray) -> np.ndarray:
    """The derivative at 0 of the parabola through (0, f0), (a, fa), (b, fb); axes (n, variable,
    ...)."""
    a, b = (_like(offset, fa) for offset in (offsets[:, 0], offsets[:, 1]))
    return (fa - f0) * b / (a * (b - a)) - (fb - f0) * a / (b * (b - a))


def _curvature(offsets: np.ndarray, f0: np.ndarray, fa: np.ndarray, fb: np.ndarray) -> np.ndarray:
    """The second derivative of that parabola."""
    a, b = (_like(offset, fa) for offset in (offsets[:, 0], offsets[:, 1]))
    return 2 * ((fb - f0) / b - (fa - f0) / a) / (b - a)


def _like(offset: np.ndarray, values: np.ndarray) -> np.ndarray:
    return offset.reshape(*offset.shape, *([1] * (values.ndim - offset.ndim)))


def noise(values: Values, x: Vector, differences: Differences) -> float:
    """The largest relative noise of the rows at x, after Moré and Wild (2011), "Estimating
    computational noise".

    Differences of order k of values f + noise along a line have the variance (2k)!/(k!)² σ² once
    the smooth part is gone.
    """
    room = np.minimum(differences.scale, differences.upper - differences.lower)
    inward = np.where(x + NOISE_POINTS * NOISE_STEPS[-1] * room > differences.upper, -1.0, 1.0)
    f = np.zeros((NOISE_POINTS, 1))
    for step in NOISE_STEPS:
        f = values(x + np.arange(NOISE_POINTS)[:, None] * step * inward * room)
        if not np.isfinite(f).all():
            return LEAST_NOISE
        n_different = min(len(np.unique(row)) for row in f.T)
        if n_different > NOISE_POINTS // 2:
            break
    sizes = np.abs(f).max(axis=0)
    spreads = [
        np.sqrt(
            np.mean(np.diff(f, order, axis=0) ** 2, axis=0)
            * factorial(order) ** 2
            / factorial(2 * order)
        )
        for order in NOISE_ORDERS
    ]
    relative = np.median(spreads, axis=0)[sizes > 0] / sizes[sizes > 0]
    return float(np.clip(relative.max(initial=0.0), LEAST_NOISE, MOST_NOISE))
