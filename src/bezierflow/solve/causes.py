"""What is behind a result that is in doubt: which objective, which variable, and what to do about
it."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..bezier import BezierSimplex
from ..kinks import CannotLiftError, find_kinks
from ..names import Names
from ..objectives import FlatObjectives, JaxEvaluator

FARTHEST = 7
"""Objectives are followed along variables up to 10 to this power, in steps of one power."""

MOST_VARIABLES = 50
"""Causes are looked for in problems of up to so many variables: each is looked at by itself."""

SCANNED, HALVINGS = 64, 40
"""Places along a variable at which its slope is looked at, and how often the interval with the
largest jump is halved."""

JUMP = 1e-3
"""A slope that changes by more than this share of the largest one within the last interval has a
kink there."""


class Ray(NamedTuple):
    """An objective that does not rise along a direction, as far as it was followed."""

    objective: int
    variable: int
    falls: bool
    """Whether it falls to the very end, or rests."""


def find_cause(
    objectives: FlatObjectives, surface: BezierSimplex, names: Names, bounded: bool = False
) -> str:
    """Why a surface is in doubt, in a sentence that names an objective and a variable; empty if
    nothing is found.

    What lies far away counts only where there are no bounds.
    """
    L = surface.n_variables
    if L > MOST_VARIABLES or not np.isfinite(np.asarray(surface.control_points)).all():
        return ""
    evaluator = JaxEvaluator(objectives, surface.n_objectives, L)
    corners = np.stack([np.asarray(surface.vertex(m)) for m in range(surface.n_objectives)])
    ray = None if bounded else _endless_ray(evaluator, corners)
    if ray is not None:
        name, variable = names.objectives[ray.objective], names.solver_variables[ray.variable]
        verb = names.best_word(ray.objective, "falls", "rises")
        rests = "" if ray.falls else "and never turns back "
        return (
            f"{name} still {verb} {rests}along {variable} at 1e{FARTHEST:+d}: does it need a bound?"
        )
    return _kink(evaluator, objectives, surface, names)


def explain_start(values: Float[np.ndarray, "n n_objectives"], names: Names) -> str:
    """Which objective is not finite at the start, in words; empty if all are."""
    bad = np.argwhere(~np.isfinite(values))
    if not len(bad):
        return ""
    n, m = bad[0]
    return (
        f"x0 gives {values[n, m]} in {names.objectives[m]}: start where every objective is finite."
    )


def _endless_ray(
    evaluator: JaxEvaluator, corners: Float[np.ndarray, "n_objectives n_variables"]
) -> Ray | None:
    """An objective that falls from its corner along a variable, or downhill, and does not rise
    again within 10^FARTHEST."""
    M, L = corners.shape
    downhill = -np.stack([evaluator.jacobians(corners).gradients[m, m] for m in range(M)])
    downhill = np.nan_to_num(
        downhill / np.maximum(np.linalg.norm(downhill, axis=1, keepdims=True), np.finfo(float).tiny)
    )
    directions = np.concatenate(
        [np.tile(np.concatenate([np.eye(L), -np.eye(L)]), (M, 1, 1)), downhill[:, None]], axis=1
    )
    steps = np.concatenate([[0.0], 10.0 ** np.arange(FARTHEST + 1)])
    points = corners[:, None, None] + steps[:, None] * directions[:, :, None]
    values = evaluator.values(points.reshape(-1, L)).reshape(M, 2 * L + 1, len(steps), M)
    for m in range(M):
        f = values[m, ..., m]
        size = np.abs(f[:, :1]) + 1.0
        endless = (
            np.isfinite(f).all(axis=1)
            & (np.diff(f, axis=1) <= 0).all(axis=1)
            & (f[:, 0] - f[:, -1] > 1e-6 * size[:, 0])
        )
        if endless.any():
            k = int(np.argmax(np.where(endless, f[:, 0] - f[:, -1], -np.inf)))
            return Ray(m, int(np.argmax(np.abs(directions[m, k]))), bool(f[k, -1] < f[k, -2]))
    return None


def _kink(
    evaluator: JaxEvaluator, objectives: FlatObjectives, surface: BezierSimplex, names: Names
) -> str:
    """Which objective has kinks along which variable, where that is the same at several points of
    the surface."""
    try:
        if find_kinks(objectives, surface.n_variables) == 0:
            return ""
    except CannotLiftError:
        pass
    M = surface.n_objectives
    points = np.asarray(
        surface(np.full((1, M), 1 / M) + (np.eye(M) - 1 / M) * np.linspace(0.2, 0.6, M)[:, None])
    )
    width = np.maximum(np.ptp(points, axis=0), 1e-3 * (1 + np.abs(points).max()))
    for i in range(surface.n_variables):
        for m in range(M):
            found = [find_jump(evaluator, x, i, m, 2 * width[i]) for x in points]
            if np.isfinite(found).all() and np.ptp(found) <= 1e-6 * (1 + np.abs(found).max()):
                place = 0.0 if abs(found[0]) < 1e-6 * width[i] else found[0]
                return (
                    f"{names.objectives[m]} has kinks along {names.solver_variables[i]} ="
                    f" {place:.3g}: leave the method open for an atlas, or take ProximalGradient"
                    " with a Composite."
                )
    return ""


def find_jump(
    evaluator: JaxEvaluator, x: Float[np.ndarray, " n_variables"], i: int, m: int, reach: float
) -> float:
    """Where the slope of an objective by variable i jumps, within reach of x; not a number where it
    does not.

    A jump stays as the interval around it is halved, while any other difference of slopes vanishes
    with it.
    """
    places = np.linspace(x[i] - reach, x[i] + reach, SCANNED)
    slopes = _slopes(evaluator, x, i, m, places)
    largest, k = float(np.abs(slopes).max()), int(np.argmax(np.abs(np.diff(slopes))))
    low, high, left, right = places[k], places[k + 1], slopes[k], slopes[k + 1]
    for _ in range(HALVINGS):
        if not abs(right - left) > JUMP * largest:
            return float("nan")
        middle = (low + high) / 2
        slope = _slopes(evaluator, x, i, m, np.array([middle]))[0]
        if abs(right - slope) > abs(slope - left):
            low, left = middle, slope
        else:
            high, right = middle, slope
    return float(low)


def _slopes(
    evaluator: JaxEvaluator, x: np.ndarray, i: int, m: int, places: np.ndarray
) -> Float[np.ndarray, " n"]:
    points = np.tile(x, (len(places), 1))
    points[:, i] = places
    return evaluator.jacobians(points).gradients[:, m, i]
