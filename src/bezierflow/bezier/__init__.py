"""The model: the Bernstein basis, the Bézier simplex and its calculus, fitting, and files."""

from .basis import basis
from .fitting import FitDiagnostics, fit
from .least_squares import least_squares
from .model import BezierSimplex

__all__ = ["BezierSimplex", "FitDiagnostics", "basis", "fit", "least_squares"]
