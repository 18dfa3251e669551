"""The heart: lifting a method (Algorithm 1), driving the flow, and the solution it ends in."""

from .front import FittedFront
from .lift import Flow, FlowInfo, FlowState, lift
from .local_error import local_error
from .minimize import minimize
from .origin import Origin
from .outcome import Iteration
from .raveling import Raveled, Raveling
from .refit import AbstractRefit, LeastSquares
from .result import Reason, Result, Stats
from .solution import Solution
from .solution_file import load

__all__ = [
    "AbstractRefit",
    "FittedFront",
    "Flow",
    "FlowInfo",
    "FlowState",
    "Iteration",
    "LeastSquares",
    "Origin",
    "Raveled",
    "Raveling",
    "Reason",
    "Result",
    "Solution",
    "Stats",
    "lift",
    "load",
    "local_error",
    "minimize",
]
