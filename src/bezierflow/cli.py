"""The command line: parsing and printing only. JAX is loaded inside the commands, so that --help is instant."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from .cli_pictures import explore, plot
from .cli_reproduce import reproduce

METHODS = ("auto", "gradient-descent", "newton", "adam")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bezierflow")
def main() -> None:
    """Multi-objective optimization whose answer is a surface on the Pareto set.

    \b
    Try:
      bezierflow solve scaled-med --output pareto.bez
      bezierflow evaluate pareto.bez 0.2,0.3,0.5
      bezierflow fit points.csv --objectives 3 --output surface.bez
      bezierflow plot pareto.bez
      bezierflow explore pareto.bez
    """  # noqa: D301
    _use_compilation_cache()


main.add_command(reproduce)
main.add_command(plot)
main.add_command(explore)

json_option = click.option("--json", "json_path", type=click.Path(dir_okay=False), help="Also write the figures to this file.")


@main.command()
@click.argument("problem")
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", show_default=True, help="The single-objective method that is lifted."
)
@click.option("--degree", type=click.IntRange(1), help="Degree of the surface.  [default: chosen by the method]")
@click.option("--samples", type=click.IntRange(1), help="Fresh random t an iteration.  [default: fixed near-optimal nodes]")
@click.option("--iterations", type=click.IntRange(1), help="Iterations to make.  [default: until converged, at most 1000]")
@click.option("--step-size", default="1/k", show_default=True, help="For gradient-descent and adam: a number, or 1/k.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same result.")
@click.option("--x0", help="Starting point, as numbers with commas.  [default: zeros]")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write the solution to this file (.bez).")
@json_option
def solve(
    problem: str,
    method: str,
    degree: int | None,
    samples: int | None,
    iterations: int | None,
    step_size: str,
    seed: int,
    x0: str | None,
    output: str | None,
    json_path: str | None,
) -> None:
    """Find the Pareto set of PROBLEM: a built-in name such as scaled-med, or file.py:function.

    A function takes x and returns a vector of objective values, written with jax.numpy. Give --x0 with it to say how many
    variables there are.
    """
    import bezierflow as bf

    objectives = _problem(problem)
    start = _numbers(x0, "--x0") if x0 else _default_x0(objectives)
    flow = _flow(method, degree, samples, step_size)
    solution = _or_fail(
        bf.minimize, objectives, start, flow, degree=degree or "auto", n_iterations=iterations, seed=seed, progress=True
    )
    _print_solution(solution)
    if output:
        solution.save(output)
        click.echo(f"written: {output}")
    _write_json(json_path, _solution_figures(solution))
    if solution.result.reason in (bf.Reason.DIVERGED, bf.Reason.NON_FINITE, bf.Reason.SUSPECT):
        raise SystemExit(1)


@main.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.argument("t", nargs=-1, required=True)
@json_option
def evaluate(file: str, t: tuple[str, ...], json_path: str | None) -> None:
    """Evaluate the surface in FILE at each T, numbers with commas such as 0.2,0.3,0.5."""
    import numpy as np

    import bezierflow as bf

    loaded = _or_fail(bf.load, file)
    weights = np.array([_numbers(one, "T") for one in t])
    _or_fail(bf.simplex.check_on_simplex, weights, loaded.n_objectives, "T")
    is_solution = isinstance(loaded, bf.Solution)
    x = np.asarray((loaded.flat_surface if is_solution else loaded)(weights))
    names = loaded.names if is_solution else bf.problems.Names.default(loaded.n_objectives, x.shape[-1])
    columns = {"t": weights, "x": x} | ({"f": np.asarray(loaded.front(weights))} if is_solution else {})
    headings = {"t": [f"t{m + 1}" for m in range(loaded.n_objectives)], "x": names.variable_labels, "f": names.objective_labels}
    _print_table(
        [heading for key in columns for heading in headings[key]],
        [[f"{value:.8g}" for key in columns for value in columns[key][row]] for row in range(len(weights))],
    )
    _write_json(json_path, {key: values.tolist() for key, values in columns.items()} | {"names": names.to_dict()})


@main.command()
@click.argument("points", type=click.Path(exists=True, dir_okay=False))
@click.option("--objectives", "n_objectives", type=click.IntRange(2), required=True, help="How many objectives made the points.")
@click.option("--degree", type=click.IntRange(1), default=3, show_default=True, help="Degree of the surface.")
@click.option(
    "--weights", type=click.Path(exists=True, dir_okay=False), help="CSV with the known t of each point, one row a point."
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), required=True, help="Where to write the surface (.bez, .bsf, .csv, .json)."
)
@json_option
def fit(points: str, n_objectives: int, degree: int, weights: str | None, output: str, json_path: str | None) -> None:
    """Fit a surface to POINTS, a CSV with one Pareto point a row; a heading row is skipped.

    With --weights by least squares; without, t is unknown and the all-at-once method finds it too.
    """
    import numpy as np

    import bezierflow as bf

    x = _or_fail(_read_csv, points)
    if weights:
        t = _or_fail(_read_csv, weights)
        _or_fail(bf.simplex.check_on_simplex, t, n_objectives, "--weights")
        surface, about = _or_fail(bf.fit, t, x, degree, diagnostics=True)
        figures = {"residual_rms": about.residual_rms, "rank": about.rank, "condition": about.condition}
    else:
        surface, about = _or_fail(bf.fit_points, x, n_objectives, degree, diagnostics=True)
        figures = {"residual_rms": float(about.residual_rms), "converged": bool(about.converged)}
    surface.save(output)
    figures = {"points": len(np.asarray(x)), "degree": degree, **figures}
    _print_table(
        ["", ""],
        [[key.replace("_", " "), f"{value:.6g}" if isinstance(value, float) else str(value)] for key, value in figures.items()],
    )
    click.echo(f"written: {output}")
    _write_json(json_path, figures)


@main.command()
@click.argument("problem")
@click.option("--method", type=click.Choice(METHODS[1:]), default=METHODS[1], show_default=True, help="What is lifted.")
@click.option("--degree", type=click.IntRange(1), default=3, show_default=True, help="Degree of the surface.")
@click.option("--samples", default="100", show_default=True, help="Random t an iteration; several with commas measure slopes.")
@click.option("--iterations", type=click.IntRange(1), default=1000, show_default=True, help="Iterations to make.")
@click.option("--step-size", default="1/k", show_default=True, help="For gradient-descent and adam: a number, or 1/k.")
@click.option("--epsilon", default=0.05, show_default=True, help="How often the paper's bound may fail.")
@click.option("--runs", type=click.IntRange(2), default=24, show_default=True, help="Twins, or runs for each N.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same report.")
@click.option("--x0", help="Starting point, as numbers with commas.  [default: zeros]")
@json_option
def stability(
    problem: str,
    method: str,
    degree: int,
    samples: str,
    iterations: int,
    step_size: str,
    epsilon: float,
    runs: int,
    seed: int,
    x0: str | None,
    json_path: str | None,
) -> None:
    """How much one sample matters: solve PROBLEM with a lifted method and random t, and report its stability.

    With several --samples such as 16,64,256 it measures how stability and generalization gap fall with their number.
    """
    import bezierflow as bf

    objectives = _problem(problem)
    start = _numbers(x0, "--x0") if x0 else _default_x0(objectives)
    counts = [int(n) for n in _numbers(samples, "--samples")]
    flow = _flow(method, degree, max(counts), step_size)
    if len(counts) == 1:
        solution = _or_fail(bf.minimize, objectives, start, flow, n_iterations=iterations, seed=seed)
        report = _or_fail(bf.stability.report, solution, epsilon=epsilon, n_twins=runs, seed=seed)
        click.echo(str(report))
        _write_json(json_path, report.figures())
        return
    scaling = _or_fail(bf.stability.against_samples, flow, objectives, start, counts, iterations, n_runs=runs, seed=seed)
    rows = scaling.rows()
    _print_table(list(rows[0]), [[f"{value:.4g}" for value in row.values()] for row in rows])
    _print_table(
        ["slope of", "", "95 %"],
        [[name, f"{s.estimate:.2f}", f"{s.low:.2f} to {s.high:.2f}"] for name, s in scaling.slopes.items()],
    )
    _write_json(json_path, {"rows": rows, "slopes": {name: vars(s) for name, s in scaling.slopes.items()}})


@main.command()
@click.option(
    "--output",
    "-o",
    default="output",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder for the picture and the solutions.",
)
@json_option
def demo(output: str, json_path: str | None) -> None:
    """Run Algorithm 2, a lifted Newton and the no-knob method on scaled-MED; draw the surface against the true set."""
    from bezierflow.demo import run_demo

    rows = run_demo(Path(output))
    _print_table(
        ["method", "degree", "MSE to x*(t)", "degree floor", "max distance", "gradients", "Hessians", "seconds"],
        [
            [
                row["method"],
                str(row["degree"]),
                "-" if row["mse"] is None else f"{row['mse']:.3e}",
                "-" if row["floor"] is None else f"{row['floor']:.3e}",
                f"{row['distance']:.1e}",
                f"{row['gradients']:,}",
                f"{row['hessians']:,}",
                f"{row['seconds']:.2f}",
            ]
            for row in rows
        ],
    )
    click.echo(
        "MSE: mean of |b(t) - x*(t)|^2, x*(t) the exact minimizer for weights t; floor: the least any surface of that degree"
    )
    click.echo("can have. Max distance: from the surface to the exact Pareto set, whatever t means (the last one slides freely).")
    click.echo(f"written: {output}/scaled-med.png, {output}/scaled-med.bez")
    _write_json(json_path, {"rows": rows})


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def bench(options: tuple[str, ...]) -> None:
    """Every method on every problem, one table: OPTIONS are those of `python -m benchmarks.contest` (try -- --help).

    Works in a checkout. Peers that are not installed are left out; `make contest` installs them.
    """
    root = Path(__file__).parents[2]
    if not (root / "benchmarks" / "contest").is_dir():
        raise click.ClickException("the benchmarks are not part of the installed package; run this in a checkout of bezierflow")
    raise SystemExit(subprocess.call([sys.executable, "-m", "benchmarks.contest", *options], cwd=root))


def _problem(name: str) -> Any:
    """A built-in problem, or a function from a file."""
    import bezierflow as bf

    path, separator, function = name.rpartition(":")
    if not separator:
        return _or_fail(bf.problems.by_name, name)
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


def _default_x0(objectives: Any) -> Any:
    import numpy as np

    n_variables = getattr(objectives, "n_variables", None)
    if n_variables is None:
        raise click.UsageError("a function of your own needs --x0, for example --x0 0,0,0, to say where to start")
    return np.zeros(n_variables)


def _flow(method: str, degree: int | None, samples: int | None, step_size: str) -> Any:
    import bezierflow as bf

    step = (lambda k: 1 / k) if step_size.replace(" ", "") == "1/k" else float(_numbers(step_size, "--step-size")[0])
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


def _numbers(text: str, name: str) -> Any:
    import numpy as np

    try:
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise click.BadParameter(f"{name} must be numbers with commas such as 0.2,0.3,0.5, got {text!r}") from None


def _read_csv(path: str) -> Any:
    import numpy as np

    rows = [line.strip() for line in Path(path).read_text().splitlines() if line.strip() and not line.startswith("#")]
    try:
        float(rows[0].split(",")[0])
    except (ValueError, IndexError):
        rows = rows[1:]
    if not rows:
        raise ValueError(f"{path} has no rows of numbers")
    return np.array([[float(cell) for cell in row.split(",")] for row in rows])


def _or_fail(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """The library's own message as a clean line instead of a traceback."""
    try:
        return function(*arguments, **keywords)
    except (ValueError, TypeError, ImportError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _solution_figures(solution: Any) -> dict[str, Any]:
    return {
        "result": {"reason": solution.result.reason.value, "message": solution.result.message},
        "degree": solution.degree,
        "n_objectives": solution.n_objectives,
        "names": solution.names.to_dict(),
        "evaluations": solution.stats.evaluations._asdict(),
        "iterations": solution.stats.iterations,
        "seconds": solution.stats.seconds,
        "error": _error_figures(solution.error),
    }


def _error_figures(error: Any) -> dict[str, Any]:
    figures = {name: getattr(error, name) for name in ("rms", "max", "bound", "diameter", "n_samples", "n_invalid")}
    return figures | {"flags": {flag.name: flag.value for flag in error.flags}}


def _print_solution(solution: Any) -> None:
    count, error = solution.stats.evaluations, solution.error
    _print_table(
        ["", ""],
        [
            ["result", str(solution.result)],
            [
                "surface",
                f"degree {solution.degree}, {solution.n_objectives} objectives, {solution.raveling.n_variables} variables",
            ],
            ["evaluations", f"{count.objective:,} objectives, {count.jacobian:,} Jacobians, {count.hessian:,} Hessians"],
            ["iterations", f"{solution.stats.iterations:,} in {solution.stats.seconds:.2f} s"],
            ["distance to the set", f"{error.rms:.3g} rms, {error.max:.3g} max, estimated at {error.n_samples} held-out t"],
            *(["note", flag.value] for flag in error.flags),
        ],
    )


def _print_table(headings: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=any(headings), pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(Text(heading), justify="left" if number == 0 or not any(headings) else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    # Where nobody watches, a table is for a file or another program: never folded to a guessed width.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def _write_json(path: str | None, figures: dict[str, Any]) -> None:
    if path:
        Path(path).write_text(json.dumps(figures, indent=2, allow_nan=True) + "\n", encoding="utf-8")


def _use_compilation_cache() -> None:
    """Compiled programs are kept between commands, unless the user said otherwise: a second run starts in tenths."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bezierflow" / "jax"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")


if __name__ == "__main__":
    main()
