"""Attempts at the Pareto set of a problem: one surface where that suffices, else an atlas, with
kinks lifted where there are any. `minimize` has the order in which they are made."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ..answer import ErrorEstimate, Flag, Reason, Result, Solution
from ..atlas import AtlasFlow, most_hessians
from ..bezier import BezierSimplex
from ..evaluations import Evaluations, total
from ..flows import (
    AbstractFlow,
    Flow,
    Run,
    corners,
    dense_points,
    drive,
    leaves,
    search_box,
)
from ..kinks import CannotLiftError
from ..names import Names, encode
from ..normal import AbstractAutoFlow, Matrices, accept, estimate_error, find_minimizers
from ..objectives import (
    Bridge,
    BudgetSpentError,
    FeasibleSet,
    FlatObjectives,
    InfeasibleError,
    JaxEvaluator,
    Problem,
    feasible_set,
    point_in_words,
)
from ..scalarizations import AbstractReferencedScalarization, Reference
from .call import Call
from .causes import find_break, find_cause, find_endless, find_runaway, jump_beside
from .first_look import find_noise
from .kinked import box_around, lift_problem
from .probing import Box, Probed, only_point, probe
from .schedule import SCHEDULE, SURFACE_POINTS

Designs = Float[np.ndarray, "n n_variables"]

FITS = (Reason.CONVERGED, Reason.NOT_AT_TOLERANCE)
"""Ends of a run whose surface or atlas is the set, up to the error that it states."""

SETTLED = (Reason.CONVERGED, Reason.COMPLETED)
"""Ends after which nothing better is looked for."""

NOTHING = Evaluations()


class Attempt(NamedTuple):
    """One flow, driven to its end, measured and explained.

    Attributes:
        flow: prepared for the problem.
        start: where it started.
        run: as it ended.
        flat: the objectives that it worked on.
        spent: what was evaluated before it began.
        evaluations: what was evaluated by its end.
        error: of what it found.
        result: in words.
        flaw: why what it found cannot be the answer, within bounds; empty where it may be.
        open: whether a later attempt may replace it.
        rivals: designs that are better than what it found.
        kinks: why kinks of the objectives could not be lifted.
    """

    flow: AbstractFlow
    start: BezierSimplex
    run: Run
    flat: FlatObjectives
    spent: Evaluations
    evaluations: Evaluations
    error: ErrorEstimate | None
    result: Result
    flaw: str = ""
    open: bool = False
    rivals: Float[np.ndarray, "n n_variables"] | None = None
    kinks: str = ""

    @property
    def surface(self) -> Any:
        """What it found, with flat vectors for values."""
        return self.flow.surface(self.run.state)

    @property
    def over(self) -> bool:
        """Whether the user, a limit or the budget ended it."""
        spent = self.error is not None and Flag.BUDGET_SPENT in self.error.flags
        return self.run.stopped is not None or spent

    def noted(self, note: str | None) -> "Attempt":
        """The same with a note in its message."""
        return self._replace(result=self.result.noted(note))

    def doubted(self, why: str) -> "Attempt":
        """The same, suspect for a reason beside the flaw that it may have."""
        known = replace(self.result, details=(self.flaw,)) if self.flaw else self.result
        return self._replace(result=known.doubted(why))

    def flagged(self, why: str, flag: Flag, share: float = 0.0) -> "Attempt":
        """The same, suspect because a share of it does not hold."""
        error = self.error
        if error is not None:
            coverage = None if error.coverage is None else min(error.coverage, 1 - share)
            flags = tuple(dict.fromkeys((*error.flags, flag)))
            error = replace(error, coverage=coverage, flags=flags)
        return self._replace(error=error).doubted(f"{why}: {flag.value}")

    def off_by(self, lead: float, names: Names) -> "Attempt":
        """The same, known to miss by this much."""
        assert self.error is not None
        flags = tuple(dict.fromkeys((*self.error.flags, Flag.NOT_AT_TOLERANCE)))
        error = replace(self.error, front=SCHEDULE.seen * lead, flags=flags)
        result = self.flow.explain(self.flat, self.run, error, names)
        return self._replace(error=error, result=result)

    def local(self, why: str) -> "Attempt":
        """The same, where nothing says that it is more than a local set."""
        claim = f"Nothing nearby is better than this front, but something elsewhere may be: {why}"
        return self._replace(result=Result(Reason.LOCAL, claim, self.result.details))

    def cut_short(self, reason: Reason, words: str) -> "Attempt":
        """The same for a user who does not wait for what comes next."""
        error = self.error
        # Only a surface can be measured later.
        if error is None and not isinstance(self.surface, BezierSimplex):
            error = ErrorEstimate.unknown(float("nan"))
        claim = "" if self.flaw else self.result.claim
        details = (claim or "the best so far is returned", *self.result.details)
        result, run = Result(reason, words, details), replace(self.run, stopped=reason)
        return self._replace(run=run, error=error, result=result, open=False)

    def interrupted(self, when: str) -> "Attempt":
        """The same after Ctrl-C."""
        return self.cut_short(
            Reason.INTERRUPTED, f"interrupted after iteration {self.run.iterations}, {when}"
        )


class Plan(NamedTuple):
    """Where an atlas is looked for.

    Attributes:
        problem: with its kinks lifted, if it has any.
        feasible: the set among whose points.
        box: to look in.
        why: it is an atlas.
        known: designs to begin with.
        spent: before.
    """

    problem: Problem
    feasible: FeasibleSet
    box: Box
    why: str
    known: Designs
    spent: Evaluations


def own_flow(problem: Problem, call: Call, found: Attempt | None) -> Attempt:
    """The flow that the user brings along, as it is, or their atlas that goes on where it was."""
    paused = call.paused
    if call.form_is_open and paused is not None:
        assert isinstance(paused.flow, AtlasFlow)
        flow = replace(paused.flow, n_iterations=call.method.n_iterations)
        made = run_flow(problem.lifted(paused.flat, paused.start), call, flow)
        L = problem.start.n_variables  # without variables that stand for kinks
        return held(problem, call, made, (flow.box[0][:L], flow.box[1][:L]))
    return run_flow(problem, call, call.method)


def one_feasible_point(problem: Problem, call: Call, found: Attempt | None) -> Attempt | None:
    """The point that is the set because constraints leave no other: an atlas would look for it in
    units of ranges, which are rounding there."""
    feasible = problem.feasible
    x = None if feasible is None else only_point(feasible, search_box(feasible, problem.start))
    if x is None:
        return None
    M, flow = problem.start.n_objectives, call.method
    surface = BezierSimplex(np.tile(x, (M, 1)), M, 1)
    run = Run(accept(surface, flow.settings), None, 0, {})
    result = Result(Reason.CONVERGED, "Constraints leave one point, which is the set")
    size = max(float(np.linalg.norm(x)), 1.0)
    error = ErrorEstimate(0, 0, 0, size, 1, 0, 0, 0, 0, 0, (), 0, front=0.0, coverage=1.0)
    return Attempt(flow, problem.start, run, problem.flat, NOTHING, NOTHING, error, result)


def atlas_at_once(problem: Problem, call: Call, found: Attempt | None) -> Attempt:
    """An atlas among points that keep equality constraints, or where no feasible start is known.

    Raises `ValueError` where nothing feasible is found in the second case.
    """
    why = "no feasible start was found" if problem.doubt else "the set lies on equality constraints"
    atlas = _in_box(problem, call, why)
    if problem.doubt and isinstance(atlas.surface, BezierSimplex):
        n = int(atlas.evaluations.objective)
        raise InfeasibleError(
            f"{problem.doubt} (nor did {n} more designs all over the box keep them)"
        )
    return atlas


def values_alone(problem: Problem, limit: int | None) -> bool:
    """Whether one surface would take more values of objectives that have no derivatives than an
    atlas from values does, or than there may be."""
    flat, feasible = problem.form.flat, problem.feasible
    if not isinstance(flat, Bridge) or flat.order:
        return False
    M, L = problem.start.n_objectives, problem.start.n_variables
    values = SURFACE_POINTS.get(M, SURFACE_POINTS[5]) * (L * L + L + 1)
    if feasible is None or not feasible.has_finite_box:
        return limit is not None and values > limit
    # A run towards one surface does not know where to stop within a budget.
    return limit is not None or values > SCHEDULE.most_values


def atlas_from_values(problem: Problem, call: Call, found: Attempt | None) -> Attempt:
    """An atlas by searches that need values alone, where Hessians by differences cost too much;
    where the budget is spent, one of the best designs that were evaluated."""
    feasible = problem.feasible or feasible_set(None, None, problem.start.n_variables)
    assert isinstance(problem.form.flat, Bridge)
    known = encode(problem.form.flat.archive()[0], problem.names.transforms)
    known = known[np.isfinite(known).all(axis=1)]
    box = box_around(np.vstack([known, corners(problem.start)]), problem.start, feasible)
    why = "objectives are known by their values alone"
    return _in_box(problem, call, why, known, box=box)


def amid_noise(problem: Problem, call: Call, found: Attempt | None) -> Attempt | None:
    """The best of a few hundred designs, where values are too noisy for anything but a
    surrogate."""
    noise, calls = find_noise(problem), problem.calls
    if not noise:
        return None
    most = sum(map(int, calls.total)) + SCHEDULE.noisy_calls
    calls.limit, calls.kept = min(most, calls.limit or most), 0
    return atlas_from_values(problem, call, found).flagged(noise, Flag.NOISY)


def one_surface(problem: Problem, call: Call, found: Attempt | None) -> Attempt:
    """One surface by a flow that knows of no bounds; within bounds it is stopped when its corners
    leave them."""
    feasible, flow = problem.feasible, call.method
    if isinstance(flow, AbstractAutoFlow):
        flow = replace(flow, budget=_left(problem, call, NOTHING))
    if feasible is None:
        made = run_flow(problem, call, flow)
        return made._replace(open=not made.over)
    made = run_flow(problem, call, flow, leaves=lambda surface: leaves(feasible, corners(surface)))
    flaw = made.run.left or leaves(feasible, dense_points(made.surface))
    if made.run.stopped is not None and not made.run.left:  # the user gets what there is
        return made.noted(flaw)
    return made._replace(flaw=flaw, open=True)


def out_of_reach(problem: Problem, call: Call, found: Attempt) -> Attempt | None:
    """The surface as it is, where the set goes on without end, so that no box holds it."""
    if found.result.success or found.over:
        return None
    why = find_runaway(problem, found.surface, endless=True)
    return found.flagged(why, Flag.NOT_CONVERGED)._replace(open=False) if why else None


def nothing_to_find(problem: Problem, call: Call, found: Attempt) -> Attempt:
    """The surface as it is, or within bounds an atlas of what a few thousand values show, where an
    objective falls without end, or jumps next to them: nothing could verify a better answer."""
    if found.result.success or (found.over and not found.flaw):
        return found
    without_end = partial(find_endless, to_the_end=True), partial(find_break, jumps=False)
    fatal = find_cause(problem, found.surface, without_end)
    cause = fatal or find_cause(problem, found.surface, [find_break])
    feasible, made, words = problem.feasible, found, ""
    if cause and feasible is not None and feasible.has_finite_box:
        box, spent = search_box(feasible, problem.start), found.evaluations
        most = int(spent.objective) + SCHEDULE.broken_values
        few = replace(call.method, budget=min(most, call.method.budget or most))
        why = "one surface cannot be this set"
        known = np.zeros((0, problem.start.n_variables))
        plan = Plan(problem, feasible, box, why, known, spent)
        made = _atlas(replace(call, method=few), plan)
        words = cause
    if fatal or (cause and jump_beside(problem, made.surface)):
        # of a surface the cause is said in the end
        return made.doubted(words)._replace(open=False)
    return found._replace(evaluations=made.evaluations)


def surface_probed_around(problem: Problem, call: Call, found: Attempt) -> Attempt:
    """The surface without bounds, held against fresh probes around it."""
    L, error = problem.start.n_variables, found.error
    own = error is not None and error.n_probes > 0
    # Among many variables a run's own probes must do, along a few axes.
    if found.result.reason in FITS and not (own and SCHEDULE.most_variables < L):
        everywhere, x = feasible_set(None, None, L), dense_points(found.surface)
        box = box_around(x, problem.start, everywhere, SCHEDULE.around)
        found = held(problem, call, found, box)
    settled = found.over or found.result.reason in (*SETTLED, Reason.LOCAL)
    alone = settled or problem.start.n_objectives == 1
    return found._replace(open=call.form_is_open and not alone)


def surface_probed_within(problem: Problem, call: Call, found: Attempt) -> Attempt:
    """The surface, held against fresh probes all over the box, with its flaw or with why it has
    none.

    Raises `ValueError` where the user asked for one surface and it cannot be the answer.
    """
    flaw, feasible = found.flaw, problem.feasible
    assert feasible is not None
    if not flaw and found.result.reason in FITS:
        found = held(problem, call, found, search_box(feasible, problem.start))
        if found.rivals is None:
            # A Pareto point of the whole space that is feasible is one among feasible points, and
            # whatever else is feasible is dominated by one of them.
            kept = "it keeps the bounds and constraints, so it is the Pareto set with them too"
            may_be_better = found.result.reason is Reason.NOT_AT_TOLERANCE and not found.over
            return found.noted(kept)._replace(open=call.form_is_open and may_be_better)
        better = point_in_words(found.rivals[0], problem.names, problem.raveling.units)
        flaw = f"x = {better} is not dominated by the set that was found from the start"
    if not call.form_is_open:
        raise ValueError(
            "bounds and constraints cut off a part of the Pareto set:"
            f" {flaw or found.result.message}. A set that follows them has kinks, which one surface"
            ' cannot: leave the method open for an atlas, method="auto", or give bounds with a'
            " lifted method"
        )
    return found._replace(flaw=flaw or "one surface cannot be this set")


def kinks_lifted(problem: Problem, call: Call, found: Attempt | None) -> Attempt | None:
    """An atlas of the problem with its kinks lifted, where it has any, in place of a surface that
    is no better."""
    # A surface that was found shows where norms are 0.
    x = None if found is None else dense_points(found.surface)
    given = problem.flat, problem.start, problem.feasible
    before = NOTHING if found is None else found.evaluations
    try:
        kinked = lift_problem(*given, _left(problem, call, before), x)
    except CannotLiftError as error:
        if found is None:
            return None
        why = f"the objectives have kinks, which could not be lifted: {error}"
        return found.noted(why)._replace(kinks=why, open=bool(found.flaw))
    if kinked is None:
        return found

    def lifted(known: Designs, spent: Evaluations) -> Plan:
        # around what is better, too
        left = _left(problem, call, spent)
        new = lift_problem(*given, left, x, known) if len(known) else kinked
        assert new is not None
        part = problem.lifted(new.objectives, new.start)
        spent = total(new.evaluations, spent)
        return Plan(part, new.feasible, new.box, new.why, new.known, spent)

    rivals = None if found is None else found.rivals
    atlas = _challenged(problem, call, lifted, rivals, before)
    return atlas if found is None else _better_of(found, atlas)


def atlas_around(problem: Problem, call: Call, found: Attempt) -> Attempt:
    """An atlas in a box around a suspect surface and what is known to be better; around what is
    better than the atlas, once more."""
    if found.result.reason is not Reason.SUSPECT:
        return found
    everywhere = feasible_set(None, None, problem.start.n_variables)
    why = (
        f"one surface cannot be this set; without bounds, looked for {SCHEDULE.around:.0f} widths"
        " around what was found"
    )
    start = np.asarray(problem.start.control_points, dtype=float)
    x = np.concatenate([dense_points(found.surface), start])
    spread = np.linspace(0, len(x) - 1, SCHEDULE.known_designs).astype(int)
    rivals = [getattr(found.run.state, "rival", None), found.rivals]
    rivals = [np.atleast_2d(rival) for rival in rivals if rival is not None]

    def around(known: Designs, spent: Evaluations) -> Plan:
        box = box_around(np.concatenate([x, known]), problem.start, everywhere, SCHEDULE.around)
        return Plan(problem, everywhere, box, why, known, spent)

    known = np.vstack([corners(found.surface), x[spread], *rivals])
    return _better_of(found, _challenged(problem, call, around, known, found.evaluations))


def atlas_within(problem: Problem, call: Call, found: Attempt) -> Attempt:
    """An atlas that follows bounds and constraints, in place of a surface that does not."""
    if problem.feasible is None or not found.flaw:
        return found
    made = _in_box(problem, call, found.flaw, found.rivals, found.evaluations)
    return made.noted(found.kinks)


def _in_box(
    problem: Problem,
    call: Call,
    why: str,
    known: Designs | None = None,
    spent: Evaluations = NOTHING,
    box: Box | None = None,
) -> Attempt:
    """An atlas among feasible points of a box, by default that of the bounds, which fresh probes
    have not beaten."""
    feasible = problem.feasible or feasible_set(None, None, problem.start.n_variables)
    box = box or search_box(feasible, problem.start)

    def plan(known: Designs, spent: Evaluations) -> Plan:
        return Plan(problem, feasible, box, why, known, spent)

    return _challenged(problem, call, plan, known, spent)


def _challenged(
    problem: Problem,
    call: Call,
    plan: Callable[[Designs, Evaluations], Plan],
    known: Designs | None = None,
    spent: Evaluations = NOTHING,
) -> Attempt:
    """An atlas as planned from known designs, which neither fresh probes nor what was met when it
    was measured have beaten; where some have, it goes on with the best of them."""
    L = problem.start.n_variables  # without variables that stand for kinks
    known = np.zeros((0, L)) if known is None else known
    now = plan(known, spent)
    made = held(problem, call, _atlas(call, now), (now.box[0][:L], now.box[1][:L]))
    for tries in range(1, SCHEDULE.atlas_tries):
        _, gradients, hessians = map(int, made.evaluations)
        much = hessians > most_hessians(L) or (tries > 1 and gradients > SCHEDULE.most_gradients)
        if made.rivals is None or made.over or much:
            break
        known = np.vstack([known, made.rivals])
        now = plan(known, made.evaluations)
        try:
            again = _atlas(call, now, made)
        except BudgetSpentError:
            break
        made = held(problem, call, again, (now.box[0][:L], now.box[1][:L]))
    return made


def held(problem: Problem, call: Call, made: Attempt, box: Box) -> Attempt:
    """An attempt held against fresh probes in a box: with those that are better, or with what they
    say for it. A flow of the user's own ends by its own rule."""
    error = made.error
    fits = made.result.reason in FITS and not made.over
    if error is None or not (fits and isinstance(call.method, AbstractAutoFlow)):
        return made
    before = _probes_before(problem, call, made)
    if before:
        words = f"no better point among {before} probes when it was found"
        return made.noted(words)._replace(error=replace(error, n_probes=before))
    if isinstance(made.flow, AtlasFlow) and made.flow.is_convex(made.run.state):
        return made.noted("objectives and constraints are convex quadratics: nothing is better")
    feasible = problem.feasible or feasible_set(None, None, problem.start.n_variables)
    spent = made.evaluations
    try:
        with problem.calls.during("estimate"):
            probed = probe(problem, made.surface, feasible, box, spent, call, error)
    except KeyboardInterrupt:
        return made.interrupted("while a better answer was looked for")
    error = replace(error, n_probes=error.n_probes + probed.n)
    return _as_probed(problem, made._replace(evaluations=probed.evaluations, error=error), probed)


