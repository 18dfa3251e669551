"""Surfaces: in space lit, opaque, and seen from a side that shows them; in the plane one color."""

from typing import TYPE_CHECKING, cast

import numpy as np
from jaxtyping import Float, Int

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType
    from mpl_toolkits.mplot3d.axes3d import Axes3D

LEAST_LIGHT = 0.45
"""The share of its color that a face has whose normal is at right angles to the light."""

MOST_WHITE = 0.7
"""The share of white that is mixed into a face that looks into the light."""

LIGHT = np.array([0.35, 0.2, 0.92]) / np.linalg.norm([0.35, 0.2, 0.92])
"""Where the light comes from, in units of the coordinates' ranges: from above, as on the page of
`explore`."""

ELEVATIONS = (22.0, 34.0)
"""Degrees above the floor from which one looks: all three axes can be read."""

AZIMUTHS = tuple(range(15, 360, 15))
"""Degrees around the third axis; from a multiple of 90 one axis could not be seen."""


def draw_triangles(
    ax: "Axes3D",
    x: Float[np.ndarray, "n 3"],
    triangles: Int[np.ndarray, "m 3"],
    color: str | tuple[float, ...],
    label: str | None = None,
) -> None:
    """Triangles in one color, brighter where they face the light. Lines and points of the same axes
    are drawn over them. A label stands in the legend."""
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    normals, dark = _normals(x, triangles), np.array(to_rgb(cast("ColorType", color)))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
    # Both sides of a face are lit: which one is seen depends on the view.
    light = np.abs(normals @ LIGHT)[:, None]
    dimmed, whitened = LEAST_LIGHT + (1 - LEAST_LIGHT) * 2 * light, MOST_WHITE * (2 * light - 1)
    shades = np.where(light < 0.5, dark * dimmed, dark + (1 - dark) * whitened)
    # Matplotlib would sort whole collections by their middles and hide lines on the surface.
    ax.computed_zorder = False
    had_data = bool(ax.collections or ax.lines)
    ax.add_collection3d(
        Poly3DCollection(
            x[triangles], facecolors=shades, edgecolors=shades, linewidths=0.3, zorder=1
        )
    )
    ax.auto_scale_xyz(*x.T, had_data=had_data)
    if label is not None:
        ax.plot([], [], [], color=color, linewidth=6, label=label)


def fill_triangles(
    ax: "Axes",
    x: Float[np.ndarray, "n 2"],
    triangles: Int[np.ndarray, "m 3"],
    color: str | tuple[float, ...],
    white: float = 0.0,
) -> None:
    """Triangles of the plane in one color, with a share of white mixed into it."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgb

    shade = white + (1 - white) * np.array(to_rgb(cast("ColorType", color)))
    # Edges in the same color close the hairlines between neighbors.
    look = {"facecolors": [shade], "edgecolors": [shade], "linewidths": 0.3, "zorder": 0.5}
    ax.add_collection(PolyCollection(list(x[triangles]), **look))
    ax.autoscale_view()


def face(ax: "Axes3D", x: Float[np.ndarray, "n 3"], triangles: Int[np.ndarray, "m 3"]) -> None:
    """Turns the view to where the triangles have the largest shadows: the side on which a surface
    is seen widest."""
    normals = _normals(x, triangles)
    sides = [
        (elevation, azimuth) for elevation in ELEVATIONS for azimuth in AZIMUTHS if azimuth % 90
    ]
    up, around = np.radians(np.array(sides)).T
    towards = np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    elevation, azimuth = sides[int(np.argmax(np.abs(normals @ towards).sum(axis=0)))]
    ax.view_init(elev=elevation, azim=azimuth)


def _normals(
    x: Float[np.ndarray, "n 3"], triangles: Int[np.ndarray, "m 3"]
) -> Float[np.ndarray, "m 3"]:
    """Normals as long as twice their triangles' areas, in units of the coordinates' ranges."""
    span = np.ptp(x, axis=0)
    corners = (x / np.where(span > 0, span, 1.0))[triangles]
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
