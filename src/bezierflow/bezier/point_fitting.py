"""Fitting a surface to points whose t are unknown."""

import warnings
from dataclasses import replace
from typing import Literal, overload

import numpy as np
from jaxtyping import Float, PyTree

from ..arguments import read_count
from ..simplex import grid
from .cloud_fitting import FitOptions, PointsFit, fit_cloud
from .extremes import extreme_points
from .fitting import Frozen, frozen_rows
from .model import BezierSimplex
from .raveling import pack

DEFAULT = FitOptions()


@overload
def fit_points(
    x: PyTree,
    n_objectives: int,
    degree: int,
    *,
    vertices: PyTree | None = None,
    frozen: Frozen | None = None,
    options: FitOptions = DEFAULT,
    diagnostics: Literal[False] = False,
) -> BezierSimplex: ...


@overload
def fit_points(
    x: PyTree,
    n_objectives: int,
    degree: int,
    *,
    vertices: PyTree | None = None,
    frozen: Frozen | None = None,
    options: FitOptions = DEFAULT,
    diagnostics: Literal[True],
) -> tuple[BezierSimplex, PointsFit]: ...


def fit_points(
    x: PyTree,
    n_objectives: int,
    degree: int,
    *,
    vertices: PyTree | None = None,
    frozen: Frozen | None = None,
    options: FitOptions = DEFAULT,
    diagnostics: bool = False,
) -> BezierSimplex | tuple[BezierSimplex, PointsFit]:
    """The surface closest to a cloud of points whose t are unknown: argmin over P and all t_i of
    Σ_i ‖b(t_i|P) − x_i‖².

    The all-at-once fitting of Kobayashi et al. ("Bézier simplex fitting: describing Pareto fronts
    of simplicial problems with small samples in multi-objective optimization", AAAI 2019), with two
    changes. They alternate between foot points and control points, which creeps: moving a control
    point along the surface costs as much as moving it off. Here such motion is made cheap by
    degrees, from their alternation to Gauss–Newton with t eliminated, as long as that brings the
    surface closer: tens of iterations instead of thousands. And as nothing in the sum keeps a
    surface from reaching far beyond the points, it is drawn taut (`FitOptions.tautness`), and
    margins without a foot point are cut off. No chance is involved. 500 points in R³ at degree 3
    take some tenths of a second.

    Args:
        x: The points: an array (N, L), or a pytree of arrays with leading axis N. At least as many
            as free control points.
        n_objectives: M.
        degree: Degree of the surface.
        vertices: The M points near which the corners lie, one a row, in the order of the objectives
            (the minimizers of single objectives, say). If not given, the points of the cloud that
            span the largest simplex, in no particular order: the cloud alone does not say which
            corner belongs to which objective.
        frozen: Control points that are held, as in `fit`: `{0: x_best_for_objective_0, (1, 1, 1):
            center}`.
        options: What is minimized and when the fit ends, a `FitOptions`.
        diagnostics: Whether to return `(surface, PointsFit)` instead of the surface alone.
    """
    n_objectives, degree = read_count(n_objectives, "n_objectives", 1), read_count(degree, "degree")
    rows, raveling = pack(x)
    corners = (
        extreme_points(rows, n_objectives) if vertices is None else pack(vertices, "vertices")[0]
    )
    if corners.shape != (n_objectives, raveling.n_variables):
        raise ValueError(
            f"vertices must be {n_objectives} rows built like those of x ({raveling.n_variables}"
            f" numbers each), got {corners.shape[0]} rows of {corners.shape[1]} numbers"
        )
    held, held_values = frozen_rows(frozen, raveling, n_objectives, degree)
    start = linear_net(corners, degree)
    start[held] = held_values
    points, report = fit_cloud(rows, start, held, n_objectives, degree, options)
    if not report.converged:
        warnings.warn(f"fit_points {report.reason}", RuntimeWarning, stacklevel=2)
    surface = BezierSimplex(raveling.unravel(points), n_objectives, degree)
    if not len(held):
        surface, report = _trim(surface, report)
    return (surface, report) if diagnostics else surface


def _trim(surface: BezierSimplex, report: PointsFit) -> tuple[BezierSimplex, PointsFit]:
    """The same surface without the margins that hold no foot point: over {t : t_m ≥ min_i t_im}, a
    smaller simplex."""
    margins = report.t.min(axis=0)
    size = 1 - margins.sum()
    if margins.max() < 1e-6 or size < 1e-6:
        return surface, report
    corners = margins + size * np.eye(len(margins))
    t = np.maximum((report.t - margins) / size, 0)
    return surface.subdivide(corners), replace(report, t=t / t.sum(axis=1, keepdims=True))


def linear_net(
    corners: Float[np.ndarray, "n_objectives width"], degree: int
) -> Float[np.ndarray, "n_controls width"]:
    """The flat simplex through these corners, as control points of this degree: p_d = Σ_m d_m/D
    corner_m."""
    if degree == 0:
        return corners.mean(axis=0, keepdims=True)
    return grid(len(corners), degree) @ corners