def _as_probed(problem: Problem, made: Attempt, probed: Probed) -> Attempt:
    """An attempt with what probes say of it."""
    if len(probed.rivals):
        better = point_in_words(probed.rivals[0], problem.names, problem.raveling.units)
        made = made.flagged(f"x = {better} is better than its answers", Flag.BETTER_ELSEWHERE)
        return made._replace(rivals=probed.rivals)
    assert made.error is not None
    if probed.lead > max(made.error.front or 0.0, SCHEDULE.negligible):
        made = made.off_by(probed.lead, problem.names)
    if probed.short and made.result.reason is Reason.CONVERGED:
        made = made.local(probed.short)
    return made.noted(probed.words)


def _probes_before(problem: Problem, call: Call, made: Attempt) -> int:
    """What a surface that was kept was held against when it was found, by a run on the same
    objectives and feasible set; 0 where that is not known."""
    x0, given = call.x0, problem.objectives
    # A file does not say what the bounds were.
    if made.run.iterations or not isinstance(x0, Solution) or x0.known_front is not None:
        return 0
    known = getattr(x0.objectives, "original", x0.objectives)
    same = known == getattr(given, "original", given) and x0.feasible == problem.feasible
    error, converged = x0.known_error, x0.result.reason is Reason.CONVERGED
    return error.n_probes if same and converged and error is not None else 0


