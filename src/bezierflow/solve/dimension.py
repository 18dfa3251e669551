"""The dimension of a surface: objectives that agree, or follow from others, make a set thinner than
their number allows."""

import numpy as np

from ..bezier import BezierSimplex
from ..precision import double_precision
from ..simplex import from_cube, kronecker

N_LOOKED = 12
"""Points inside the simplex at which the tangents are looked at."""

MOST_VARIABLES = 1000
"""Surfaces of more variables are not looked at."""

FLAT, ROUNDING = 1e-5, 1e-9
"""Tangents shorter than the first share of the longest, or than the second of the designs, span no
dimension."""


def describe_thinness(surface: BezierSimplex) -> str | None:
    """That a flat surface has fewer dimensions than its simplex, in words; None where it has as
    many."""
    M, L = surface.n_objectives, surface.n_variables
    if M == 1 or L > MOST_VARIABLES:
        return None
    with double_precision():
        slopes = np.asarray(surface.jacobian(from_cube(kronecker(N_LOOKED, M - 1))), dtype=float)
    if not np.isfinite(slopes).all():
        return None
    lengths = np.linalg.svd(slopes, compute_uv=False)
    size = 1 + np.abs(np.asarray(surface.control_points)).max()
    dimension = int((lengths > max(FLAT * lengths.max(), ROUNDING * size)).sum(axis=1).max())
    if dimension >= M - 1:
        return None
    what = {0: "a point", 1: "a curve", 2: "a surface"}.get(dimension, f"of dimension {dimension}")
    return (
        f"the set is {what}, thinner than {M} objectives allow: some agree, or follow from others"
    )
