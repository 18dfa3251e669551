"""The evaluations that a surrogate's solution comes from."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, PyTree

from ..runs import kind


@kind("answer.evaluated/1")
class Evaluated(NamedTuple):
    """Designs that were evaluated, in the order in which their values came.

    Attributes:
        X: the designs, shaped like x0 with an axis in front.
        F: their objective values, one design a row.
        nondominated: which of them no other one dominates.
    """

    X: PyTree
    F: Float[np.ndarray, "n n_objectives"]
    nondominated: Bool[np.ndarray, " n"]
