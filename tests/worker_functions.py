"""Functions for workers, in a file that they can import."""

import os
import time
from pathlib import Path

import numpy as np


def values(x):
    return [x[0], 1 - x[0]]


def troubled(x):
    """Raises at 3, is not finite at 4, hangs at 5."""
    if x[0] == 3:
        raise ZeroDivisionError("at 3")
    if x[0] == 5:
        time.sleep(60)
    return [np.nan if x[0] == 4 else x[0], 1.0]


def deadly(x):
    """Kills its worker at 3."""
    if x[0] == 3:
        os._exit(1)
    return [x[0], 1.0]


def counted(folder: str, x):
    """Leaves a mark for each time that it was called with x."""
    with open(Path(folder) / f"{x[0]:g}", "a") as file:
        file.write("x")
    time.sleep(0.01)
    return values(x)
