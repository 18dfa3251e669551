"""Colors and grids that all pictures share."""

import numpy as np

from ..simplex import grid, index_positions, multi_indices

FLOW_COLOR, TRUTH_COLOR, NET_COLOR = "#2a78d6", "#1b1b19", "#d9603b"
"""Blue for what was computed, black for the truth, orange for control points: told apart in gray
and by most eyes."""

CHOICE_COLOR = "#0f7b54"
"""Green for a person's choices."""

SERIES = ("#2a78d6", "#d9603b", "#0f7b54", "#8a4fbf", "#b8860b", "#1b1b19", "#c2417c", "#3f8f9f")
"""Colors of lines that are told apart by a legend."""

HEAT = "viridis"
"""The color map of heat maps: even to the eye, and readable in gray."""

RESOLUTION = 40
"""Grid points along an edge of the simplex: smooth to look at, small to store."""


def grid_triangles(resolution: int) -> np.ndarray:
    """The small triangles of a regular grid, as rows of grid positions: upward ones, then downward
    ones."""
    corners = np.eye(3, dtype=int)
    upward = multi_indices(3, resolution - 1)[:, None, :] + corners
    if resolution == 1:
        return index_positions(upward)
    downward = multi_indices(3, resolution - 2)[:, None, :] + (1 - corners)
    return np.concatenate([index_positions(upward), index_positions(downward)])


def wire_frame(lines: int, resolution: int) -> list[np.ndarray]:
    """Lines t_m = const through the triangle, and its edges."""
    frame = []
    for m in range(3):
        for level in np.arange(lines) / lines:
            frame.append(np.insert((1 - level) * grid(2, resolution), m, level, axis=1))
    return frame


def net_edges(n_objectives: int, degree: int) -> np.ndarray:
    """Pairs of control points whose multi-indices differ by one step from one objective to
    another."""
    below = multi_indices(n_objectives, degree - 1)[:, None, :] + np.eye(n_objectives, dtype=int)
    positions = index_positions(below)
    pairs = [positions[:, [i, j]] for i in range(n_objectives) for j in range(i + 1, n_objectives)]
    return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)
