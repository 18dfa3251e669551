"""The contract of a function on the host."""

import abc

import numpy as np
from jaxtyping import Float


class AbstractSource(abc.ABC):
    """A function of flat vectors on the host: rows of values, and exact derivatives up to an order.

    Attributes:
        n_rows: how many values it has.
        order: the highest derivative that it has: 0, 1 or 2.
    """

    n_rows: int
    order: int

    @abc.abstractmethod
    def values(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_rows"]:
        """F at n points."""

    @abc.abstractmethod
    def jacobians(
        self, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables"]:
        """∇f at n points, where the order is at least 1."""

    @abc.abstractmethod
    def hessians(
        self, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables n_variables"]:
        """∇²f at n points, where the order is 2."""
