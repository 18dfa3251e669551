"""The normal flow without Hessian matrices, one round a step: the stages of `stages`, on
coordinates in a span."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Array, Float

from ..answer import Flag
from ..bezier import BezierSimplex, elevate
from ..evaluations import Evaluations
from ..objectives import BudgetSpentError, count_objectives
from ..runs import kind
from ..simplex import n_controls
from .conjugate import Curvature
from .free_descent import FreeDescent, descend_freely, singular_minimizers, start_free_descent
from .free_exploration import explore_freely
from .free_survey import FreeSurvey
from .layout import Layout
from .long_evaluator import LongEvaluator
from .patch import Patch, edge_patches, improve, inner_patch, resize
from .settings import Settings, Stage
from .span import Span, start_span

LOOKS = 4
"""Directions that a round may add to the span for each of its nodes: at the first look, at two that
follow, at a recall."""

SPARE = 1.25
"""The basis is made again where it has this many times the rows that are in use."""

FOLDED = 20
"""Nodes that a patch may have next to folds."""


@kind("normal.free_state/1")
@dataclass(frozen=True)
class FreeState:
    """What the next step needs: data alone. Points are coordinates in the span.

    Attributes:
        stage: what the next step works on.
        descent: the minimizations of the single objectives.
        layout: of the long arrays.
        n_objectives: M.
        span: the subspace seen so far; None before the corners are found.
        corners: their coordinates.
        control_points: of the best surface so far.
        degree: of the best surface so far.
        patches: edges, or the inside.
        scales: the preconditioner (see `FreeSurvey`).
        diameter: of the corners.
        error: held-out, relative to the diameter.
        flags: what was found wrong.
        evaluations: made so far.
        n_probes: points elsewhere that were compared with the surface, at its end.
        rival: a point elsewhere that beats the surface.
        exhausted: whether the budget ended the run at this stage.
    """

    stage: Stage
    descent: FreeDescent
    layout: Layout
    n_objectives: int
    span: Span | None = None
    corners: Float[np.ndarray, "n_objectives width"] | None = None
    control_points: Float[np.ndarray, "n_controls width"] | None = None
    degree: int = 1
    patches: tuple[Patch, ...] = ()
    scales: tuple[Array, Float[np.ndarray, " n_objectives"]] | None = None
    diameter: float = 0.0
    error: float = float("nan")
    flags: tuple[Flag, ...] = ()
    evaluations: Evaluations = field(default_factory=Evaluations)
    n_probes: int = 0
    rival: Float[np.ndarray, " n_variables"] | None = None
    exhausted: bool = False

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do, or nothing left to do it with."""
        return self.stage is Stage.DONE or self.exhausted

    @property
    def surface(self) -> BezierSimplex:
        """The best one so far, with long control points on the host, in the precision of the
        run."""
        if self.span is None or self.control_points is None:
            return BezierSimplex(to_host(self.descent.x)[: self.n_objectives], self.n_objectives, 1)
        n, size = len(self.control_points), self.span.rows
        rows = [np.minimum(np.arange(start, start + size), n - 1) for start in range(0, n, size)]
        points = np.concatenate(
            [to_host(self.span.points(self.control_points[some])) for some in rows]
        )
        return BezierSimplex(points[:n], self.n_objectives, self.degree)

    def with_budget(self) -> "FreeState":
        """The state with a budget to go on."""
        flags = tuple(flag for flag in self.flags if flag is not Flag.BUDGET_SPENT)
        return replace(self, exhausted=False, flags=flags)

    def flagged(self, *flags: Flag) -> "FreeState":
        """The state with these flags added."""
        return replace(self, flags=(*self.flags, *flags))


def to_host(array: Float[Array, "*batch n_variables"]) -> Float[np.ndarray, "*batch n_variables"]:
    """The whole array, gathered from all processes where there are several."""
    if array.is_fully_addressable:
        return np.asarray(array)
    from jax.experimental import multihost_utils

    return np.asarray(multihost_utils.process_allgather(array, tiled=True))


