"""Options that several commands share, what a user types made into what the library takes, and how
results are printed and written."""

import json
import os
import re
import runpy
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import bezierflow as bf
from bezierflow.arguments import printable


def check_writable(path: str | None, *endings: str) -> str | None:
    """The path of a file to be written, or an error: a wrong ending, no folder, no right to write
    there."""
    if path is None:
        return None
    target = Path(path).absolute()
    if endings and target.suffix.lower() not in endings:
        raise ValueError(f"{path} must end in {' or '.join(endings)}")
    if not target.parent.is_dir():
        raise ValueError(
            f"{path} cannot be written: there is no folder {target.parent}; create it first"
        )
    if target.is_dir() or not os.access(target if target.exists() else target.parent, os.W_OK):
        raise ValueError(
            f"{path} cannot be written: it is a folder, or you have no right to write there"
        )
    return path


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table without lines; texts of the user's are text, never markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=any(headings), pad_edge=False)
    for number, heading in enumerate(headings):
        left = number == 0 or not any(headings)
        table.add_column(Text(heading), justify="left" if left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # Output that is not a terminal is a file or another program's input: lines are not folded to a
    # guessed width.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def write_json(path: str | None, figures: Mapping[str, object]) -> None:
    """The figures of a report, where --json asks for them."""
    if path:
        # errors that are not known are NaN, which Python reads back
        text = json.dumps(figures, indent=2, allow_nan=True)
        Path(path).write_text(text + "\n", encoding="utf-8")


if TYPE_CHECKING:
    import numpy as np

Command = TypeVar("Command", bound=Callable[..., None])

METHODS = ("auto", "gradient-descent", "newton", "adam")

file_argument = click.argument("file", type=click.Path(exists=True))
"""A solution: its file, or the folder of a run or a study."""

json_option = click.option(
    "--json",
    "json_path",
    type=click.Path(dir_okay=False),
    # while options are read: a path that cannot be written is refused before anything is computed
    callback=lambda ctx, option, path: check_writable(path),
    help="Also write the figures to this file.",
)


def output_option(text: str, *endings: str, required: bool = False) -> Callable[[Command], Command]:
    """--output, the file that a command writes, with one of these endings."""
    return click.option(
        "--output",
        "-o",
        type=click.Path(dir_okay=False),
        callback=lambda ctx, option, path: check_writable(path, *endings),
        required=required,
        help=text,
    )


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator; --help lists them in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


problem_options = together(
    click.argument("problem"),
    click.option(
        "--seed", default=0, show_default=True, help="The same seed gives the same result."
    ),
    click.option(
        "--x0",
        help="Starting point, as numbers with commas.  [default: zeros, or the middle of --bounds]",
    ),
)
"""What is solved: `read_problem` and `read_start` take it."""

statement_options = together(
    click.option(
        "--names",
        help='Names of the objectives with commas, with units if you like: "cost [EUR],mass [kg]".',
    ),
    click.option("--variables", help='Names of the variables, likewise: "rate,width [mm]".'),
    click.option(
        "--maximize",
        help="Names of objectives to be maximized, with commas; f1, f2, … if they have no names.",
    ),
    click.option(
        "--transform",
        help="Variables to be solved for by logarithms, with commas, such as rate=log10.",
    ),
    click.option(
        "--bounds",
        help="Lower and upper bounds of x: 0:1, or with a number per variable 0,0:1,5.",
    ),
    click.option(
        "--tol", type=click.FloatRange(0), help="The largest error allowed, relative to the set."
    ),
    click.option(
        "--budget", type=click.IntRange(0), help="The most points that --method auto may evaluate."
    ),
)
"""What is said about the problem: `read_statement` takes it."""


def method_options(methods: tuple[str, ...], degree: int | None) -> Callable[[Command], Command]:
    """--method, --degree and --step-size, which `read_flow` takes."""
    by_method = "" if degree else "  [default: chosen by the method]"
    return together(
        click.option(
            "--method",
            type=click.Choice(methods),
            default=methods[0],
            show_default=True,
            help="The single-objective method that is lifted.",
        ),
        click.option(
            "--degree",
            type=click.IntRange(1),
            default=degree,
            show_default=True,
            help=f"Degree of the surface.{by_method}",
        ),
        click.option(
            "--step-size",
            default="1/k",
            show_default=True,
            help="For gradient-descent and adam: a number, or 1/k.",
        ),
    )


def read_problem(name: str, names: str | None = None, variables: str | None = None) -> Callable:
    """A built-in problem, or a function from a file; with names and units such as "cost [EUR]" if
    given."""
    path, separator, function = name.rpartition(":")
    if not separator:
        objectives = bf.problems.by_name(name)
    elif not Path(path).is_file():
        raise click.BadParameter(
            f"{path} is not a file; PROBLEM is a built-in name or file.py:function"
        )
    else:
        try:
            content = runpy.run_path(path)
        except Exception as error:  # whatever is wrong with the user's own program
            raise ValueError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
        found = {k: v for k, v in content.items() if callable(v) and not k.startswith("_")}
        if function not in found:
            raise click.BadParameter(
                f"{path} has no function {function!r}; it has: {', '.join(found)}"
            )
        objectives = found[function]
    return _with_names(objectives, names, variables) if names or variables else objectives


def _with_names(objectives: Callable, names: str | None, variables: str | None) -> Callable:
    labels: dict[str, tuple[str, ...]] = {}
    for kind, text in (("objective", names), ("variable", variables)):
        # "cost [EUR]": a name, and a unit in brackets if there is one
        parts = [re.fullmatch(r"(.*?)\s*(?:\[(.*)\])?", label) for label in read_texts(text)]
        if parts:
            labels[f"{kind}s"] = tuple(part[1] for part in parts if part)
            labels[f"{kind}_units"] = tuple(part[2] or "" for part in parts if part)
    if not isinstance(objectives, bf.problems.AbstractProblem):
        objectives = bf.problems.Problem(objectives)
    return objectives.with_names(**labels)


def read_start(x0: str | None, objectives: Callable) -> "np.ndarray":
    """The starting point: x0 if given, else zeros for a problem that knows its variables."""
    import numpy as np

    if x0:
        return read_numbers(x0, "--x0")
    n_variables = getattr(objectives, "n_variables", None)
    if n_variables is None:
        raise click.UsageError(
            "a function of your own needs --x0, for example --x0 0,0,0, or --bounds, to say where"
            " to start"
        )
    return np.zeros(n_variables)


def read_statement(
    problem: str, x0: str | None, options: Mapping[str, Any]
) -> "tuple[Callable, np.ndarray | None, dict[str, Any]]":
    """The problem, where to start, and what was said of them by `statement_options`, as `minimize`
    takes it."""
    objectives = read_problem(problem, options["names"], options["variables"])
    settings = {
        "maximize": read_texts(options["maximize"]) or None,
        "transforms": read_pairs(read_texts(options["transform"]), "--transform") or None,
        "bounds": read_bounds(options["bounds"]) if options["bounds"] else None,
        "tol": options["tol"],
        "budget": options["budget"],
    }
    # without --x0 bounds say where to start
    start = None if settings["bounds"] and not x0 else read_start(x0, objectives)
    return objectives, start, settings


def read_flow(method: str, degree: int | None, step_size: str, samples: int | None) -> "bf.Flow":
    """The method, lifted, with that many fresh random t per iteration, or with fixed nodes."""
    harmonic = step_size.replace(" ", "") == "1/k"
    step = (lambda k: 1 / k) if harmonic else read_numbers(step_size, "--step-size")[0]
    if method == "adam":
        import optax  # a second of its own, for this method alone

        lifted = bf.Optax(optax.adam(step))
    else:
        lifted = bf.Newton() if method == "newton" else bf.GradientDescent(step)
    return bf.lift(lifted, degree or 3, bf.Uniform(samples) if samples else None)


def read_bounds(text: str) -> "tuple[np.ndarray | float | None, ...]":
    """Lower and upper bounds: a number for all variables or one for each, nothing for no bound."""
    sides = text.split(":")
    if len(sides) != 2:
        raise click.BadParameter(
            f"--bounds must be lower:upper such as 0:1 or 0,0:1,5, got {text!r}"
        )
    read = [read_numbers(side, "--bounds") if side else None for side in sides]
    # one number bounds all variables, however many there are
    return tuple(side if side is None or len(side) > 1 else float(side[0]) for side in read)


def read_pairs(texts: Iterable[str], name: str) -> dict[str, str]:
    """name=value pairs."""
    pairs: dict[str, str] = {}
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        if not (key and value):
            raise click.BadParameter(f"{name} must be pairs such as cost=1, got {text!r}")
        if key in pairs:
            raise click.BadParameter(f"{name} must name each only once, got {key} twice")
        pairs[key] = value
    return pairs


def read_texts(text: str | None) -> tuple[str, ...]:
    """Texts with commas; none for no text."""
    return tuple(part.strip() for part in text.split(",")) if text else ()


def read_number(text: str, name: str) -> float:
    """One number."""
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{name} must be a number such as 0.5, got {text!r}") from None


def read_numbers(text: str, name: str) -> "np.ndarray":
    """Numbers with commas."""
    import numpy as np

    try:
        return np.array(text.split(","), dtype=float)
    except ValueError:
        raise click.BadParameter(
            f"{name} must be numbers with commas such as 0.2,0.3,0.5, got {text!r}"
        ) from None


def load_any(file: str) -> "bf.Solution | bf.BezierSimplex":
    """What a file holds; of the folder of a run or a study, the solution so far."""
    return bf.Study.open(file).solution if Path(file).is_dir() else bf.load(file)


def load_solution(file: str) -> "bf.Solution":
    """The solution in a file or a folder."""
    loaded = load_any(file)
    if not isinstance(loaded, bf.Solution):
        raise ValueError(
            f"{file} holds a surface alone; solution.save and `bezierflow solve -o` write whole"
            " solutions"
        )
    return loaded
