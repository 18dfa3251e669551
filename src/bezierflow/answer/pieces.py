"""What an atlas is made of: points of its patches that no other point beats, and the pieces that
they form."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ..simplex import kronecker
from .patches import (
    Box,
    Chart,
    Patch,
    ask_patch,
    ask_patches,
    centered,
    variables,
)
from .schedule import SCHEDULE

Choice = tuple[tuple[int, float], ...]
"""Variables with their values."""


@dataclass(frozen=True)
class PatchPoints:
    """Points of the set on its patches.

    Attributes:
        patch: the number of the patch that each is on.
        c: their coordinates there, padded with zeros.
        z: scaled variables.
        f: scaled objectives.
    """

    patch: Int[np.ndarray, " n"]
    c: Float[np.ndarray, "n dimension"]
    z: Float[np.ndarray, "n n_free"]
    f: Chart


@dataclass(frozen=True)
class Piece:
    """A connected part of the set on which the same things are active.

    Attributes:
        patches: the numbers of its patches.
        dimension: 2 for a surface, 1 for a curve, 0 for a point.
        objectives: which objectives it trades off against each other.
        side: −1 for variables at their lower bound, 1 at the upper, 0 for free ones.
        constraints: which constraints are active. Where kinks were lifted their rows come after the
            inequalities: two for each absolute value, both active where its argument is 0.
        meets: the numbers of the pieces that it touches.
        face: whether it is only an edge or a corner of a piece of higher dimension, or the same
            points as an earlier piece.
        choice: the variables that are not continuous, each with the value that it has on the piece.
    """

    patches: tuple[int, ...]
    dimension: int
    objectives: Bool[np.ndarray, " n_objectives"]
    side: Int[np.ndarray, " n_free"]
    constraints: Bool[np.ndarray, " n_constraints"]
    meets: tuple[int, ...]
    face: bool
    choice: Choice = ()


def points_of_patches(patches: Sequence[Patch], box: Box) -> PatchPoints:
    """Evenly spread points of all patches that are valid and that no other patch or point beats: as
    many are looked at on each where they are regions, by their sizes where they are cells of a
    mesh."""
    if not patches:
        raise ValueError("an atlas needs at least one patch")
    widest, most = max(patch.label.dimension for patch in patches), SCHEDULE.patch_points
    sizes = [np.prod(np.ptp(one.corners, axis=0)) * (one.label.dimension > 0) for one in patches]
    whole, rows = max(float(np.sum(sizes)), 1e-300), []
    for number, (patch, size) in enumerate(zip(patches, sizes, strict=True)):
        label, d = patch.label, patch.label.dimension
        share = max(int(most * size / whole), d * SCHEDULE.cell_points, 1)
        if label.trimmed:
            share = max(most // len(patches), SCHEDULE.region_points[min(d, 3)])
        c = places(patch, share)
        y = patch(c)
        # Patches are fitted a little beyond their regions: only what their own signs allow counts.
        valid = (label.signs(y, box) > -SCHEDULE.rounding).all(axis=1)
        c, y = c[valid], y[valid]
        on_patch = np.full(len(c), number), np.pad(c, ((0, 0), (0, widest - d)))
        rows.append((*on_patch, variables(label, y, box), label.values(y, c)))
    parts = [np.concatenate(part) for part in zip(*rows, strict=True)]
    f = parts[3]
    claims = ask_patches(patches, centered(f), box)
    # Another patch may have a lower answer above the same chart point.
    undercut = (claims.sign > -SCHEDULE.nearly) & (
        claims.y[:, len(box[0])] < f.mean(axis=1) - SCHEDULE.beaten
    )
    parts = [part[~undercut] for part in parts]
    keep = ~dominated(parts[3])
    return PatchPoints(*(part[keep] for part in parts))


def places(patch: Patch, n: int) -> Float[np.ndarray, "n_places dimension"]:
    """Coordinates spread over the domain of a patch."""
    d = patch.label.dimension
    if d == 0:
        return np.zeros((1, 0))
    if d == 1:
        ends = patch.domain[:, 1] / patch.domain[:, 0]
        low, high = ends[patch.domain[:, 0] < 0].max(), ends[patch.domain[:, 0] > 0].min()
        return np.linspace(low, high, n)[:, None] if high > low else np.zeros((0, 1))
    low, high = patch.corners.min(axis=0), patch.corners.max(axis=0)
    # A simplex fills 1/d! of its box, and the domain less: eight times as many candidates.
    c = low + (high - low) * kronecker(8 * n, d)
    return c[patch.inside(c)][:n]


def dominated(f: Chart) -> Bool[np.ndarray, " n"]:
    """Which points have another one that is at least as good up to rounding, and better in an
    objective by `SCHEDULE.beaten`."""
    out, columns = np.zeros(len(f), dtype=bool), np.ascontiguousarray(f.T)
    for start in range(0, len(f), 200):
        mine = f[start : start + 200]
        # Objective by objective, so that no table has a third axis.
        good = np.ones((len(mine), len(f)), dtype=bool)
        better = np.zeros_like(good)
        for m, column in enumerate(columns):
            good &= column <= mine[:, m, None] + 1e-7
            better |= column < mine[:, m, None] - SCHEDULE.beaten
        out[start : start + 200] = np.any(good & better, axis=1)
    return out


def find_pieces(
    patches: Sequence[Patch],
    points: PatchPoints,
    box: Box,
    chosen: Sequence[Choice],
    n_auxiliary: int = 0,
) -> tuple[Piece, ...]:
    """The regions that have points of the set, those of one label and choice that touch as one
    piece.

    One is a face if its points lie on regions of higher dimension, or on earlier ones. `chosen` is
    the choice of each patch. The last `n_auxiliary` variables are left out of their sides.
    """
    touch = _touching(patches, points, box)
    keys = [(patch.label.key, choice) for patch, choice in zip(patches, chosen, strict=True)]
    groups = _joined(patches, keys, points, touch)
    own = np.full(len(patches), -1)
    for i, group in enumerate(groups):
        own[group] = i
    one, other = own[np.array(np.nonzero(touch))]
    beside = np.zeros((len(groups) + 1, len(groups) + 1), dtype=bool)  # the last: of no piece
    beside[one, other] = True
    np.fill_diagonal(beside, False)
    pieces = []
    for i, group in enumerate(groups):
        label = patches[group[0]].label
        meets = tuple(np.flatnonzero(beside[i, :-1]).tolist())
        above = [
            int(k)
            for j in meets
            for k in groups[j]
            if (patches[k].label.dimension, i) > (label.dimension, j)
        ]
        face = bool(above) and _is_face(patches, points, group, above, box)
        side = label.side[: len(label.side) - n_auxiliary]
        numbers = tuple(int(number) for number in group)
        active = label.objectives, side, label.constraints
        pieces.append(Piece(numbers, label.dimension, *active, meets, face, chosen[int(group[0])]))
    return tuple(pieces)


def _touching(
    patches: Sequence[Patch], points: PatchPoints, box: Box
) -> Bool[np.ndarray, "n_patches n_patches"]:
    """Which patches have points next to each other, or nearly hold at points of each other."""
    from scipy.spatial import KDTree

    touch = np.zeros((len(patches), len(patches)), dtype=bool)
    near = KDTree(points.f).query_pairs(SCHEDULE.patch_error, output_type="ndarray")
    touch[points.patch[near[:, 0]], points.patch[near[:, 1]]] = True
    touch[points.patch, points.patch] = True
    for number, patch in enumerate(patches):
        # Cells of a mesh share their ends with their neighbors, and hold nowhere else.
        if patch.label.trimmed:
            on = _holds(patch, points.f, box)
            touch[number, np.unique(points.patch[on])] = True
    return touch | touch.T


def _holds(patch: Patch, f: Chart, box: Box) -> Bool[np.ndarray, " n"]:
    """At which points of the front a patch nearly holds with the same objectives."""
    on, a, L = np.zeros(len(f), dtype=bool), centered(f), len(box[0])
    y, sign, rows = ask_patch(patch, a, box)
    c, mean = patch.label.coordinates(a[rows])
    y[:, L] += mean
    off = np.abs(patch.label.values(y, c) - f[rows]).max(axis=1)
    on[rows] = (sign > -SCHEDULE.patch_error) & (off < SCHEDULE.patch_error)
    return on


def _joined(
    patches: Sequence[Patch],
    keys: Sequence[tuple[bytes, Choice]],
    points: PatchPoints,
    touch: Bool[np.ndarray, "n n"],
) -> list[Int[np.ndarray, " k"]]:
    """The patches of each piece: those of a region, and of regions with the same key that touch.

    Higher dimensions come first, then larger parts: a face is always behind the piece that it is a
    face of, and a part of a curve behind the whole.
    """
    groups: list[np.ndarray] = []
    used = np.unique(points.patch)
    regions = np.array([patches[number].region for number in used])
    for region in np.unique(regions):
        mine, rest = used[regions == region], []
        for other in groups:
            same = keys[other[0]] == keys[mine[0]]
            if same and touch[np.ix_(mine, other)].any():
                mine = np.concatenate([other, mine])
            else:
                rest.append(other)
        groups = [*rest, np.sort(mine)]

    def rank(group: np.ndarray) -> tuple[int, int, int]:
        size = int(np.isin(points.patch, group).sum())
        return -patches[group[0]].label.dimension, -size, int(group[0])

    return sorted(groups, key=rank)


def _is_face(
    patches: Sequence[Patch],
    points: PatchPoints,
    group: Int[np.ndarray, " k"],
    above: list[int],
    box: Box,
) -> bool:
    """Whether most points of some patches lie on others: one of these nearly holds there with the
    same objectives, or has a point next to it; or they share most of their nodes."""
    from scipy.spatial import KDTree

    # Between nodes, the rim of a mesh is beside its cells.
    nodes: list[list[np.ndarray]] = [
        [
            cell.front(places(cell, 2) if cell.label.dimension == 1 else cell.corners)
            for cell in (patches[k] for k in numbers)
            if not cell.label.trimmed
        ]
        for numbers in (group, above)
    ]
    if all(nodes):
        mine, theirs = map(np.concatenate, nodes)
        if np.mean(KDTree(theirs).query(mine)[0] < SCHEDULE.rounding) > 0.5:
            return True
    f = points.f[np.isin(points.patch, group)]
    f = f[np.linspace(0, len(f) - 1, min(len(f), SCHEDULE.compared)).astype(int)]
    on = np.zeros(len(f), dtype=bool)
    # A patch may end a little before its neighbor begins.
    known = points.f[np.isin(points.patch, above)]
    if len(known):
        on |= KDTree(known).query(f)[0] < SCHEDULE.patch_error
    for number in above:
        if np.mean(on) > 0.5:
            break
        on |= _holds(patches[number], f, box)
    return bool(np.mean(on) > 0.5)
