"""The normal flow: a surface that slides along the Pareto set for free and pays only for its distance to it."""

from copy import copy
from dataclasses import replace
from typing import Any

from ..bezier import BezierSimplex
from ..methods import Evaluations
from ..normal import NormalFlow as Engine
from ..normal import NormalState
from .auto_flow import AbstractAutoFlow
from .contract import Info, corners
from .objectives_on_host import Objectives


class NormalFlow(AbstractAutoFlow[Any]):
    """The flow behind `minimize(objectives, x0)` without further arguments: as close to the Pareto set as the degree allows.

    It costs some hundred evaluations of values, gradients and Hessians, and needs objectives that are twice differentiable almost
    everywhere. Choose another flow where Hessians are out of reach (more than some hundred variables) or values are noisy. Its
    mathematics is in `bezierflow.normal`.
    """

    def init(self, objectives: Objectives, start: BezierSimplex, seed: int) -> NormalState:
        """Before the minimization of each objective from its corner of the start."""
        return self._engine().init(objectives, corners(start))

    def step(self, objectives: Objectives, state: NormalState) -> tuple[NormalState, Info]:
        """One round of the stage at hand: minimizers, edges, interior."""
        state, _ = self._engine().step(replace(state, evaluations=copy(state.evaluations)))
        return state, {"error": state.error, "degree": state.surface.degree}

    def evaluations(self, state: NormalState) -> Evaluations:
        """What the stages evaluated."""
        return Evaluations(**state.evaluations.counts)

    def known(self, state: NormalState) -> dict[str, Any]:
        """The Hessians of the run."""
        return {"evaluations": state.evaluations.successor()}

    def _engine(self) -> Engine:
        return Engine(self.degree, self.max_degree, self.tol, self.budget)
