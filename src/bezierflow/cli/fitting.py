"""`fit`: a surface through points of a table."""

from itertools import chain
from typing import TYPE_CHECKING

import click

import bezierflow as bf

from .options import json_option, output_option, print_table, write_json

if TYPE_CHECKING:
    import numpy as np

HEADING = 10_000
"""So many characters of the first line are looked at to tell a heading from numbers: a line may be
a whole file by mistake."""


@click.command()
@click.argument("points", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--objectives",
    "n_objectives",
    type=click.IntRange(2),
    required=True,
    help="How many objectives made the points.",
)
@click.option(
    "--degree", type=click.IntRange(1), default=3, show_default=True, help="Degree of the surface."
)
@click.option(
    "--weights",
    type=click.Path(exists=True, dir_okay=False),
    help="CSV with the known t of each point, one row per point.",
)
@output_option(
    "Where to write the surface (.bez, .bsf, .csv, .json).",
    *(".bez", ".bsf", ".csv", ".tsv", ".json"),
    required=True,
)
@json_option
def fit(
    points: str,
    n_objectives: int,
    degree: int,
    weights: str | None,
    output: str,
    json_path: str | None,
) -> None:
    """Fit a surface to POINTS, a CSV with one Pareto point per row; a heading row is skipped.

    With --weights by least squares; without, t is unknown and the all-at-once method finds it too.
    """
    x = _read_csv(points)
    figures: dict[str, float] = {"points": len(x), "degree": degree}
    if weights:
        t = _read_csv(weights)
        bf.simplex.check_on_simplex(t, n_objectives, "--weights")
        surface, about = bf.fit(t, x, degree, diagnostics=True)
        figures |= {name: getattr(about, name) for name in ("residual_rms", "rank", "condition")}
    else:
        surface, about = bf.fit_points(x, n_objectives, degree, diagnostics=True)
        figures |= {"residual_rms": float(about.residual_rms), "converged": bool(about.converged)}
        figures["overhang"] = about.overhang
    surface.save(output)
    rows = [
        [name.replace("_", " "), f"{value:.6g}" if isinstance(value, float) else str(value)]
        for name, value in figures.items()
    ]
    print_table(["", ""], rows)
    click.echo(f"written: {output}")
    write_json(json_path, figures)


def _read_csv(path: str) -> "np.ndarray":
    """A matrix from a CSV. Lines that start with # are skipped, and so is the first row if none of
    its cells is a number."""
    import numpy as np

    try:
        # spreadsheets put a byte-order mark first, which utf-8-sig skips
        with open(path, encoding="utf-8-sig") as file:
            rows = (line for line in file if line.strip() and not line.startswith("#"))
            first = next(rows, "")
            # A heading has no cell that is a number.
            if not any(map(_is_number, first[:HEADING].split(","))):
                first = next(rows, "")
            if not first:
                raise ValueError("it has no rows of numbers")
            table = np.loadtxt(chain([first], rows), delimiter=",", ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        raise ValueError(f"{path}: row {np.argmin(finite)} holds numbers that are not finite")
    return table


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
