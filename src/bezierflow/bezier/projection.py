"""Between points and surfaces: foot points on a surface, and the extreme points of a cloud."""

import numpy as np
from jaxtyping import Float, PyTree

from ..simplex import nearest
from .basis import design_matrix
from .model import BezierSimplex
from .nets import differentiate
from .raveling import pack
from .schedule import SCHEDULE


class SurfaceMap:
    """A surface into R^L as a `SmoothMap`: b(t) and its first two derivatives, by one product each.

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
    """Foot points: for each x the nearest point of the surface, argmin_t ‖b(t) − x‖, and distances.

    A foot point satisfies the first-order conditions to rounding; that no other part of the surface
    is nearer is as certain as the grid of `simplex.nearest` is fine, enough for surfaces without
    narrow folds.

    Args:
        surface: The surface.
        x: One value per row: an array (N, L), or a pytree built like the surface's values with a
            leading axis N.

    Returns:
        t of shape (N, M), and ‖b(t) − x‖ of shape (N,), the norm taken over all leaves.
    """
    points, raveling = pack(surface.control_points, "control_points")
    rows, found = pack(x)
    if found != raveling:
        raise ValueError(f"x must be built like the surface's values ({raveling}), got {found}")
    n_objectives = surface.n_objectives
    feet = nearest(SurfaceMap(points, n_objectives, surface.degree), rows, n_objectives)
    return feet.t, feet.distances


def extreme_points(x: Float[np.ndarray, "n width"], count: int) -> Float[np.ndarray, "count width"]:
    """`count` points of a cloud that span a simplex of (locally) largest volume. Deterministic.

    There the corners of a surface through the cloud must lie. Grown by the point farthest from the
    hull of those chosen; then each in turn is exchanged for the point farthest from the hull of the
    others, until none moves. Each exchange enlarges the volume, so this ends.
    """
    if count > len(x):
        raise ValueError(
            f"x must have at least {count} points to find {count} extreme ones among, got {len(x)}"
        )
    chosen = [int(np.argmax(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))]
    while len(chosen) < count:
        chosen.append(int(np.argmax(_separation(x, chosen))))
    moved = count > 1
    while moved:
        moved = False
        for place in range(count):
            separation = _separation(x, chosen[:place] + chosen[place + 1 :])
            if separation.max() > (1 + SCHEDULE.clear_gain) * separation[chosen[place]]:
                chosen[place], moved = int(np.argmax(separation)), True
    return x[chosen]


def _separation(x: np.ndarray, chosen: list[int]) -> np.ndarray:
    """How far each point is from the affine hull of the chosen ones."""
    origin, *others = chosen
    apart = x - x[origin]
    if others:
        directions = np.linalg.qr((x[others] - x[origin]).T)[0]
        apart = apart - (apart @ directions) @ directions.T
    distances = np.linalg.norm(apart, axis=1)
    span = np.linalg.norm(x - x[origin], axis=1).max()
    if distances.max() > SCHEDULE.clear_gain * span:
        return distances
    # The hull is everything: how far each point is from the nearest of the chosen ones.
    return np.min(np.linalg.norm(x[:, None] - x[chosen], axis=2), axis=1)
