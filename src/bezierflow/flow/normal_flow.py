"""The normal flow: a surface that slides along the Pareto set for free and pays only for its distance to it."""

from dataclasses import replace

from ..bezier import BezierSimplex
from ..evaluation import Objectives
from ..methods import Evaluations
from ..normal import ErrorEstimate, NormalState, accept, advance, begin, estimate_error
from ..problems import Names
from .auto_flow import AbstractAutoFlow
from .contract import Info, Run, corners
from .result import Result
from .solver_side import point_in_words
from .verdict import judge

FIRST_LOOK = 12
"""At about so many held-out t a surface that the user gave is looked at, before a run is made of it."""


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
        """One round of the stage at hand: minimizers, edges, inside, a search elsewhere."""
        state = advance(objectives, self.settings, state)
        return state, {"error": state.error, "degree": state.surface.degree}

    def accepted(self, objectives: Objectives, start: BezierSimplex, seed: int) -> NormalState | None:
        """The end of a run that starts at its own goal; None where the start is not at tolerance, or not what was asked for."""
        if start.degree == 0 or (self.degree != "auto" and start.degree > self.degree):
            return None
        look = estimate_error(objectives, start, seed, FIRST_LOOK, self.tol, schedule=self.settings.schedule)
        if look.flags:
            return None
        n = look.evaluations
        return replace(accept(start, self.settings), evaluations=Evaluations(n, n, n), error=look.relative)

    def explain(self, objectives: Objectives, run: Run[NormalState], error: ErrorEstimate | None, names: Names) -> Result:
        """Why the run ended, what its surface is worth, and how far around it something better was looked for."""
        claim = f"done after step {run.iterations}; {_scope(run.state, names)}"
        return judge(run.stopped, claim if run.iterations else "the surface given was kept", run.iterations, error)


def _scope(state: NormalState, names: Names) -> str:
    """Whether the surface is more than a local Pareto set, as far as that was looked into."""
    if state.rival is not None:
        return f"x = {point_in_words(state.rival, names)} beats a part of it"
    if state.n_probes == 0:
        return "a local Pareto set: nothing was looked for elsewhere"
    return f"no better point among {state.n_probes} probes around it"
