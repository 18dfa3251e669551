"""Which part of a Pareto set minimizers of weighted sums reach, and how far argmin Σ t_m f_m jumps
between neighboring t."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array

from bezierflow.precision import double_precision
from bezierflow.problems import AbstractSolvedProblem, by_name
from bezierflow.simplex import grid, index_positions, multi_indices, tangent_basis

from .figures import SURFACE, save_figure
from .trial_files import TrialFile

PROBLEMS = ("scaled-med", "skew-3med", "skew-3mmd")
RESOLUTION = 120
"""The set is cut into the square of this many triangles; at 60 the shares differ by less than
0.01."""

T_RESOLUTION = 40
"""t are taken on a grid of step 1/40 for the jumps."""

COLUMNS = ("reached", "largest_jump", "diameter")
MISSED, DOTS = "#d9603b", "#1b1b19"
BLOCK_ROWS = 500


class Cells(NamedTuple):
    """A Pareto set cut into small triangles."""

    corners: np.ndarray
    """Points of the set, one a row."""
    triangles: np.ndarray
    """Rows of `corners`, three a triangle."""
    centers: np.ndarray
    """A point of the set in each triangle."""
    areas: np.ndarray


def cut(problem: AbstractSolvedProblem, resolution: int = RESOLUTION) -> Cells:
    """The exact Pareto set of a problem with three objectives as triangles over a regular grid of
    its parametrization."""
    unit = np.eye(3, dtype=int)
    upward = multi_indices(3, resolution - 1)[:, None, :] + unit
    downward = multi_indices(3, resolution - 2)[:, None, :] + 1 - unit
    triangles = np.concatenate([upward, downward])
    corners = np.asarray(problem.pareto_point(grid(3, resolution)))
    rows = index_positions(triangles)
    sides = corners[rows[:, 1:]] - corners[rows[:, :1]]
    areas = np.sqrt(np.linalg.det(sides @ sides.transpose(0, 2, 1))) / 2
    return Cells(
        corners, rows, np.asarray(problem.pareto_point(triangles.mean(axis=1) / resolution)), areas
    )


def multipliers(problem: AbstractSolvedProblem, x: np.ndarray) -> np.ndarray:
    """The weights λ of Σ λ_m ∇f_m(x) = 0, Σ λ_m = 1, at points inside a Pareto set: the only ones
    for which x is stationary."""
    with double_precision():
        jacobians = np.asarray(_jacobians(problem, x))
    lengths = np.linalg.norm(jacobians, axis=2)
    null = np.linalg.svd((jacobians / lengths[:, :, None]).transpose(0, 2, 1))[2][:, -1]
    weights = null / lengths
    return weights / weights.sum(axis=1, keepdims=True)


@eqx.filter_jit
def _jacobians(problem: AbstractSolvedProblem, x: Array) -> Array:
    return jax.vmap(jax.jacobian(problem))(x)


def reached(problem: AbstractSolvedProblem, cells: Cells) -> np.ndarray:
    """Whether the center of each triangle is the minimizer of a weighted sum.

    If it is one, it is so for its own multipliers λ. Then no point of the set has a lower Σ λ_m
    f_m, which is looked up among all corners and centers; minimizers of weighted sums lie on the
    set.
    """
    weights = multipliers(problem, cells.centers)
    own = np.sum(weights * front_values(problem, cells.centers), axis=1)
    least = lowest(weights, front_values(problem, np.concatenate([cells.corners, cells.centers])))[
        1
    ]
    return own <= least + 1e-12 * np.abs(own)


def lowest(weights: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row of weights, which row of values has the least weighted sum, and that sum."""
    best = [
        np.argmin(block @ values.T, axis=1)
        for block in np.array_split(weights, max(1, len(weights) // BLOCK_ROWS))
    ]
    rows = np.concatenate(best)
    return rows, np.sum(weights * values[rows], axis=1)


def largest_jump(problem: AbstractSolvedProblem, cells: Cells) -> float:
    """The largest distance between argmin Σ t_m f_m at two t that are neighbors on a grid of step
    1/40, up to the triangles."""
    points = np.concatenate([cells.corners, cells.centers])
    indices = multi_indices(3, T_RESOLUTION)
    x = points[lowest(indices / T_RESOLUTION, front_values(problem, points))[0]]
    jumps = []
    for giver, taker in ((0, 1), (0, 2), (1, 2)):
        step = np.zeros(3, dtype=int)
        step[giver], step[taker] = -1, 1
        inside = indices[:, giver] > 0
        jumps.append(
            np.linalg.norm(x[inside] - x[index_positions(indices[inside] + step)], axis=1).max()
        )
    return float(max(jumps))


def run_reach(
    folder: Path, command: str = "", on_problem: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """The share of each set, by area, that weighted sums reach, and the largest jump of their
    minimizers; and the figure."""
    settings = {"resolution": RESOLUTION, "t_resolution": T_RESOLUTION}
    file = TrialFile(folder / "reach.csv", ["problem"], COLUMNS, settings, command)
    for name in PROBLEMS:

        def measure(name: str = name) -> list[dict[str, float]]:
            problem = by_name(name)
            cells = cut(problem)
            share = float(np.sum(cells.areas[reached(problem, cells)]) / np.sum(cells.areas))
            corners = np.asarray(problem.pareto_point(np.eye(3)))
            diameter = float(np.linalg.norm(corners[:, None] - corners[None], axis=2).max())
            return [
                {
                    "reached": share,
                    "largest_jump": largest_jump(problem, cells),
                    "diameter": diameter,
                }
            ]

        file.once(measure, problem=name)
        on_problem(name)
    save_figure(draw_reach(), folder / "figures", "reach")
    return file


def draw_reach(names: tuple[str, ...] = PROBLEMS[1:]) -> Any:
    """The sets seen along (1, 1, 1): what weighted sums reach in blue, what they miss in orange;
    dots: minimizers at random t."""
    import matplotlib.pyplot as plt  # only for pictures: tables are made without

    figure, axes = plt.subplots(
        1, len(names), figsize=(4.4 * len(names), 4.2), layout="constrained", squeeze=False
    )
    for ax, name in zip(axes[0], names, strict=True):
        problem = by_name(name)
        cells = cut(problem, 60)
        flat = cells.corners @ tangent_basis(3)
        colors = np.where(reached(problem, cells), SURFACE, MISSED)
        for color in (SURFACE, MISSED):
            ax.add_collection(_patches(flat[cells.triangles[colors == color]], color))
        t = np.random.default_rng(0).dirichlet(np.ones(3), 400)
        points = np.concatenate([cells.corners, cells.centers])
        found = points[lowest(t, front_values(problem, points))[0]] @ tangent_basis(3)
        ax.plot(*found.T, ".", color=DOTS, markersize=3)
        for corner, label in zip(
            np.asarray(problem.pareto_point(np.eye(3))) @ tangent_basis(3), "123", strict=True
        ):
            ax.annotate(f"$x^*_{label}$", corner, fontsize=11)
        ax.set(title=name, aspect="equal")
        ax.axis("off")
    return figure


def _patches(triangles: np.ndarray, color: str) -> Any:
    from matplotlib.collections import PolyCollection

    return PolyCollection(triangles, facecolor=color, edgecolor=color, linewidth=0.2, alpha=0.6)


def front_values(problem: AbstractSolvedProblem, x: np.ndarray) -> np.ndarray:
    """The objectives at each row of x."""
    with double_precision():
        return np.asarray(jax.vmap(problem)(x))
