"""Points of the simplex Δ^{M−1} = {t ∈ R^M : t_m ≥ 0, Σ t_m = 1}: random, even, regular."""

from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..arguments import read_doubles
from .indices import multi_indices, read_only
from .schedule import SCHEDULE


@partial(jax.jit, static_argnums=(1, 2))
def uniform(key: Array, n: int, n_objectives: int) -> Float[Array, "n n_objectives"]:
    """`n` points i.i.d. from the uniform distribution on Δ^{M−1}: exponentials over their sum."""
    exponential = jax.random.exponential(key, (n, n_objectives))
    return exponential / jnp.sum(exponential, axis=-1, keepdims=True)


def from_cube(
    u: Float[Array | np.ndarray, "*batch dimension"],
) -> Float[Array, "*batch n_objectives"]:
    """The measure-preserving map from the cube [0, 1]^{M−1} onto the simplex Δ^{M−1}.

    Stick breaking: t_1 takes a Beta(1, M−1) share of the whole, t_2 a Beta(1, M−2) share of what is
    left, and so on; the share with u at hand is 1 − (1−u)^{1/(M−m)}. Smooth inside, so
    low-discrepancy points stay evenly spread.
    """
    dimension = u.shape[-1]
    left_over = (1 - u) ** (1 / jnp.arange(dimension, 0, -1))
    whole = jnp.ones((*u.shape[:-1], 1), left_over.dtype)
    remaining = jnp.concatenate([whole, jnp.cumprod(left_over, axis=-1)], axis=-1)
    shares = remaining[..., :-1] * (1 - left_over)
    return jnp.concatenate([shares, remaining[..., -1:]], axis=-1)


@lru_cache(maxsize=64)
def kronecker(n: int, dimension: int) -> Float[np.ndarray, "n dimension"]:
    """`n` evenly spread points of the cube: the fractional parts of i·(1/φ, 1/φ², …).

    The generalized golden ratio, φ^{dimension+1} = φ + 1, makes the sequence spread well in every
    dimension (Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018). For least
    squares on the simplex it conditions as well as Sobol's, up to 20 objectives, and needs no
    import that takes a second. Cached and read-only.
    """
    golden = 2.0
    for _ in range(64):  # a contraction: 64 steps reach rounding
        golden = (1 + golden) ** (1 / (dimension + 1))
    steps = golden ** -np.arange(1.0, dimension + 1)
    return read_only((0.5 + np.outer(np.arange(1, n + 1), steps)) % 1)


def low_discrepancy(key: Array, n: int, n_objectives: int) -> Float[Array, "n n_objectives"]:
    """`n` evenly spread points of Δ^{M−1}: a randomly shifted Kronecker sequence, by `from_cube`.

    The shift makes every point uniformly distributed, so averages stay unbiased, with an error near
    1/n instead of 1/√n.
    """
    return _shifted(key, jnp.asarray(kronecker(n, n_objectives - 1)))


@jax.jit
def _shifted(key: Array, cube: Float[Array, "n dimension"]) -> Float[Array, "n n_objectives"]:
    shift = jax.random.uniform(key, cube.shape[1:], dtype=cube.dtype)
    return from_cube((cube + shift) % 1.0)


@partial(jax.jit, static_argnums=(1, 2))
def stratified(key: Array, n: int, n_objectives: int) -> Float[Array, "n n_objectives"]:
    """`n` points of Δ^{M−1} by Latin hypercube sampling, u_ij = (π_j(i) + U_ij)/n, by `from_cube`.

    The π_j are random permutations, so that along every coordinate of the cube each of n slices of
    equal measure has one point (McKay, Beckman and Conover 1979). Every point is uniformly
    distributed, so averages stay unbiased.
    """
    for_slices, for_places = jax.random.split(key)
    slices = jnp.zeros((n, 0))
    if n_objectives > 1:
        keys = jax.random.split(for_slices, n_objectives - 1)
        slices = jax.vmap(lambda key: jax.random.permutation(key, n), out_axes=1)(keys)
    return from_cube((slices + jax.random.uniform(for_places, (n, n_objectives - 1))) / n)


def grid(n_objectives: int, resolution: int) -> Float[np.ndarray, "n n_objectives"]:
    """The regular grid d/resolution over all d ∈ N^M_resolution, in the canonical order."""
    if resolution < 1:
        raise ValueError(f"resolution must be at least 1, got {resolution}")
    return multi_indices(n_objectives, resolution) / resolution


@lru_cache(maxsize=64)
def tangent_basis(n_objectives: int) -> Float[np.ndarray, "n_objectives dimension"]:
    """Orthonormal directions along the simplex: columns that sum to 0. Cached and read-only."""
    centered = np.eye(n_objectives) - 1 / n_objectives
    return read_only(np.linalg.svd(centered)[0][:, : n_objectives - 1])


def check_on_simplex(t: np.ndarray, n_objectives: int | None = None, name: str = "t") -> None:
    """Raises a ValueError that names the first row which is not a point of the simplex."""
    if not (isinstance(t, np.ndarray) and t.dtype.kind in "iuf"):
        t = read_doubles(t, name, "points of the simplex")
    if t.ndim < 1 or (n_objectives is not None and t.shape[-1] != n_objectives):
        wanted = "the coordinates" if n_objectives is None else f"{n_objectives} coordinates"
        raise ValueError(f"{name} must have {wanted} along its last axis, got shape {t.shape}")
    rows = t.reshape(-1, t.shape[-1])
    tolerance = SCHEDULE.single_tolerance if t.dtype == np.float32 else SCHEDULE.tolerance
    sums = np.ascontiguousarray(rows.T).sum(axis=0)  # several times faster than along short rows
    if not (np.abs(sums - 1).max(initial=0) <= tolerance and rows.min(initial=0) >= -tolerance):
        row = int(np.argmin((np.abs(sums - 1) <= tolerance) & (rows >= -tolerance).all(axis=1)))
        raise ValueError(
            f"{name} must hold points of the simplex (no coordinate below 0, sum 1); row {row} is"
            f" {rows[row].tolist()} with sum {rows[row].sum():.6g}. Divide each row by its sum to"
            " normalize"
        )
