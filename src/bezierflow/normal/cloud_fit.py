"""A surface through a cloud: least squares of the normal distances, with every point free to slide
to its own nearest t.

No evaluation is made here. Two things alternate: each point's t moves to the foot of its
perpendicular on the surface, and the slide refit moves the control points. Only the normal distance
counts, so t settles where the degree serves best.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..bezier import design_matrix, elevate, partial_derivatives
from ..simplex import multi_indices
from .cloud import Cloud
from .refit import dense_refit, slide_refit, tangent_products
from .schedule import Schedule

LEAST_DAMPING = 1e-7
"""With less damping, slides of the whole surface along itself would be undetermined."""


class FitTask(NamedTuple):
    """What a fit may change and how careful it is.

    Attributes:
        degree: of the surface.
        n_fixed: faces of this many objectives or fewer stay as they are: 1 for the vertices, 2 for
            the edges too.
        freedom: the degree of the change, at most that of the surface.
        precision: points that may miss the set by much more than this weigh less.
        error: the latest held-out error of the surface, relative to the diameter.
        schedule: the tuned numbers.
    """

    degree: int
    n_fixed: int
    freedom: int
    precision: float
    error: float
    schedule: Schedule


class CloudFit(NamedTuple):
    """A fitted surface: its control points, the cloud with its new t, and the normal distances of
    the cloud's points."""

    control_points: Float[np.ndarray, "n_controls n_variables"]
    cloud: Cloud
    distances: Float[np.ndarray, " n"]


class _Iterate(NamedTuple):
    """A surface with the feet t of all points on it, the basis Z there, the merit and the normal
    distances as vectors y."""

    control_points: np.ndarray
    t: np.ndarray
    Z: np.ndarray
    merit: float
    y: np.ndarray


def fit_cloud(
    control_points: Float[np.ndarray, "n_controls n_variables"],
    cloud: Cloud,
    task: FitTask,
    recall: Cloud | None = None,
) -> CloudFit:
    """The control points moved to the cloud, by Levenberg–Marquardt steps.

    Far from the set a tangent says little about where a curve goes, and points must not slide along
    it; near the set sliding is what makes a low degree do. So the damping starts at the error and
    falls with every accepted step.

    Args:
        control_points: where to start.
        cloud: its t, on faces of this surface's own simplex, are starting points too.
        task: what may change.
        recall: points that certain t should be called back to, for this fit only (see `probe`).
    """
    numbers, known = task.schedule.fit, cloud
    cloud = cloud if recall is None else cloud.join(recall)
    free, lifted = free_directions(cloud.t.shape[1], task.degree, task.freedom, task.n_fixed)
    weights, costly = _weights(cloud, task), cloud.t.shape[1] > 3
    current = _iterate(control_points, cloud, cloud.t, task, weights)
    gram = None if _few_unknowns(len(free), cloud) else tangent_products(cloud.tangents)
    damping, least = (
        max(task.error, numbers.first_damping),
        max(numbers.damping_fall * task.error, LEAST_DAMPING),
    )
    for _ in range(numbers.steps if len(free) and len(cloud) else 0):
        change = _change(current, cloud, task, weights, damping, free, gram)
        moved = _iterate(current.control_points + lifted @ change, cloud, current.t, task, weights)
        settled = costly and damping <= least and moved.merit > numbers.settled * current.merit
        if moved.merit < current.merit:
            current, damping = moved, max(damping / 10, least)
        else:
            settled, damping = damping > 1, 30 * damping
        if settled:
            break
    n_known = len(known)
    distances = np.linalg.norm(current.y[:n_known], axis=1)
    return CloudFit(current.control_points, replace(known, t=current.t[:n_known]), distances)


def _change(
    current: _Iterate,
    cloud: Cloud,
    task: FitTask,
    weights: np.ndarray,
    damping: float,
    free: np.ndarray,
    gram: np.ndarray | None,
) -> Float[np.ndarray, "n_free n_variables"]:
    """The change of the free control points, by whichever of the two equal refits is cheaper."""
    Z = current.Z if task.freedom == task.degree else design_matrix(current.t, task.freedom)
    restraint = damping * _restraint(current, cloud.t.shape[1], task)
    if gram is None:
        return dense_refit(Z[:, free], current.y, cloud.tangents, weights, restraint)
    return slide_refit(Z[:, free], current.y, cloud.tangents, weights, restraint, gram)


def _few_unknowns(n_free: int, cloud: Cloud) -> bool:
    """Whether there are fewer unknown control points' numbers than slides."""
    n, n_variables, n_tangents = cloud.tangents.shape
    return n_free * n_variables < n * n_tangents


