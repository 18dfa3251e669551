"""The one program behind every question: min_t max_k (A f(t) − c)_k subject to B f(t) ≤ d and t ∈ Δ^{M−1}.

"The cheapest with quality at least 8.3" has one row in A and one in B; an aspiration point or a choice robust to a range of
weights has several rows in A. It is solved by sequential quadratic programming with an exact penalty (Fletcher, "Practical
Methods of Optimization", 2nd edition, Section 14.3): each step minimizes a convex quadratic model of

    max_k (A f − c)_k + ρ max(0, max_j (B f − d)_j)

under linearized constraints, with the exact derivatives of the front.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ..simplex import tangent_basis
from .front_map import AbstractFrontMap
from .quadratic import solve_quadratic

MOST_STEPS = 25
"""Steps at most from one starting point; most take 3 to 8, and `refine` adds the last digits."""

ARRIVED = 1e-7
"""A search ends when a step promises less than this, in units of the goal's range."""

STEP_LENGTHS = np.array([1.0, 0.5, 0.2, 0.05, 0.005])
"""Shares of a step, tried all at once; the longest that lowers the merit function is taken."""

PENALTIES = (30.0, 1e4)
"""ρ, and a larger one to try where the first leaves a bound broken: a bound may be worth that much near a corner."""

JOINS = 0.004
"""A search this close to where another one ended is in the same basin, where Newton's method knows only one way."""

FLOOR = 1e-6
"""The smallest curvature of the quadratic model, relative to its largest (or to 1 if that is smaller)."""

PROXIMITY = 1e-3
"""The curvature given to the two maxima, which have none of their own; it keeps the model strictly convex and biases nothing."""


class Program(NamedTuple):
    """The rows of a question: minimize max_k (A f − c)_k subject to B f ≤ d."""

    A: Float[np.ndarray, "n_goals n_values"]
    c: Float[np.ndarray, " n_goals"]
    B: Float[np.ndarray, "n_bounds n_values"]
    d: Float[np.ndarray, " n_bounds"]

    def goal(self, values: np.ndarray) -> np.ndarray:
        """max_k (A f − c)_k for each row of values."""
        return (values @ self.A.T - self.c).max(axis=1)

    def violation(self, values: np.ndarray) -> np.ndarray:
        """How much the worst bound is broken, for each row of values; 0 where all hold."""
        return (values @ self.B.T - self.d).max(axis=1, initial=0.0)

    def weights(self, dual: np.ndarray) -> np.ndarray:
        """What each value counts for at these duals of goals, bounds and −t: Aᵀλ + Bᵀν."""
        n_goals, n_bounds = len(self.c), len(self.d)
        return dual[:n_goals] @ self.A + dual[n_goals : n_goals + n_bounds] @ self.B


class Programs(NamedTuple):
    """Several questions with the same bounds, and with as many goals each."""

    A: Float[np.ndarray, "n_programs n_goals n_values"]
    c: Float[np.ndarray, "n_programs n_goals"]
    B: Float[np.ndarray, "n_bounds n_values"]
    d: Float[np.ndarray, " n_bounds"]

    def one(self, number: int) -> Program:
        """One of them."""
        return Program(self.A[number], self.c[number], self.B, self.d)

    def goals(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, "n_programs n"]:
        """Each question's goal at each row of values."""
        return (self.A @ values.T - self.c[..., None]).max(axis=1)

    def violation(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, " n"]:
        """How much the worst bound is broken, for each row of values; 0 where all hold."""
        return (self.B @ values.T - self.d[:, None]).max(axis=0, initial=0.0)

    def largest_change(self, steps: Float[np.ndarray, "n n_values"], penalty: float) -> Float[np.ndarray, "n_programs n"]:
        """By how much goal + penalty · violation changes at most where no value changes by more than these steps."""
        return (np.abs(self.A) @ steps.T).max(axis=1) + penalty * (np.abs(self.B) @ steps.T).max(axis=0, initial=0.0)

    def rows(self, which: Int[np.ndarray, " n"]) -> tuple[Float[np.ndarray, "n n_rows n_values"], Float[np.ndarray, "n n_rows"]]:
        """Goals and bounds of some of the questions, in one matrix each: rows f − limits."""
        n = len(which)
        rows = np.concatenate([self.A[which], np.broadcast_to(self.B, (n, *self.B.shape))], axis=1)
        return rows, np.concatenate([self.c[which], np.broadcast_to(self.d, (n, len(self.d)))], axis=1)


class End(NamedTuple):
    """Where a search ended: `residual` is finite where Newton's method arrived there, `strict` if nothing nearby is as good."""

    t: Float[np.ndarray, " n_objectives"]
    goal: float
    violation: float
    dual: Float[np.ndarray, " n_constraints"]
    binding: Bool[np.ndarray, " n_constraints"]
    residual: float = np.inf
    strict: bool = False


