"""Multi-indices: N^M_D = {d ∈ N^M : Σ d_m = D}, in the one canonical order of this library.

The order is lexicographically descending: (D, 0, …, 0) first, (0, …, 0, D) last. It is written down
in `multi_indices` and nowhere else; every array with one row a control point follows it.
"""

from functools import lru_cache
from itertools import permutations
from math import comb, factorial, prod

import numpy as np
from jaxtyping import Int

from ..arguments import read_count

LARGEST_NUMBER = 10**18
"""Numbers of control points are not computed beyond this: they would take hours to compute, and
nobody can store so many."""


def n_controls(n_objectives: int, degree: int) -> int:
    """|N^M_D| = C(D + M − 1, M − 1): how many control points a Bézier simplex has."""
    n_objectives, degree = read_count(n_objectives, "n_objectives", 1), read_count(degree, "degree")
    size, more, less = 1, max(degree, n_objectives - 1), min(degree, n_objectives - 1)
    # C(more + step, step): it doubles at least, so that few steps reach the limit
    for step in range(1, less + 1):
        size = size * (more + step) // step
        if size > LARGEST_NUMBER:
            raise ValueError(
                f"n_objectives={n_objectives} with degree={degree} needs more than"
                f" {LARGEST_NUMBER:.0e} control points; choose a smaller degree"
            )
    return size


def largest_degree_within(n_objectives: int, limit: int) -> int:
    """The largest D ≥ 1 with |N^M_D| ≤ limit; 1 if N^M_1 has more already, and for M = 1, where
    every D has one multi-index."""
    degree = 1
    while n_objectives > 1 and n_controls(n_objectives, degree + 1) <= limit:
        degree += 1
    return degree


LARGEST_INDEX_SET = 20_000_000
"""More control points than this are refused: their index array alone would fill a small machine's
memory."""


@lru_cache(maxsize=256)
def multi_indices(n_objectives: int, degree: int) -> Int[np.ndarray, "n_controls n_objectives"]:
    """All multi-indices of N^M_D, one a row, in the canonical order. The array is cached and
    read-only.

    Built column by column: once the first columns are chosen, the next one runs from what is left
    of D down to 0.
    """
    size = n_controls(n_objectives, degree)
    if size > LARGEST_INDEX_SET:
        raise ValueError(
            f"n_objectives={n_objectives} with degree={degree} needs {size:,} control points, more"
            f" than the {LARGEST_INDEX_SET:,} this library will lay out; choose a smaller degree"
        )
    left = np.array([degree])
    columns = np.zeros((1, 0), dtype=np.int64)
    for _ in range(n_objectives - 1):
        counts = left + 1
        row = np.repeat(np.arange(len(left)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        value = left[row] - within
        columns = np.column_stack([columns[row], value])
        left = within
    indices = np.column_stack([columns, left])
    indices.setflags(write=False)
    return indices


def index_positions(indices: Int[np.ndarray, "*batch n_objectives"]) -> Int[np.ndarray, "*batch"]:
    """The row of each multi-index in the canonical order of its own degree, without listing the
    others.

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
        rows = np.array(
            [comb(left - 1 + rest, rest) if left > 0 else 0 for left in range(largest)],
            dtype=np.int64,
        )
        positions += rows[behind[..., place + 1]]
    return positions


@lru_cache(maxsize=256)
def raised_positions(
    n_objectives: int, degree: int
) -> Int[np.ndarray, "n_controls_below n_objectives"]:
    """Where d + e_m stands in N^M_degree, for each d ∈ N^M_{degree−1} (rows) and each objective m
    (columns)."""
    below = multi_indices(n_objectives, degree - 1)
    positions = index_positions(below[:, None, :] + np.eye(n_objectives, dtype=np.int64))
    positions.setflags(write=False)
    return positions


@lru_cache(maxsize=64)
def neighbor_positions(n_objectives: int, degree: int) -> Int[np.ndarray, "n_controls n_neighbors"]:
    """Where d + e_i − e_j stands in N^M_degree, for each d (rows) and each pair i ≠ j (columns);
    where it is none, d itself."""
    indices = multi_indices(n_objectives, degree)[:, None, :]
    pairs = np.array(list(permutations(range(n_objectives), 2)), dtype=np.int64).reshape(-1, 2)
    unit = np.eye(n_objectives, dtype=np.int64)
    beside = indices + unit[pairs[:, 0]] - unit[pairs[:, 1]]
    positions = index_positions(np.where(beside.min(axis=2, keepdims=True) >= 0, beside, indices))
    positions.setflags(write=False)
    return positions


def multinomial(index: tuple[int, ...]) -> int:
    """The multinomial coefficient D! / Π d_m!, as an exact integer of any size."""
    return factorial(sum(index)) // prod(factorial(d) for d in index)


@lru_cache(maxsize=256)
def multinomials(n_objectives: int, degree: int) -> np.ndarray:
    """The multinomial coefficients of all multi-indices in the canonical order, each the float64
    nearest the exact integer.

    Every row with the same entries in another order has the same coefficient, so each is computed
    once, in integers.
    """
    sorted_rows = np.sort(multi_indices(n_objectives, degree), axis=1)
    kinds, which = np.unique(sorted_rows, axis=0, return_inverse=True)
    exact = np.array([float(multinomial(tuple(int(d) for d in row))) for row in kinds])
    coefficients = exact[which.reshape(-1)]
    coefficients.setflags(write=False)
    return coefficients
