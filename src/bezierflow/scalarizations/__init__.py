"""What A minimizes at t."""

from .scalarization import (
    AbstractReferencedScalarization,
    AbstractScalarization,
    Reference,
    Scalarized,
    SmoothTchebycheff,
    WeightedPower,
    WeightedSum,
)

__all__ = [
    "AbstractReferencedScalarization",
    "AbstractScalarization",
    "Reference",
    "Scalarized",
    "SmoothTchebycheff",
    "WeightedPower",
    "WeightedSum",
]
