"""Surfaces, from their control points or from values at hand: smooth nets, tangents, folds, gaps,
dominated parts, and where to look at them. Nothing here is evaluated."""

from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
from jaxtyping import Float

from ..bezier import design_matrix, partial_derivatives, surface_tangents
from ..precision import ROUNDING
from ..simplex import (
    faces,
    from_cube,
    grid,
    index_positions,
    kronecker,
    largest_degree_within,
    lobatto_nodes,
    multi_indices,
    tangent_basis,
)
from .schedule import USUAL


def fill_inside(
    control_points: Float[np.ndarray, "n_controls n_variables"], n_objectives: int, degree: int
) -> Float[np.ndarray, "n_controls n_variables"]:
    """The smoothest net with these edges: control points off the edges are replaced, for least
    squares of p_{d+2e_i} − 2p_{d+e_i+e_j} + p_{d+2e_j}.

    For a flat net with evenly spread edges this is exactly the flat net.
    """
    if degree < 3:
        return control_points
    outer, inner, matrix = _filling(n_objectives, degree)
    filled = control_points.copy()
    filled[inner] = matrix @ control_points[outer]
    return filled


@lru_cache(maxsize=64)
def _filling(n_objectives: int, degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which control points lie on edges, which do not, and the matrix that gives the latter from
    the former."""
    indices = multi_indices(n_objectives, degree)
    outer = np.flatnonzero((indices > 0).sum(axis=1) <= 2)
    inner = np.flatnonzero((indices > 0).sum(axis=1) > 2)
    below = multi_indices(n_objectives, degree - 2)
    unit = np.eye(n_objectives, dtype=np.int64)
    blocks = []
    for i, j in combinations(range(n_objectives), 2):
        rows = np.zeros((len(below), len(indices)))
        for shift, coefficient in (
            (2 * unit[i], 1.0),
            (unit[i] + unit[j], -2.0),
            (2 * unit[j], 1.0),
        ):
            rows[np.arange(len(below)), index_positions(below + shift)] += coefficient
        blocks.append(rows)
    differences = np.concatenate(blocks)
    matrix = -np.linalg.lstsq(differences[:, inner], differences[:, outer], rcond=None)[0]
    return outer, inner, matrix


def face_tangents(
    control_points: Float[np.ndarray, "n_controls n_variables"],
    t: Float[np.ndarray, "n n_objectives"],
    degree: int,
    n_tangents: int,
) -> Float[np.ndarray, "n n_variables n_tangents"]:
    """Orthonormal tangents at t of the surface over the smallest face with t in it; zero columns
    where it has fewer."""
    members = t > 0
    slopes = np.swapaxes(partial_derivatives(control_points, t, degree), 1, 2)
    size = members.sum(axis=1)
    # directions within the face have components that sum to 0, so only differences count
    mean = np.einsum("nlm,nm->nl", slopes, members) / size[:, None]
    columns, _, _ = np.linalg.svd(
        (slopes - mean[:, :, None]) * members[:, None, :], full_matrices=False
    )
    missing = max(n_tangents - columns.shape[2], 0)
    columns = np.pad(columns, ((0, 0), (0, 0), (0, missing)))[:, :, :n_tangents]
    return columns * (np.arange(n_tangents) < size[:, None] - 1)[:, None, :]


@lru_cache(maxsize=16)
def _fine_grid(n_objectives: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of the simplex that crowd towards its sides (a surface mostly folds there), and pairs
    of neighbors among them."""
    resolution = int(np.clip(largest_degree_within(n_objectives, USUAL.fold_grid), 2, 200))
    squares = grid(n_objectives, resolution) ** 2
    indices = multi_indices(n_objectives, resolution)
    unit, pairs = np.eye(n_objectives, dtype=np.int64), []
    for i, j in permutations(range(n_objectives), 2):
        rows = np.flatnonzero(indices[:, j] > 0)
        pairs.append(np.stack([rows, index_positions(indices[rows] + unit[i] - unit[j])], axis=1))
    return squares / squares.sum(axis=1, keepdims=True), np.concatenate(pairs)


def fold_points(
    control_points: Float[np.ndarray, "n_controls n_variables"],
    n_objectives: int,
    degree: int,
    most: int,
) -> Float[np.ndarray, "n n_objectives"]:
    """At most so many t next to where the surface turns back on itself; none without folds.

    Between neighbors the tangent frames J must not change sides: det(J_iᵀ J_j), the product of
    their volumes and of the cosine between them, is positive unless a fold lies between.
    """
    if n_objectives < 2 or control_points.shape[1] < n_objectives - 1:
        return np.zeros((0, n_objectives))
    t, pairs = _fine_grid(n_objectives)
    if control_points.shape[1] > len(control_points):
        # Only inner products count, and those are kept by coordinates in the span of the control
        # points.
        control_points = np.asarray(np.linalg.qr(control_points.T, mode="r")).T
    frames = surface_tangents(control_points, t, degree)
    turned = np.linalg.det(np.swapaxes(frames[pairs[:, 0]], 1, 2) @ frames[pairs[:, 1]]) < 0
    rows = np.unique(pairs[turned])
    rows = rows[t[rows].max(axis=1) < 1]  # corners are where they are
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(int)]
    return t[rows]


