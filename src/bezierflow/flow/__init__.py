"""The heart: lifting a method (Algorithm 1), driving the flow, and the solution it ends in."""

from .arguments import MISSING, read_arguments, settle_arguments
from .atlas_flow import AtlasFlow
from .checkpoint import ARGUMENTS, JOURNAL, SOLUTION, compare_versions, versions
from .contract import AbstractFlow, Run
from .drive import Callback, Iteration, drive
from .evaluated import Evaluated
from .front import FittedFront
from .lift import Flow, FlowState, lift
from .local_error import local_error
from .minimize import minimize
from .normal_flow import NormalFlow
from .progress import progress_bar
from .raveling import Raveled, Raveling
from .refit import AbstractRefit, LeastSquares
from .result import Reason, Result, Stats
from .searching import SearchMethod, Task
from .solution import Origin, Solution, load
from .solver_side import box_on_solver_side, read_names
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
    "Evaluated",
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
    "SearchMethod",
    "Solution",
    "Stats",
    "Task",
    "WeightsFlow",
    "box_on_solver_side",
    "compare_versions",
    "drive",
    "lift",
    "load",
    "local_error",
    "minimize",
    "progress_bar",
    "read_arguments",
    "read_names",
    "settle_arguments",
    "versions",
]
