"""The model: the Bernstein basis, the Bézier simplex and its calculus, fitting, and files."""

from .archives import Manifest, file_at_fault, read_archive, write_archive, write_atomically
from .cloud_fitting import FitOptions, PointsFit, SurfaceMap, extreme_points, project, stiffness
from .files import check_arrays, describe_surface
from .fitting import FitDiagnostics, fit, least_squares
from .model import BezierSimplex, load_surface, restore_surface
from .nets import (
    basis,
    design_matrix,
    differentiate,
    elevate,
    partial_derivatives,
    surface_tangents,
)
from .point_fitting import fit_points, fit_skeleton
from .raveling import Raveling

__all__ = [
    "BezierSimplex",
    "FitDiagnostics",
    "FitOptions",
    "Manifest",
    "PointsFit",
    "Raveling",
    "SurfaceMap",
    "basis",
    "check_arrays",
    "describe_surface",
    "design_matrix",
    "differentiate",
    "elevate",
    "extreme_points",
    "file_at_fault",
    "fit",
    "fit_points",
    "fit_skeleton",
    "least_squares",
    "load_surface",
    "partial_derivatives",
    "project",
    "read_archive",
    "restore_surface",
    "stiffness",
    "surface_tangents",
    "write_archive",
    "write_atomically",
]
