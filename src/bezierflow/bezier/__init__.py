"""The model: the Bernstein basis, the Bézier simplex and its calculus, fitting, and files."""

from .archives import read_archive, write_archive
from .basis import basis
from .files import describe_surface, load_surface, restore_surface, save_surface
from .fitting import FitDiagnostics, fit
from .least_squares import least_squares
from .model import BezierSimplex

__all__ = [
    "BezierSimplex",
    "FitDiagnostics",
    "basis",
    "describe_surface",
    "fit",
    "least_squares",
    "load_surface",
    "read_archive",
    "restore_surface",
    "save_surface",
    "write_archive",
]
