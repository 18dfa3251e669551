"""Convex quadratics, whose whole Pareto set is a formula: any, and the paper's scaled-MED."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from ..arguments import read_count
from ..kinds import kind
from ..names import Names
from .forms import CenterMap, apply, balanced, stack_matrices, weighted_center
from .problem import AbstractSolvedProblem, as_batch


@kind("problem.quadratic/1")
class Quadratic(AbstractSolvedProblem):
    """f_m(x) = (x−c_m)ᵀ Q_m (x−c_m) + o_m with symmetric positive definite Q_m.

    Its Pareto map is exact: x*(t) = (Σ t_m Q_m)⁻¹ Σ t_m Q_m c_m.

    Args:
        matrices: the Q_m, each a matrix (L, L) or, for a diagonal one, its diagonal (L,).
        centers: the minimizers c_m, one per row.
        offsets: the least values o_m, one number for all or one each.
    """

    matrices: np.ndarray
    centers: np.ndarray
    offsets: np.ndarray

    def __init__(
        self,
        matrices: Sequence[ArrayLike] | np.ndarray,
        centers: ArrayLike,
        offsets: ArrayLike = 0.0,
    ):
        Q = self.matrices = stack_matrices(matrices)
        if Q.ndim == 3:
            if Q.shape[1] != Q.shape[2]:
                raise ValueError(f"matrices must be square, got shape {Q.shape[1:]}")
            # users build them by products, which are symmetric up to rounding
            skew = np.abs(Q - Q.transpose(0, 2, 1)).max(axis=(1, 2))
            if (skew > 1e-10 * np.abs(Q).max(axis=(1, 2))).any():
                raise ValueError(
                    f"matrices must be symmetric, but matrices[{int(np.argmax(skew))}] is not;"
                    " (Q + Qᵀ)/2 gives the same objective"
                )
        least = Q.min(axis=1) if Q.ndim == 2 else np.linalg.eigvalsh(Q)[:, 0]
        if (least <= 0).any():
            m = int(np.argmin(least))
            raise ValueError(
                f"matrices must be positive definite, but matrices[{m}] has the eigenvalue"
                f" {least[m]:.6g}"
            )
        n_objectives, n_variables = Q.shape[0], Q.shape[-1]
        self.centers = np.array(centers, dtype=float)
        if self.centers.shape != (n_objectives, n_variables):
            raise ValueError(
                f"centers must have shape ({n_objectives}, {n_variables}) to go with the matrices,"
                f" got {self.centers.shape}"
            )
        offsets = np.asarray(offsets, dtype=float)
        if offsets.shape not in ((), (n_objectives,)):
            raise ValueError(
                f"offsets must be one number or {n_objectives} of them, got shape {offsets.shape}"
            )
        self.offsets = np.broadcast_to(offsets, (n_objectives,)).copy()
        self.n_objectives, self.n_variables = n_objectives, n_variables
        self.names = Names.default(n_objectives, n_variables)

    @classmethod
    def random(
        cls, n_objectives: int, n_variables: int, condition: float = 10.0, seed: int = 0
    ) -> "Quadratic":
        """Standard normal centers, and randomly rotated Q_m of exactly this condition number.

        The eigenvalues are spread evenly on a logarithmic scale around 1.
        """
        read_count(n_objectives, "n_objectives", 1)
        read_count(n_variables, "n_variables", 1)
        if not 1 <= condition < np.inf:
            raise ValueError(f"condition must be a finite number of at least 1, got {condition!r}")
        generator = np.random.default_rng(seed)
        spread = np.linspace(-0.5, 0.5, n_variables) if n_variables > 1 else np.zeros(1)
        size = (n_objectives, n_variables, n_variables)
        rotations = np.linalg.qr(generator.standard_normal(size))[0]
        matrices = (rotations * condition**spread) @ rotations.transpose(0, 2, 1)
        matrices = (matrices + matrices.transpose(0, 2, 1)) / 2  # symmetric to the last bit
        return cls(matrices, generator.standard_normal((n_objectives, n_variables)))

    def _objectives(self, x: Array | np.ndarray) -> Array:
        x = jnp.asarray(x)
        away = x - jnp.asarray(self.centers, x.dtype)
        forms = jnp.sum(away * apply(jnp.asarray(self.matrices, x.dtype), away), axis=1)
        return forms + jnp.asarray(self.offsets, x.dtype)

    def pareto_map(
        self, t: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[Array | np.ndarray, "*batch n_variables"]:
        """x*(t), the minimizer of Σ t_m f_m: the solution of (Σ t_m Q_m) x = Σ t_m Q_m c_m."""
        return weighted_center(self.matrices, self.centers, as_batch(t, self.n_objectives, "t"))

    pareto_point = pareto_map  # onto the Pareto set by strict convexity

    def set_map(self) -> CenterMap:
        """The minimizers of weighted sums, with all objectives brought to the same scale."""
        return CenterMap(balanced(self.matrices), self.centers)


SCALES = np.array([[1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [3.0, 2.0, 1.0]])
CENTERS = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, -1.0]])


@kind("problem.scaled_med/1")
class ScaledMED(AbstractSolvedProblem):
    """Squared distances to three points, scaled differently per objective (Appendix "Problem
    Definition").

    f_1 = x_1² + 3(x_2−1)² + 2(x_3−1)²,  f_2 = 2(x_1−1)² + x_2² + 3(x_3−1)²,  f_3 = 3(x_1−1)² +
    2(x_2−1)² + (x_3+1)².
    """

    def __init__(self):
        self.n_objectives = self.n_variables = 3
        self.names = Names.default(3, 3)

    def _objectives(self, x: Array | np.ndarray) -> Array:
        x = jnp.asarray(x)
        away = x - jnp.asarray(CENTERS, x.dtype)
        return jnp.sum(jnp.asarray(SCALES, x.dtype) * away**2, axis=1)

    def pareto_map(
        self, t: Float[Array | np.ndarray, "*batch 3"]
    ) -> Float[Array | np.ndarray, "*batch 3"]:
        """x*(t), the minimizer of Σ t_m f_m (Appendix "Analytical solution of scaled-MED").

        x*(t) = ( (2t_2+3t_3)/(t_1+2t_2+3t_3), (3t_1+2t_3)/(3t_1+t_2+2t_3),
        (2t_1+3t_2−t_3)/(2t_1+3t_2+t_3) ).
        """
        return weighted_center(SCALES, CENTERS, as_batch(t, 3, "t"))

    pareto_point = pareto_map  # onto the Pareto set by strict convexity

    def set_map(self) -> CenterMap:
        """`pareto_map`, with derivatives."""
        return CenterMap(SCALES, CENTERS)
