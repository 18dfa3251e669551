"""From Pareto points of any optimizer, study or measurement to a solution."""

from .from_points import from_points

__all__ = ["from_points"]
