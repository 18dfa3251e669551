"""Least squares with known t: the Bézier simplex that follows samples (t_i, x_i) best.

`fit` is for people: on the host, with checks, and with rank and condition number on request.
`least_squares` is the same inside compiled loops, traceable by JAX.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, overload

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree
from numpy.exceptions import RankWarning
from numpy.typing import ArrayLike

from ..arguments import read_count, read_doubles, read_nonnegative, shown
from ..precision import is_traced
from ..simplex import check_on_simplex, index_positions, n_controls
from .model import BezierSimplex
from .nets import design_matrix
from .raveling import Raveling, as_tree, pack
from .schedule import SCHEDULE


@dataclass(frozen=True)
class FitDiagnostics:
    """What a fit rested on: whether the samples determined the surface, how closely it follows.

    Attributes:
        rank: How many free control points the samples (and the ridge) determine; all, if `n_free`.
        condition: Condition number of the system solved: errors in x may be magnified by as much.
            Infinite below full rank.
        residual_rms: The root of the weighted mean of ‖b(t_i) − x_i‖².
        n_samples: How many samples had a positive weight.
        n_controls: How many control points the surface has.
        n_free: How many of them were fitted; the others were frozen.
    """

    rank: int
    condition: float
    residual_rms: float
    n_samples: int
    n_controls: int
    n_free: int


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
    """argmin_P Σ_i w_i ‖b(t_i|P) − x_i‖² + ridge · Σ_d ‖p_d − x̄‖²: the surface closest to samples.

    On the host, in float64 whatever the input: accurate as far as the condition number of the
    design allows, and no slower than `numpy.linalg.lstsq` on a design that is already there.

    Args:
        t: The samples' places on the simplex, (N, M).
        x: Their values: an array (N, L) or (N,), or any pytree of arrays with leading axis N.
        degree: Degree of the surface.
        weights: Nonnegative weights w_i, (N,), 1 by default. Samples of weight 0 do not count.
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
    # Samples run along the last axis of `design` = Zᵀ and `values` = Xᵀ: every product is faster.
    Z = design_matrix(places, degree)
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
    surface = BezierSimplex(raveling.unravel(points), n_objectives, degree)
    if not diagnostics:
        return surface
    squares = np.sum((Z @ points - rows) ** 2, axis=1)
    residual_rms = float(np.sqrt(weights @ squares / weights.sum()))
    return surface, FitDiagnostics(rank, condition, residual_rms, n_samples, len(points), n_free)


def _check_samples(
    t: ArrayLike, weights: ArrayLike | None
) -> tuple[Float[np.ndarray, "n n_objectives"], Float[np.ndarray, " n"]]:
    if is_traced(t, weights):
        raise TypeError(
            "t and weights are being traced by jax (jit, grad or vmap), but fitting runs on the"
            " host; call it outside, or use bezierflow.bezier.least_squares inside"
        )
    places = read_doubles(t, "t", "points of the simplex, one per row")
    if places.ndim != 2 or 0 in places.shape:
        raise ValueError(
            f"t must be a matrix with one point of the simplex per row, got shape {places.shape}"
        )
    check_on_simplex(places)
    if weights is None:
        return places, np.ones(len(places))
    weights = read_doubles(weights, "weights", "numbers")
    if weights.shape != (len(places),):
        raise ValueError(
            f"weights must have one number for each of the {len(places)} rows of t, got shape"
            f" {weights.shape}"
        )
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any() or not weights.any():
        first = int(np.argmax(wrong))
        found = f"weights[{first}] = {weights[first]}" if wrong.any() else "only zeros"
        raise ValueError(f"weights must be finite, at least 0 and not all 0, got {found}")
    return places, weights


def frozen_rows(
    frozen: Frozen | None, raveling: Raveling, n_objectives: int, degree: int
) -> tuple[Int[np.ndarray, " n_held"], Float[np.ndarray, "n_held width"]]:
    """Positions and values of the frozen control points, with the keys checked."""
    frozen = {} if frozen is None else frozen
    if not isinstance(frozen, Mapping):
        raise TypeError(
            f"frozen must map multi-indices or objectives to control points, got {shown(frozen)}"
        )
    values: dict[int, np.ndarray] = {}
    for key, value in frozen.items():
        index = key
        if isinstance(key, int | np.integer) and 0 <= key < n_objectives:
            index = tuple((degree * np.eye(n_objectives, dtype=int)[key]).tolist())
        if np.shape(index) != (n_objectives,) or np.sum(index) != degree or np.min(index) < 0:
            raise ValueError(
                f"frozen must be keyed by multi-indices of {n_objectives} whole numbers with sum"
                f" {degree}, or by objectives from 0 to {n_objectives - 1} for vertices, got the"
                f" key {key!r}"
            )
        position = int(index_positions(np.array(index)))
        if position in values:
            raise ValueError(f"frozen names the control point {index} twice")
        name, row = f"frozen[{key!r}]", jax.tree.map(lambda x: np.asarray(x)[None], as_tree(value))
        packed, found = pack(row, name)
        if found != raveling:
            raise ValueError(f"{name} must be built like one row of x ({raveling}), got {found}")
        values[position] = packed[0]
    held = np.array(sorted(values), dtype=np.int64)
    rows = np.array([values[position] for position in held])
    return held, rows.reshape(len(held), raveling.n_variables)


