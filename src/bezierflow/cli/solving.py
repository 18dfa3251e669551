"""`solve`, `evaluate`, `fit` and `demo`: parsing and printing only."""

from dataclasses import replace
from pathlib import Path

import click

import bezierflow as bf
from bezierflow.interrupts import orderly_interrupts

from .keeping import keep_command
from .printing import check_writable, json_option, or_fail, print_table, write_json
from .reading import (
    METHODS,
    MethodOptions,
    Task,
    file_argument,
    load_any,
    method_options,
    read_csv,
    read_rows,
    task_options,
)
from .stating import Statement, statement_options

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


@click.command()
@task_options
@statement_options
@method_options(METHODS, degree=None)
@click.option(
    "--samples",
    type=click.IntRange(1),
    help="Fresh random t an iteration.  [default: fixed near-optimal nodes]",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    help="Iterations to make.  [default: until converged, at most 1000]",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    help="Write the solution to this file (.bez).",
)
@click.option(
    "--checkpoint",
    type=click.Path(file_okay=False),
    help="Keep the run in this folder; `resume` goes on with it.",
)
@json_option
@click.pass_context
def solve(  # noqa: PLR0913
    ctx: click.Context,
    task: Task,
    statement: Statement,
    method: MethodOptions,
    samples: int | None,
    iterations: int | None,
    output: str | None,
    checkpoint: str | None,
    json_path: str | None,
) -> None:
    """Find the Pareto set of PROBLEM: a built-in name such as scaled-med, or file.py:function.

    A function takes x and returns objective values, in JAX or NumPy. Give --x0 or --bounds with it
    to say how many variables there are.

    The exit code is 0 if the surface can be used, with a warning where it is less exact than asked;
    1 if it is suspect; 130 after Ctrl-C, which ends the run with what there is.
    """
    start = None if task.x0 is None and statement.has_bounds else task.start
    if method.name == "auto" and samples:
        raise click.UsageError(
            "--samples goes with a method of your choice; add --method gradient-descent, newton or"
            " adam"
        )
    check_writable(output, ".bez")
    check_writable(json_path)
    if method.name == "auto":
        settings = {"degree": method.degree or "auto", "n_iterations": iterations}
        flow = or_fail(bf.NormalFlow, **settings)
    else:
        flow = replace(or_fail(method.lifted, samples), n_iterations=iterations)
    run = {"seed": task.seed, "progress": True, **statement.settings}
    if checkpoint:
        or_fail(keep_command, checkpoint, ctx.params)
    objectives = statement.named(task.objectives)
    with orderly_interrupts():
        report(
            or_fail(bf.minimize, objectives, start, flow, checkpoint=checkpoint, **run),
            output,
            json_path,
        )


def report(solution: "bf.Solution", output: str | None, json_path: str | None) -> None:
    """Prints and writes a solution, and exits with the code that says how it ended."""
    interrupted = solution.result.reason is bf.Reason.INTERRUPTED
    if interrupted and solution.known_error is None:  # who leaves does not wait for an estimate
        from bezierflow.answer import ErrorEstimate

        solution = replace(solution, known_error=ErrorEstimate.unknown(float("nan")))
    _print_solution(solution)
    if output:
        or_fail(solution.save, output)
        click.echo(f"written: {output}")
    write_json(json_path, _solution_figures(solution))
    if interrupted:
        raise SystemExit(INTERRUPTED)
    if solution.result.reason is bf.Reason.NOT_AT_TOLERANCE:
        click.echo(
            "warning: the surface is less exact than asked; the error above says how exact it is",
            err=True,
        )
    if solution.result.doubtful:
        raise SystemExit(1)


