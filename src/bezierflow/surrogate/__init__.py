"""Expensive objectives: Gaussian processes in their place, a search that asks for evaluations, and
a surface from few of them."""

from .search import Search
from .surrogate import Surrogate

__all__ = ["Search", "Surrogate"]
