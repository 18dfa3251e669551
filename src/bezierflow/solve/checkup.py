"""`check`: what a look at some dozens of points tells about a problem, before hours are spent on
it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, PyTree

from ..answer import why_not_estimated
from ..compilation import forget_programs
from ..kinks import CannotLiftError, find_kinks
from ..names import Names, decode
from ..objectives import (
    Bridge,
    Chosen,
    JaxEvaluator,
    Problem,
    Transforms,
    bridges,
)
from ..precision import ROUNDING, double_precision
from ..quiet import quiet
from ..simplex import kronecker
from .attempts import values_alone
from .call import Call
from .causes import find_jump
from .choice import choose
from .first_look import compare_derivatives, find_noise, finite_range, region
from .schedule import SCHEDULE, SURFACE_POINTS


@dataclass(frozen=True)
class Checkup:
    """What `check` found out. Print it.

    Attributes:
        n_objectives: M.
        n_variables: L.
        form: the kind of function, and where its derivatives come from.
        values: the objectives at x0, with the user's signs.
        ranges: the range of each objective over the points looked at.
        n_probes: how many points were looked at.
        n_finite: at how many of them all objectives were finite.
        noise: the relative noise of the values at x0.
        gradient_error: by how much gradients differ from differences, as a share of the largest
            entry; None where they are differences themselves.
        x_scale: the units in which variables are measured; None for 1.
        seconds: what a point costs: "value", "gradient", "hessian", once compiled; "compilation" of
            these in all.
        plan: what `minimize` will do.
        cost: roughly how many points it will evaluate, and how long that takes.
        problems: what will make a run fail or its answer wrong.
        remarks: what is good to know.
    """

    n_objectives: int
    n_variables: int
    form: str
    values: np.ndarray
    ranges: np.ndarray
    n_probes: int
    n_finite: int
    noise: float
    gradient_error: float | None
    x_scale: tuple[float, ...] | None
    seconds: dict[str, float]
    plan: str
    cost: str
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    names: Names = field(repr=False, default_factory=Names)

    @property
    def ok(self) -> bool:
        """Whether nothing was found that will make a run fail or its answer wrong."""
        return not self.problems

    def __str__(self) -> str:
        values = ", ".join(
            f"{name} = {value:.6g}"
            for name, value in zip(self.names.objectives, self.values, strict=True)
        )
        spans = ", ".join(
            f"{name} {span:.3g}"
            for name, span in zip(self.names.objectives, self.ranges, strict=True)
        )
        costs = ", ".join(f"{what} {seconds:.2g} s" for what, seconds in self.seconds.items())
        gradients = (
            "by differences"
            if self.gradient_error is None
            else f"within {self.gradient_error:.1g} of differences"
        )
        lines = [
            f"{self.n_objectives} objectives, {self.n_variables} variables: {self.form}",
            f"at x0: {values}",
            f"finite at {self.n_finite} of {self.n_probes} points looked at; ranges there: {spans}",
            f"gradients {gradients}; relative noise of values {self.noise:.0e}",
            f"a point costs: {costs}",
            f"minimize will: {self.plan}",
            f"roughly: {self.cost}",
            *(f"PROBLEM: {text}" for text in self.problems),
            *(f"note: {text}" for text in self.remarks),
        ]
        return "\n".join(lines)


@quiet()
def check(
    objectives: object,
    x0: PyTree = None,
    *,
    bounds: object = None,
    constraints: object = None,
    maximize: Chosen = None,
    transforms: Transforms = None,
    budget: int | None = None,
) -> Checkup:
    """Looks at a problem before a run: shapes, types, finite values, gradients, scales, noise,
    kinks, time, and what to expect.

    It evaluates the objectives at some dozens of points and compiles what a run would compile.
    Arguments are those of `minimize`, and what `minimize` refuses is refused here with the same
    line; `budget` is the one that a run would have, and says what would be chosen for it.
    Everything else is in the report: print it.
    """
    given = objectives, x0, "auto", bounds, constraints, maximize, transforms
    call = Call(*given, budget=budget)
    forget_programs()
    with double_precision():
        return _report(replace(call, budget=None).read_problem(), call.budget)


def _report(problem: Problem, budget: int | None) -> Checkup:
    """Evaluations at x0 and around it, and what they tell."""
    M, L, names = problem.start.n_objectives, problem.start.n_variables, problem.names
    x0 = np.asarray(problem.start.control_points, dtype=float)[0]
    low, high, differences = region(problem)
    points = np.concatenate([x0[None], low + (high - low) * kronecker(SCHEDULE.probes, L)])

    evaluator = JaxEvaluator(problem.flat, M, L)
    seconds = _times(evaluator, points)  # first, since it measures compilation too
    f = evaluator.values(points)
    usable = points[np.isfinite(f).all(axis=1)]
    problems, remarks = _look_at_values(problem, points, f)
    noise = float("nan")
    if len(usable):
        # The least of a few points: where a value happens to be 0, its rounding looks large.
        least = min(
            (
                differences.measured(evaluator.values, x)
                for x in usable[: SCHEDULE.compared_gradients]
            ),
            key=lambda found: found.noise,
        )
        noise = least.noise
        if noise > ROUNDING:
            remarks.append(
                f"values have a relative noise of about {noise:.0e}: gradients from differences of"
                f" them are known to {least.accuracy:.0e}, and a tolerance below that cannot be"
                " reached by them"
            )
    gradient_error, wrong, bridge = None, "", problem.form.flat
    if not isinstance(bridge, Bridge) or bridge.order:  # no differences themselves
        gradient_error, wrong = compare_derivatives(problem)
    if isinstance(bridge, Bridge) and bridge.order == 2:
        wrong = wrong or compare_derivatives(problem, 2)[1]
    kinks, jump = _kinks(problem, evaluator, usable, differences.scale)
    chosen = choose(problem, budget)
    plan, n_points = _plan(problem, kinks, budget, chosen.searches)
    why_not = why_not_estimated(problem.flat, problem.start)
    unasked = f"the error will not be estimated unless you ask for it: {why_not}" if why_not else ""
    each = seconds["value"]
    if not values_alone(problem, budget):
        each += seconds["gradient"] + seconds["hessian"]
    total = n_points * each + seconds["compilation"]
    return Checkup(
        n_objectives=M,
        n_variables=L,
        form=problem.form.found,
        values=names.signs * f[0],
        ranges=np.array([finite_range(column, float("nan")) for column in f.T]),
        n_probes=len(f),
        n_finite=len(usable),
        noise=noise,
        gradient_error=gradient_error,
        x_scale=problem.raveling.scale,
        seconds=seconds,
        plan=f"{plan}; {chosen.why}",
        cost=f"{n_points:,} points and {total:.2g} s, compilation included",
        problems=tuple(filter(None, (*problems, wrong, find_noise(problem)))),
        remarks=tuple(filter(None, (*remarks, jump, unasked))),
        names=names,
    )


def _times(evaluator: JaxEvaluator, points: Float[np.ndarray, "n n_variables"]) -> dict[str, float]:
    """Seconds of a value, a gradient and a Hessian at a point, all objectives at once, and of
    compiling them."""

    def timed(part: Callable[[np.ndarray], object], x: np.ndarray) -> float:
        began = time.perf_counter()
        part(x)
        return time.perf_counter() - began

    L, parts = evaluator.n_variables, {"value": evaluator.values}
    by_values = any(bridge.order == 0 for bridge in bridges(evaluator.objectives))
    if not by_values:
        parts |= {"gradient": evaluator.jacobians, "hessian": evaluator.hessians}
    several = points[1 : 1 + evaluator.block]
    first = {what: timed(part, points[:1]) for what, part in parts.items()}
    again = {what: timed(part, several) / len(several) for what, part in parts.items()}
    compilation = max(sum(first.values()) - sum(again.values()), 0.0)
    if by_values:  # differences cost what they are made of
        again |= {"gradient": 2 * L * again["value"], "hessian": (L * L + L) * again["value"]}
    return {**again, "compilation": compilation}


def _look_at_values(
    problem: Problem,
    points: Float[np.ndarray, "n n_variables"],
    f: Float[np.ndarray, "n n_objectives"],
) -> tuple[list[str], list[str]]:
    """What is wrong with values, x0's first, and what is good to know about them."""
    problems, remarks, names, finite = [], [], problem.names, np.isfinite(f)
    for m in np.flatnonzero(~finite[0]):
        problems.append(
            f"{names.objectives[m]} is {f[0, m]} at x0: start where every objective is finite"
        )
    bad = np.argwhere(~finite[1:])
    if len(bad):
        row, m = bad[0] + (1, 0)
        x = np.asarray(decode(points[row], names.transforms)) * problem.raveling.units
        remarks.append(
            f"{names.objectives[m]} is {f[row, m]} at x ="
            f" {np.array2string(x, precision=4, threshold=6)}, and something is not finite at"
            f" {len(set(bad[:, 0]))} of {SCHEDULE.probes} points; bounds keep a run away"
        )
    spans = np.array([finite_range(column, 0.0) for column in f.T])
    for m in np.flatnonzero(spans == 0):
        problems.append(
            f"{names.objectives[m]} has the same value at all points: does it depend on x?"
        )
    moving = spans[spans > 0]
    if len(moving) > 1 and moving.min() < SCHEDULE.negligible * moving.max():
        remarks.append(
            f"ranges of objectives differ by a factor of {moving.max() / moving.min():.0e}; each"
            " counts by its own"
        )
    return problems, remarks


