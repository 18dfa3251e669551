"""Pictures. The only room that imports a plotting library, and only when a picture is asked for."""

from .surface import surface

__all__ = ["surface"]
