"""`resume`: parsing and printing only."""

from functools import partial
from pathlib import Path
from typing import Any

import click

import bezierflow as bf

from .keeping import COMMAND, read_command
from .printing import json_option, or_fail
from .reading import read_problem
from .solving import report, solve


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--problem", help="The objectives as file.py:function, where the folder does not name them."
)
@click.option(
    "--iterations", type=click.IntRange(1), help="More iterations than the run was to make."
)
@click.option("--budget", type=click.IntRange(1), help="A larger budget than the run had.")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    help="Write the solution to this file (.bez).",
)
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
    command, more = Path(folder) / COMMAND, {"n_iterations": iterations, "budget": budget}
    more: dict[str, Any] = {name: value for name, value in more.items() if value is not None}
    if command.is_file() and problem is None:
        kept = or_fail(read_command, command)
        kept |= {"iterations": iterations or kept["iterations"], "budget": budget or kept["budget"]}
        ctx.invoke(
            solve,
            **kept
            | {
                "checkpoint": folder,
                "output": output or kept["output"],
                "json_path": json_path,
            },
        )
        return
    objectives = None if problem is None else read_problem(problem)
    report(
        or_fail(partial(bf.resume, folder, objectives, progress=True), **more), output, json_path
    )
