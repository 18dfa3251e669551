"""The one program behind every question: min_t max_k (A f(t) − c)_k subject to B f(t) ≤ d and t ∈ Δ^{M−1}.

"The cheapest with quality at least 8.3" has one row in A and one in B; an aspiration point or a choice robust to a range of
weights has several rows in A.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

FEASIBLE = 1e-8
"""A larger violation, in units of the range, means that a bound is broken."""


class Programs(NamedTuple):
    """Several questions, minimize max_k (A f − c)_k subject to B f ≤ d, with the same bounds and with as many goals each."""

    A: Float[np.ndarray, "n_programs n_goals n_values"]
    c: Float[np.ndarray, "n_programs n_goals"]
    B: Float[np.ndarray, "n_bounds n_values"]
    d: Float[np.ndarray, " n_bounds"]

    @property
    def n_rows(self) -> int:
        """Goals and bounds of each question."""
        return self.c.shape[1] + len(self.d)

    def goals(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, "n_programs n"]:
        """Each question's goal at each row of values."""
        n_programs, n_goals, n_values = self.A.shape
        each = self.A.reshape(-1, n_values) @ values.T - self.c.reshape(-1, 1)
        return each if n_goals == 1 else each.reshape(n_programs, n_goals, -1).max(axis=1)

    def violation(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, " n"]:
        """How much the worst bound is broken, for each row of values; 0 where all hold."""
        if not len(self.d):
            return np.zeros(len(values))
        return (self.B @ values.T - self.d[:, None]).max(axis=0, initial=0.0)

    def rows(self, which: Int[np.ndarray, " n"]) -> tuple[Float[np.ndarray, "n n_rows n_values"], Float[np.ndarray, "n n_rows"]]:
        """Goals and bounds of some of the questions, in one matrix each: rows f − limits."""
        n, n_goals, n_rows = len(which), self.c.shape[1], self.n_rows
        rows, limits = np.empty((n, n_rows, self.A.shape[2])), np.empty((n, n_rows))
        rows[:, :n_goals], limits[:, :n_goals] = self.A[which], self.c[which]
        rows[:, n_goals:], limits[:, n_goals:] = self.B, self.d
        return rows, limits

    def weights(
        self, which: Int[np.ndarray, " n"], duals: Float[np.ndarray, "n n_constraints"]
    ) -> Float[np.ndarray, "n n_values"]:
        """What each value counts for at these duals of goals, bounds and −t: Aᵀλ + Bᵀν."""
        return (duals[:, None, : self.n_rows] @ self.rows(which)[0])[:, 0]

    def lagrangians(
        self,
        which: Int[np.ndarray, " n"],
        duals: Float[np.ndarray, "n n_constraints"],
        values: Float[np.ndarray, "n n_places n_values"],
    ) -> Float[np.ndarray, "n n_places"]:
        """λᵀ(A f − c) + νᵀ(B f − d) at several places for each of some questions: where bounds are kept, no goal is below it."""
        (rows, limits), counts = self.rows(which), duals[:, None, : self.n_rows]
        return (values @ np.swapaxes(counts @ rows, 1, 2) - counts @ limits[..., None])[..., 0]


class End(NamedTuple):
    """Where a search ended.

    Attributes:
        t: where.
        goal: the largest goal.
        violation: of the worst bound.
        dual: of goals, bounds and −t ≤ 0.
        height: of the Lagrangian with these.
        residual: of the first-order conditions.
    """

    t: Float[np.ndarray, " n_objectives"]
    goal: float
    violation: float
    dual: Float[np.ndarray, " n_constraints"]
    height: float
    residual: float
