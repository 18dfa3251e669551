"""What a contestant returns."""

from typing import NamedTuple

import numpy as np

import bezierflow as bf


class Found(NamedTuple):
    """A surface or a cloud of points, what it cost, and what its method said about it."""

    surface: bf.BezierSimplex | None
    points: np.ndarray | None
    gradient_equivalents: int
    """One gradient or value of one objective counts 1, a Hessian of one objective L."""
    said: str
    bound: float = float("nan")
    """The method's own bound on its largest error, over the diameter, where it gives one."""
