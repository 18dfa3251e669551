"""What became of a problem: how far its answers are from the truth, and whether the run said so."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

import bezierflow as bf
from bezierflow.bezier import design_matrix

from .case import Case
from .truth import Truth, random_search, search, truth_of

FACTOR = 3.0
"""The stated factor: the true error stays below this many times the estimate."""

FLOOR = 1e-4
"""A smaller error in units of ranges is none, whatever the estimate: the truths are not exact
either."""

SMALLEST = 1e-8
"""Smaller errors are not compared with their estimates: neither the truths nor the searches from
them are that exact."""

N_ANSWERS = 300
"""Answers that are compared with the truth."""


@dataclass(frozen=True)
class Outcome:
    """One row of the results.

    Attributes:
        kind, problem: which.
        outcome: "right", "less exact" (than tol, which the run says, with an estimate that holds),
            "flagged" (suspect, or local), "flagged although right", "refused" by a ValueError,
            "stopped" by the time limit, "silently wrong", or "error" where something else was
            raised.
        reason: how the run ended.
        beyond: by how much the truth is better than an answer, at most, in units of ranges.
        missed: by how much a point of the truth is better than the best answer for it, at most.
        estimate: of the run, in the same units.
        coverage: as the run has it.
        beats: by how much an answer is better than the truth: what the truth is off by.
        seconds: of processor time.
        message: of the run.
    """

    kind: str
    problem: str
    outcome: str
    reason: str
    beyond: float
    missed: float
    estimate: float
    coverage: float
    beats: float
    seconds: float
    message: str

    @property
    def true(self) -> float:
        """The error both ways."""
        return max(self.beyond, self.missed)


def solve(case: Case, time_limit: float = 120.0) -> Outcome:
    """Runs a problem, within so many seconds, and compares."""
    began = time.process_time()
    bounds = tuple(np.array(side) for side in case.box) if case.bounded else None
    x0 = (
        None
        if case.bounded and case.x0 is None
        else np.array(np.zeros(case.n_variables) if case.x0 is None else case.x0, float)
    )
    try:
        options = {"time_limit": time_limit, "constraints": case.constraints or None}
        solution = bf.minimize(case.objectives(), x0, bounds=bounds, **options | case.options)
    # an error that says what to do is an answer, too, and any other one is to be seen
    except Exception as error:
        clear = isinstance(error, ValueError) and not isinstance(error, np.linalg.LinAlgError)
        text = f"{type(error).__name__}: {error}"
        outcome = "refused" if clear else "error"
        nan = float("nan")
        return Outcome(
            case.kind,
            case.name,
            outcome,
            "raised",
            nan,
            nan,
            nan,
            nan,
            nan,
            time.process_time() - began,
            text,
        )
    seconds = time.process_time() - began
    truth = truth_of(case)
    beyond, beats = compare_answers(case, truth, answers(solution))
    missed = compare_truth(case, truth, solution)
    error, reason = solution.error, solution.result.reason
    estimate = float("nan") if error.front is None else float(error.front)
    coverage = float("nan") if error.coverage is None else float(error.coverage)
    # An end is where an objective is least: a rounding of its value hides the root of that.
    rounding = np.finfo(float).eps * np.abs(truth.f).max(axis=0) / truth.span
    least = max(FLOOR, 3 * case.noise ** (2 / 3), 3 * float(np.sqrt(rounding.max())))
    outcome = judge(reason, max(beyond, missed), estimate, error.max, case, least)
    message = solution.result.message
    return Outcome(
        case.kind,
        case.name,
        outcome,
        reason.value,
        beyond,
        missed,
        estimate,
        coverage,
        beats,
        seconds,
        message,
    )


def judge(
    reason: Any, true: float, estimate: float, largest: float, case: Case, least: float = FLOOR
) -> str:
    """The outcome, where a true error below the last number is none. A run that was stopped claims
    nothing but its estimate, which must not be 0 where the error is not."""
    claims = reason in (bf.Reason.CONVERGED, bf.Reason.NOT_AT_TOLERANCE)
    if reason is bf.Reason.TIME_LIMIT:
        return "stopped"
    stated = max(FACTOR * np.nan_to_num(estimate), least)
    if claims and not true <= stated:
        return "silently wrong"
    if case.kind == "stopped" and not claims:
        return "silently wrong" if true > least and largest == 0 else "flagged"
    if claims:
        return "right" if reason is bf.Reason.CONVERGED else "less exact"
    return "flagged although right" if true <= least else "flagged"


def answers(solution: bf.Solution) -> np.ndarray:
    """Designs all over the answer, as flat vectors; of an atlas what it answers above points all
    over its patches."""
    rng, M = np.random.default_rng(0), solution.n_objectives
    atlas = solution.pareto_set
    if isinstance(atlas, bf.BezierAtlas):
        f = atlas.units.ideal + atlas.units.span * atlas.points.f
        return atlas.flat(atlas.t(f[rng.permutation(len(f))[:N_ANSWERS]]))
    return solution.flat_designs(dense_t(M, N_ANSWERS, rng))


def dense_t(n_objectives: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Corners, edges and the inside."""
    if n_objectives == 2:
        share = np.linspace(0, 1, n)
        return np.stack([1 - share, share], axis=1)
    t = rng.dirichlet(np.ones(n_objectives), n)
    t[: n // 3] *= rng.random((n // 3, n_objectives)) < 0.6
    t = t[t.sum(axis=1) > 0]
    return np.concatenate([np.eye(n_objectives), t / t.sum(axis=1, keepdims=True)])


def compare_answers(case: Case, truth: Truth, x: np.ndarray) -> tuple[float, float]:
    """By how much answers are dominated at most, and by how much they beat the truth.

    Answers that are dominated in some objectives and equal in others are seen by their distance to
    the truth alone: to points of it, or to where a search from these ends that only goes on where
    it gains in all objectives.
    """
    f = case.values(x)
    if not np.isfinite(f).all():
        return float("inf"), 0.0
    y, known = truth.scaled(f), truth.scaled(truth.f)
    near = (known[None] - y[:, None]).max(axis=2)
    start = truth.x[near.argmin(axis=1)]
    best, away = near.min(axis=1), np.abs(known[None] - y[:, None]).max(axis=2).min(axis=1)
    if case.n_variables <= 3:
        found = search(
            case,
            start,
            lambda g: (truth.scaled(g) - y[:, None]).max(axis=-1),
            np.random.default_rng(1),
            start=1e-3,
        )
        best = np.minimum(best, (truth.scaled(case.values(found)) - y).max(axis=1))
        away = np.minimum(away, np.abs(truth.scaled(case.values(found)) - y).max(axis=1))
    depth = np.where(away > truth.spacing, np.maximum(-best, away), -best)
    return float(depth.max(initial=0.0)), float(best.max(initial=0.0))


def compare_truth(case: Case, truth: Truth, solution: bf.Solution) -> float:
    """By how much a point of the truth is better than the best answer for it."""
    rows = truth.compared
    f, atlas = truth.f[rows], solution.pareto_set
    z = truth.scaled(f)
    if isinstance(atlas, bf.BezierAtlas):
        there = case.values(atlas.flat(atlas.t(f)))
        known = case.values(answers(solution))
        over = (truth.scaled(there) - z).max(axis=1)
        return float(
            np.minimum(over, (truth.scaled(known)[None] - z[:, None]).max(axis=2).min(axis=1)).max()
        )
    M, rng = solution.n_objectives, np.random.default_rng(2)
    surface, units = solution.flat_surface, solution.raveling.units
    points, degree = np.asarray(surface.control_points, float), surface.degree

    def values(t: np.ndarray) -> np.ndarray:
        t = np.maximum(t, 0)
        t = t / np.maximum(t.sum(axis=-1, keepdims=True), 1e-300)
        rows = design_matrix(t.reshape(-1, M), degree) @ points * units
        return truth.scaled(case.values(rows).reshape(*t.shape[:-1], M))

    t = dense_t(M, 2000 if M == 2 else 20_000, rng)
    at = values(t)
    start = np.array([int((at - row).max(axis=1).argmin()) for row in z])
    box = np.zeros(M), np.ones(M)
    found = random_search(
        values,
        lambda g: (g - z[:, None]).max(axis=-1),
        t[start],
        box,
        1e-3 if M == 2 else 1e-2,
        rng,
    )
    missed = (values(found) - z).max(axis=1)
    for row in np.flatnonzero(missed > SMALLEST):
        missed[row] = min(
            missed[row], polished(lambda t, row=row: values(t) - z[row], found[row], missed[row])
        )
    return float(missed.max(initial=0.0))


def polished(excess: Callable[[np.ndarray], np.ndarray], t: np.ndarray, level: float) -> float:
    """The least largest excess near t, by SciPy's SLSQP; a random search is slow where several are
    equally large."""
    rows = {"type": "ineq", "fun": lambda u: u[-1] - excess(u[:-1])}
    sums = {"type": "eq", "fun": lambda u: u[:-1].sum() - 1}
    t = t / t.sum()
    bounds = [(0, 1)] * len(t) + [(None, None)]
    end = minimize(
        lambda u: u[-1],
        [*t, level],
        bounds=bounds,
        constraints=[rows, sums],
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    return float(excess(end.x[:-1]).max())
