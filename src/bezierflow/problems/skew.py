"""The paper's skew problems: powers of distances, for any number of objectives."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from ..arguments import read_count
from ..kinds import kind
from ..names import Names
from .problem import AbstractSolvedProblem, as_batch
from .quadratic import CenterMap, apply, balanced, stack_matrices, weighted_center


@kind("problem.skew_med/1")
class SkewMED(AbstractSolvedProblem):
    """Skew-M-MED: f_m(x) = ( |x−e_m|²/√2 )^{p_m}, x ∈ R^M (Appendix "Problem Definition").

    The exponents are p_m = exp(2(m−1)/(M−1) − 1). Each f_m increases with |x−e_m|, so the Pareto
    set is that of the distances to the e_m: their convex hull, Δ^{M−1} itself. The minimizer of the
    t-weighted sum is another point of it, not known in closed form.

    Args:
        n_objectives: M, at least 2.
    """

    exponents: np.ndarray

    def __init__(self, n_objectives: int):
        n_objectives = read_count(n_objectives, "n_objectives", 2)
        self.exponents = _exponents(n_objectives)
        self.n_objectives = self.n_variables = n_objectives
        self.names = Names.default(n_objectives, n_objectives)

    def _objectives(self, x: Array | np.ndarray) -> Array:
        x = jnp.asarray(x)
        squares = jnp.sum((x - jnp.eye(self.n_objectives, dtype=x.dtype)) ** 2, axis=1)
        return _power(squares / np.sqrt(2.0), jnp.asarray(self.exponents, x.dtype))

    def pareto_point(
        self, w: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[Array | np.ndarray, "*batch n_variables"]:
        """Σ w_m e_m, which is w itself."""
        return as_batch(w, self.n_objectives, "w")

    def set_map(self) -> CenterMap:
        """The identity, with derivatives: the weighted mean of the e_m."""
        return CenterMap(np.ones((self.n_objectives, self.n_variables)), np.eye(self.n_objectives))


@kind("problem.skew_mmd/1")
class SkewMMD(AbstractSolvedProblem):
    """Skew-M-MMD: f_m(x) = |A_m (x−c_m)|^{p_m} (Appendix "Problem Definition").

    Each f_m increases with the quadratic |A_m (x−c_m)|², so the Pareto set is that of those
    quadratics: all x(w) = (Σ w_m A_mᵀA_m)⁻¹ Σ w_m A_mᵀA_m c_m. The minimizer of the t-weighted sum
    is another point of it, not known in closed form. The defaults are those of the paper's three
    objectives, continued to any number.

    Args:
        n_objectives: M, at least 2.
        matrices: the A_m, each a matrix (R, L) or, for a diagonal one, its diagonal (L,). Default:
            4/5 along the diagonal and 3/5 at place m. Without full column rank the exact set is not
            known.
        centers: the c_m, one per row. Default: the unit vectors e_m.
        exponents: the p_m > 0. Default: exp(2(m−1)/(M−1) − 1).
    """

    matrices: np.ndarray
    centers: np.ndarray
    exponents: np.ndarray
    full_rank: bool = eqx.field(static=True)

    def __init__(
        self,
        n_objectives: int,
        matrices: Sequence[ArrayLike] | np.ndarray | None = None,
        centers: ArrayLike | None = None,
        exponents: ArrayLike | None = None,
    ):
        M = read_count(n_objectives, "n_objectives", 2)
        self.matrices = stack_matrices(0.8 - 0.2 * np.eye(M) if matrices is None else matrices, M)
        L = self.matrices.shape[-1]
        self.centers = np.array(np.eye(M) if centers is None else centers, dtype=float)
        if self.centers.shape != (M, L):
            raise ValueError(
                f"centers must have shape ({M}, {L}), one row per objective and one column per"
                f" column of the matrices, got {'the default of ' if centers is None else ''}shape"
                f" {self.centers.shape}"
            )
        self.exponents = np.array(_exponents(M) if exponents is None else exponents, dtype=float)
        if self.exponents.shape != (M,) or not (self.exponents > 0).all():
            raise ValueError(f"exponents must be {M} numbers above 0, got {exponents!r}")
        if self.matrices.ndim == 2:
            self.full_rank = bool((self.matrices != 0).all())
        else:
            self.full_rank = bool((np.linalg.matrix_rank(self.matrices) == L).all())
        self.n_objectives, self.n_variables, self.names = M, L, Names.default(M, L)

    def _objectives(self, x: Array | np.ndarray) -> Array:
        x = jnp.asarray(x)
        away = apply(jnp.asarray(self.matrices, x.dtype), x - jnp.asarray(self.centers, x.dtype))
        return _power(jnp.sum(away**2, axis=1), jnp.asarray(self.exponents, x.dtype) / 2)

    def pareto_point(
        self, w: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[Array | np.ndarray, "*batch n_variables"]:
        """x(w) = (Σ w_m A_mᵀA_m)⁻¹ Σ w_m A_mᵀA_m c_m."""
        return weighted_center(self._forms(), self.centers, as_batch(w, self.n_objectives, "w"))

    def set_map(self) -> CenterMap:
        """The minimizers of weighted sums of |A_m (x−c_m)|², all of them brought to one scale."""
        return CenterMap(balanced(self._forms()), self.centers)

    def _forms(self) -> Float[np.ndarray, "M ..."]:
        """The A_mᵀA_m."""
        if not self.full_rank:
            raise ValueError(
                "matrices must have full column rank for the exact Pareto set to be known; at least"
                " one has not"
            )
        A = self.matrices
        return A**2 if A.ndim == 2 else A.swapaxes(1, 2) @ A


def _exponents(n_objectives: int) -> Float[np.ndarray, " n_objectives"]:
    """p_m = exp(2(m−1)/(M−1) − 1): from 1/e to e."""
    return np.exp(np.linspace(-1.0, 1.0, n_objectives))


def _power(
    square: Float[Array, "*batch"], exponent: Float[Array, "*batch"]
) -> Float[Array, "*batch"]:
    """square^exponent for square ≥ 0, exponent > 0: right everywhere, derivatives never NaN.

    Where square = |x − c|² vanishes, x = c is the minimizer. The gradient in x is 0 there for
    exponents above 1/2; at and below it there is a cusp, and 0, the element of the subdifferential
    that says "minimum", is given. The second derivative there is right for exponents of 1 and
    above; below 1 it is infinite and 0 is given.
    """
    # Squares below the floor count as 0 for derivatives: above it, square^(exponent − 2) still is a
    # finite number.
    floor = jnp.finfo(square.dtype).tiny ** 0.45
    away = square > floor
    smooth = jnp.where(away, square, 1.0) ** exponent
    at_center = jax.lax.stop_gradient(square) ** exponent
    return jnp.where(exponent == 1.0, square, jnp.where(away, smooth, at_center))
