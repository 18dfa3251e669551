"""A first look at a problem: what some dozens of values tell before a run, at the price of a few
calls."""

from contextlib import suppress

import numpy as np
from jaxtyping import Float

from ..bezier import BezierSimplex
from ..names import Names, decode
from ..objectives import (
    Bridge,
    BudgetSpentError,
    Differences,
    JaxEvaluator,
    Problem,
    bridges,
)
from ..simplex import kronecker
from .schedule import SCHEDULE

Vector = Float[np.ndarray, " n_variables"]


def region(problem: Problem) -> tuple[Vector, Vector, Differences]:
    """Where a problem is looked at, its box, or within a scale of x0 where that is open; and
    differences there."""
    x0 = np.asarray(problem.start.control_points, dtype=float)[0]
    lower, upper = np.full(len(x0), -np.inf), np.full(len(x0), np.inf)
    if problem.feasible is not None:
        lower, upper = problem.feasible.lower, problem.feasible.upper
    differences = Differences.around(x0, lower, upper)
    finite = np.isfinite(lower) & np.isfinite(upper)
    low = np.where(finite, lower, np.maximum(x0 - differences.scale, lower))
    high = np.where(finite, upper, np.minimum(x0 + differences.scale, upper))
    return low, high, differences


def finite_range(values: Float[np.ndarray, " n"], otherwise: float = 0.0) -> float:
    """Of the finite ones among values, if there are any."""
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) if len(finite) else otherwise


def ranges(problem: Problem) -> Float[np.ndarray, " n_objectives"]:
    """Of each objective over points of the region; 0 where the budget has none left for that."""
    M, L = problem.start.n_objectives, problem.start.n_variables
    low, high, _ = region(problem)
    f = np.zeros((1, M))
    with suppress(BudgetSpentError):
        points = low + (high - low) * kronecker(SCHEDULE.probes, L)
        f = JaxEvaluator(problem.flat, M, L).values(points)
    return np.array([finite_range(column) for column in f.T])


def find_noise(problem: Problem) -> str:
    """Which objective is too noisy for differences of its values, in words; empty where none is, or
    where a budget leaves no calls to look.

    Noise counts in units of ranges over the region: a value at the start may be next to 0.
    """
    bridge, n = problem.form.flat, SCHEDULE.compared_gradients
    M, L = problem.start.n_objectives, problem.start.n_variables
    if not isinstance(bridge, Bridge) or bridge.differences.noise < SCHEDULE.quiet_noise:
        return ""
    price = SCHEDULE.probes + n * SCHEDULE.noise_calls
    if not problem.calls.affords(price, SCHEDULE.compared_share):
        return ""
    low, high, differences = region(problem)
    evaluator, points = JaxEvaluator(problem.flat, M, L), low + (high - low) * kronecker(n, L)
    # A root or a kink at one of the points looks like noise.
    noise = np.median([differences.noise_of_rows(evaluator.values, x)[0] for x in points], axis=0)
    span = ranges(problem)
    share = np.where(span > 0, noise / np.where(span > 0, span, 1.0), 0.0)
    m = int(np.argmax(share))
    if share[m] <= SCHEDULE.most_noise:
        return ""
    return (
        f"values of {problem.names.objectives[m]} have noise of about {share[m]:.0e} of their range"
        f" over {SCHEDULE.probes} points"
    )


def refuse_wrong_derivatives(problem: Problem) -> None:
    """Raises `ValueError` where a derivative of the user's, as jac, hess or a rule for JAX, is not
    that of the function. Nothing is looked at where a budget leaves no calls for it."""
    bridge, calls = problem.form.flat, problem.calls
    _refuse_wrong_constraints(problem)
    on_host = isinstance(bridge, Bridge)
    order = bridge.order if on_host else int(problem.form.own_rules)
    n, each = SCHEDULE.compared_gradients, 1 + 2 * len(SCHEDULE.compared_steps)
    if not order or not calls.affords(2 * order * n * each, SCHEDULE.compared_share):
        return
    if not on_host:  # a bridge counts by itself
        calls.add(0, n * each)
        calls.add(1, n)
    for k in range(1, order + 1):
        wrong = compare_derivatives(problem, k)[1]
        if wrong:
            raise ValueError(f"{wrong}; correct it, or leave it out")


