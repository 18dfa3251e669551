"""What the user gave, read once: forms of functions, their evaluation, bounds and constraints."""

from .blocks import block_size, in_blocks
from .bounds import raveling_of_bounds
from .bridge import Bridge, bridges, raise_failures
from .checks import is_single
from .constraint import Constraint
from .constraints import feasible_set
from .derivatives import Derivatives, replace_rows
from .differences import Differences
from .evaluator import AbstractEvaluator, BudgetSpentError
from .feasible_set import TOLERANCE, FeasibleSet
from .functions import domain_around, read_function
from .host import Objectives, TorchFunction
from .jax_evaluator import FlatObjectives, JaxEvaluator, PlacesPoints, count_objectives
from .multipliers import face_multipliers
from .problem import Problem
from .pymoo_problem import from_pymoo
from .raveled import Raveled, as_vector
from .reading import Given, as_host, read_problem
from .solver_side import (
    Chosen,
    Transforms,
    box_on_solver_side,
    number_of,
    on_solver_side,
    point_in_words,
    read_names,
)

__all__ = [
    "TOLERANCE",
    "AbstractEvaluator",
    "Bridge",
    "BudgetSpentError",
    "Chosen",
    "Constraint",
    "Derivatives",
    "Differences",
    "FeasibleSet",
    "FlatObjectives",
    "Given",
    "JaxEvaluator",
    "Objectives",
    "PlacesPoints",
    "Problem",
    "Raveled",
    "TorchFunction",
    "Transforms",
    "as_host",
    "as_vector",
    "block_size",
    "box_on_solver_side",
    "bridges",
    "count_objectives",
    "domain_around",
    "face_multipliers",
    "feasible_set",
    "from_pymoo",
    "in_blocks",
    "is_single",
    "number_of",
    "on_solver_side",
    "point_in_words",
    "raise_failures",
    "raveling_of_bounds",
    "read_function",
    "read_names",
    "read_problem",
    "replace_rows",
]