def _kinks(
    problem: Problem,
    evaluator: JaxEvaluator,
    points: Float[np.ndarray, "n n_variables"],
    scale: Float[np.ndarray, " n_variables"],
) -> tuple[int, str]:
    """How many kinks a run would lift; one that is only seen in slopes, in words."""
    M, L = problem.start.n_objectives, problem.start.n_variables
    try:
        n = find_kinks(problem.flat, L)
    except (CannotLiftError, TypeError, NotImplementedError):
        n = 0
    # Slopes by differences jump wherever values are noisy.
    if n or not len(points) or not problem.form.is_exact:
        return n, ""
    for i in range(min(L, SCHEDULE.scanned_variables)):
        for m in range(M):
            place = find_jump(evaluator, points[0], i, m, float(scale[i]))
            if np.isfinite(place):
                name, variable = problem.names.objectives[m], problem.names.solver_variables[i]
                return 0, (
                    f"the slope of {name} jumps at {variable} = {place:.3g}: it has a kink, or is"
                    " no smooth function"
                )
    return 0, ""


def _plan(problem: Problem, kinks: int, budget: int | None, searches: bool) -> tuple[str, int]:
    """What a run with method="auto" will do, and about how many points it will evaluate."""
    feasible, M = problem.feasible, problem.start.n_objectives
    surface, atlas = SURFACE_POINTS[min(M, 5)], SCHEDULE.atlas_points
    if searches and budget is not None:
        return "evaluate designs that a model chooses", budget
    if M == 1:
        return "find the minimizer of the one objective", surface
    if kinks:
        return f"lift {kinks} kinks of the objectives and answer with an atlas", atlas
    if feasible is None:
        few = problem.start.n_variables <= SCHEDULE.most_variables
        beyond = ", and try an atlas if one surface cannot be the set" if few else ""
        return f"look for one surface through all trade-offs{beyond}", surface
    if feasible.n_equalities:
        return "answer with an atlas on the equality constraints", atlas
    if values_alone(problem, budget):
        n = SCHEDULE.usual_budget if budget is None else budget
        return "explore the box by values alone, and answer with an atlas", n
    within = "look for one surface within the bounds, and answer with an atlas where the set"
    return f"{within} follows them", surface + atlas
