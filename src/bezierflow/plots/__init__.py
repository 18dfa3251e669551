"""Pictures. The only room that imports a plotting library, and only when a picture is asked for."""

from .atlas import chart
from .front import front
from .history import history
from .overview import overview
from .pairs import edges, pairs
from .paths import paths
from .surface import surface
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
