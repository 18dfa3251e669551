"""Tangents of a surface along the face that t lies in."""

import numpy as np
from jaxtyping import Float

from ..bezier import partial_derivatives


def face_tangents(
    control_points: Float[np.ndarray, "n_controls n_variables"],
    t: Float[np.ndarray, "n n_objectives"],
    degree: int,
    n_tangents: int,
) -> Float[np.ndarray, "n n_variables n_tangents"]:
    """Orthonormal tangents at t of the surface over the smallest face with t in it; zero columns
    where it has fewer."""
    faces = t > 0
    slopes = np.swapaxes(partial_derivatives(control_points, t, degree), 1, 2)
    size = faces.sum(axis=1)
    mean = np.einsum("nlm,nm->nl", slopes, faces) / size[:, None]
    columns, _, _ = np.linalg.svd(
        (slopes - mean[:, :, None]) * faces[:, None, :], full_matrices=False
    )
    columns = np.pad(columns, ((0, 0), (0, 0), (0, max(n_tangents - columns.shape[2], 0))))[
        :, :, :n_tangents
    ]
    return columns * (np.arange(n_tangents) < size[:, None] - 1)[:, None, :]
