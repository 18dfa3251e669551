"""The questions that the one program answers: the best under bounds, nearest to a hope, knee, least
total, best ratio, least regret."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from ..answer import Solution
from ..arguments import read_number
from .asking import Region, answer, best_within, opened, reach
from .choice import (
    Bounds,
    Choice,
    Numbers,
    bounds_array,
    bounds_in_words,
    in_words,
    nonnegative,
    numbers,
    objective_number,
)
from .tradeoffs import ranges

AUGMENTATION = 1e-4
"""The share of the sum beside the maximum in `nearest`: among points equally near the one that no
other dominates is chosen."""

MOST_VARYING = 8
"""So many weights may vary at once in `robust`: every combination of their extremes counts, 256 for
8."""


MOST_RATIOS = 30
"""Steps of Dinkelbach's method, at most: it is quadratically convergent."""


def best(
    solution: Solution | Region,
    minimize: str | int | None = None,
    subject_to: Bounds | None = None,
    *,
    maximize: str | int | None = None,
) -> Choice:
    """The point of the front where one objective is best while others obey bounds.

    Args:
        solution: a solution, or a region of one.
        minimize: the objective, by name or number (from 0), if it is one that is minimized.
        maximize: the objective, likewise, if it is one that is maximized.
        subject_to: bounds on objectives, `{"weight": 3.0}` for no more than 3 (no less, where it is
            maximized), or `{"weight": (1.0, 3.0)}`: (lowest, highest), None for no bound.

    Returns:
        The choice. If no point obeys all bounds: the one that breaks them least, in units of each
        objective's range, and `choice.relaxed` says by how much.
    """
    solution, bounds = opened(solution, subject_to)
    names = solution.names
    argument, given = ("maximize", maximize) if minimize is None else ("minimize", minimize)
    if given is None or (minimize is not None and maximize is not None):
        raise ValueError("best needs one of minimize=... and maximize=...")
    m = objective_number(solution, given, argument)
    direction = "maximize" if names.signs[m] < 0 else "minimize"
    if direction != argument:
        raise ValueError(
            f"{argument}={given!r}, but this objective is {direction}d: write best(solution,"
            f" {direction}={given!r})"
        )
    question = f"{names.best_word(m)} {names.objectives[m]}{bounds_in_words(names, bounds)}"
    found = answer(solution, question, np.eye(len(bounds))[m : m + 1], np.zeros(1), bounds)
    return replace(found, value=float(names.signs[m]) * found.value)


def nearest(
    solution: Solution | Region,
    aspiration: Numbers,
    importance: Numbers | None = None,
    subject_to: Bounds | None = None,
) -> Choice:
    """The point of the front nearest to an aspiration point, by the augmented achievement
    scalarization.

    Minimizes max_m i_m (f_m − a_m)/r_m + ρ Σ_m i_m (f_m − a_m)/r_m, where r_m is the range of
    objective m over the front, so that no objective counts more for being measured in small units
    (Wierzbicki, "The use of reference objectives in multiobjective optimization", 1980). If the
    aspiration can be reached, the answer is better than it in every objective. For maximized
    objectives it is a_m − f_m.

    Args:
        solution: as in `best`.
        aspiration: a value for each objective, as a sequence or by name; an objective left out of a
            mapping aims at its ideal.
        importance: i_m, how much each objective counts; all 1 if not given.
        subject_to: as in `best`.
    """
    solution, bounds = opened(solution, subject_to)
    span = ranges(solution)
    aim = numbers(solution, aspiration, "aspiration", default=span.ideal)
    counts = np.ones(len(bounds))
    if importance is not None:
        counts = nonnegative(solution, importance, "importance", default=1.0)
    rates = counts / span.width
    # Row m is the m-th term of the maximum plus the sum: one linear goal per objective.
    goals = np.diag(rates) + AUGMENTATION * rates
    aims = goals @ (solution.names.signs * aim)
    return answer(solution, f"nearest to {in_words(aim)}", goals, aims, bounds)


def knee(solution: Solution | Region, subject_to: Bounds | None = None) -> Choice:
    """The point farthest below the plane through the front's corners, in units of each objective's
    range.

    (Das, "On characterizing the 'knee' of the Pareto curve based on normal-boundary intersection",
    Structural Optimization 18, 1999.) `choice.value` is minus that distance: near 0 or above, the
    front has no knee and every point is as good a bargain. Arguments are as in `best`.
    """
    solution, bounds = opened(solution, subject_to)
    span, M = ranges(solution), solution.n_objectives
    ideal = solution.names.signs * span.ideal
    corners = (solution.set.values(np.eye(M)) - ideal) / span.width
    # The unit normal of the plane that points away from the ideal. The diagonal where the corners
    # span no plane, or where an entry below 0 would praise a worse value of that objective.
    _, sizes, directions = np.linalg.svd(corners[1:] - corners[0])
    normal = directions[-1] * np.sign(directions[-1].sum() or 1.0)
    if sizes[-1] <= 1e-9 or (normal < 0).any():
        normal = np.full(M, M**-0.5)
    goal = (normal / span.width)[None]
    level = goal @ ideal + normal @ corners.mean(axis=0)
    return answer(solution, "the knee of the front", goal, level, bounds)


