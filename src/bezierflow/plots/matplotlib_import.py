"""Matplotlib, when a picture is asked for."""

from types import ModuleType


def pyplot() -> ModuleType:
    """`matplotlib.pyplot`, or an ImportError that names the line to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'bezierflow[plots]'") from error
    return plt
