"""Inductive skeleton fitting: from points labelled by face, corners first, then edges between them,
and so on upward."""

import warnings
from collections.abc import Mapping
from typing import Literal, overload

import numpy as np
from jaxtyping import PyTree

from ..simplex import check_face, controls_on_face, faces, multi_indices, n_controls
from .cloud_fitting import FitOptions, PointsFit, fit_cloud, stiffness
from .fitting import FitDiagnostics, fit
from .model import BezierSimplex
from .point_fitting import DEFAULT
from .raveling import Raveling, pack

PointsByFace = Mapping[tuple[int, ...], PyTree]
"""The points of each face: x alone, or a pair (t, x)."""

SkeletonReport = dict[tuple[int, ...], PointsFit | FitDiagnostics]
"""How the fit of each face went: with unknown t a `PointsFit`, with known t a `FitDiagnostics`."""


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
    """The surface whose faces fit points known to lie on them: each face is fitted with its
    boundary held.

    The inductive skeleton fitting of Kobayashi et al. (AAAI 2019), for points that minimize some of
    the objectives only: those of the objectives J lie on the face Δ_J. A corner is the mean of its
    points. Then faces of two objectives, of three and so on: of each only the control points inside
    are still free, so few points suffice for many objectives. Faces of more than `degree`
    objectives have none inside; their points are not used.

    Args:
        points_by_face: For each face, a tuple of objectives, its points: x alone, an array (n, L)
            or a pytree with leading axis n, whose places are then found as by `fit_points`; or a
            pair `(t, x)` with known t of shape (n, |J|), columns in the order of the tuple. Every
            face of at most `degree` objectives is needed: `{(0,): x0, (1,): x1, (0, 1): (t, x01)}`.
        n_objectives: M.
        degree: Degree of the surface, at least 1.
        options: As in `fit_points`, for each face whose t are unknown.
        diagnostics: Whether to return `(surface, reports)`, with a report for each face, instead of
            the surface alone.
    """
    if degree < 1:
        raise ValueError(f"degree must be at least 1 for a surface with corners, got {degree}")
    samples, raveling = _check(points_by_face, n_objectives, degree)
    points = np.zeros((n_controls(n_objectives, degree), raveling.n_variables))
    reports: SkeletonReport = {}
    for face in (face for face in faces(n_objectives) if len(face) <= degree):
        t, rows = samples[face]
        places = controls_on_face(face, n_objectives, degree)
        try:
            if t is None:
                found = _fit_face(rows, points[places], len(face), degree, options)
            else:
                found = _fit_known(t, rows, points[places], len(face), degree)
        except ValueError as error:
            raise ValueError(f"face {face}: {error}") from error
        points[places], reports[face] = found
        if isinstance(found[1], PointsFit) and not found[1].converged:
            warnings.warn(
                f"fit_skeleton, face {face}: {found[1].reason}", RuntimeWarning, stacklevel=2
            )
    surface = BezierSimplex(raveling.unravel(points), n_objectives, degree)
    return (surface, reports) if diagnostics else surface


_Samples = dict[tuple[int, ...], tuple[np.ndarray | None, np.ndarray]]
"""By sorted face: t, or None where they are unknown, and the points as rows."""


def _check(
    points_by_face: PointsByFace, n_objectives: int, degree: int
) -> tuple[_Samples, Raveling]:
    """The samples, all built alike and none missing, and how they are built."""
    samples: _Samples = {}
    ravelings = []
    for key, value in points_by_face.items():
        face = check_face(key, n_objectives)
        if face in samples:
            raise ValueError(f"points_by_face names the face {face} twice")
        samples[face], raveling = _check_face_points(key, value)
        ravelings.append(raveling)
        if raveling != ravelings[0]:
            raise ValueError(
                f"points_by_face[{key}] must be built like the other faces' points"
                f" ({ravelings[0]}), got {raveling}"
            )
    missing = [face for face in faces(n_objectives) if len(face) <= degree and face not in samples]
    if missing:
        raise ValueError(
            f"points_by_face must have points for every face of at most {degree} objectives (each"
            f" has control points of its own at degree {degree}); {len(missing)} are missing, the"
            f" first is {missing[0]}"
        )
    return samples, ravelings[0]


def _check_face_points(
    key: tuple[int, ...], value: PyTree
) -> tuple[tuple[np.ndarray | None, np.ndarray], Raveling]:
    """One face's t, with columns in the order of the objectives, or None, its points, and how they
    are built."""
    t, x = value if isinstance(value, tuple) and len(value) == 2 else (None, value)
    rows, raveling = pack(x, f"points_by_face[{key}]")
    if not len(rows):
        raise ValueError(f"points_by_face[{key}] must hold at least one point")
    if t is None:
        return (None, rows), raveling
    t = np.asarray(t)
    if t.shape != (len(rows), len(key)):
        raise ValueError(
            f"points_by_face[{key}] needs t of shape {(len(rows), len(key))}, got {t.shape}"
        )
    return (t[:, np.argsort(np.array(key))], rows), raveling


def _inside(n_members: int, degree: int) -> np.ndarray:
    """Which control points of a face are its own: those with no entry 0."""
    return np.all(multi_indices(n_members, degree) > 0, axis=1)


def _fit_face(
    rows: np.ndarray, net: np.ndarray, n_members: int, degree: int, options: FitOptions
) -> tuple[np.ndarray, PointsFit]:
    """The face's net with its own control points fitted, from the tautest net that its boundary
    allows."""
    inside = _inside(n_members, degree)
    start = net.copy()
    if n_members == 1:
        start[0] = rows.mean(axis=0)
        distance = np.sqrt(np.mean(np.sum((rows - start[0]) ** 2, axis=1)))
        return start, PointsFit(
            np.ones((len(rows), 1)), np.array([distance]), True, "converged: the mean of the points"
        )
    springs = stiffness(n_members, degree)
    start[inside] = np.linalg.solve(
        springs[np.ix_(inside, inside)], -springs[np.ix_(inside, ~inside)] @ net[~inside]
    )
    return fit_cloud(rows, start, np.flatnonzero(~inside), n_members, degree, options)


def _fit_known(
    t: np.ndarray, rows: np.ndarray, net: np.ndarray, n_members: int, degree: int
) -> tuple[np.ndarray, FitDiagnostics]:
    indices = multi_indices(n_members, degree)
    boundary = np.flatnonzero(~_inside(n_members, degree))
    frozen: dict[int | tuple[int, ...], np.ndarray] = {
        tuple(indices[row].tolist()): net[row] for row in boundary
    }
    surface, report = fit(t, rows, degree, frozen=frozen, diagnostics=True)
    return surface.control_points, report
