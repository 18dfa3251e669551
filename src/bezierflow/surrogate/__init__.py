"""Expensive objectives: Gaussian processes in their place, a search that asks for evaluations, and
a surface from few of them."""

from .acquisition import (
    Known,
    ModelSet,
    Proposal,
    VarianceReduction,
    emptiest,
    find_sets,
    is_taken,
    most_improvement,
    path_values,
    properly_nondominated,
    propose,
)
from .feasibility import Gate, chance, shortfall
from .held_out import HeldOut, what_is_wrong
from .search import Search
from .surface import missing
from .surrogate import Surrogate

__all__ = [
    "Gate",
    "HeldOut",
    "Known",
    "ModelSet",
    "Proposal",
    "Search",
    "Surrogate",
    "VarianceReduction",
    "chance",
    "emptiest",
    "find_sets",
    "is_taken",
    "missing",
    "most_improvement",
    "path_values",
    "properly_nondominated",
    "propose",
    "shortfall",
    "what_is_wrong",
]
