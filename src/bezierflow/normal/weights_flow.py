"""Solve, then fit: the surface b(t) = argmin Σ t_m f_m, from weighted problems solved at
near-optimal nodes."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..answer import Flag
from ..bezier import BezierSimplex, fit
from ..evaluations import Evaluations
from ..flows import Info, corners
from ..objectives import BudgetSpentError, FlatObjectives, JaxEvaluator
from ..runs import kind
from ..simplex import quadrature_nodes
from .auto_flow import AbstractAutoFlow
from .descent import find_minimizers

FIRST_DEGREE = 2
"""Where the degrees start; degree 1 says nothing about the interior."""

STALLED = 0.9
"""The run ends where two degrees in a row leave more than this share of the miss before: the set is
not smooth enough."""


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
        below, degrees = state.surface, self._degrees(state.surface.n_objectives)
        degree = degrees[len(state.misses)]
        nodes = quadrature_nodes(below.n_objectives, degree)
        x = np.asarray(below(nodes.t))
        evaluator = JaxEvaluator(
            objectives, below.n_objectives, below.n_variables, self.budget, state.evaluations
        )
        try:
            found = find_minimizers(evaluator.hessians, nodes.t, x)
        except BudgetSpentError:
            state = replace(
                state, evaluations=evaluator.evaluations, flags=(Flag.BUDGET_SPENT,), done=True
            )
            return state, {"miss": float("nan"), "degree": below.degree}
        misses = (*state.misses, float(np.linalg.norm(found.x - x, axis=1).max()))
        diameter = float(np.linalg.norm(np.ptp(found.x, axis=0)))
        after = WeightsState(
            surface=fit(nodes.t, found.x, degree, weights=nodes.weights).on_host(),
            evaluations=evaluator.evaluations,
            misses=misses,
            flags=() if found.converged.all() else (Flag.NOT_CONVERGED,),
            done=degree == degrees[-1] or self._close(misses, diameter) or _stalled(misses),
        )
        return after, {"miss": misses[-1], "degree": degree}

    def _degrees(self, n_objectives: int) -> range:
        last = self.settings.goal(n_objectives).max_degree
        return range(last if self.degree != "auto" else min(FIRST_DEGREE, last), last + 1)

    def _close(self, misses: tuple[float, ...], diameter: float) -> bool:
        """Whether the surface below was close enough; the first one was no fit at all."""
        return len(misses) > 1 and misses[-1] <= self.settings.tol * diameter


def _stalled(misses: tuple[float, ...]) -> bool:
    return len(misses) > 3 and misses[-1] > STALLED * misses[-2] > STALLED**2 * misses[-3]
