"""What A minimizes at t."""

from .scalarization import (
    AbstractReferencedScalarization,
    AbstractScalarization,
    Reference,
    Scalarized,
)
from .smooth_tchebycheff import SmoothTchebycheff
from .weighted_power import WeightedPower
from .weighted_sum import WeightedSum

__all__ = [
    "AbstractReferencedScalarization",
    "AbstractScalarization",
    "Reference",
    "Scalarized",
    "SmoothTchebycheff",
    "WeightedPower",
    "WeightedSum",
]
