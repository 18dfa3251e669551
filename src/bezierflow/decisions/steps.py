"""One step of the search, at several places at once: Newton's where it is known what binds, else that of a convex model.

The model is a quadratic one of the exact penalty function

    max_k (A f − c)_k + ρ max(0, max_j (B f − d)_j)

under linearized constraints, with the exact derivatives of the front (Fletcher, "Practical Methods of Optimization", 2nd edition,
Section 14.3). It tells which constraints bind; Newton's step along those, with the curvature as it is, replaces the model's own
where it keeps to them, so that digits double with each step also where the front bends downward (Gould and Robinson, "A second
derivative SQP method: global convergence", SIAM J. Optim. 20, 2010, add such a phase to each step).
"""

import numpy as np

from ..simplex import tangent_basis
from .quadratic import shortest
from .questions import Place, Questions, conditions, only

NOISE = 1e-10
"""A dual this little below 0, or a constraint broken by no more, is rounding."""

LONGEST = 0.2
"""No step of Newton's is longer: what is that far away has other neighbors on the grid."""

SHORT = 1e-3
"""A step this short goes to where the search is about to end, whichever way the front bends along it."""

FLOOR = 1e-6
"""The smallest curvature of the quadratic model, relative to its largest (or to 1 if that is smaller)."""

DOWNWARD = 0.1
"""The share of a downward bend that counts as an upward one in the model: the way down gets steeper, so a long step will do."""

PROXIMITY = 1e-3
"""The curvature given to the two maxima, which have none of their own; it keeps the model strictly convex and biases nothing."""

TWICE = 1e-13
"""Keeps Newton's system solvable where constraints that bind together say the same thing twice."""


def step(questions: Questions, place: Place, penalty: np.ndarray, fresh: bool) -> tuple[np.ndarray, np.ndarray]:
    """A step from each place along the simplex, and the duals to go on with.

    Newton's step along what binds where that stays the same, and else the minimizer of the convex model.

    Args:
        questions: what is asked at each place.
        place: the places.
        penalty: ρ of each search.
        fresh: whether nothing is known about duals yet.
    """
    if fresh and questions.n_rows > 1:
        v, duals, bent = _convex(questions, place, penalty)
        if duals[:, questions.n_goals : questions.n_rows].any():  # bounds that count bend the Lagrangian, too
            return _model(questions, place._replace(bend=questions.bend(duals, place.bends)), penalty)
        return _as_it_bends(place, v, duals, bent)
    v, duals, kept = _newton(_with(place, _at_sides(place)) if fresh else place)
    if not any(kept.tolist()):  # of a few, a list is asked in a tenth of an array's time
        return _model(questions, place, penalty)
    if not all(kept.tolist()):
        v[~kept], duals[~kept] = _model(questions, only(place, ~kept), penalty[~kept])
    return v, duals


def _at_sides(place: Place) -> np.ndarray:
    """Duals of a single goal without bounds, to begin with: a coordinate that is 0 stays 0 if its slope is above the mean's."""
    slope = place.slopes[:, 0, :-1] @ tangent_basis(place.t.shape[1]).T
    above = slope - (slope * place.t).sum(axis=1, keepdims=True)
    return np.concatenate([place.duals[:, :1], np.where((place.t == 0) & (above > 0), above, 0.0)], axis=1)


def _with(place: Place, duals: np.ndarray) -> Place:
    """The places with other duals; the Lagrangian bends as with the old ones."""
    return place._replace(duals=duals, unmet=conditions(place.slopes, place.excess, duals))


def _newton(place: Place) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Newton's step on ∇L = 0, Σ λ_goals = 1 and 'what binds holds with equality', its duals, and where it can be taken.

    That is where it keeps signs and bounds, is not too long, and does not follow a downward bend.
    """
    k, binding = place.slopes.shape[2], place.duals > 0
    moves = _solve(system(place, binding), place.unmet)
    v, duals = moves[:, : k - 1], place.duals + moves[:, k:]
    ahead = (place.slopes @ moves[:, :k, None])[..., 0] + place.excess
    length = np.abs(v).max(axis=1)
    kept = (length <= LONGEST) & (duals.min(axis=1) >= -NOISE) & (ahead.max(axis=1) <= NOISE)
    if any((length > SHORT).tolist()):
        kept &= (((place.bend @ v[..., None])[..., 0] * v).sum(axis=1) >= 0) | (length <= SHORT)
    return v, np.where(binding, np.maximum(duals, 0.0), 0.0), kept


def _model(questions: Questions, place: Place, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The minimizer of the convex model and its duals; where the front bends otherwise, Newton's step along what binds."""
    return _as_it_bends(place, *_convex(questions, place, penalty))


