"""Quadratic forms, diagonal (M, L) or dense (M, L, L), their Pareto set; convex quadratics, whose
whole Pareto set is a formula: any, and the paper's scaled-MED."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from ..arguments import read_count
from ..kinds import kind
from ..names import Names
from .problem import AbstractSolvedProblem, as_batch


def stack_matrices(
    matrices: Sequence[ArrayLike] | np.ndarray, n_objectives: int | None = None
) -> Float[np.ndarray, "M ..."]:
    """Matrices as one float64 array: (M, L) if all are given as diagonals, else (M, R, L)."""
    items = [np.asarray(matrix, dtype=float) for matrix in matrices]
    if n_objectives is not None and len(items) != n_objectives:
        raise ValueError(
            f"matrices must hold {n_objectives} matrices, one for each objective, got {len(items)}"
        )
    if any(item.ndim == 2 for item in items):
        items = [np.diag(item) if item.ndim == 1 else item for item in items]
    shapes = sorted({item.shape for item in items})
    if len(shapes) != 1 or len(shapes[0]) not in (1, 2):
        raise ValueError(
            f"matrices must be diagonals (L,) or matrices of one shape, got shapes {shapes}"
        )
    stacked = np.stack(items)
    if not np.isfinite(stacked).all():
        raise ValueError("matrices must be finite, got a NaN or an infinity among their entries")
    return stacked


def apply(matrices: Float[Array, "M ..."], vectors: Float[Array, "M L"]) -> Float[Array, "M R"]:
    """A_m v_m for each m."""
    return matrices * vectors if matrices.ndim == 2 else jnp.einsum("mrl,ml->mr", matrices, vectors)


def balanced(matrices: Float[np.ndarray, "M ..."]) -> Float[np.ndarray, "M ..."]:
    """Q_m over its mean eigenvalue: the same Pareto set, and no weight dwarfs the others."""
    trace = matrices.sum(axis=1) if matrices.ndim == 2 else np.trace(matrices, axis1=1, axis2=2)
    return matrices * matrices.shape[-1] / trace.reshape(-1, *[1] * (matrices.ndim - 1))


def weighted_center(
    matrices: Float[Array | np.ndarray, "M ..."],
    centers: Float[Array | np.ndarray, "M L"],
    w: Float[Array | np.ndarray, "*batch M"],
) -> Float[Array | np.ndarray, "*batch L"]:
    """x(w) = (Σ w_m Q_m)⁻¹ Σ w_m Q_m c_m, the minimizer of Σ w_m (x−c_m)ᵀ Q_m (x−c_m).

    For positive definite Q_m it carries the simplex onto the Pareto set of these quadratics, faces
    onto faces, and hence of every problem whose objectives are increasing functions of them. NumPy
    in, NumPy out; JAX in, JAX out.
    """
    # Nothing is compiled for NumPy arrays, and they keep float64 whatever JAX's switch says.
    traced = any(isinstance(array, jax.Array) for array in (matrices, centers, w))
    xp: ModuleType = jnp if traced else np
    Q, c = xp.asarray(matrices, w.dtype), xp.asarray(centers, w.dtype)
    if Q.ndim == 2:
        return (w @ (Q * c)) / (w @ Q)
    pull = w @ xp.einsum("mij,mj->mi", Q, c)
    return xp.linalg.solve(xp.tensordot(w, Q, axes=1), pull[..., None])[..., 0]


@dataclass(frozen=True)
class CenterMap:
    """w -> x(w) of `weighted_center` as a `SmoothMap`, in NumPy.

    With S = Σ w_m Q_m: ∂_m x = S⁻¹ Q_m (c_m − x) and ∂_m ∂_k x = −S⁻¹ (Q_m ∂_k x + Q_k ∂_m x).
    """

    matrices: Float[np.ndarray, "M ..."]
    centers: Float[np.ndarray, "M L"]

    def __call__(self, w: Float[np.ndarray, "n M"]) -> Float[np.ndarray, "n L"]:
        """x(w)."""
        return np.asarray(weighted_center(self.matrices, self.centers, w))

    def derivatives(
        self, w: Float[np.ndarray, "n M"]
    ) -> tuple[Float[np.ndarray, "n L"], Float[np.ndarray, "n M L"], Float[np.ndarray, "n M M L"]]:
        """x(w), ∂_m x and ∂_m ∂_k x."""
        point = self(w)
        away = self.centers - point[:, None, :]
        if self.matrices.ndim == 2:
            share = self.matrices / (w @ self.matrices)[:, None, :]
            first = share * away
            mixed = share[:, :, None, :] * first[:, None, :, :]
        else:
            share = np.linalg.solve(np.tensordot(w, self.matrices, axes=1)[:, None], self.matrices)
            first = np.einsum("nmij,nmj->nmi", share, away)
            mixed = np.einsum("nmij,nkj->nmki", share, first)
        return point, first, -(mixed + mixed.transpose(0, 2, 1, 3))


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