def _iterate(
    control_points: np.ndarray, cloud: Cloud, t: np.ndarray, task: FitTask, weights: np.ndarray
) -> _Iterate:
    """The surface with the feet of all points moved once, from t."""
    t = move_feet(control_points, cloud, t, task.degree)
    Z = design_matrix(t, task.degree)
    away = cloud.points - Z @ control_points
    along = np.einsum("nlk,nl->nk", cloud.tangents, away)
    y = away - np.einsum("nlk,nk->nl", cloud.tangents, along)
    return _Iterate(control_points, t, Z, float(np.sum(weights**2 * np.sum(y**2, axis=1))), y)


def _weights(cloud: Cloud, task: FitTask) -> Float[np.ndarray, " n"]:
    """ω: less where a point may miss the set by more than the precision."""
    precision = max(task.precision, 1e-300)
    return precision / np.hypot(precision, cloud.miss)


def _restraint(current: _Iterate, n_objectives: int, task: FitTask) -> Float[np.ndarray, " n"]:
    """How much more than elsewhere a slide is damped near a corner: by the square of how much
    nearer the corner is.

    A point that slides past its corner would make the surface run over the end of the set and turn
    around.
    """
    control_points, degree = current.control_points, task.degree
    corners = control_points[(multi_indices(n_objectives, degree) == degree).argmax(axis=0)]
    to_corner = np.linalg.norm((current.Z @ control_points)[:, None] - corners[None], axis=2).min(
        axis=1
    )
    scale = task.schedule.look.straight * np.linalg.norm(corners - corners[0], axis=1).max()
    return np.clip(scale / np.maximum(to_corner, 1e-300), 1, 1e3) ** 2


def move_feet(
    control_points: np.ndarray, cloud: Cloud, t: np.ndarray, degree: int
) -> Float[np.ndarray, "n n_objectives"]:
    """One Gauss–Newton step of every t, within its face, towards the point of the surface nearest
    to its c.

    A step goes at most half the way to the nearest side, so that a foot never leaves its face.
    """
    n_objectives = t.shape[1]
    toward = partial_derivatives(control_points, t, degree)
    # Derivatives in the directions e_m − t, which stay on the simplex; those that leave the face
    # are taken out.
    toward = (toward - np.einsum("nm,nml->nl", t, toward)[:, None, :]) * cloud.faces[:, :, None]
    away = cloud.points - design_matrix(t, degree) @ control_points
    gram = toward @ np.swapaxes(toward, 1, 2)
    ridge = 1e-12 * np.trace(gram, axis1=1, axis2=2) + 1e-300
    gram = gram + ridge[:, None, None] * np.eye(n_objectives)
    share = np.linalg.solve(gram, np.einsum("nml,nl->nm", toward, away)[:, :, None])[:, :, 0]
    change = np.where(cloud.faces, share - t * share.sum(axis=1, keepdims=True), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.min(np.where(change < 0, -0.5 * t / change, np.inf), axis=1)
    return t + np.minimum(1, room)[:, None] * change


@lru_cache(maxsize=64)
def free_directions(
    n_objectives: int, degree: int, freedom: int, n_fixed: int
) -> tuple[Int[np.ndarray, " n_free"], Float[np.ndarray, "n_controls n_free"]]:
    """The changes of degree `freedom` that vanish on the fixed faces: their rows, and what they do
    to the control points.

    A control point belongs to the smallest face that its index's nonzero entries name; it moves the
    surface on that face and on larger ones only. Elevated to the surface's own degree, its change
    moves several control points at once.
    """
    size = (multi_indices(n_objectives, freedom) > 0).sum(axis=1)
    free = np.flatnonzero(size > n_fixed)
    unit = np.eye(len(size))[:, free]
    return free, elevate(unit, n_objectives, freedom, degree)


def supported_degree(cloud: Cloud, n_fixed: int, largest: int, schedule: Schedule) -> int:
    """The largest degree of change that the points of the cloud determine, at least n_fixed + 1.

    A point of face J gives an equation for each normal direction, L − |J| + 1 of them; a control
    point has L unknowns.
    """
    n_objectives, n_variables = cloud.t.shape[1], cloud.points.shape[1]
    equations = np.sum(np.maximum(n_variables - cloud.faces.sum(axis=1) + 1, 0))
    degree = n_fixed + 1
    while degree < largest:
        n_free = np.sum((multi_indices(n_objectives, degree + 1) > 0).sum(axis=1) > n_fixed)
        if schedule.fit.overdetermined * n_free * n_variables > equations:
            break
        degree += 1
    return degree
