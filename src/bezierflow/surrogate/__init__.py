"""Expensive objectives: Gaussian processes in their place, a search that asks for evaluations, and a surface from few of them."""

from .search import Search

__all__ = ["Search"]
