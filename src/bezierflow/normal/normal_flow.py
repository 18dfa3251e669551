"""The normal flow: a surface that slides along the Pareto set for free and pays only for its
distance to it."""

from dataclasses import replace
from typing import Literal

import equinox as eqx
from jax.sharding import Mesh

from ..answer import ErrorEstimate, Result
from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..flows import Estimate, Info, Run, corners, explain_end
from ..names import Names
from ..objectives import FlatObjectives, bridges, point_in_words
from ..runs import kind
from .auto_flow import AbstractAutoFlow
from .estimate import estimate_error
from .free_estimate import estimate_error_freely
from .free_stages import FreeState, advance_freely, begin_freely
from .layout import Layout
from .settings import FREE_VARIABLES
from .stages import NormalState, accept, advance, begin

FIRST_LOOK = 12
"""At about so many held-out t a surface that the user gave is looked at, before a run is made of
it."""


FLOAT32_TOL = 1e-5
"""Arrays of the user's in float32 are worked on as such if the tolerance is at least this; smaller
ones need float64."""

Hessians = Literal["auto", "dense", "free", "none"]


@kind("normal.flow/1")
class NormalFlow(AbstractAutoFlow[NormalState | FreeState]):
    """The flow behind `minimize(objectives, x0)` without further arguments: as close to the Pareto
    set as the degree allows.

    It costs some hundred evaluations of values, gradients and Hessians, or of products of Hessians
    with vectors where there are many variables, and needs objectives that are twice differentiable
    almost everywhere. Choose another flow where values are noisy. Its mathematics is in
    `bezierflow.normal`, how to choose in `docs/large.md`.

    Attributes:
        hessian: "dense" computes Hessian matrices; "free" only products of Hessians with vectors;
            "none" only gradients, whose differences stand for products. "auto" takes what costs
            less: "dense" below 150 variables and for functions that JAX cannot trace, else "free".
        dtype: of arrays of L numbers, "float64" or "float32"; Hessian matrices are float64 in any
            case. None: float32 where x0 is and tol is at least 1e-5.
        mesh: a `jax.sharding.Mesh` with axes named "nodes" and "variables" that those arrays are
            split over.
    """

    hessian: Hessians = eqx.field(static=True, default="auto")
    dtype: str | None = eqx.field(static=True, default=None)
    mesh: Mesh | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        kinds, precisions = ("auto", "dense", "free", "none"), (None, "float32", "float64")
        if self.hessian not in kinds:
            raise ValueError(
                f"hessian must be one of {', '.join(map(repr, kinds))}, got {self.hessian!r}"
            )
        if self.dtype not in precisions:
            raise ValueError(
                f'dtype must be "float32", "float64" or None, got {self.dtype!r}: with fewer digits'
                " than those of float32 no distance to a set can be measured"
            )
        if self.hessian == "dense" and self.mesh is not None:
            raise ValueError(
                'mesh goes with hessian="free" or "none"; Hessian matrices are on one device'
            )

    @property
    def layout(self) -> Layout:
        """Of arrays of L numbers."""
        return Layout(self.dtype or "float64", self.mesh)

    def prepare(
        self, objectives: FlatObjectives, start: BezierSimplex
    ) -> tuple["NormalFlow", BezierSimplex]:
        """The flow with the way it gets its curvature settled."""
        kind = self.hessian
        if kind == "auto":
            many = start.n_variables >= FREE_VARIABLES and not bridges(objectives)
            kind = "free" if self.mesh is not None or many else "dense"
        return replace(self, hessian=kind), start

    def init(
        self, objectives: FlatObjectives, start: BezierSimplex, seed: int
    ) -> NormalState | FreeState:
        """Before the minimization of each objective from its corner of the start."""
        if self.hessian in ("free", "none"):
            return begin_freely(objectives, corners(start), self.layout)
        return begin(objectives, corners(start), self.settings)

    def step(
        self, objectives: FlatObjectives, state: NormalState | FreeState
    ) -> tuple[NormalState | FreeState, Info]:
        """One round of the stage at hand: minimizers, edges, inside, a search elsewhere."""
        if isinstance(state, FreeState):
            state = advance_freely(
                objectives, self.settings, state, "none" if self.hessian == "none" else "free"
            )
            return state, {"error": state.error, "degree": state.degree}
        state = advance(objectives, self.settings, state)
        return state, {"error": state.error, "degree": state.surface.degree}

    def accepted(
        self, objectives: FlatObjectives, start: BezierSimplex, seed: int
    ) -> NormalState | None:
        """The end of a run that starts at its own goal; None where the start is not at tolerance,
        or not what was asked for."""
        if start.degree == 0 or (self.degree != "auto" and start.degree > self.degree):
            return None
        look = self.estimate(objectives, start, seed, FIRST_LOOK)
        if look.flags:
            return None
        n = look.evaluations
        return replace(
            accept(start, self.settings), evaluations=Evaluations(n, n, n), error=look.relative
        )

    def estimate(
        self, objectives: FlatObjectives, surface: BezierSimplex, seed: int, n: int | None = None
    ) -> ErrorEstimate:
        """The error of a surface at about n held-out t, without what a run knows."""
        tol, schedule = self.settings.tol, self.settings.schedule
        if self.hessian in ("free", "none"):
            kind = "none" if self.hessian == "none" else "free"
            return estimate_error_freely(
                objectives, surface, self.layout, kind, seed, n, tol, schedule
            )
        return estimate_error(objectives, surface, seed, n, tol, schedule=schedule)

    def measure(
        self,
        objectives: FlatObjectives,
        run: Run[NormalState | FreeState],
        seed: int,
        estimate: Estimate,
    ) -> ErrorEstimate:
        """The error at held-out t, with the flags that the run itself raised."""
        if not isinstance(run.state, FreeState):
            return super().measure(objectives, run, seed, estimate)
        error = self.estimate(objectives, run.state.surface, seed)
        return replace(error, flags=tuple(dict.fromkeys((*error.flags, *run.state.flags))))

    def explain(
        self,
        objectives: FlatObjectives,
        run: Run[NormalState | FreeState],
        error: ErrorEstimate | None,
        names: Names,
    ) -> Result:
        """Why the run ended, what its surface is worth, and how far around it something better was
        looked for."""
        claim = f"done after step {run.iterations}; {_scope(run.state, names)}"
        return explain_end(run, claim if run.iterations else "the surface given was kept", error)


def _scope(state: NormalState | FreeState, names: Names) -> str:
    """Whether the surface is more than a local Pareto set, as far as that was looked into."""
    if state.rival is not None:
        return f"x = {point_in_words(state.rival, names)} beats a part of it"
    if state.n_probes == 0:
        return "a local Pareto set: nothing was looked for elsewhere"
    return f"no better point among {state.n_probes} probes around it"
