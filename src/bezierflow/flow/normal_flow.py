"""The normal flow: a surface that slides along the Pareto set for free and pays only for its distance to it."""

from ..bezier import BezierSimplex
from ..evaluation import Objectives
from ..normal import NormalState, advance, begin
from .auto_flow import AbstractAutoFlow
from .contract import Info, corners


class NormalFlow(AbstractAutoFlow[NormalState]):
    """The flow behind `minimize(objectives, x0)` without further arguments: as close to the Pareto set as the degree allows.

    It costs some hundred evaluations of values, gradients and Hessians, and needs objectives that are twice differentiable almost
    everywhere. Choose another flow where Hessians are out of reach (more than some hundred variables) or values are noisy. Its
    mathematics is in `bezierflow.normal`.
    """

    def init(self, objectives: Objectives, start: BezierSimplex, seed: int) -> NormalState:
        """Before the minimization of each objective from its corner of the start."""
        return begin(objectives, corners(start), self.settings)

    def step(self, objectives: Objectives, state: NormalState) -> tuple[NormalState, Info]:
        """One round of the stage at hand: minimizers, edges, inside."""
        state = advance(objectives, self.settings, state)
        return state, {"error": state.error, "degree": state.surface.degree}
