"""Curves of a front of two objectives, followed along the chart from one change of the active set
to the next.

Between two changes solutions are smooth, and a polynomial of low degree holds them: an arc. Its
signs say where it ends, by which inequality, and so what is active on the next one, as critical
line methods do for portfolios. The cost of a kink is a few nodes, however many variables there are.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..answer import Label, Patch, frame, variables
from ..bezier import design_matrix
from .active_sets import Curvature, follow
from .holding import Active, Held, hold, independent, sign_slopes, signs, switched
from .local_solves import Ends
from .program import Program
from .schedule import SCHEDULE


class Trail(NamedTuple):
    """What was followed: a patch for each arc, the coordinate where it ended, and the solution
    there; whether Newton's method found one to start from."""

    patches: list[Patch]
    reached: float
    end: Ends
    started: bool


class Arc(NamedTuple):
    """A patch, the sign that ends it (−1 for none), where and with which quantities, and whether a
    longer one was tried in vain."""

    patch: Patch
    event: int
    c: float
    y: Float[np.ndarray, " width"]
    short: bool = False

    def longest_next(self, begin: float) -> float:
        """How long the arc after this one may be, which began there."""
        return 2 * abs(self.c - begin) if self.short else SCHEDULE.arc_lengths[1]


def trace(
    program: Program,
    begin: Ends,
    ends: tuple[float, float],
    tol: float,
    beaten: Callable[[float, float], bool],
    last: bool = False,
) -> Trail:
    """Arcs from a solution towards another coordinate, as far as it can be followed.

    Args:
        program: is asked.
        begin: one solution, with what is active there.
        ends: its coordinate, and where to stop.
        tol: the largest error of an arc, in units of the ranges.
        beaten: whether a coordinate has a lower level than a given one: then nothing is followed
            any more.
        last: whether the front ends about there: an arc that reaches it may go on to its end.
    """
    curvature, (c, stop), way = Curvature(program), ends, float(np.sign(ends[1] - ends[0]))
    z, mu, longest = begin.z[0], begin.mu[0], SCHEDULE.arc_lengths[1]
    active, at = _start(curvature, begin, c)
    arcs, started = list[Arc](), bool(at.ok[0])
    while at.ok[0] and way * (stop - c) > tol and not _crawls(arcs):
        arc = _arc(curvature, active, at, (c, stop, longest), tol)
        if arc is None:
            break
        arcs.append(arc)
        longest = arc.longest_next(c)
        c, (z, mu) = arc.c, _design(program, active, arc.y)
        if beaten(c, float(arc.y[program.n_free])):
            break
        active, at = _enter(curvature, active, arc, way)
    if last and at.ok[0] and way * (stop - c) <= tol:
        arc = _arc(
            curvature,
            active,
            at,
            (c, c + way * SCHEDULE.outside, SCHEDULE.arc_lengths[1]),
            tol,
            SCHEDULE.few_tries,
        )
        if arc is not None and arc.event >= 0:
            arcs.append(arc)
            c, (z, mu) = arc.c, _design(program, active, arc.y)
    z = np.clip(z, program.lower, program.upper)[None]
    label = active.rows[None], active.side[None]
    end = Ends(z, program.values(z), mu[None], *label)
    return Trail([arc.patch for arc in arcs], c, end, started)


def _crawls(arcs: list[Arc]) -> bool:
    """Whether the last arcs led nowhere."""
    short = len(arcs) >= SCHEDULE.most_short and all(
        arc.short for arc in arcs[-SCHEDULE.most_short :]
    )
    many = (
        len(arcs) > SCHEDULE.many_arcs
        and abs(arcs[-1].c - arcs[-SCHEDULE.many_arcs].c) < SCHEDULE.little
    )
    return short or many


def _start(curvature: Curvature, begin: Ends, c: float) -> tuple[Active, Held]:
    """What is active at a solution, and the solution: as a search says, or else as its design does,
    with both objectives on the level."""
    program, rows = curvature.program, np.arange(curvature.program.n_rows)
    M, end = program.n_objectives, program.n_objectives + program.n_inequalities
    z, r = begin.z[0], begin.r[0]
    side = np.where(
        z < program.lower + SCHEDULE.at_bound,
        -1,
        np.where(z > program.upper - SCHEDULE.at_bound, 1, 0),
    )
    tight = (rows < M) | (rows >= end) | (r > -SCHEDULE.at_bound)
    half = np.where(rows < M, 1 / M, 0.0)
    active = independent(curvature, Active(begin.active[0], begin.side[0]), z, begin.mu[0])
    at = np.array([c])
    if active.rows[:M].all():
        found = hold(curvature, active, at, begin.z, begin.mu)
        if found.ok[0] and signs(program, active, found.y).min() > -SCHEDULE.wrong_start:
            return active, found
    active = independent(curvature, Active(tight, side), z, begin.mu[0])
    found = hold(curvature, active, at, begin.z, half[None])
    found.ok[0] &= bool(signs(program, active, found.y).min() > -SCHEDULE.wrong_start)
    return active, found


