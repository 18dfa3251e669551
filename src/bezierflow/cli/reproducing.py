"""`bezierflow reproduce`: parsing and printing only. The work is in `experiments/`, beside the
package in a checkout."""

import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, runtime_checkable

import click

from .printing import json_option, or_fail, print_table, write_json

PARTS = (
    "table1",
    "table2",
    "figures",
    "reach",
    "group-lasso",
    "given-points",
    "dtlz",
    "two-objectives",
    "sensitivity",
    "convergence",
    "all",
)


@click.command()
@click.argument("what", type=click.Choice(PARTS))
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Trials of each cell of Tables 1 and 2.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the first trial; the others follow.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    help="A column of the tables; repeat for more.  [default: all]",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False),
    default="output/reproduction",
    show_default=True,
    help="Folder for results. Trials found there are not made again.",
)
@json_option
def reproduce(
    what: str, trials: int, seed: int, methods: tuple[str, ...], output: str, json_path: str | None
) -> None:
    """Reproduce WHAT of the paper by its own protocol: paper and ours side by side.

    Needs a checkout, where experiments/ lies beside the package, and for the NSGA-II baseline the
    extra "experiments". A killed run continues where it was when the same command is given again.
    """
    root = experiments_root()
    if root is None:
        raise click.ClickException(
            "the paper's experiments are not part of the installed package; run this command in a"
            " checkout of bezierflow, in the folder that holds experiments/"
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    command = f"bezierflow reproduce {shlex.join(_arguments(what, trials, seed, methods, output))}"
    experiments = import_module("experiments.run")
    request = experiments.Request(trials, seed, Path(output), methods, command, progress=True)
    reports = or_fail(experiments.reproduce, what, request, on_report=_print)
    click.echo(f"written: {output}")
    write_json(
        json_path,
        {"command": command, "parts": {report.title: report.figures for report in reports}},
    )


def experiments_root() -> Path | None:
    """The folder that holds experiments/: the checkout this package was installed from, or the
    current one."""
    for folder in (Path(__file__).resolve().parents[3], Path.cwd()):
        if (folder / "experiments" / "run.py").is_file():
            return folder
    return None


def _arguments(what: str, trials: int, seed: int, methods: Sequence[str], output: str) -> list[str]:
    chosen = [part for name in methods for part in ("--method", name)]
    return [what, "--trials", str(trials), "--seed", str(seed), *chosen, "--output", output]


@runtime_checkable
class Report(Protocol):
    """What a part of the experiments reports."""

    title: str
    headings: list[str]
    rows: list[list[str]]


def _print(report: Report) -> None:
    click.echo(report.title)
    print_table(report.headings, report.rows)
