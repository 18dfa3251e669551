"""The normal flow, one round per step: corners, then edges, then the inside, then a search
elsewhere, with the best surface always at hand."""

from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from jaxtyping import Float

from ..answer import Flag
from ..bezier import BezierSimplex, elevate
from ..evaluations import Evaluations
from ..kinds import kind
from ..objectives import BudgetSpentError, FlatObjectives, count_objectives
from .curvature import Curvature, Descent, Rows, at_width
from .descent import break_ties, descend, not_unique, start_descent
from .exploration import better_corners, explore
from .matrices import KnownHessians
from .patch import Patch, edge_patches, improve, inner_patch
from .products import Memory, start_memory
from .settings import Settings


@kind("normal.stage/1")
class Stage(Enum):
    """What the next step works on."""

    CORNERS = "minimizers"
    TIES = "ties between minimizers"
    EDGES = "edges"
    INSIDE = "inside"
    ELSEWHERE = "search elsewhere"
    DONE = "done"


@kind("normal.state/1")
@dataclass(frozen=True)
class NormalState:
    """What the next step needs: data alone.

    Attributes:
        stage: what the next step works on.
        descent: the minimizations of the single objectives; its points are the corners.
        memory: what points are coordinates in, and the curvature seen so far.
        control_points: of the best surface so far, whenever a run is interrupted.
        degree: of that surface.
        patches: edges, or the inside.
        diameter: of the corners.
        error: held-out, relative to the diameter.
        flags: what was found wrong.
        evaluations: made so far.
        n_probes: points elsewhere that were compared with the surface, at its end.
        beaten: the share of the surface that one of them dominates.
        n_restarts: how often the run started again from better corners.
        rival: a point elsewhere that beats the surface.
        exhausted: whether the budget ended the run at this stage.
    """

    stage: Stage
    descent: Descent
    memory: Memory = field(repr=False)
    control_points: Rows
    degree: int = 1
    patches: tuple[Patch, ...] = ()
    diameter: float = 0.0
    error: float = float("nan")
    flags: tuple[Flag, ...] = ()
    evaluations: Evaluations = field(default_factory=Evaluations)
    n_probes: int = 0
    beaten: float = 0.0
    n_restarts: int = 0
    rival: Float[np.ndarray, " n_variables"] | None = None
    exhausted: bool = False

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do, or nothing left to do it with."""
        return self.stage is Stage.DONE or self.exhausted

    @property
    def surface(self) -> BezierSimplex:
        """The best one so far, on the host."""
        points = self.memory.points(self.control_points)
        return BezierSimplex(points, self.descent.weights.shape[1], self.degree)

    def flagged(self, *flags: Flag) -> "NormalState":
        """The state with these flags added."""
        return replace(self, flags=(*self.flags, *flags))

    def with_surface(self, points: Rows, degree: int, settings: Settings) -> "NormalState":
        """The state with a surface in its own degree, or in the one that was asked for."""
        wanted = degree if settings.degree == "auto" else max(degree, settings.degree)
        points = elevate(np.array(points), self.descent.weights.shape[1], degree, wanted)
        return replace(self, control_points=points, degree=wanted)


def begin(
    objectives: FlatObjectives, x0: Float[np.ndarray, "*starts n_variables"], settings: Settings
) -> NormalState:
    """The state before the first step: every minimization starts at x0 (L,), or each at its own row
    of x0 (M, L)."""
    n_objectives = count_objectives(objectives, x0.shape[-1])
    if x0.ndim == 2 and len(x0) != n_objectives:
        raise ValueError(
            f"x0 must be one point or one for each of {n_objectives} objectives, got shape"
            f" {x0.shape}"
        )
    starts = np.broadcast_to(x0, (n_objectives, x0.shape[-1]))
    memory, rows = start_memory(objectives, starts, settings)
    descent = start_descent(np.eye(n_objectives), rows)
    return NormalState(Stage.CORNERS, descent, memory, rows).with_surface(rows, 1, settings)


def accept(surface: BezierSimplex, settings: Settings) -> NormalState:
    """The state after the last step of a run that found this surface, whichever flow made it."""
    corners = np.stack([np.asarray(surface.vertex(m)) for m in range(surface.n_objectives)])
    wanted = surface.degree if settings.degree == "auto" else settings.degree
    points = np.asarray(surface.elevate(wanted).control_points)
    descent = start_descent(np.eye(len(corners)), corners)
    # a run that has ended needs no curvature, and its points need no coordinates
    return NormalState(Stage.DONE, descent, KnownHessians(), points, wanted)


def advance(objectives: FlatObjectives, settings: Settings, state: NormalState) -> NormalState:
    """One round of the stage at hand. When the budget does not allow it, the run ends with what
    there is."""
    rounds = {
        Stage.CORNERS: _corners,
        Stage.TIES: _corners,
        Stage.EDGES: _patches,
        Stage.INSIDE: _patches,
        Stage.ELSEWHERE: _elsewhere,
    }
    if state.stage not in rounds:
        return state
    memory, state = state.memory.tidied(state, settings.schedule.spare)
    error = 1.0 if np.isnan(state.error) else state.error
    curvature = memory.open(
        objectives, settings, state.descent.x, state.diameter, error, state.evaluations
    )
    try:
        state = rounds[state.stage](curvature, settings, state)
    except BudgetSpentError:
        state = replace(state.flagged(Flag.BUDGET_SPENT), exhausted=True)
    state = at_width(state, curvature.width)
    return replace(state, evaluations=curvature.evaluator.evaluations, memory=curvature.memory)


def _corners(curvature: Curvature, settings: Settings, state: NormalState) -> NormalState:
    """A trial point for every minimization; when all have ended, ties are broken once, and then
    edges follow."""
    if state.stage is Stage.CORNERS and not state.descent.n_trials.any():
        curvature.settle(state.descent.x, 0.0)
    descent = descend(curvature, state.descent)
    state = replace(state, descent=descent).with_surface(descent.x, 1, settings)
    if descent.active.any():
        return state
    if state.stage is Stage.CORNERS:
        if not descent.converged.all():
            state = state.flagged(Flag.NOT_CONVERGED)
        tied = not_unique(curvature, descent)
        if tied.any():
            ties = break_ties(curvature, descent, tied)
            state = replace(state, descent=ties, stage=Stage.TIES)
            return state.flagged(Flag.MINIMIZER_NOT_UNIQUE)
    n_objectives, x = len(descent.x), descent.x
    if curvature.evaluator.n_variables < n_objectives - 1:
        state = state.flagged(Flag.FEW_VARIABLES)
    diameter = float(np.linalg.norm(x[:, None] - x[None], axis=2).max())
    negligible, one_point = settings.schedule.singular, diameter == 0
    if 0 < diameter <= negligible * float(descent.scale.max()):
        # one minimizer of all: the slope of each objective at the others' is rounding beside what
        # it was at the start
        slopes = curvature.slopes(x)
        one_point = (slopes <= negligible * np.nan_to_num(descent.first_slope)).all()
    if one_point:
        x = np.tile(x[0], (n_objectives, 1))
        state = replace(state, descent=replace(descent, best=replace(descent.best, x=x)))
        points = np.tile(x[0], (len(state.control_points), 1))
        return replace(state, stage=Stage.ELSEWHERE, control_points=points, error=0.0)
    curvature.settle(x, diameter)
    return replace(state, stage=Stage.EDGES, patches=edge_patches(curvature), diameter=diameter)


def _patches(curvature: Curvature, settings: Settings, state: NormalState) -> NormalState:
    """A round of all edges, or of the inside, which follows when they are done."""
    target = settings.schedule.margin * settings.tol
    max_degree = settings.largest_degree(curvature.evaluator.n_objectives)
    patches = improve(curvature, state.patches, target, max_degree)
    of_edges = state.stage is Stage.EDGES
    inside = inner_patch(patches, curvature) if of_edges else patches[0]
    state = replace(state, patches=patches, error=max(patch.error for patch in patches))
    state = state.with_surface(inside.best, inside.best_degree, settings)
    if not all(patch.done for patch in patches):
        return state
    if of_edges and curvature.evaluator.n_objectives > 2:
        return replace(state, stage=Stage.INSIDE, patches=(inside,))
    return replace(state, stage=Stage.ELSEWHERE)


def _elsewhere(curvature: Curvature, settings: Settings, state: NormalState) -> NormalState:
    """A search around the set: the run starts again where that shows better corners, and is flagged
    where it does not help."""
    scale = float(state.descent.scale.max())
    n_probes, rival, beaten = explore(curvature, state.control_points, state.degree, scale)
    if n_probes == 0:
        return replace(state.flagged(Flag.BUDGET_SPENT), exhausted=True)
    state = replace(state, stage=Stage.DONE, n_probes=n_probes, beaten=beaten)
    if rival is None:
        return state
    corners = None
    if state.n_restarts < settings.schedule.restarts:
        corners = better_corners(curvature, rival)
    if corners is None:
        (point,) = curvature.memory.points(rival[None])
        return replace(state.flagged(Flag.BETTER_ELSEWHERE), rival=point)
    return replace(
        state,
        stage=Stage.CORNERS,
        descent=start_descent(np.eye(len(corners)), corners),
        patches=(),
        diameter=0.0,
        error=float("nan"),
        flags=(),
        n_probes=0,
        beaten=0.0,
        n_restarts=state.n_restarts + 1,
    )
