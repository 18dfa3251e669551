"""What A minimizes at t."""

from .scalarization import AbstractScalarization, Scalarized
from .weighted_sum import WeightedSum

__all__ = ["AbstractScalarization", "Scalarized", "WeightedSum"]