def compromise(
    solution: Solution | Region, weights: Numbers, subject_to: Bounds | None = None
) -> Choice:
    """The point where Σ_m w_m f_m is least; maximized objectives count with a minus sign.

    The weights are prices, unlike t: `{"cost": 1, "emission": 40}` means that one unit of emission
    may cost 40 units of cost. There is a number of at least 0 for each objective, in a sequence or
    by name; objectives left out of a mapping are free. Other arguments are as in `best`.
    """
    solution, bounds = opened(solution, subject_to)
    prices = nonnegative(solution, weights, "weights", default=0.0)
    question = f"least total at prices {in_words(prices)}"
    return answer(solution, question, prices[None], np.zeros(1), bounds)


def best_ratio(
    solution: Solution | Region,
    of: str | int,
    per: str | int,
    *,
    above: float = 0.0,
    subject_to: Bounds | None = None,
) -> Choice:
    """The point of the front with the best ratio (f_of − above) / f_per: return per risk (Sharpe's
    ratio, with the riskless return for `above`), cost per output.

    Found by Dinkelbach's method ("On nonlinear fractional programming", Management Science 13,
    1967): with q the ratio at hand, the point that is best in f_of − above − q f_per has a better
    one, until none has.

    Args:
        solution: as in `best`.
        of: the objective above the line, by name or number: the ratio is largest where it is
            maximized, least where it is minimized.
        per: the one below, which must be the other way and positive all over the front.
        above: what is taken off the first.
        subject_to: as in `best`.

    Returns:
        The choice; `choice.value` is the ratio.
    """
    span = ranges(solution, subject_to)
    solution, bounds = opened(solution, subject_to)
    names, signs = solution.names, solution.names.signs
    m, n = (
        objective_number(solution, of, "of"),
        objective_number(solution, per, "per"),
    )
    above = read_number(above, "above", "a finite number", np.isfinite)
    if signs[m] == signs[n]:
        raise ValueError(
            f"best_ratio takes one objective that is maximized and one that is minimized, but"
            f" {names.objectives[m]} and {names.objectives[n]} are both {names.directions[m]}d: the"
            " best ratio of those may lie anywhere; give maximize=... to bf.minimize"
        )
    least = min(float(span.ideal[n]), float(span.nadir[n]))
    if not least > 0:
        raise ValueError(
            f"per={per!r} must be positive all over the front, but {names.objectives[n]} is"
            f" {least:.6g} somewhere"
        )
    sign = "−" if above > 0 else "+"
    taken = f"({names.objectives[m]} {sign} {abs(above):g})" if above else names.objectives[m]
    wished = bounds_in_words(names, bounds)
    question = f"{names.best_word(m)} {taken} per {names.objectives[n]}{wished}"
    goal, aim, within = (
        np.eye(len(bounds))[m : m + 1],
        signs[m : m + 1] * above,
        reach(solution, bounds),
    )
    ratio, found = 0.0, answer(solution, question, goal, aim, bounds, within)
    for _ in range(MOST_RATIOS):
        before, ratio = ratio, float((found.f[m] - above) / found.f[n])
        if abs(ratio - before) <= 1e-12 * abs(ratio):
            break
        goal[0, n] = ratio  # f_of − q f_per, both as they are minimized
        found = answer(solution, question, goal, aim, bounds, within)
    return replace(found, value=ratio)


def robust(
    solution: Solution | Region,
    weights: Mapping[str | int, tuple[float, float]],
    subject_to: Bounds | None = None,
) -> Choice:
    """The point with the least regret while prices vary: min_t max_w [w·f(t) − min_s w·f(s)].

    For a fixed point the regret is a linear function of w minus a concave one, hence convex: its
    maximum over a box of weights is at a corner of the box, so that the answer is exact. Whatever
    the weights turn out to be, the best choice for them is better by at most `choice.value`.

    Args:
        solution: as in `best`.
        weights: (lowest, highest) price of each objective in objective units, by name or number;
            those left out are free.
        subject_to: as in `best`.
    """
    solution, bounds = opened(solution, subject_to)
    box = bounds_array(solution, weights, "weights")
    given = np.asarray(np.isfinite(box).all(axis=1))
    if (
        not isinstance(weights, Mapping)
        or given.sum() != len(weights)
        or (box[given] < 0).any()
        or not (box[given] > 0).any()
    ):
        raise ValueError(
            "weights must give (lowest, highest) prices of at least 0, not all of them 0, got"
            f" {weights!r}"
        )
    box = np.where(given[:, None], box, 0.0)
    if (box[:, 0] < box[:, 1]).sum() > MOST_VARYING:
        raise ValueError(
            f"weights may vary for at most {MOST_VARYING} objectives at once, got {weights!r}"
        )
    corners = np.array(list(product(*(sorted(set(pair)) for pair in box.tolist()))))
    # Regret grows in proportion with all weights: a corner that the box lets grow cannot be the
    # worst.
    corners = corners[((corners == box[:, 1]) & (corners > 0)).any(axis=1)]
    # Found once for all corners: each of their programs has the same bounds.
    within, least = reach(solution, bounds), []
    for prices in corners:
        unit, found = best_within(solution, prices[None], np.zeros(1), within)
        least.append(unit * found.goal)
    question = f"least regret over {len(corners)} extremes of the weights"
    return answer(solution, question, corners, np.array(least), bounds, within)
