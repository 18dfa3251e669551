"""The point of the front above a chart point, from a start nearby: sequential quadratic
programming, then Newton on the label."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from .labels import Solutions, newton, signs, start
from .program import INFEASIBLE, TIE, Look, Program
from .quadratic import solve_programs

MOST_STEPS = 40
FIRST_RADIUS, LARGEST_RADIUS, SMALLEST_RADIUS = 0.25, 0.5, 1e-9
SHORT_STEP = 1e-7
"""A step shorter than this ends a search."""

FLATTEST = 1e-6
"""Curvatures below this share of the largest are raised to it, so that each quadratic program has
one solution."""

WRONG_SIGN = -1e-8
"""A sign below this is wrong."""


@dataclass
class Ends:
    """Where searches ended: points with rows, multipliers and the label that the last quadratic
    program suggests."""

    z: np.ndarray
    r: np.ndarray
    mu: np.ndarray
    active: np.ndarray
    side: np.ndarray


@dataclass
class Answers:
    """The best known points above chart points.

    Attributes:
        found: solutions of their labels; where `good` is False only z, r and s of them mean
            something.
        good: whether all conditions of optimality hold.
        merit: s with its tie-break.
    """

    found: Solutions
    good: Bool[np.ndarray, " n"]
    merit: Float[np.ndarray, " n"]

    def take(self, rows: np.ndarray) -> "Answers":
        """Some of them."""
        return Answers(self.found.take(rows), self.good[rows], self.merit[rows])

    def put(self, rows: np.ndarray, other: "Answers") -> None:
        """Replaces some of them."""
        self.found.put(rows, other.found)
        self.good[rows], self.merit[rows] = other.good, other.merit


def solve(
    program: Program, a: Float[np.ndarray, "n n_objectives"], z: Float[np.ndarray, "n n_free"]
) -> Answers:
    """A local solution above each chart point, from each start, with its label: found by SQP, made
    exact by Newton's method.

    Where Newton ends with wrong signs the label is mended: what has a wrong sign is switched, first
    the worst alone, then all.
    """
    ends = descend(program, a, z)
    answers = _label(program, a, ends)
    for attempt in range(3):
        rest = np.flatnonzero(~answers.good)
        if len(rest) == 0:
            break
        found = answers.found.take(rest)
        active, side = _switched(program, found, only_worst=attempt == 0)
        parts = Ends(ends.z[rest], ends.r[rest], ends.mu[rest], active, side)
        again = _label(program, a[rest], parts)
        use = again.good if attempt == 2 else np.ones(len(rest), dtype=bool)
        answers.put(rest[use], again.take(use))
    rest = np.flatnonzero(~answers.good)
    answers.found.z[rest], answers.found.r[rest] = ends.z[rest], ends.r[rest]
    answers.found.s[rest] = (ends.r[rest, : program.n_objectives] - a[rest]).max(axis=1)
    answers.merit[rest] = program.merit(ends.r[rest], a[rest])
    return answers


def judge(program: Program, found: Solutions) -> Answers:
    """Solutions of labels as answers: good where they converged and all signs are right."""
    good = found.ok & (signs(program, found).min(axis=1) > WRONG_SIGN)
    return Answers(found, good, found.s + TIE * found.r[:, : program.n_objectives].sum(axis=1))


def _label(program: Program, a: np.ndarray, ends: Ends) -> Answers:
    return judge(
        program,
        newton(program, start(program, a, ends.z, ends.mu, ends.active, ends.side, ends.r), most=8),
    )


def _switched(
    program: Program, found: Solutions, only_worst: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The labels with what has a wrong sign switched: active rows released, violated ones
    activated."""
    L, M = program.n_free, program.n_objectives
    sign = np.nan_to_num(signs(program, found), nan=-1.0)
    wrong = sign < WRONG_SIGN
    if only_worst:
        wrong &= sign == sign.min(axis=1, keepdims=True)
    nearest = np.where(found.z - program.lower < program.upper - found.z, -1, 1)
    side = np.where(wrong[:, :L], np.where(found.side == 0, nearest, 0), found.side)
    active = found.active.copy()
    active[:, : wrong.shape[1] - L] ^= wrong[:, L:]
    none = np.flatnonzero(~active[:, :M].any(axis=1))
    active[none, :M] = found.active[none, :M]
    return active, side


