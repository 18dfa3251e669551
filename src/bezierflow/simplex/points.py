"""Multi-indices N^M_D = {d ∈ N^M : Σ d_m = D} in one canonical order, faces and points of Δ^{M−1}.

The order is lexicographically descending: (D, 0, …, 0) first, (0, …, 0, D) last. It is written down
in `multi_indices` and nowhere else; every array with one row per control point follows it.

Points of the simplex Δ^{M−1} = {t ∈ R^M : t_m ≥ 0, Σ t_m = 1} are random, even or regular.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations, permutations
from math import comb, factorial, prod
from operator import index as whole
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..arguments import read_count, read_doubles, shown
from ..precision import is_traced
from .schedule import SCHEDULE

T = TypeVar("T", np.ndarray, Array)
"""The kind of an array: NumPy in, NumPy out."""


def n_controls(n_objectives: int, degree: int) -> int:
    """|N^M_D| = C(D + M − 1, M − 1): how many control points a Bézier simplex has."""
    n_objectives, degree = read_count(n_objectives, "n_objectives", 1), read_count(degree, "degree")
    size, more, less = 1, max(degree, n_objectives - 1), min(degree, n_objectives - 1)
    # C(more + step, step): it doubles at least, so that few steps reach the limit
    for step in range(1, less + 1):
        size = size * (more + step) // step
        if size > SCHEDULE.most_controls:
            raise ValueError(
                f"n_objectives={n_objectives} with degree={degree} needs more than"
                f" {SCHEDULE.most_controls:.0e} control points; choose a smaller degree"
            )
    return size


def largest_degree_within(n_objectives: int, limit: int) -> int:
    """The largest D ≥ 1 with |N^M_D| ≤ limit; 1 if there is none, and for M = 1."""
    M, degree = n_objectives, 1
    while M > 1 and comb(degree + M, M - 1) <= limit:
        degree += 1
    return degree


@lru_cache(maxsize=256)
def multi_indices(n_objectives: int, degree: int) -> Int[np.ndarray, "n_controls n_objectives"]:
    """All multi-indices of N^M_D, one per row, in the canonical order. Cached and read-only.

    Built column by column: once the first columns are chosen, the next one runs from what is left
    of D down to 0.
    """
    size = n_controls(n_objectives, degree)
    if size > SCHEDULE.most_rows:
        raise ValueError(
            f"n_objectives={n_objectives} with degree={degree} needs {size:,} control points, more"
            f" than the {SCHEDULE.most_rows:,} this library will lay out; choose a smaller degree"
        )
    left = np.array([degree])
    columns = np.zeros((1, 0), dtype=np.int64)
    for _ in range(n_objectives - 1):
        counts = left + 1
        row = np.repeat(np.arange(len(left)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        columns = np.column_stack([columns[row], left[row] - within])
        left = within
    return read_only(np.column_stack([columns, left]))


def index_positions(indices: Int[np.ndarray, "*batch n_objectives"]) -> Int[np.ndarray, "*batch"]:
    """The row of each multi-index in the canonical order of its degree, without listing the others.

    Rows before d share its first entries and have a larger one at some place m; the rest of such a
    row then sums to less than what d leaves behind it, which C(left − 1 + rest, rest) rows do.
    """
    indices = np.asarray(indices)
    n_objectives = indices.shape[-1]
    behind = np.cumsum(indices[..., ::-1], axis=-1)[..., ::-1]
    largest = int(behind.max(initial=0)) + 1
    positions = np.zeros(indices.shape[:-1], dtype=np.int64)
    for place in range(n_objectives - 1):
        rest = n_objectives - 1 - place
        rows = [comb(left - 1 + rest, rest) if left > 0 else 0 for left in range(largest)]
        positions += np.array(rows, dtype=np.int64)[behind[..., place + 1]]
    return positions


@lru_cache(maxsize=256)
def raised_positions(
    n_objectives: int, degree: int
) -> Int[np.ndarray, "n_controls_below n_objectives"]:
    """Rows of d + e_m in N^M_degree: one row per d ∈ N^M_{degree−1}, one column per objective m."""
    below = multi_indices(n_objectives, degree - 1)
    return read_only(index_positions(below[:, None, :] + np.eye(n_objectives, dtype=np.int64)))


@lru_cache(maxsize=64)
def neighbor_positions(n_objectives: int, degree: int) -> Int[np.ndarray, "n_controls n_neighbors"]:
    """Rows of d + e_i − e_j in N^M_degree, one column per pair i ≠ j; d itself where it is none."""
    indices = multi_indices(n_objectives, degree)[:, None, :]
    pairs = np.array(list(permutations(range(n_objectives), 2)), dtype=np.int64).reshape(-1, 2)
    unit = np.eye(n_objectives, dtype=np.int64)
    beside = indices + unit[pairs[:, 0]] - unit[pairs[:, 1]]
    inside = beside.min(axis=2, keepdims=True) >= 0
    return read_only(index_positions(np.where(inside, beside, indices)))


def multinomial(index: tuple[int, ...]) -> int:
    """The multinomial coefficient D! / Π d_m!, as an exact integer of any size."""
    return factorial(sum(index)) // prod(factorial(d) for d in index)


@lru_cache(maxsize=256)
def multinomials(n_objectives: int, degree: int) -> Float[np.ndarray, " n_controls"]:
    """(D choose d) for all d in the canonical order, each the float64 nearest the exact integer."""
    # Rows with the same entries in another order share their coefficient: each is computed once.
    sorted_rows = np.sort(multi_indices(n_objectives, degree), axis=1)
    kinds, which = np.unique(sorted_rows, axis=0, return_inverse=True)
    exact = np.array([float(multinomial(tuple(map(int, row)))) for row in kinds])
    return read_only(exact[which.reshape(-1)])


def faces(n_objectives: int, size: int | None = None) -> Iterator[tuple[int, ...]]:
    """All non-empty J ⊆ {0, …, M−1}, small ones first; only those of `size` members if given.

    J stands for the face Δ_J = {t ∈ Δ^{M−1} : t_m = 0 for m ∉ J}.
    """
    sizes = range(1, n_objectives + 1) if size is None else (size,)
    for members in sizes:
        yield from combinations(range(n_objectives), members)


def check_face(face: Sequence[int], n_objectives: int) -> tuple[int, ...]:
    """The face as a sorted tuple, or a ValueError that says what is wrong with it."""
    try:
        members = tuple(sorted(whole(m) for m in face))
    except TypeError:
        members = ()
    distinct = len(set(members)) == len(members)
    if not members or not distinct or members[0] < 0 or members[-1] >= n_objectives:
        raise ValueError(
            f"face must hold distinct numbers from 0 to {n_objectives - 1}, at least one, got"
            f" {shown(face)}"
        )
    return members


def support(
    t: Float[Array | np.ndarray, "*batch n_objectives"],
) -> Bool[Array | np.ndarray, "*batch n_objectives"]:
    """Which objectives span the smallest face that holds t: J(t) = {m : t_m > 0}."""
    return t > 0


def controls_on_face(
    face: Sequence[int], n_objectives: int, degree: int
) -> Int[np.ndarray, " n_on_face"]:
    """Rows of N^M_D that carry the face, d_m = 0 for m ∉ J: in order, the face's N^{|J|}_D."""
    outside = np.setdiff1d(np.arange(n_objectives), check_face(face, n_objectives))
    return np.flatnonzero((multi_indices(n_objectives, degree)[:, outside] == 0).all(axis=1))


