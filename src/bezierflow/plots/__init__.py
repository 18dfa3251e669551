"""Pictures. The only room that imports a plotting library, and only when a picture is asked for."""

from .atlas import chart
from .front import edges, front, pairs
from .paths import history, paths
from .surface import overview, surface
from .ternary import error, ternary

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
