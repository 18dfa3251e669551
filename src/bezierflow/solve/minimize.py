"""`minimize`, from objectives and a starting point to the Pareto set, and `train`, the same for
objectives that are known by batches."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import numpy as np
from jaxtyping import PyTree

from ..answer import BezierAtlas, Flag, Reason, Result, Solution, Stats, in_users_form
from ..arguments import or_none, read_count, read_flag, read_function, read_seed, shown
from ..atlas import AtlasFlow
from ..bezier import BezierSimplex
from ..compilation import forget_programs
from ..evaluations import total
from ..flows import (
    AbstractFlow,
    Callback,
    Flow,
    Origin,
    Paused,
    StochasticFlow,
    stochastic_flow,
    train_surface,
)
from ..interrupts import orderly_interrupts
from ..methods import AbstractMethod
from ..normal import AbstractAutoFlow, NormalEstimator
from ..objectives import (
    Bridge,
    BudgetSpentError,
    Chosen,
    InfeasibleError,
    Problem,
    Transforms,
    bridges,
    point_in_words,
)
from ..precision import double_precision
from ..quiet import quiet
from ..runs import open_checkpoint
from .attempts import (
    FITS,
    Attempt,
    amid_noise,
    atlas_around,
    atlas_at_once,
    atlas_from_values,
    atlas_within,
    kinks_lifted,
    nothing_to_find,
    one_feasible_point,
    one_surface,
    out_of_reach,
    own_flow,
    surface_probed_around,
    surface_probed_within,
    values_alone,
)
from .call import Call, Checkpoint, flow_for
from .causes import (
    describe_thinness,
    explain_start,
    find_cause,
    find_holes,
    find_runaway,
    jump_beside,
    single_design,
)
from .checkpoint import check_objectives, end_checkpoint, kept_arguments
from .choice import choose, search
from .first_look import ranges, refuse_wrong_derivatives
from .mixed import minimize_mixed
from .probing import kept_for_probes
from .schedule import SCHEDULE


@quiet()
def minimize(  # noqa: PLR0913
    objectives: object,
    x0: PyTree = None,
    method: Literal["auto"] | AbstractMethod | AbstractFlow | Any = "auto",
    *,
    bounds: object = None,
    constraints: object = None,
    maximize: Chosen = None,
    transforms: Transforms = None,
    variables: object = None,
    tol: float | None = None,
    budget: int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    progress: bool | None = None,
    checkpoint: str | PathLike[str] | Checkpoint | None = None,
) -> Solution:
    """Minimizes several objectives at once; the answer is a surface: a Bézier simplex on the Pareto
    set, or an atlas of them.

    Args:
        objectives: a function x -> M numbers, or functions x -> a number in a list, or in a dict by
            their names, in JAX, NumPy, torch or plain Python; `Objectives` with derivatives; a
            problem from `bezierflow.problems`, or one of pymoo's. What JAX cannot trace runs on
            the host, in processes where `Objectives` have an `executor`; derivatives that nobody
            gives are finite differences, which `solution.made_by["objectives"]` says.
        x0: where to start: an array, a pytree of arrays, a surface or a solution. A surface that is
            at tolerance is kept, after a look at a dozen points. The run of a solution that was
            stopped (by its callback, Ctrl-C, its budget or a limit) goes on where it was, with the
            same objectives and flow. A point outside of the bounds is clipped to them, one that
            violates constraints is moved to where they hold. None stands for the center of the
            box, where every bound is finite.
        method: "auto", which answers by derivatives, by values alone or by a `Surrogate`, and says
            why in `solution.made_by["chosen"]`; `NormalFlow(...)` or `WeightsFlow(...)` for "auto"
            with settings of its own, such as a degree; a single-objective method, which is lifted;
            a flow made by `lift`; or `Surrogate()` for objectives that are expensive to evaluate,
            which has its own meanings of x0, tol and budget.
        bounds: lower and upper bounds of x: `(lower, upper)`, each a number, an array or a pytree
            like x; `scipy.optimize.Bounds`; or a pair `(low, high)` for each variable, None for no
            bound (`feasible.feasible_set` has the details). Each point that a lifted method moves
            is clipped to them. With method="auto" the answer is a `BezierAtlas` where the set
            follows them. By default the problem's own `bounds`, if it has any; `(None, None)` for
            none.
        constraints: SciPy's `LinearConstraint` and `NonlinearConstraint` or functions g with g(x) ≤
            0, one or a list of them, for method="auto" and likewise. By default the problem's own;
            `[]` for none. Those of a `Surrogate` are evaluated with each design.
        maximize: the objectives to be maximized: a bool for each, or names or numbers (from 0) of
            them; True for all. Whatever is given and got, here and in every question, file, plot
            and page, has the objectives' own signs. By default the problem's own `maximize`.
        transforms: variables by name or number, each with "log10" or "log": the solver works with
            the logarithm of the variable, while x0, bounds, constraints, objectives and every
            answer have the variable itself. `solution.pareto_set` is the surface of the solver's
            variables; `solution.design(t)` has the design. By default the problem's own
            `transforms`.
        variables: those that are not continuous, by name or number: `bf.Integer(4, 20)`,
            `bf.Steps(0.1)` for multiples of a step, `bf.Choice("steel", "aluminium")` or a `Choice`
            of numbers. With `bounds` x is a vector, and `Integer()` and `Steps(0.1)` have the
            bounds of their variable. Without, `variables` has every variable by name, a
            continuous one as a pair (low, high), and objectives and constraints take a dict x with
            these names. The answer is one atlas; a piece has one value of each of these variables.
            Where they have more than 32 combinations, numbers must make sense between their
            values, too.
        tol: for method="auto" the largest distance to the set, relative to its diameter, by default
            1e-6, and for an atlas what its patches may miss in objectives, relative to their
            ranges; for a lifted method the change of the surface per iteration, relative to its
            diameter, below which it stops.
        budget: the most points that method="auto" may evaluate; the error estimate at the end comes
            on top.
        time_limit: seconds after which the run stops at its next pause, with the best so far. An
            error estimate of an atlas comes on top.
        seed: the same seed gives the same result, bit for bit.
        callback: called with an `Iteration` after each one; returns True to stop. Forces a host
            round trip per iteration.
        progress: show a bar with what is being done and how long that may still take. None:
            on a terminal or in a notebook, if the run lasts longer than three seconds.
        checkpoint: a folder that keeps the run, so that it goes on after whatever ends it, to the
            same result bit for bit: with `bf.resume(folder)`, or with the same call once more.
            `Checkpoint(folder, every)` says how often.
    """
    call = Call(
        *(objectives, x0, method, bounds, constraints, maximize, transforms, variables),
        *(tol, budget, time_limit, seed, callback, progress, checkpoint),
    )
    forget_programs()
    if not isinstance(call.method, str | AbstractMethod | AbstractFlow):
        return call.method.search(replace(call, objectives=call.form))
    if variables is not None:
        return minimize_mixed(call, minimize)
    folder, every = getattr(call.checkpoint, "folder", None), getattr(call.checkpoint, "every", 0.0)
    with (
        double_precision(),
        orderly_interrupts(),
        open_checkpoint(folder, every, kept_arguments(call.kept) if folder else {}) as kept,
    ):
        problem = call.read_problem()
        chosen = None
        if isinstance(call.method, str):
            chosen = choose(problem, call.budget, call.leaves_choice)
        if chosen is None or not chosen.searches:
            if kept is not None:
                check_objectives(kept, problem)
                call = replace(call, next_part=kept.part)
            solution = _checked_and_solved(problem, call)
            if chosen is not None:
                made_by = {**solution.made_by, "chosen": chosen.why}
                solution = replace(solution, made_by=made_by)
            if kept is not None:
                end_checkpoint(kept, solution)
            return solution
    return search(problem, call, chosen.why)


def _checked_and_solved(problem: Problem, call: Call) -> Solution:
    """The answer, unless something about the problem is wrong."""
    refuse_wrong_derivatives(problem)
    call = replace(call, method=flow_for(call, problem))
    if problem.doubt and not call.form_is_open:
        raise InfeasibleError(problem.doubt)
    lifted = isinstance(call.method, Flow | AtlasFlow)
    no_start = "" if lifted or problem.feasible is not None else explain_start(problem)
    if no_start:
        raise ValueError(no_start)
    return _solve(problem, call)


def _solve(problem: Problem, call: Call) -> Solution:
    """The answer, within the budget of calls: where that is spent before there is one, the best
    that was seen."""
    calls = problem.calls
    if calls.limit is not None and isinstance(call.method, AbstractAutoFlow):
        calls.kept = kept_for_probes(problem, calls.limit)
        if isinstance(problem.form.flat, Bridge):  # of others an estimate comes on top
            calls.kept += int(SCHEDULE.kept_for_estimate * calls.limit)
    found = None
    with calls.during("search"), suppress(BudgetSpentError):
        found = answer(problem, call)
        found = _explained(problem, call, found)
    if found is None:
        with calls.during("search"):
            found = atlas_from_values(problem, call, None)
    solution = _solution(problem, call, found)
    calls.hand_over()
    return solution


def attempts(problem: Problem, call: Call) -> list[Callable[..., Attempt | None]]:
    """What is tried, in this order, each with its condition beside it.

    Each is a function of the problem, the call and what was found so far. The first whose answer
    leaves nothing open is the last.
    """
    feasible, open_form = problem.feasible, call.form_is_open
    paused = call.paused.flow if call.paused is not None else None
    goes_on = open_form and isinstance(paused, AtlasFlow)
    small = problem.start.n_variables <= SCHEDULE.most_variables and problem.form.is_exact
    listed = [
        # What the user asks for by name runs as it is, and an atlas that was stopped goes on.
        (isinstance(call.method, Flow | AtlasFlow) or goes_on, own_flow),
        # Differences of noise lead nowhere, however many are made.
        (open_form, amid_noise),
        # No smooth surface is the set of objectives that bring a prox.
        (open_form and hasattr(problem.objectives, "prox"), kinks_lifted),
        # In units of its ranges a single point is rounding.
        (open_form, one_feasible_point),
        # No surface that ignores equality constraints lies on them, and none starts nowhere.
        (open_form and _no_surface_starts(problem), atlas_at_once),
        # Hessians by differences of values cost more than a search all over the box.
        (open_form and values_alone(problem, problem.calls.limit), atlas_from_values),
        # The cheapest answer, and the best one where it holds.
        (True, one_surface),
        # No search ends where an objective falls without end, and none is verified at a jump.
        (open_form, nothing_to_find),
        # Without bounds no box holds a set that goes on without end.
        (open_form, out_of_reach),
        # That may be the set of one basin only, or leave the bounds.
        (feasible is None, surface_probed_around),
        (feasible is not None, surface_probed_within),
        # Kinks are the most frequent reason why one surface does not hold.
        (open_form, kinks_lifted),
        # Without bounds an atlas needs a place to look, which a suspect surface gives.
        (feasible is None and small, atlas_around),
        # Within bounds it replaces a surface with a flaw, and fresh probes challenge it.
        (feasible is not None, atlas_within),
    ]
    return [attempt for applies, attempt in listed if applies]


def _no_surface_starts(problem: Problem) -> bool:
    feasible = problem.feasible
    return feasible is not None and (feasible.n_equalities > 0 or problem.doubt != "")


def answer(problem: Problem, call: Call) -> Attempt:
    """The last attempt; what there is where the user does not wait for the next one."""
    found = None
    try:
        for attempt in attempts(problem, call):
            if found is not None and call.late:
                raise BudgetSpentError
            found = attempt(problem, call, found) or found
            if found is not None and not found.open:
                break
    except BudgetSpentError:
        if found is None:
            raise
        return _cut_off(problem, call, found)
    except KeyboardInterrupt:
        if found is None:
            raise
        return found.interrupted("while a better answer was looked for")
    assert found is not None
    return found


def _cut_off(problem: Problem, call: Call, found: Attempt) -> Attempt:
    """What there is where the time or the budget does not suffice for the next attempt."""
    when = "while a better answer was looked for"
    if not call.late:
        return found.noted(found.flaw).noted(f"the budget was spent {when}")._replace(open=False)
    if found.flaw and isinstance(problem.form.flat, Bridge):
        # The best designs within the bounds, which takes no more calls.
        found = atlas_from_values(problem, call, found)
    words = f"the time limit was reached {when}; give a larger time_limit for that"
    return found.noted(found.flaw).cut_short(Reason.TIME_LIMIT, words)


def _explained(problem: Problem, call: Call, found: Attempt) -> Attempt:
    """The answer with what a reader must know of it, and with what is behind it where it is
    suspect."""
    if problem.start.n_objectives == 1:
        found = _of_one_objective(found)
    if isinstance(call.method, AbstractAutoFlow):
        found = _without_holes(problem, found)
    if call.form_is_open and not found.over:
        found = _with_minimizers(problem, _of_one_design(problem, found))
    reason, surface = found.result.reason, found.surface
    did_not_rest = reason is Reason.ITERATION_LIMIT and call.method.n_iterations is None
    uncertain = did_not_rest or (found.result.doubtful and not found.over)
    if uncertain and isinstance(surface, BezierSimplex):
        cause = explain_start(problem) or find_cause(problem, surface)
        claim = " ".join(filter(None, (cause, found.result.claim)))
        found = found._replace(result=replace(found.result, claim=claim))
    return found.noted(problem.note)


def _without_holes(problem: Problem, found: Attempt) -> Attempt:
    """The answer, suspect where objectives have no values on a part of it."""
    if not (found.result.success or found.result.reason in (*FITS, Reason.LOCAL)):
        return found
    with problem.calls.during("estimate"):
        share, where = find_holes(problem, found.surface)
    return found.flagged(where, Flag.NOT_FINITE, share) if share else found.noted(where)


def _with_minimizers(problem: Problem, found: Attempt) -> Attempt:
    """The answer, suspect where an objective attains its best value nowhere, or jumps next to it.
    Functions on the host would be called too often for the second."""
    if found.result.reason not in FITS:
        return found
    why = find_runaway(problem, found.surface)
    if why:
        return found.flagged(why, Flag.NOT_CONVERGED)
    why = "" if bridges(problem.flat) else jump_beside(problem, found.surface)
    return found.doubted(why) if why else found


def _of_one_objective(found: Attempt) -> Attempt:
    """The answer of a problem with one objective, where distances along a set mean nothing and only
    its corner counts."""
    what = "There is one objective, so the set is a single point, its minimizer"
    error, suspect = found.error, found.result.reason is Reason.SUSPECT
    if error is None or set(error.flags) - {Flag.ESTIMATE_INVALID} or not suspect:
        if found.result.claim or not found.result.success:
            return found.noted(what)
        return found._replace(result=replace(found.result, claim=what))
    result = Result(
        Reason.CONVERGED, f"{what}, which was found in {found.run.iterations} iterations"
    )
    return found._replace(error=replace(error, flags=()), result=result)


def _of_one_design(problem: Problem, found: Attempt) -> Attempt:
    """The answer, with a word where objectives do not conflict, so that distances in units of their
    ranges mean nothing, or where the set is thinner than their number allows."""
    error, answer = found.error, found.surface
    x, is_atlas = single_design(answer), isinstance(answer, BezierAtlas)
    if x is None:
        thin = found.result.success and not is_atlas
        return found.noted(describe_thinness(answer)) if thin else found
    if not found.result.success:
        # An atlas measures in units of the ranges over its set, which are rounding here.
        span = answer.units.span if is_atlas else np.array([np.inf])
        violates = error is not None and Flag.VIOLATED in error.flags
        if violates or not (span <= SCHEDULE.flat * ranges(problem)).all():
            return found
        error = None if error is None else replace(error, front=0.0, coverage=1.0, flags=())
    place = point_in_words(x, problem.names, problem.raveling.units)
    best = f"x = {place} is the best in each of them"
    claim = f"The objectives do not conflict: {best}, and the set is this point"
    # Of one that did not hold they tell what is rounding here.
    details = found.result.details if found.result.success else ()
    return found._replace(error=error, result=Result(Reason.CONVERGED, claim, details))


def _solution(problem: Problem, call: Call, found: Attempt) -> Solution:
    flow, on_host, calls = found.flow, isinstance(problem.form.flat, Bridge), problem.calls
    made = calls.total if on_host else total(found.evaluations, calls.total)
    seconds = time.monotonic() - call.began
    surface, raveling = in_users_form(found.surface, problem.raveling, problem.names.signs)
    return Solution(
        pareto_set=surface,
        objectives=problem.objectives,
        names=problem.names,
        result=found.result,
        stats=Stats(made, found.run.iterations, seconds, calls if on_host else None),
        history=found.run.history,
        made_by={**flow.parts(), "seed": call.seed, **problem.found},
        raveling=raveling,
        known_error=found.error,
        origin=Origin(flow, found.start.on_host(), call.seed) if isinstance(flow, Flow) else None,
        feasible=problem.feasible,
        estimator=NormalEstimator(),
        paused=(
            Paused(call.form, flow, found.run.state, found.flat, found.start, found.spent)
            if found.over
            else None
        ),
    )


@quiet()
def train(  # noqa: PLR0913
    objectives: Callable[..., PyTree],
    x0: PyTree,
    method: AbstractMethod | Flow | StochasticFlow,
    *,
    batches: Iterable[PyTree] | None = None,
    held_out: PyTree = None,
    names: Sequence[str] = (),
    n_iterations: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    progress: bool | None = None,
) -> Solution:
    """Trains a surface of models on batches: `bf.train(f, x0, method, batches=loader)`.

    Args:
        objectives: f(x, batch) -> M numbers, or f(x, key) where no batches are given: each point of
            the surface then gets a fresh key in each iteration, for data that lies on the device or
            is simulated. x has the form of x0.
        x0: where to start: a pytree with arrays of float32 or float64, such as a model of equinox,
            a surface or a solution. The run of a solution goes on where it was.
        method: a rule on gradients, such as `Optax(optax.adam(1e-3))`, which is lifted with degree
            2; one that `lift` has lifted, or `lift(...).stochastic(...)`.
        batches: any iterable of batches (pytrees of arrays; torch tensors too) that all have the
            same shapes. A list or a loader is gone through again as often as `n_iterations` asks
            for; without `n_iterations` a run is one pass.
        held_out: a batch (or a key) of which `solution.objectives` and so the front, decisions and
            pictures are; by default the last one that the run used.
        names: what the objectives are called.
        n_iterations: how many batches are taken; by default that of the flow, else one pass.
        seed: the same seed gives the same result, bit for bit.
        callback: called with an `Iteration` after each one; returns True to stop.
        progress: as in `minimize`.
    """
    read_function(objectives, "objectives", "of x and a batch")
    if batches is not None and not isinstance(batches, Iterable):
        raise TypeError(
            "batches must be an iterable of batches, or None for a function of x and a key, got"
            f" {shown(batches)}"
        )
    of = "of an Iteration, which returns True to stop the run"
    or_none(read_function, callback, "callback", of)
    flow = stochastic_flow(method)
    n_iterations = or_none(read_count, n_iterations, "n_iterations", 1) or flow.n_iterations
    if batches is None and n_iterations is None:
        raise ValueError("n_iterations must be given where objectives take a key: keys do not end")
    forget_programs()
    trained = train_surface(
        objectives,
        x0,
        replace(flow, n_iterations=n_iterations),
        batches,
        held_out,
        names,
        read_seed(seed),
        callback,
        or_none(read_flag, progress, "progress"),
    )
    return replace(trained, estimator=NormalEstimator())
