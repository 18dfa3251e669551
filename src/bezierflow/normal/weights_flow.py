"""Solve, then fit: the surface b(t) = argmin Σ t_m f_m, from weighted problems solved at
near-optimal nodes."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..answer import Flag
from ..bezier import BezierSimplex, fit
from ..evaluations import Evaluations
from ..flows import Info, corners
from ..objectives import BudgetSpentError, FlatObjectives
from ..runs import kind
from ..simplex import quadrature_nodes
from .descent import find_minimizers
from .matrices import KnownHessians
from .normal_flow import AbstractAutoFlow


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

    def with_budget(self) -> "WeightsState":
        """The state with a budget to go on."""
        if Flag.BUDGET_SPENT not in self.flags:
            return self
        left = tuple(flag for flag in self.flags if flag is not Flag.BUDGET_SPENT)
        return replace(self, flags=left, done=False)


@kind("normal.weights_flow/1")
class WeightsFlow(AbstractAutoFlow[WeightsState]):
    """The surface b(t) = argmin Σ t_m f_m: weighted sums are minimized at the nodes of a degree and
    the minimizers are fitted.

    One degree per iteration, each warm-started from the surface below. The first look at the nodes
    of a degree measures the surface below at t that it never saw: the degree grows while that asks
    for it. For convex objectives, with Hessians.
    """

    parametrization: ClassVar[str] = "weights"

    def init(self, objectives: FlatObjectives, start: BezierSimplex, seed: int) -> WeightsState:
        """The flat surface through the corners of the start."""
        return WeightsState(BezierSimplex(corners(start), start.n_objectives, 1), Evaluations())

    def step(self, objectives: FlatObjectives, state: WeightsState) -> tuple[WeightsState, Info]:
        """Solves the weighted problems at the nodes of the next degree and fits their
        minimizers."""
        below, settings = state.surface, self.settings
        last = settings.largest_degree(below.n_objectives)
        first = last if self.degree != "auto" else min(settings.schedule.weights_degree, last)
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
        after = WeightsState(
            surface=fit(nodes.t, found.x, degree, weights=nodes.weights).on_host(),
            evaluations=curvature.evaluator.evaluations,
            misses=misses,
            flags=() if found.converged.all() else (Flag.NOT_CONVERGED,),
            done=degree == last or close or _stalled(misses, settings.schedule.weights_stalled),
        )
        return after, {"miss": misses[-1], "degree": degree}


def _stalled(misses: tuple[float, ...], share: float) -> bool:
    return len(misses) > 3 and misses[-1] > share * misses[-2] > share**2 * misses[-3]
