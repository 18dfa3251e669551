"""A run that ended before it was done, kept so that it can go on where it was."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import PyTree

from ..atlas import AtlasState
from ..bezier import BezierSimplex
from ..evaluation import Objectives
from ..methods import Evaluations
from ..normal import Flag, FreeState, NormalState
from .atlas_flow import AtlasFlow
from .contract import AbstractFlow
from .lift import Flow
from .weights_flow import WeightsState


class Paused(NamedTuple):
    """A run that its user, their budget or their number of iterations ended.

    Attributes:
        given: the objectives as the user gave them.
        flow: prepared for the problem.
        state: the last one.
        flat: the objectives that the flow worked on.
        start: where it started.
        spent: what was evaluated before the flow began.
    """

    given: object
    flow: AbstractFlow
    state: PyTree
    flat: Objectives
    start: BezierSimplex
    spent: Evaluations

    @property
    def is_atlas(self) -> bool:
        """Whether an atlas was being made."""
        return isinstance(self.flow, AtlasFlow)

    def fits(self, flow: AbstractFlow) -> bool:
        """Whether a prepared flow can go on from the state: it may differ in tolerance and budget
        alone."""
        if isinstance(flow, Flow) and isinstance(self.flow, Flow):
            return bool(
                eqx.tree_equal(
                    replace(flow, tol=np.zeros(())), replace(self.flow, tol=np.zeros(()))
                )
            )
        return type(flow) is type(self.flow) and getattr(flow, "degree", None) == getattr(
            self.flow, "degree", None
        )

    @property
    def next_state(self) -> PyTree:
        """The state to go on from: a budget that was spent is spent no more."""
        return (
            self.state.with_budget()
            if isinstance(self.state, NormalState | FreeState)
            else self.state
        )


def with_budget(state: PyTree, budget: int | None) -> PyTree:
    """The state of a flow whose budget has changed since: one that was spent is no reason to have
    ended."""
    if isinstance(state, NormalState | FreeState):
        return state.with_budget()
    if isinstance(state, AtlasState):
        return state.with_budget(budget)
    if isinstance(state, WeightsState) and Flag.BUDGET_SPENT in state.flags:
        return replace(
            state,
            flags=tuple(flag for flag in state.flags if flag is not Flag.BUDGET_SPENT),
            done=False,
        )
    return state
