"""The normal flow, one round a step: corners, then edges, then the inside, with the best surface
always at hand."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Array, Float

from ..answer import Flag
from ..bezier import BezierSimplex, elevate
from ..evaluations import Evaluations
from ..objectives import BudgetSpentError, JaxEvaluator, count_objectives
from ..runs import kind
from .corners import break_ties, not_unique
from .descent import Descent, descend, start_descent
from .exploration import better_corners, explore, sides_of_boxes
from .lending import KnownHessians
from .patch import Patch, edge_patches, improve, inner_patch
from .settings import Settings, Stage
from .survey import Survey
from .wells import deepest_rival

ONE_POINT = 1e-8
"""Minimizers this close together, beside the start's size, are one if slopes agree: those at each
other's are this share of the first ones."""


@kind("normal.state/1")
@dataclass(frozen=True)
class NormalState:
    """What the next step needs: data alone.

    Attributes:
        stage: what the next step works on.
        descent: the minimizations of the single objectives; its points are the corners.
        surface: the best one so far, whenever a run is interrupted.
        patches: edges, or the inside.
        diameter: of the corners.
        error: held-out, relative to the diameter.
        flags: what was found wrong.
        evaluations: made so far.
        known: Hessians computed so far.
        n_probes: points elsewhere that were compared with the surface, at its end.
        beaten: the share of the surface that one of them dominates.
        n_restarts: how often the run started again from better corners.
        rival: a point elsewhere that beats the surface.
        exhausted: whether the budget ended the run at this stage.
    """

    stage: Stage
    descent: Descent
    surface: BezierSimplex
    patches: tuple[Patch, ...] = ()
    diameter: float = 0.0
    error: float = float("nan")
    flags: tuple[Flag, ...] = ()
    evaluations: Evaluations = field(default_factory=Evaluations)
    known: KnownHessians = field(default_factory=KnownHessians, repr=False)
    n_probes: int = 0
    beaten: float = 0.0
    n_restarts: int = 0
    rival: Float[np.ndarray, " n_variables"] | None = None
    exhausted: bool = False

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do, or nothing left to do it with."""
        return self.stage is Stage.DONE or self.exhausted

    def with_budget(self) -> "NormalState":
        """The state with a budget to go on."""
        flags = tuple(flag for flag in self.flags if flag is not Flag.BUDGET_SPENT)
        return replace(self, exhausted=False, flags=flags)

    def flagged(self, *flags: Flag) -> "NormalState":
        """The state with these flags added."""
        return replace(self, flags=(*self.flags, *flags))


def begin(
    objectives: Callable[[Array], Array],
    x0: Float[np.ndarray, "*starts n_variables"],
    settings: Settings,
) -> NormalState:
    """The state before the first step: every minimization starts at x0 (L,), or each at its own row
    of x0 (M, L)."""
    x0 = np.asarray(x0, dtype=float)
    n_objectives = count_objectives(objectives, x0.shape[-1])
    if x0.ndim == 2 and len(x0) != n_objectives:
        raise ValueError(
            f"x0 must be one point or one for each of {n_objectives} objectives, got shape"
            f" {x0.shape}"
        )
    starts = np.broadcast_to(x0, (n_objectives, x0.shape[-1]))
    return NormalState(
        Stage.CORNERS,
        start_descent(np.eye(n_objectives), starts),
        _surface(starts, 1, n_objectives, settings),
    )


def accept(surface: BezierSimplex, settings: Settings) -> NormalState:
    """The state after the last step of a run that found this surface, whoever made it."""
    corners = np.stack([np.asarray(surface.vertex(m)) for m in range(surface.n_objectives)])
    wanted = surface.degree if settings.degree == "auto" else settings.degree
    return NormalState(
        Stage.DONE, start_descent(np.eye(len(corners)), corners), surface.elevate(wanted)
    )


def advance(
    objectives: Callable[[Array], Array], settings: Settings, state: NormalState
) -> NormalState:
    """One round of the stage at hand. When the budget does not allow it, the run ends with what
    there is."""
    corners = state.descent.x
    n_objectives, n_variables = corners.shape
    evaluator = JaxEvaluator(
        objectives, n_objectives, n_variables, settings.budget, state.evaluations
    )
    survey = Survey(evaluator, corners, state.diameter, state.known, settings.schedule)
    rounds = {
        Stage.CORNERS: _corners,
        Stage.TIES: _corners,
        Stage.EDGES: _edges,
        Stage.INSIDE: _inside,
        Stage.ELSEWHERE: _elsewhere,
    }
    try:
        state = rounds[state.stage](survey, settings, state) if state.stage in rounds else state
    except BudgetSpentError:
        state = replace(state.flagged(Flag.BUDGET_SPENT), exhausted=True)
    return replace(state, evaluations=evaluator.evaluations, known=survey.known)


def _corners(survey: Survey, settings: Settings, state: NormalState) -> NormalState:
    """A trial point for every minimization; when all have ended, ties are broken once, and then
    edges follow."""
    schedule = settings.schedule.descent
    descent = descend(survey.look, state.descent, schedule)
    state = replace(
        state, descent=descent, surface=_surface(descent.x, 1, len(descent.x), settings)
    )
    if descent.active.any():
        return state
    if state.stage is Stage.CORNERS:
        if not descent.converged.all():
            state = state.flagged(Flag.NOT_CONVERGED)
        if not_unique(descent, schedule).any() and len(descent.x) > 1:
            tied = replace(state, descent=break_ties(descent, schedule), stage=Stage.TIES)
            return tied.flagged(Flag.MINIMIZER_NOT_UNIQUE)
    return _with_edges(survey, state)


def _with_edges(survey: Survey, state: NormalState) -> NormalState:
    """The state after all corners are found: straight edges, or nothing left to do if the corners
    are one point."""
    x = state.descent.x
    n_objectives, n_variables = x.shape
    if n_variables < n_objectives - 1:
        state = state.flagged(Flag.FEW_VARIABLES)
    diameter = float(np.linalg.norm(x[:, None] - x[None], axis=2).max())
    if diameter == 0 or _is_one_point(survey, state.descent, diameter):
        one = replace(
            state.descent, best=replace(state.descent.best, x=np.tile(x[0], (n_objectives, 1)))
        )
        surface = BezierSimplex(
            np.tile(x[0], (len(state.surface.control_points), 1)),
            n_objectives,
            state.surface.degree,
        )
        return replace(state, stage=Stage.ELSEWHERE, descent=one, surface=surface, error=0.0)
    survey.corners, survey.diameter = x, diameter
    return replace(state, stage=Stage.EDGES, patches=edge_patches(survey), diameter=diameter)


def _is_one_point(survey: Survey, descent: Descent, diameter: float) -> bool:
    """Whether all objectives have one minimizer: the slope of each at the others' is rounding
    beside what it was at the start."""
    if diameter > ONE_POINT * float(descent.scale.max()):
        return False
    slopes = np.linalg.norm(survey.evaluator.jacobians(descent.x).gradients, axis=2)
    return bool((slopes <= ONE_POINT * np.nan_to_num(descent.first_slope)).all())


def _edges(survey: Survey, settings: Settings, state: NormalState) -> NormalState:
    """A round of all edges; when all are done, the inside follows."""
    n_objectives = len(survey.corners)
    edges = improve(survey, state.patches, settings.goal(n_objectives))
    inside = inner_patch(edges, survey)
    state = replace(
        state,
        patches=edges,
        surface=_surface(inside.best, inside.best_degree, n_objectives, settings),
    )
    state = replace(state, error=max(edge.error for edge in edges))
    if not all(edge.done for edge in edges):
        return state
    if n_objectives == 2:
        return replace(state, stage=Stage.ELSEWHERE)
    return replace(state, stage=Stage.INSIDE, patches=(inside,))


def _inside(survey: Survey, settings: Settings, state: NormalState) -> NormalState:
    """A round of the inside."""
    n_objectives = len(survey.corners)
    patches = (inside,) = improve(survey, state.patches, settings.goal(n_objectives))
    surface = _surface(inside.best, inside.best_degree, n_objectives, settings)
    stage = Stage.ELSEWHERE if inside.done else Stage.INSIDE
    return replace(state, stage=stage, patches=patches, surface=surface, error=inside.error)


def _elsewhere(survey: Survey, settings: Settings, state: NormalState) -> NormalState:
    """A search around the set: the run starts again where that shows better corners, and is flagged
    where it does not help."""
    numbers = settings.schedule.explore
    scale = float(state.descent.scale.max())
    found = explore(
        survey.evaluator,
        state.surface,
        sides_of_boxes(survey.diameter or scale, scale, numbers),
        numbers,
    )
    rival = found.rival
    if rival is None and found.seen is not None:
        rival = deepest_rival(survey, found.seen, numbers)
    state = replace(
        state, stage=Stage.DONE, n_probes=found.n_probes, rival=rival, beaten=found.beaten
    )
    if rival is None:
        return (
            state
            if found.n_probes
            else replace(state.flagged(Flag.BUDGET_SPENT), stage=Stage.ELSEWHERE, exhausted=True)
        )
    corners = (
        better_corners(survey, rival, numbers.clear)
        if state.n_restarts < numbers.restarts
        else None
    )
    if corners is None:
        return state.flagged(Flag.BETTER_ELSEWHERE)
    again = NormalState(Stage.CORNERS, start_descent(np.eye(len(corners)), corners), state.surface)
    return replace(again, n_restarts=state.n_restarts + 1)


def _surface(
    control_points: np.ndarray, degree: int, n_objectives: int, settings: Settings
) -> BezierSimplex:
    """The surface in its own degree, or in the one that was asked for."""
    wanted = degree if settings.degree == "auto" else max(degree, settings.degree)
    return BezierSimplex(
        elevate(np.array(control_points), n_objectives, degree, wanted), n_objectives, wanted
    )
