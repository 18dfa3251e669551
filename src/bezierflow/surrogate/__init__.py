"""Expensive objectives: Gaussian processes in their place, a search that asks for evaluations, and
a surface from few of them."""

from .acquisition import (
    Known,
    ModelSet,
    Proposal,
    VarianceReduction,
    chance_of_success,
    emptiest,
    find_sets,
    is_taken,
    most_improvement,
    properly_nondominated,
    propose,
    shortfall,
)
from .held_out import HeldOut, what_is_wrong
from .search import Search
from .surrogate import Surrogate

__all__ = [
    "HeldOut",
    "Known",
    "ModelSet",
    "Proposal",
    "Search",
    "Surrogate",
    "VarianceReduction",
    "chance_of_success",
    "emptiest",
    "find_sets",
    "is_taken",
    "most_improvement",
    "properly_nondominated",
    "propose",
    "shortfall",
    "what_is_wrong",
]
