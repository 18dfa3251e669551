"""Skew-M-MMD: powers of Mahalanobis distances to M points, for any matrices, points and
exponents."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from ..names import Names
from ..precision import in_double_precision
from .powers import power, skew_exponents
from .problem import AbstractSolvedProblem, as_batch, as_point, check_count
from .quadratic_forms import CenterMap, apply, balanced, gram, stack_matrices, weighted_center


class SkewMMD(AbstractSolvedProblem):
    """f_m(x) = |A_m (x−c_m)|^{p_m} (Appendix "Problem Definition").

    Each f_m increases with the quadratic |A_m (x−c_m)|², so the Pareto set is that of those
    quadratics: all x(w) = (Σ w_m A_mᵀA_m)⁻¹ Σ w_m A_mᵀA_m c_m. The minimizer of the t-weighted sum
    is another point of it, not known in closed form. The defaults are those of the paper's three
    objectives, continued to any number.

    Args:
        n_objectives: M, at least 2.
        matrices: the A_m, each a matrix (R, L) or, for a diagonal one, its diagonal (L,). Default:
            4/5 along the diagonal and 3/5 at place m. Without full column rank the problem can be
            solved, but its exact set is not known.
        centers: the c_m, one a row. Default: the unit vectors e_m.
        exponents: the p_m > 0. Default: exp(2(m−1)/(M−1) − 1).
    """

    matrices: np.ndarray
    centers: np.ndarray
    exponents: np.ndarray
    names: Names = eqx.field(static=True)
    n_objectives: int = eqx.field(static=True)
    n_variables: int = eqx.field(static=True)
    full_rank: bool = eqx.field(static=True)

    def __init__(
        self,
        n_objectives: int,
        matrices: Sequence[ArrayLike] | np.ndarray | None = None,
        centers: ArrayLike | None = None,
        exponents: ArrayLike | None = None,
    ):
        n_objectives = check_count(n_objectives, "n_objectives", 2)
        if matrices is None:
            matrices = 0.8 - 0.2 * np.eye(n_objectives)
        self.matrices = stack_matrices(matrices, n_objectives)
        n_variables = self.matrices.shape[-1]
        self.centers = np.array(np.eye(n_objectives) if centers is None else centers, dtype=float)
        if self.centers.shape != (n_objectives, n_variables):
            raise ValueError(
                f"centers must have shape ({n_objectives}, {n_variables}), one row an objective and"
                " one column a column of the matrices, got"
                f" {'the default of ' if centers is None else ''}shape {self.centers.shape}"
            )
        self.exponents = np.array(
            skew_exponents(n_objectives) if exponents is None else exponents, dtype=float
        )
        if self.exponents.shape != (n_objectives,) or not (self.exponents > 0).all():
            raise ValueError(f"exponents must be {n_objectives} numbers above 0, got {exponents!r}")
        self.full_rank = _has_full_rank(self.matrices)
        self.n_objectives, self.n_variables = n_objectives, n_variables
        self.names = Names.default(n_objectives, n_variables)

    def __call__(
        self, x: Float[Array | np.ndarray, " n_variables"]
    ) -> Float[Array | np.ndarray, " n_objectives"]:
        """f(x)."""
        return in_double_precision(self._objectives, as_point(x, self.n_variables))

    def _objectives(self, x: Array | np.ndarray) -> Array:
        x = jnp.asarray(x)
        away = apply(jnp.asarray(self.matrices, x.dtype), x - jnp.asarray(self.centers, x.dtype))
        return power(jnp.sum(away**2, axis=1), jnp.asarray(self.exponents, x.dtype) / 2)

    def pareto_point(
        self, w: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[Array | np.ndarray, "*batch n_variables"]:
        """x(w) = (Σ w_m A_mᵀA_m)⁻¹ Σ w_m A_mᵀA_m c_m."""
        self._check_rank()
        return weighted_center(
            gram(self.matrices), self.centers, as_batch(w, self.n_objectives, "w")
        )

    def set_map(self) -> CenterMap:
        """The minimizers of weighted sums of |A_m (x−c_m)|², with all of them brought to the same
        scale."""
        self._check_rank()
        return CenterMap(balanced(np.asarray(gram(self.matrices))), self.centers)

    def _check_rank(self) -> None:
        if not self.full_rank:
            raise ValueError(
                "matrices must have full column rank for the exact Pareto set to be known; at least"
                " one has not"
            )


def _has_full_rank(matrices: np.ndarray) -> bool:
    if matrices.ndim == 2:
        return bool((matrices != 0).all())
    return bool((np.linalg.matrix_rank(matrices) == matrices.shape[-1]).all())
