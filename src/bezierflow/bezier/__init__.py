"""The model: the Bernstein basis, the Bézier simplex and its calculus, fitting, and files."""

from .archives import Manifest, read_archive, write_archive, write_atomically
from .basis import basis
from .cloud_fitting import FitOptions, PointsFit
from .files import check_arrays, describe_surface, load_surface, restore_surface
from .fitting import FitDiagnostics, fit
from .least_squares import least_squares
from .model import BezierSimplex
from .numpy_nets import (
    design_matrix,
    differentiate,
    elevate,
    elevation_matrix,
    partial_derivatives,
    simplex_derivatives,
    surface_tangents,
)
from .point_fitting import fit_points
from .projection import SurfaceMap, project
from .raveling import Raveling
from .skeleton_fitting import fit_skeleton
from .untrusted import file_at_fault

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
    "elevation_matrix",
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
    "simplex_derivatives",
    "surface_tangents",
    "write_archive",
    "write_atomically",
]
