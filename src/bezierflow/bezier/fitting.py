"""Least squares with known t: the Bézier simplex that follows samples (t_i, x_i) best."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from jaxtyping import Float, Int, PyTree
from numpy.exceptions import RankWarning
from numpy.typing import ArrayLike

from ..arguments import read_count, read_doubles, read_nonnegative, shown
from ..precision import is_traced
from ..simplex import check_on_simplex, index_positions, n_controls
from .model import BezierSimplex
from .numpy_nets import design_matrix
from .raveling import Raveling, pack, pack_one


@dataclass(frozen=True)
class FitDiagnostics:
    """What a fit rested on: see whether the samples determined the surface, and how closely it
    follows them."""

    rank: int
    """How many free control points the samples (and the ridge) determine; all of them, if equal to
    `n_free`."""
    condition: float
    """Condition number of the system solved: errors in x may be magnified by as much. Infinite
    below full rank."""
    residual_rms: float
    """The root of the weighted mean of ‖b(t_i) − x_i‖²."""
    n_samples: int
    """How many samples had a positive weight."""
    n_controls: int
    """How many control points the surface has."""
    n_free: int
    """How many of them were fitted; the others were frozen."""


Frozen = Mapping[int | tuple[int, ...], PyTree]
"""Control points held fast: {multi-index, or an objective's number m for the vertex e_m: value}."""


@overload
def fit(
    t: ArrayLike,
    x: PyTree,
    degree: int,
    *,
    weights: ArrayLike | None = None,
    ridge: float = 0.0,
    frozen: Frozen | None = None,
    diagnostics: Literal[False] = False,
) -> BezierSimplex: ...


@overload
def fit(
    t: ArrayLike,
    x: PyTree,
    degree: int,
    *,
    weights: ArrayLike | None = None,
    ridge: float = 0.0,
    frozen: Frozen | None = None,
    diagnostics: Literal[True],
) -> tuple[BezierSimplex, FitDiagnostics]: ...


def fit(
    t: ArrayLike,
    x: PyTree,
    degree: int,
    *,
    weights: ArrayLike | None = None,
    ridge: float = 0.0,
    frozen: Frozen | None = None,
    diagnostics: bool = False,
) -> BezierSimplex | tuple[BezierSimplex, FitDiagnostics]:
    """The surface of this degree closest to the samples: argmin_P Σ_i w_i ‖b(t_i|P) − x_i‖² + ridge
    · Σ_d ‖p_d − x̄‖².

    By Householder QR of the design matrix on the host, in float64 whatever the input: accurate as
    far as the condition number of the design allows, and no slower than `numpy.linalg.lstsq` on a
    design that is already there.

    Args:
        t: The samples' places on the simplex, (N, M).
        x: Their values: an array (N, L) or (N,), or any pytree of arrays with leading axis N.
        degree: Degree of the surface.
        weights: Nonnegative weights w_i, (N,); 1 for each if not given. Samples of weight 0 do not
            count.
        ridge: Pulls each free control point toward x̄, the weighted mean of x. With it any number
            of samples will do.
        frozen: Control points that are not fitted, by multi-index, or by objective for the
            vertices: `frozen={0: x_best_for_objective_0, (1, 1, 1): center}`. A value is built like
            one row of x.
        diagnostics: Whether to return `(surface, FitDiagnostics)` instead of the surface alone.

    Raises:
        ValueError: For fewer samples than free control points without ridge, for t off the simplex,
            for values that are not finite, and for shapes that do not belong together.

    Samples that do not determine all free control points (many at the same t, say) give a
    `numpy.exceptions.RankWarning` with the rank, and of all closest surfaces the one whose control
    points are nearest to x̄.
    """
    degree = read_count(degree, "degree")
    places, weights = _check_samples(t, weights)
    rows, raveling = pack(x)
    if len(rows) != len(places):
        raise ValueError(f"x must have as many rows as t: x has {len(rows)}, t has {len(places)}")
    ridge = read_nonnegative(ridge, "ridge")
    n_objectives = places.shape[1]
    held, held_values = frozen_rows(frozen, raveling, n_objectives, degree)
    n_samples, n_free = int(np.count_nonzero(weights)), n_controls(n_objectives, degree) - len(held)
    if n_samples < n_free and ridge == 0:
        raise ValueError(
            f"{n_samples} samples cannot determine {n_free} free control points"
            f" (n_objectives={n_objectives}, degree={degree}); give at least {n_free} samples, a"
            " lower degree, frozen control points, or ridge > 0"
        )
    design = design_matrix(places, degree)
    points, rank, condition = _fit_rows(design, rows, weights, ridge, held, held_values)
    surface = BezierSimplex(raveling.unravel(points), n_objectives, degree)
    if not diagnostics:
        return surface
    residual_rms = float(
        np.sqrt(weights @ np.sum((design @ points - rows) ** 2, axis=1) / weights.sum())
    )
    return surface, FitDiagnostics(rank, condition, residual_rms, n_samples, len(points), n_free)


def _fit_rows(
    Z: Float[np.ndarray, "n n_controls"],
    rows: Float[np.ndarray, "n width"],
    weights: Float[np.ndarray, " n"],
    ridge: float,
    held: Int[np.ndarray, " n_held"],
    held_values: Float[np.ndarray, "n_held width"],
) -> tuple[Float[np.ndarray, "n_controls width"], int, float]:
    """The control points with some of them held, and rank and condition number of the system for
    the others.

    Samples run along the last axis of `design` = Zᵀ and `values` = Xᵀ, which makes every product
    faster.
    """
    design, values = Z.T, rows.T.copy()
    mean = values @ weights / weights.sum()
    # In exact arithmetic the mean could stay: rows of Z sum to 1. Without it, errors are relative
    # to the spread of x.
    values -= np.outer(mean, np.ones(len(design)) @ design)
    points = np.empty((len(design), len(values)))
    points[held] = held_values - mean
    values -= points[held].T @ design[held]
    free = np.delete(np.arange(len(design)), held)
    points[free], rank, condition = _solve(
        design[free] if len(held) else design, values, weights, ridge
    )
    points += mean
    points[held] = held_values
    return points, rank, condition


def frozen_rows(
    frozen: Frozen | None, raveling: Raveling, n_objectives: int, degree: int
) -> tuple[Int[np.ndarray, " n_held"], Float[np.ndarray, "n_held width"]]:
    """Positions and values of the frozen control points, with the keys checked."""
    if frozen is not None and not isinstance(frozen, Mapping):
        raise TypeError(
            f"frozen must map multi-indices or objectives to control points, got {shown(frozen)}"
        )
    values: dict[int, np.ndarray] = {}
    for key, value in (frozen or {}).items():
        index = _as_index(key, n_objectives, degree)
        position = int(index_positions(np.array(index)))
        if position in values:
            raise ValueError(f"frozen names the control point {index} twice")
        values[position] = pack_one(value, raveling, f"frozen[{key!r}]")
    held = np.array(sorted(values), dtype=np.int64)
    return held, np.array([values[position] for position in held]).reshape(
        len(held), raveling.n_variables
    )


def _as_index(key: object, n_objectives: int, degree: int) -> tuple[int, ...]:
    if isinstance(key, int | np.integer) and 0 <= key < n_objectives:
        return tuple(degree if m == key else 0 for m in range(n_objectives))
    if isinstance(key, tuple) and len(key) == n_objectives and sum(key) == degree and min(key) >= 0:
        return key
    raise ValueError(
        f"frozen must be keyed by multi-indices of {n_objectives} whole numbers with sum {degree},"
        f" or by objectives from 0 to {n_objectives - 1} for vertices, got the key {key!r}"
    )


def _check_samples(
    t: ArrayLike, weights: ArrayLike | None
) -> tuple[Float[np.ndarray, "n n_objectives"], Float[np.ndarray, " n"]]:
    if is_traced(t, weights):
        raise TypeError(
            "t and weights are being traced by jax (jit, grad or vmap), but fitting runs on the"
            " host; call it outside, or use bezierflow.bezier.least_squares inside"
        )
    places = read_doubles(t, "t", "points of the simplex, one a row")
    if places.ndim != 2 or 0 in places.shape:
        raise ValueError(
            f"t must be a matrix with one point of the simplex a row, got shape {places.shape}"
        )
    check_on_simplex(places)
    weights = (
        np.ones(len(places)) if weights is None else read_doubles(weights, "weights", "numbers")
    )
    if weights.shape != (len(places),):
        raise ValueError(
            f"weights must have one number for each of the {len(places)} rows of t, got shape"
            f" {weights.shape}"
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        wrong = ~np.isfinite(weights) | (weights < 0)
        found = (
            f"weights[{int(np.argmax(wrong))}] = {weights[np.argmax(wrong)]}"
            if wrong.any()
            else "only zeros"
        )
        raise ValueError(f"weights must be finite, at least 0 and not all 0, got {found}")
    return places.astype(np.float64, copy=False), weights


def _solve(
    design: Float[np.ndarray, "n_free n"],
    values: Float[np.ndarray, "width n"],
    weights: Float[np.ndarray, " n"],
    ridge: float,
) -> tuple[Float[np.ndarray, "n_free width"], int, float]:
    """The minimizer of the weighted, penalized least squares, with rank and condition number of its
    matrix."""
    size, width = len(design), len(values)
    if size == 0:
        return np.zeros((0, width)), 0, 1.0
    if (weights != 1).any():
        design, values = design * np.sqrt(weights), values * np.sqrt(weights)
    if ridge > 0:
        design = np.concatenate([design, np.sqrt(ridge) * np.eye(size)], axis=1)
        values = np.concatenate([values, np.zeros((width, size))], axis=1)
    solved = _refined_cholesky(design, values)
    if solved is not None:
        return solved[0], size, solved[1]
    orthogonal, triangle = np.linalg.qr(design.T)
    rotated = orthogonal.T @ values.T
    left, singular, right = np.linalg.svd(triangle)
    rank = int(
        np.count_nonzero(singular > np.finfo(np.float64).eps * max(design.shape) * singular[0])
    )
    if rank == size:
        # LU leaves an upper triangle as it is: this is back substitution.
        return np.linalg.solve(triangle, rotated), rank, float(singular[0] / singular[-1])
    warnings.warn(
        f"the samples determine only {rank} of {size} free control points; of all closest surfaces"
        " the one whose control points are nearest to the mean of x is returned. Spread t more"
        " widely, lower the degree, or set ridge > 0",
        RankWarning,
        stacklevel=4,
    )
    return right[:rank].T @ ((left[:, :rank].T @ rotated) / singular[:rank, None]), rank, np.inf


SMALL_CONDITION = 1e4
"""Up to this condition number κ one refinement step makes Cholesky as accurate as QR: (κ²u)² is
still far below κu."""


def _refined_cholesky(
    design: Float[np.ndarray, "n_free n"], values: Float[np.ndarray, "width n"]
) -> tuple[Float[np.ndarray, "n_free width"], float] | None:
    """The least-squares solution and the condition number by Cholesky and refinement, or None where
    that loses accuracy.

    The factor of ZᵀZ solves with a relative error near κ²u, u = 1.1e-16. Solving once more for the
    residual multiplies that error by κ²u again, which leaves the κu that QR would have left, in
    half of QR's time for a tall matrix.
    """
    try:
        factor = np.linalg.cholesky(design @ design.T)
    except np.linalg.LinAlgError:
        return None
    singular = np.linalg.svd(factor, compute_uv=False)
    if not singular[0] <= SMALL_CONDITION * singular[-1]:
        return None
    inverse = np.linalg.inv(factor)
    points = inverse.T @ (inverse @ (design @ values.T))
    points += inverse.T @ (inverse @ (design @ (values - points.T @ design).T))
    return points, float(singular[0] / singular[-1])
