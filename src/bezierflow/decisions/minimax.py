"""The one program behind every question: min_t max_k (A f(t) − c)_k subject to B f(t) ≤ d and t ∈ Δ^{M−1}.

"The cheapest with quality at least 8.3" has one row in A and one in B; an aspiration point or a choice robust to a range of
weights has several rows in A.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

FEASIBLE = 1e-8
"""A larger violation, in units of the range, means that a bound is broken."""


class Program(NamedTuple):
    """The rows of a question: minimize max_k (A f − c)_k subject to B f ≤ d."""

    A: Float[np.ndarray, "n_goals n_values"]
    c: Float[np.ndarray, " n_goals"]
    B: Float[np.ndarray, "n_bounds n_values"]
    d: Float[np.ndarray, " n_bounds"]

    def goal(self, values: np.ndarray) -> np.ndarray:
        """max_k (A f − c)_k for each row of values."""
        return (values @ self.A.T - self.c).max(axis=1)

    def violation(self, values: np.ndarray) -> np.ndarray:
        """How much the worst bound is broken, for each row of values; 0 where all hold."""
        return (values @ self.B.T - self.d).max(axis=1, initial=0.0)

    def weights(self, dual: np.ndarray) -> np.ndarray:
        """What each value counts for at these duals of goals, bounds and −t: Aᵀλ + Bᵀν."""
        n_goals, n_bounds = len(self.c), len(self.d)
        return dual[:n_goals] @ self.A + dual[n_goals : n_goals + n_bounds] @ self.B

    def lagrangian(self, end: "End", values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, " n"]:
        """The Lagrangian with the duals of an end, for each row of values: where bounds are kept, no goal is below it."""
        n_goals, n_rows = len(self.c), len(self.c) + len(self.d)
        return values @ self.weights(end.dual) - end.dual[:n_goals] @ self.c - end.dual[n_goals:n_rows] @ self.d


class Programs(NamedTuple):
    """Several questions with the same bounds, and with as many goals each."""

    A: Float[np.ndarray, "n_programs n_goals n_values"]
    c: Float[np.ndarray, "n_programs n_goals"]
    B: Float[np.ndarray, "n_bounds n_values"]
    d: Float[np.ndarray, " n_bounds"]

    @property
    def n_rows(self) -> int:
        """Goals and bounds of each question."""
        return self.c.shape[1] + len(self.d)

    def one(self, number: int) -> Program:
        """One of them."""
        return Program(self.A[number], self.c[number], self.B, self.d)

    def goals(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, "n_programs n"]:
        """Each question's goal at each row of values."""
        n_programs, n_goals, n_values = self.A.shape
        each = self.A.reshape(-1, n_values) @ values.T - self.c.reshape(-1, 1)
        return each if n_goals == 1 else each.reshape(n_programs, n_goals, -1).max(axis=1)

    def violation(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, " n"]:
        """How much the worst bound is broken, for each row of values; 0 where all hold."""
        return (self.B @ values.T - self.d[:, None]).max(axis=0, initial=0.0)

    def rows(self, which: Int[np.ndarray, " n"]) -> tuple[Float[np.ndarray, "n n_rows n_values"], Float[np.ndarray, "n n_rows"]]:
        """Goals and bounds of some of the questions, in one matrix each: rows f − limits."""
        n = len(which)
        rows = np.concatenate([self.A[which], np.broadcast_to(self.B, (n, *self.B.shape))], axis=1)
        return rows, np.concatenate([self.c[which], np.broadcast_to(self.d, (n, len(self.d)))], axis=1)


class End(NamedTuple):
    """Where a search ended; `residual` is that of the first-order conditions."""

    t: Float[np.ndarray, " n_objectives"]
    goal: float
    violation: float
    dual: Float[np.ndarray, " n_constraints"]
    residual: float
