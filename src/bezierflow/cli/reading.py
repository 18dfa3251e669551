"""What a user types made into what the library takes: problems, flows, numbers, tables."""

import importlib.util
from pathlib import Path
from typing import Any

import click

from .printing import or_fail

METHODS = ("auto", "gradient-descent", "newton", "adam")


def read_problem(name: str) -> Any:
    """A built-in problem, or a function from a file."""
    import bezierflow as bf

    path, separator, function = name.rpartition(":")
    if not separator:
        return or_fail(bf.problems.by_name, name)
    if not Path(path).is_file():
        raise click.BadParameter(f"{path} is not a file; PROBLEM is a built-in name or file.py:function")
    spec = importlib.util.spec_from_file_location("problem_file", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, function, None)):
        raise click.BadParameter(f"{path} has no function {function!r}; it has: {', '.join(_functions(module))}")
    return getattr(module, function)


def _functions(module: Any) -> list[str]:
    return [name for name, thing in vars(module).items() if callable(thing) and not name.startswith("_")]


def default_x0(objectives: Any) -> Any:
    """Zeros, for a problem that knows its number of variables."""
    import numpy as np

    n_variables = getattr(objectives, "n_variables", None)
    if n_variables is None:
        raise click.UsageError("a function of your own needs --x0, for example --x0 0,0,0, to say where to start")
    return np.zeros(n_variables)


def read_flow(method: str, degree: int | None, samples: int | None, step_size: str) -> Any:
    """The flow of --method, --degree, --samples and --step-size."""
    import bezierflow as bf

    step = (lambda k: 1 / k) if step_size.replace(" ", "") == "1/k" else float(read_numbers(step_size, "--step-size")[0])
    if method == "auto":
        if samples:
            raise click.UsageError("--samples goes with a method of your choice; add --method gradient-descent, newton or adam")
        return "auto"
    if method == "adam":
        import optax

        chosen = bf.Optax(optax.adam(step))
    else:
        chosen = bf.Newton() if method == "newton" else bf.GradientDescent(step)
    return bf.lift(chosen, degree or 3, bf.Uniform(samples) if samples else None)


def read_numbers(text: str, name: str) -> Any:
    """Numbers with commas."""
    import numpy as np

    try:
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise click.BadParameter(f"{name} must be numbers with commas such as 0.2,0.3,0.5, got {text!r}") from None


def read_csv(path: str) -> Any:
    """A matrix from a CSV; a heading row and lines that start with # are skipped."""
    import numpy as np

    rows = [line.strip() for line in Path(path).read_text().splitlines() if line.strip() and not line.startswith("#")]
    try:
        float(rows[0].split(",")[0])
    except (ValueError, IndexError):
        rows = rows[1:]
    if not rows:
        raise ValueError(f"{path} has no rows of numbers")
    return np.array([[float(cell) for cell in row.split(",")] for row in rows])
