"""Expensive objectives as a function of flat designs: called once for each, and never to see what they are like."""

from typing import Any

import numpy as np
from jaxtyping import Float, PyTree

from ..bezier import Raveling
from ..forms import HostFunction
from ..precision import double_precision


class Expensive:
    """Objectives of x in the user's form, in JAX, NumPy or plain Python, or a list of functions, one for each objective.

    A point where they fail by arithmetic has no numbers for values; any other error is the user's to see.
    """

    def __init__(self, objectives: Any, raveling: Raveling):
        function: Any = objectives.function if isinstance(objectives, HostFunction) else objectives
        parts = function if isinstance(function, list | tuple) else (function,)
        if not parts or not all(callable(part) for part in parts):
            raise TypeError(f"objectives must be a function, or a list of functions, got {objectives!r}")
        self.parts, self.is_list, self.raveling = parts, parts is function, raveling
        self.vectorized = isinstance(objectives, HostFunction) and objectives.vectorized
        self.count = 0

    def __call__(self, x: Float[np.ndarray, "n n_variables"]) -> list[Float[np.ndarray, " n_objectives"] | None]:
        """The values of each design; None where they failed. `count` counts designs."""
        self.count += len(x)
        with double_precision():
            if self.vectorized:
                values = self._values(self.raveling.unravel(x.copy()), axis=-1)
                return list(values.reshape(len(x), -1))
            return [self._one(self.raveling.unravel(row.copy())) for row in x]

    def _one(self, x: PyTree) -> Float[np.ndarray, " n_objectives"] | None:
        try:
            with np.errstate(all="ignore"):
                return self._values(x, axis=0).reshape(-1)
        except ArithmeticError:
            return None

    def _values(self, x: PyTree, axis: int) -> np.ndarray:
        values = [np.asarray(part(x), dtype=float) for part in self.parts]
        return np.stack(values, axis=axis) if self.is_list else values[0]
