"""`ask`, `tell`, `undo`, `show` and `surface`: studies of expensive objectives by hand or by a
queue."""

from pathlib import Path
from typing import Any

import click

import bezierflow as bf

from .options import (
    json_option,
    load_solution,
    output_option,
    read_bounds,
    read_number,
    read_pairs,
    read_texts,
)
from .sheets import new_rows, read_sheet, remarks, write_sheet
from .solving import report

folder_argument = click.argument("folder", type=click.Path(exists=True, file_okay=False))

semicolons_option = click.option(
    "--semicolons",
    is_flag=True,
    help="For spreadsheets with decimal commas: 0,5 for a half, semicolons between cells.",
)


@click.command()
@click.argument("folder", type=click.Path(file_okay=False))
@click.option(
    "-n", "n", type=click.IntRange(1), default=1, show_default=True, help="How many designs."
)
@click.option(
    "--bounds",
    help="For a new study: lower and upper bounds with a number per variable, such as 0,0:1,5.",
)
@click.option(
    "--objectives",
    help="For a new study: how many objectives there are, or their names with commas.",
)
@click.option("--variables", help="For a new study: names of the variables with commas.")
@click.option(
    "--maximize", help="For a new study: names of objectives to be maximized, with commas."
)
@click.option(
    "--worst",
    multiple=True,
    help="For a new study: the worst value of an objective that is of use, as in cost=100.",
)
@click.option(
    "--budget",
    type=click.IntRange(1),
    help="For a new study: about how many evaluations there will be.",
)
@click.option("--seed", default=0, help="For a new study: of everything random.")
@click.option(
    "--steps",
    multiple=True,
    help="For a new study: the step in which a variable can be set, as in temperature=5.",
)
@click.option(
    "--nonnegative",
    help="For a new study: names of objectives that cannot be negative, with commas.",
)
@semicolons_option
@output_option("Write the sheet to this file (.csv), which must not be there yet.", ".csv")
def ask(folder: str, n: int, semicolons: bool, output: str | None, **new: Any) -> None:
    """Designs to evaluate next for the study in FOLDER, as a sheet with empty cells for results; a
    folder that is not there is begun with --bounds.

    Fill in what was measured, and give the sheet to `tell`.
    """
    if output and Path(output).exists():
        raise click.UsageError(
            f"{output} is there already, and may hold results: tell them, then give another name"
        )
    given = [name for name, value in new.items() if value]
    if not (Path(folder) / "journal.jsonl").exists():
        study = _begin(folder, **new)
    elif not given:
        study = bf.Study.open(folder)
    elif new["bounds"] and new["objectives"]:  # the whole statement once more: it is compared
        study = _begin(folder, **new)
    else:
        raise click.UsageError(
            f"{folder} holds a study, whose settings stay: leave out --{', --'.join(given)}"
        )
    designs = study.ask(n).tolist()
    rows = [(number, *x) for number, x in study.pending.items() if x.tolist() in designs]
    _write(write_sheet(study.names, rows, semicolons), output)


def _write(text: str, output: str | None) -> None:
    if output:
        Path(output).write_text(text, encoding="utf-8")
        click.echo(f"written: {output}")
    else:
        click.echo(text, nl=False)


def _begin(
    folder: str, bounds: str | None, objectives: str | None, variables: str | None, **new: Any
) -> "bf.Study":
    """The study of these options: a new one, or the one that is there with the same settings."""
    if bounds is None or objectives is None:
        raise click.UsageError(
            f"{folder} holds no study; begin one with --bounds and --objectives, as in --bounds"
            " 0,0:1,5"
        )
    texts = () if objectives.isdigit() else read_texts(objectives)
    new["names"] = {"objectives": list(texts), "variables": list(read_texts(variables))}
    new["maximize"] = list(read_texts(new["maximize"])) or None
    by_name: dict[str, Any] = {"nonnegative": list(read_texts(new.pop("nonnegative"))) or None}
    for option in ("worst", "steps"):
        pairs = read_pairs(new.pop(option), f"--{option}")
        by_name[option] = {
            key: read_number(text, f"--{option} {key}") for key, text in pairs.items()
        }
    method = bf.Surrogate(**by_name)
    return bf.Study(
        read_bounds(bounds), len(texts) or int(objectives), method, folder=folder, **new
    )


