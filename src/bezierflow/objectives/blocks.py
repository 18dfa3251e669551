"""Batches of any size through programs that are compiled for one size."""

from collections.abc import Callable, Sequence

import numpy as np

from ..precision import double_precision

BLOCK = 16
"""Points a compiled call takes. A second size would have to be compiled, which costs more than a
thousand cheap evaluations."""

BLOCK_NUMBERS = 20_000_000
"""The Hessians of a block hold at most this many numbers; blocks shrink where there are many
variables."""


def block_size(n_objectives: int, n_variables: int) -> int:
    """How many points one compiled call takes."""
    return int(np.clip(BLOCK_NUMBERS // (n_objectives * n_variables**2), 1, BLOCK))


def in_blocks(
    function: Callable[..., Sequence], size: int, *arrays: np.ndarray
) -> list[np.ndarray]:
    """The parts that `function` returns for the rows of all arrays, computed in blocks of `size`
    rows, in double precision.

    The last block is filled up with copies of its last row (with zeros if there are no rows at
    all), whose results are dropped.
    """
    n, parts = len(arrays[0]), []
    arrays = (
        arrays if n else tuple(np.zeros((1, *array.shape[1:]), array.dtype) for array in arrays)
    )
    with double_precision():
        for start in range(0, max(n, 1), size):
            rows = np.minimum(np.arange(start, start + size), max(n, 1) - 1)
            parts.append(function(*[array[rows] for array in arrays]))
    return [
        np.concatenate([np.asarray(part[i]) for part in parts])[:n] for i in range(len(parts[0]))
    ]
