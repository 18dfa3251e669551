"""The commands that make pictures and pages of a solution: parsing and printing only."""

from pathlib import Path

import click

import bezierflow as bf

from .printing import check_writable, or_fail
from .reading import file_argument, load_solution


@click.command()
@click.argument("file", type=click.Path(exists=True), required=False)
@click.option(
    "--kind",
    default="auto",
    show_default=True,
    help="Which picture: overview, or one of those --list shows.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    help="The picture (.png, .pdf, .svg).  [default: FILE with .png]",
)
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
    drawn = or_fail(kinds[chosen], load_solution(file))
    figure = drawn if hasattr(drawn, "savefig") else drawn.figure
    or_fail(figure.savefig, target, dpi=dpi)
    click.echo(f"written: {target}")


@click.command()
@file_argument
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    help="The page (.html).  [default: FILE with .html]",
)
@click.option("--title", default="", help="The page's heading.  [default: the name of FILE]")
def explore(file: str, output: str | None, title: str) -> None:
    """Write an interactive page of the solution in FILE: one HTML file that opens anywhere and
    needs no network.

    FILE may be the folder of a study, or of a run: what is known by now.
    """
    target = Path(output) if output else Path(file).with_suffix(".html")
    check_writable(str(target), ".html", ".htm")
    page = or_fail(bf.explore, load_solution(file), target, title=title or Path(file).stem)
    click.echo(f"written: {page} ({page.stat().st_size / 1000:.0f} kB); open it in a browser")
