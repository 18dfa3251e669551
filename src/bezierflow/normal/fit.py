"""A surface through a cloud: least squares of the normal distances, with every point free to slide
to its own nearest t.

No evaluation is made here. Two things alternate: each point's t moves to the foot of its
perpendicular on the surface, and the control points move so that the surface meets the points in
their normal directions alone,

    dP = argmin Σ_i ω_i² ( |(I − T_i T_iᵀ)(z_i dP − y_i)|² + μ_i |z_i dP|² ).

Charging only for the normal part is the same as letting each target slide along its tangents, |(I −
TTᵀ)(z dP − y)|² = min over s of |z dP − y − T s|². For given slides, dP is an ordinary
least-squares fit; putting that in leaves one small dense system in the slides, of n·(M−1) unknowns
whatever the number of variables L is:

    A = diag(ω √(1+μ)) Z,   S = AᵀA,   σ = 1/√(1+μ),   Π = σ A S⁻¹ Aᵀ σ,   s̃ = ω s,   ỹ = ω y
    (I − Π ∘ [T_iᵀ T_j]) s̃ = −Tᵀ(ỹ − Π ỹ),            dP = S⁻¹ Aᵀ σ (ỹ + T s̃).
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import cho_factor, cho_solve

from ..bezier import design_matrix, elevate, partial_derivatives
from ..simplex import multi_indices
from .cloud import Cloud
from .curvature import Rows
from .schedule import USUAL, Schedule


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
    schedule: Schedule = USUAL


def fit_cloud(
    control_points: Rows, cloud: Cloud, task: FitTask, recall: Cloud | None = None
) -> tuple[Rows, Cloud, Float[np.ndarray, " n"]]:
    """The control points moved to the cloud, by Levenberg–Marquardt steps.

    Far from the set a tangent says little about where a curve goes, and points must not slide along
    it; near the set sliding is what makes a low degree do. So the damping starts at the error and
    falls with every accepted step.

    Starts at the control points and the t of the cloud, on faces of this surface's own simplex.
    `recall` are points that certain t should be called back to, for this fit only (see `probe`).
    Returns the control points, the cloud with its new t, and the normal distances of its points.
    """
    numbers, known = task.schedule, cloud
    cloud = cloud if recall is None else cloud.join(recall)
    n, width, k = cloud.tangents.shape
    n_objectives = cloud.t.shape[1]
    free, lifted = free_directions(n_objectives, task.degree, task.freedom, task.n_fixed)
    ends = (multi_indices(n_objectives, task.degree) == task.degree).argmax(axis=0)
    precision = max(task.precision, 1e-300)
    weights = precision / np.hypot(precision, cloud.miss)
    # the same in every step, and most of what a refit costs where there are many variables
    flat = np.swapaxes(cloud.tangents, 1, 2).reshape(n * k, width)
    gram = None if len(free) * width < n * k else flat @ flat.T
    points, t = control_points, move_feet(control_points, cloud, cloud.t, task.degree)
    Z, y, merit = _missed(points, cloud, t, task.degree, weights)
    damping = max(task.error, numbers.least_damping)
    least = max(numbers.damping_fall * task.error, numbers.least_damping)
    for _ in range(numbers.fit_steps if len(free) and n else 0):
        design = Z if task.freedom == task.degree else design_matrix(t, task.freedom)
        parts = (design[:, free], y, cloud.tangents, weights)
        # A point that slides past its corner would make the surface run over the end of the set and
        # turn around: slides are damped more by the square of how much nearer the corner is.
        corners = points[ends]
        to_corner = np.linalg.norm((Z @ points)[:, None] - corners[None], axis=2).min(axis=1)
        scale = numbers.straight * np.linalg.norm(corners - corners[0], axis=1).max()
        nearer = np.clip(scale / np.maximum(to_corner, 1e-300), 1, numbers.restraint)
        restrained = damping * nearer**2
        if gram is None:
            change = dense_refit(*parts, restrained)
        else:
            change = slide_refit(*parts, restrained, gram)
        moved = points + lifted @ change
        new_t = move_feet(moved, cloud, t, task.degree)
        new_Z, new_y, new_merit = _missed(moved, cloud, new_t, task.degree, weights)
        # with four objectives and more a step costs more than the last digits are worth
        settled = n_objectives > 3 and damping <= least and new_merit > numbers.settled * merit
        if new_merit < merit:
            points, t, Z, y, merit = moved, new_t, new_Z, new_y, new_merit
            damping = max(damping / numbers.damping_factors[0], least)
        else:
            # above 1 a step is so short that no other would gain anything either
            settled, damping = damping > 1, numbers.damping_factors[1] * damping
        if settled:
            break
    distances = np.linalg.norm(y[: len(known)], axis=1)
    return points, replace(known, t=t[: len(known)]), distances


def _missed(
    control_points: Rows, cloud: Cloud, t: np.ndarray, degree: int, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """The basis Z at t, the normal distances from there to the cloud as vectors y, and the merit
    Σ ω²|y|²."""
    Z = design_matrix(t, degree)
    away = cloud.points - Z @ control_points
    along = np.einsum("nlk,nl->nk", cloud.tangents, away)
    y = away - np.einsum("nlk,nk->nl", cloud.tangents, along)
    return Z, y, float(np.sum(weights**2 * np.sum(y**2, axis=1)))


def move_feet(
    control_points: Rows, cloud: Cloud, t: Float[np.ndarray, "n n_objectives"], degree: int
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
    return free, elevate(np.eye(len(size))[:, free], n_objectives, freedom, degree)


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
        if schedule.overdetermined * n_free * n_variables > equations:
            break
        degree += 1
    return degree


def slide_refit(
    design: Float[np.ndarray, "n n_free"],
    displacements: Float[np.ndarray, "n n_variables"],
    tangents: Float[np.ndarray, "n n_variables n_tangents"],
    weights: Float[np.ndarray, " n"],
    damping: Float[np.ndarray, " n"],
    gram: Float[np.ndarray, "n_slides n_slides"],
) -> Float[np.ndarray, "n_free n_variables"]:
    """The change of the free control points, by the system of the slides: Z has one column per free
    control point, T_i zero columns for directions that do not exist at a node; only normal parts of
    y_i count. μ_i must be above 0, since sliding the whole surface along itself costs nothing else.
    `gram` are T_iᵀ T_j of all nodes.
    """
    share = 1 / np.sqrt(1 + damping)
    # S⁻¹Aᵀ and A S⁻¹Aᵀ through the singular values of A: squaring its condition number would cost
    # half the digits
    left, singular, turned = np.linalg.svd(design * (weights / share)[:, None], full_matrices=False)
    inverse = np.where(singular > 1e-13 * singular[0], 1 / np.maximum(singular, 1e-300), 0.0)
    factor = ((turned.T * inverse) @ left.T) * share
    projection = ((left * (inverse > 0)) @ left.T) * share[:, None] * share[None, :]
    y, (n, _, k) = weights[:, None] * displacements, tangents.shape
    coupling = gram * np.repeat(np.repeat(projection, k, axis=0), k, axis=1)
    right = -np.einsum("iax,ia->ix", tangents, y - projection @ y).ravel()
    slides = _solve_lower(np.eye(n * k) - coupling, right)
    return factor @ (y + np.einsum("iax,ix->ia", tangents, slides.reshape(n, k)))


def dense_refit(
    design: Float[np.ndarray, "n n_free"],
    displacements: Float[np.ndarray, "n n_variables"],
    tangents: Float[np.ndarray, "n n_variables n_tangents"],
    weights: Float[np.ndarray, " n"],
    damping: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "n_free n_variables"]:
    """The same by the normal equations in all n_free·L unknowns: cheaper where variables are few
    and nodes many.

    The block of two variables a and b is Zᵀ diag(ω² (I − TTᵀ + μ)_ab) Z; those with b ≤ a make the
    lower triangle.
    """
    n_free, n_variables = design.shape[1], displacements.shape[1]
    weighted, identity = design * weights[:, None], np.eye(n_variables)
    across = identity - tangents @ np.swapaxes(tangents, 1, 2)
    costs = across + damping[:, None, None] * identity
    system = np.zeros((n_variables, n_free, n_variables, n_free))
    for a in range(n_variables):
        for b in range(a + 1):
            system[a, :, b] = (weighted * costs[:, a, b, None]).T @ weighted
    target = weighted.T @ (weights[:, None] * np.einsum("nab,nb->na", across, displacements))
    found = _solve_lower(system.reshape(n_variables * n_free, -1), target.T.ravel())
    return found.reshape(n_variables, n_free).T


def _solve_lower(triangle: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution for the symmetric matrix with this lower triangle; the shortest one where
    rounding makes it singular."""
    try:
        factor = cho_factor(triangle, lower=True, check_finite=False)
        return cho_solve(factor, right, check_finite=False)
    except np.linalg.LinAlgError:
        if not np.isfinite(triangle).all():
            return np.full_like(right, np.nan)
        return np.linalg.lstsq(np.tril(triangle) + np.tril(triangle, -1).T, right)[0]