@click.command()
@folder_argument
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False))
def tell(folder: str, sheet: str) -> None:
    """Write the results in SHEET, a CSV, into the study in FOLDER.

    It has a heading and columns for the objectives, the variables and the `number` from `ask`. Type
    the settings that were really used. Rows may be in any order; those without results yet are left
    for later; one with "failed" (or "failed: nozzle clogged") in place of a value has failed, one
    with "skipped" will not be made. A row with a number that is known corrects it. Rows of your own
    have no number, or a name in its place by which they can be corrected.

    Decimal points or commas, and cells separated by commas, semicolons or tabs, will do. An error
    names the row and the column, and nothing of the sheet is taken.
    """
    study = bf.Study.open(folder)
    history, pending, names = study.history, study.pending, study.names
    known = {one.number: one.x for one, counts in history if counts} | pending
    known.pop(None, None)  # rows without a number
    read = read_sheet(sheet, names, study.bounds, known)
    rows, n = new_rows(read.rows, study.evaluations), 0
    if rows:
        numbers, x, y = zip(*(row[1:] for row in rows), strict=True)
        n = study.tell([list(one) for one in x], y, numbers=numbers)
    for line in remarks(read._replace(rows=rows), pending, names):
        click.echo(line)
    n_corrected = sum(not new for _, new in study.history) - sum(not old for _, old in history)
    counts = {"new": n - n_corrected, "corrected": n_corrected, "without results yet": read.n_empty}
    said = [f"{count} {what}" for what, count in counts.items() if count or what == "new"]
    click.echo(f"{', '.join(said)}; {len(study.evaluations)} in all")


@click.command()
@folder_argument
def undo(folder: str) -> None:
    """Take back the last step in the study in FOLDER: what was told last, or else what was asked
    for last. Again for the step before."""
    evaluations, numbers = bf.Study.open(folder).undo()
    for one in evaluations:
        which = "" if one.number is None else f" of {one.number}"
        click.echo(f"taken back: the result{which} at {', '.join(f'{v:g}' for v in one.x)}")
    if numbers:
        click.echo(f"not asked for any more: {', '.join(map(str, numbers))}")


@click.command()
@folder_argument
@semicolons_option
@output_option(
    "A sheet (.csv), which `tell` takes back with corrections, a page (.html) or a picture (.svg)."
    "  [default: print the sheet]",
    *(".csv", ".html", ".htm", ".svg"),
)
def show(folder: str, semicolons: bool, output: str | None) -> None:
    """The study in FOLDER so far: results, what failed, what is asked for; on the page also what
    was corrected. `explore` and `plot` show its surface."""
    study = bf.Study.open(folder)
    if output and not output.lower().endswith(".csv"):
        click.echo(f"written: {study.show(output)}")
        return
    rows: list[tuple[Any, ...]] = []
    for one in study.evaluations:
        values = [f"failed: {one.failure}"] if one.failed or one.y is None else one.y
        rows.append(("" if one.number is None else one.number, *one.x, *values))
    rows += [(number, *x) for number, x in study.pending.items()]
    _write(write_sheet(study.names, rows, semicolons), output)


@click.command()
@folder_argument
@output_option("Write the solution to this file (.bez).")
@json_option
def surface(folder: str, output: str | None, json_path: str | None) -> None:
    """The surface of the evaluations so far in FOLDER, that of a study or of a run.

    `choose`, `evaluate`, `sample`, `plot` and `explore` take such a folder in place of a file, and
    make its surface each time.
    """
    report(load_solution(folder), output, json_path)
