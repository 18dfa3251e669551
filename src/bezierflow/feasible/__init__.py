"""Where x may lie: bounds and constraints as users give them, as functions of a flat vector, and
points that satisfy them."""

from .bounds import raveling_of_bounds
from .constraint import Constraint
from .feasible_set import TOLERANCE, FeasibleSet
from .reading import feasible_set

__all__ = ["TOLERANCE", "Constraint", "FeasibleSet", "feasible_set", "raveling_of_bounds"]
