"""The front as questions see it: goals, bounds and their derivatives at several places at once."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..simplex import tangent_basis
from .front_map import AbstractFrontMap, squared
from .minimax import End, Programs


class Place(NamedTuple):
    """The front at each t, seen from the question asked there. Constraints are goals, bounds and −t ≤ 0, in this order.

    Attributes:
        t: where.
        duals: of the constraints, as far as they are known.
        goal: the largest goal, τ.
        violation: of the worst bound.
        excess: of the constraints; of goals over the largest one.
        slopes: of the constraints along the simplex, and along τ.
        bends: of goals and bounds, the upper triangles of their Hessians.
        bend: the Hessian of the Lagrangian.
        unmet: the first-order conditions, which are all 0 at a solution: of t, of τ, and of the constraints that count.
        residual: the largest of those.
    """

    t: Float[np.ndarray, "n n_objectives"]
    duals: Float[np.ndarray, "n n_constraints"]
    goal: Float[np.ndarray, " n"]
    violation: Float[np.ndarray, " n"]
    excess: Float[np.ndarray, "n n_constraints"]
    slopes: Float[np.ndarray, "n n_constraints n_objectives"]
    bends: Float[np.ndarray, "n n_rows n_bends"]
    bend: Float[np.ndarray, "n k k"]
    unmet: Float[np.ndarray, "n n_conditions"]
    residual: Float[np.ndarray, " n"]

    def end(self, k: int) -> End:
        """One of the places as the end of a search."""
        goal, violation, residual = float(self.goal[k]), float(self.violation[k]), float(self.residual[k])
        return End(self.t[k], goal, violation, self.duals[k], goal + float(self.duals[k] @ self.excess[k]), residual)


class Questions:
    """Questions about a front, one for each place."""

    def __init__(self, front: AbstractFrontMap, programs: Programs, which: Int[np.ndarray, " n"], n_objectives: int):
        self.front, self.programs, self.which, self.n_objectives = front, programs, which, n_objectives
        self.rows, self.limits = programs.rows(which)
        self.n_goals, self.n_rows = programs.c.shape[1], self.rows.shape[1]
        self._slopes = np.zeros((len(which), self.n_rows + n_objectives, n_objectives))  # with those that are always the same
        self._slopes[:, self.n_rows :, :-1] = -tangent_basis(n_objectives)
        self._slopes[:, : self.n_goals, -1] = -1.0

    def only(self, kept: list[int]) -> "Questions":
        """Some of them."""
        return Questions(self.front, self.programs, self.which[kept], self.n_objectives)

    def equal_duals(self) -> Float[np.ndarray, "n n_constraints"]:
        """Duals to begin with: all goals count alike, and nothing else counts."""
        duals = np.zeros(self._slopes.shape[:2])
        duals[:, : self.n_goals] = 1 / self.n_goals
        return duals

    def look(
        self,
        t: Float[np.ndarray, "n n_objectives"],
        duals: Float[np.ndarray, "n n_constraints"],
        expansions: Float[np.ndarray, "n n_values width"] | None = None,
    ) -> Place:
        """The front at each t, and how well the first-order conditions hold with these duals; expansions if they are known."""
        k, n_goals, n_rows = self.n_objectives - 1, self.n_goals, self.n_rows
        seen = self.rows @ (self.front.expansions(t) if expansions is None else expansions)
        slopes = self._slopes.copy()
        slopes[:, :n_rows, :k] = seen[..., 1 : 1 + k]
        excess = np.empty(slopes.shape[:2])
        np.subtract(seen[..., 0], self.limits, out=excess[:, :n_rows])
        np.negative(t, out=excess[:, n_rows:])
        goal = excess[:, :n_goals].max(axis=1)
        excess[:, :n_goals] -= goal[:, None]
        unmet = conditions(slopes, excess, duals)
        violation, residual = np.zeros(len(t)), np.abs(unmet).max(axis=1)
        if n_rows > n_goals:
            violation = excess[:, n_goals:n_rows].max(axis=1, initial=0.0)
            residual = np.maximum(residual, violation)
        bends = seen[..., 1 + k :]
        return Place(t, duals, goal, violation, excess, slopes, bends, self.bend(duals, bends), unmet, residual)

    def bend(self, duals: np.ndarray, bends: np.ndarray) -> Float[np.ndarray, "n k k"]:
        """The Hessian of the Lagrangian along the simplex."""
        k = self.n_objectives - 1
        return (duals[:, None, : self.n_rows] @ bends).take(squared(k), axis=2).reshape(-1, k, k)


def conditions(slopes: np.ndarray, excess: np.ndarray, duals: np.ndarray) -> Float[np.ndarray, "n n_conditions"]:
    """The first-order conditions: ∇L and Σ λ_goals − 1, up to sign, and the excess of every constraint that counts."""
    n, n_constraints, k = slopes.shape
    unmet = np.empty((n, k + n_constraints))
    np.matmul(duals[:, None], slopes, out=unmet[:, None, :k])
    unmet[:, k - 1] += 1.0
    np.multiply(excess, duals > 0, out=unmet[:, k:])
    return unmet


def only(parts: Any, kept: np.ndarray | list[int]) -> Any:
    """Some rows of each part."""
    return type(parts)(*(part[kept] for part in parts))