def fold_fraction(gradients: np.ndarray, tangents: np.ndarray, multipliers: np.ndarray) -> float:
    """The share of inner t where the surface runs backwards, against the majority; 0 where it
    cannot be told.

    The front's tangents ĝ_m · ∂b/∂t_k and its normal w make a matrix whose determinant keeps its
    sign as long as the front is traced without a fold.
    """
    n, n_objectives, n_variables = gradients.shape
    if n == 0 or n_objectives < 2 or n_variables < n_objectives - 1:
        return 0.0
    directions = gradients / np.maximum(np.linalg.norm(gradients, axis=2, keepdims=True), 1e-300)
    columns = np.concatenate([directions @ tangents, multipliers[:, :, None]], axis=2)
    columns = columns / np.maximum(np.linalg.norm(columns, axis=1, keepdims=True), 1e-300)
    determinant = np.linalg.det(columns)
    clear = np.abs(determinant) > USUAL.clear
    # which sign is forward is not known: the majority is taken for it
    positive = float(np.mean(determinant[clear] > 0)) if clear.any() else 1.0
    return min(positive, 1 - positive)


def largest_gap(control_points: np.ndarray, n_objectives: int, degree: int, n: int = 65) -> float:
    """The largest jump between neighbors on a grid of n points on each edge, over that edge's
    median jump."""
    worst, line = 1.0, np.linspace(0, 1, n)
    for i, j in combinations(range(n_objectives), 2):
        t = np.zeros((n, n_objectives))
        t[:, i], t[:, j] = 1 - line, line
        jump = np.linalg.norm(np.diff(design_matrix(t, degree) @ control_points, axis=0), axis=1)
        if jump.max() > 0:
            worst = max(worst, float(jump.max() / max(np.median(jump), 1e-300)))
    return worst


def dominated_rows(values: np.ndarray) -> np.ndarray:
    """Which points another one beats in every objective by more than a thousandth of its range;
    none that is not finite."""
    usable = np.isfinite(values).all(axis=1)
    dominated, values = np.zeros(len(values), dtype=bool), values[usable]
    if len(values):
        below = values - USUAL.clear * np.ptp(values, axis=0) - rounding_of(values)
        dominated[usable] = np.all(values[None, :, :] < below[:, None, :], axis=2).any(axis=1)
    return dominated


def weakly_pareto_vertices(values: np.ndarray, n_objectives: int) -> np.ndarray:
    """Which corners m (the first rows) another point equals in f_m and clearly beats in every other
    objective."""
    span, own = np.ptp(values, axis=0), values[:n_objectives]
    others = ~np.eye(n_objectives, dtype=bool)
    equal = np.abs(values[None, :, :] - own[:, None, :]) <= ROUNDING * span
    below = own - USUAL.flagged * span - rounding_of(values)
    better = values[None, :, :] < below[:, None, :]
    return np.all(np.where(others[:, None, :], better, equal), axis=2).any(axis=1)


ROUNDINGS = 64
"""So many roundings of its values are no difference of an objective."""


def rounding_of(values: np.ndarray) -> np.ndarray:
    """Differences of an objective below this are rounding."""
    size = np.abs(np.where(np.isfinite(values), values, 0.0)).max(axis=0, initial=0.0)
    return ROUNDINGS * np.finfo(float).eps * size


@lru_cache(maxsize=64)
def inner_nodes(n_objectives: int, order: int) -> np.ndarray:
    """The Lobatto nodes of this order inside an edge, or on no edge: three or more objectives take
    part.

    For many objectives the order is lowered until they can be laid out, and then a choice of them
    is taken, another for each order asked for.
    """
    largest = max(3, largest_degree_within(n_objectives, USUAL.candidates * USUAL.most_nodes))
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
    if len(proper) > USUAL.samples:
        chosen = rng.choice(len(proper), USUAL.samples, replace=False)
        proper = [proper[i] for i in sorted(chosen)]
    each = max(2, n // (2 * len(proper))) if proper else 0
    inside = max(n - each * len(proper), n // 4, 1)
    parts = []
    for face, n_points in [(tuple(range(n_objectives)), inside), *((one, each) for one in proper)]:
        t = np.zeros((USUAL.candidates * n_points, n_objectives))
        # evenly spread under a random shift: `low_discrepancy` without compiling
        d = len(face) - 1
        t[:, face] = np.asarray(from_cube((kronecker(len(t), d) + rng.random(d)) % 1))
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
    pairs = list(permutations(range(n_objectives), 2))[: 2 * USUAL.samples]
    pairs = np.array(pairs, dtype=int).reshape(-1, 2)
    rows, near = np.arange(len(pairs)), []
    for distance in USUAL.near_corners:
        t = np.zeros((len(pairs), n_objectives))
        share = distance * np.exp(rng.uniform(-0.5, 0.5, len(pairs)))
        t[rows, pairs[:, 0]], t[rows, pairs[:, 1]] = 1 - share, share
        near.append(t)
    return np.concatenate([*near, fold_points(control_points, n_objectives, degree, most)])
