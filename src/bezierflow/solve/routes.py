"""Which flow answers a problem: one surface where that suffices, else an atlas, and kinks lifted
where there are any."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ..answer import BezierAtlas, ErrorEstimate, Flag, Reason, Result
from ..atlas import AtlasFlow, Settings, Survey, survey
from ..bezier import BezierSimplex
from ..evaluations import Evaluations, total
from ..flows import (
    AbstractFlow,
    Callback,
    Flow,
    Iteration,
    Paused,
    Run,
    corners,
    corners_leave,
    dense_points,
    drive,
    leaves,
    search_box,
)
from ..kinks import CannotLiftError
from ..normal import AUTO_TOL, NormalFlow, estimate_error
from ..objectives import (
    Bridge,
    FeasibleSet,
    JaxEvaluator,
    Objectives,
    Problem,
    bridges,
    feasible_set,
    point_in_words,
)
from ..runs import Checkpoint
from .causes import explain_start, find_cause
from .dimension import describe_thinness
from .kinked import Kinked, lift_problem
from .reference import with_reference
from .rivals import find_rival, probes_of
from .within import cut_off, incomplete, keeps_everything, unfinished

AROUND = 2.0
"""Where there are no bounds an atlas is looked for this many widths beyond what one surface found,
on each side."""

MOST_BOXES = 2
"""How often that is done: the second time around a point far away that is better than its
answers."""

N_KNOWN = 50
"""Designs of the surface that an atlas begins with."""

MOST_VARIABLES = 50
"""Without bounds an atlas is tried up to so many variables: it needs Hessians of every objective at
thousands of points."""

FITS = (Reason.CONVERGED, Reason.NOT_AT_TOLERANCE)
"""Ends of a run whose surface or atlas is the set, up to the error that it states."""


Box = tuple[Float[np.ndarray, " n_variables"], Float[np.ndarray, " n_variables"]]
"""Lower and upper bounds to look between."""

UNEXPLAINED = Result(Reason.STOPPED, "")


class Ended(NamedTuple):
    """A run that was driven to its end, measured and explained."""

    flow: AbstractFlow
    start: BezierSimplex
    run: Run
    flat: Objectives
    spent: Evaluations
    n_iterations: int | None
    error: ErrorEstimate | None
    result: Result
    evaluations: Evaluations

    def paused(self, given: object) -> Paused | None:
        """What it takes to go on, where the run was not done."""
        spent = self.error is not None and Flag.BUDGET_SPENT in self.error.flags
        if self.run.stopped is None and not spent:
            return None
        return Paused(given, self.flow, self.run.state, self.flat, self.start, self.spent)

    @property
    def surface(self) -> Any:
        """What it found, with flat vectors for values."""
        return self.flow.surface(self.run.state)

    @property
    def over(self) -> bool:
        """Whether the user, or their budget, ended it."""
        return self.run.stopped is not None or (
            self.error is not None and Flag.BUDGET_SPENT in self.error.flags
        )

    def noted(self, note: str | None) -> "Ended":
        """The same with a note in its message."""
        return (
            self._replace(result=Result(self.result.reason, f"{self.result.message}; {note}"))
            if note
            else self
        )

    def interrupted(self, when: str) -> "Ended":
        """The same for a user who has asked for an end."""
        message = (
            f"interrupted after iteration {self.run.iterations}, {when};"
            f" {self.result.message or 'the surface is returned'}"
        )
        error = self.error
        # nobody can estimate it any more
        if error is None and not isinstance(self.surface, BezierSimplex):
            error = ErrorEstimate.unknown(float("nan"))
        run = replace(self.run, stopped=Reason.INTERRUPTED)
        return self._replace(run=run, error=error, result=Result(Reason.INTERRUPTED, message))

    def of_one_objective(self) -> "Ended":
        """The same for a problem with one objective, where distances along a set mean nothing and
        only its corner counts."""
        flags = (
            ()
            if self.error is None
            else tuple(flag for flag in self.error.flags if flag is not Flag.ESTIMATE_INVALID)
        )
        what = "there is one objective, so the set is a single point, its minimizer"
        if self.error is None or flags or self.result.reason is not Reason.SUSPECT:
            return self.noted(what)
        found = f"{what}, which was found in {self.run.iterations} iterations"
        return self._replace(
            error=replace(self.error, flags=()), result=Result(Reason.CONVERGED, found)
        )


@dataclass(frozen=True)
class Routes:
    """The ways to answer one problem, with what the user asked for.

    Attributes:
        problem: what `minimize` was given, checked.
        flow: the user's, or that of method="auto".
        n_iterations: at most; None for the flow's own number.
        seed: of everything random.
        callback: the user's, after each iteration.
        progress: whether to show it.
        paused: an earlier run on the same problem to go on with, if it fits.
        checkpoint: where the run is kept, if anywhere.
        found: what the flows ended with so far, for somebody who does not wait for the next one.
    """

    problem: Problem
    flow: AbstractFlow
    n_iterations: int | None
    seed: int
    callback: Callback | None
    progress: bool
    paused: Paused | None = None
    checkpoint: Checkpoint | None = None
    found: list["Ended"] = field(default_factory=list)

    def solve(self) -> Ended:
        """The answer, with what is behind it where it is in doubt."""
        if not isinstance(self.flow, Flow | AtlasFlow) and self.problem.feasible is None:
            start = np.asarray(self.problem.start.control_points, dtype=float)
            no_start = explain_start(self.values(start), self.problem.names)
            if no_start:
                raise ValueError(no_start)
        ended = self.answer_or_last()
        if self.problem.start.n_objectives == 1:
            ended = ended.of_one_objective()
        if self.form_is_open and ended.result.success and isinstance(ended.surface, BezierSimplex):
            ended = ended.noted(describe_thinness(ended.surface))
        return self.with_cause(ended)

    def with_cause(self, ended: Ended) -> Ended:
        """What is behind an answer that is in doubt, said first."""
        did_not_rest = ended.result.reason is Reason.ITERATION_LIMIT and self.n_iterations is None
        if not (did_not_rest or (ended.result.doubtful and not ended.over)) or not isinstance(
            ended.surface, BezierSimplex
        ):
            return ended
        start = np.asarray(self.problem.start.control_points, dtype=float)
        cause = explain_start(self.values(start), self.problem.names) or self.cause(ended.surface)
        return (
            ended._replace(result=Result(ended.result.reason, f"{cause} {ended.result.message}"))
            if cause
            else ended
        )

    def answer_or_last(self) -> Ended:
        """The answer; what the last flow found for a user who does not wait for the next one."""
        try:
            return self.answer()
        except KeyboardInterrupt:
            if not self.found:
                raise
            return self.found[-1].interrupted("while a better answer was looked for")

    def cause(self, surface: BezierSimplex) -> str:
        """What is behind a surface in doubt. A function on the host need not run wherever that is
        looked for."""
        try:
            return find_cause(
                self.problem.flat, surface, self.problem.names, self.problem.feasible is not None
            )
        except Exception:
            if bridges(self.problem.flat):
                return ""
            raise

    def answer(self) -> Ended:
        """The answer: of the flow as it is, or by the way that suits the problem if the form of the
        answer was left open."""
        feasible, paused = self.problem.feasible, self.paused
        if paused is not None and isinstance(paused.flow, AtlasFlow) and self.form_is_open:
            return self.run(
                self.problem.lifted(paused.flat, paused.start), paused.flow, self.callback
            )
        if isinstance(self.flow, Flow | AtlasFlow):
            return self.run(self.problem, self.flow, self.callback)
        if not self.form_is_open:
            return (
                self.run(self.problem, self.flow, self.callback)
                if feasible is None
                else self.one_surface_within(feasible)[0]
            )
        kinked = self.lift(Evaluations()) if hasattr(self.problem.objectives, "prox") else None
        if isinstance(kinked, Kinked):
            return self.atlas_of_kinks(kinked, Evaluations())
        if feasible is None:
            return self.anywhere()
        if feasible.n_equalities:  # no surface without them lies on them
            return self.atlas(
                feasible,
                search_box(feasible, self.problem.start),
                "the set lies on equality constraints",
            )
        return self.within(feasible)

    @property
    def form_is_open(self) -> bool:
        """Whether the user left it to us what the answer is: one surface of any degree, or an
        atlas."""
        return isinstance(self.flow, NormalFlow) and self.flow.degree == "auto"

    def anywhere(self) -> Ended:
        """Without bounds: one surface if it is the set, else an atlas around it if that is
        better."""
        ended = self.run(self.problem, self.flow, self.callback)
        if ended.over or ended.result.success or self.problem.start.n_objectives == 1:
            return ended
        kinked = self.lift(ended.evaluations, ended.surface)
        if isinstance(kinked, Kinked):
            other = self.atlas_of_kinks(kinked, ended.evaluations)
        elif kinked is None and ended.result.reason is Reason.SUSPECT and self.may_try_an_atlas:
            other = self.atlas_around(ended)
        else:
            return ended.noted(kinked)
        return better_of(ended, other)

    @property
    def may_try_an_atlas(self) -> bool:
        """Whether Hessians at thousands of points are at hand, for a set without bounds that no
        surface is."""
        return self.problem.start.n_variables <= MOST_VARIABLES and self.problem.form.is_exact

    def atlas_around(self, ended: Ended) -> Ended:
        """An atlas in a box around a surface and what is known to be better; around what is better
        than the atlas, once more."""
        everywhere = feasible_set(None, None, self.problem.start.n_variables)
        why = (
            f"one surface cannot be this set; without bounds, looked for {AROUND:.0f} widths around"
            " what was found"
        )
        x = np.concatenate(
            [
                dense_points(ended.surface),
                np.asarray(self.problem.start.control_points, dtype=float),
            ]
        )
        known = np.concatenate(
            [corners(ended.surface), x[np.linspace(0, len(x) - 1, N_KNOWN).astype(int)]]
        )
        rival = getattr(ended.run.state, "rival", None)
        known = known if rival is None else np.vstack([known, rival])

        def box(known: np.ndarray) -> Box:
            return box_around(np.concatenate([x, known])) or search_box(
                everywhere, self.problem.start
            )

        return self.challenged(everywhere, box, why, ended.evaluations, known)

    def challenged(
        self,
        feasible: FeasibleSet,
        box: Callable[[np.ndarray], Box],
        why: str,
        spent: Evaluations,
        known: Float[np.ndarray, "n n_variables"],
    ) -> Ended:
        """An atlas that fresh probes have not beaten; made again with the best of them where one
        has."""
        bounded = bool(np.isfinite(feasible.lower).any() or np.isfinite(feasible.upper).any())
        n_made = 0
        while True:
            inside = box(known)
            other, n_made = self.atlas(feasible, inside, why, spent, known), n_made + 1
            if (
                other.over
                or other.error is None
                or other.result.reason not in FITS
                or not self.problem.form.is_exact
            ):
                return other
            size = (
                None if bounded else float(np.linalg.norm(inside[1] - inside[0])) / (1 + 2 * AROUND)
            )
            probes = probes_of(other.surface, inside, size)
            budget = getattr(self.flow, "budget", None)
            rival, spent = find_rival(
                self.problem.flat, other.surface, probes, feasible, budget, other.evaluations
            )
            error = replace(other.error, n_probes=other.error.n_probes + len(probes))
            other = other._replace(evaluations=spent, error=error)
            if rival is None:
                return other.noted(f"no better point among {len(probes)} fresh probes")
            if n_made == MOST_BOXES:
                better = (
                    f"x = {point_in_words(rival, self.problem.names)} is better than its answers"
                )
                return other._replace(
                    result=Result(
                        Reason.SUSPECT, f"{better}. For what it is worth: {other.result.message}"
                    )
                )
            known = np.vstack([known, rival])

    def within(self, feasible: FeasibleSet) -> Ended:
        """With bounds and inequalities: one surface if it keeps them all and lacks nothing, else an
        atlas."""
        ended, why = self.one_surface_within(feasible)
        if why is None and (ended.over or ended.result.success):
            return ended
        kinked = self.lift(ended.evaluations, ended.surface)
        if isinstance(kinked, Kinked):
            other = self.atlas_of_kinks(kinked, ended.evaluations)
            return other if why else better_of(ended, other)
        if why is None:
            return ended.noted(kinked)
        box = search_box(feasible, self.problem.start)
        nothing = np.zeros((0, self.problem.start.n_variables))
        return self.challenged(feasible, lambda known: box, why, ended.evaluations, nothing).noted(
            kinked
        )

    def one_surface_within(self, feasible: FeasibleSet) -> tuple[Ended, str | None]:
        """A run that knows of no bounds, stopped when it leaves them; why its surface is not the
        answer, None if it is.

        Raises `ValueError` where the user asked for one surface and it is not the answer.
        """
        watch = Watch(feasible, self.callback)
        ended = self.run(self.problem, self.flow, watch)
        why = watch.left or leaves(feasible, ended.surface)
        if ended.run.stopped is not None and not watch.left:  # by the user, who gets what there is
            return ended._replace(result=unfinished(ended.result, why)), None
        if not why and ended.result.reason in FITS:
            found = self.look_elsewhere(feasible, ended.evaluations)
            why = incomplete(found, self.values(dense_points(ended.surface)), self.problem.names)
            n = int(found.evaluations.objective - ended.evaluations.objective)
            ended = ended._replace(evaluations=found.evaluations)
            if not why:
                return ended._replace(result=keeps_everything(ended.result, n)), None
        if not self.form_is_open:
            raise cut_off(why or ended.result.message)
        return ended, why or "one surface cannot be this set"

    def look_elsewhere(self, feasible: FeasibleSet, spent: Evaluations) -> Survey:
        """The best designs of a population run in the box."""
        start = self.problem.start
        settings = Settings(
            feasible, search_box(feasible, start), budget=getattr(self.flow, "budget", None)
        )
        points = np.asarray(feasible.clip(np.asarray(start.control_points, dtype=float)))
        return survey(self.problem.flat, start.n_objectives, settings, points, self.seed, spent)

    def values(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_objectives"]:
        """The objectives of designs, uncounted."""
        return JaxEvaluator(self.problem.flat, self.problem.start.n_objectives, x.shape[1]).values(
            x
        )

    def atlas(
        self,
        feasible: FeasibleSet,
        box: tuple[np.ndarray, np.ndarray],
        why: str,
        spent: Evaluations | None = None,
        known: Float[np.ndarray, "n n_variables"] | None = None,
    ) -> Ended:
        """An atlas of the set among feasible points, looked for in a box, with designs that are
        known to begin with."""
        spent = spent or Evaluations()
        flow = AtlasFlow(feasible, box, f"{why}: ", *self.limits(spent), known=known)
        return self.run(self.problem, flow, self.callback, spent)

    def atlas_of_kinks(self, kinked: Kinked, spent: Evaluations) -> Ended:
        """An atlas of the problem with its kinks lifted."""
        spent = total(kinked.evaluations, spent)
        flow = AtlasFlow(
            kinked.feasible,
            kinked.box,
            kinked.why,
            *self.limits(spent),
            kinked.objectives.n_auxiliary,
        )
        return self.run(
            self.problem.lifted(kinked.objectives, kinked.start), flow, self.callback, spent
        )

    def lift(self, spent: Evaluations, surface: BezierSimplex | None = None) -> Kinked | str | None:
        """The problem with the kinks of its objectives lifted, or why that cannot be; None where
        there are none.

        A surface that was found shows where norms are 0.
        """
        found = None if surface is None else dense_points(surface)
        try:
            return lift_problem(
                self.problem.flat,
                self.problem.start,
                self.problem.feasible,
                self.limits(spent)[1],
                found,
            )
        except CannotLiftError as error:
            return f"the objectives have kinks, which could not be lifted: {error}"

    def limits(self, spent: Evaluations) -> tuple[float | None, int | None]:
        """The tolerance and the budget of an atlas in place of the flow."""
        assert isinstance(self.flow, NormalFlow)
        left = None if self.flow.budget is None else max(self.flow.budget - int(spent.objective), 0)
        return None if self.flow.tol == AUTO_TOL else self.flow.tol, left

    def run(
        self,
        problem: Problem,
        flow: AbstractFlow,
        callback: Callback | None,
        spent: Evaluations | None = None,
    ) -> Ended:
        """Prepares a flow, drives it to its end, measures what it found and explains it."""
        flow, before = with_reference(flow, problem.flat, problem.start)
        flow, start = flow.prepare(problem.flat, problem.start)
        n_iterations = self.n_iterations or flow.most_iterations
        paused = self.paused if self.paused is not None and self.paused.fits(flow) else None
        spent = total(
            before, spent or Evaluations(), Evaluations() if paused is None else paused.spent
        )
        if paused is not None:
            state = flow.with_budget(paused.state)
        else:
            known = (
                flow.accepted(problem.flat, start, self.seed)
                if isinstance(flow, NormalFlow)
                else None
            )
            state = flow.init(problem.flat, start, self.seed) if known is None else known
        part = None if self.checkpoint is None else self.checkpoint.part()
        run = drive(
            flow, problem.flat, state, n_iterations, callback, self.progress, problem.raveling, part
        )
        ended = Ended(
            flow, start, run, problem.flat, spent, n_iterations, None, UNEXPLAINED, Evaluations()
        )
        self.found.append(self.explained(ended, problem, callback))
        return self.found[-1]

    def explained(self, ended: Ended, problem: Problem, callback: Callback | None) -> Ended:
        """The run with its counts, the error of what it found, and words for both."""
        flow, run = ended.flow, ended.run
        made = flow.evaluations(run.state)
        # it does not know what its derivatives are made of
        if isinstance(flow, Flow) and isinstance(problem.form.flat, Bridge):
            made = problem.form.flat.counted(made, problem.start.n_variables)
        ended = ended._replace(evaluations=total(made, ended.spent))
        if isinstance(callback, Watch) and callback.left:  # nobody will ask how good it is
            return ended._replace(result=Result(Reason.STOPPED, callback.left))
        # who leaves does not wait for an estimate
        leaves = run.stopped is Reason.INTERRUPTED and not isinstance(flow, AtlasFlow)
        try:
            error = None if leaves else flow.measure(problem.flat, run, self.seed, estimate_error)
            return ended._replace(
                error=error, result=flow.explain(problem.flat, run, error, problem.names)
            )
        except KeyboardInterrupt:
            return ended.interrupted("before its error was estimated")


class Watch:
    """A callback that stops a run without bounds as soon as its corners leave them, after the
    user's own."""

    def __init__(self, feasible: FeasibleSet, callback: Callback | None):
        self.feasible, self.callback, self.left = feasible, callback, ""

    def __call__(self, iteration: Iteration) -> bool:
        """Whether to stop."""
        if self.callback is not None and self.callback(iteration):
            return True
        return self.look(iteration.surface)

    def look(self, surface: BezierSimplex | BezierAtlas | None) -> bool:
        """Whether the corners of a surface leave the bounds."""
        assert isinstance(surface, BezierSimplex)
        self.left = corners_leave(self.feasible, surface)
        return bool(self.left)


def better_of(ended: Ended, other: Ended) -> Ended:
    """An atlas in place of a surface that is in doubt or less exact than asked for, if it is
    better; it counts in any case."""
    better = other.result.reason in FITS and (
        other.result.success or ended.result.reason is Reason.SUSPECT
    )
    return other if better or other.over else ended._replace(evaluations=other.evaluations)


def box_around(x: Float[np.ndarray, "n n_variables"]) -> Box | None:
    """A box around points, `AROUND` widths wider on each side; None where they are one, or not
    finite."""
    width = np.ptp(x, axis=0)
    if not np.isfinite(x).all() or not width.max() > 0:
        return None
    margin = AROUND * np.maximum(width, 0.1 * width.max())
    return x.min(axis=0) - margin, x.max(axis=0) + margin
