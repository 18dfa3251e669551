"""The model: the Bernstein basis, the Bézier simplex and its calculus, fitting, and files."""

from .basis import basis
from .least_squares import least_squares
from .model import BezierSimplex

__all__ = ["BezierSimplex", "basis", "least_squares"]
