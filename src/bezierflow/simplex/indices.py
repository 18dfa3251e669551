"""Multi-indices N^M_D = {d ∈ N^M : Σ d_m = D} in the one canonical order, and faces of the simplex.

The order is lexicographically descending: (D, 0, …, 0) first, (0, …, 0, D) last. It is written down
in `multi_indices` and nowhere else; every array with one row per control point follows it.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from math import comb, factorial, prod
from operator import index as whole

import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..arguments import read_count, shown
from .schedule import SCHEDULE


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
    degree = 1
    while n_objectives > 1 and n_controls(n_objectives, degree + 1) <= limit:
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
