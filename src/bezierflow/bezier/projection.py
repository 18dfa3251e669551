"""Foot points: for each x the nearest point of a surface, argmin_{t ∈ Δ^{M−1}} ‖b(t) − x‖."""

import numpy as np
from jaxtyping import Float, PyTree

from ..compilation import pad_rows
from ..simplex import nearest
from .model import BezierSimplex
from .numpy_nets import design_matrix, differentiate
from .raveling import pack

__all__ = ["SurfaceMap", "pad_rows", "project"]


class SurfaceMap:
    """A surface into R^L as a `SmoothMap`: b(t) and its first two derivatives at many t, by one
    product each.

    Args:
        control_points: its net, (n_controls, L).
        n_objectives: M.
        degree: D.
    """

    def __init__(
        self, control_points: Float[np.ndarray, "n_controls width"], n_objectives: int, degree: int
    ):
        slopes = differentiate(control_points, n_objectives, degree)
        bends = differentiate(slopes, n_objectives, max(degree - 1, 0))
        self._nets, self._degree = (control_points, slopes, bends), degree

    def __call__(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n width"]:
        """b(t)."""
        return design_matrix(t, self._degree) @ self._nets[0]

    def derivatives(
        self, t: Float[np.ndarray, "n n_objectives"]
    ) -> tuple[
        Float[np.ndarray, "n width"],
        Float[np.ndarray, "n n_objectives width"],
        Float[np.ndarray, "n n_objectives n_objectives width"],
    ]:
        """b(t), ∂_m b and ∂_m ∂_k b."""
        point, slopes, bends = (
            design_matrix(t, max(self._degree - k, 0)) @ net for k, net in enumerate(self._nets)
        )
        return point, slopes.transpose(1, 0, 2), bends.transpose(2, 0, 1, 3)


def project(
    surface: BezierSimplex, x: PyTree
) -> tuple[Float[np.ndarray, "n n_objectives"], Float[np.ndarray, " n"]]:
    """The foot point of each x on the surface, and the distance to it.

    It satisfies the first-order conditions to rounding; that no other part of the surface is nearer
    is as certain as the grid of `simplex.nearest` is fine, which for surfaces without narrow folds
    is certain enough.

    Args:
        surface: The surface.
        x: One value a row: an array (N, L), or a pytree built like the surface's values with a
            leading axis N.

    Returns:
        `(t, distance)`: t of shape (N, M), and ‖b(t) − x‖ of shape (N,), the norm taken over all
        leaves.
    """
    points, raveling = pack(surface.control_points, "control_points")
    rows, found = pack(x)
    if found != raveling:
        raise ValueError(f"x must be built like the surface's values ({raveling}), got {found}")
    feet = nearest(
        SurfaceMap(points, surface.n_objectives, surface.degree), rows, surface.n_objectives
    )
    return feet.t, feet.distances
