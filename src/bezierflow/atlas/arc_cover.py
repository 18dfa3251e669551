"""What arcs hold of a front: which stretches of the chart they cover, and which parts of them
nothing else is better than."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from ..answer import Patch, ask_patches, best_levels, centered, frame
from .schedule import SCHEDULE

Box = tuple[np.ndarray, np.ndarray]
"""Bounds of the scaled variables."""


def held(
    arcs: list[Patch],
    c: Float[np.ndarray, "n 1"],
    level: Float[np.ndarray, " n"],
    box: Box,
    slack: float,
) -> Bool[np.ndarray, " n_1"]:
    """Which stretches between consecutive coordinates arcs hold from end to end, as low as the
    levels there.

    The level of a front is a continuous function of the chart: where the lowest arc ends and the
    next one is higher, something lies between them.
    """
    L, ends = len(box[0]), np.array([_interval(arc) for arc in arcs])
    near = np.flatnonzero((ends[:, 1] > c[0] - 2 * slack) & (ends[:, 0] < c[-1] + 2 * slack))
    if len(near) == 0:
        return np.zeros(len(c) - 1, dtype=bool)
    near = near[np.lexsort(ends[near].T[::-1])]
    arcs, ends = [arcs[k] for k in near], ends[near]
    reach = np.maximum.accumulate(ends[:, 1])
    # Where no later interval begins before all earlier ones have ended there is a hole.
    holes = np.flatnonzero(ends[1:, 0] > reach[:-1] + slack)
    low, high = np.append(-np.inf, reach[holes]), np.append(ends[0, 0], ends[holes + 1, 0])
    low, high = np.append(low, reach[-1]), np.append(high, np.inf)
    # Nodes a little beyond the end of an arc are compared with that end.
    at = np.clip(c, ends[0, 0], reach[-1])
    for begin, end in zip(low[1:-1], high[1:-1], strict=True):
        at = np.where((at > begin) & (at < end), np.where(2 * at < begin + end, begin, end), at)
    beside = ends + 2 * slack * np.array([-1.0, 1.0])
    claims = ask_patches(arcs, np.concatenate([at, beside.reshape(-1, 1)]) @ frame(2), box)
    found, lowest = claims.number >= 0, claims.y[:, L]
    of_ends = np.array([arc(end[:, None])[:, L] for arc, end in zip(arcs, ends, strict=True)])
    n, jump = len(c), 5 * slack
    rises = found[n:] & (lowest[n:] > of_ends.ravel() + jump)
    loose = np.sort([ends, beside], axis=0).reshape(2, -1)[:, rises]
    low, high = np.append(low, loose[0] - slack), np.append(high, loose[1] + slack)
    inside = ~((c[1:] > low + slack) & (c[:-1] < high - slack)).any(axis=1)
    # An arc that is lower than a node is the better one of the two.
    as_low = found[:n] & (lowest[:n] < level + slack)
    return inside & as_low[1:] & as_low[:-1]


def front_arcs(
    arcs: list[Patch], nodes: Float[np.ndarray, "n n_objectives"], box: Box, tol: float, first: int
) -> list[Patch]:
    """Arcs without what others, or nodes, are clearly better than: a curve goes on where it is
    only locally optimal. And the ends of the front, as points. Regions are numbered from `first`
    on."""
    arcs = sorted(arcs, key=_interval)
    if not arcs:
        return []
    # A short arc may be better than the middle of a long one.
    ends = np.array([_interval(arc) for arc in arcs])
    marks = np.concatenate([ends.ravel(), ends.mean(axis=1)])
    places = [
        np.unique(
            np.append(np.linspace(low, high, SCHEDULE.on_arc), marks[_between(marks, low, high)])
        )
        for low, high in ends
    ]
    points = np.concatenate([_sample(arc, c) for arc, c in zip(arcs, places, strict=True)])
    known = np.concatenate([points, nodes])

    def good(f: np.ndarray) -> Bool[np.ndarray, " n"]:
        level = best_levels(known, centered(f))[0]
        level = np.minimum(level, ask_patches(arcs, centered(f), box).y[:, len(box[0])])
        return level > f.mean(axis=1) - 5 * tol

    parts, runs = [], np.split(good(points), np.cumsum([len(c) for c in places])[:-1])
    for arc, c, on in zip(arcs, places, runs, strict=True):
        stretches = _good_parts(lambda c, arc=arc: good(_sample(arc, c)), c, on)
        parts += [(*stretch, arc) for stretch in stretches]
    out = _joined(sorted(parts, key=lambda part: part[:2]), first, SCHEDULE.touching * tol)
    if not out:
        return []
    region = 1 + out[-1].region
    return [*out, _end(out[0], 0, region), _end(out[-1], 1, region + 1)]


def _interval(arc: Patch) -> tuple[float, float]:
    """Where an arc begins and ends on the chart."""
    return -float(arc.domain[1, 1]), float(arc.domain[0, 1])


def _sample(arc: Patch, c: np.ndarray) -> Float[np.ndarray, "n n_objectives"]:
    """Points of an arc in objectives."""
    return arc.label.values(arc(c[:, None]), c[:, None])


def _between(c: np.ndarray, low: float, high: float) -> Bool[np.ndarray, " n"]:
    return np.asarray((c > low) & (c < high))


def _good_parts(
    good: Callable[[np.ndarray], np.ndarray], c: np.ndarray, on: Bool[np.ndarray, " n"]
) -> list[tuple[float, float]]:
    """The parts of an interval that are good, from where it is so at some coordinates."""
    changes = np.flatnonzero(np.diff(np.concatenate([[0], on, [0]])))
    parts = []
    for first, last in zip(changes[::2], changes[1::2] - 1, strict=True):
        ends = []
        for k, way in ((first, -1), (last, 1)):
            inside = c[k]
            if 0 <= k + way < len(c):
                outside = c[k + way]
                for _ in range(SCHEDULE.bisections):
                    between = np.linspace(inside, outside, SCHEDULE.on_arc + 1)
                    last_good = int(np.append(~good(between[1:-1]), True).argmax())
                    inside, outside = between[last_good], between[last_good + 1]
            ends.append(float(inside))
        parts.append((ends[0], ends[1]))
    return parts


def _joined(parts: list[tuple[float, float, Patch]], region: int, slack: float) -> list[Patch]:
    """Arcs from one coordinate to another, those that were followed twice once, and those of one
    curve that touch in one region."""
    out: list[Patch] = []
    reach = -np.inf
    for low, high, arc in parts:
        same = bool(out) and low < reach + slack and _meet(out[-1], arc, min(low, reach))
        region += bool(out) and not same
        if same and high <= reach:
            continue
        low, reach = max(low, reach) if same else low, high
        domain = np.array(
            [[1.0, high + SCHEDULE.rounding_of_ends], [-1.0, SCHEDULE.rounding_of_ends - low]]
        )
        out.append(replace(arc, domain=domain, region=region))
    return out


def _meet(one: Patch, other: Patch, c: float) -> bool:
    """Whether arcs with the same things active have the same design at a coordinate."""
    L, at = len(one.label.side), np.array([[c]])
    same = one.label.key == other.label.key
    return same and bool(np.abs((one(at) - other(at))[0, :L]).max(initial=0) < SCHEDULE.apart)


def _end(arc: Patch, m: int, region: int) -> Patch:
    """The end of an arc where an objective is least, as a point: the answer beyond."""
    L, M = len(arc.label.side), len(arc.label.objectives)
    c = np.array([[_interval(arc)[m]]])
    y = arc(c)[0]
    f = arc.label.values(y[None], c)[0]
    alone = np.arange(M) == m
    y[L], y[L + 1 : L + 1 + M] = f[m], np.where(alone, 1.0, f)
    label = replace(arc.label, objectives=alone)
    return Patch(label, np.zeros((1, 0)), 0, y[None], np.zeros((0, 1)), arc.error, region)