def _design(
    program: Program, active: Active, y: Float[np.ndarray, " width"]
) -> tuple[Float[np.ndarray, " n_free"], Float[np.ndarray, " n_rows"]]:
    """The variables and the multipliers of quantities."""
    L, side = program.n_free, active.side
    z = np.where(side == 0, y[:L], np.where(side < 0, program.lower, program.upper))
    return z, np.where(active.rows, y[L + 1 :], 0.0)


def _enter(curvature: Curvature, before: Active, arc: Arc, way: float) -> tuple[Active, Held]:
    """What is active beyond the end of an arc, and the solution there; not ok where nothing goes
    on."""
    program, M = curvature.program, curvature.program.n_objectives
    (z, mu), after = _design(program, before, arc.y), before
    if arc.event >= 0:
        after = switched(program, before, arc.event)
    beyond = np.array([arc.c + (way * SCHEDULE.nudge if arc.event >= 0 else 0.0)])
    there = hold(curvature, after or before, beyond, z[None], mu[None])
    if after is None:  # the front ends
        there.ok[0] = False
    if after is None or arc.event < 0:
        return before, there
    if there.ok[0] and signs(program, after, there.y).min() > -SCHEDULE.touched:
        return after, there
    # Several inequalities change at once, or one that was only touched.
    r, z = np.zeros((1, program.n_rows)), np.clip(z, program.lower, program.upper)
    for start in (after, before):
        begin = Ends(z[None], r, mu[None], start.rows[None], start.side[None])
        found, good = follow(program, beyond[:, None] * frame(M), begin, curvature)
        if good[0] and found.active[0, :M].all():
            new = Active(found.active[0], found.side[0])
            new = independent(curvature, new, found.z[0], found.mu[0])
            there = hold(curvature, new, beyond, found.z, found.mu)
            there.ok[0] &= bool(np.abs(there.z - z).max() < SCHEDULE.apart)
            return new, there
    there.ok[0] = False
    return after, there


def _arc(
    curvature: Curvature,
    active: Active,
    at: Held,
    where: tuple[float, float, float],
    tol: float,
    most: int = 100,
) -> Arc | None:
    """The arc that begins beside a solution, up to the first change of signs; None where Newton's
    method leads nowhere in so many tries at most. `where` says where it begins, where it ends at
    the latest, and how long it may be."""
    program, (begin, stop, longest) = curvature.program, where
    way = 1.0 if stop > begin else -1.0
    here, slopes = signs(program, active, at.y)[0], way * sign_slopes(program, active, at.slope)[0]
    falling = (slopes < 0) & (here > SCHEDULE.touched)
    near = float((here[falling] / -slopes[falling]).min(initial=np.inf))
    length = min(
        abs(stop - begin), longest, max(SCHEDULE.beyond * near, 10 * SCHEDULE.arc_lengths[0])
    )
    for tried in range(most):
        if length <= SCHEDULE.arc_lengths[0] or (
            tried > 1 and length < SCHEDULE.share_of_way * abs(stop - begin)
        ):
            break
        fit = _fit(curvature, active, at, (begin, begin + way * length), tol)
        if fit is not None:
            arc = _trimmed(program, active, fit, begin, way * length)
            if _keeps_constraints(program, arc):
                return arc._replace(short=tried > 1)
        # Beyond an end there may be nothing to follow: up to it, then shorter.
        length = near if tried == 0 and near < length else SCHEDULE.shrink[min(tried, 1)] * length
    return None


def _keeps_constraints(program: Program, arc: Arc) -> bool:
    """Whether inequalities hold along an arc, by values between its nodes: they may oscillate."""
    if program.n_inequalities == 0:
        return True
    y = arc.patch(
        np.linspace(arc.patch.domain[0, 1], -arc.patch.domain[1, 1], SCHEDULE.between)[:, None]
    )
    z = variables(arc.patch.label, y, (program.lower, program.upper))
    return bool(program.nearly_feasible(program.values(z)).all())