def _solve(
    design: Float[np.ndarray, "n_free n"],
    values: Float[np.ndarray, "width n"],
    weights: Float[np.ndarray, " n"],
    ridge: float,
) -> tuple[Float[np.ndarray, "n_free width"], int, float]:
    """The minimizer of the weighted, penalized least squares, its rank and condition number.

    First by the Cholesky factor of ZᵀZ, which solves with a relative error near κ²u, u = 1.1e-16.
    Solving once more for the residual multiplies that error by κ²u again, which leaves the κu that
    QR would have left, in half of QR's time for a tall matrix. Where κ is too large for that, by
    Householder QR.
    """
    size, width = len(design), len(values)
    if size == 0:
        return np.zeros((0, width)), 0, 1.0
    if (weights != 1).any():
        design, values = design * np.sqrt(weights), values * np.sqrt(weights)
    if ridge > 0:
        design = np.concatenate([design, np.sqrt(ridge) * np.eye(size)], axis=1)
        values = np.concatenate([values, np.zeros((width, size))], axis=1)
    try:
        factor = np.linalg.cholesky(design @ design.T)
        singular = np.linalg.svd(factor, compute_uv=False)
    except np.linalg.LinAlgError:
        factor, singular = np.empty((0, 0)), np.array([np.inf, 0.0])
    if singular[0] <= SCHEDULE.small_condition * singular[-1]:
        inverse = np.linalg.inv(factor)
        points = inverse.T @ (inverse @ (design @ values.T))
        points += inverse.T @ (inverse @ (design @ (values - points.T @ design).T))
        return points, size, float(singular[0] / singular[-1])
    orthogonal, triangle = np.linalg.qr(design.T)
    rotated = orthogonal.T @ values.T
    left, singular, right = np.linalg.svd(triangle)
    noise = np.finfo(np.float64).eps * max(design.shape) * singular[0]
    rank = int(np.count_nonzero(singular > noise))
    if rank == size:
        # LU leaves an upper triangle as it is: this is back substitution.
        return np.linalg.solve(triangle, rotated), rank, float(singular[0] / singular[-1])
    warnings.warn(
        f"the samples determine only {rank} of {size} free control points; of all closest surfaces"
        " the one whose control points are nearest to the mean of x is returned. Spread t more"
        " widely, lower the degree, or set ridge > 0",
        RankWarning,
        stacklevel=3,
    )
    return right[:rank].T @ ((left[:, :rank].T @ rotated) / singular[:rank, None]), rank, np.inf


def least_squares(
    design: Float[Array, "n_samples n_controls"],
    values: Float[Array, "n_samples width"],
    weights: Float[Array | np.ndarray, " n_samples"] | None = None,
) -> Float[Array, "n_controls width"]:
    """P that minimizes Σ_i w_i ‖z_iᵀ P − x_i‖²: (ZᵀZ)⁻¹ZᵀX by Householder QR of √w Z. Traceable.

    The error grows with the condition number of Z, not with its square as for the normal equations.
    100 samples, 10 control points and 3 values (float64, two cores) take 13 µs; QR with an explicit
    Q takes 20, two rounds of Cholesky QR (which break down at a condition of 1e8) take 22, and the
    normal equations 9.

    Full rank is assumed, as nothing in a compiled loop can branch on it cheaply: fewer distinct
    samples than control points give values that are not finite. Derivatives of any order exist,
    also where the fit is exact.
    """
    if weights is not None:
        root = jnp.sqrt(weights)[:, None]
        design, values = root * design, root * values
    return _traced_solve(design, values)


@jax.custom_jvp
def _traced_solve(design: Array, values: Array) -> Array:
    size, width = design.shape[1], values.shape[1]
    if width <= size:
        # R of [Z X] is [R QᵀX] in its first rows: no Q is formed. The price, orthogonalizing X
        # itself, is small while X is no wider than Z.
        both = jnp.linalg.qr(jnp.concatenate([design, values], axis=1), mode="r")[:size]
        return jax.scipy.linalg.solve_triangular(both[:, :size], both[:, size:])
    orthogonal, triangle = jnp.linalg.qr(design)
    return jax.scipy.linalg.solve_triangular(triangle, orthogonal.T @ values)


@_traced_solve.defjvp
def _traced_solve_jvp(
    primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    """The derivative dP = Z⁺(dX − dZ P) + (ZᵀZ)⁻¹ dZᵀ(X − Z P), with ZᵀZ = RᵀR.

    Written out because the derivative of a QR of [Z X] divides by the residual, which is 0 where
    the fit is exact.
    """
    (design, values), (d_design, d_values) = primals, tangents
    solve = jax.scipy.linalg.solve_triangular
    orthogonal, triangle = jnp.linalg.qr(design)
    points = solve(triangle, orthogonal.T @ values)
    bent = solve(triangle, d_design.T @ (values - design @ points), trans=1)
    return points, solve(triangle, orthogonal.T @ (d_values - d_design @ points) + bent)
