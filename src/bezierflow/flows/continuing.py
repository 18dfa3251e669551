"""A run that ended before it was done, kept so that it can go on where it was."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import PyTree

from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..objectives import FlatObjectives
from .contract import AbstractFlow
from .lift import Flow


class Origin(NamedTuple):
    """What it takes to make a run of a lifted method again, with its samples or with others.

    Attributes:
        flow: M(A), its sampler settled.
        surface: where it started, P^(1), with flat vectors for values.
        seed: what the samples were drawn from.
    """

    flow: Flow
    surface: BezierSimplex
    seed: int


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
    flat: FlatObjectives
    start: BezierSimplex
    spent: Evaluations

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