def begin_freely(
    objectives: Callable[[Array], Array],
    x0: Float[np.ndarray, "n_starts n_variables"],
    layout: Layout,
) -> FreeState:
    """The state before the first step: each minimization starts at its own row of x0 (M, L)."""
    layout.check(x0.shape[1])
    n_objectives = count_objectives(objectives, x0.shape[1])
    (starts,) = LongEvaluator(objectives, n_objectives, x0.shape[1], layout, "free").place(x0)
    return FreeState(
        Stage.CORNERS,
        start_free_descent(np.eye(n_objectives), starts, layout),
        layout,
        n_objectives,
    )


def advance_freely(
    objectives: Callable[[Array], Array], settings: Settings, state: FreeState, kind: Curvature
) -> FreeState:
    """One round of the stage at hand. When the budget does not allow it, the run ends with what
    there is."""
    L = state.descent.x.shape[1]
    evaluator = LongEvaluator(
        objectives, state.n_objectives, L, state.layout, kind, settings.budget, state.evaluations
    )
    rounds = {
        Stage.CORNERS: _corners,
        Stage.EDGES: _edges,
        Stage.INSIDE: _inside,
        Stage.ELSEWHERE: _elsewhere,
    }
    try:
        state = rounds[state.stage](evaluator, settings, state) if state.stage in rounds else state
    except BudgetSpentError:
        state = replace(state.flagged(Flag.BUDGET_SPENT), exhausted=True)
    return replace(state, evaluations=evaluator.evaluations)


def _corners(evaluator: LongEvaluator, settings: Settings, state: FreeState) -> FreeState:
    """A step of every minimization; when all have ended, straight edges follow."""
    schedule, descent = settings.schedule, state.descent
    if descent.n_steps == 0:
        descent = replace(descent, scales=evaluator.diagonals(descent.x[0]))
    descent = descend_freely(evaluator, descent, schedule, schedule.free.corner * settings.tol)
    state = replace(state, descent=descent)
    if descent.active.any():
        return state
    if not descent.converged.all():
        state = state.flagged(Flag.NOT_CONVERGED)
    if singular_minimizers(evaluator, descent.x, schedule).any():
        state = state.flagged(Flag.MINIMIZER_NOT_UNIQUE)
    span, corners = start_span([descent.x], evaluator.chunk, state.layout)
    corners = corners[: state.n_objectives]
    diameter = float(np.linalg.norm(corners[:, None] - corners[None], axis=2).max())
    state = replace(
        state, span=span, corners=corners, control_points=corners, degree=1, diameter=diameter
    )
    if diameter == 0:
        return replace(state, stage=Stage.DONE, error=0.0)
    if evaluator.n_variables < state.n_objectives - 1:
        state = state.flagged(Flag.FEW_VARIABLES)
    state = replace(state, stage=Stage.EDGES, scales=_scales(evaluator, span, corners))
    return replace(state, patches=edge_patches(_survey(evaluator, settings, state)))


def _scales(
    evaluator: LongEvaluator, span: Span, corners: np.ndarray
) -> tuple[Array, np.ndarray] | None:
    """Diagonals of the Hessians at the center of the corners, and |g_m|/r_m there."""
    diagonals = evaluator.diagonals(span.origin)
    if diagonals is None:
        return None
    ((rows, n),) = evaluator.batches(1)
    _, _, gram = evaluator.look(span.points(np.zeros((len(rows), span.width))), n)
    return diagonals, np.sqrt(np.maximum(np.diagonal(gram[0]), 1e-300)) / np.maximum(
        np.linalg.norm(corners, axis=1), 1e-300
    )


def _survey(evaluator: LongEvaluator, settings: Settings, state: FreeState) -> FreeSurvey:
    assert state.span is not None
    assert state.corners is not None
    error = 1.0 if np.isnan(state.error) else state.error
    return FreeSurvey(
        evaluator, state.span, state.corners, state.diameter, error, state.scales, settings.schedule
    )


