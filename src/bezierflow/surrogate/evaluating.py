"""Expensive objectives as a function of flat designs: called once for each, and never to see what
they are like."""

from jaxtyping import PyTree

from ..bezier import Raveling
from ..objectives import Objectives
from ..runs import FlatFunction


def as_flat(objectives: object, raveling: Raveling) -> FlatFunction:
    """Objectives of x in the user's form, in JAX, NumPy or plain Python, or a list of functions,
    one for each objective."""
    own = getattr(objectives, "function", None)
    objectives = own if isinstance(own, Objectives) else objectives
    function: PyTree = objectives.function if isinstance(objectives, Objectives) else objectives
    parts = tuple(function) if isinstance(function, list | tuple) else (function,)
    if not parts or not all(callable(part) for part in parts):
        raise TypeError(
            f"objectives must be a function, or a list of functions, got {objectives!r}"
        )
    vectorized = isinstance(objectives, Objectives) and objectives.vectorized
    return FlatFunction(
        parts,
        isinstance(function, list | tuple),
        vectorized,
        None if raveling.is_vector else raveling.unravel,
    )
