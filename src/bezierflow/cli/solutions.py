"""Solutions on file: `fit` makes a surface through points of a table; `evaluate`, `choose`,
`sample`, `plot` and `explore` ask a solution."""

import re
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

import bezierflow as bf

from .options import (
    check_writable,
    file_argument,
    json_option,
    load_any,
    load_solution,
    output_option,
    print_table,
    read_number,
    read_numbers,
    read_pairs,
    write_json,
)

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


QUESTIONS = ("best", "nearest", "knee", "compromise", "robust", "ranges")


@click.command()
@file_argument
@click.argument("t", nargs=-1, required=True)
@json_option
def evaluate(file: str, t: tuple[str, ...], json_path: str | None) -> None:
    """Evaluate the set in FILE at each T, numbers with commas such as 0.2,0.3,0.5 that sum to 1."""
    import numpy as np

    loaded, rows = load_any(file), [read_numbers(text, "T") for text in t]
    lengths = [len(row) for row in rows]
    if len(set(lengths)) > 1:
        raise ValueError(f"T must all have as many numbers as there are objectives, got {lengths}")
    points = bf.simplex.check_on_simplex(np.array(rows), loaded.n_objectives, "T")
    if isinstance(loaded, bf.Solution):
        names, x = loaded.names, loaded.flat_designs(points)
        columns = {"t": points, "x": x, "f": np.asarray(loaded.front(points))}
    else:
        x = np.asarray(loaded(points))
        names, columns = bf.Names.default(loaded.n_objectives, x.shape[-1]), {"t": points, "x": x}
    labels = {
        "t": [f"t{m + 1}" for m in range(loaded.n_objectives)],
        "x": names.variable_labels,
        "f": names.objective_labels,
    }
    print_table(
        [label for key in columns for label in labels[key]],
        [[f"{value:.8g}" for value in row] for row in np.hstack(list(columns.values()))],
    )
    figures = {key: values.tolist() for key, values in columns.items()}
    write_json(json_path, figures | {"names": names.to_dict()})


@click.command()
@file_argument
@click.argument("question", type=click.Choice(QUESTIONS))
@click.argument("values", nargs=-1)
@click.option(
    "--subject-to",
    "-s",
    "wishes",
    multiple=True,
    help='A bound on an objective such as "mass<=2"; repeat for more.',
)
@json_option
def choose(
    file: str,
    question: str,
    values: tuple[str, ...],
    wishes: tuple[str, ...],
    json_path: str | None,
) -> None:
    """Ask the solution in FILE a QUESTION.

    \b
      best cost                        the best value of an objective
      nearest cost=1 mass=2            as near as possible to what you hope for
      knee                             where more of anything begins to cost a lot
      compromise cost=1 mass=3         least in total at these prices
      robust cost=1:1 mass=2:5         least regret while prices vary
      ranges                           how far each objective ranges

    Objectives that are maximized are as large as possible, and their prices count with a minus
    sign.
    """  # noqa: D301
    solution = load_solution(file)
    bounds: dict[str | int, tuple[float | None, float | None]] = {}
    for wish in wishes:
        parts = re.fullmatch(r"(.+?)\s*(<=|>=)\s*(.+)", wish.strip())
        if parts is None:
            raise click.BadParameter(
                f'--subject-to must be such as "mass<=2" or "noise>=1", got {wish!r}'
            )
        name, limit = parts[1], read_number(parts[3], f"--subject-to {parts[1]}")
        # Two bounds of one objective are its lowest and its highest value.
        low, high = bounds.get(name, (None, None))
        bounds[name] = (low, limit) if parts[2] == "<=" else (limit, high)
    if question == "ranges":
        answer = bf.decisions.ranges(solution, bounds)
        figures = {"ideal": answer.ideal.tolist(), "nadir": answer.nadir.tolist()}
    else:
        ask = getattr(bf.decisions, question)
        answer = ask(solution, subject_to=bounds, **_wanted(solution, question, values))
        figures = {
            "question": answer.question,
            "t": answer.t.tolist(),
            "x": solution.flat_designs(answer.t).tolist(),
            "f": answer.f.tolist(),
            "value": answer.value,
            "relaxed": [str(relaxation) for relaxation in answer.relaxed],
        }
    click.echo(str(answer))
    write_json(json_path, figures | {"names": solution.names.to_dict()})


