"""Labels of regions, and the square system of equations that holds in one: solutions as smooth
functions of the chart point.

A label says which rows are active (their inequality holds with equality) and which variables are at
a bound. Given a label, the conditions of optimality without their signs are as many equations as
unknowns (z, s, μ):

    Σ_r μ_r ∂r/∂z_i = 0 for free variables,  z_i = its bound for the others,  Σ_m μ_m = 1 over the
    objectives, r = a_m + s for active objectives, r = 0 for active constraints, μ_r = 0 for the
    rest.

Newton's method solves them, and the implicit function theorem gives their derivatives in a. A
solution holds where all signs are right: multipliers and slacks at least 0. A little beyond, the
equations still have a smooth solution, which is what lets a polynomial be fitted across the place
where a sign changes.
"""

from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from ..runs import kind
from .program import Look, Program
from .quadratic import invert

TIE_OF_LABELS = 1e-7
"""The weight of Σ f_m in the equations of a label with inactive objectives: it makes their solution
unique where the active objectives alone do not. Where all are active they need none."""

LONGEST_STEP = 0.3
"""Of z, in one Newton step."""

CLOSE_STEP = 1e-5
"""A Newton step shorter than this is the last: the error after it is its square."""

FLAT = 1e-10
"""Added to the curvature in each Newton step: a variable that nothing depends on stays where it is.
Solutions are the same."""

STILL = 1e-10
"""A search that used up its steps has converged all the same if its last one changed no row by
more: where rows are flatter than quadratic, steps shorten by a constant factor only."""

WEAK = 10 * TIE_OF_LABELS
"""A bound whose multiplier is smaller has no price but that of the tie-break: its variable may
leave it."""

BENT = 1e-4
"""Where such a variable may leave its bound, curvatures below minus this are negative."""

ZERO = 1e-9
"""Eigenvalues above minus this count as nonnegative."""


