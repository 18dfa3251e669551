"""A net of control points as plain data: what is written to files and read from them."""

from typing import NamedTuple

from jaxtyping import PyTree


class Net(NamedTuple):
    """Control points in the canonical order, any pytree of arrays with one row each, and the N^M_D
    that they belong to."""

    control_points: PyTree
    n_objectives: int
    degree: int