def _atlas(call: Call, plan: Plan, before: Attempt | None = None) -> Attempt:
    """An atlas as planned; one that was found before goes on, unless what better designs ask for is
    another box or other variables that stand for kinks."""
    problem, feasible, box, why, known, spent = plan
    budget, left = _left(problem, call, spent), problem.calls.left
    # A run that goes on in another process must not count on more than it had.
    budget = budget if left == np.inf else int(min(left, np.inf if budget is None else budget))
    flow = AtlasFlow(
        feasible,
        box,
        why,
        call.method.tol,
        budget,
        getattr(problem.flat, "n_auxiliary", 0),  # variables that stand for kinks
        known,
        n_iterations=call.method.n_iterations,
    )
    state = None
    if before is not None and flow.looks_where(before.flow) and problem.flat == before.flat:
        state = flow.with_known(before.run.state)
    return run_flow(problem, call, flow, spent, state=state)


def _left(problem: Problem, call: Call, spent: Evaluations) -> int | None:
    """What is left of the budget for a search. Calls on the host keep their own account."""
    budget, on_host = call.method.budget, isinstance(problem.form.flat, Bridge)
    kept = 0 if on_host else problem.calls.kept
    return None if budget is None else max(budget - kept - int(spent.objective), 0)


def _better_of(found: Attempt, atlas: Attempt) -> Attempt:
    """An atlas in place of a suspect surface, or one less exact than asked for, if it is
    better; it counts in any case."""
    better = atlas.result.reason in FITS and (
        atlas.result.success or found.result.reason is Reason.SUSPECT
    )
    if found.flaw or better:
        return atlas
    found = found._replace(evaluations=atlas.evaluations, open=False)
    if atlas.over and isinstance(atlas.surface, BezierSimplex):
        # It was stopped before it had found anything.
        assert atlas.run.stopped is not None
        return found.cut_short(atlas.run.stopped, atlas.run.ending)
    return atlas if atlas.over else found


