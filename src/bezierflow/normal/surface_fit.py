"""A surface through a cloud: least squares of the normal distances, with every point free to slide to its own nearest t.

No evaluation is made here. Two things alternate: each point's t moves to the foot of its perpendicular on the surface, and the
slide refit moves the control points. Only the normal distance counts, so t settles where the degree serves best.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from ..bezier.design import design_matrix
from ..simplex import multi_indices, raised_positions
from .cloud import STRAIGHT, Cloud
from .polynomial import elevate
from .refit import dense_refit, slide_refit

SMALLEST_DAMPING = 1e-7
LARGEST_DAMPING = 0.1
"""Levenberg's damping μ of the refit starts at the error (relative to the diameter) and falls to a tenth of it (a hundredth
if bold), within these limits. Far from the set a tangent says little about where a curve goes, and points must not slide
along it; near the set sliding is what makes a low degree do. Below the smallest, slides of the whole surface along itself
would be undetermined."""

MOST_STEPS = 8
MOST_BOLD_STEPS = 25

OVERDETERMINED = 1.5
"""Equations for each unknown before a degree is believed: with fewer a fit meets its points and misses the set between them."""


def fit_surface(
    control_points: np.ndarray,
    cloud: Cloud,
    degree: int,
    n_fixed: int,
    precision: float,
    error: float,
    freedom: int | None = None,
    bold: bool = False,
    recall: Cloud | None = None,
) -> tuple[np.ndarray, Cloud, np.ndarray]:
    """The control points moved to the cloud, the cloud with its new t, and the normal distances that are left.

    Args:
        control_points: Where to start, (n_controls, n_variables).
        cloud: Its t, on faces of this surface's own simplex, are starting points too.
        degree: Of the surface.
        n_fixed: Faces of this many objectives or fewer stay as they are: 1 for the vertices, 2 for the edges too.
        precision: Points that may miss the set by much more than this weigh less.
        error: The latest held-out error of the surface, relative to the diameter.
        freedom: The degree of the change, at most that of the surface and by default the same.
        bold: Ten times less damping and more steps, for a surface near the set that has to slide far along it.
        recall: Points that certain t should be called back to, for this fit only (see `probe`).
    """
    n_known, known = len(cloud), cloud
    cloud = cloud if recall is None else cloud.join(recall)
    freedom = freedom or degree
    damping = float(np.clip(error, 1e-4, LARGEST_DAMPING))
    least = float(np.clip((0.01 if bold else 0.1) * error, SMALLEST_DAMPING, LARGEST_DAMPING))
    free, lifted = free_directions(cloud.t.shape[1], degree, freedom, n_fixed)
    weights = _weights(cloud, degree, precision)
    t = _feet(control_points, cloud, cloud.t, design_matrix(cloud.t, degree), degree)
    Z = design_matrix(t, degree)
    merit, y = _merit(control_points, cloud, Z, weights)
    steps = MOST_BOLD_STEPS if bold else MOST_STEPS
    for _ in range(steps if len(free) and len(cloud) else 0):
        design = (Z if freedom == degree else design_matrix(t, freedom))[:, free]
        refit = dense_refit if design.shape[1] * y.shape[1] < y.shape[0] * cloud.tangents.shape[2] else slide_refit
        change = refit(
            design, y, cloud.tangents, weights, damping * _restraint(control_points, Z, cloud.t.shape[1], degree), xp=np
        )
        moved = control_points + lifted @ change
        moved_t = _feet(moved, cloud, t, Z, degree)
        moved_Z = design_matrix(moved_t, degree)
        moved_merit, moved_y = _merit(moved, cloud, moved_Z, weights)
        if moved_merit < merit:
            gained = moved_merit / merit
            control_points, t, Z, merit, y = moved, moved_t, moved_Z, moved_merit, moved_y
            damping = max(damping / 10, least)
            if gained > (0.99 if bold else 0.7) and damping <= 10 * least:
                break
        else:
            damping *= 30
            if damping > 10:
                break
    return control_points, replace(known, t=t[:n_known]), np.linalg.norm(y[:n_known], axis=1)


def _weights(cloud: Cloud, degree: int, precision: float) -> np.ndarray:
    """ω: even over the surface (see `nodes`), and less where a point may miss the set by more than the precision."""
    even = np.sqrt(np.sqrt(np.prod(cloud.t + 0.3 / (degree + 2) ** 2, axis=1)))
    trust = precision / np.sqrt(precision**2 + cloud.miss**2)
    weights = even * trust
    return weights / weights.max(initial=1e-300)


def _restraint(control_points: np.ndarray, Z: np.ndarray, n_objectives: int, degree: int) -> np.ndarray:
    """How much more than elsewhere a slide is damped near a corner: by the square of how much nearer the corner is.

    A point that slides past its corner would make the surface run over the end of the set and back.
    """
    corners = control_points[(multi_indices(n_objectives, degree) == degree).argmax(axis=0)]
    to_corner = np.linalg.norm((Z @ control_points)[:, None] - corners[None], axis=2).min(axis=1)
    scale = STRAIGHT * np.linalg.norm(corners - corners[0], axis=1).max()
    return np.clip(scale / np.maximum(to_corner, 1e-300), 1, 1e3) ** 2


def _merit(control_points: np.ndarray, cloud: Cloud, Z: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The weighted sum of squared normal distances, and the distances as vectors."""
    away = cloud.points - Z @ control_points
    along = np.einsum("nlk,nl->nk", cloud.tangents, away)
    y = away - np.einsum("nlk,nk->nl", cloud.tangents, along)
    return float(np.sum(weights**2 * np.sum(y**2, axis=1))), y


