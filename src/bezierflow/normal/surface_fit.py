"""A surface through a cloud: least squares of the normal distances, with every point free to slide to its own nearest t.

No evaluation is made here. Two things alternate: each point's t moves to the foot of its perpendicular on the surface, and the
slide refit moves the control points. Only the normal distance counts, so the parametrization settles where the degree serves best.
"""

from dataclasses import replace

import numpy as np

from ..simplex import controls_on_face, n_controls, raised_positions
from .cloud import Cloud
from .polynomial import design_matrix
from .refit import dense_refit, slide_refit

FIRST_DAMPING = 1e-4
SMALLEST_DAMPING = 1e-7
"""Levenberg's damping of the refit; below the smallest the slides of the whole surface along itself would be undetermined."""

MOST_STEPS = 8

OVERDETERMINED = 1.5
"""Equations for each unknown before a degree is believed: with fewer a fit meets its points and misses the set between them."""


def fit_surface(
    control_points: np.ndarray,
    cloud: Cloud,
    degree: int,
    pinned: np.ndarray,
    precision: float,
    steps: int = MOST_STEPS,
    damping: float = FIRST_DAMPING,
) -> tuple[np.ndarray, Cloud, np.ndarray]:
    """The control points moved to the cloud, the cloud with its new t, and the normal distances that are left.

    Args:
        control_points: Where to start, (n_controls, n_variables).
        cloud: Its t, on faces of this surface's own simplex, are starting points too.
        degree: Of the surface.
        pinned: Rows of control points that stay.
        precision: Points that may miss the set by much more than this weigh less.
        steps: At most so many refits.
        damping: The first one.
    """
    free = np.setdiff1d(np.arange(len(control_points)), pinned)
    weights = _weights(cloud, degree, precision)
    t = _feet(control_points, cloud, cloud.t, degree)
    merit, y = _merit(control_points, cloud, t, degree, weights)
    for _ in range(steps if len(free) and len(cloud) else 0):
        design = design_matrix(t, degree)[:, free]
        refit = dense_refit if design.shape[1] * y.shape[1] < y.shape[0] * cloud.tangents.shape[2] else slide_refit
        moved = control_points.copy()
        moved[free] += refit(design, y, cloud.tangents, weights, np.asarray(damping), xp=np)
        moved_t = _feet(moved, cloud, t, degree)
        moved_merit, moved_y = _merit(moved, cloud, moved_t, degree, weights)
        if moved_merit < merit:
            gained = moved_merit / merit
            control_points, t, merit, y = moved, moved_t, moved_merit, moved_y
            damping = max(damping / 10, SMALLEST_DAMPING)
            if gained > 0.7 and damping < 1e-5:
                break
        else:
            damping *= 30
            if damping > 10:
                break
    return control_points, replace(cloud, t=t), np.linalg.norm(y, axis=1)


def _weights(cloud: Cloud, degree: int, precision: float) -> np.ndarray:
    """ω: even over the surface (see `nodes`), and less where a point may miss the set by more than the precision."""
    even = np.sqrt(np.sqrt(np.prod(cloud.t + 0.3 / (degree + 2) ** 2, axis=1)))
    trust = precision / np.sqrt(precision**2 + cloud.miss**2)
    weights = even * trust
    return weights / weights.max(initial=1e-300)


def _merit(control_points: np.ndarray, cloud: Cloud, t: np.ndarray, degree: int, weights: np.ndarray):
    away = cloud.points - design_matrix(t, degree) @ control_points
    along = np.einsum("nlk,nl->nk", cloud.tangents, away)
    y = away - np.einsum("nlk,nk->nl", cloud.tangents, along)
    return float(np.sum(weights**2 * np.sum(y**2, axis=1))), y


def _feet(control_points: np.ndarray, cloud: Cloud, t: np.ndarray, degree: int) -> np.ndarray:
    """One Gauss–Newton step of every t, within its face, towards the point of the surface nearest to its c."""
    n_objectives = t.shape[1]
    partials = degree * control_points[raised_positions(n_objectives, degree)]
    toward = np.einsum("nc,cml->nml", design_matrix(t, degree - 1), partials)
    # Derivatives in the directions e_m − t, which stay on the simplex; those that leave the face are taken out.
    toward = (toward - np.einsum("nm,nml->nl", t, toward)[:, None, :]) * cloud.faces[:, :, None]
    away = cloud.points - design_matrix(t, degree) @ control_points
    gram = toward @ np.swapaxes(toward, 1, 2)
    ridge = 1e-12 * np.trace(gram, axis1=1, axis2=2) + 1e-300
    gram = gram + ridge[:, None, None] * np.eye(n_objectives)
    share = np.linalg.solve(gram, np.einsum("nml,nl->nm", toward, away)[:, :, None])[:, :, 0]
    change = np.where(cloud.faces, share - t * share.sum(axis=1, keepdims=True), 0.0)
    # At most half the way to the nearest side: a foot beyond the side is none.
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.min(np.where(change < 0, -0.5 * t / change, np.inf), axis=1)
    return t + np.minimum(1, room)[:, None] * change


def pinned_vertices(n_objectives: int, degree: int) -> np.ndarray:
    """The rows of the control points that are vertices."""
    return np.array([controls_on_face((m,), n_objectives, degree)[0] for m in range(n_objectives)])


def supported_degree(cloud: Cloud, n_variables: int, largest: int, precise: np.ndarray) -> int:
    """The largest degree whose free control points the precise points of the cloud determine.

    A point of face J gives an equation for each normal direction, L − |J| + 1 of them; a control point has L unknowns.
    """
    n_objectives = cloud.t.shape[1]
    equations = np.sum(np.maximum(n_variables - cloud.faces[precise].sum(axis=1) + 1, 0))
    degree = 1
    while degree < largest and OVERDETERMINED * (n_controls(n_objectives, degree + 1) - n_objectives) * n_variables <= equations:
        degree += 1
    return degree
