"""`sample`: parsing and printing only."""

from pathlib import Path

import click

from .printing import check_writable, or_fail
from .reading import file_argument, load_solution


@click.command()
@file_argument
@click.option(
    "-n", "n", type=click.IntRange(1), default=100, show_default=True, help="How many points."
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    help="Where to write (.csv or .json).  [default: print CSV]",
)
def sample(file: str, n: int, output: str | None) -> None:
    """Points spread evenly over the front of the solution in FILE, as a table: variables,
    objectives, t."""
    ending = Path(output).suffix.lower() if output else ""
    if output and ending not in (".csv", ".json"):
        raise click.BadParameter(f"--output must end in .csv or .json, got {output!r}")
    check_writable(output)
    solution = load_solution(file)
    write = solution.to_json if ending == ".json" else solution.to_csv
    text = or_fail(write, output, n)
    if output:
        click.echo(f"written: {output} ({n} points)")
    else:
        click.echo(text, nl=False)