def run_flow(
    problem: Problem,
    call: Call,
    flow: AbstractFlow,
    spent: Evaluations = NOTHING,
    leaves: Callable[[BezierSimplex], str] | None = None,
    state: Any = None,
) -> Attempt:
    """Prepares a flow, drives it to its end, from a state if one is given, measures what it found
    and explains it."""
    flow, before = _with_reference(flow, problem)
    flow, start = flow.prepare(problem.flat, problem.start)
    spent, paused = total(before, spent), call.paused
    if state is None and paused is not None and flow.continues(paused.flow):
        spent, state = total(spent, paused.spent), flow.with_budget(paused.state)
    elif state is None:
        # A surface that is at its goal already is kept.
        state = flow.accepted(problem.flat, start, call.seed)
        state = flow.init(problem.flat, start, call.seed) if state is None else state
    part = None if call.next_part is None else call.next_part()
    run: Run[Any] = drive(
        flow,
        problem.flat,
        state,
        call.callback,
        call.progress,
        problem.raveling,
        part,
        problem.calls.time,
        leaves,
        call.began,
    )
    made = flow.evaluations(run.state)
    # A lifted method does not know what its derivatives are made of.
    if isinstance(flow, Flow) and isinstance(problem.form.flat, Bridge):
        made = problem.form.flat.counted(made, problem.start.n_variables)
    attempt = Attempt(
        flow, start, run, problem.flat, spent, total(made, spent), None, Result(Reason.STOPPED, "")
    )
    if run.left:  # the surface is discarded, so it is not measured
        return attempt._replace(result=Result(Reason.STOPPED, run.left))
    try:
        error = _measured(problem, call, flow, run)
    except KeyboardInterrupt:
        return attempt.interrupted("before its error was estimated")
    result = flow.explain(problem.flat, run, error, problem.names)
    return attempt._replace(error=error, result=result, rivals=flow.rivals(run, call.seed))