def read_only(array: np.ndarray) -> np.ndarray:
    """The array itself, protected: cached arrays are shared by all callers."""
    array.setflags(write=False)
    return array


@partial(jax.jit, static_argnums=(1, 2))
def uniform(key: Array, n: int, n_objectives: int) -> Float[Array, "n n_objectives"]:
    """`n` points i.i.d. from the uniform distribution on Δ^{M−1}: exponentials over their sum."""
    exponential = jax.random.exponential(key, (n, n_objectives))
    return exponential / jnp.sum(exponential, axis=-1, keepdims=True)


def from_cube(u: Float[T, "*batch dimension"]) -> Float[T, "*batch n_objectives"]:
    """The measure-preserving map from the cube [0, 1]^{M−1} onto the simplex Δ^{M−1}.

    Stick breaking: t_1 takes a Beta(1, M−1) share of the whole, t_2 a Beta(1, M−2) share of what is
    left, and so on; the share with u at hand is 1 − (1−u)^{1/(M−m)}. Smooth inside, so
    low-discrepancy points stay evenly spread. NumPy in, NumPy out.
    """
    return broken_stick((1 - u) ** (1 / np.arange(u.shape[-1], 0, -1, dtype=u.dtype)))


def broken_stick(left: Float[T, "*batch dimension"]) -> Float[T, "*batch n_objectives"]:
    """The t of which each coordinate but the last leaves these shares of what is there for it."""
    # Each operation that JAX makes outside of a program is compiled on its own.
    xp: Any = np if isinstance(left, np.ndarray) else jnp
    whole = xp.ones((*left.shape[:-1], 1), left.dtype)
    remaining = xp.concatenate([whole, xp.cumprod(left, axis=-1)], axis=-1)
    return xp.concatenate([remaining[..., :-1] * (1 - left), remaining[..., -1:]], axis=-1)


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


@partial(jax.jit, static_argnums=(1, 2))
def low_discrepancy(key: Array, n: int, n_objectives: int) -> Float[Array, "n n_objectives"]:
    """`n` evenly spread points of Δ^{M−1}: a randomly shifted Kronecker sequence, by `from_cube`.

    The shift makes every point uniformly distributed, so averages stay unbiased, with an error near
    1/n instead of 1/√n.
    """
    cube = jnp.asarray(kronecker(n, n_objectives - 1))
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


def check_on_simplex(
    t: Any, n_objectives: int | None = None, name: str = "t"
) -> Array | np.ndarray:
    """Points of the simplex as an array, or a ValueError that names the first row which is none.
    Of an array that is being traced the shape alone is known."""
    is_array = isinstance(t, jax.Array | np.ndarray)
    if not (is_array and (is_traced(t) or t.dtype.kind in "iuf")):
        t = read_doubles(t, name, "points of the simplex, coordinates last")
    if t.ndim < 1 or (n_objectives is not None and t.shape[-1] != n_objectives):
        wanted = "the coordinates" if n_objectives is None else f"{n_objectives} coordinates"
        raise ValueError(f"{name} must have {wanted} along its last axis, got shape {t.shape}")
    if is_traced(t):
        return t
    rows = np.asarray(t).reshape(-1, t.shape[-1])
    tolerance = SCHEDULE.single_tolerance if t.dtype == np.float32 else SCHEDULE.tolerance
    sums = np.ascontiguousarray(rows.T).sum(axis=0)  # several times faster than along short rows
    if not (np.abs(sums - 1).max(initial=0) <= tolerance and rows.min(initial=0) >= -tolerance):
        row = int(np.argmin((np.abs(sums - 1) <= tolerance) & (rows >= -tolerance).all(axis=1)))
        raise ValueError(
            f"{name} must hold points of the simplex (no coordinate below 0, sum 1); row {row} is"
            f" {rows[row].tolist()} with sum {rows[row].sum():.6g}. Divide each row by its sum to"
            " normalize"
        )
    return t
