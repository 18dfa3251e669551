"""Pictures of an atlas: its pieces in the chart, in objectives and in variables, one color for
each."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from jaxtyping import Float

from ..answer import BezierAtlas, Piece, Solution
from ..names import Names
from ..simplex import tangent_basis
from .door import of_solution
from .light import draw_triangles, face
from .palette import FLOW_COLOR
from .space import axes_or_new, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d.axes3d import Axes3D

FINE = 240
"""Steps across the chart of three objectives."""

LONGEST = 12.0
"""Triangles with a side this many times longer than usual span a gap."""

MOST_NAMED = 6
"""So many variables or constraints are named in the words for a piece."""

Image = Callable[[np.ndarray], np.ndarray]
"""From chart points to points, one a row."""


@of_solution
def chart(solution: Solution, *, title: str = "", ax: "Axes | None" = None) -> "Axes":
    """Draws the chart of an atlas with its regions, one color for each label, and returns the axes.

    For three objectives the chart is the plane Σ a_m = 0; regions with fewer active objectives,
    whose answers lie on edges of the front, are pale. For two objectives it is a line, and the
    level s of the front is drawn above it.
    """
    atlas = solution.pareto_set
    if not isinstance(atlas, BezierAtlas):
        raise TypeError(
            "chart draws an atlas, and this Pareto set is one surface; plots.surface draws it"
        )
    if atlas.n_objectives not in (2, 3):
        raise ValueError(
            f"chart draws 2 or 3 objectives, got {atlas.n_objectives}; plots.pairs draws any number"
        )
    ax = axes_or_new(ax)
    draw = _draw_levels if atlas.n_objectives == 2 else _draw_regions
    draw(ax, atlas, solution.names)
    ax.set_title(heading(title, solution))
    return ax


def draw_pieces(ax: "Axes", atlas: BezierAtlas, image: Image, variables: Sequence[str]) -> None:
    """The pieces of an atlas under a map from chart points: curves and points as such, surfaces as
    triangles.

    The legend says which of the variables, by their names, are at their bounds on each piece.
    """
    colors = piece_colors(atlas)
    if atlas.n_objectives == 3:
        _draw_surfaces(ax, atlas, image, variables)
    for number, piece in enumerate(atlas.pieces):
        if piece.dimension < atlas.n_objectives - 1 and piece.face:
            continue
        mine = np.isin(atlas.points.patch, piece.patches)
        a = atlas.points.f[mine] - atlas.points.f[mine].mean(axis=1, keepdims=True)
        if piece.dimension == 0:
            ax.scatter(*image(a[:1]).T, s=30, color=colors[number], zorder=5)
        elif piece.dimension == 1:
            order = np.argsort(atlas.points.c[mine][:, 0])
            ax.plot(
                *image(a[order]).T,
                color=colors[number],
                linewidth=2.2,
                label=describe(piece, atlas, variables),
            )


def piece_colors(atlas: BezierAtlas) -> dict[int, tuple[float, ...]]:
    """A color for each piece by its number; one where there is a single piece."""
    from matplotlib import colormaps

    own = [number for number, piece in enumerate(atlas.pieces) if not piece.face]
    table = colormaps["tab20" if len(own) > 10 else "tab10"]
    return {number: tuple(table(k % table.N)) for k, number in enumerate(own)}


def describe(piece: Piece, atlas: BezierAtlas, variables: Sequence[str]) -> str:
    """What is active on a piece, in words: "width, depth = min, load = max, constraint row 2"."""
    # those behind the variables belong to kinks, and have no names
    free, words = atlas.units.free, []
    for sign, word in ((-1, "min"), (1, "max")):
        names = [variables[int(k)] for k in free[piece.side == sign] if k < len(variables)]
        if names:
            words.append(
                f"{', '.join(names[:MOST_NAMED])}{' …' if len(names) > MOST_NAMED else ''} = {word}"
            )
    words += [f"constraint row {k + 1}" for k in np.flatnonzero(piece.constraints)[:MOST_NAMED]]
    return ", ".join(words) or "inside"


def _grid() -> tuple[Float[np.ndarray, "n 2"], np.ndarray]:
    """A fine triangulation of the chart of three objectives: points in the plane, and triangles."""
    side = np.linspace(-0.85, 0.85, FINE + 1)
    u = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    corner = (np.arange(FINE)[:, None] * (FINE + 1) + np.arange(FINE)).ravel()
    right, above = corner + 1, corner + FINE + 1
    return u, np.concatenate(
        [np.column_stack([corner, right, above]), np.column_stack([right, above + 1, above])]
    )


def owners(atlas: BezierAtlas, a: Float[np.ndarray, "n n_objectives"]) -> np.ndarray:
    """The number of the piece that answers above each chart point, −1 for one that is not part of
    the set."""
    owner = {patch: number for number, piece in enumerate(atlas.pieces) for patch in piece.patches}
    return np.array([owner.get(int(patch), -1) for patch in atlas.ask(a).number])


def _draw_surfaces(ax: "Axes", atlas: BezierAtlas, image: Image, variables: Sequence[str]) -> None:
    """Triangles of the chart, each on the piece that its middle is on; those that span a gap of the
    set are left out."""
    (u, triangles), colors = _grid(), piece_colors(atlas)
    a = u @ tangent_basis(3).T
    answered_by = owners(atlas, a[triangles].mean(axis=1))
    x = image(a)
    length = np.max(
        [np.linalg.norm(x[triangles[:, i]] - x[triangles[:, i - 1]], axis=1) for i in range(3)],
        axis=0,
    )
    on_set = np.isin(
        answered_by, [number for number, piece in enumerate(atlas.pieces) if not piece.face]
    )
    if x.shape[1] == 3 and on_set.any():
        face(cast("Axes3D", ax), x, triangles[on_set])
    for number, piece in enumerate(atlas.pieces):
        mine = answered_by == number
        if piece.dimension < 2 or piece.face or not mine.any():
            continue
        inside = triangles[mine & (length <= LONGEST * np.median(length[mine]))]
        used, local = np.unique(inside, return_inverse=True)
        local = local.reshape(inside.shape)
        if x.shape[1] == 3:
            draw_triangles(
                cast("Axes3D", ax),
                x[used],
                local,
                colors[number],
                describe(piece, atlas, variables),
            )
        else:
            flat: Any = ax
            flat.tripcolor(
                *x[used].T, local, facecolors=np.zeros(len(local)), cmap=_one_color(colors[number])
            )
            ax.plot([], [], color=colors[number], label=describe(piece, atlas, variables))


def _draw_regions(ax: "Axes", atlas: BezierAtlas, names: Names) -> None:
    """The chart as a picture with a color for each piece."""
    u, _ = _grid()
    numbers, colors = owners(atlas, u @ tangent_basis(3).T), piece_colors(atlas)
    picture = np.ones((len(u), 3))
    for number in np.unique(numbers[numbers >= 0]):
        piece, gray = atlas.pieces[number], 0.94 - 0.05 * (int(number) % 4)
        color = colors.get(int(number), (gray, gray, gray))
        picture[numbers == number] = color[:3]
        if piece.dimension == 2:
            ax.plot([], [], color=color, linewidth=6, label=describe(piece, atlas, names.variables))
    edge = float(u.max())
    ax.imshow(
        picture.reshape(FINE + 1, FINE + 1, 3),
        origin="lower",
        extent=(-edge, edge, -edge, edge),
        interpolation="nearest",
    )
    for m, direction in enumerate(tangent_basis(3)):
        text = f"{names.best_word(m, 'more', 'less')} {names.objective_labels[m]}"
        ax.annotate(
            text,
            0.75 * direction / np.linalg.norm(direction),
            ha="center",
            fontsize=8,
            color="#333333",
        )
    ax.set_axis_off()
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0.98, 1.0))


def _draw_levels(ax: "Axes", atlas: BezierAtlas, names: Names) -> None:
    colors = piece_colors(atlas)
    u = np.linspace(-1.05, 1.05, 2001)
    a = np.column_stack([u, -u]) / 2
    claims = atlas.ask(a)
    s = claims.y[:, len(atlas.units.free)]
    ax.plot(u, s, color="#bbbbbb", linewidth=1, zorder=1)
    numbers = owners(atlas, a)
    for number in np.unique(numbers[numbers >= 0]):
        if atlas.pieces[number].dimension == 1:
            ax.plot(
                u,
                np.where(numbers == number, s, np.nan),
                color=colors.get(int(number), FLOW_COLOR),
                linewidth=2.4,
            )
    ends = [
        f"{names.best_word(m, 'little', 'much')} {label}"
        for m, label in enumerate(names.objective_labels)
    ]
    ax.set_xlabel(f"a: from {ends[0]} to {ends[1]}")
    ax.set_ylabel("level s")


def _one_color(color: tuple[float, ...]) -> object:
    from matplotlib.colors import ListedColormap

    return ListedColormap([color])
