"""Objectives of the user's x, any pytree of arrays, as objectives of the flat vector of L numbers
that flows compute with."""

from ..bezier import Raveling
from ..forms import Raveled

__all__ = ["Raveled", "Raveling"]