def first_guess(
    front: AbstractFrontMap, programs: Programs, which: Int[np.ndarray, " n"], starts: Float[np.ndarray, "n n_objectives"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What one step of the descent says at each start: the next t, what binds there and its duals; and the merit at the start.

    A single goal without bounds needs no quadratic program: a coordinate that is 0 stays 0 if its slope is above the mean's.
    """
    values, jacobian, hessian = front.derivatives(starts)
    n, n_objectives = starts.shape
    n_goals, n_bounds = programs.c.shape[1], len(programs.d)
    binding, duals = np.ones((n, n_goals + n_bounds + n_objectives), dtype=bool), np.zeros((n, n_goals + n_bounds + n_objectives))
    if n_goals == 1 and not n_bounds:
        slope = (programs.A[which] @ jacobian)[:, 0] @ tangent_basis(n_objectives).T
        above = slope - (slope * starts).sum(axis=1, keepdims=True)
        binding[:, 1:] = (starts == 0) & (above > 0)
        duals[:, 0], duals[:, 1:] = 1.0, np.where(binding[:, 1:], above, 0.0)
        return starts, binding, duals, (programs.A[which, 0] * values).sum(axis=1) - programs.c[which, 0]
    t, merit, guess = (
        starts.copy(),
        np.empty(n),
        np.concatenate([np.full(n_goals, 1 / n_goals), np.zeros(n_bounds + n_objectives)]),
    )
    for k, number in enumerate(which):
        model = _Model(programs.one(number), starts[k], jacobian[k], hessian[k], guess, PENALTIES[0])
        merit[k] = model.merit(values[k])
        v, duals[k] = model.step(values[k])
        t[k] += tangent_basis(n_objectives) @ v
    return t, duals > 1e-9, duals, merit


def descend(
    front: AbstractFrontMap,
    program: Program,
    start: Float[np.ndarray, " n_objectives"],
    broken: float,
    known: Sequence[End] = (),
) -> End:
    """A local solution from a start.

    Args:
        front: the front.
        program: the question.
        start: where the search begins.
        broken: the violation from which on a larger penalty is tried.
        known: where other searches ended; this one joins an end as soon as it comes close to it.
    """
    end = None
    for penalty in PENALTIES:
        end = _descend(front, program, start if end is None else end.t, penalty, known)
        if end.violation <= broken:
            break
    assert end is not None
    return end


def _descend(front: AbstractFrontMap, program: Program, t: np.ndarray, penalty: float, known: Sequence[End]) -> End:
    directions = tangent_basis(len(t))
    n_goals, n_bounds = len(program.c), len(program.d)
    dual = np.concatenate([np.full(n_goals, 1 / n_goals), np.zeros(n_bounds + len(t))])
    values = np.zeros(0)
    for _ in range(MOST_STEPS):
        values, jacobian, hessian = (part[0] for part in front.derivatives(t[None]))
        model = _Model(program, t, jacobian, hessian, dual, penalty)
        merit = model.merit(values)
        v, dual = model.step(values)
        gain = merit - model.merit(values + jacobian @ v)
        if not gain > ARRIVED:
            break
        trials = t + STEP_LENGTHS[:, None] * (directions @ v)
        all_values = front.values(trials)
        lower = model.merit(all_values) <= merit - 1e-3 * STEP_LENGTHS * gain
        if not lower[0]:
            # The front bends away from its linearization: the same step, corrected for what it turned out to miss.
            corrected, _ = model.step(all_values[0] - jacobian @ v)
            trials[0] = t + directions @ corrected
            all_values[0] = front.values(trials[:1])[0]
            lower[0] = model.merit(all_values[0]) <= merit - 1e-3 * gain
        if not lower.any():
            break
        t = np.maximum(trials[int(np.argmax(lower))], 0.0)
        t = t / t.sum()
        for end in known:
            if np.abs(end.t - t).max() < JOINS:
                return end
    goal, violation = program.goal(values[None])[0], program.violation(values[None])[0]
    return End(t, float(goal), float(violation), dual, dual > 1e-9)


class _Model:
    """The convex quadratic model of the program around t, in (v, τ, σ): a step along the simplex and the two maxima."""

    def __init__(
        self, program: Program, t: np.ndarray, jacobian: np.ndarray, hessian: np.ndarray, dual: np.ndarray, penalty: float
    ):
        self.program, self.t, self.penalty = program, t, penalty
        directions = tangent_basis(len(t))
        n_goals, n_bounds, k = len(program.c), len(program.d), directions.shape[1]
        curvature, self.axes = np.linalg.eigh(np.tensordot(program.weights(dual), hessian, 1))
        size = np.abs(curvature)
        self.diagonal = np.concatenate([np.maximum(size, FLOOR * max(size.max(), 1.0)), [PROXIMITY, PROXIMITY]])
        along = jacobian @ self.axes
        self.C = C = np.zeros((n_goals + n_bounds + len(t) + 1, k + 2))
        C[:n_goals, :k], C[:n_goals, k] = program.A @ along, -1.0
        C[n_goals : n_goals + n_bounds, :k], C[n_goals : n_goals + n_bounds, k + 1] = program.B @ along, -1.0
        C[n_goals + n_bounds : -1, :k] = -directions @ self.axes
        C[-1, k + 1] = -1.0
        self.linear = np.concatenate([np.zeros(k), [1.0, penalty]])

    def merit(self, values: np.ndarray) -> np.ndarray:
        """The exact penalty function max (A f − c) + ρ max(0, max (B f − d)), for values with any batch axes."""
        goals, limits = values @ self.program.A.T - self.program.c, values @ self.program.B.T - self.program.d
        return goals.max(axis=-1) + self.penalty * limits.max(axis=-1, initial=0.0)

    def step(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The step v that minimizes the model when the values at its origin are these, and the duals of the constraints."""
        goals, limits = self.program.A @ values - self.program.c, self.program.B @ values - self.program.d
        level = limits.max(initial=0.0)  # τ and σ count from where the maxima are now
        e = np.concatenate([goals.max() - goals, level - limits, self.t, [level]])
        z, duals = solve_quadratic(self.diagonal, self.linear, self.C, e)
        return self.axes @ z[:-2], duals[:-1]