def descend(
    program: Program, a: Float[np.ndarray, "n n_objectives"], z: Float[np.ndarray, "n n_free"]
) -> Ends:
    """Local minimizers of the merit: quadratic programs with the exact curvature (its absolute
    value) in a trust region."""
    n, M, R = len(z), program.n_objectives, program.n_rows
    z = program.clip(z)
    look = program.look(z)
    r, J, H = look.r.copy(), look.J.copy(), look.H.copy()
    merit = program.merit(r, a)
    radius = np.full(n, FIRST_RADIUS)
    mu = np.concatenate([np.full((n, M), 1 / M), np.zeros((n, R - M))], axis=1)
    active, side = np.zeros((n, R), dtype=bool), np.zeros(z.shape, dtype=int)
    todo = np.flatnonzero(np.isfinite(merit))
    for _ in range(MOST_STEPS):
        if len(todo) == 0:
            break
        here = Look(r[todo], J[todo], H[todo])
        d, mu[todo], active[todo], side[todo] = _model_step(
            program, here, mu[todo], z[todo], a[todo], radius[todo]
        )
        trial, r_trial = program.step_to(z[todo] + d)
        after = program.merit(r_trial, a[todo])
        length = np.abs(d).max(axis=1)
        better = after < merit[todo] - 1e-10 * length
        moved = todo[better]
        z[moved], merit[moved] = trial[better], after[better]
        if len(moved):
            look = program.look(z[moved])
            r[moved], J[moved], H[moved] = look.r, look.J, look.H
        grown = np.where(length > 0.9 * radius[todo], 2.5 * radius[todo], radius[todo])
        radius[todo] = np.where(
            better, np.minimum(grown, LARGEST_RADIUS), 0.3 * np.minimum(radius[todo], length)
        )
        todo = todo[(length >= SHORT_STEP) & (radius[todo] >= SMALLEST_RADIUS)]
    nothing = np.flatnonzero(~active[:, :M].any(axis=1))
    active[nothing, (r[:, :M] - a).argmax(axis=1)[nothing]] = True
    return Ends(z, r, mu, active, side)


def _model_step(
    program: Program, look: Look, mu: np.ndarray, z: np.ndarray, a: np.ndarray, radius: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The step of the quadratic model within the radius, its multipliers, and the label that it
    ends with.

    Unknowns are the step d, the level s and the largest violation v of linearized constraints,
    which has its price.
    """
    n, L = z.shape
    M, R, end = program.n_objectives, program.n_rows, program.n_objectives + program.n_inequalities
    H = np.einsum("nr,nrij->nij", mu + TIE * (np.arange(R) < M), look.H)
    values, vectors = np.linalg.eigh(H)
    values = np.abs(values)
    values = np.maximum(values, FLATTEST * np.maximum(1e-3, values.max(axis=1, keepdims=True)))
    Q = np.zeros((n, L + 2, L + 2))
    Q[:, :L, :L] = (vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    Q += 1e-10 * np.eye(L + 2)
    q = np.concatenate(
        [TIE * look.J[:, :M].sum(axis=1), np.ones((n, 1)), np.full((n, 1), INFEASIBLE)], axis=1
    )
    J, r = look.J, look.r
    unit = np.eye(L + 2)
    both = [_rows(J[:, :M], -1.0, 0.0), _rows(J[:, M:], 0.0, -1.0), _rows(-J[:, end:], 0.0, -1.0)]
    sides = [
        np.broadcast_to(-unit[L + 1 :], (n, 1, L + 2)),
        np.broadcast_to(unit[:L], (n, L, L + 2)),
        np.broadcast_to(-unit[:L], (n, L, L + 2)),
    ]
    room_up, room_down = (
        np.minimum(program.upper - z, radius[:, None]),
        np.minimum(z - program.lower, radius[:, None]),
    )
    b = np.concatenate(
        [a - r[:, :M], -r[:, M:], r[:, end:], np.zeros((n, 1)), room_up, room_down], axis=1
    )
    begin = np.zeros((n, L + 2))
    begin[:, L], begin[:, L + 1] = (r[:, :M] - a).max(axis=1) + 1.0, 1.0
    best = solve_programs(Q, q, np.concatenate([*both, *sides], axis=1), b, begin)
    d, tight = best.y[:, :L], best.multiplier > best.slack
    multiplier = best.multiplier[:, :R].copy()
    multiplier[:, end:] -= best.multiplier[:, R : R + R - end]
    active = tight[:, :R].copy()
    active[:, end:] = True
    at_upper = tight[:, -2 * L : -L] & (program.upper - z - d < 1e-6)
    at_lower = tight[:, -L:] & (z + d - program.lower < 1e-6)
    return d, multiplier, active, np.where(at_upper, 1, np.where(at_lower, -1, 0))


def _rows(J: np.ndarray, level: float, violation: float) -> np.ndarray:
    """Rows of the linearized program: slopes, and the coefficients of s and v."""
    n, k = J.shape[:2]
    return np.concatenate([J, np.full((n, k, 1), level), np.full((n, k, 1), violation)], axis=2)