def _measured(
    problem: Problem, call: Call, flow: AbstractFlow, run: Run[Any]
) -> ErrorEstimate | None:
    """The error of what a flow found; None where it is not looked for."""
    # Skip the estimate after Ctrl-C or the time limit; an atlas in JAX cannot be measured later.
    late = run.stopped in (Reason.INTERRUPTED, Reason.TIME_LIMIT)
    if late and not isinstance(flow, AtlasFlow):
        return None
    if late and isinstance(problem.form.flat, Bridge):
        return ErrorEstimate.unknown(float("nan"))
    try:
        with problem.calls.during("estimate"):
            return flow.measure(problem.flat, run, call.seed, estimate_error)
    except BudgetSpentError:
        return ErrorEstimate.unknown(float("nan"), Flag.BUDGET_SPENT)


def _with_reference(flow: AbstractFlow, problem: Problem) -> tuple[AbstractFlow, Evaluations]:
    """The flow, its scalarization with a reference where it needs one, and what finding it cost.

    Each objective is minimized apart from the others, from its corner of the start; the ideal point
    has the least values, and an objective's range is from there to its largest value at the others'
    minimizers.
    """
    scalarization, start = flow.scalarization if isinstance(flow, Flow) else None, problem.start
    if (
        not isinstance(scalarization, AbstractReferencedScalarization)
        or scalarization.reference is not None
    ):
        return flow, NOTHING
    evaluator = JaxEvaluator(problem.flat, start.n_objectives, start.n_variables)
    starts = corners(start)
    found = find_minimizers(Matrices(evaluator, starts), np.eye(start.n_objectives), starts)
    f = evaluator.values(found.x)
    ideal = f.min(axis=0)
    scale = np.maximum(f.max(axis=0) - ideal, np.finfo(float).tiny)
    if not (np.isfinite(ideal).all() and np.isfinite(scale).all()):
        raise ValueError(
            f"an objective has no finite minimum to measure from, found {ideal.tolist()}; give a"
            " reference yourself"
        )
    settled = scalarization.with_reference(Reference(ideal, scale))
    return eqx.tree_at(lambda flow: flow.scalarization, flow, settled), evaluator.evaluations
