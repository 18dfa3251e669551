"""Nets and tangents without compiling: the same numbers as `bezier.nets`, in NumPy, for t whose number and degree change."""

import numpy as np
from jaxtyping import Float

from ..bezier import elevate, elevation_matrix, partial_derivatives, surface_tangents

__all__ = ["elevate", "elevation_matrix", "face_tangents", "surface_tangents"]


def face_tangents(
    control_points: Float[np.ndarray, "n_controls n_variables"],
    t: Float[np.ndarray, "n n_objectives"],
    degree: int,
    n_tangents: int,
) -> Float[np.ndarray, "n n_variables n_tangents"]:
    """Orthonormal tangents of the surface at t, along the face that t lies in; zero columns where the face has fewer."""
    faces = t > 0
    slopes = partial_derivatives(control_points, t, degree).transpose(0, 2, 1)
    size = faces.sum(axis=1)
    mean = np.einsum("nlm,nm->nl", slopes, faces) / size[:, None]
    columns, _, _ = np.linalg.svd((slopes - mean[:, :, None]) * faces[:, None, :], full_matrices=False)
    columns = np.pad(columns, ((0, 0), (0, 0), (0, max(n_tangents - columns.shape[2], 0))))[:, :, :n_tangents]
    return columns * (np.arange(n_tangents) < size[:, None] - 1)[:, None, :]
