"""Families of quadratic forms Q_1, …, Q_M, diagonal (M, L) or dense (M, L, L); their Pareto set."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike


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
