"""The heart: lifting a method (Algorithm 1), driving the flow, and the solution it ends in."""

from .arguments import MISSING, read_arguments, settle_arguments
from .atlas_flow import AtlasFlow
from .batches import Stochastic, average_along
from .checkpoint import ARGUMENTS, JOURNAL, SOLUTION, compare_versions, versions
from .checkup import Checkup, check
from .contract import AbstractFlow, Run
from .description import cost_text, error_text, share_bar, table
from .dialogue import Dialogue
from .drive import Callback, Iteration, drive
from .evaluated import Evaluated
from .front import FittedFront
from .lift import Flow, FlowState, lift
from .local_error import local_error
from .minimize import minimize
from .normal_flow import NormalFlow
from .progress import progress_bar
from .raveling import Raveled, Raveling
from .refit import AbstractRefit, LeastSquares, PullBack
from .result import Reason, Result, Stats
from .searching import SearchMethod, Task
from .settling import settle_on_atlas
from .solution import Origin, Solution, load
from .solver_side import Chosen, Transforms, box_on_solver_side, number_of, read_names
from .spread import Points
from .stochastic_flow import StochasticFlow, TrainingState
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
    "Checkup",
    "Chosen",
    "Dialogue",
    "Evaluated",
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
    "SearchMethod",
    "Solution",
    "Stats",
    "Stochastic",
    "StochasticFlow",
    "Task",
    "TrainingState",
    "Transforms",
    "WeightsFlow",
    "average_along",
    "box_on_solver_side",
    "check",
    "compare_versions",
    "cost_text",
    "drive",
    "error_text",
    "lift",
    "load",
    "local_error",
    "minimize",
    "number_of",
    "progress_bar",
    "read_arguments",
    "read_names",
    "settle_arguments",
    "settle_on_atlas",
    "share_bar",
    "table",
    "versions",
]
