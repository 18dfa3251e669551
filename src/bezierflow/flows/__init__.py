"""Flows: their contract and driver, lifting (Algorithm 1), training on batches."""

from .bounded import dense_points, dense_t, leaves, search_box, touches
from .contract import AbstractFlow, Estimate, Info, Paused, Run, State, corners, explain_end
from .drive import Callback, Iteration, drive, progress_bar
from .lift import Flow, FlowState, Origin, lift
from .refit import AbstractRefit, LeastSquares, PullBack
from .schedule import SCHEDULE
from .stochastic import StochasticFlow
from .training import average_along, stochastic_flow, train_surface

__all__ = [
    "SCHEDULE",
    "AbstractFlow",
    "AbstractRefit",
    "Callback",
    "Estimate",
    "Flow",
    "FlowState",
    "Info",
    "Iteration",
    "LeastSquares",
    "Origin",
    "Paused",
    "PullBack",
    "Run",
    "State",
    "StochasticFlow",
    "average_along",
    "corners",
    "dense_points",
    "dense_t",
    "drive",
    "explain_end",
    "leaves",
    "lift",
    "progress_bar",
    "search_box",
    "stochastic_flow",
    "touches",
    "train_surface",
]
