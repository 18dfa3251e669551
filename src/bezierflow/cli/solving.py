"""`solve`, `check` and `resume`: runs, begun, looked at before, and continued."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import bezierflow as bf
from bezierflow.arguments import printable
from bezierflow.interrupts import orderly_interrupts

from .options import (
    METHODS,
    check_writable,
    json_option,
    method_options,
    output_option,
    print_table,
    problem_options,
    read_flow,
    read_problem,
    read_statement,
    statement_options,
    write_json,
)

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""

COMMAND = "command.json"
"""The command that began a run, in the folder of the run."""


@click.command()
@problem_options
@statement_options
@method_options(METHODS, degree=None)
@click.option(
    "--samples",
    type=click.IntRange(1),
    help="Fresh random t per iteration.  [default: fixed near-optimal nodes]",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    help="Iterations to make.  [default: until converged, at most 1000]",
)
@output_option("Write the solution to this file (.bez).", ".bez")
@click.option(
    "--checkpoint",
    type=click.Path(file_okay=False),
    help="Keep the run in this folder; `resume` goes on with it.",
)
@json_option
@click.pass_context
def solve(  # noqa: PLR0913
    ctx: click.Context,
    problem: str,
    x0: str | None,
    seed: int,
    method: str,
    degree: int | None,
    step_size: str,
    samples: int | None,
    iterations: int | None,
    output: str | None,
    checkpoint: str | None,
    json_path: str | None,
    **statement: Any,
) -> None:
    """Find the Pareto set of PROBLEM: a built-in name such as scaled-med, or file.py:function.

    A function takes x and returns objective values, in JAX or NumPy. Give --x0 or --bounds with it
    to say how many variables there are.

    The exit code is 0 if the surface can be used, with a warning where it is less exact than asked;
    1 if it is suspect; 130 after Ctrl-C, which ends the run with what there is.
    """
    from bezierflow.bezier import write_atomically

    objectives, start, settings = read_statement(problem, x0, statement)
    if method == "auto" and samples:
        raise click.UsageError(
            "--samples goes with a method of your choice; add --method gradient-descent, newton or"
            " adam"
        )
    if method == "auto":
        flow = bf.NormalFlow(degree=degree or "auto", n_iterations=iterations)
    else:
        flow = replace(read_flow(method, degree, step_size, samples), n_iterations=iterations)
    # after everything was read: a command that was refused leaves no folder behind
    if checkpoint and not (Path(checkpoint) / COMMAND).exists():
        path, separator, function = problem.rpartition(":")
        # with a full path: `resume` may be called from another folder
        full = f"{Path(path).absolute()}:{function}" if separator else problem
        Path(checkpoint).mkdir(parents=True, exist_ok=True)
        text = json.dumps({**ctx.params, "problem": full}, indent=1)
        write_atomically(Path(checkpoint) / COMMAND, text.encode())
    with orderly_interrupts():  # also while the result is printed and written
        solution = bf.minimize(
            objectives,
            start,
            flow,
            seed=seed,
            progress=True,
            checkpoint=checkpoint,
            **settings,
        )
        report(solution, output, json_path)


def report(solution: "bf.Solution", output: str | None, json_path: str | None) -> None:
    """Prints and writes a solution, and exits with the code that says how it ended."""
    from bezierflow.answer import ErrorEstimate, cost_text, error_text

    result, stats = solution.result, solution.stats
    interrupted = result.reason is bf.Reason.INTERRUPTED
    if interrupted and solution.known_error is None:  # skip the error estimate after Ctrl-C
        solution = replace(solution, known_error=ErrorEstimate.unknown(float("nan")))
    error = solution.error
    rows = [
        ["result", str(result)],
        ["set", solution.set_text],
        ["error", error_text(error)],
        ["evaluations", cost_text(stats)],
    ]
    print_table(["", ""], rows + [["note", advice] for advice in error.advice])
    if output:
        solution.save(output)
        click.echo(f"written: {output}")
    figures = ("rms", "max", "expected", "diameter", "n_samples", "n_invalid")
    write_json(
        json_path,
        {
            "result": {"reason": result.reason.value, "message": result.message},
            "degree": solution.degree,
            "n_objectives": solution.n_objectives,
            "names": solution.names.to_dict(),
            "evaluations": stats.evaluations._asdict(),
            "iterations": stats.iterations,
            "seconds": stats.seconds,
            "error": {name: getattr(error, name) for name in figures}
            | {"flags": {flag.name: flag.value for flag in error.flags}},
        },
    )
    if interrupted:
        raise SystemExit(INTERRUPTED)
    if result.reason is bf.Reason.NOT_AT_TOLERANCE:
        click.echo(
            "warning: the surface is less exact than asked; the error above says how exact it is",
            err=True,
        )
    if result.reason is bf.Reason.LOCAL:
        click.echo("warning: this may be a local set alone; the message says why", err=True)
    if result.doubtful:
        raise SystemExit(1)


@click.command()
@problem_options
@statement_options
@json_option
def check(
    problem: str,
    x0: str | None,
    json_path: str | None,
    **statement: Any,
) -> None:
    """Look at PROBLEM before a run: a built-in name such as scaled-med, or file.py:function.

    Shapes, finite values, gradients against differences, noise, kinks, what an evaluation costs,
    and what solve will do. The exit code is 1 where something was found that makes a run fail or
    its answer wrong.
    """
    objectives, start, settings = read_statement(problem, x0, statement)
    used = {key: settings[key] for key in ("bounds", "maximize", "transforms")}
    found = bf.check(objectives, start, **used)
    click.echo("\n".join(map(printable, str(found).split("\n"))))
    arrays = {"values": found.values.tolist(), "ranges": found.ranges.tolist()}
    write_json(json_path, {**vars(found), **arrays, "names": found.names.to_dict()})
    if not found.ok:
        raise SystemExit(1)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--problem", help="The objectives as file.py:function, where the folder does not name them."
)
@click.option(
    "--iterations", type=click.IntRange(1), help="More iterations than the run was to make."
)
@click.option("--budget", type=click.IntRange(1), help="A larger budget than the run had.")
@output_option("Write the solution to this file (.bez).", ".bez")
@json_option
@click.pass_context
def resume(
    ctx: click.Context,
    folder: str,
    problem: str | None,
    iterations: int | None,
    budget: int | None,
    output: str | None,
    json_path: str | None,
) -> None:
    """Go on with the run or the study in FOLDER, to the result that it would have had without an
    interruption.

    FOLDER is what --checkpoint was. Objectives that were file.py:function are loaded by running
    that file.
    """
    command = Path(folder) / COMMAND
    if command.is_file() and problem is None:
        try:
            kept = dict(json.loads(command.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{command} is damaged: {error}") from error
        larger = {"iterations": iterations, "budget": budget, "output": output}
        kept |= {name: value for name, value in larger.items() if value is not None}
        # The same command again: with this checkpoint, `solve` goes on with the run that is there.
        check_writable(kept["output"], ".bez")
        ctx.invoke(solve, **kept | {"checkpoint": folder, "json_path": json_path})
        return
    more: dict[str, Any] = {"n_iterations": iterations, "budget": budget}
    more = {name: value for name, value in more.items() if value is not None}
    objectives = None if problem is None else read_problem(problem)
    report(bf.resume(folder, objectives, progress=True, **more), output, json_path)
