"""The door to the objectives: batches of points in, values and derivatives out, counted and within
a budget."""

from .blocks import block_size, in_blocks
from .derivatives import Derivatives, replace_rows
from .evaluator import AbstractEvaluator, BudgetSpentError
from .jax_evaluator import JaxEvaluator, Objectives, PlacesPoints, count_objectives

__all__ = [
    "AbstractEvaluator",
    "BudgetSpentError",
    "Derivatives",
    "JaxEvaluator",
    "Objectives",
    "PlacesPoints",
    "block_size",
    "count_objectives",
    "in_blocks",
    "replace_rows",
]