class Fit(NamedTuple):
    """A polynomial of quantities between two coordinates, with its error at fresh ones, and that of
    its signs."""

    degree: int
    control_points: Float[np.ndarray, "n_controls width"]
    error: float
    blur: Float[np.ndarray, " n_signs"]

    def __call__(self, t: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n width"]:
        """The quantities at shares of the way."""
        return design_matrix(np.stack([1 - t, t], axis=1), self.degree) @ self.control_points


def _fit(
    curvature: Curvature, active: Active, at: Held, ends: tuple[float, float], tol: float
) -> Fit | None:
    """The polynomial of least degree that suffices; None where a node cannot be found, or no degree
    suffices."""
    program, L, (begin, end) = curvature.program, curvature.program.n_free, ends
    known: dict[float, np.ndarray] = {}
    fit, before = None, np.inf
    for degree in (*SCHEDULE.degrees, 2 * SCHEDULE.degrees[-1]):
        t = np.round(0.5 - 0.5 * np.cos(np.pi * np.arange(degree + 1) / degree), 12)
        new = np.array([point for point in t if point not in known])
        c = begin + new * (end - begin)
        y = _along(program, active, at, c) if fit is None else fit(new)
        found = hold(curvature, active, c, y[:, :L], y[:, L + 1 :], at.equations)
        if not found.ok.all():
            return None
        if fit is not None:
            error = _miss(program, active, y, found)
            if error < tol:
                off = signs(program, active, y) - signs(program, active, found.y)
                return fit._replace(error=error, blur=SCHEDULE.blurred * np.abs(off).max(axis=0))
            if degree > SCHEDULE.degrees[-1] or error > SCHEDULE.slow_gain * before:
                return None
            before = error
        known.update(zip(new.tolist(), found.y, strict=True))
        basis = design_matrix(np.stack([1 - t, t], axis=1), degree)
        control_points = np.linalg.solve(basis, np.array([known[point] for point in t]))
        fit = Fit(degree, control_points, before, np.zeros(0))
    return None


def _along(
    program: Program, active: Active, at: Held, c: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n width"]:
    """Quantities along the tangent at a solution."""
    L, y = program.n_free, at.y + at.slope * (c - at.c)[:, None]
    # Tangents may lead out of the box, where some functions are not defined.
    inside = (1 - SCHEDULE.kept_inside) * np.array(
        [program.lower, program.upper]
    ) + SCHEDULE.kept_inside * at.z
    y[:, :L] = np.where(active.side == 0, np.clip(y[:, :L], *inside), y[:, :L])
    return y


def _miss(program: Program, active: Active, y: np.ndarray, found: Held) -> float:
    """By how much predictions are wrong: the objectives of their designs, their levels, a part of
    the designs, and inactive constraints where that is not little beside their slack."""
    L, M, end = program.n_free, program.n_objectives, program.n_objectives + program.n_inequalities
    f = found.c[:, None] * frame(M) + found.y[:, L, None]
    # Beyond the end of an arc objectives need not be defined.
    in_f = np.nan_to_num(np.abs(found.first[:, :M] - f)).max()
    in_z = np.abs(np.where(active.side == 0, y[:, :L] - found.z, 0.0)).max(initial=0.0)
    in_level = np.abs(y[:, L] - found.y[:, L]).max()
    g, true = y[:, L + 1 + M : L + 1 + end], found.first[:, M:end]
    in_g = np.where(active.rows[M:end], 0.0, np.abs(g - true) - SCHEDULE.of_slack * np.abs(true))
    in_g = np.nan_to_num(in_g).max(initial=0.0)
    return float(max(in_f, in_level, SCHEDULE.in_designs * in_z, in_g))


def _trimmed(program: Program, active: Active, fit: Fit, begin: float, length: float) -> Arc:
    """An arc up to where its first sign changes."""
    t = np.linspace(0, 1, SCHEDULE.looked)
    # A polynomial lies in the convex hull of its control points: others never change.
    control_points = signs(program, active, fit.control_points)
    near = np.flatnonzero((control_points < SCHEDULE.touched).any(axis=0))
    bends, blur = fit._replace(control_points=control_points[:, near]), fit.blur[near]
    values = bends(t)
    # What is 0 at the begin was switched there; it counts once it has been positive.
    counts = np.maximum.accumulate(values, axis=0) > SCHEDULE.touched
    wrong = counts & (values < -np.maximum(blur, SCHEDULE.touched))
    event, end = -1, 1.0
    if wrong.any():
        k = int(wrong.any(axis=1).argmax())
        ends = {j: _root(bends, j, t[: k + 1]) for j in np.flatnonzero(wrong[k]).tolist()}
        first = min(ends, key=ends.__getitem__)
        event, end = int(near[first]), ends[first]
    elif (counts[-1] & (values[-1] < SCHEDULE.touched)).any():
        event = int(near[np.where(counts[-1], values[-1], np.inf).argmin()])
    M, stop = program.n_objectives, begin + length * end
    # Its domain ends where its signs do.
    label = Label(
        active.rows[:M], active.rows[M:], active.side, program.n_inequalities, trimmed=False
    )
    corners = np.array([[begin], [begin + length]])
    domain = np.array([[1.0, max(begin, stop)], [-1.0, -min(begin, stop)]])
    patch = Patch(label, corners, fit.degree, fit.control_points, domain, fit.error)
    return Arc(patch, event, stop, fit(np.array([end]))[0])


def _root(signs: Fit, sign: int, t: Float[np.ndarray, " n"]) -> float:
    """The last share of the way, of those before the last one, from which on a sign is negative."""
    own = signs._replace(control_points=signs.control_points[:, [sign]])
    for _ in range(1 + SCHEDULE.refined):
        k = int(np.flatnonzero(own(t)[:, 0] >= -SCHEDULE.rounding).max(initial=0))
        t = np.linspace(t[k], t[min(k + 1, len(t) - 1)], SCHEDULE.looked)
    return float(t[0])
