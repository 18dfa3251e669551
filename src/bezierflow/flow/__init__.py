"""The heart: lifting a method (Algorithm 1), driving the flow, and the solution it ends in."""

from .arguments import MISSING, read_arguments
from .atlas_flow import AtlasFlow
from .checkpoint import ARGUMENTS, JOURNAL, SOLUTION, versions
from .contract import AbstractFlow, Run
from .drive import Callback, Iteration, drive
from .front import FittedFront
from .lift import Flow, FlowState, lift
from .local_error import local_error
from .minimize import minimize
from .normal_flow import NormalFlow
from .raveling import Raveled, Raveling
from .refit import AbstractRefit, LeastSquares
from .result import Reason, Result, Stats
from .solution import Origin, Solution, load
from .solver_side import read_names
from .spread import Points
from .weights_flow import WeightsFlow

__all__ = [
    "ARGUMENTS",
    "JOURNAL",
    "MISSING",
    "SOLUTION",
    "AbstractFlow",
    "AbstractRefit",
    "AtlasFlow",
    "Callback",
    "FittedFront",
    "Flow",
    "FlowState",
    "Iteration",
    "LeastSquares",
    "NormalFlow",
    "Origin",
    "Points",
    "Raveled",
    "Raveling",
    "Reason",
    "Result",
    "Run",
    "Solution",
    "Stats",
    "WeightsFlow",
    "drive",
    "lift",
    "load",
    "local_error",
    "minimize",
    "read_arguments",
    "read_names",
    "versions",
]
