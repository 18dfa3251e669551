"""A known problem with bent variables: objectives no longer convex, the Pareto set still exact."""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..kinds import kind
from ..simplex import SmoothMap
from .problem import AbstractSolvedProblem


@kind("problem.warped/1")
class Warped(AbstractSolvedProblem):
    """F(x) = f(x_1, x_2 + β x_1², x_3, …) for a problem f with a known Pareto set.

    The bend y_2 = x_2 + β x_1² is one-to-one, so a point is Pareto optimal for F just if its image
    is for f: the set of f, with β y_1² taken off y_2, is that of F. The same holds for minimizers
    of weighted sums, though those of F are not convex.

    Args:
        problem: f, with at least two variables.
        bend: β.
    """

    problem: AbstractSolvedProblem
    bend: float = eqx.field(static=True)

    def __init__(self, problem: AbstractSolvedProblem, bend: float = 1.0):
        if not isinstance(problem, AbstractSolvedProblem):
            raise TypeError(
                f"problem must be one with a known Pareto set, got {type(problem).__name__}"
            )
        if problem.n_variables < 2:
            raise ValueError(
                f"problem must have at least 2 variables to be bent, got {problem.n_variables}"
            )
        self.problem, self.bend, self.names = problem, float(bend), problem.names
        self.n_objectives, self.n_variables = problem.n_objectives, problem.n_variables

    def _objectives(self, x: Array | np.ndarray) -> Array | np.ndarray:
        return self.problem(_bent(jnp.asarray(x), self.bend))

    @property
    def pareto_map(self) -> Callable:
        """T -> the minimizer of Σ t_m F_m, that of f bent back; absent where f has none."""
        # a property that raises AttributeError: `hasattr` says whether there is such a map
        of_problem = getattr(self.problem, "pareto_map", None)
        if of_problem is None:
            raise AttributeError(
                f"{type(self.problem).__name__} has no pareto_map, so it has none seen through a"
                " bend either"
            )
        return lambda t: _bent(of_problem(t), -self.bend)

    def pareto_point(
        self, w: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[Array | np.ndarray, "*batch n_variables"]:
        """The problem's own point for w, bent back."""
        return _bent(self.problem.pareto_point(w), -self.bend)

    def set_map(self) -> "BentMap":
        """The problem's own map, bent back."""
        return BentMap(self.problem.set_map(), -self.bend)


@dataclass(frozen=True)
class BentMap:
    """w -> x(w) with β x_1² added to x_2, and its first two derivatives by the chain rule."""

    straight: SmoothMap
    bend: float

    def __call__(self, w: Float[np.ndarray, "n M"]) -> Float[np.ndarray, "n L"]:
        """The bent x(w)."""
        return np.asarray(_bent(self.straight(w), self.bend))

    def derivatives(
        self, w: Float[np.ndarray, "n M"]
    ) -> tuple[Float[np.ndarray, "n L"], Float[np.ndarray, "n M L"], Float[np.ndarray, "n M M L"]]:
        """The bent x(w), its ∂_m and its ∂_m ∂_k."""
        point, first, second = self.straight.derivatives(w)
        x1, d1 = point[:, :1], first[..., 0]
        bent_first, bent_second = first.copy(), second.copy()
        bent_first[..., 1] += 2 * self.bend * x1 * d1
        bent_second[..., 1] += (
            2 * self.bend * (x1[..., None] * second[..., 0] + d1[:, :, None] * d1[:, None, :])
        )
        return np.asarray(_bent(point, self.bend)), bent_first, bent_second


def _bent(x: Array | np.ndarray, bend: float) -> Array | np.ndarray:
    """The point x with β x_1² added to x_2."""
    second = x[..., 1:2] + bend * x[..., :1] ** 2
    xp = jnp if isinstance(x, jax.Array) else np
    return xp.concatenate([x[..., :1], second, x[..., 2:]], axis=-1)
