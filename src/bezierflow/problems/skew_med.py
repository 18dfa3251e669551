"""Skew-M-MED: powers of the squared distances to the unit vectors, for any number of objectives."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..names import Names
from ..precision import in_double_precision
from .powers import power, skew_exponents
from .problem import AbstractSolvedProblem, as_batch, as_point, check_count
from .quadratic_forms import CenterMap


class SkewMED(AbstractSolvedProblem):
    """f_m(x) = ( |x−e_m|²/√2 )^{p_m} with p_m = exp(2(m−1)/(M−1) − 1), x ∈ R^M (Appendix "Problem
    Definition").

    Each f_m increases with |x−e_m|, so the Pareto set is that of the distances to the e_m: their
    convex hull, Δ^{M−1} itself. The minimizer of the t-weighted sum is another point of it, not
    known in closed form.

    Args:
        n_objectives: M, at least 2.
    """

    exponents: np.ndarray
    names: Names = eqx.field(static=True)
    n_objectives: int = eqx.field(static=True)
    n_variables: int = eqx.field(static=True)

    def __init__(self, n_objectives: int):
        n_objectives = check_count(n_objectives, "n_objectives", 2)
        self.exponents = skew_exponents(n_objectives)
        self.n_objectives = self.n_variables = n_objectives
        self.names = Names.default(n_objectives, n_objectives)

    def __call__(
        self, x: Float[Array | np.ndarray, " n_variables"]
    ) -> Float[Array | np.ndarray, " n_objectives"]:
        """f(x)."""
        return in_double_precision(self._objectives, as_point(x, self.n_variables))

    def _objectives(self, x: Array | np.ndarray) -> Array:
        x = jnp.asarray(x)
        squares = jnp.sum((x - jnp.eye(self.n_objectives, dtype=x.dtype)) ** 2, axis=1)
        return power(squares / np.sqrt(2.0), jnp.asarray(self.exponents, x.dtype))

    def pareto_point(
        self, w: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[Array | np.ndarray, "*batch n_variables"]:
        """Σ w_m e_m, which is w itself."""
        return as_batch(w, self.n_objectives, "w")

    def set_map(self) -> CenterMap:
        """The identity, with derivatives: the weighted mean of the e_m."""
        return CenterMap(np.ones((self.n_objectives, self.n_variables)), np.eye(self.n_objectives))
