"""Problems with whole numbers, steps and choices: a set for each combination of their values, and
all of them as one.

Where combinations are few, each is solved. Where they are many, the relaxation is solved, in which
numbers may lie between their values; then the combinations beside its set, and those beside the
best of these, as long as they contribute. No design is better than the relaxation: how far the
answer is from it bounds what may be missing.
"""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import groupby, product
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ..answer import (
    BezierAtlas,
    ErrorEstimate,
    Member,
    Reason,
    Result,
    Single,
    Solution,
    Stats,
    best_levels,
    unite,
)
from ..arguments import shown
from ..evaluations import Evaluations, total
from ..metrics import farthest_points, nondominated
from ..names import Names, encode
from ..objectives import (
    Calls,
    FeasibleSet,
    InfeasibleError,
    JaxEvaluator,
    Objectives,
    Placed,
    Space,
    Whole,
    box_on_solver_side,
    bridges,
    feasible_set,
    number_of,
    on_solver_side,
    placed_constraints,
    read_function,
    read_names,
    read_space,
    whole_constraints,
)
from ..precision import double_precision
from .call import Call
from .schedule import SCHEDULE

Places = tuple[int, ...]
"""A combination: for each variable that is not continuous, the place of its value in the list."""

Solve = Callable[..., Solution]
"""`minimize`."""

STOPPED = (Reason.STOPPED, Reason.INTERRUPTED)
"""Ends of a run after which no other one begins."""

MOST_NAMED = 6
"""So many choices are named in a message."""


def minimize_mixed(
    call: Call, solve: Solve, designs: Float[np.ndarray, "n n_variables"] | None = None
) -> Solution:
    """The Pareto set over all variables, as one atlas whose pieces have a choice each; of the
    combinations next to designs alone where these are given."""
    with double_precision():
        mixed = Mixed(call, solve)
        near = None if designs is None else _beside(mixed.space, designs, SCHEDULE.most_sets)
        solution = mixed.solution(near)
        if mixed.workers is not None:
            mixed.workers.release()
        return solution


