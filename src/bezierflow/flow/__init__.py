"""The heart: lifting a method (Algorithm 1), driving the flow, and the solution it ends in."""

from .atlas_flow import AtlasFlow
from .batches import Stochastic, average_along
from .contract import AbstractFlow, Run
from .drive import Iteration, drive
from .front import FittedFront
from .lift import Flow, FlowState, lift
from .local_error import local_error
from .minimize import minimize
from .normal_flow import NormalFlow
from .raveling import Raveled, Raveling
from .refit import AbstractRefit, LeastSquares, PullBack
from .result import Reason, Result, Stats
from .solution import Origin, Solution, load
from .spread import Points
from .stochastic_flow import StochasticFlow, TrainingState
from .weights_flow import WeightsFlow

__all__ = [
    "AbstractFlow",
    "AbstractRefit",
    "AtlasFlow",
    "FittedFront",
    "Flow",
    "FlowState",
    "Iteration",
    "LeastSquares",
    "NormalFlow",
    "Origin",
    "Points",
    "PullBack",
    "Raveled",
    "Raveling",
    "Reason",
    "Result",
    "Run",
    "Solution",
    "Stats",
    "Stochastic",
    "StochasticFlow",
    "TrainingState",
    "WeightsFlow",
    "average_along",
    "drive",
    "lift",
    "load",
    "local_error",
    "minimize",
]
