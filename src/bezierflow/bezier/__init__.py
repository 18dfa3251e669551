"""The model: the Bernstein basis, the Bézier simplex and its calculus, fitting, and files."""

from .archives import read_archive, write_archive
from .basis import basis
from .design import design_matrix
from .files import describe_surface, load_surface, restore_surface, save_surface
from .fitting import FitDiagnostics, fit
from .least_squares import least_squares
from .model import BezierSimplex
from .point_fitting import PointsFit, fit_points
from .projection import project
from .skeleton_fitting import fit_skeleton

__all__ = [
    "BezierSimplex",
    "FitDiagnostics",
    "PointsFit",
    "basis",
    "describe_surface",
    "design_matrix",
    "fit",
    "fit_points",
    "fit_skeleton",
    "least_squares",
    "load_surface",
    "project",
    "read_archive",
    "restore_surface",
    "save_surface",
    "write_archive",
]
