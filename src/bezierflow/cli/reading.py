"""What a user types made into what the library takes: problems, flows, numbers, tables."""

import runpy
from collections.abc import Callable
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

import bezierflow as bf

from .printing import Refused, or_fail

if TYPE_CHECKING:
    import numpy as np

METHODS = ("auto", "gradient-descent", "newton", "adam")

file_argument = click.argument("file", type=click.Path(exists=True))
"""A solution: its file, or the folder of a run or a study."""


class Task(NamedTuple):
    """What is to be solved, from where, and with which random numbers."""

    objectives: Callable
    x0: "np.ndarray | None"
    seed: int

    @property
    def start(self) -> "np.ndarray":
        """Where to start: x0 if it was given, else zeros."""
        return default_x0(self.objectives) if self.x0 is None else self.x0


class MethodOptions(NamedTuple):
    """What was said about the method."""

    name: str
    degree: int | None
    step_size: str

    def lifted(self, samples: int | None) -> "bf.Flow":
        """The method, lifted, with that many fresh random t an iteration, or with the default
        nodes."""
        step = (
            (lambda k: 1 / k)
            if self.step_size.replace(" ", "") == "1/k"
            else read_numbers(self.step_size, "--step-size")[0]
        )
        if self.name == "adam":
            import optax

            method = bf.Optax(optax.adam(step))
        else:
            method = bf.Newton() if self.name == "newton" else bf.GradientDescent(step)
        return bf.lift(method, self.degree or 3, bf.Uniform(samples) if samples else None)


def task_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds PROBLEM, --x0 and --seed, and hands them to the command as one `Task`."""

    @click.argument("problem")
    @click.option(
        "--seed", default=0, show_default=True, help="The same seed gives the same result."
    )
    @click.option(
        "--x0",
        help="Starting point, as numbers with commas.  [default: zeros, or the middle of --bounds]",
    )
    @wraps(command)
    def with_task(problem: str, seed: int, x0: str | None, **others: object) -> None:
        objectives = read_problem(problem)
        command(task=Task(objectives, read_numbers(x0, "--x0") if x0 else None, seed), **others)

    return with_task


def method_options(
    methods: tuple[str, ...], degree: int | None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds --method, --degree and --step-size, and hands them to the command as one
    `MethodOptions`."""
    of_method = "" if degree else "  [default: chosen by the method]"

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @click.option(
            "--method",
            type=click.Choice(methods),
            default=methods[0],
            show_default=True,
            help="What is lifted.",
        )
        @click.option(
            "--degree",
            type=click.IntRange(1),
            default=degree,
            show_default=True,
            help=f"Degree of the surface.{of_method}",
        )
        @click.option(
            "--step-size",
            default="1/k",
            show_default=True,
            help="For gradient-descent and adam: a number, or 1/k.",
        )
        @wraps(command)
        def with_method(method: str, degree: int | None, step_size: str, **others: object) -> None:
            command(method=MethodOptions(method, degree, step_size), **others)

        return with_method

    return add


def read_problem(name: str) -> Callable:
    """A built-in problem, or a function from a file."""
    path, separator, function = name.rpartition(":")
    if not separator:
        return or_fail(bf.problems.by_name, name)
    if not Path(path).is_file():
        raise click.BadParameter(
            f"{path} is not a file; PROBLEM is a built-in name or file.py:function"
        )
    try:
        content = runpy.run_path(path)
    except Exception as error:  # whatever is wrong with the user's own program
        raise Refused(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    found = {
        key: value for key, value in content.items() if callable(value) and not key.startswith("_")
    }
    if function not in found:
        raise click.BadParameter(f"{path} has no function {function!r}; it has: {', '.join(found)}")
    return found[function]


def load_solution(file: str) -> "bf.Solution":
    """The solution in a file or a folder, or a clean line that says what is there instead."""
    loaded = load_any(file)
    if not isinstance(loaded, bf.Solution):
        raise Refused(
            f"{file} holds a surface alone; solution.save and `bezierflow solve -o` write whole"
            " solutions"
        )
    return loaded


def load_any(file: str) -> "bf.Solution | bf.BezierSimplex":
    """What a file holds; of the folder of a run or a study the surface of what is known by now."""
    return or_fail(lambda: bf.Study.open(file).solution if Path(file).is_dir() else bf.load(file))


def default_x0(objectives: Callable) -> "np.ndarray":
    """Zeros, for a problem that knows its number of variables."""
    import numpy as np

    n_variables = getattr(objectives, "n_variables", None)
    if n_variables is None:
        raise click.UsageError(
            "a function of your own needs --x0, for example --x0 0,0,0, or --bounds, to say where"
            " to start"
        )
    return np.zeros(n_variables)


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


def read_rows(texts: tuple[str, ...], name: str) -> "np.ndarray":
    """Rows of numbers with commas, all of the same length."""
    import numpy as np

    rows = [read_numbers(text, name) for text in texts]
    if len({len(row) for row in rows}) > 1:
        raise Refused(
            f"{name} must all have as many numbers as there are objectives, got"
            f" {[len(row) for row in rows]}"
        )
    return np.array(rows)


def read_csv(path: str) -> "np.ndarray":
    """A matrix from a CSV. Lines that start with # are skipped, and so is the first row if none of
    its cells is a number."""
    import numpy as np

    try:
        with open(path, encoding="utf-8-sig") as file:  # spreadsheets put a byte-order mark first
            rows = (line for line in file if line.strip() and not line.startswith("#"))
            first = next(rows, "")
            if not any(map(_is_number, first[:LONGEST_CELL].split(","))):
                first = next(rows, "")
            if not first:
                raise ValueError("it has no rows of numbers")
            table = np.loadtxt(chain([first], rows), delimiter=",", ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if not np.isfinite(table).all():
        raise ValueError(
            f"{path}: row {int(np.argmin(np.isfinite(table).all(axis=1)))} holds numbers that are"
            " not finite"
        )
    return table


LONGEST_CELL = 10_000
"""A heading is told from numbers by so many characters."""


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