def _as_it_bends(place: Place, v: np.ndarray, duals: np.ndarray, bent: bool) -> tuple[np.ndarray, np.ndarray]:
    if not bent:
        return v, duals
    exact, counts, kept = _newton(_with(place, duals))
    return np.where(kept[:, None], exact, v), np.where(kept[:, None], counts, duals)


def _convex(questions: Questions, place: Place, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """The minimizer of the convex model, its duals, and whether the front bends otherwise anywhere."""
    sizes, axes = np.linalg.eigh(place.bend)
    upward = np.where(sizes < 0, -DOWNWARD * sizes, sizes)
    convex = np.maximum(upward, FLOOR * np.maximum(upward.max(axis=1, keepdims=True), 1.0))
    root = axes / np.sqrt(convex)[:, None]  # of the inverse of the model's curvature, R Rᵀ
    slopes = place.slopes[..., :-1] @ root
    unit = (penalty[:, None] if questions.n_rows > questions.n_goals else 1.0) / PROXIMITY
    duals = unit * shortest(_distances(questions, place, penalty, slopes, unit))[:, : slopes.shape[1]]
    v = -(root @ (duals[:, None] @ slopes).swapaxes(1, 2))[..., 0]
    return v, duals, any((sizes[:, 0] < convex[:, 0]).tolist())


def _distances(
    questions: Questions, place: Place, penalty: np.ndarray, slopes: np.ndarray, unit: float | np.ndarray
) -> np.ndarray:
    """The model as a search for the shortest vector, in a unit that makes its levels about 1.

    With τ for the largest goal, σ for the largest violation and P for PROXIMITY, ½ vᵀ(R Rᵀ)⁻¹v + τ + ρσ + ½ P(τ² + σ²) is, but
    for a constant, ½ |y|² for y = (R⁻¹v, √P τ + 1/√P, √P σ + ρ/√P).
    """
    n, n_constraints, k = slopes.shape
    n_goals, n_rows = questions.n_goals, questions.n_rows
    bounded = n_rows > n_goals
    result = np.zeros((n, k + 2 + bounded, n_constraints + bounded))
    np.negative(slopes.swapaxes(1, 2), out=result[:, :k, :n_constraints])
    result[:, k, :n_goals] = PROXIMITY**-0.5
    levels = result[:, -1]
    levels[:, :n_constraints] = place.excess
    levels[:, :n_goals] += 1 / PROXIMITY
    if bounded:  # the largest violation counts from what it is now, and is not below 0
        result[:, k + 1, n_goals:n_rows] = result[:, k + 1, -1] = PROXIMITY**-0.5
        room = (penalty / PROXIMITY - place.violation)[:, None]
        levels[:, n_goals:n_rows] += room
        levels[:, -1:] = room
    levels /= unit
    return result


def system(place: Place, binding: np.ndarray) -> np.ndarray:
    """The matrix of Newton's step for (v, τ, duals); the duals of what does not bind stay 0."""
    n, n_constraints, k = place.slopes.shape
    held = place.slopes * binding[..., None]
    matrix = np.zeros((n, k + n_constraints, k + n_constraints))
    matrix[:, : k - 1, : k - 1] = place.bend
    matrix[:, k:, :k] = held
    matrix[:, :k, k:] = np.swapaxes(held, 1, 2)
    matrix.reshape(n, -1)[:, k * (k + n_constraints + 1) :: k + n_constraints + 1] = np.where(binding, -TWICE, -1.0)
    return matrix


def _solve(matrix: np.ndarray, unmet: np.ndarray) -> np.ndarray:
    """What to move by, so that nothing is unmet."""
    try:
        return np.linalg.solve(matrix, -unmet[..., None])[..., 0]
    except np.linalg.LinAlgError:  # a front that is flat along what binds has no single answer
        return np.stack([np.linalg.lstsq(one, -side, rcond=1e-13)[0] for one, side in zip(matrix, unmet, strict=True)])
