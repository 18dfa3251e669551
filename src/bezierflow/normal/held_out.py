"""Held-out points: t a fit never saw, inside the simplex and on every face, spread over the surface
and not over t alone."""

from itertools import permutations

import numpy as np
from jaxtyping import Float

from ..bezier import surface_tangents
from ..simplex import faces, kronecker, tangent_basis
from .folds import fold_points

CANDIDATES = 8
"""Candidates for each point that is kept."""

MOST_FACES = 200
"""Beyond this many faces (from M = 8 on) a random choice of them is looked at."""


def held_out_points(
    control_points: Float[np.ndarray, "n_controls n_variables"],
    n_objectives: int,
    degree: int,
    n: int,
    seed: int,
) -> Float[np.ndarray, "n n_objectives"]:
    """About n points: half of them inside the simplex, the others shared by the faces of dimension
    1 and more.

    On each face, half of the points are uniform in t and half in proportion to the area that the
    surface covers there: where the surface rushes from one place to another it is looked at as
    closely as where it lingers.
    """
    rng = np.random.default_rng(seed)
    proper = [
        face for size in range(2, n_objectives) for face in _some_faces(n_objectives, size, rng)
    ]
    if len(proper) > MOST_FACES:
        proper = [proper[i] for i in sorted(rng.choice(len(proper), MOST_FACES, replace=False))]
    each = max(2, n // (2 * len(proper))) if proper else 0
    inside = max(n - each * len(proper), n // 4, 1)
    parts = [
        _on_face(control_points, tuple(range(n_objectives)), n_objectives, degree, inside, rng)
    ]
    parts += [_on_face(control_points, face, n_objectives, degree, each, rng) for face in proper]
    return np.concatenate(parts)


def suspect_points(
    control_points: Float[np.ndarray, "n_controls n_variables"],
    n_objectives: int,
    degree: int,
    most: int,
    seed: int,
) -> Float[np.ndarray, "n n_objectives"]:
    """Points close to the corners, and next to folds where there are any: places that go wrong
    first and are small in t."""
    near = _near_corners(n_objectives, np.random.default_rng(seed))
    return np.concatenate([near, fold_points(control_points, n_objectives, degree, most)])


def _near_corners(n_objectives: int, rng: np.random.Generator) -> np.ndarray:
    """Two points close to each end of every edge: a surface that runs past its corner and back
    covers little t in doing so."""
    pairs = list(permutations(range(n_objectives), 2))[: 2 * MOST_FACES]
    rows = np.arange(len(pairs))
    near = []
    for distance in (0.005, 0.02):
        t = np.zeros((len(pairs), n_objectives))
        share = distance * np.exp(rng.uniform(-0.5, 0.5, len(pairs)))
        t[rows, [i for i, _ in pairs]], t[rows, [j for _, j in pairs]] = 1 - share, share
        near.append(t)
    return np.concatenate(near)


def _some_faces(n_objectives: int, size: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    if n_objectives <= 10:
        return list(faces(n_objectives, size))
    drawn = {
        tuple(sorted(rng.choice(n_objectives, size, replace=False).tolist()))
        for _ in range(2 * n_objectives)
    }
    return sorted(drawn)


def spread(n: int, n_objectives: int, rng: np.random.Generator) -> np.ndarray:
    """Evenly spread points, n of them, of the simplex under a random shift: `low_discrepancy`
    without compiling."""
    cube = (kronecker(n, n_objectives - 1) + rng.random(n_objectives - 1)) % 1.0
    left_over = (1 - cube) ** (1 / np.arange(n_objectives - 1, 0, -1))
    remaining = np.column_stack([np.ones(n), np.cumprod(left_over, axis=1)])
    return np.column_stack([remaining[:, :-1] * (1 - left_over), remaining[:, -1]])


def _on_face(
    control_points: np.ndarray,
    face: tuple[int, ...],
    n_objectives: int,
    degree: int,
    n: int,
    rng: np.random.Generator,
) -> np.ndarray:
    inner = spread(CANDIDATES * n, len(face), rng)
    t = np.zeros((len(inner), n_objectives))
    t[:, face] = inner
    area = _area(control_points, t, face, degree)
    share = (
        area / area.sum()
        if np.isfinite(area).all() and area.sum() > 0
        else np.full(len(t), 1 / len(t))
    )
    cumulative = np.cumsum(0.5 * share + 0.5 / len(t))
    # Systematic sampling: one uniform number places all n marks, so the points stay evenly spread.
    marks = (np.arange(n) + rng.random()) / n
    return t[np.minimum(np.searchsorted(cumulative / cumulative[-1], marks), len(t) - 1)]


def _area(
    control_points: np.ndarray, t: np.ndarray, face: tuple[int, ...], degree: int
) -> np.ndarray:
    """The area element of the surface over the face at t."""
    tangents = surface_tangents(control_points, t, degree)
    within = np.zeros((t.shape[1], len(face) - 1))
    within[face, :] = tangent_basis(len(face))
    directions = tangents @ (tangent_basis(t.shape[1]).T @ within)
    return np.prod(np.linalg.svd(directions, compute_uv=False), axis=1)
