"""Nets and tangents without compiling: the same numbers as `bezier.nets`, in NumPy, for t whose number and degree change."""

import numpy as np
from jaxtyping import Float

from ..bezier.design import design_matrix
from ..simplex import multi_indices, raised_positions, tangent_basis


def elevation_matrix(n_objectives: int, degree: int) -> Float[np.ndarray, "n_above n_controls"]:
    """E with E P the control points of the same map one degree higher: p'_d = Σ_m d_m/(D+1) p_{d−e_m}."""
    above = raised_positions(n_objectives, degree + 1)
    matrix = np.zeros((above.max() + 1, len(above)))
    share = (multi_indices(n_objectives, degree) + 1) / (degree + 1)
    for m in range(n_objectives):
        matrix[above[:, m], np.arange(len(above))] = share[:, m]
    return matrix


def elevate(control_points: Float[np.ndarray, "*batch n_controls n_variables"], n_objectives: int, degree: int, target: int):
    """The control points of the same map in a higher degree."""
    for current in range(degree, target):
        control_points = elevation_matrix(n_objectives, current) @ control_points
    return control_points


def surface_tangents(
    control_points: Float[np.ndarray, "n_controls n_variables"], t: Float[np.ndarray, "n n_objectives"], degree: int
) -> Float[np.ndarray, "n n_variables dimension"]:
    """The derivatives of b(t|P) along an orthonormal basis of the simplex's directions."""
    n_objectives = t.shape[1]
    partials = degree * control_points[raised_positions(n_objectives, degree).T]
    along = np.einsum("mk,mcl->ckl", tangent_basis(n_objectives), partials)
    return np.einsum("nc,ckl->nlk", design_matrix(t, degree - 1), along)


def face_tangents(
    control_points: Float[np.ndarray, "n_controls n_variables"],
    t: Float[np.ndarray, "n n_objectives"],
    degree: int,
    n_tangents: int,
) -> Float[np.ndarray, "n n_variables n_tangents"]:
    """Orthonormal tangents of the surface at t, along the face that t lies in; zero columns where the face has fewer."""
    faces = t > 0
    partials = degree * control_points[raised_positions(t.shape[1], degree)]
    slopes = np.einsum("nc,cml->nlm", design_matrix(t, degree - 1), partials)
    size = faces.sum(axis=1)
    mean = np.einsum("nlm,nm->nl", slopes, faces) / size[:, None]
    columns, _, _ = np.linalg.svd((slopes - mean[:, :, None]) * faces[:, None, :], full_matrices=False)
    columns = np.pad(columns, ((0, 0), (0, 0), (0, max(n_tangents - columns.shape[2], 0))))[:, :, :n_tangents]
    return columns * (np.arange(n_tangents) < size[:, None] - 1)[:, None, :]
