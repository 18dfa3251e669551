"""`check`: what a look at some dozens of points tells about a problem, before hours are spent on
it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, PyTree

from ..answer import why_not_estimated
from ..compilation import forget_programs
from ..kinks import CannotLiftError, find_kinks
from ..names import Names, decode
from ..objectives import (
    Chosen,
    Differences,
    FeasibleSet,
    JaxEvaluator,
    Problem,
    Rows,
    Transforms,
    check_switches,
    read_objectives,
    read_problem,
)
from ..precision import double_precision
from ..quiet import quiet
from ..simplex import kronecker
from .causes import find_jump
from .routes import MOST_VARIABLES as MOST_FOR_AN_ATLAS
from .starting import start_of

PROBES = 32
"""Points around x0, or in the box, at which objectives are looked at."""

COMPARED = 5
"""At so many of them gradients are compared with differences."""

DISAGREES = 1e-3
"""Gradients that are off by this share of the largest entry, at most of the points, are called
wrong."""

NOISY = 1e-12
"""Relative noise above this is said: rounding alone is about 1e-16 to 1e-13."""

NOISE_PLACES = 3
"""Points at which noise is measured."""

MOST_SCANNED = 10
"""Kinks are looked for along so many variables."""

UNEQUAL = 1e6
"""Objectives whose ranges differ by more than this factor are named."""

POINTS_OF_A_SURFACE = {1: 30, 2: 150, 3: 350, 4: 900, 5: 2000}
"""About how many points a run evaluates whose answer is one surface, by the number of objectives;
for more as for five."""

POINTS_OF_AN_ATLAS = 12_000
"""Likewise for an atlas, of two or three objectives."""


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
def check(  # noqa: PLR0913
    objectives: object,
    x0: PyTree = None,
    *,
    bounds: object = None,
    constraints: object = None,
    maximize: Chosen = None,
    transforms: Transforms = None,
    jac: Rows | None = None,
    hess: Rows | None = None,
    vectorized: bool = False,
    x_scale: object = None,
) -> Checkup:
    """Looks at a problem before a run: shapes, types, finite values, gradients, scales, noise,
    kinks, time, and what to expect.

    It evaluates the objectives at some dozens of points and compiles what a run would compile.
    Arguments are those of `minimize`, and what `minimize` refuses is refused here with the same
    line. Everything else is in the report: print it.
    """
    check_switches(None, False, vectorized)
    forget_programs()
    with double_precision():
        problem = read_problem(
            read_objectives(objectives, jac, hess, vectorized),
            start_of(x0),
            bounds=bounds,
            constraints=constraints,
            maximize=maximize,
            transforms=transforms,
            x_scale=x_scale,
        )
        return _Look(problem).report()


class _Look:
    """One look at a problem: evaluations at x0 and around it, and what they tell."""

    def __init__(self, problem: Problem):
        self.problem, self.names = problem, problem.names
        self.M, self.L = problem.start.n_objectives, problem.start.n_variables
        self.x0 = np.asarray(problem.start.control_points, dtype=float)[0]
        self.evaluator = JaxEvaluator(problem.flat, self.M, self.L)
        feasible = problem.feasible
        anywhere = np.full(self.L, np.inf)
        self.lower, self.upper = (
            (-anywhere, anywhere) if feasible is None else (feasible.lower, feasible.upper)
        )
        self.scale = Differences.around(self.x0, self.lower, self.upper).scale
        self.points = np.concatenate([self.x0[None], self._around()])
        self.problems: list[str] = []
        self.remarks: list[str] = []

    def _around(self) -> Float[np.ndarray, "n n_variables"]:
        """Points of the box, or within a scale of x0 where it is open."""
        finite = np.isfinite(self.lower) & np.isfinite(self.upper)
        low = np.where(finite, self.lower, np.maximum(self.x0 - self.scale, self.lower))
        high = np.where(finite, self.upper, np.minimum(self.x0 + self.scale, self.upper))
        return low + (high - low) * kronecker(PROBES, self.L)

    def report(self) -> Checkup:
        """All that there is to say."""
        seconds = self._times()
        f = self.evaluator.values(self.points)
        self._look_at_values(f)
        usable = self.points[np.isfinite(f).all(axis=1)]
        noise = self._noise(usable)
        gradient_error = self._compare_gradients(usable, noise) if len(usable) else None
        kinks = self._kinks(usable)
        plan, n_points = self._plan(kinks)
        return Checkup(
            n_objectives=self.M,
            n_variables=self.L,
            form=self.problem.form.found,
            values=self.names.signs * f[0],
            ranges=np.array(
                [
                    np.ptp(column[np.isfinite(column)]) if np.isfinite(column).any() else np.nan
                    for column in f.T
                ]
            ),
            n_probes=len(f),
            n_finite=len(usable),
            noise=noise,
            gradient_error=gradient_error,
            x_scale=self.problem.raveling.scale,
            seconds=seconds,
            plan=plan,
            cost=_cost(n_points, seconds),
            problems=tuple(self.problems),
            remarks=tuple(self.remarks),
            names=self.names,
        )

    def _times(self) -> dict[str, float]:
        """Seconds of a value, a gradient and a Hessian at a point, all objectives at once, and of
        compiling them."""
        parts = {
            "value": self.evaluator.values,
            "gradient": self.evaluator.jacobians,
            "hessian": self.evaluator.hessians,
        }
        points = self.points[1 : 1 + self.evaluator.block]
        first = {what: _seconds(part, self.x0[None]) for what, part in parts.items()}
        again = {what: _seconds(part, points) / len(points) for what, part in parts.items()}
        return {**again, "compilation": max(sum(first.values()) - sum(again.values()), 0.0)}

    def _look_at_values(self, f: Float[np.ndarray, "n n_objectives"]) -> None:
        finite = np.isfinite(f)
        for m in np.flatnonzero(~finite[0]):
            self.problems.append(
                f"{self.names.objectives[m]} is {f[0, m]} at x0: start where every objective is"
                " finite"
            )
        bad = np.argwhere(~finite[1:])
        if len(bad):
            row, m = bad[0] + (1, 0)
            x = (
                np.asarray(decode(self.points[row], self.names.transforms))
                * self.problem.raveling.units
            )
            where = (
                f"{self.names.objectives[m]} is {f[row, m]} at x ="
                f" {np.array2string(x, precision=4, threshold=6)}"
            )
            self.remarks.append(
                f"{where}, and something is not finite at {len(set(bad[:, 0]))} of {PROBES} points;"
                " bounds keep a run away"
            )
        spans = np.array(
            [
                np.ptp(column[mask]) if mask.any() else 0.0
                for column, mask in zip(f.T, finite.T, strict=True)
            ]
        )
        for m in np.flatnonzero(spans == 0):
            self.problems.append(
                f"{self.names.objectives[m]} has the same value at all points: does it depend on x?"
            )
        moving = spans[spans > 0]
        if len(moving) > 1 and moving.max() > UNEQUAL * moving.min():
            self.remarks.append(
                f"ranges of objectives differ by a factor of {moving.max() / moving.min():.0e};"
                " each counts by its own"
            )

    def _noise(self, points: np.ndarray) -> float:
        """The least noise of a few points: where a value happens to be 0, its rounding looks large
        beside it."""
        guess = Differences(self.scale, self.lower, self.upper)
        looked_at = [guess.measured(self.evaluator.values, x) for x in points[:NOISE_PLACES]]
        if not looked_at:
            return float("nan")
        least = min(looked_at, key=lambda found: found.noise)
        if least.noise > NOISY:
            self.remarks.append(
                f"values have a relative noise of about {least.noise:.0e}: gradients from"
                f" differences of them are known to {least.accuracy(0):.0e}, and a tolerance below"
                " that cannot be reached by them"
            )
        return least.noise

    def _compare_gradients(self, points: np.ndarray, noise: float) -> float | None:
        """The median, over points, of the largest difference of gradients and finite differences;
        None where they are such."""
        if self.problem.gradient_noise:
            return None
        points = points[:COMPARED]
        differences = Differences(self.scale, self.lower, self.upper, noise)
        given, found = (
            self.evaluator.jacobians(points).gradients,
            differences.gradients(self.evaluator.values, points),
        )
        size = np.maximum(np.abs(found).max(axis=2, keepdims=True), np.finfo(float).tiny)
        off = np.abs(given - found) / size
        worst = np.nanmedian(off.reshape(len(points), -1), axis=0)
        k = int(np.nanargmax(worst)) if np.isfinite(worst).any() else 0
        if not worst[k] <= max(DISAGREES, 100 * differences.accuracy(0)):
            m, i = divmod(k, self.L)
            self.problems.append(
                f"the gradient of {self.names.objectives[m]} by {self.names.solver_variables[i]} is"
                f" {given[0, m, i]:.6g}, where differences of values give {found[0, m, i]:.6g}; is"
                " it the derivative of this function?"
            )
        return float(worst[k])

    def _kinks(self, points: np.ndarray) -> int:
        """How many kinks a run would lift; those that are only seen are said."""
        try:
            n = find_kinks(self.problem.flat, self.L)
        except (CannotLiftError, TypeError, NotImplementedError):
            n = 0
        if n or not len(points) or not self.problem.form.is_exact:
            return n
        for i in range(min(self.L, MOST_SCANNED)):
            for m in range(self.M):
                place = find_jump(self.evaluator, points[0], i, m, float(self.scale[i]))
                if np.isfinite(place):
                    name, variable = self.names.objectives[m], self.names.solver_variables[i]
                    self.remarks.append(
                        f"the slope of {name} jumps at {variable} = {place:.3g}: it has a kink, or"
                        " is no smooth function"
                    )
                    return 0
        return 0

    def _plan(self, kinks: int) -> tuple[str, int]:
        """What a run with method="auto" will do, and about how many points it will evaluate."""
        feasible: FeasibleSet | None = self.problem.feasible
        surface, atlas = POINTS_OF_A_SURFACE[min(self.M, 5)], POINTS_OF_AN_ATLAS
        why_not = why_not_estimated(self.problem.flat, self.problem.start)
        if why_not:
            self.remarks.append(f"the error will not be estimated unless you ask for it: {why_not}")
        if self.M == 1:
            return "find the minimizer of the one objective", surface
        if kinks:
            return f"lift {kinks} kinks of the objectives and answer with an atlas", atlas
        if feasible is not None and feasible.n_equalities:
            return "answer with an atlas on the equality constraints", atlas
        if feasible is not None:
            return (
                (
                    "look for one surface within the bounds, and answer with an atlas where the set"
                    " follows them"
                ),
                surface + atlas,
            )
        beyond = (
            ", and try an atlas if one surface cannot be the set"
            if self.L <= MOST_FOR_AN_ATLAS
            else ""
        )
        return f"look for one surface through all trade-offs{beyond}", surface


def _cost(n_points: int, seconds: dict[str, float]) -> str:
    each = seconds["value"] + seconds["gradient"] + seconds["hessian"]
    return (
        f"{n_points:,} points and {n_points * each + seconds['compilation']:.2g} s, compilation"
        " included"
    )


def _seconds(part: Callable[[np.ndarray], object], points: np.ndarray) -> float:
    began = time.perf_counter()
    part(points)
    return time.perf_counter() - began
