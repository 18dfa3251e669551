"""Where a surface is looked at: nodes of a round, and held-out t that no fit ever sees."""

from functools import lru_cache
from itertools import permutations

import numpy as np
from jaxtyping import Float

from ..bezier import surface_tangents
from ..simplex import faces, kronecker, largest_degree_within, lobatto_nodes, tangent_basis
from .schedule import USUAL
from .shape import fold_points


def largest_degree(n_objectives: int) -> int:
    """The default of max_degree: as high as pays for few objectives, and as the number of control
    points allows for many."""
    known = USUAL.largest_degrees
    if n_objectives <= len(known):
        return known[n_objectives - 1]
    return max(2, largest_degree_within(n_objectives, USUAL.most_controls))


@lru_cache(maxsize=64)
def inner_nodes(n_objectives: int, order: int) -> np.ndarray:
    """The Lobatto nodes of this order inside an edge, or on no edge: three or more objectives take
    part.

    For many objectives the order is lowered until they can be laid out, and then a choice of them
    is taken, another for each order asked for.
    """
    largest = max(3, largest_degree_within(n_objectives, USUAL.node_set))
    t = lobatto_nodes(n_objectives, min(order, largest) if n_objectives > 2 else order).t
    t = t[(t > 0).sum(axis=1) > min(2, n_objectives - 1)]
    if len(t) <= USUAL.most_nodes:
        return t
    chosen = np.random.default_rng(order).choice(len(t), USUAL.most_nodes, replace=False)
    return t[np.sort(chosen)]


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
    proper: list[tuple[int, ...]] = []
    for size in range(2, n_objectives):
        if n_objectives <= 10:
            proper += faces(n_objectives, size)
        else:  # 2^M faces are too many to list
            drawn = (rng.choice(n_objectives, size, replace=False) for _ in range(2 * n_objectives))
            proper += sorted({tuple(sorted(face.tolist())) for face in drawn})
    if len(proper) > USUAL.most_faces:
        chosen = rng.choice(len(proper), USUAL.most_faces, replace=False)
        proper = [proper[i] for i in sorted(chosen)]
    each = max(2, n // (2 * len(proper))) if proper else 0
    inside = max(n - each * len(proper), n // 4, 1)
    parts = []
    for face, n_points in [(tuple(range(n_objectives)), inside), *((one, each) for one in proper)]:
        t = np.zeros((USUAL.candidates * n_points, n_objectives))
        t[:, face] = _spread(len(t), len(face), rng)
        tangents = surface_tangents(control_points, t, degree)
        within = np.zeros((n_objectives, len(face) - 1))
        within[face, :] = tangent_basis(len(face))
        along = tangents @ (tangent_basis(n_objectives).T @ within)
        area = np.prod(np.linalg.svd(along, compute_uv=False), axis=1)
        usable = np.isfinite(area).all() and area.sum() > 0
        share = area / area.sum() if usable else np.full(len(t), 1 / len(t))
        cumulative = np.cumsum(0.5 * share + 0.5 / len(t))
        # Systematic sampling: one uniform number places all marks, so the points stay evenly
        # spread.
        marks = (np.arange(n_points) + rng.random()) / n_points
        rows = np.searchsorted(cumulative / cumulative[-1], marks)
        parts.append(t[np.minimum(rows, len(t) - 1)])
    return np.concatenate(parts)


def suspect_points(
    control_points: Float[np.ndarray, "n_controls n_variables"],
    n_objectives: int,
    degree: int,
    most: int,
    seed: int,
) -> Float[np.ndarray, "n n_objectives"]:
    """Points close to the ends of every edge, and next to folds where there are any.

    These go wrong first and are small in t: a surface that runs past its corner and back covers
    little t in doing so.
    """
    rng = np.random.default_rng(seed)
    pairs = list(permutations(range(n_objectives), 2))[: 2 * USUAL.most_faces]
    pairs = np.array(pairs, dtype=int).reshape(-1, 2)
    rows, near = np.arange(len(pairs)), []
    for distance in USUAL.near_corners:
        t = np.zeros((len(pairs), n_objectives))
        share = distance * np.exp(rng.uniform(-0.5, 0.5, len(pairs)))
        t[rows, pairs[:, 0]], t[rows, pairs[:, 1]] = 1 - share, share
        near.append(t)
    return np.concatenate([*near, fold_points(control_points, n_objectives, degree, most)])


def _spread(n: int, n_objectives: int, rng: np.random.Generator) -> np.ndarray:
    """Evenly spread points of the simplex under a random shift: `low_discrepancy` without
    compiling."""
    cube = (kronecker(n, n_objectives - 1) + rng.random(n_objectives - 1)) % 1.0
    left_over = (1 - cube) ** (1 / np.arange(n_objectives - 1, 0, -1))
    remaining = np.column_stack([np.ones(n), np.cumprod(left_over, axis=1)])
    return np.column_stack([remaining[:, :-1] * (1 - left_over), remaining[:, -1]])