def _edges(evaluator: LongEvaluator, settings: Settings, state: FreeState) -> FreeState:
    """A round of all edges; when all are done, the inside follows."""
    state = make_room(state, evaluator.chunk)
    survey = _survey(evaluator, settings, state)
    edges = improve(survey, state.patches, settings.goal(state.n_objectives))
    inside = inner_patch(edges, survey)
    state = _after(survey, state, settings, edges, inside)
    state = replace(state, error=max(edge.error for edge in edges))
    if not all(edge.done for edge in edges):
        return state
    if state.n_objectives == 2:
        return replace(state, stage=Stage.ELSEWHERE)
    return replace(state, stage=Stage.INSIDE, patches=(inside,))


def _inside(evaluator: LongEvaluator, settings: Settings, state: FreeState) -> FreeState:
    """A round of the inside."""
    state = make_room(state, evaluator.chunk)
    survey = _survey(evaluator, settings, state)
    patches = (inside,) = improve(survey, state.patches, settings.goal(state.n_objectives))
    stage = Stage.ELSEWHERE if inside.done else Stage.INSIDE
    return replace(
        _after(survey, state, settings, patches, inside), stage=stage, error=inside.error
    )


def _elsewhere(evaluator: LongEvaluator, settings: Settings, state: FreeState) -> FreeState:
    """A search around the set, which is flagged where something beats it."""
    assert state.span is not None
    assert state.control_points is not None
    surface = BezierSimplex(state.control_points, state.n_objectives, state.degree)
    n_probes, rival = explore_freely(
        evaluator, state.span, surface, state.diameter, settings.schedule
    )
    state = replace(state, stage=Stage.DONE, n_probes=n_probes)
    return (
        state
        if rival is None
        else replace(state.flagged(Flag.BETTER_ELSEWHERE), rival=to_host(rival))
    )


def _after(
    survey: FreeSurvey,
    state: FreeState,
    settings: Settings,
    patches: tuple[Patch, ...],
    inside: Patch,
) -> FreeState:
    """After a round: its span, and the best control points in their own degree or in the one that
    was asked for."""
    degree = (
        inside.best_degree
        if settings.degree == "auto"
        else max(inside.best_degree, settings.degree)
    )
    points = elevate(np.array(inside.best), state.n_objectives, inside.best_degree, degree)
    span, corners = survey.span.widened(0), resize(survey.corners, survey.span.used)
    return replace(
        state, span=span, corners=corners, control_points=points, degree=degree, patches=patches
    )


def make_room(state: FreeState, rows: int) -> FreeState:
    """The state with coordinates wide enough for what the next round may add.

    Directions that nothing uses any more, such as those on the way to a point of the set, are left
    out first where they are many: what remains is the span of corners, control points and clouds.
    """
    assert state.span is not None
    span, stacked = (
        state.span,
        np.concatenate([_surface_rows(state), *(patch.points for patch in state.patches)]),
    )
    turn: np.ndarray | None = None
    if span.used > SPARE * min(len(stacked), span.used) + rows:
        _, singular, right = np.linalg.svd(stacked, full_matrices=False)
        kept = right[singular > 1e-14 * singular[0]]
        span, turn = span.rotated(kept), kept.T
    n_nodes = sum(
        n_controls(patch.dimension, patch.order) + FOLDED
        for patch in state.patches
        if not patch.done
    )
    span = span.widened(span.used + LOOKS * (n_nodes + rows))
    return _resized(
        replace(state, span=span),
        lambda part: resize(part if turn is None else part @ turn, span.width),
    )


def _surface_rows(state: FreeState) -> np.ndarray:
    assert state.corners is not None
    assert state.control_points is not None
    return np.concatenate([state.corners, state.control_points])


def _resized(state: FreeState, resized: Callable[[np.ndarray], np.ndarray]) -> FreeState:
    """With other coordinates for all points."""
    assert state.corners is not None
    assert state.control_points is not None
    patches = tuple(patch.with_points(resized) for patch in state.patches)
    return replace(
        state,
        corners=resized(state.corners),
        control_points=resized(state.control_points),
        patches=patches,
    )
