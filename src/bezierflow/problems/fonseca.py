"""Fonseca's problem: a straight Pareto set and a concave front that no weighted sum can trace."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..arguments import read_count
from ..kinds import kind
from ..names import Names
from .problem import AbstractSolvedProblem, as_batch
from .quadratic import CenterMap


@kind("problem.fonseca/1")
class Fonseca(AbstractSolvedProblem):
    """f_1(x) = 1 − exp(−|x−c|²), f_2(x) = 1 − exp(−|x+c|²) with c = (1, …, 1)/√L.

    (Fonseca and Fleming, "An overview of evolutionary algorithms in multiobjective optimization",
    Evolutionary Computation 3, 1995; also known as VLMOP2.) Both objectives increase with the
    distance from their minimizer, so the Pareto set is the segment from c to −c.

    Args:
        n_variables: L, at least 1.
    """

    def __init__(self, n_variables: int = 2):
        self.n_objectives = 2
        self.n_variables = read_count(n_variables, "n_variables", 1)
        self.names = Names.default(2, self.n_variables)

    def _objectives(self, x: Array | np.ndarray) -> Array:
        center = self.n_variables**-0.5
        squares = jnp.stack([jnp.sum((x - center) ** 2), jnp.sum((x + center) ** 2)])
        return -jnp.expm1(-squares)  # all digits near the minimizers, where 1 − exp has few

    def pareto_point(
        self, w: Float[Array | np.ndarray, "*batch 2"]
    ) -> Float[Array | np.ndarray, "*batch n_variables"]:
        """w_1 c − w_2 c."""
        w = as_batch(w, 2, "w")
        along = (w[..., 0] - w[..., 1]) * self.n_variables**-0.5
        return along[..., None] * np.ones(self.n_variables, dtype=w.dtype)

    def set_map(self) -> CenterMap:
        """`pareto_point`, with derivatives: the weighted mean of c and −c."""
        ends = np.array([[1.0], [-1.0]]) * np.full(self.n_variables, self.n_variables**-0.5)
        return CenterMap(np.ones_like(ends), ends)