def _feet(control_points: np.ndarray, cloud: Cloud, t: np.ndarray, Z: np.ndarray, degree: int) -> np.ndarray:
    """One Gauss–Newton step of every t, within its face, towards the point of the surface nearest to its c."""
    n_objectives = t.shape[1]
    partials = degree * control_points[raised_positions(n_objectives, degree)]
    toward = np.einsum("nc,cml->nml", design_matrix(t, degree - 1), partials)
    # Derivatives in the directions e_m − t, which stay on the simplex; those that leave the face are taken out.
    toward = (toward - np.einsum("nm,nml->nl", t, toward)[:, None, :]) * cloud.faces[:, :, None]
    away = cloud.points - Z @ control_points
    gram = toward @ np.swapaxes(toward, 1, 2)
    ridge = 1e-12 * np.trace(gram, axis1=1, axis2=2) + 1e-300
    gram = gram + ridge[:, None, None] * np.eye(n_objectives)
    share = np.linalg.solve(gram, np.einsum("nml,nl->nm", toward, away)[:, :, None])[:, :, 0]
    change = np.where(cloud.faces, share - t * share.sum(axis=1, keepdims=True), 0.0)
    # At most half the way to the nearest side: a foot beyond the side is none.
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.min(np.where(change < 0, -0.5 * t / change, np.inf), axis=1)
    return t + np.minimum(1, room)[:, None] * change


@lru_cache(maxsize=64)
def free_directions(n_objectives: int, degree: int, freedom: int, n_fixed: int) -> tuple[np.ndarray, np.ndarray]:
    """The changes of degree `freedom` that vanish on the fixed faces: their rows, and what they do to the control points.

    A control point belongs to the smallest face that its index's nonzero entries name; it moves the surface on that face and on
    larger ones only. Elevated to the surface's own degree, its change moves several control points at once.
    """
    size = (multi_indices(n_objectives, freedom) > 0).sum(axis=1)
    free = np.flatnonzero(size > n_fixed)
    unit = np.eye(len(size))[:, free]
    return free, elevate(unit, n_objectives, freedom, degree)


def supported_degree(cloud: Cloud, precise: np.ndarray, n_fixed: int, largest: int) -> int:
    """The largest degree of change that the precise points of the cloud determine, at least n_fixed + 1.

    A point of face J gives an equation for each normal direction, L − |J| + 1 of them; a control point has L unknowns.
    """
    n_objectives, n_variables = cloud.t.shape[1], cloud.points.shape[1]
    equations = np.sum(np.maximum(n_variables - cloud.faces[precise].sum(axis=1) + 1, 0))
    degree = n_fixed + 1
    while degree < largest:
        n_free = np.sum((multi_indices(n_objectives, degree + 1) > 0).sum(axis=1) > n_fixed)
        if OVERDETERMINED * n_free * n_variables > equations:
            break
        degree += 1
    return degree
