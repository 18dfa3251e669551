"""The normal flow as a flow: minimizers, then edges, then the interior, one round a step, the best surface always at hand."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import jax
import numpy as np
from jaxtyping import Array

from ..bezier.model import BezierSimplex
from ..precision import double_precision
from .descent import Descent, descend, start_descent
from .edges import Edge, improve_edges, start_edges
from .evaluator import BudgetSpentError, Evaluator
from .flags import Flag
from .interior import Interior, improve_interior, start_interior
from .nodes import largest_degree
from .polynomial import elevate
from .vertices import break_ties, not_unique

MARGIN = 0.05
"""Rounds end at this share of tol: their nodes see less than the whole surface, and the bound is three times what is seen."""


class Stage(Enum):
    """What the next step works on."""

    VERTICES = "minimizers"
    TIES = "ties between minimizers"
    EDGES = "edges"
    INTERIOR = "interior"
    DONE = "done"


@dataclass(frozen=True)
class NormalState:
    """What the next step needs. `surface` is the best one so far, whenever a run is interrupted."""

    evaluations: Evaluator
    stage: Stage
    descent: Descent
    surface: BezierSimplex
    edges: tuple[Edge, ...] = ()
    interior: Interior | None = None
    diameter: float = 0.0
    error: float = float("nan")
    flags: tuple[Flag, ...] = ()
    n_steps: int = 0

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.stage is Stage.DONE


@dataclass(frozen=True)
class NormalInfo:
    """What a person reads after a step: the stage it belonged to, the surface's degree, the held-out error and the counts."""

    stage: Stage
    degree: int
    error: float
    evaluations: dict[str, int]


