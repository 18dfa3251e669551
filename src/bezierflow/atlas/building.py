"""An atlas, one round after the other: states that can be stepped, kept and stepped again."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..answer import BezierAtlas, Units
from ..bezier import Raveling
from ..evaluations import Evaluations
from ..objectives import BudgetSpentError, FeasibleSet, FlatObjectives
from ..runs import kind
from .exploration import (
    LEAST_GENERATIONS,
    evolve,
    explore,
    feasible_part,
    find_ends,
    look_over,
    normalize,
    spread_points,
)
from .lone_points import lone_points
from .mesh import Mesh
from .program import Program
from .search import Search

TOL, COARSE = {2: 1e-7, 3: 1e-6}, 3e-4
"""What patches shall miss fresh points by at most, in units of the objectives' ranges, where the
user does not say; the last one from four objectives on, where regions are many."""

MESH_TOL, MESH_COARSE = {2: 1e-5, 3: 1e-3}, 1e-2
"""The same where slopes come from differences of values."""

EXACT_MESH_TOL = {2: 1e-7, 3: 1e-3}
"""The same with Hessians, of many variables."""

MANY = 25
"""Variables whose active sets are too many for a region each, from three objectives on; for two,
they are followed along the chart."""

MOST_ROUNDS, FEW_ROUNDS, ROUGH = 40, 8, 0.01
"""When a search gives up: sooner above this tolerance, which noise asks for, since rounds do not
help against it."""

LARGE_POPULATION, STRANGERS = 100, 32
"""Of a survey that goes on, and how many designs from anywhere join it every 24 generations."""

MOST_MENDED = 3
"""How often what does not hold at the end is mended."""


@dataclass(frozen=True)
class Settings:
    """What a search for an atlas is made with.

    Attributes:
        feasible: bounds and constraints.
        box: finite bounds to look in, those of x where they are finite.
        tol: the largest miss of a patch at fresh points, in units of ranges; None for `TOL`.
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
        search: regions with their nodes and patches, or a mesh, and everything evaluated; None
            before the first round.
        start: where the user starts, as flat vectors.
        seed: of every sample.
        n_objectives: M.
        rounds: how many were made.
        mended: how often single answers were after them.
        done: whether there is nothing left to do.
        spent: whether the budget is.
        evaluations: so far.
    """

    search: Search | Mesh | None
    start: Float[np.ndarray, "n n_variables"]
    seed: int
    n_objectives: int
    rounds: int = 0
    mended: int = 0
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

    @cached_property
    def atlas(self) -> BezierAtlas | None:
        """What the patches make, with flat vectors for values; None if there is none yet."""
        if self.search is None:
            return None
        program = self.search.program
        patches = self.search.patches()
        z, f = self.search.known()
        lost = self.search.lost(f, patches)
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
        coverage = self.search.history[-1].covered if self.search.history else 0.0
        return BezierAtlas(tuple(patches), units, raveling, coverage) if patches else None


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
            strangers = spread_points(box, STRANGERS, rng)
            begin = strangers if population else np.concatenate([program.archive.z, strangers])
            most = len(begin) + LEAST_GENERATIONS * LARGE_POPULATION
            population = evolve(program, box, begin, rng, population, most, LARGE_POPULATION)
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
    """The first look, or one round: regions are found, followed, fitted, and their answers checked
    at fresh chart points.

    After the last round single answers that do not hold are mended.
    """
    search = (
        _new_search(objectives, settings, state) if state.search is None else state.search.copy()
    )
    if isinstance(search, Mesh):
        return _advance_mesh(search, settings, state)
    rounds, mended, spent, wrong = state.rounds, state.mended, False, True
    try:
        if state.search is None:
            _look_around(objectives, search, settings, state)
        elif _finished(search, rounds):
            wrong = search.mend()
            mended += 1
        else:
            search.round(rounds)
            rounds += 1
    except BudgetSpentError:
        spent = True
    done = (
        spent
        or len(search.program.archive.f) == 0  # nothing feasible was met
        or not wrong
        or mended >= MOST_MENDED
        or (_finished(search, rounds) and _gave_up(search, rounds))
    )
    made = {"rounds": rounds, "mended": mended, "done": done, "spent": spent}
    return replace(state, search=search, **made, evaluations=search.program.evaluator.evaluations)


def _advance_mesh(mesh: Mesh, settings: Settings, state: AtlasState) -> AtlasState:
    """The first points, or one round."""
    rounds, spent = state.rounds, False
    try:
        if state.search is None:
            mesh.begin(_scaled(mesh.program, settings, state.start)[1])
        else:
            mesh.round()
            rounds += 1
    except BudgetSpentError:
        spent = True
    made = {"rounds": rounds, "done": spent or mesh.done, "spent": spent}
    return replace(state, search=mesh, **made, evaluations=mesh.program.evaluator.evaluations)


def _most_rounds(search: Search) -> int:
    return MOST_ROUNDS if search.tol <= ROUGH else FEW_ROUNDS


def _finished(search: Search, rounds: int) -> bool:
    return search.done or rounds >= _most_rounds(search)


def _gave_up(search: Search, rounds: int) -> bool:
    """Whether rounds ended although much is left to mend."""
    return rounds >= _most_rounds(search) or not search.history[-1].complete(search.tol)


def _new_search(objectives: FlatObjectives, settings: Settings, state: AtlasState) -> Search | Mesh:
    program = Program(
        objectives, state.n_objectives, settings.feasible, settings.box, settings.budget
    )
    many = program.n_free > MANY or state.n_objectives == 2
    if not program.has_hessians or (many and program.tight is None):
        usual = EXACT_MESH_TOL if program.has_hessians else MESH_TOL
        tol = usual.get(state.n_objectives, MESH_COARSE)
        tol = tol if settings.tol is None else settings.tol
        return Mesh(program, tol, state.seed, _scaled(program, settings, state.start)[0])
    tol = TOL.get(state.n_objectives, COARSE) if settings.tol is None else settings.tol
    return Search(program, tol, state.seed)


def _look_around(
    objectives: FlatObjectives, search: Search, settings: Settings, state: AtlasState
) -> None:
    """Samples the box, finds the ends of the front, and the first regions.

    Where feasible designs fill a small part of the box only, variables get their units from that
    part, and it is looked at again.
    """
    box, start = _scaled(search.program, settings, state.start)
    explore(search.program, box, start, state.seed)
    narrow = feasible_part(search.program, box, state.seed)
    if narrow is not None:
        wide = search.program
        x = wide.x(wide.archive.z)
        sides = [np.array(side, dtype=float) for side in settings.box]
        for side, z in zip(sides, narrow, strict=True):
            side[wide.free] = wide.origin + z * wide.unit
        part = replace(settings, box=(sides[0], sides[1]))
        program = Program(
            objectives,
            state.n_objectives,
            part.feasible,
            part.box,
            part.budget,
            wide.evaluator.evaluations,
        )
        explore(program, *_scaled(program, part, x), state.seed)
        search.program, search.box = program, (program.lower, program.upper)
    search.begin()


def _scaled(
    program: Program, settings: Settings, start: Float[np.ndarray, "n n_variables"]
) -> tuple[tuple[np.ndarray, np.ndarray], Float[np.ndarray, "n n_free"]]:
    """The box to look in and the points to begin with, as scaled variables."""
    low, high, points = (
        (x[..., program.free] - program.origin) / program.unit for x in (*settings.box, start)
    )
    return (low, high), points
