"""Is there anything better elsewhere? Values alone, at points spread over boxes around the set.

Every measurement of the normal flow is local: on the Pareto set of one basin all of them are 0,
however much better another one is. Values tell: a point that beats a corner in its own objective,
or dominates a point of the surface, lies in a better basin.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..bezier import BezierSimplex
from ..objectives import JaxEvaluator
from ..simplex import kronecker
from .descent import find_minimizers
from .held_out import held_out_points
from .schedule import ExploreSchedule
from .shape import rounding_of
from .survey import Survey

MOST_EVEN = 20
"""Up to this many variables probes are a low-discrepancy sequence; beyond, such a sequence is no
better than random points."""


ONE_VALUE = 1e-3
"""The unit of an objective that has one value all over the set, as where objectives share their
minimizer: this share of how much it differs from that value in the smallest box."""


class Exploration(NamedTuple):
    """What a search around the set found.

    Attributes:
        n_probes: how many points were looked at.
        rival: the point that beats the surface most; None if no point does.
        beaten: the share of the surface that a probe dominates.
        seen: what the search was made of; None where there was none.
    """

    n_probes: int
    rival: Float[np.ndarray, " n_variables"] | None
    beaten: float = 0.0
    seen: "Seen | None" = None


class Seen(NamedTuple):
    """Probes and points of the surface, corners first, with their objectives in units of their
    ranges; infinite if undefined."""

    probes: Float[np.ndarray, "n n_variables"]
    values: Float[np.ndarray, "n n_objectives"]
    surface: Float[np.ndarray, "n_on_surface n_variables"]
    on_surface: Float[np.ndarray, "n_on_surface n_objectives"]
    scale: Float[np.ndarray, " n_objectives"]


def explore(
    evaluator: JaxEvaluator,
    surface: BezierSimplex,
    sides: Float[np.ndarray, " n_boxes"],
    numbers: ExploreSchedule,
) -> Exploration:
    """Looks at points in cubes around the surface with these sides, if the budget allows.

    A point beats the surface by the larger of two gains, in units of each objective's range over
    the surface: how much lower an objective is than at its own corner, and how much lower all
    objectives are than at a point of the surface.
    """
    control_points = np.asarray(surface.control_points, dtype=float)
    M, n = (
        surface.n_objectives,
        numbers.probes * len(sides) + numbers.samples + surface.n_objectives,
    )
    if n > evaluator.left:
        return Exploration(0, None)
    t = np.eye(M)
    if M > 1:
        t = np.concatenate(
            [
                t,
                held_out_points(control_points, M, surface.degree, numbers.samples, seed=0)[
                    : numbers.samples
                ],
            ]
        )
    points = np.asarray(surface(t))
    on_surface = evaluator.values(points)
    probes = probes_around(points.mean(axis=0), sides, numbers.probes)
    values = evaluator.values(probes)
    usable = np.asarray(np.isfinite(values).all(axis=1))
    scale = _units(on_surface, values[: numbers.probes])
    seen = Seen(
        probes, np.where(usable[:, None], values, np.inf) / scale, points, on_surface / scale, scale
    )
    corner, dominates = gains(seen.values, seen.on_surface)
    gain = np.maximum(corner, dominates.max(axis=1))
    best, beaten = int(np.argmax(gain)), float(np.mean((dominates > numbers.clear).any(axis=0)))
    return Exploration(
        len(probes), probes[best] if gain[best] > numbers.clear else None, beaten, seen
    )


def evenly_spread(n: int, dimension: int) -> Float[np.ndarray, "n dimension"]:
    """Points of the unit cube: a low-discrepancy sequence in few dimensions, else random ones."""
    return (
        kronecker(n, dimension)
        if dimension <= MOST_EVEN
        else np.random.default_rng(0).random((n, dimension))
    )


def _units(on_surface: np.ndarray, nearby: np.ndarray) -> Float[np.ndarray, " n_objectives"]:
    """The range of each objective over the surface; of one that is the same all over it,
    `ONE_VALUE` of how it varies nearby."""
    span = np.ptp(on_surface, axis=0)
    nearby = nearby[np.isfinite(nearby).all(axis=1)]
    varies = (
        np.median(np.abs(nearby - on_surface[0]), axis=0) if len(nearby) else np.abs(on_surface[0])
    )
    return np.where(
        span > rounding_of(on_surface), span, np.maximum(ONE_VALUE * varies, np.finfo(float).tiny)
    )


def sides_of_boxes(
    diameter: float, scale: float, numbers: ExploreSchedule
) -> Float[np.ndarray, " n_boxes"]:
    """How wide to look around a set of some diameter, where |x| is about `scale`."""
    sides = diameter * np.array(numbers.boxes)
    return (
        sides if sides.max() >= numbers.widest * scale else np.append(sides, numbers.widest * scale)
    )


def probes_around(
    center: np.ndarray, sides: Float[np.ndarray, " n_boxes"], n: int
) -> Float[np.ndarray, "n_probes n_variables"]:
    """Evenly spread points, n in each of the cubes around a center with these sides."""
    cube = evenly_spread(n * len(sides), len(center)) - 0.5
    return center + np.repeat(sides, n)[:, None] * cube


def gains(
    values: np.ndarray, on_surface: np.ndarray
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n_on_surface"]]:
    """By how much each row of values beats a corner, and every objective of each point of the
    surface; corners come first."""
    n_objectives = values.shape[1]
    below_corner = (np.diagonal(on_surface[:n_objectives]) - values).max(axis=1)
    return below_corner, (on_surface[None] - values[:, None]).min(axis=2)


def better_corners(
    survey: Survey, rival: Float[np.ndarray, " n_variables"], clear: float
) -> np.ndarray | None:
    """The corners with those replaced that a descent from the rival beats clearly; None if it beats
    none."""
    corners = survey.corners
    n_objectives = len(corners)
    found = find_minimizers(survey.look, np.eye(n_objectives), np.tile(rival, (n_objectives, 1)))
    old, new = survey.evaluator.values(corners), survey.evaluator.values(found.x)
    span = np.ptp(old, axis=0)
    lower = np.diagonal(old) - np.diagonal(new) > clear * np.where(
        span > 0, span, np.abs(old).max(axis=0)
    )
    replaced = lower & found.converged
    return np.where(replaced[:, None], found.x, corners) if replaced.any() else None
