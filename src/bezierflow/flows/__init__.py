"""The heart: the contract of a flow and its driver, lifting (Algorithm 1), training on batches."""

from .batches import Stochastic, average_along
from .bounded import corners_leave, dense_points, leaves, search_box, touches
from .continuing import Origin, Paused
from .contract import AbstractFlow, Estimate, Info, Run, State, corners
from .drive import Callback, Iteration, drive, shaped
from .lift import Flow, FlowState, lift
from .progress import progress_bar
from .refit import AbstractRefit, LeastSquares, PullBack
from .stochastic_flow import StochasticFlow
from .training import Settings, train

__all__ = [
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
    "Settings",
    "State",
    "Stochastic",
    "StochasticFlow",
    "average_along",
    "corners",
    "corners_leave",
    "dense_points",
    "drive",
    "leaves",
    "lift",
    "progress_bar",
    "search_box",
    "shaped",
    "touches",
    "train",
]
