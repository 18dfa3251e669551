"""The paper's figures: a simplicial problem, one iteration in three steps, and the surfaces of both
methods beside the truth."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import bezierflow as bf
from bezierflow.precision import double_precision
from bezierflow.simplex import grid, index_positions, multi_indices

from .methods import DEGREE, METHODS, ROW_SIZES, Task
from .populations import population

SURFACE, TRUTH, POINTS = "#2a78d6", "#1b1b19", "#d9603b"
"""Blue for what was computed, black for the truth, orange for points: the colors of
`bezierflow.plots`."""

RESOLUTION = 18
"""Triangles along an edge of a drawn surface: smooth to the eye, and a file of some hundred
kilobytes."""

EDGES = ("#12806a", "#8a5cd0", "#c9780a")
"""Of the faces {1, 2}, {1, 3} and {2, 3}."""

VIEWS = {"decision": (24.0, 42.0), "objective": (22.0, 38.0), "simplex": (30.0, 45.0)}
"""Elevation and azimuth, the same in every panel of a space."""

LIMITS = {
    "decision": ((-0.15, 1.25), (-0.15, 1.25), (-1.15, 1.25)),
    "objective": ((0, 9.5), (0, 13.5), (0, 8)),
    "simplex": ((0, 1), (0, 1), (0, 1)),
}
"""Ranges of scaled-MED's axes, the same in every panel."""

LABELS = {
    "decision": ("$x_1$", "$x_2$", "$x_3$"),
    "objective": ("$f_1$", "$f_2$", "$f_3$"),
    "simplex": ("$t_1$", "$t_2$", "$t_3$"),
}

STEP_SIZE, CONCEPT_ITERATION, CONCEPT_SAMPLES = 0.1, 2, 40
"""Of the three-step figure: early enough in a run that one iteration can be seen to move the
surface."""


def draw_figures(
    folder: Path,
    seed: int,
    populations: Path,
    methods: tuple[str, ...] = ("proposed", "baseline"),
    command: str = "",
    on_figure: Callable[[str], None] = lambda label: None,
) -> list[Path]:
    """Draws every figure, each as SVG and PDF, and returns the files.

    Args:
        folder: where the figures go.
        seed: the trial to draw.
        populations: where populations of NSGA-II are kept.
        methods: names from `METHODS`; each gets a figure of its own.
        command: what to say made the populations.
        on_figure: called with a label after each figure.
    """
    files = save_figure(draw_simplicial(), folder, "simplicial")
    on_figure("simplicial problem")
    files += save_figure(draw_concept(seed), folder, "three-steps")
    on_figure("three steps")
    for name in methods:
        files += save_figure(
            draw_method(name, seed, populations, command), folder, f"surfaces-{name}"
        )
        on_figure(METHODS[name].title)
    return files