@kind("atlas.solutions/1")
@dataclass
class Solutions:
    """Solutions of the equations of labels, one a row, at n chart points.

    Attributes:
        a: chart points.
        z: scaled variables.
        s: the level of the active objectives, f_m = a_m + s.
        mu: multipliers of the rows; 0 where inactive.
        active: which rows are active; equalities always.
        side: −1 for variables at their lower bound, 1 at the upper, 0 for free ones.
        bound: the multiplier of the bound of each variable that is at one, 0 for free ones.
        r: the rows' values.
        tangent: ∂(z, s, μ)/∂a.
        ok: whether Newton's method converged to a minimum (up to signs).
        first: the rows' values where the search began.
    """

    a: Float[np.ndarray, "n n_objectives"]
    z: Float[np.ndarray, "n n_free"]
    s: Float[np.ndarray, " n"]
    mu: Float[np.ndarray, "n n_rows"]
    active: Bool[np.ndarray, "n n_rows"]
    side: Int[np.ndarray, "n n_free"]
    bound: Float[np.ndarray, "n n_free"]
    r: Float[np.ndarray, "n n_rows"]
    tangent: Float[np.ndarray, "n n_unknowns n_objectives"]
    ok: Bool[np.ndarray, " n"]
    first: Float[np.ndarray, "n n_rows"]

    def __len__(self) -> int:
        return len(self.s)

    def take(self, rows: np.ndarray) -> "Solutions":
        """Some of them, by number or mask."""
        return Solutions(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def put(self, rows: np.ndarray, other: "Solutions") -> None:
        """Replaces some of them."""
        for field in fields(self):
            getattr(self, field.name)[rows] = getattr(other, field.name)

    @staticmethod
    def join(parts: "list[Solutions]") -> "Solutions":
        """All of them in one."""
        return Solutions(
            **{
                field.name: np.concatenate([getattr(p, field.name) for p in parts])
                for field in fields(Solutions)
            }
        )


def signs(program: Program, found: Solutions) -> Float[np.ndarray, "n n_switches"]:
    """What must be at least 0: for each variable, then for each objective and inequality, its
    multiplier or else its slack.

    A free variable has two slacks, of which this is the smaller.
    """
    M, end = program.n_objectives, program.n_objectives + program.n_inequalities
    room = np.minimum(found.z - program.lower, program.upper - found.z)
    level = np.concatenate([found.a + found.s[:, None], np.zeros((len(found), end - M))], axis=1)
    slack = level - found.r[:, :end]
    return np.concatenate(
        [
            np.where(found.side == 0, room, found.bound),
            np.where(found.active[:, :end], found.mu[:, :end], slack),
        ],
        axis=1,
    )


def start(
    program: Program,
    a: np.ndarray,
    z: np.ndarray,
    mu: np.ndarray,
    active: np.ndarray,
    side: np.ndarray,
    r: np.ndarray,
) -> Solutions:
    """Where Newton's method may begin."""
    n, M = a.shape
    s = np.where(active[:, :M], r[:, :M] - a, -np.inf).max(axis=1)
    unknowns = program.n_free + 1 + program.n_rows
    return Solutions(
        a,
        z,
        s,
        np.where(active, mu, 0.0),
        active,
        side,
        np.zeros_like(z),
        r,
        np.zeros((n, unknowns, M)),
        np.zeros(n, dtype=bool),
        r,
    )


def predict(begin: Solutions, a: Float[np.ndarray, "n n_objectives"]) -> Solutions:
    """The solutions moved along their tangents to other chart points."""
    L = begin.z.shape[1]
    change = np.einsum("nij,nj->ni", begin.tangent, a - begin.a)
    usable = np.isfinite(change).all(axis=1) & (
        np.abs(change[:, :L]).max(axis=1, initial=0.0) < 0.5
    )
    change = np.where(usable[:, None], change, 0.0)
    return replace(
        begin,
        a=a,
        z=begin.z + change[:, :L],
        s=begin.s + change[:, L],
        mu=begin.mu + change[:, L + 1 :],
    )


def newton(program: Program, begin: Solutions, most: int = 6) -> Solutions:
    """Solves the equations of each row's label at its chart point, from what `begin` says."""
    found = replace(
        begin, **{field.name: np.array(getattr(begin, field.name)) for field in fields(Solutions)}
    )
    n, L = found.z.shape
    lower, upper = (
        np.where(found.side < 0, program.lower, 0.0),
        np.where(found.side > 0, program.upper, 0.0),
    )
    found.z = np.where(found.side == 0, found.z, np.where(found.side < 0, lower, upper))
    found.ok[:] = False
    J, H = np.zeros((n, program.n_rows, L)), np.zeros((n, L, L))
    last, todo = np.zeros((n, L)), np.arange(n)
    for iteration in range(most):
        if len(todo) == 0:
            break
        look = program.look(found.z[todo])
        found.r[todo], J[todo], H[todo] = look.r, look.J, _curvature(program, found, todo, look)
        if iteration == 0:
            found.first = found.r.copy()
        step, residual = _newton_step(program, found.take(todo), J[todo], H[todo])
        finite = np.isfinite(step).all(axis=1)
        length = np.abs(step[:, :L]).max(axis=1, initial=0.0)
        step = step * np.minimum(1.0, LONGEST_STEP / np.maximum(length, 1e-300))[:, None]
        now, step = todo[finite], step[finite]
        # up to rounding they are; at a bound slopes may be infinite
        step[:, :L][found.side[now] != 0] = 0.0
        found.z[now] += step[:, :L]
        found.s[now] += step[:, L]
        found.mu[now] += step[:, L + 1 :]
        change = np.einsum("nij,nj->ni", J[now], step[:, :L])
        found.r[now] += change
        last[now] = step[:, :L]
        short = (length[finite] < CLOSE_STEP) | (
            (iteration == most - 1) & (np.abs(change).max(axis=1) < STILL)
        )
        near = short & (residual[finite] < CLOSE_STEP) & (np.abs(step[:, L]) < CLOSE_STEP)
        found.ok[now[near]] = True
        todo = now[~near & (np.abs(found.z[now] - 0.5).max(axis=1, initial=0.0) < 10)]
    return _finish(program, found, J, H, last)


def _curvature(
    program: Program, found: Solutions, rows: np.ndarray, look: Look
) -> Float[np.ndarray, "n n_free n_free"]:
    return np.einsum("nr,nrij->nij", _weights(program, found.take(rows)), look.H)


def _weights(program: Program, found: Solutions) -> Float[np.ndarray, "n n_rows"]:
    """The multipliers with the tie-break of labels that leave objectives out."""
    M = program.n_objectives
    tie = np.where(found.active[:, :M].all(axis=1), 0.0, TIE_OF_LABELS)
    return found.mu + tie[:, None] * (np.arange(program.n_rows) < M)


def _system(
    program: Program, at: Solutions, J: np.ndarray, H: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The residual of the equations and their matrix."""
    n, L = at.z.shape
    M, R = program.n_objectives, program.n_rows
    free, active = at.side == 0, at.active
    objective = np.arange(R) < M
    pull = np.einsum("nrl,nr->nl", J, _weights(program, at))
    level = np.where(objective, np.pad(at.a, ((0, 0), (0, R - M))) + at.s[:, None], 0.0)
    residual = np.concatenate(
        [
            np.where(free, pull, 0.0),
            1 - at.mu[:, :M].sum(axis=1, keepdims=True),
            np.where(active, at.r - level, at.mu),
        ],
        axis=1,
    )
    K = np.zeros((n, L + 1 + R, L + 1 + R))
    K[:, :L, :L] = np.where(free[:, :, None], H + FLAT * np.eye(L), np.eye(L))
    K[:, :L, L + 1 :] = np.where(free[:, :, None], np.swapaxes(J, 1, 2), 0.0)
    K[:, L, L + 1 :] = -1.0 * objective
    K[:, L + 1 :, :L] = np.where(active[:, :, None], J, 0.0)
    K[:, L + 1 :, L] = -1.0 * (active & objective)
    K[:, L + 1 + np.arange(R), L + 1 + np.arange(R)] = np.where(active, 0.0, 1.0)
    return residual, K


def _newton_step(
    program: Program, at: Solutions, J: np.ndarray, H: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The step (z, s, μ) and the largest residual."""
    residual, K = _system(program, at, J, H)
    size = np.maximum(np.abs(K).max(axis=2), 1e-300)
    step = -np.einsum("nij,nj->ni", invert(K / size[:, :, None]), residual / size)
    return step, np.abs(residual).max(axis=1)


def _finish(
    program: Program, found: Solutions, J: np.ndarray, H: np.ndarray, last: np.ndarray
) -> Solutions:
    """Multipliers of bounds, tangents, and whether each solution is a minimum among points of its
    label."""
    n, L = found.z.shape
    M, R = program.n_objectives, program.n_rows
    found.z = np.where(np.isfinite(found.z), found.z, 0.5)
    _, K = _system(program, found, J, H)
    right = np.zeros((n, L + 1 + R, M))
    right[:, L + 1 + np.arange(M), np.arange(M)] = found.active[:, :M]
    found.tangent = invert(K) @ right
    pull = np.einsum("nrl,nr->nl", J, _weights(program, found)) + np.einsum("nij,nj->ni", H, last)
    found.bound = np.where(found.side == 0, 0.0, -found.side * pull)
    finite = (
        np.isfinite(found.tangent).all(axis=(1, 2))
        & np.isfinite(found.bound).all(axis=1)
        & np.isfinite(found.r).all(axis=1)
    )
    found.ok &= finite
    good = np.flatnonzero(found.ok)
    found.ok[good] = _is_minimum(
        program, found.take(good), J[good], H[good], found.side[good] == 0, ZERO
    )
    weak = (found.side != 0) & (np.abs(found.bound) < WEAK)
    held = np.flatnonzero(found.ok & weak.any(axis=1))
    found.ok[held] = _is_minimum(
        program, found.take(held), J[held], H[held], (found.side[held] == 0) | weak[held], BENT
    )
    return found


def _is_minimum(
    program: Program,
    found: Solutions,
    J: np.ndarray,
    H: np.ndarray,
    free: Bool[np.ndarray, "n n_free"],
    zero: float,
) -> Bool[np.ndarray, " n"]:
    """Whether the curvature is nonnegative along the directions that keep what is active.

    Then the symmetric system has no more negative eigenvalues than constraints.
    """
    n, L = found.z.shape
    M, R = program.n_objectives, program.n_rows
    active = found.active
    slopes = np.where(active[:, :, None] & free[:, None, :], J, 0.0)
    S = np.zeros((n, L + 1 + R, L + 1 + R))
    S[:, :L, :L] = np.where(free[:, :, None] & free[:, None, :], H, np.eye(L))
    S[:, L + 1 :, :L], S[:, :L, L + 1 :] = slopes, np.swapaxes(slopes, 1, 2)
    S[:, L + 1 :, L] = S[:, L, L + 1 :] = -1.0 * (active & (np.arange(R) < M))
    S[:, L + 1 + np.arange(R), L + 1 + np.arange(R)] = np.where(active, 0.0, -1.0)
    if n == 0:
        return np.zeros(0, dtype=bool)
    return (np.linalg.eigvalsh(S) < -zero).sum(axis=1) <= R
