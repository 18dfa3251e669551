"""Is a better point known? Values at points spread over boxes around the set, and the bottoms of
wells that they hint at.

Every measurement of the normal flow is local: on the Pareto set of one basin all of them are 0,
however much better another one is. Values tell: a point that beats a corner in its own objective,
or dominates a point of the surface, lies in a better basin.

The bottom of a narrow well may be met by no probe although several lie on its slopes, higher than
the surface. Such a probe is lower than its neighbors, and on the straight way from it to the
surface the objective rises before it falls: in one basin of a convex function it does not, so that
nothing is followed there.

In many dimensions all probes are equally far from each other and from everything. There boxes have
few axes: those that the set extends along, and some random ones.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float

from ..bezier import design_matrix
from ..simplex import kronecker
from .curvature import Curvature, Rows
from .descent import find_minimizers
from .schedule import USUAL, Schedule
from .shape import held_out_points, rounding_of
from .span import resize

ROUNDING = 1e-9
"""A rise along the way of less than this, of an objective's range or its size at the probe, is
none."""

BLOCK = 512
"""Probes whose neighbors are looked for at a time."""

Gain = Callable[[Rows, Float[np.ndarray, "n n_objectives"]], Float[np.ndarray, " n"]]
"""By how much each point, with its objectives, beats the incumbents; in units of ranges."""


class Incumbents(NamedTuple):
    """Points that a better one has to beat, those that are best for each objective first, with
    their objectives and the units of these."""

    x: Rows
    f: Float[np.ndarray, "n n_objectives"]
    units: Float[np.ndarray, " n_objectives"]


def explore(
    curvature: Curvature, control_points: Rows, degree: int, scale: float
) -> tuple[int, Float[np.ndarray, " _"] | None, float]:
    """Looks for something better in boxes around a surface, where |x| is about `scale`.

    A point beats the surface by the larger of two gains, in units of each objective's range over
    the surface: how much lower an objective is than at its own corner, and how much lower all
    objectives are than at a point of the surface.

    Returns:
        How many probes were evaluated, 0 if the budget does not allow them. The point that beats
        the surface most; None if no point does. The share of the surface that a probe dominates.
    """
    numbers, M = curvature.schedule, curvature.evaluator.n_objectives
    many = curvature.evaluator.n_variables >= numbers.free_variables
    n_probes = numbers.few_probes if many else numbers.probes
    sides = _sides_of_boxes(curvature.diameter or scale, scale, numbers)
    if n_probes * len(sides) + numbers.samples + M > curvature.evaluator.left:
        return 0, None, 0.0
    control_points = resize(control_points, curvature.reserve(numbers.axes))
    t = np.eye(M)
    if M > 1:
        held_out = held_out_points(control_points, M, degree, numbers.samples, seed=0)
        t = np.concatenate([t, held_out[: numbers.samples]])
    points = design_matrix(t, degree) @ control_points
    front, sets_of_axes = curvature.values(points), _axes(curvature, points)
    each, searches = n_probes // len(sets_of_axes), []
    for axes in sets_of_axes:
        cube = kronecker(each * len(sides), len(axes)) - 0.5
        probes = points.mean(axis=0) + np.repeat(sides, each)[:, None] * (cube @ axes)
        searches.append((probes, curvature.values(probes), len(axes)))
    nearby = searches[0][1][:each]
    nearby = nearby[np.isfinite(nearby).all(axis=1)]
    varies = np.median(np.abs(nearby - front[0]), axis=0) if len(nearby) else np.abs(front[0])
    varies = np.maximum(numbers.clear * varies, np.finfo(float).tiny)
    # of an objective that is the same all over the front, a share of how it varies nearby
    units = np.where(np.ptp(front, axis=0) > rounding_of(front), np.ptp(front, axis=0), varies)
    incumbents = Incumbents(points, front, units)

    def gain(x: Rows, f: np.ndarray) -> np.ndarray:
        below_corner, dominates = _gains(incumbents, f)
        return np.maximum(below_corner, dominates.max(axis=1))

    rival, beaten = None, np.zeros(len(front), dtype=bool)
    for probes, values, n_axes in searches:
        # all probes count for the share that is beaten, the first search with a rival for the rest
        beaten |= (_gains(incumbents, values)[1] > numbers.clear).any(axis=0)
        if rival is None:
            x, f = (part.reshape(len(sides), each, -1) for part in (probes, values))
            rival = better_point(curvature, x, f, incumbents, gain, n_axes)
    return sum(len(probes) for probes, _, _ in searches), rival, float(np.mean(beaten))


def better_point(
    curvature: Curvature,
    probes: Float[np.ndarray, "n_boxes n width"],
    values: Float[np.ndarray, "n_boxes n n_objectives"],
    incumbents: Incumbents,
    gain: Gain,
    n_axes: int,
    clip: Callable[[np.ndarray], Array | np.ndarray] | None = None,
) -> Float[np.ndarray, " width"] | None:
    """The point that beats the incumbents most, and clearly: a probe, or else the bottom of a well
    that probes hint at; None if none does.

    Wells are looked for in each objective, and in the sum of all in units of their ranges.

    With very many axes of the boxes neighbors say nothing, and no wells are looked for. `clip` puts
    points where they are allowed to be.
    """
    numbers, M, units = curvature.schedule, values.shape[2], incumbents.units
    x, f = probes.reshape(-1, probes.shape[2]), values.reshape(-1, M)
    rival = _best(x, f, gain, numbers)
    if rival is not None or n_axes > numbers.even_variables:
        return rival
    usable = np.isfinite(f).all(axis=1, keepdims=True)
    f, front = np.where(usable, f, np.inf) / units, incumbents.f / units
    weights = np.concatenate([np.eye(M), np.ones((1, M))]) if M > 1 else np.eye(1)
    sums = np.where(usable, np.where(usable, f, 0.0) @ weights.T, np.inf)
    # probes that have a lower sum than all of their nearest ones of the same box
    k, lowest = numbers.neighbors * n_axes, []
    for box, own in zip(probes, np.split(sums, len(probes)), strict=True):
        squared = (box**2).sum(axis=1)
        for some in np.array_split(np.arange(len(box)), -(-len(box) // BLOCK)):
            # of all pairs, in little memory
            apart = squared[some, None] + squared[None] - 2 * box[some] @ box.T
            near = np.argpartition(apart, min(k, len(box) - 1), axis=1)[:, : k + 1]
            itself = np.asarray(near == some[:, None])
            others = np.where(itself[..., None], np.inf, own[near])
            lowest.append((own[some] < others.min(axis=1)) & np.isfinite(own[some]))
    rows, columns = np.nonzero(np.concatenate(lowest))
    chosen, least, left = weights[columns], front @ weights.T, curvature.evaluator.left
    if len(rows) == 0 or len(rows) * numbers.path > left:
        return None
    heights = (f[rows] * chosen).sum(axis=1)
    goals = incumbents.x[least.argmin(axis=0)[columns]]
    # whether the sum rises on the straight way from a probe to its goal
    share = np.linspace(0, 1, numbers.path + 1)[1:, None, None]
    way = (1 - share) * x[rows] + share * goals
    along = curvature.values(way.reshape(-1, way.shape[-1])).reshape(*way.shape[:2], -1)
    path = np.concatenate([heights[None], (along * (chosen / units)).sum(axis=2)])
    rise = np.where(np.isfinite(path[1:]), np.diff(path, axis=0), np.inf)
    behind = np.asarray((rise > ROUNDING * (1 + np.abs(heights))).any(axis=0))
    above = heights - least.min(axis=0)[columns]
    order = np.flatnonzero(behind)[np.argsort(above[behind])][: numbers.wells]
    if len(order) * numbers.descent_trials > curvature.evaluator.left or len(order) == 0:
        return None
    bottoms = find_minimizers(curvature, chosen[order] / units, x[rows][order]).x
    bottoms = bottoms if clip is None else np.asarray(clip(bottoms))
    return _best(bottoms, curvature.values(bottoms), gain, numbers)


def better_corners(curvature: Curvature, rival: Float[np.ndarray, " width"]) -> Rows | None:
    """The corners with those replaced that a descent from the rival beats clearly; None if it beats
    none."""
    n = len(curvature.corners)
    found = find_minimizers(curvature, np.eye(n), np.tile(rival, (n, 1)))
    corners = resize(curvature.corners, found.x.shape[1])
    old, new = curvature.values(corners), curvature.values(found.x)
    span = np.ptp(old, axis=0)
    units = np.where(span > 0, span, np.abs(old).max(axis=0))
    lower = np.diagonal(old) - np.diagonal(new) > curvature.schedule.clear * units
    replaced = lower & found.converged
    return np.where(replaced[:, None], found.x, corners) if replaced.any() else None


def probes_around(
    center: Float[np.ndarray, " n_variables"], size: float, n: int
) -> Float[np.ndarray, "n_boxes n_each n_variables"]:
    """About n evenly spread points in cubes around a center, as many in each, whose sides are
    multiples of a size."""
    sides = _sides_of_boxes(size, max(1.0, float(np.linalg.norm(center))), USUAL)
    nothing = np.zeros(len(center))
    cube = probes_within(nothing, nothing + 1, -(-n // len(sides)) * len(sides)) - 0.5
    return center + sides[:, None, None] * cube.reshape(len(sides), -1, len(center))


def probes_within(
    low: Float[np.ndarray, " n_variables"], high: Float[np.ndarray, " n_variables"], n: int
) -> Float[np.ndarray, "n n_variables"]:
    """Points evenly spread all over a box: a low-discrepancy sequence, which in many dimensions is
    no better than random points."""
    few = len(low) <= USUAL.even_variables
    cube = kronecker(n, len(low)) if few else np.random.default_rng(0).random((n, len(low)))
    return low + (high - low) * cube


def _sides_of_boxes(
    diameter: float, scale: float, numbers: Schedule
) -> Float[np.ndarray, " n_boxes"]:
    """How wide to look around a set of some diameter, where |x| is about `scale`."""
    sides, widest = diameter * np.array(numbers.boxes), numbers.widest * scale
    return sides if sides.max() >= widest else np.append(sides, widest)


def _axes(curvature: Curvature, points: Rows) -> list[Rows]:
    """The axes of boxes around these points: all variables if there are few; else those that the
    points extend along, and these with random ones."""
    numbers, n_variables = curvature.schedule, curvature.evaluator.n_variables
    if n_variables <= numbers.even_variables and points.shape[1] == n_variables:
        return [np.eye(n_variables)]
    _, extents, along = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    along = along[extents > numbers.near * extents[0]][: numbers.axes // 2]
    n_random = min(numbers.axes, n_variables) - len(along)
    if n_random <= 0:
        return [along]
    random = curvature.directions(n_random)
    return [along, np.concatenate([along, random])] if len(along) else [random]


def _gains(
    incumbents: Incumbents, f: np.ndarray
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n_incumbents"]]:
    """By how much each row of objectives beats a corner, and every objective of each incumbent."""
    values = np.where(np.isfinite(f).all(axis=1, keepdims=True), f, np.inf) / incumbents.units
    front = incumbents.f / incumbents.units
    below_corner = (np.diagonal(front[: f.shape[1]]) - values).max(axis=1)
    return below_corner, (front[None] - values[:, None]).min(axis=2)


def _best(
    x: Rows, f: np.ndarray, gain: Gain, numbers: Schedule
) -> Float[np.ndarray, " width"] | None:
    """The point with the largest gain, if that is a clear one."""
    gains = gain(x, f)
    best = int(np.argmax(gains))
    return x[best] if gains[best] > numbers.clear else None
