"""The contract of everything that evaluates objectives on the host."""

import abc

import numpy as np
from jaxtyping import Float

from ..evaluations import Evaluations
from ..interrupts import raise_if_interrupted
from .derivatives import Derivatives


class BudgetSpentError(Exception):
    """The next evaluations would exceed the budget. None of them was made."""


class AbstractEvaluator(abc.ABC):
    """Objectives x (L,) -> (M,) at batches of points, with the evaluations made so far and the most
    that may be made.

    A point counts once for each of values, Jacobian and Hessian that was computed there, for all M
    objectives at once; the budget limits the points. A product of a Hessian with a vector counts as
    a Jacobian, which costs about as much. An implementation provides the four computations, without
    counting.

    An evaluator counts up, so it belongs into no state: a step opens one with the counts of its
    state and puts the new counts into the next state.
    """

    def __init__(
        self,
        n_objectives: int,
        n_variables: int,
        budget: int | None = None,
        spent: Evaluations | None = None,
    ):
        if budget is not None and budget < 0:
            raise ValueError(
                f"budget must be at least 0 evaluations, or None for no limit, got {budget}"
            )
        self.n_objectives, self.n_variables, self.budget = n_objectives, n_variables, budget
        self.evaluations = spent or Evaluations()

    @property
    def left(self) -> float:
        """How many points may still be evaluated."""
        return np.inf if self.budget is None else self.budget - int(self.evaluations.objective)

    def values(
        self, points: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_objectives"]:
        """The objectives alone."""
        return self._values(self._charge(points, self._cost(0)))

    def jacobians(self, points: Float[np.ndarray, "n n_variables"]) -> Derivatives:
        """Values and gradients."""
        points = self._charge(points, self._cost(1))
        return Derivatives(points, *self._jacobians(points), hessians=None)

    def hessians(self, points: Float[np.ndarray, "n n_variables"]) -> Derivatives:
        """Values, gradients and Hessians."""
        points = self._charge(points, self._cost(2))
        return Derivatives(points, *self._hessians(points))

    def products(
        self,
        points: Float[np.ndarray, "n n_variables"],
        directions: Float[np.ndarray, "n n_variables"],
    ) -> Float[np.ndarray, "n n_objectives n_variables"]:
        """H_m(x) v for every objective m, at each point x with its own direction v."""
        return self._products(
            self._charge(points, self._cost(1)), np.asarray(directions, dtype=float)
        )

    def _cost(self, order: int) -> Evaluations:
        """What values and derivatives up to this order count at a point."""
        return Evaluations(1, int(order >= 1), int(order >= 2))

    def _charge(self, points: np.ndarray, each: Evaluations) -> Float[np.ndarray, "n n_variables"]:
        """The points as float64, after they were counted. A user who wants to leave does so
        before."""
        raise_if_interrupted()
        points = np.asarray(points, dtype=float)
        if len(points) * int(each.objective) > self.left:
            raise BudgetSpentError
        self.evaluations = Evaluations(
            *(
                int(old) + len(points) * kind
                for old, kind in zip(self.evaluations, each, strict=True)
            )
        )
        return points

    @abc.abstractmethod
    def _values(self, points: np.ndarray) -> np.ndarray:
        """The objectives (n, M)."""

    @abc.abstractmethod
    def _jacobians(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The objectives (n, M) and their gradients (n, M, L)."""

    @abc.abstractmethod
    def _hessians(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The objectives (n, M), their gradients (n, M, L) and their symmetric Hessians (n, M, L,
        L)."""

    @abc.abstractmethod
    def _products(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Hessians times directions (n, M, L)."""
