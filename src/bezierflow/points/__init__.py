"""From points to a solution: Pareto points of any optimizer, study or measurement become a surface
that can be asked."""

from .from_points import from_points

__all__ = ["from_points"]
