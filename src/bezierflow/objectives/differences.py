"""Finite differences within bounds: steps from the scales of the variables and the noise of the
function.

For a function with noise ε, relative to the size of its variation over a length s of a variable,
the error of a central difference of values is about ε/h + h² in units of s, least for h = ε^(1/3);
that of a second difference is ε/h² + h², least for h = ε^(1/4). Where a bound is nearer than h the
three points lie on one side.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import factorial

import numpy as np
from jaxtyping import Float

from ..simplex import kronecker
from .schedule import SCHEDULE

Points = Float[np.ndarray, "n n_variables"]
Values = Callable[[Points], Float[np.ndarray, "n n_rows"]]
Gradients = Callable[[Points], Float[np.ndarray, "n n_rows n_variables"]]
Vector = Float[np.ndarray, " n_variables"]

FIRST, SECOND = 1 / 3, 1 / 4
"""The best steps for first and second differences are the noise to these powers."""


@dataclass(frozen=True)
class Differences:
    """Derivatives of a function from its values, or of its gradients.

    Attributes:
        scale: the length over which the function varies as much as its own size, variable by
            variable.
        lower: bounds that no point of a difference leaves; −inf for none.
        upper: likewise; +inf for none.
        noise: its relative error: ε above.
    """

    scale: Vector
    lower: Vector
    upper: Vector
    noise: float = SCHEDULE.least_noise

    @classmethod
    def around(cls, x: Vector, lower: Vector, upper: Vector) -> "Differences":
        """Guesses for the scales near x: the distance of the bounds, else |x|, else 1. Bounds that
        fix a variable are left, since there is no other way to a derivative."""
        width = upper - lower
        scale = np.where(np.isfinite(width) & (width > 0), width, np.where(x != 0, np.abs(x), 1.0))
        free = width > 0
        return cls(scale, np.where(free, lower, -np.inf), np.where(free, upper, np.inf))

    def with_noise(self, values: Values, x: Vector) -> "Differences":
        """With the noise as seen at x."""
        noise = self._noise_at(values, x)
        if noise > SCHEDULE.rough_noise:
            # A root or a kink at x looks like noise; what is noise is so elsewhere, too.
            room = np.minimum(self.scale, self.upper - self.lower)
            away = SCHEDULE.noise_away * room * (1 + kronecker(1, len(x))[0])
            other = np.where(x + away > self.upper, x - away, x + away)
            noise = min(noise, self._noise_at(values, other))
        return replace(self, noise=noise)

    def measured(self, values: Values, x: Vector) -> "Differences":
        """Scales and noise as seen at x: curvatures correct the guessed scales."""
        found = self.with_noise(values, x)
        # the second round takes its steps from the first one's scales
        for _ in range(SCHEDULE.scale_rounds):
            offsets, f0, f = found._stencil(values, x[None], SECOND)
            second, size = _parabolas(offsets, f0, f)[1][0], np.abs(f0[0])[:, None]
            bent = np.where(
                np.isfinite(second) & (size > 0), np.abs(second) / np.where(size > 0, size, 1), 0.0
            ).max(axis=0)
            curved = np.where(bent > 0, 1 / np.sqrt(np.where(bent > 0, bent, 1)), found.scale)
            most = SCHEDULE.largest_correction
            nearer = np.clip(curved, found.scale / most, found.scale * most)
            found = replace(found, scale=np.minimum(nearer, self.upper - self.lower))
        return found

    @property
    def accuracy(self) -> float:
        """About how exact gradients from values are, relative to their size."""
        return self.noise ** (2 / 3)

    def gradients(self, values: Values, x: Points) -> Float[np.ndarray, "n n_rows n_variables"]:
        """∂f_m/∂x_i from 2 L values per point, and the one at x."""
        return _parabolas(*self._stencil(values, x, FIRST))[0]

    def hessians_of_gradients(
        self, gradients: Gradients, x: Points
    ) -> Float[np.ndarray, "n n_rows n_variables n_variables"]:
        """∂²f_m/∂x_i∂x_j from 2 L gradients per point, and the one at x."""
        H = _parabolas(*self._stencil(gradients, x, FIRST))[0]
        return (H + np.swapaxes(H, -1, -2)) / 2

    def hessians(
        self, values: Values, x: Points
    ) -> Float[np.ndarray, "n n_rows n_variables n_variables"]:
        """The same from L² + L values per point, and the one at x.

        A mixed derivative is the mean of two differences (f_ab − f_a − f_b + f_0) / ab, with both
        steps on the first side of x, and both on the second.
        """
        n, L = x.shape
        chunk = max(1, SCHEDULE.table_numbers // max(L**3, 1))
        if n > chunk:
            starts = range(0, n, chunk)
            return np.concatenate([self.hessians(values, x[i : i + chunk]) for i in starts])
        offsets, f0, axes = self._stencil(values, x, SECOND)
        first, second = np.triu_indices(L, 1)
        # (n, side, pair, variable)
        corners = np.repeat(x[:, None, None], len(first), axis=2).repeat(2, axis=1)
        for variable in (first, second):
            corners[:, :, np.arange(len(first)), variable] += offsets[:, :, variable]
        f = values(corners.reshape(-1, L)).reshape(n, 2, len(first), f0.shape[1])
        area = (offsets[:, :, first] * offsets[:, :, second])[..., None]
        mixed = (f - axes[:, :, first] - axes[:, :, second] + f0[:, None, None]) / area
        H = np.zeros((n, f0.shape[1], L, L))
        H[:, :, first, second] = np.swapaxes(mixed.mean(axis=1), 1, 2)
        H[:, :, second, first] = H[:, :, first, second]
        H[:, :, np.arange(L), np.arange(L)] = _parabolas(offsets, f0, axes)[1]
        return H

    def _stencil(
        self, function: Values | Gradients, x: Points, power: float
    ) -> tuple[Float[np.ndarray, "n 2 n_variables"], np.ndarray, np.ndarray]:
        """Two steps along each axis that stay within the bounds, the function at x (n, ...), and at
        the steps (n, side, axis, ...).

        There is one step on each side where there is room, else two on one side.
        """
        n, L = x.shape
        # four steps fit into the box, so that two fit on one side of any point
        h = np.minimum(self.scale * self.noise**power, (self.upper - self.lower) / 4)
        h = np.maximum(h, 4 * np.finfo(float).eps * np.abs(x))
        low, high = x - h < self.lower, x + h > self.upper
        steps = np.stack(
            [np.where(low, h, -h), np.where(low, 2 * h, np.where(high, -2 * h, h))], axis=1
        )
        offsets = (x[:, None] + steps) - x[:, None]  # as they come out in floating point
        points = np.repeat(x[:, None, None], L, axis=2).repeat(2, axis=1)
        points[:, :, np.arange(L), np.arange(L)] += offsets
        f0 = function(x)
        return offsets, f0, function(points.reshape(-1, L)).reshape(n, 2, L, *f0.shape[1:])

    def _noise_at(self, values: Values, x: Vector) -> float:
        """The largest relative noise of the rows at x."""
        noise, sizes = self.noise_of_rows(values, x)
        # a row that is 0 at all points has no size to be relative to
        most = (noise[sizes > 0] / sizes[sizes > 0]).max(initial=0.0)
        return float(np.clip(most, SCHEDULE.least_noise, SCHEDULE.most_noise))

    def noise_of_rows(self, values: Values, x: Vector) -> tuple[np.ndarray, np.ndarray]:
        """The noise of each row at x, after Moré and Wild (2011), "Estimating computational noise",
        and its size there; no noise where a value is not finite.

        Differences of order k of values f + noise along a line have the variance (2k)!/(k!)² σ²
        once the smooth part is gone.
        """
        n, steps = SCHEDULE.noise_points, SCHEDULE.noise_steps
        room = np.minimum(self.scale, self.upper - self.lower)
        inward = np.where(x + n * steps[-1] * room > self.upper, -1.0, 1.0)
        f = np.zeros((n, 1))
        for step in steps:
            f = values(x + np.arange(n)[:, None] * step * inward * room)
            if not np.isfinite(f).all():
                return np.zeros(f.shape[1]), np.zeros(f.shape[1])
            if min(len(np.unique(row)) for row in f.T) > n // 2:
                break
        variances = [
            np.mean(np.diff(f, k, axis=0) ** 2, axis=0) * factorial(k) ** 2 / factorial(2 * k)
            for k in SCHEDULE.noise_orders
        ]
        return np.median(np.sqrt(variances), axis=0), np.abs(f).max(axis=0)


def _parabolas(
    offsets: Float[np.ndarray, "n 2 n_variables"], f0: np.ndarray, f: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives at 0 of the parabolas through (0, f0), (a, f_a), (b, f_b), one
    per axis, which comes after the rows: (n, rows, axis, ...)."""
    a, b = (offsets[:, side][(..., *[None] * (f.ndim - 3))] for side in (0, 1))
    rise_a, rise_b = f[:, 0] - f0[:, None], f[:, 1] - f0[:, None]
    slope = rise_a * b / (a * (b - a)) - rise_b * a / (b * (b - a))
    curvature = 2 * (rise_b / b - rise_a / a) / (b - a)
    return np.moveaxis(slope, 1, 2), np.moveaxis(curvature, 1, 2)