def _wanted(solution: "bf.Solution", question: str, values: tuple[str, ...]) -> dict[str, object]:
    """What a question asks for beside bounds, by the name of its argument."""
    if question == "knee":
        return {}
    if question == "best":
        if len(values) != 1:
            raise click.UsageError("best takes one objective, such as: choose FILE best cost")
        signs = dict(zip(solution.names.objectives, solution.names.signs, strict=True))
        # a name that is none is refused by `best`, which lists those there are
        return {"maximize" if signs.get(values[0], 1) < 0 else "minimize": values[0]}
    if not values:
        raise click.UsageError(
            f"{question} takes values by name, such as: choose FILE {question} cost=1 mass=2"
        )
    pairs = read_pairs(values, question)
    if question == "robust":
        sides = {name: text.split(":", 1) for name, text in pairs.items()}
        # one price without a colon is both ends of its interval
        return {
            "weights": {
                name: (read_number(ends[0], name), read_number(ends[-1], name))
                for name, ends in sides.items()
            }
        }
    numbers = {name: read_number(text, name) for name, text in pairs.items()}
    return {"aspiration" if question == "nearest" else "weights": numbers}


@click.command()
@file_argument
@click.option(
    "-n", "n", type=click.IntRange(1), default=100, show_default=True, help="How many points."
)
@output_option("Where to write (.csv or .json).  [default: print CSV]", ".csv", ".json")
def sample(file: str, n: int, output: str | None) -> None:
    """Points spread evenly over the front of the solution in FILE, as a table: variables,
    objectives, t."""
    solution = load_solution(file)
    as_json = output is not None and output.lower().endswith(".json")
    text = (solution.to_json if as_json else solution.to_csv)(output, n)
    if output:
        click.echo(f"written: {output} ({n} points)")
    else:
        click.echo(text, nl=False)


@click.command()
@click.argument("file", type=click.Path(exists=True), required=False)
@click.option(
    "--kind",
    default="auto",
    show_default=True,
    help="Which picture: overview, or one of those --list shows.",
)
@output_option("The picture (.png, .pdf, .svg).  [default: FILE with .png]")
@click.option(
    "--dpi",
    type=click.IntRange(30, 1200),
    default=160,
    show_default=True,
    help="Dots per inch of a .png.",
)
@click.option("--list", "list_kinds", is_flag=True, help="List the kinds of pictures and exit.")
def plot(file: str | None, kind: str, output: str | None, dpi: int, list_kinds: bool) -> None:
    """Draw the solution in FILE, or in the folder of a study: its set and its front, or any other
    kind of picture."""
    kinds = {name: getattr(bf.plots, name) for name in bf.plots.__all__}
    if list_kinds:
        for name, function in kinds.items():
            click.echo(f"{name:<14} {(function.__doc__ or '').splitlines()[0]}")
        return
    if file is None:
        raise click.UsageError("plot needs the FILE of a solution, or --list")
    chosen = "overview" if kind == "auto" else kind
    if chosen not in kinds:
        raise click.BadParameter(f"--kind must be one of {', '.join(kinds)}, got {kind!r}")
    target = Path(output) if output else Path(file).with_suffix(".png")
    check_writable(str(target))
    drawn = kinds[chosen](load_solution(file))
    # some kinds return a figure of several panels, others the axes of their only one
    figure = drawn if hasattr(drawn, "savefig") else drawn.figure
    figure.savefig(target, dpi=dpi)
    click.echo(f"written: {target}")


@click.command()
@file_argument
@output_option("The page (.html).  [default: FILE with .html]", ".html", ".htm")
@click.option("--title", default="", help="The page's heading.  [default: the name of FILE]")
def explore(file: str, output: str | None, title: str) -> None:
    """Write an interactive page of the solution in FILE: one HTML file that opens anywhere and
    needs no network.

    FILE may be the folder of a study or of a run; the page then shows its solution so far.
    """
    target = Path(output) if output else Path(file).with_suffix(".html")
    check_writable(str(target))
    page = bf.explore(load_solution(file), target, title=title or Path(file).stem)
    click.echo(f"written: {page} ({page.stat().st_size / 1000:.0f} kB); open it in a browser")
