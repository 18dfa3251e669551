"""What a problem with a known Pareto set is."""

import abc

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from ..precision import in_double_precision
from ..problem import AbstractProblem
from ..simplex import SmoothMap, nearest


class AbstractSolvedProblem(AbstractProblem):
    """A problem whose Pareto set is known exactly: a surface can be measured against the truth."""

    n_objectives: int = eqx.field(static=True)  # type: ignore[reportIncompatibleVariableOverride]
    n_variables: int = eqx.field(static=True)  # type: ignore[reportIncompatibleVariableOverride]

    def __call__(
        self, x: Float[Array | np.ndarray, " n_variables"]
    ) -> Float[Array | np.ndarray, " n_objectives"]:
        """f(x), in the precision of x; in double precision for NumPy's float64."""
        x = as_batch(x, self.n_variables, "x")
        if x.ndim != 1:
            raise ValueError(
                f"x must be one point of shape ({self.n_variables},), got shape {x.shape};"
                " jax.vmap(problem) takes many"
            )
        return in_double_precision(self._objectives, x)

    @abc.abstractmethod
    def _objectives(self, x: Array | np.ndarray) -> Array | np.ndarray:
        """f(x) of one point, in JAX."""

    @abc.abstractmethod
    def pareto_point(
        self, w: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[Array | np.ndarray, "*batch n_variables"]:
        """A continuous map from Δ^{M−1} onto the Pareto set, Δ_J onto that of the objectives J.

        Where the problem has a `pareto_map`, it is that one; else w only parametrizes the set.
        """

    @abc.abstractmethod
    def set_map(self) -> SmoothMap:
        """A map from Δ^{M−1} onto the Pareto set, with derivatives: for projections onto it."""

    def project(
        self, x: Float[Array | np.ndarray, "*batch n_variables"]
    ) -> Float[np.ndarray, "*batch n_variables"]:
        """The point of the Pareto set nearest to each x (see `simplex.nearest`), in NumPy."""
        points = np.asarray(as_batch(x, self.n_variables, "x"), dtype=float)
        set_map = self.set_map()
        t = nearest(set_map, points.reshape(-1, self.n_variables), self.n_objectives).t
        return set_map(t).reshape(points.shape)

    def distance(
        self, x: Float[Array | np.ndarray, "*batch n_variables"]
    ) -> Float[np.ndarray, "*batch"]:
        """The Euclidean distance of each x from the Pareto set, in NumPy."""
        return np.asarray(np.linalg.norm(np.asarray(x, dtype=float) - self.project(x), axis=-1))


def as_batch(
    points: ArrayLike, size: int, argument: str
) -> Float[Array | np.ndarray, "*batch size"]:
    """Points with coordinates last, as an array of floats, or a ValueError with the argument."""
    if not isinstance(points, jax.Array | np.ndarray):
        points = np.asarray(points, dtype=float)
    if points.ndim < 1 or points.shape[-1] != size:
        raise ValueError(
            f"{argument} must have {size} coordinates along its last axis, got shape {points.shape}"
        )
    # whole numbers too are points, and have no gradients as such
    return points if np.issubdtype(points.dtype, np.floating) else points.astype(float)
