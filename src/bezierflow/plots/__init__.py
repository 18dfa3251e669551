"""Pictures. The only room that imports a plotting library, and only when a picture is asked for."""

from .front import edges, front, pairs
from .paths import history, paths
from .simplex import chart, error, ternary
from .surface import overview, surface

__all__ = [
    "chart",
    "edges",
    "error",
    "front",
    "history",
    "overview",
    "pairs",
    "paths",
    "surface",
    "ternary",
]
