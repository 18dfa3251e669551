"""What an atlas is made of: points of its patches that no other point beats, and the pieces that
they form."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ..simplex import kronecker
from .patches import ROUNDING, SIGN, Patch, ask_patch, ask_patches, centered, variables

MOST_POINTS = 4000
"""About how many places of all patches are looked at."""

LEAST_POINTS = {0: 1, 1: 20, 2: 40}
"""Of one patch, by its dimension; 60 from three dimensions on."""

BEATEN = 1e-4
"""A point is not part of the set if another one is as good in all objectives and better in one by
this much of its range."""

MEETING = 1e-3
"""Patches meet where both nearly hold and their objectives differ by less."""


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
    f: Float[np.ndarray, "n n_objectives"]


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
    """

    patches: tuple[int, ...]
    dimension: int
    objectives: Bool[np.ndarray, " n_objectives"]
    side: Int[np.ndarray, " n_free"]
    constraints: Bool[np.ndarray, " n_constraints"]
    meets: tuple[int, ...]
    face: bool


def points_of_patches(patches: Sequence[Patch], box: tuple[np.ndarray, np.ndarray]) -> PatchPoints:
    """Evenly spread points of all patches that are valid and that no other patch or point beats."""
    if not patches:
        raise ValueError("an atlas needs at least one patch")
    numbers, coordinates, designs, fronts = [], [], [], []
    widest = max(patch.label.dimension for patch in patches)
    for number, patch in enumerate(patches):
        c = places(
            patch, max(MOST_POINTS // len(patches), LEAST_POINTS.get(patch.label.dimension, 60))
        )
        y = patch(c)
        # Patches are fitted a little beyond their regions: only what their own signs allow counts.
        valid = (patch.label.signs(y, box) > -ROUNDING).all(axis=1)
        c, y = c[valid], y[valid]
        numbers.append(np.full(len(c), number))
        coordinates.append(np.pad(c, ((0, 0), (0, widest - c.shape[1]))))
        designs.append(variables(patch.label, y, box))
        fronts.append(patch.label.values(y, c))
    found = PatchPoints(*(np.concatenate(part) for part in (numbers, coordinates, designs, fronts)))
    keep = ~_beaten(patches, found, box)
    return PatchPoints(found.patch[keep], found.c[keep], found.z[keep], found.f[keep])


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


def _beaten(
    patches: Sequence[Patch], points: PatchPoints, box: tuple[np.ndarray, np.ndarray]
) -> Bool[np.ndarray, " n"]:
    """Whether a patch has a lower answer above the same chart point, or another point dominates."""
    a = centered(points.f)
    claims = ask_patches(patches, a, box)
    s = claims.y[:, len(box[0])]
    undercut = (claims.sign > -SIGN) & (s < points.f.mean(axis=1) - BEATEN)
    rest = points.f[~undercut]
    beaten = undercut.copy()
    if len(rest):
        beaten[~undercut] = dominated(rest, rest)
    return beaten


def dominated(
    f: Float[np.ndarray, "n n_objectives"], others: Float[np.ndarray, "m n_objectives"]
) -> Bool[np.ndarray, " n"]:
    """Which points have another one that is at least as good up to rounding, and better in an
    objective by `BEATEN`."""
    out = np.zeros(len(f), dtype=bool)
    columns = np.ascontiguousarray(others.T)
    for start in range(0, len(f), 200):
        mine = f[start : start + 200]
        # Objective by objective, so that no table has a third axis.
        good = np.ones((len(mine), len(others)), dtype=bool)
        better = np.zeros_like(good)
        for m, column in enumerate(columns):
            good &= column <= mine[:, m, None] + 1e-7
            better |= column < mine[:, m, None] - BEATEN
        out[start : start + 200] = np.any(good & better, axis=1)
    return out


def find_pieces(
    patches: Sequence[Patch],
    points: PatchPoints,
    box: tuple[np.ndarray, np.ndarray],
    n_auxiliary: int = 0,
) -> tuple[Piece, ...]:
    """The regions that have points of the set, those of one label that touch as one piece.

    One is a face if its points lie on regions of higher dimension, or on earlier ones. The last
    `n_auxiliary` variables are left out of their sides.
    """
    touch = _touching(patches, points, box)
    groups = _joined(patches, points, touch)
    # Higher dimensions first: a face is then always behind the piece that it is a face of.
    groups.sort(key=lambda group: (-patches[group[0]].label.dimension, int(group[0])))
    pieces = []
    for i, group in enumerate(groups):
        label = patches[group[0]].label
        meets = tuple(
            j for j, other in enumerate(groups) if j != i and touch[np.ix_(group, other)].any()
        )
        above = [
            int(k)
            for j in meets
            for k in groups[j]
            if (patches[k].label.dimension, i) > (label.dimension, j)
        ]
        numbers = tuple(int(number) for number in group)
        face = bool(above) and _covered(patches, points, numbers, above, box)
        side = label.side[: len(label.side) - n_auxiliary]
        pieces.append(
            Piece(numbers, label.dimension, label.objectives, side, label.constraints, meets, face)
        )
    return tuple(pieces)


def _joined(
    patches: Sequence[Patch], points: PatchPoints, touch: Bool[np.ndarray, "n n"]
) -> list[Int[np.ndarray, " k"]]:
    """The patches of each piece: those of a region, and of regions with the same label that
    touch."""
    groups: list[np.ndarray] = []
    used = np.unique(points.patch)
    regions = np.array([patches[number].region for number in used])
    for region in np.unique(regions):
        mine, rest = used[regions == region], []
        for other in groups:
            same = (
                patches[other[0]].label.key == patches[mine[0]].label.key
                and touch[np.ix_(mine, other)].any()
            )
            if same:
                mine = np.concatenate([other, mine])
            else:
                rest.append(other)
        groups = [*rest, np.sort(mine)]
    return groups


def _agree(
    patch: Patch, f: np.ndarray, box: tuple[np.ndarray, np.ndarray]
) -> Bool[np.ndarray, " n"]:
    """At which points of the front a patch nearly holds with the same objectives."""
    out = np.zeros(len(f), dtype=bool)
    y, sign, rows = ask_patch(patch, centered(f), box)
    if len(rows):
        L = len(box[0])
        c, mean = patch.label.coordinates(centered(f)[rows])
        y[:, L] += mean
        out[rows] = (sign > -MEETING) & (
            np.abs(patch.label.values(y, c) - f[rows]).max(axis=1) < MEETING
        )
    return out


def _touching(
    patches: Sequence[Patch], points: PatchPoints, box: tuple[np.ndarray, np.ndarray]
) -> Bool[np.ndarray, "n n"]:
    touch = np.zeros((len(patches), len(patches)), dtype=bool)
    for number, patch in enumerate(patches):
        agree = _agree(patch, points.f, box) | _near(points, [number], points.f)
        touch[number, np.unique(points.patch[agree])] = True
    return touch | touch.T


def _covered(
    patches: Sequence[Patch],
    points: PatchPoints,
    group: tuple[int, ...],
    above: list[int],
    box: tuple[np.ndarray, np.ndarray],
) -> bool:
    """Whether most points of a group lie on patches above."""
    f = points.f[np.isin(points.patch, group)]
    return bool(
        np.mean(
            np.any([_near(points, above, f), *(_agree(patches[k], f, box) for k in above)], axis=0)
        )
        > 0.5
    )


def _near(
    points: PatchPoints, numbers: list[int], f: Float[np.ndarray, "n n_objectives"]
) -> Bool[np.ndarray, " n"]:
    """Which points of the front are next to a point of these patches: a patch may end a little
    before its neighbor begins."""
    from scipy.spatial import KDTree

    known = points.f[np.isin(points.patch, numbers)]
    return (
        np.asarray(KDTree(known).query(f)[0] < MEETING)
        if len(known)
        else np.zeros(len(f), dtype=bool)
    )
