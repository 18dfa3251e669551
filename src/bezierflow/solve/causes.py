"""What is behind a result that is in doubt, and what is worth saying about one that is not: which
objective, which variable, and what to do about it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from ..answer import BezierAtlas
from ..bezier import BezierSimplex
from ..kinks import CannotLiftError, find_kinks
from ..objectives import JaxEvaluator, Problem, bridges, can_break, point_in_words
from ..precision import double_precision
from ..simplex import from_cube, grid, kronecker, largest_degree_within
from .first_look import region
from .schedule import SCHEDULE

Look = Callable[[Problem, JaxEvaluator, BezierSimplex], str]
"""One of the causes of doubt, in words; empty where it is not there."""


def explain_start(problem: Problem) -> str:
    """Which objective is not finite at the start, in words; empty if all are."""
    x = np.asarray(problem.start.control_points, dtype=float)
    values = JaxEvaluator(problem.flat, problem.start.n_objectives, x.shape[1]).values(x)
    bad = np.argwhere(~np.isfinite(values))
    if not len(bad):
        return ""
    n, m = bad[0]
    name = problem.names.objectives[m]
    return f"x0 gives {values[n, m]} in {name}: start where every objective is finite."


def find_cause(
    problem: Problem, surface: BezierSimplex, looks: Sequence[Look] | None = None
) -> str:
    """Why a surface is in doubt, in a sentence that names an objective and a variable; empty if
    nothing is found."""
    finite = np.isfinite(np.asarray(surface.control_points)).all()
    if SCHEDULE.most_variables < surface.n_variables or not finite:
        return ""
    evaluator = JaxEvaluator(problem.flat, surface.n_objectives, surface.n_variables)
    try:
        for look in looks or (find_endless, find_break, _kink):
            words = look(problem, evaluator, surface)
            if words:
                return words
    except Exception:
        # A function on the host need not run wherever a cause is looked for.
        if not bridges(problem.flat):
            raise
    return ""


def find_endless(
    problem: Problem, evaluator: JaxEvaluator, surface: BezierSimplex, to_the_end: bool = False
) -> str:
    """Which objective falls along a variable, or downhill, to less than at its corner, and does not
    rise again as far as it is followed, where bounds and constraints let it; or only one that falls
    in every decade, and not to a level that it keeps. What it does next to its corner says nothing:
    that may be a second minimum."""
    feasible, names = problem.feasible, problem.names
    corners = np.stack([np.asarray(surface.vertex(m)) for m in range(surface.n_objectives)])
    M, L = corners.shape
    if feasible is not None:
        if feasible.has_finite_box:
            return ""
        inside = (feasible.violation(corners) <= 0)[:, None]
        corners = np.where(inside, corners, np.asarray(problem.start.vertex(0)))
    downhill = -np.stack([evaluator.jacobians(corners).gradients[m, m] for m in range(M)])
    downhill = np.nan_to_num(
        downhill / np.maximum(np.linalg.norm(downhill, axis=1, keepdims=True), np.finfo(float).tiny)
    )
    directions = np.concatenate(
        [np.tile(np.concatenate([np.eye(L), -np.eye(L)]), (M, 1, 1)), downhill[:, None]], axis=1
    )
    # In decades: where an objective turns back does not matter, only whether it does.
    steps = np.concatenate([[0.0], 10.0 ** np.arange(SCHEDULE.farthest + 1)])
    points = corners[:, None, None] + steps[:, None] * directions[:, :, None]
    values = evaluator.values(points.reshape(-1, L)).reshape(M, 2 * L + 1, len(steps), M)
    if feasible is not None:
        values[(feasible.violation(points.reshape(-1, L)) > 0).reshape(values.shape[:3])] = np.nan
    for m in range(M):
        f = values[m, ..., m]
        fall, size = f[:, 0] - f[:, -1], np.abs(f[:, 0]) + 1.0
        change = np.diff(f, axis=1)[:, SCHEDULE.beside_corner :]
        never_rises = np.isfinite(f).all(axis=1) & (change <= 0).all(axis=1)
        endless = never_rises & (fall > SCHEDULE.negligible * size)
        if to_the_end:
            endless &= (change < -SCHEDULE.negligible * size[:, None]).all(axis=1)
        if endless.any():
            k = int(np.argmax(np.where(endless, fall, -np.inf)))
            i = int(np.argmax(np.abs(directions[m, k])))
            variable, side = names.solver_variables[i], "-" if directions[m, k, i] < 0 else ""
            verb = names.best_word(m, "falls", "rises")
            rests = "" if f[k, -1] < f[k, -2] else "and never turns back "
            return (
                f"{names.objectives[m]} still {verb} {rests}along {variable} at"
                f" {side}1e{SCHEDULE.farthest:+d}: does it need a bound?"
            )
    return ""


def find_runaway(problem: Problem, answer: Any, endless: bool = False) -> str:
    """Which objective has no minimizer, in words: its corner of the answer lies at a pole, or it
    falls along a variable as far as it is followed, to no more than its least value on the answer,
    where it still falls; or only such a one on whose way another objective rises without end, so
    that no box holds the set. Empty where there is none, or where bounds keep all variables."""
    feasible, names, M = problem.feasible, problem.names, problem.start.n_objectives
    L, calls = problem.start.n_variables, problem.calls
    n_steps = SCHEDULE.farthest + 2
    if SCHEDULE.most_variables < L or (feasible is not None and feasible.has_finite_box):
        return ""
    if not calls.affords(M * (3 + L) + 2 * L * n_steps, SCHEDULE.compared_share):
        return ""
    x0, t = np.asarray(problem.start.vertex(0), dtype=float), np.eye(M)
    with double_precision():
        ends = answer.flat(t) if isinstance(answer, BezierAtlas) else np.asarray(answer(t))
    evaluator = JaxEvaluator(problem.flat, M, L)
    there = evaluator.jacobians(ends)
    back = x0 - ends
    beside = evaluator.values(np.concatenate([ends + SCHEDULE.clear * back, x0[None]]))
    climb = beside - np.tile(np.diagonal(there.values), (M + 1, 1))
    steep = np.abs(np.einsum("mmi,mi->m", there.gradients, back))
    # Next to a pole an objective loses all of its height on the last piece of the way.
    near, height = np.diagonal(climb), climb[-1]
    at_pole = (height > 0) & (near > (1 - SCHEDULE.clear) * height)
    at_pole &= steep * SCHEDULE.negligible > height
    if at_pole.any():
        m = int(at_pole.argmax())
        place = point_in_words(ends[m], names, problem.raveling.units)
        return (
            f"{names.objectives[m]} {names.best_word(m, 'falls', 'rises')} without end towards"
            f" x = {place}: bounds must keep it away"
        )
    directions = np.concatenate([np.eye(L), -np.eye(L)])
    # An end that has run away is far out already.
    size = max(1.0, float(np.abs(ends).max()))
    steps = size * np.concatenate([[0.0], 10.0 ** np.arange(n_steps - 1)])
    x = (x0 + steps[:, None] * directions[:, None]).reshape(-1, L)
    f = evaluator.values(x)
    if feasible is not None:
        f = np.where((feasible.violation(x) > 0)[:, None], np.nan, f)
    f = f.reshape(2 * L, n_steps, M)
    fall, least = f[:, 0] - f[:, -1], np.diagonal(there.values)
    slope = np.einsum("mmi,ki->km", there.gradients, directions)
    down = np.isfinite(f).all(axis=1) & (np.diff(f, axis=1) <= 0).all(axis=1)
    down &= fall > SCHEDULE.negligible * (1 + np.abs(f[:, 0]))
    down &= (f[:, -1] <= least + SCHEDULE.negligible * fall) & (slope < 0)
    if endless:
        rise = f[:, -1] - f[:, -2] > SCHEDULE.clear * np.abs(f[:, -1] - f[:, 0])
        down &= rise.any(axis=1, keepdims=True)
    if not down.any():
        return ""
    k, m = np.argwhere(down)[0]
    side, variable = "-" if k >= L else "", names.solver_variables[k % L]
    verb = names.best_word(int(m), "falls", "rises")
    return (
        f"{names.objectives[m]} {verb} towards {variable} = {side}infinity, and its best value is"
        " attained nowhere: designs near that end of the set run away, and need a bound"
    )


def find_break(
    problem: Problem, evaluator: JaxEvaluator, surface: BezierSimplex, jumps: bool = True
) -> str:
    """Which objective falls without end, or jumps unless nobody asks, at which place of a variable.

    On lines through the start along each variable, the interval with the largest difference of
    values is halved: of a continuous function that difference vanishes. And the least value is
    followed: where there is a minimum it ends there, or comes nearer to its end by less and less.
    """
    names, (low, high, _), x0 = problem.names, region(problem), np.asarray(problem.start.vertex(0))
    if not can_break(problem.flat, len(x0)):
        return ""
    if problem.feasible is None:  # and around what was found
        x = np.concatenate([np.asarray(surface.control_points), low[None], high[None]])
        low, high = x.min(axis=0) - np.ptp(x, axis=0) / 2, x.max(axis=0) + np.ptp(x, axis=0) / 2
    n, M = min(len(x0), SCHEDULE.scanned_variables), surface.n_objectives

    def values(places: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k n_objectives"]:
        points = np.tile(x0, (*places.shape, 1))
        points[np.arange(n), :, np.arange(n)] = places
        return evaluator.values(points.reshape(-1, len(x0))).reshape(*places.shape, M)

    # off round numbers, where a place of a pole would have no value
    shares = (np.arange(SCHEDULE.scanned) + 0.382) / SCHEDULE.scanned
    places = low[:n, None] + (high - low)[:n, None] * shares
    f = values(places)
    finite = np.isfinite(f)
    least, most = f.min(1, initial=np.inf, where=finite), f.max(1, initial=-np.inf, where=finite)
    steps = np.nan_to_num(np.abs(np.diff(f, axis=1)), nan=0.0, posinf=0.0)
    i, m = np.indices((n, M))
    k = steps.argmax(axis=1)
    left, right, below, above = places[i, k], places[i, k + 1], f[i, k, m], f[i, k + 1, m]
    lowest, reach = least, ((high - low)[:n] / SCHEDULE.scanned)[:, None]
    bottom = places[i, np.where(finite, f, np.inf).argmin(axis=1)]
    halfway = lowest
    for k in range(SCHEDULE.halvings):
        reach, halfway = reach / 2, lowest if 2 * k <= SCHEDULE.halvings else halfway
        for side in (-reach, reach):
            lower = values(bottom + side)[i, m, m]
            bottom = np.where(lower < lowest, bottom + side, bottom)
            lowest = np.fmin(lower, lowest)
        middle = (left + right) / 2
        between = values(middle)[i, m, m]
        first = np.nan_to_num(np.abs(between - below), nan=np.inf) > np.abs(above - between)
        left, below = np.where(first, left, middle), np.where(first, below, between)
        right, above = np.where(first, middle, right), np.where(first, between, above)
    span = most - least
    varies, units = np.isfinite(span) & (span > 0), problem.raveling.units
    steady = halfway - lowest > SCHEDULE.steady * (least - halfway)
    endless = np.argwhere(varies & (lowest < least - span) & steady)
    if len(endless):
        v, o = endless[0]
        verb = names.best_word(int(o), "falls", "rises")
        place = f"{names.solver_variables[v]} = {bottom[v, o] * units[v]:.4g}"
        return (
            f"{names.objectives[o]} {verb} without end towards {place}: bounds must keep it away."
        )
    # A pole that rises is a wall, which keeps answers away.
    broken = varies & (np.abs(above - below) > SCHEDULE.clear * span)
    broken = np.argwhere(jumps & broken & (np.maximum(below, above) < most + span))
    if len(broken):
        v, o = broken[0]
        by, variable = names.signs[o] * (above - below)[v, o], names.solver_variables[v]
        return (
            f"{names.objectives[o]} jumps {'up' if by > 0 else 'down'} by {abs(by):.3g} as"
            f" {variable} rises past {left[v, o] * units[v]:.4g}: answers next to that cannot be"
            " verified."
        )
    return ""


def _kink(problem: Problem, evaluator: JaxEvaluator, surface: BezierSimplex) -> str:
    """Which objective has kinks along which variable, where that is the same at several points of
    the surface."""
    names = problem.names
    try:
        if find_kinks(problem.flat, surface.n_variables) == 0:
            return ""
    except CannotLiftError:  # there are kinks, of a kind that is not known
        pass
    M = surface.n_objectives
    # One point towards each corner, at different distances from the center.
    towards = (np.eye(M) - 1 / M) * np.linspace(0.2, 0.6, M)[:, None]
    points = np.asarray(surface(np.full((1, M), 1 / M) + towards))
    least = SCHEDULE.clear * (1 + np.abs(points).max())
    width = np.maximum(np.ptp(points, axis=0), least)
    for i in range(surface.n_variables):
        for m in range(M):
            found = [find_jump(evaluator, x, i, m, 2 * width[i]) for x in points]
            apart = SCHEDULE.negligible * (1 + np.abs(found).max())
            if np.isfinite(found).all() and np.ptp(found) <= apart:
                place = 0.0 if abs(found[0]) < SCHEDULE.negligible * width[i] else found[0]
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

    def slopes(places: np.ndarray) -> Float[np.ndarray, " n"]:
        points = np.tile(x, (len(places), 1))
        points[:, i] = places
        return evaluator.jacobians(points).gradients[:, m, i]

    # A kink far from the points that were found explains nothing about them.
    places = np.linspace(x[i] - reach, x[i] + reach, SCHEDULE.scanned)
    at_places = slopes(places)
    largest, k = float(np.abs(at_places).max()), int(np.argmax(np.abs(np.diff(at_places))))
    low, high, left, right = places[k], places[k + 1], at_places[k], at_places[k + 1]
    for _ in range(SCHEDULE.halvings):
        if not abs(right - left) > SCHEDULE.clear * largest:
            return float("nan")
        middle = (low + high) / 2
        slope = slopes(np.array([middle]))[0]
        if abs(right - slope) > abs(slope - left):
            low, left = middle, slope
        else:
            high, right = middle, slope
    return float(low)


def _designs(answer: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """About n points t, half of them on a grid that has the edges, half inside, and the designs
    that a surface or the patches of an atlas have there: nothing is solved for."""
    M = answer.n_objectives
    inside = np.asarray(from_cube(kronecker(n // 2, M - 1)))
    t = np.concatenate([grid(M, largest_degree_within(M, n - n // 2)), inside])
    if isinstance(answer, BezierAtlas):
        return t, answer.units.x(answer.mapped(answer.place(t)).z)
    with double_precision():
        return t, np.asarray(answer(t))


def jump_beside(problem: Problem, answer: Any) -> str:
    """Which objective jumps next to a design of an answer, or has no values next to many, in words;
    empty where none does.

    An interval of each variable around designs is halved: of a continuous function the difference
    between its ends vanishes with it, of a jump it stays. Functions on the host are asked for the
    ends of the intervals alone, and a jump must be larger to be told from a slope.
    """
    x = _designs(answer, SCHEDULE.few_points)[1]
    (N, L), M = x.shape, answer.n_objectives
    if SCHEDULE.most_variables < L or not can_break(problem.flat, L, at_edges=True):
        return ""
    n, width, on_host = min(L, SCHEDULE.scanned_variables), np.ptp(x, axis=0), bridges(problem.flat)
    step = SCHEDULE.beside_break * np.maximum(width, SCHEDULE.narrowest * width.max())
    evaluator, names = JaxEvaluator(problem.flat, M, L), problem.names
    v, k, m = np.indices((n, N, M))

    def values(places: Float[np.ndarray, "n n_designs n_objectives"]) -> np.ndarray:
        """Of objective m, at designs with variable v at these places."""
        points = np.tile(x[None, :, None], (n, 1, M, 1))
        points[v, k, m, v] = places
        if problem.feasible is not None:
            points = np.asarray(problem.feasible.clip(points))
        return evaluator.values(points.reshape(-1, L)).reshape(n, N, M, M)[v, k, m, m]

    edge = step[v] * SCHEDULE.beside_edge
    bad = ~np.isfinite(values(x[k, v] - edge)) | ~np.isfinite(values(x[k, v] + edge))
    share = float(bad.any(axis=(0, 2)).mean())
    if share > SCHEDULE.most_at_edge:
        i, j, o = np.argwhere(bad)[0]
        place = f"{names.solver_variables[i]} = {x[j, i] * problem.raveling.units[i]:.4g}"
        return (
            f"{names.objectives[o]} has no values next to {share:.0%} of the answer, as beyond"
            f" {place}: a set that ends where values do cannot be verified; keep that out by bounds"
            " or a constraint"
        )
    if not can_break(problem.flat, L):
        return ""
    low, high = x[k, v] - step[v], x[k, v] + step[v]
    left, right = values(low), values(high)
    span = np.nanmax([left, right], axis=(0, 1, 2)) - np.nanmin([left, right], axis=(0, 1, 2))
    halfway, n_halvings = np.abs(right - left), 0 if on_host else SCHEDULE.halvings
    for j in range(n_halvings):
        middle = (low + high) / 2
        between = values(middle)
        first = np.abs(between - left) > np.abs(right - between)
        low, left = np.where(first, low, middle), np.where(first, left, between)
        high, right = np.where(first, middle, high), np.where(first, between, right)
        halfway = np.abs(right - left) if 2 * j <= n_halvings else halfway
    stays = np.abs(right - left)
    least = SCHEDULE.across_break * (1.0 if on_host else SCHEDULE.clear)
    jumps = np.argwhere((stays > least * span) & (stays > SCHEDULE.steady * halfway))
    if not len(jumps):
        return ""
    v, k, m = jumps[0]
    place, unit = low[v, k, m], problem.raveling.units[v]
    return (
        f"{names.objectives[m]} jumps by {stays[v, k, m]:.3g} next to the answer, where"
        f" {names.solver_variables[v]} passes {place * unit:.4g}: designs beside that cannot be"
        " verified"
    )


def find_holes(problem: Problem, answer: Any) -> tuple[float, str]:
    """At which share of an answer an objective is not finite, and where, in words: derivatives may
    be so all over a place without values. Where none is, words say if a budget allowed fewer points
    than usual."""
    M, L, calls = problem.start.n_objectives, problem.start.n_variables, problem.calls
    n = int(np.clip(SCHEDULE.most_numbers // L, 1, SCHEDULE.value_points))
    if bridges(problem.flat):
        most = np.inf if calls.limit is None else SCHEDULE.compared_share * calls.limit
        n = int(min(n, max(most, SCHEDULE.few_points), calls.left))
    usual = n == SCHEDULE.value_points or not bridges(problem.flat)
    few = "" if usual else f"values were looked at in {n} points of the answer alone"
    if M == 1 or n < 2:
        return 0.0, "" if M == 1 else few
    t, x = _designs(answer, n)
    f = JaxEvaluator(problem.flat, M, L).values(x)
    bad = ~np.isfinite(f)
    if not bad.any():
        return 0.0, few
    k, m = np.argwhere(bad)[0]
    share, name = float(bad.any(axis=1).mean()), problem.names.objectives[m]
    words = point_in_words(x[k], problem.names, problem.raveling.units)
    place = f"x = {words}, t = {np.round(t[k], 4).tolist()}"
    return share, f"{name} is {f[k, m]} at {share:.1%} of {len(t)} points, the first {place}"


def single_design(answer: Any) -> Float[np.ndarray, " n_variables"] | None:
    """The design that an answer consists of; None where it has several."""
    if answer.n_objectives == 1:
        return None
    x = _designs(answer, SCHEDULE.few_points)[1]
    return x[0] if np.ptp(x, axis=0).max() <= SCHEDULE.one_design * (1 + np.abs(x).max()) else None


def describe_thinness(surface: BezierSimplex) -> str | None:
    """That a flat surface has fewer dimensions than its simplex, in words; None where it has as
    many.

    FlatObjectives that agree, or follow from others, make a set thinner than their number allows.
    """
    M, L = surface.n_objectives, surface.n_variables
    if M == 1 or SCHEDULE.thinness_variables < L:
        return None
    with double_precision():
        t = from_cube(kronecker(SCHEDULE.thinness_points, M - 1))
        slopes = np.asarray(surface.jacobian(t), dtype=float)
    if not np.isfinite(slopes).all():
        return None
    lengths = np.linalg.svd(slopes, compute_uv=False)  # of the axes of the tangent ellipsoids
    size = 1 + np.abs(np.asarray(surface.control_points)).max()
    short = max(SCHEDULE.flat * lengths.max(), SCHEDULE.rounding * size)
    dimension = int((lengths > short).sum(axis=1).max())
    if dimension >= M - 1:
        return None
    what = {0: "a point", 1: "a curve", 2: "a surface"}.get(dimension, f"of dimension {dimension}")
    return (
        f"the set is {what}, thinner than {M} objectives allow: some agree, or follow from others"
    )
