"""What the user gave, read once: forms of functions, their evaluation, bounds and constraints."""

from .bridge import Bridge, bridges, raise_failures
from .calls import BudgetSpentError, Calls
from .differences import Differences
from .evaluator import (
    Derivatives,
    FlatObjectives,
    JaxEvaluator,
    PlacesPoints,
    block_size,
    count_objectives,
    in_blocks,
    replace_rows,
)
from .feasible import Constraint, FeasibleSet, InfeasibleError
from .forms import can_break, read_function
from .functions import (
    Objectives,
    Raveled,
    TorchFunction,
    as_vector,
    from_pymoo,
    read_objectives,
    split_executor,
)
from .limits import (
    Bounds,
    constraint,
    feasible_set,
    raveling_of_bounds,
    read_bounds,
    read_constraints,
)
from .manifold import Manifold
from .multipliers import find_multipliers
from .problem import Problem, is_single, read_problem
from .schedule import SCHEDULE
from .solver_side import (
    Chosen,
    Transforms,
    box_on_solver_side,
    number_of,
    on_solver_side,
    own,
    point_in_words,
    read_chosen,
    read_names,
)
from .variables import (
    Choice,
    Integer,
    Placed,
    Space,
    Steps,
    Whole,
    placed_constraints,
    read_space,
    whole_constraints,
)

__all__ = [
    "SCHEDULE",
    "Bounds",
    "Bridge",
    "BudgetSpentError",
    "Calls",
    "Choice",
    "Chosen",
    "Constraint",
    "Derivatives",
    "Differences",
    "FeasibleSet",
    "FlatObjectives",
    "InfeasibleError",
    "Integer",
    "JaxEvaluator",
    "Manifold",
    "Objectives",
    "Placed",
    "PlacesPoints",
    "Problem",
    "Raveled",
    "Space",
    "Steps",
    "TorchFunction",
    "Transforms",
    "Whole",
    "as_vector",
    "block_size",
    "box_on_solver_side",
    "bridges",
    "can_break",
    "constraint",
    "count_objectives",
    "feasible_set",
    "find_multipliers",
    "from_pymoo",
    "in_blocks",
    "is_single",
    "number_of",
    "on_solver_side",
    "own",
    "placed_constraints",
    "point_in_words",
    "raise_failures",
    "raveling_of_bounds",
    "read_bounds",
    "read_chosen",
    "read_constraints",
    "read_function",
    "read_names",
    "read_objectives",
    "read_problem",
    "read_space",
    "replace_rows",
    "split_executor",
    "whole_constraints",
]