def _refuse_wrong_constraints(problem: Problem) -> None:
    """The same for the jac of a constraint, as for one objective per row."""
    for one in problem.feasible.constraints if problem.feasible is not None else ():
        if not any(bridge.order for bridge in bridges(one.function)):
            continue
        n, own = len(one.lower), one.names
        rows = own if len(own) == n > 1 else tuple(f"row {i + 1} of {own[0]}" for i in range(n))
        names = Names(rows, variables=problem.names.variables, transforms=problem.names.transforms)
        names = names.complete(n, problem.start.n_variables)
        start = BezierSimplex(np.asarray(problem.start.control_points)[:1], n, 0)
        wrong = compare_derivatives(problem._replace(flat=one.function, start=start, names=names))
        if wrong[1]:
            raise ValueError(f"constraints: {wrong[1]}; correct it, or leave it out")


def compare_derivatives(problem: Problem, order: int = 1) -> tuple[float, str]:
    """By how much gradients differ from differences of values, or Hessians from those of gradients,
    relative to their size, in the median over points; and which entry is wrong, with both numbers,
    where one is at several points.

    Along a direction u differences are made with three steps, and believed as far as neighboring
    ones agree: not amid noise, nor across a kink. Variables are in units of the region's width.
    """
    M, L = problem.start.n_objectives, problem.start.n_variables
    evaluator, (low, high, _) = JaxEvaluator(problem.flat, M, L), region(problem)
    n, steps, width = SCHEDULE.compared_gradients, np.array(SCHEDULE.compared_steps), high - low

    def below(y: Float[np.ndarray, "*batch n_variables"]) -> np.ndarray:
        """Derivatives of the order below, (*batch, M, 1 or L)."""
        x = (low + width * y).reshape(-1, L)
        if order == 1:
            return evaluator.values(x).reshape(*y.shape[:-1], M, 1)
        return (evaluator.jacobians(x).gradients * width).reshape(*y.shape[:-1], M, L)

    # A little inside, so that differences have room. x0 is often a place of symmetry, where terms
    # that were forgotten vanish.
    y = 0.01 + 0.98 * kronecker(n, L)
    seen = (evaluator.jacobians if order == 1 else evaluator.hessians)(low + width * y)
    # the last axis is that of the latest derivative
    given = seen.gradients[:, :, None] if seen.hessians is None else seen.hessians * width[:, None]
    given = given * width
    u = np.random.default_rng(0).normal(size=(n, L))
    h = steps[:, None, None]
    found = (below(y + h * u) - below(y - h * u)) / (2 * h[..., None])
    off = np.linalg.norm(np.einsum("nmkl,nl->nmk", given, u) - found[1], axis=2)
    apart = np.linalg.norm(np.diff(found, axis=0), axis=3).min(axis=0)
    size = np.maximum(np.linalg.norm(given, axis=(2, 3)), np.linalg.norm(found[1], axis=2))
    share = off / np.maximum(size, np.finfo(float).tiny)
    wrong = (share > SCHEDULE.wrong_derivative) & (off > SCHEDULE.clearly_apart * apart)
    typical = np.nan_to_num(np.nanmedian(share, axis=0), nan=0.0).max()
    m = int(np.argmax(wrong.sum(axis=0)))
    if wrong[:, m].sum() < 2:  # one point may lie next to a kink
        return float(typical), ""
    k = int(np.argmax(np.where(wrong[:, m], share[:, m], 0)))
    names, units = problem.names, problem.raveling.units
    what, of = (("gradient", "values"), ("Hessian", "gradients"))[order - 1]
    x = np.asarray(decode(low + width * y[k], names.transforms)) * units
    words = f"the {what} of {names.objectives[m]} is not the derivative of its {of}"
    with suppress(BudgetSpentError):  # then without numbers
        axes = steps[1] * np.eye(L)
        along = (below(y[k] + axes)[:, m] - below(y[k] - axes)[:, m]).T / (2 * steps[1])
        i, j = np.unravel_index(np.argmax(np.abs(along - given[k, m])), along.shape)
        by = names.solver_variables[j]
        by += f" and {names.solver_variables[i]}" if order == 2 else ""
        # as the user sees them
        unit = names.signs[m] * (width * units)[j] * ((width * units)[i] if order == 2 else 1.0)
        words += f": by {by} it is {given[k, m, i, j] / unit:.6g}, where differences of {of} give"
        words += f" {along[i, j] / unit:.6g}, at x ="
        words += f" {np.array2string(x, precision=6, separator=', ', threshold=6)}"
    return float(typical), words
