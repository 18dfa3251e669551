"""Fitting a surface to points whose t are unknown: a whole cloud, or points labelled by face."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, overload

import numpy as np
from jaxtyping import PyTree

from ..arguments import read_count
from ..simplex import check_face, controls_on_face, faces, grid, multi_indices, n_controls
from .cloud_fitting import (
    FitOptions,
    PointsFit,
    extreme_points,
    fit_cloud,
    overhang,
    stiffness,
)
from .fitting import FitDiagnostics, Frozen, fit, frozen_rows
from .model import BezierSimplex
from .raveling import Raveling, pack
from .schedule import SCHEDULE

DEFAULT = FitOptions()

PointsByFace = Mapping[tuple[int, ...], PyTree]
"""The points of each face: x alone, or a pair (t, x)."""

SkeletonReport = dict[tuple[int, ...], PointsFit | FitDiagnostics]
"""How the fit of each face went: with unknown t a `PointsFit`, with known t a `FitDiagnostics`."""


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
    """The surface closest to points of unknown t: argmin over P and t_i of Σ_i ‖b(t_i|P) − x_i‖².

    The all-at-once fitting of Kobayashi et al. ("Bézier simplex fitting: describing Pareto fronts
    of simplicial problems with small samples in multi-objective optimization", AAAI 2019), with two
    changes. Their alternation between foot points and control points creeps: moving a control point
    along the surface costs as much as moving it off. Here such motion becomes cheap by degrees, up
    to Gauss–Newton with t eliminated, as long as that brings the surface closer: tens of iterations
    instead of thousands. And as nothing in the sum keeps a surface from reaching far beyond the
    points, it is drawn taut (`FitOptions.tautness`), and margins without a foot point are cut off;
    how far it still reaches beyond them is `PointsFit.overhang`, with a warning where that is
    clear. Deterministic. 500 points in R³ at degree 3 take some tenths of a second.

    Args:
        x: The points: an array (N, L), or a pytree of arrays with leading axis N. At least as many
            as free control points.
        n_objectives: M.
        degree: Degree of the surface.
        vertices: The M points near which the corners lie, one per row, in the order of the
            objectives (the minimizers of single objectives, say). If not given, the points of the
            cloud that span the largest simplex, in no particular order.
        frozen: Control points that are held, as in `fit`.
        options: What is minimized and when the fit ends, a `FitOptions`.
        diagnostics: Whether to return `(surface, PointsFit)` instead of the surface alone.
    """
    n_objectives, degree = read_count(n_objectives, "n_objectives", 1), read_count(degree, "degree")
    rows, raveling = pack(x)
    if vertices is None:
        corners = extreme_points(rows, n_objectives)
    else:
        corners = pack(vertices, "vertices")[0]
    if corners.shape != (n_objectives, raveling.n_variables):
        raise ValueError(
            f"vertices must be {n_objectives} rows built like those of x ({raveling.n_variables}"
            f" numbers each), got {corners.shape[0]} rows of {corners.shape[1]} numbers"
        )
    held, held_values = frozen_rows(frozen, raveling, n_objectives, degree)
    # from the flat simplex through the corners, p_d = Σ_m d_m/D corner_m
    flat = grid(n_objectives, degree) @ corners if degree else corners.mean(axis=0, keepdims=True)
    flat[held] = held_values
    points, report = fit_cloud(rows, flat, held, n_objectives, degree, options)
    if not report.converged:
        warnings.warn(f"fit_points {report.reason}", RuntimeWarning, stacklevel=2)
    surface = BezierSimplex(raveling.unravel(points), n_objectives, degree)
    # Over {t : t_m ≥ min_i t_im}, a smaller simplex, it has no margins without foot points.
    margins = report.t.min(axis=0)
    size = 1 - margins.sum()
    if not len(held) and margins.max() >= SCHEDULE.least_margin and size >= SCHEDULE.least_margin:
        t = np.maximum((report.t - margins) / size, 0)
        surface = surface.subdivide(margins + size * np.eye(n_objectives))
        report = replace(report, t=t / t.sum(axis=1, keepdims=True))
    diameter = float(np.linalg.norm(np.ptp(rows, axis=0))) or 1.0
    reach = overhang(pack(surface.control_points)[0], report.t, degree) / diameter
    report = replace(report, overhang=reach)
    if reach > max(
        SCHEDULE.least_overhang, SCHEDULE.clear_overhang * report.residual_rms / diameter
    ):
        warnings.warn(
            f"fit_points: the surface reaches {reach:.1g} of its diameter beyond the points, since"
            " nothing tells where its edges lie: give the points of each face to fit_skeleton, or a"
            " lower degree",
            RuntimeWarning,
            stacklevel=2,
        )
    return (surface, report) if diagnostics else surface


@overload
def fit_skeleton(
    points_by_face: PointsByFace,
    n_objectives: int,
    degree: int,
    *,
    options: FitOptions = DEFAULT,
    diagnostics: Literal[False] = False,
) -> BezierSimplex: ...


@overload
def fit_skeleton(
    points_by_face: PointsByFace,
    n_objectives: int,
    degree: int,
    *,
    options: FitOptions = DEFAULT,
    diagnostics: Literal[True],
) -> tuple[BezierSimplex, SkeletonReport]: ...


def fit_skeleton(
    points_by_face: PointsByFace,
    n_objectives: int,
    degree: int,
    *,
    options: FitOptions = DEFAULT,
    diagnostics: bool = False,
) -> BezierSimplex | tuple[BezierSimplex, SkeletonReport]:
    """The surface whose faces fit points known to lie on them, each with its boundary held.

    The inductive skeleton fitting of Kobayashi et al. (AAAI 2019), for points that minimize some of
    the objectives only: those of the objectives J lie on the face Δ_J. A corner is the mean of its
    points. Then faces of two objectives, of three and so on: of each only the control points inside
    are still free, so few points suffice for many objectives. Faces of more than `degree`
    objectives have none inside; their points are not used.

    Args:
        points_by_face: For each face, a tuple of objectives, its points: x alone, an array (n, L)
            or a pytree with leading axis n, placed as by `fit_points`; or a pair `(t, x)` with
            known t of shape (n, |J|), columns in the order of the tuple. Every face of at most
            `degree` objectives is needed: `{(0,): x0, (1,): x1, (0, 1): (t, x01)}`.
        n_objectives: M.
        degree: Degree of the surface, at least 1.
        options: As in `fit_points`, for each face whose t are unknown.
        diagnostics: Whether to return `(surface, reports)`, with a report per face.
    """
    if degree < 1:
        raise ValueError(f"degree must be at least 1 for a surface with corners, got {degree}")
    needed = [face for face in faces(n_objectives) if len(face) <= degree]
    samples, raveling = _check(points_by_face, n_objectives, needed)
    points = np.zeros((n_controls(n_objectives, degree), raveling.n_variables))
    reports: SkeletonReport = {}
    for face in needed:
        places = controls_on_face(face, n_objectives, degree)
        try:
            points[places], report = _fit_face(
                len(face), *samples[face], points[places], degree, options
            )
        except ValueError as error:
            raise ValueError(f"face {face}: {error}") from error
        reports[face] = report
        if isinstance(report, PointsFit) and not report.converged:
            warnings.warn(
                f"fit_skeleton, face {face}: {report.reason}", RuntimeWarning, stacklevel=2
            )
    surface = BezierSimplex(raveling.unravel(points), n_objectives, degree)
    return (surface, reports) if diagnostics else surface


_Samples = dict[tuple[int, ...], tuple[np.ndarray | None, np.ndarray]]
"""By sorted face: t, or None where they are unknown, and the points as rows."""


def _check(
    points_by_face: PointsByFace, n_objectives: int, needed: list[tuple[int, ...]]
) -> tuple[_Samples, Raveling]:
    """The samples, all built alike and none missing, and how they are built."""
    samples: _Samples = {}
    ravelings = []
    for key, value in points_by_face.items():
        face, name = check_face(key, n_objectives), f"points_by_face[{key}]"
        if face in samples:
            raise ValueError(f"points_by_face names the face {face} twice")
        t, x = value if isinstance(value, tuple) and len(value) == 2 else (None, value)
        rows, raveling = pack(x, name)
        if not len(rows):
            raise ValueError(f"{name} must hold at least one point")
        if t is not None:
            t = np.asarray(t)
            if t.shape != (len(rows), len(key)):
                raise ValueError(f"{name} needs t of shape {(len(rows), len(key))}, got {t.shape}")
            t = t[:, np.argsort(np.array(key))]
        samples[face] = t, rows
        ravelings.append(raveling)
        if raveling != ravelings[0]:
            raise ValueError(
                f"{name} must be built like the other faces' points ({ravelings[0]}), got"
                f" {raveling}"
            )
    missing = [face for face in needed if face not in samples]
    if missing:
        raise ValueError(
            f"points_by_face must have points for every face of at most {len(needed[-1])}"
            " objectives, each of which has control points of its own at this degree;"
            f" {len(missing)} are missing, the first is {missing[0]}"
        )
    return samples, ravelings[0]


def _fit_face(
    n_members: int,
    t: np.ndarray | None,
    rows: np.ndarray,
    net: np.ndarray,
    degree: int,
    options: FitOptions,
) -> tuple[np.ndarray, PointsFit | FitDiagnostics]:
    """The face's net with its own control points fitted, those with no entry 0, and a report."""
    indices = multi_indices(n_members, degree)
    inside = np.all(indices > 0, axis=1)
    boundary = np.flatnonzero(~inside)
    if t is not None:
        frozen: Frozen = {tuple(indices[row].tolist()): net[row] for row in boundary}
        surface, report = fit(t, rows, degree, frozen=frozen, diagnostics=True)
        return surface.control_points, report
    start = net.copy()
    if n_members == 1:
        start[0] = rows.mean(axis=0)
        distance = np.sqrt(np.mean(np.sum((rows - start[0]) ** 2, axis=1)))
        reason = "converged: the mean of the points"
        return start, PointsFit(np.ones((len(rows), 1)), np.array([distance]), True, reason)
    # from the tautest net that the boundary allows
    springs = stiffness(n_members, degree)
    pull = -springs[np.ix_(inside, ~inside)] @ net[~inside]
    start[inside] = np.linalg.solve(springs[np.ix_(inside, inside)], pull)
    return fit_cloud(rows, start, boundary, n_members, degree, options)