def draw_simplicial() -> Any:
    """The paper's Figure 1 on scaled-MED: Δ², X*(f) and fX*(f), each face of Δ² and what belongs to
    it in the same color.

    Φ = x* maps the face Δ_I onto the Pareto set of the objectives I, and f∘Φ maps it onto their
    front.
    """
    problem = bf.problems.ScaledMED()
    maps = {
        r"$\Delta^2$": (lambda t: t, "simplex"),
        r"$X^*(f) = \Phi(\Delta^2)$": (problem.pareto_map, "decision"),
        r"$f(X^*(f))$": (lambda t: _values(problem, problem.pareto_map(t)), "objective"),
    }
    figure, axes = _panels(1, 3)
    steps = np.linspace(0, 1, 60)[:, None]
    for ax, (title, (image, space)) in zip(axes[0], maps.items(), strict=True):
        _furnish(ax, space, title)
        _patch(ax, image, SURFACE, alpha=0.35)
        for (i, j), color in zip(((0, 1), (0, 2), (1, 2)), EDGES, strict=True):
            edge = np.asarray(image((1 - steps) * np.eye(3)[i] + steps * np.eye(3)[j]))
            ax.plot(*edge.T, color=color, linewidth=1.8, zorder=4)
            ax.text(*edge[len(edge) // 2], f"{i + 1}{j + 1}", color=color, fontsize=9, zorder=7)
        corners = np.asarray(image(np.eye(3)))
        ax.scatter(*corners.T, s=22, color=TRUTH, depthshade=False, zorder=6)
        for number, corner in enumerate(corners):
            ax.text(*corner, f" {number + 1}", fontsize=10, zorder=7)
    return figure


def draw_concept(seed: int) -> Any:
    """One iteration of M(A) with gradient descent on scaled-MED: points on the surface, points
    moved, surface refitted."""
    problem = bf.problems.ScaledMED()
    flow = bf.lift(
        bf.GradientDescent(STEP_SIZE),
        DEGREE,
        bf.Uniform(CONCEPT_SAMPLES),
        n_iterations=CONCEPT_ITERATION,
    )
    surface = bf.minimize(problem, np.zeros(3), flow, seed=seed).pareto_set
    t = np.random.default_rng(seed).dirichlet(np.ones(3), CONCEPT_SAMPLES)
    x = np.asarray(surface(t))
    with double_precision():
        slopes = np.asarray(jax.vmap(jax.jacobian(problem))(x))
    moved = x - STEP_SIZE * np.einsum("nm,nml->nl", t, slopes)
    refitted = bf.fit(t, moved, DEGREE)

    figure, axes = _panels(1, 3)
    titles = ("(a) points on the surface", "(b) each moved by $A_t$", "(c) the surface refitted")
    for ax, title in zip(axes[0], titles, strict=True):
        _furnish(ax, "decision", title)
        _truth(ax, problem.pareto_map)
    _patch(axes[0, 0], surface, SURFACE)
    _dots(axes[0, 0], x)
    _patch(axes[0, 1], surface, "#9a9a94", alpha=0.25)
    for start, end in zip(x, moved, strict=True):
        axes[0, 1].plot(*np.stack([start, end]).T, color=POINTS, linewidth=0.9, zorder=5)
    _dots(axes[0, 1], moved)
    _patch(axes[0, 2], refitted, SURFACE)
    _dots(axes[0, 2], moved)
    return figure


def draw_method(name: str, seed: int, populations: Path, command: str = "") -> Any:
    """The surfaces of one method for each size, in decision space above and in objective space
    below, with the true set."""
    problem, method = bf.problems.ScaledMED(), METHODS[name]
    figure, axes = _panels(2, len(ROW_SIZES))
    for column, size in enumerate(ROW_SIZES):
        surface = method.solve(Task("scaled-med", problem, size, seed, populations, command))
        for row, space in enumerate(("decision", "objective")):
            ax = axes[row, column]
            into = _identity if space == "decision" else _values
            _furnish(ax, space, f"${method.symbol}={size}$" if row == 0 else "")
            _truth(ax, lambda t, into=into: into(problem, problem.pareto_map(t)))
            _patch(ax, lambda t, into=into, surface=surface: into(problem, surface(t)), SURFACE)
            if name == "baseline":
                _dots(ax, into(problem, population(populations, "scaled-med", size, seed, command)))
    return figure


def _identity(problem: Any, x: Any) -> np.ndarray:
    return np.asarray(x)


def _values(problem: Any, x: Any) -> np.ndarray:
    with double_precision():
        return np.asarray(jax.vmap(problem)(np.asarray(x)))


def _panels(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt  # only for pictures: tables are made without

    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(3.3 * n_columns, 3.1 * n_rows),
        subplot_kw={"projection": "3d"},
        squeeze=False,
    )
    figure.subplots_adjust(left=0.04, right=0.98, bottom=0.05, top=0.95, wspace=0.08, hspace=0.08)
    return figure, axes


def _furnish(ax: Any, space: str, title: str) -> None:
    elevation, azimuth = VIEWS[space]
    ax.view_init(elev=elevation, azim=azimuth)
    # matplotlib sorts whole artists, not points: the order of drawing is the safer one
    ax.computed_zorder = False
    for name, limits, label in zip("xyz", LIMITS[space], LABELS[space], strict=True):
        getattr(ax, f"set_{name}lim")(*limits)
        getattr(ax, f"{name}axis").set_rotate_label(False)
        getattr(ax, f"set_{name}label")(label, labelpad=-4)
        getattr(ax, f"{name}axis").set_pane_color((1, 1, 1, 0))
        getattr(ax, f"{name}axis").line.set_color("#8a8a84")
    ax.locator_params(nbins=4)
    ax.tick_params(labelsize=7, pad=-1)
    ax.grid(color="#dddddd", linewidth=0.4)
    ax.set_title(title, fontsize=10, pad=0)


def _triangles() -> tuple[np.ndarray, np.ndarray]:
    """The simplex cut into small triangles: its grid points, and the rows of each triangle's
    corners."""
    corner = np.eye(3, dtype=int)
    upward = multi_indices(3, RESOLUTION - 1)[:, None, :] + corner
    downward = multi_indices(3, RESOLUTION - 2)[:, None, :] + 1 - corner
    return grid(3, RESOLUTION), index_positions(np.concatenate([upward, downward]))


def _patch(ax: Any, surface: Callable, color: str, alpha: float = 0.55) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    t, corners = _triangles()
    points = np.asarray(surface(t))
    # Without smoothing at their edges, neighbors meet without a seam.
    patch = Poly3DCollection(
        points[corners], facecolor=color, linewidth=0, antialiased=False, alpha=alpha, zorder=2
    )
    ax.add_collection3d(patch)


def _truth(ax: Any, pareto_map: Callable) -> None:
    """The true set as a net of thin black lines, its border thicker."""
    steps = np.linspace(0, 1, 40)
    for level in np.linspace(0, 1, 7)[:-1]:
        for place in range(3):
            others = [m for m in range(3) if m != place]
            t = np.zeros((len(steps), 3))
            t[:, place] = level
            t[:, others[0]], t[:, others[1]] = (1 - level) * steps, (1 - level) * (1 - steps)
            ax.plot(
                *np.asarray(pareto_map(t)).T,
                color=TRUTH,
                linewidth=1.1 if level == 0 else 0.35,
                zorder=4,
            )


def _dots(ax: Any, x: np.ndarray) -> None:
    ax.scatter(*x.T, s=7, color=POINTS, depthshade=False, linewidths=0, zorder=6)


def save_figure(figure: Any, folder: Path, name: str) -> list[Path]:
    """Writes a figure as SVG and PDF, without dates and random names inside: the same run gives the
    same file."""
    import matplotlib.pyplot as plt  # only for pictures: tables are made without

    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.{ending}" for ending in ("svg", "pdf")]
    for file in files:
        with plt.rc_context({"svg.hashsalt": name}):
            figure.savefig(
                file, metadata={"Date": None} if file.suffix == ".svg" else {"CreationDate": None}
            )
    plt.close(figure)
    return files
