"""An atlas, one round after the other: states that can be stepped, kept and stepped again."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ..answer import BezierAtlas, Units
from ..bezier import Raveling
from ..evaluations import Evaluations
from ..objectives import BudgetSpentError, FeasibleSet, FlatObjectives
from ..runs import kind
from .exploration import evolve, find_ends, look_over, normalize, spread_points
from .lone_points import lone_points
from .mesh_search import MeshSearch
from .polishing import Polish
from .program import Program
from .schedule import SCHEDULE, by_objectives


@dataclass(frozen=True)
class Settings:
    """What a search for an atlas is made with.

    Attributes:
        feasible: bounds and constraints.
        box: finite bounds to look in, those of x where they are finite.
        tol: the largest miss of a patch at fresh points, in units of ranges; None for
            that of the schedule.
        budget: the most points that may be evaluated; None for no limit.
    """

    feasible: FeasibleSet
    box: tuple[np.ndarray, np.ndarray]
    tol: float | None = None
    budget: int | None = None


@kind("atlas.state/1")
@dataclass(frozen=True)
class AtlasState:
    """A search between two rounds.

    Attributes:
        search: with the mesh, and everything evaluated; None before the first round.
        start: where the user starts, as flat vectors.
        seed: of every sample.
        n_objectives: M.
        rounds: how many were made.
        done: whether there is nothing left to do.
        spent: whether the budget is.
        evaluations: so far.
    """

    search: MeshSearch | None
    start: Float[np.ndarray, "n n_variables"]
    seed: int
    n_objectives: int
    rounds: int = 0
    done: bool = False
    spent: bool = False
    evaluations: Evaluations = field(default_factory=Evaluations)

    def with_budget(self, budget: int | None) -> "AtlasState":
        """The same search within another budget; one that ended for its budget goes on."""
        if self.search is None:
            return self
        search = self.search.copy()
        search.program.evaluator.budget = budget
        return replace(self, search=search, spent=False, done=self.done and not self.spent)

    def with_known(self, x: Float[np.ndarray, "n n_variables"], budget: int | None) -> "AtlasState":
        """A search that goes on, with a budget and counts of its own, where designs are known that
        it has not found."""
        state = self.with_budget(budget)
        if state.search is None:
            return replace(state, start=np.concatenate([state.start, x]))
        program = state.search.program
        program.evaluator.evaluations = Evaluations()
        state.search.join((x[:, program.free] - program.origin) / program.unit)
        return replace(state, done=False, evaluations=program.evaluator.evaluations)

    @cached_property
    def measured(self) -> dict[int, Any]:
        """What was measured of it, by seed: see `measure`."""
        return {}

    @cached_property
    def atlas(self) -> BezierAtlas | None:
        """What the patches make, with flat vectors for values; None if there is none yet."""
        if self.search is None:
            return None
        program, mesh = self.search.program, self.search.mesh
        patches = mesh.patches()
        z, f = mesh.known()
        lost = mesh.lost(f, patches)
        patches = patches + lone_points(program, z, f, lost, 1 + len(patches))
        feasible = program.feasible
        scales = (
            program.ideal,
            program.span,
            feasible.lower,
            feasible.upper,
            program.origin,
            program.unit,
        )
        units = Units(*scales, program.n_auxiliary)
        raveling = Raveling.of(np.zeros(units.n_variables))
        polisher = Polish(program) if mesh.polished else None
        return (
            BezierAtlas(tuple(patches), units, raveling, self.search.share, polisher)
            if patches
            else None
        )


class Survey(NamedTuple):
    """Designs of a box that none of the others looked at dominates, their objectives, what was
    spent by then, and whether the budget was."""

    x: Float[np.ndarray, "n n_variables"]
    f: Float[np.ndarray, "n n_objectives"]
    evaluations: Evaluations
    spent: bool = False


def survey(
    objectives: FlatObjectives,
    n_objectives: int,
    settings: Settings,
    start: Float[np.ndarray, "n n_variables"],
    seed: int,
    spent: Evaluations,
    goes_on: Callable[[Survey], bool],
) -> Survey:
    """Evenly spread points and a population run in the box, by values, for as long as it shall go
    on and the budget lasts; strangers join it now and then. With Hessians, descents from its best
    at the end."""
    program = Program(
        objectives, n_objectives, settings.feasible, settings.box, settings.budget, spent
    )
    box, points = _scaled(program, settings, start)

    def so_far(over: bool = False) -> Survey:
        archive = program.archive
        return Survey(program.x(archive.z), archive.f, program.evaluator.evaluations, over)

    try:
        rng = look_over(program, box, points, seed)
        population = None
        while goes_on(so_far()):
            strangers = spread_points(box, SCHEDULE.strangers, rng)
            begin = strangers if population else np.concatenate([program.archive.z, strangers])
            most = len(begin) + SCHEDULE.generations[0] * SCHEDULE.large_population
            population = evolve(
                program, box, begin, rng, population, most, SCHEDULE.large_population
            )
            normalize(program)
        if program.has_hessians and len(program.archive.f):
            find_ends(program, box, rng)
    except BudgetSpentError:
        return so_far(over=True)
    return so_far()


def begin(start: Float[np.ndarray, "n n_variables"], n_objectives: int, seed: int) -> AtlasState:
    """Before the first look."""
    return AtlasState(None, start, seed, n_objectives)


def advance(objectives: FlatObjectives, settings: Settings, state: AtlasState) -> AtlasState:
    """The first points, or one round: an exploration, or nodes, curves and cells from what is
    known."""
    search = (
        _new_search(objectives, settings, state) if state.search is None else state.search.copy()
    )
    rounds, spent = state.rounds, False
    try:
        if state.search is None:
            search.begin(_scaled(search.program, settings, state.start)[1])
        else:
            search.round()
            rounds += 1
    except BudgetSpentError:
        spent = True
    done, unfinished = spent or search.done, spent and search.mesh.tol >= search.asked
    made = {"rounds": rounds, "done": done, "spent": unfinished}
    search = search.best(spent) if done else search
    return replace(state, search=search, **made, evaluations=search.program.evaluator.evaluations)


def _new_search(objectives: FlatObjectives, settings: Settings, state: AtlasState) -> MeshSearch:
    program = Program(
        objectives, state.n_objectives, settings.feasible, settings.box, settings.budget
    )
    usual = SCHEDULE.tol if program.has_hessians else SCHEDULE.values_tol
    usual = by_objectives(usual, state.n_objectives)
    asked = usual if settings.tol is None else settings.tol
    search = MeshSearch(program, asked, state.seed, _scaled(program, settings, state.start)[0])
    if not program.has_hessians:
        search.mesh.tol = max(asked, usual)
        search.last = asked if settings.tol else SCHEDULE.further * usual
    return search


def _scaled(
    program: Program, settings: Settings, start: Float[np.ndarray, "n n_variables"]
) -> tuple[tuple[np.ndarray, np.ndarray], Float[np.ndarray, "n n_free"]]:
    """The box to look in and the points to begin with, as scaled variables."""
    low, high, points = (
        (x[..., program.free] - program.origin) / program.unit for x in (*settings.box, start)
    )
    return (low, high), points