class Mixed:
    """A problem with variables that are not continuous, and the sets that were found so far.

    Attributes:
        space: of all variables.
        names: complete but for the objectives, whose number the first set tells.
        sets: found so far, by combination; None where nothing is feasible.
        workers: who calls functions of all variables that run on the host.
    """

    def __init__(self, call: Call, solve: Solve):
        self.call, self.solve, self.workers = call, solve, call.workers
        function = call.form
        if isinstance(function, Objectives):
            raise ValueError(
                "objectives must be functions alone where variables are not continuous, without"
                " jac, hess and vectorized, got bf.Objectives"
            )
        if call.checkpoint is not None:
            raise ValueError(
                f"checkpoint={shown(call.checkpoint)} does not go with variables, except for a"
                " Surrogate; leave it out"
            )
        own = getattr(function, "names", None)
        self._own_names = own if isinstance(own, Names) else Names()
        bounds = getattr(function, "bounds", None) if call.bounds is None else call.bounds
        self.space: Space = read_space(call.variables, bounds, call.x0, self._own_names.variables)
        self.function = tuple(function) if isinstance(function, list) else function
        constraints = getattr(function, "constraints", None)
        self.constraints: Any = constraints if call.constraints is None else call.constraints
        self.sets: dict[Places, Solution | None] = {}
        self._ended: Reason | None = None  # by whom the search was stopped

    @cached_property
    def transforms(self) -> dict[str, str]:
        """Logarithms of continuous variables, by name."""
        given = self.call.transforms
        given = getattr(self.function, "transforms", None) if given is None else given
        found = {}
        for key, kind in (given or {}).items():
            i = number_of(key, self.space.names, "transforms", "variable")
            if self.space.values[i]:
                raise ValueError(
                    f"transforms: {self.space.names[i]!r} is not continuous, so that no logarithm"
                    " is taken; leave it out"
                )
            found[self.space.names[i]] = kind
        return found

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The transform of each variable, as `Names` has it."""
        return tuple(self.transforms.get(name, "") for name in self.space.names)

    @cached_property
    def whole(self) -> tuple[Any, FeasibleSet]:
        """The form of the objectives as a function of all variables as numbers, and where these may
        lie."""
        space, sides = self.space, (np.array(self.space.lower), np.array(self.space.upper))
        point = space.at(np.zeros((1, len(space.discrete)), dtype=int))[0]
        point = np.where(np.isfinite(sides[0]), np.maximum(point, sides[0]), point)
        function, rows = Whole(self.function, space), whole_constraints(self.constraints, space)
        calls = Calls(workers=self.workers)
        form = read_function(function, space.raveling, point, "objectives", sides, False, calls)
        return form, feasible_set(sides, rows, space.raveling, space.names, point, self.workers)

    def solution(self, todo: Sequence[Places] | None = None) -> Solution:
        """All that the combinations have, as one; of those in `todo` alone where it is given."""
        space = self.space
        if len(space.continuous) == 0:
            return self._of_points()
        if todo is not None:
            self._solve_all(todo)
            return self._united(None)
        if space.n_choices <= SCHEDULE.most_sets:
            self._solve_all(space.choices())
            return self._united(None)
        relaxed = self._relaxed()
        # Half of all, so that there is room for their neighbors.
        todo = _beside(space, self._designs(relaxed), SCHEDULE.most_sets // 2)
        while todo and not self._over:
            self._solve_all(todo)
            todo = self._neighbors(self._chosen(self._atlas()[0]))
        return self._united(relaxed, complete=not todo)

    @property
    def _over(self) -> bool:
        stopped = self.call.late or self._ended is not None
        return stopped or len(self.sets) >= SCHEDULE.most_sets

    def _solve_all(self, todo: Any) -> None:
        for places in todo:
            if self._over and self.sets:
                return
            if places not in self.sets:
                one = self.sets[places] = self._solved(self.space, places)
                if one is not None and one.result.reason in STOPPED:
                    self._ended = one.result.reason

    def _solved(self, space: Space, places: Places) -> Solution | None:
        """The set of one combination; None where nothing is feasible."""
        (x,), call = space.at(np.reshape(places, (1, -1)).astype(int)), self.call
        free = space.continuous
        labels = tuple(space.names[i] for i in free)
        own = self._own_names
        names = Names(own.objectives, labels, own.objective_units, (), own.directions)
        x0 = None if call.x0 is None else self.space.flat(call.x0)[free]
        limited = np.isfinite(call.deadline)
        left = max(call.deadline - time.monotonic(), 1.0) if limited else None
        share = min(space.n_choices, SCHEDULE.most_sets)
        sides = np.array(space.lower)[free], np.array(space.upper)[free]
        try:
            placed = Placed.at(self.function, x, space, names)
            return self.solve(
                placed if call.executor is None else Objectives(placed, executor=call.executor),
                x0,
                call.method,
                bounds=sides,
                constraints=placed_constraints(self.constraints, x, space),
                maximize=call.maximize,
                transforms={k: v for k, v in self.transforms.items() if k in labels} or None,
                tol=call.tol,
                budget=None if call.budget is None else max(call.budget // share, 1),
                time_limit=left,
                seed=call.seed,
                callback=call.callback,
                progress=call.progress,
            )
        except InfeasibleError:
            return None

    # combinations beside others

    def _relaxed(self) -> list[tuple[Places, Solution]]:
        """The sets of the relaxation, one for each combination of texts."""
        space = self.space.relaxed()
        if space.n_choices > SCHEDULE.most_sets:
            raise ValueError(
                f"variables have {space.n_choices} combinations of texts, more than"
                f" {SCHEDULE.most_sets}: leave some of them out"
            )
        found = [(places, self._solved(space, places)) for places in space.choices()]
        kept = [(places, one) for places, one in found if one is not None]
        if not kept:
            raise self._infeasible()
        return kept

    def _designs(
        self, relaxed: Sequence[tuple[Places, Solution]]
    ) -> Float[np.ndarray, "n n_variables"]:
        """Designs all over the sets of the relaxation."""
        space, found = self.space.relaxed(), []
        for places, one in relaxed:
            n = max(SCHEDULE.relaxed_points // len(relaxed), one.n_objectives)
            x = np.repeat(space.at(np.array([places], dtype=int)), n, axis=0)
            x[:, space.continuous] = one.flat_designs(one.spread(n).t)
            found.append(x)
        return np.concatenate(found)

    def _neighbors(self, chosen: Sequence[Places]) -> list[Places]:
        """Combinations that differ from given ones by one step of a number or by a text, and were
        not looked at."""
        found: dict[Places, None] = {}
        for places in chosen:
            for k, i in enumerate(self.space.discrete):
                size = len(self.space.values[i])
                steps = range(size) if self.space.is_text(i) else (places[k] - 1, places[k] + 1)
                for one in steps:
                    if 0 <= one < size:
                        found[(*places[:k], one, *places[k + 1 :])] = None
        return [places for places in found if places not in self.sets]

    def _chosen(self, atlas: BezierAtlas) -> list[Places]:
        """The combinations that an atlas has pieces of."""
        values = {tuple(value for _, value in piece.choice) for piece in atlas.pieces}
        return [self._places(row) for row in sorted(values)]

    # the answer

    def _members(self) -> list[tuple[Places, Solution]]:
        """The sets that can be used: a suspect surface may be anything."""
        return [
            (places, one)
            for places, one in self.sets.items()
            if one is not None
            and (isinstance(one.pareto_set, BezierAtlas) or not one.result.doubtful)
        ]

    def _atlas(self) -> tuple[BezierAtlas, float]:
        found = self._members()
        if not found:
            if all(one is None for one in self.sets.values()):
                raise self._infeasible()
            raise ValueError(f"no set was found for any choice: {self._doubts()[0]}")
        places = np.array([places for places, _ in found])
        varying = self.space.continuous
        members = [
            Member(one.set, x, varying)
            for (_, one), x in zip(found, self.space.at(places), strict=True)
        ]
        M = found[0][1].n_objectives
        return self._unite(members, Single(np.zeros((0, len(self.space.names))), np.zeros((0, M))))

    def _unite(self, members: Sequence[Member], single: Single) -> tuple[BezierAtlas, float]:
        kinds = self.kinds
        sides = np.array(self.space.lower), np.array(self.space.upper)
        positive = [
            np.where([bool(k) for k in kinds], np.maximum(side, 0.0), side) for side in sides
        ]
        lower, upper = (encode(side, kinds) for side in positive)
        return unite(members, single, (lower, upper), self.space.values, self.space.raveling)

    def _infeasible(self) -> InfeasibleError:
        return InfeasibleError(
            f"no choice has a feasible point, of {len(self.sets) or 'all'} that were looked at:"
            " relax the constraints or the bounds"
        )

    def _doubts(self) -> list[str]:
        """What is wrong with sets that count."""
        return [
            f"{self._words(places)}: {one.result.message}"
            for places, one in self.sets.items()
            if one is not None and one.result.doubtful
        ]

    def _words(self, places: Places) -> str:
        parts = []
        for k, i in zip(places, self.space.discrete, strict=True):
            value = self.space.values[i][k]
            parts.append(
                f"{self.space.names[i]} = {value if isinstance(value, str) else f'{value:g}'}"
            )
        return ", ".join(parts)

    def _united(
        self, relaxed: Sequence[tuple[Places, Solution]] | None, complete: bool = True
    ) -> Solution:
        (atlas, miss), found = self._atlas(), self._members()
        chosen = self._chosen(atlas)
        names = found[0][1].names
        error = _error(atlas, [one for places, one in found if places in chosen], miss)
        solved = [*(one for _, one in found), *(one for _, one in relaxed or ())]
        stats = Stats(
            total(*(one.stats.evaluations for one in solved)),
            sum(one.stats.iterations for one in solved),
            time.monotonic() - self.call.began,
        )
        told = (
            f"of {self.space.n_choices:,} choices {len(chosen)}"
            f" {'is' if len(chosen) == 1 else 'are'} part of it:"
            f" {self._told(atlas, names)}; objectives are exact to {error.front:.2g} of their"
            " ranges"
        )
        if relaxed is not None:
            gap = _gap(atlas, [one for _, one in relaxed])
            told += (
                f"; {len(self.sets)} choices were solved, and nothing is better by more than"
                f" {gap:.2g} of the ranges, by the relaxation in which numbers may lie between"
                " their values"
            )
        return self._as_solution(atlas, names, self._result(told, complete), stats, error)

    def _told(self, atlas: BezierAtlas, names: Names) -> str:
        """Which choice is best where, along the first objective."""
        words = {
            patch: self._words(self._places([value for _, value in piece.choice]))
            for piece in atlas.pieces
            for patch in piece.patches
        }
        order = np.argsort(atlas.points.f[:, 0], kind="stable")
        owners, z = [words[int(k)] for k in atlas.points.patch[order]], atlas.points.f[order, 0]
        parts = list(dict.fromkeys(owners))
        if atlas.n_objectives == 2:
            runs = _stretches(owners, z)
            ends = names.signs[0] * (atlas.units.ideal[0] + atlas.units.span[0] * z)
            parts = [f"{owner} up to {names.objectives[0]} {ends[k]:.4g}" for owner, k in runs[:-1]]
            parts.append(runs[-1][0])
        more = f" and {len(parts) - MOST_NAMED} more" if len(parts) > MOST_NAMED else ""
        return "; ".join(parts[:MOST_NAMED]) + more

    def _places(self, values: Sequence[float]) -> Places:
        """Where values stand in their lists."""
        numbers = [self.space.numbers(i) for i in self.space.discrete]
        return tuple(
            int(np.abs(own - one).argmin()) for own, one in zip(numbers, values, strict=True)
        )

    def _as_solution(
        self,
        atlas: BezierAtlas,
        names: Names,
        result: Result,
        stats: Stats,
        error: ErrorEstimate,
    ) -> Solution:
        space, kinds = self.space, self.kinds
        names = Names(
            names.objectives,
            space.names,
            names.objective_units,
            self._own_names.variable_units,
            names.directions,
            kinds,
        ).complete(len(names.objectives), len(space.names))
        form, feasible = self.whole
        return Solution(
            pareto_set=atlas.turned(names.signs),
            objectives=form.of_x,
            names=names,
            result=result,
            stats=stats,
            history={},
            made_by={
                "flow": "a set per choice",
                "seed": self.call.seed,
                "objectives": form.found,
                "choices": len(self.sets),
            },
            raveling=space.raveling,
            known_error=error,
            feasible=box_on_solver_side(feasible, names),
        )

    def _result(self, told: str, complete: bool) -> Result:
        """How the search ended; `told` is what was found."""
        sets, solved = self.sets.values(), len(self.sets)
        infeasible = sum(one is None for one in sets)
        text = told + (f"; {infeasible} choices have no feasible point" if infeasible else "")
        if self.call.late or self._ended is not None:
            words = f"the search was ended after {solved} choices; {text}"
            return Result(self._ended or Reason.TIME_LIMIT, words)
        doubts = self._doubts()
        if doubts:
            more = f" (and {len(doubts) - 1} more)" if len(doubts) > 1 else ""
            return Result(Reason.SUSPECT, f"{doubts[0]}{more}", (text,))
        if not complete:
            words = (
                f"the front of the best of {solved} choices was found, and others may be better:"
                f" narrow the numbers to those that matter. {text}"
            )
            return Result(Reason.NOT_AT_TOLERANCE, words)
        if any(one is not None and not one.result.success for one in sets):
            words = f"The front was found less exactly than asked for: {text}"
            return Result(Reason.NOT_AT_TOLERANCE, words)
        return Result(Reason.CONVERGED, f"The whole front was found: {text}")

    # without continuous variables

    def _of_points(self) -> Solution:
        """The nondominated designs: of all, or, where these are too many, of those beside the
        relaxation and their neighbors."""
        space, designs = self.space, Designs(self)
        limit = designs.most if self.call.budget is None else min(designs.most, self.call.budget)
        all_of_them = space.n_choices <= limit
        if all_of_them:
            designs.add_all()
        else:
            self._add_beside_relaxation(designs, limit)
        if len(designs.f) == 0:
            raise self._infeasible()
        n, kept = len(designs.f), designs.most_different(SCHEDULE.most_designs)
        atlas, _ = self._unite([], kept)
        error = ErrorEstimate(
            *(0.0, 0.0, 0.0, _diameter(atlas), designs.n, 0, 0.0, 0.0, 1.0, 0.0, (), 0),
            front=0.0,
            coverage=1.0 if all_of_them else None,
        )
        text = f"{n:,} designs are not dominated, of {designs.n:,} that were evaluated"
        text += f"; the {len(kept.f)} that differ most are kept" if len(kept.f) < n else ""
        result = Result(Reason.CONVERGED, f"The whole front was found: {text}, which are all")
        if not all_of_them:
            text += f", of {space.n_choices:,}: those beside the relaxation, and their neighbors"
            result = Result(Reason.NOT_AT_TOLERANCE, f"No neighbor of these is better: {text}")
        stats = Stats(Evaluations(designs.n, 0, 0), 1, time.monotonic() - self.call.began)
        return self._as_solution(atlas, designs.names, result, stats, error)

    def _add_beside_relaxation(self, designs: "Designs", limit: int) -> None:
        """Evaluates designs next to the relaxation, then neighbors of the best."""
        todo = _beside(self.space, self._designs(self._relaxed()), limit)
        while todo and designs.n + len(todo) <= limit and not self.call.late:
            self.sets |= dict.fromkeys(todo)
            designs.add(np.array(todo))
            todo = self._neighbors([tuple(row) for row in designs.places.tolist()])


class Designs:
    """Designs without continuous variables that were evaluated, and the nondominated ones.

    Attributes:
        names: complete.
        places: of the values of the nondominated designs.
        f: their minimized objectives.
        n: how many were evaluated.
        most: how many may be, where the user has no budget.
    """

    def __init__(self, mixed: Mixed):
        space = self._space = mixed.space
        form, self._feasible = mixed.whole
        self.names: Names = read_names(
            mixed.function, mixed.call.maximize, None, form.n_rows, len(space.names)
        )
        flat = on_solver_side(form.flat, self.names)
        self._evaluator = JaxEvaluator(flat, form.n_rows, len(space.names))
        # blocks for some dozens of points with derivatives would take a million calls
        whole = min(space.n_choices, SCHEDULE.designs_block)
        self._evaluator.block = max(self._evaluator.block, 1 << (whole - 1).bit_length())
        self.places: Int[np.ndarray, "n n_discrete"] = np.zeros((0, len(space.discrete)), dtype=int)
        self.f: Float[np.ndarray, "n n_objectives"] = np.zeros((0, form.n_rows))
        self.n = 0
        on_host = bool(bridges(form.flat))
        self.most = SCHEDULE.designs_on_host if on_host else SCHEDULE.designs_traced

    def add_all(self) -> None:
        """Evaluates all designs."""
        sizes, n = [len(own) for own in self._space.values], self._space.n_choices
        for start in range(0, n, SCHEDULE.designs_block):
            numbers = np.arange(start, min(start + SCHEDULE.designs_block, n))
            self.add(np.column_stack(np.unravel_index(numbers, sizes)))

    def most_different(self, most: int) -> Single:
        """The nondominated designs, or those of them that are farthest apart in objectives."""
        f, places = self.f, self.places
        if len(f) > most:
            span = np.maximum(np.ptp(f, axis=0), np.finfo(float).tiny)
            keep = farthest_points(f / span, most, np.unique(f.argmin(axis=0)))
            f, places = f[keep], places[keep]
        return Single(self._space.at(places), f)

    def add(self, places: Int[np.ndarray, "n n_discrete"]) -> None:
        """Evaluates designs, and keeps those that are not dominated; of equals the first."""
        x = self._space.at(places)
        self.n += len(x)
        if self._feasible.has_constraints:
            inside = self._feasible.violation(x) <= SCHEDULE.keeps
            x, places = x[inside], places[inside]
        f = self._evaluator.values(x)
        good = np.isfinite(f).all(axis=1)
        f, places = np.vstack([self.f, f[good]]), np.vstack([self.places, places[good]])
        keep = nondominated(f)
        self.f, self.places = f[keep], places[keep]


def _beside(space: Space, x: Float[np.ndarray, "n n_variables"], most: int) -> list[Places]:
    """Combinations next to designs whose numbers may lie between values: those of most designs
    first, or, where there are more than may be, such as differ most."""
    found: dict[Places, int] = {}
    for row in x:
        sides = [
            (int(row[i]),) if space.is_text(i) else _around(space.numbers(i), float(row[i]))
            for i in space.discrete
        ]
        nearest = tuple(side[0] for side in sides)
        # The nearest one of a design counts more than all others.
        for places in product(*sides):
            found[places] = found.get(places, 0) + (2 ** len(sides) if places == nearest else 1)
    listed = sorted(found, key=lambda places: -found[places])
    if len(listed) <= most:
        return listed
    sizes = np.array([max(len(space.values[i]) - 1, 1) for i in space.discrete])
    return [listed[k] for k in farthest_points(np.array(listed) / sizes, most, np.zeros(1, int))]


def _around(numbers: Float[np.ndarray, " n"], value: float) -> tuple[int, ...]:
    """The places of the numbers on both sides of a value, the nearest first."""
    above = int(np.clip(np.searchsorted(numbers, value), 0, len(numbers) - 1))
    below = max(above - 1, 0) if numbers[above] > value else above
    pair = sorted({below, above}, key=lambda k: abs(numbers[k] - value))
    return tuple(pair)


def _gap(atlas: BezierAtlas, relaxed: Sequence[Solution]) -> float:
    """By how much a design may be better than the atlas, in units of ranges, as far as the front
    of the relaxation allows."""
    units = atlas.units
    f = np.concatenate([(one.set.sample_f - units.ideal) / units.span for one in relaxed])
    f = f[nondominated(f)]
    # At a chart point the atlas needs so much more of every objective.
    return max(float(best_levels(atlas.points.f, f)[0].max()), 0.0)


def _stretches(owners: Sequence[str], z: Float[np.ndarray, " n"]) -> list[tuple[str, int]]:
    """Who owns sorted points, from one stretch to the next, with the last point of each."""
    runs: list[tuple[str, int]] = []
    close, start = SCHEDULE.side_by_side, 0
    for owner, group in groupby(owners):
        end = start + len(list(group))
        around = z[max(start - 1, 0) : end + 1]
        # Where two choices cross, points of both lie side by side.
        crossing = z[end - 1] - z[start] < close and np.diff(around).min(initial=np.inf) < close
        if not crossing or end - start == len(owners):
            runs = [*(runs[:-1] if runs and runs[-1][0] == owner else runs), (owner, end - 1)]
        start = end
    return runs or [(owners[-1], len(owners) - 1)]


def _error(atlas: BezierAtlas, members: Sequence[Solution], miss: float) -> ErrorEstimate:
    """That of the sets that a union has pieces of."""
    errors = [one.error.kept for one in members]  # a union has patches alone
    # Their errors are in units of their own ranges.
    pairs = zip(members, errors, strict=True)
    fronts = [one.set.front_error(error) / atlas.units.span for one, error in pairs]
    rms, most = np.array([[one.rms, one.max] for one in errors]).T
    covered = [one.coverage for one in errors if one.coverage is not None]
    largest = float(np.max(most))
    return ErrorEstimate(
        rms=float(np.sqrt(np.mean(rms**2))),
        max=largest,
        expected=3 * largest,
        diameter=_diameter(atlas),
        n_samples=sum(one.n_samples for one in errors),
        n_invalid=sum(one.n_invalid for one in errors),
        residual=0.0,
        folded=0.0,
        gap=1.0,
        dominated=0.0,
        flags=tuple(dict.fromkeys(flag for one in errors for flag in one.flags)),
        evaluations=sum(one.evaluations for one in errors),
        front=max(miss, float(np.max(np.abs(fronts)))),
        coverage=min(covered, default=None),
        n_probes=sum(one.n_probes for one in errors),
    )


def _diameter(atlas: BezierAtlas) -> float:
    return float(np.linalg.norm(np.ptp(atlas.units.x(atlas.points.z), axis=0)))
