"""The flows of `method="auto"`: a surface that slides along the Pareto set for free and pays only
for its distance to it; and the surface b(t) = argmin Σ t_m f_m, by solving, then fitting."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import equinox as eqx
import numpy as np
from jax.sharding import Mesh
from jaxtyping import PyTree

from ..answer import ErrorEstimate, Flag, Reason, Result
from ..bezier import BezierSimplex, fit
from ..evaluations import Evaluations
from ..flows import AbstractFlow, Estimate, Info, Run, State, corners, explain_end
from ..kinds import kind
from ..names import Names
from ..objectives import BudgetSpentError, FlatObjectives, point_in_words
from ..simplex import quadrature_nodes
from .descent import find_minimizers
from .estimate import estimate_error
from .matrices import KnownHessians
from .schedule import USUAL
from .settings import Hessians, Settings
from .span import Layout
from .stages import NormalState, accept, advance, begin

AUTO_TOL = 1e-6
"""The largest distance to the set, relative to its diameter, that `method="auto"` is content
with."""

FLOAT32_TOL = 1e-5
"""Arrays of the user's in float32 are worked on as such if the tolerance is at least this; smaller
ones need float64."""


class AbstractAutoFlow(AbstractFlow[State]):
    """A flow that raises its degree until the held-out distance to the set is below a tolerance.
    Its states have `flags`.

    Attributes:
        degree: "auto" lets it grow until the held-out error is below tol; a number fixes it.
        max_degree: the largest degree "auto" may choose; by default 14 for two objectives, 12 for
            three, 8 for four, 6 for five.
        tol: the largest held-out distance, relative to the diameter of the set, that ends the run;
            None for 1e-6, or what suits an atlas that takes its place.
        budget: the most points that may be evaluated; None for no limit. Never exceeded. The error
            estimate comes on top.
        noise: the relative error of values, where gradients are differences of them; `minimize`
            finds it out.
        x_scale: the unit of each variable: one positive number, one for each, or a pytree like x.
            Distances are measured in these units. By default all are 1, unless the objectives'
            curvatures at x0 show that the variables differ in scale by more than 100;
            `solution.made_by["x_scale"]` says what was used.
    """

    degree: int | Literal["auto"] = eqx.field(static=True, default="auto")
    max_degree: int | None = eqx.field(static=True, default=None)
    tol: float | None = eqx.field(static=True, default=None)
    budget: int | None = eqx.field(static=True, default=None)
    noise: float = eqx.field(static=True, default=0.0)
    x_scale: PyTree = None

    misses: ClassVar[str] = "error"
    """What the history calls the distance of the surface at a degree."""

    def __check_init__(self) -> None:
        _ = self.settings

    @property
    def settings(self) -> Settings:
        """The same, checked."""
        tol = AUTO_TOL if self.tol is None else self.tol
        return Settings(self.degree, self.max_degree, tol, self.budget, self.noise)

    def parts(self) -> dict[str, object]:
        """Numbers and texts; `minimize` says which units it used."""
        parts = {**super().parts(), "tol": self.settings.tol}
        return {name: part for name, part in parts.items() if name != "x_scale"}

    def share_done(self, info: Info) -> float | None:
        """By the digits that the error has lost of those that it shall lose."""
        error = info[self.misses]
        if not 0 < error < 1:
            return None
        return float(np.log(error) / np.log(min(self.settings.tol, 0.5)))

    def measure(
        self, objectives: FlatObjectives, run: Run[Any], seed: int, estimate: Estimate
    ) -> ErrorEstimate:
        """The error at held-out t, with the flags that the run itself raised; curvature that it
        left behind makes it cheaper."""
        state = run.state
        error = estimate_error(
            objectives,
            state.surface,
            seed,
            tol=self.settings.tol,
            settings=self.settings,
            memory=getattr(state, "memory", None),
        )
        flags = tuple(dict.fromkeys((*error.flags, *state.flags)))
        return replace(error, flags=flags)

    def explain(
        self, objectives: FlatObjectives, run: Run[Any], error: ErrorEstimate | None, names: Names
    ) -> Result:
        """Why the run ended and what its surface is worth."""
        return self.explained(run, f"done after iteration {run.iterations}", error)

    def explained(self, run: Run[Any], note: str, error: ErrorEstimate | None) -> Result:
        """Why the run ended; where it is less exact than asked for, whether a higher degree would
        help: if errors fell with the last ones."""
        result, degree = explain_end(run, note, error), self.surface(run.state).degree
        last = self.settings.largest_degree(self.surface(run.state).n_objectives)
        if result.reason is not Reason.NOT_AT_TOLERANCE or degree < last:
            return result
        at, errors = run.history["degree"], run.history[self.misses]
        low, high = (np.nanmin(errors[at == d], initial=np.inf) for d in (degree - 1, degree))
        if not (np.isfinite(low) and high < USUAL.falling * low):
            return result
        name = "max_degree" if self.degree == "auto" else "degree"
        return replace(result, claim=f"{result.claim}; a {name} above {degree} would help")


@kind("normal.flow/1")
class NormalFlow(AbstractAutoFlow[NormalState]):
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
    def settings(self) -> Settings:
        """The same, checked."""
        layout = Layout(self.dtype or "float64", self.mesh)
        return replace(super().settings, hessian=self.hessian, layout=layout)

    def prepare(
        self, objectives: FlatObjectives, start: BezierSimplex
    ) -> tuple["NormalFlow", BezierSimplex]:
        """The flow with the way it gets its curvature settled."""
        return replace(self, hessian=self.settings.curvature(objectives, start.n_variables)), start

    def init(self, objectives: FlatObjectives, start: BezierSimplex, seed: int) -> NormalState:
        """Before the minimization of each objective from its corner of the start."""
        return begin(objectives, corners(start), self.settings)

    def step(self, objectives: FlatObjectives, state: NormalState) -> tuple[NormalState, Info]:
        """One round of the stage at hand: minimizers, edges, inside, a search elsewhere."""
        state = advance(objectives, self.settings, state)
        return state, {"error": state.error, "degree": state.degree}

    def with_budget(self, state: NormalState) -> NormalState:
        """The state with a budget to go on."""
        flags = tuple(flag for flag in state.flags if flag is not Flag.BUDGET_SPENT)
        return replace(state, exhausted=False, flags=flags)

    def accepted(
        self, objectives: FlatObjectives, start: BezierSimplex, seed: int
    ) -> NormalState | None:
        """The end of a run that starts at its own goal; None where the start is not at tolerance,
        or not what was asked for."""
        if start.degree == 0 or (self.degree != "auto" and start.degree > self.degree):
            return None
        settings = self.settings
        n = settings.schedule.first_look
        look = estimate_error(objectives, start, seed, n, settings.tol, settings)
        if look.flags:
            return None
        spent = Evaluations(look.evaluations, look.evaluations, look.evaluations)
        return replace(accept(start, settings), evaluations=spent, error=look.relative)

    def measure(
        self, objectives: FlatObjectives, run: Run[NormalState], seed: int, estimate: Estimate
    ) -> ErrorEstimate:
        """As for every such flow; what probes dominate is not covered."""
        error, state = super().measure(objectives, run, seed, estimate), run.state
        coverage = None if error.coverage is None else min(error.coverage, 1 - state.beaten)
        return replace(error, coverage=coverage, n_probes=state.n_probes)

    def explain(
        self,
        objectives: FlatObjectives,
        run: Run[NormalState],
        error: ErrorEstimate | None,
        names: Names,
    ) -> Result:
        """Why the run ended, what its surface is worth, and how far around it something better was
        looked for."""
        state = run.state
        if state.rival is not None:
            scope = f"x = {point_in_words(state.rival, names)} beats a part of it"
        elif state.n_probes == 0:
            scope = "a local Pareto set: nothing was looked for elsewhere"
        else:
            scope = f"no better point among {state.n_probes} probes around it"
        claim = f"done after step {run.iterations}; {scope}"
        if run.iterations == 0:
            claim = "the surface given was kept"
        return self.explained(run, claim, error)


@kind("normal.weights_state/1")
@dataclass(frozen=True)
class WeightsState:
    """What the next degree needs: the surface of the last one and the misses so far, one for each
    degree.

    A miss is how far the surface of the degree below was, at most, from the minimizers at nodes
    that it had never seen.
    """

    surface: BezierSimplex
    evaluations: Evaluations
    misses: tuple[float, ...] = ()
    flags: tuple[Flag, ...] = ()
    done: bool = False


@kind("normal.weights_flow/1")
class WeightsFlow(AbstractAutoFlow[WeightsState]):
    """The surface b(t) = argmin Σ t_m f_m: weighted sums are minimized at the nodes of a degree and
    the minimizers are fitted.

    One degree per iteration, each warm-started from the surface below. The first look at the nodes
    of a degree measures the surface below at t that it never saw: the degree grows while that asks
    for it. For convex objectives, with Hessians.
    """

    parametrization: ClassVar[str] = "weights"
    misses: ClassVar[str] = "miss"

    def init(self, objectives: FlatObjectives, start: BezierSimplex, seed: int) -> WeightsState:
        """The flat surface through the corners of the start."""
        return WeightsState(BezierSimplex(corners(start), start.n_objectives, 1), Evaluations())

    def with_budget(self, state: WeightsState) -> WeightsState:
        """The state with a budget to go on."""
        if Flag.BUDGET_SPENT not in state.flags:
            return state
        flags = tuple(flag for flag in state.flags if flag is not Flag.BUDGET_SPENT)
        return replace(state, flags=flags, done=False)

    def step(self, objectives: FlatObjectives, state: WeightsState) -> tuple[WeightsState, Info]:
        """Solves the weighted problems at the nodes of the next degree and fits their
        minimizers."""
        below, settings = state.surface, self.settings
        last = settings.largest_degree(below.n_objectives)
        # degree 1 says nothing about the interior
        first = last if self.degree != "auto" else min(2, last)
        degree = first + len(state.misses)
        nodes = quadrature_nodes(below.n_objectives, degree)
        x = np.asarray(below(nodes.t))
        curvature = KnownHessians().open(
            objectives, settings, corners(below), spent=state.evaluations
        )
        try:
            found = find_minimizers(curvature, nodes.t, x)
        except BudgetSpentError:
            spent = curvature.evaluator.evaluations
            state = replace(state, evaluations=spent, flags=(Flag.BUDGET_SPENT,), done=True)
            return state, {"miss": float("nan"), "degree": below.degree}
        misses = (*state.misses, float(np.linalg.norm(found.x - x, axis=1).max()))
        diameter = float(np.linalg.norm(np.ptp(found.x, axis=0)))
        # the first surface was no fit, so that its miss says nothing
        close = len(misses) > 1 and misses[-1] <= settings.tol * diameter
        share = settings.schedule.weights_stalled
        stalled = len(misses) > 3 and misses[-1] > share * misses[-2] > share**2 * misses[-3]
        after = WeightsState(
            surface=fit(nodes.t, found.x, degree, weights=nodes.weights).on_host(),
            evaluations=curvature.evaluator.evaluations,
            misses=misses,
            flags=() if found.converged.all() else (Flag.NOT_CONVERGED,),
            done=degree == last or close or stalled,
        )
        return after, {"miss": misses[-1], "degree": degree}