@click.command()
@file_argument
@click.argument("t", nargs=-1, required=True)
@json_option
def evaluate(file: str, t: tuple[str, ...], json_path: str | None) -> None:
    """Evaluate the surface in FILE at each T, numbers with commas such as 0.2,0.3,0.5.

    If FILE holds an atlas, T are objective values hoped for; the answers exceed them least, in
    units of ranges.
    """
    import numpy as np

    check_writable(json_path)
    loaded, weights = load_any(file), read_rows(t, "T")
    columns = {"t": weights}
    if isinstance(loaded, bf.Solution) and isinstance(loaded.pareto_set, bf.BezierAtlas):
        names, a = loaded.names, or_fail(loaded.pareto_set.chart, weights)
        columns |= {"x": loaded.flat_designs(a), "f": np.asarray(loaded.front(a))}
    elif isinstance(loaded, bf.Solution):
        or_fail(bf.simplex.check_on_simplex, weights, loaded.n_objectives, "T")
        names = loaded.names
        columns |= {"x": loaded.flat_designs(weights), "f": np.asarray(loaded.front(weights))}
    else:
        or_fail(bf.simplex.check_on_simplex, weights, loaded.n_objectives, "T")
        columns |= {"x": np.asarray(loaded(weights))}
        names = bf.problems.Names.default(loaded.n_objectives, columns["x"].shape[-1])
    headings = {
        "t": [f"t{m + 1}" for m in range(loaded.n_objectives)],
        "x": names.variable_labels,
        "f": names.objective_labels,
    }
    print_table(
        [heading for key in columns for heading in headings[key]],
        [
            [f"{value:.8g}" for key in columns for value in columns[key][row]]
            for row in range(len(weights))
        ],
    )
    write_json(
        json_path,
        {key: values.tolist() for key, values in columns.items()} | {"names": names.to_dict()},
    )


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
    help="CSV with the known t of each point, one row a point.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    required=True,
    help="Where to write the surface (.bez, .bsf, .csv, .json).",
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
    """Fit a surface to POINTS, a CSV with one Pareto point a row; a heading row is skipped.

    With --weights by least squares; without, t is unknown and the all-at-once method finds it too.
    """
    check_writable(output, ".bez", ".bsf", ".csv", ".tsv", ".json")
    check_writable(json_path)
    x = or_fail(read_csv, points)
    figures: dict[str, float] = {"points": len(x), "degree": degree}
    if weights:
        t = or_fail(read_csv, weights)
        or_fail(bf.simplex.check_on_simplex, t, n_objectives, "--weights")
        surface, about = or_fail(bf.fit, t, x, degree, diagnostics=True)
        figures |= {
            "residual_rms": about.residual_rms,
            "rank": about.rank,
            "condition": about.condition,
        }
    else:
        surface, about = or_fail(bf.fit_points, x, n_objectives, degree, diagnostics=True)
        figures |= {"residual_rms": float(about.residual_rms), "converged": bool(about.converged)}
    or_fail(surface.save, output)
    print_table(
        ["", ""],
        [
            [key.replace("_", " "), f"{value:.6g}" if isinstance(value, float) else str(value)]
            for key, value in figures.items()
        ],
    )
    click.echo(f"written: {output}")
    write_json(json_path, figures)


@click.command()
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
    """Run Algorithm 2, a lifted Newton and the no-knob method on scaled-MED; draw the surface
    against the true set."""
    from bezierflow.demo import run_demo

    rows = run_demo(Path(output))
    print_table(
        [
            "method",
            "degree",
            "MSE to x*(t)",
            "degree floor",
            "max distance",
            "gradients",
            "Hessians",
            "seconds",
        ],
        [
            [
                row.method,
                str(row.degree),
                "-" if row.mse is None else f"{row.mse:.3e}",
                "-" if row.floor is None else f"{row.floor:.3e}",
                f"{row.distance:.1e}",
                f"{row.gradients:,}",
                f"{row.hessians:,}",
                f"{row.seconds:.2f}",
            ]
            for row in rows
        ],
    )
    click.echo(
        "MSE: mean of |b(t) - x*(t)|^2, x*(t) the exact minimizer for weights t; floor: the least"
        " any surface of that degree"
    )
    click.echo(
        "can have. Max distance: from the surface to the exact Pareto set, whatever t means (the"
        " last one slides freely)."
    )
    click.echo(f"written: {output}/scaled-med.png, {output}/scaled-med.bez")
    write_json(json_path, {"rows": [row._asdict() for row in rows]})


def _solution_figures(solution: "bf.Solution") -> dict[str, object]:
    error = solution.error
    figures = {
        name: getattr(error, name)
        for name in ("rms", "max", "bound", "diameter", "n_samples", "n_invalid")
    }
    return {
        "result": {"reason": solution.result.reason.value, "message": solution.result.message},
        "degree": solution.degree,
        "n_objectives": solution.n_objectives,
        "names": solution.names.to_dict(),
        "evaluations": solution.stats.evaluations._asdict(),
        "iterations": solution.stats.iterations,
        "seconds": solution.stats.seconds,
        "error": figures | {"flags": {flag.name: flag.value for flag in error.flags}},
    }


def _print_solution(solution: "bf.Solution") -> None:
    from bezierflow.answer import cost_text, error_text

    error = solution.error
    print_table(
        ["", ""],
        [
            ["result", str(solution.result)],
            ["set", solution.set_text],
            ["error", error_text(error)],
            ["evaluations", cost_text(solution.stats)],
            *(["note", advice] for advice in error.advice),
        ],
    )