@dataclass(frozen=True)
class NormalFlow:
    """The flow behind `minimize(objectives, x0)` without further arguments: as close to the Pareto set as the degree allows.

    It costs some hundred evaluations of values, gradients and Hessians, and needs objectives that are twice differentiable almost
    everywhere. Choose another flow where Hessians are out of reach (more than some hundred variables) or values are noisy.

    Attributes:
        degree: "auto" lets it grow until the held-out error is below tol; a number fixes it.
        max_degree: The largest degree "auto" may choose; by default 14 for two objectives, 12 for three, 8 for four, 6 for five.
        tol: The largest held-out distance, relative to the diameter of the set, that ends the run.
        budget: The most points that may be evaluated; None for no limit. Never exceeded.
    """

    degree: int | str = "auto"
    max_degree: int | None = None
    tol: float = 1e-6
    budget: int | None = None

    def __post_init__(self) -> None:
        if self.degree != "auto" and (not isinstance(self.degree, int) or self.degree < 1):
            raise ValueError(f'degree must be "auto" or a whole number of at least 1, got {self.degree!r}')
        if self.max_degree is not None and self.max_degree < 1:
            raise ValueError(f"max_degree must be at least 1, got {self.max_degree}")
        if not self.tol > 0:
            raise ValueError(f"tol must be above 0, a share of the set's diameter, got {self.tol}")

    def init(self, objectives: Callable[[Array], Array], x0: np.ndarray) -> NormalState:
        """The state before the first step: every minimization starts at x0 (L,), or each at its own row of x0 (M, L)."""
        x0 = np.asarray(x0, dtype=float)
        n_objectives = _count_objectives(objectives, x0)
        if x0.ndim == 2 and len(x0) != n_objectives:
            raise ValueError(f"x0 must be one point or one for each of {n_objectives} objectives, got shape {x0.shape}")
        starts = np.broadcast_to(x0, (n_objectives, x0.shape[-1]))
        evaluations = Evaluator(objectives, n_objectives, x0.shape[-1], self.budget)
        descent = start_descent(np.eye(n_objectives), starts)
        return NormalState(evaluations, Stage.VERTICES, descent, self._surface(starts, n_objectives, 1))

    def step(self, state: NormalState) -> tuple[NormalState, NormalInfo]:
        """One round of the stage at hand. When the budget does not allow it, the run ends with what there is."""
        stage = state.stage
        rounds = {
            Stage.VERTICES: self._vertices,
            Stage.TIES: self._ties,
            Stage.EDGES: self._edges,
            Stage.INTERIOR: self._interior,
        }
        try:
            state = rounds[stage](state) if stage in rounds else state
        except BudgetSpentError:
            state = replace(state, stage=Stage.DONE, flags=(*state.flags, Flag.BUDGET_SPENT))
        state = replace(state, n_steps=state.n_steps + 1)
        return state, NormalInfo(stage, state.surface.degree, state.error, state.evaluations.counts)

    def _vertices(self, state: NormalState) -> NormalState:
        descent = descend(state.evaluations, state.descent)
        state = replace(state, descent=descent, surface=self._surface(descent.x, len(descent.x), 1))
        if descent.active.any():
            return state
        flags = state.flags if descent.converged.all() else (*state.flags, Flag.NOT_CONVERGED)
        state = replace(state, flags=flags)
        if not_unique(descent).any() and len(descent.x) > 1:
            ties = break_ties(state.evaluations, descent)
            return replace(state, descent=ties, stage=Stage.TIES, flags=(*flags, Flag.MINIMIZER_NOT_UNIQUE))
        return self._after_vertices(state)

    def _ties(self, state: NormalState) -> NormalState:
        descent = descend(state.evaluations, state.descent)
        state = replace(state, descent=descent, surface=self._surface(descent.x, len(descent.x), 1))
        return state if descent.active.any() else self._after_vertices(state)

    def _after_vertices(self, state: NormalState) -> NormalState:
        x = state.descent.x
        n_objectives, n_variables = x.shape
        diameter = float(np.linalg.norm(x[:, None] - x[None], axis=2).max())
        flags = (*state.flags, Flag.FEW_VARIABLES) if n_variables < n_objectives - 1 else state.flags
        if diameter == 0:
            return replace(state, stage=Stage.DONE, error=0.0, flags=flags)
        return replace(state, stage=Stage.EDGES, edges=start_edges(x), diameter=diameter, flags=flags)

    def _edges(self, state: NormalState) -> NormalState:
        count = state.evaluations
        edges = improve_edges(
            count, state.edges, state.descent.x, state.diameter, MARGIN * self.tol, self._limit(count.n_objectives)
        )
        inside = start_interior(edges, count.n_objectives)
        surface = self._surface(inside.control_points, count.n_objectives, inside.degree)
        state = replace(state, edges=edges, surface=surface)
        if not all(edge.done for edge in edges):
            return state
        if count.n_objectives == 2:
            return replace(state, stage=Stage.DONE, error=edges[0].error)
        return replace(state, stage=Stage.INTERIOR, interior=inside)

    def _interior(self, state: NormalState) -> NormalState:
        count = state.evaluations
        assert state.interior is not None
        limit = self._limit(count.n_objectives)
        inside = improve_interior(count, state.interior, state.descent.x, state.diameter, MARGIN * self.tol, limit)
        surface = self._surface(inside.best, count.n_objectives, inside.best_degree)
        stage = Stage.DONE if inside.done else Stage.INTERIOR
        return replace(state, stage=stage, interior=inside, surface=surface, error=inside.error)

    def _limit(self, n_objectives: int) -> int:
        if isinstance(self.degree, int):
            return self.degree
        return self.max_degree or largest_degree(n_objectives)

    def _surface(self, control_points: np.ndarray, n_objectives: int, degree: int) -> BezierSimplex:
        wanted = max(degree, self.degree) if isinstance(self.degree, int) else degree
        return BezierSimplex(elevate(np.array(control_points), n_objectives, degree, wanted), n_objectives, wanted)


def _count_objectives(objectives: Callable, x0: np.ndarray) -> int:
    with double_precision():
        shape = jax.eval_shape(lambda x: objectives(x), jax.ShapeDtypeStruct(x0.shape[-1:], np.float64)).shape
    if len(shape) != 1 or shape[0] < 1:
        raise ValueError(f"objectives must return one vector with a value for each objective, got shape {shape}")
    return shape[0]
