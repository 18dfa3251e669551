"""`ask`, `tell` and `surface`: studies of expensive objectives by hand or by a queue."""

import csv
from collections.abc import Sequence
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
from .solving import report

NUMBER = "number"
"""The column that says which design a row is about."""


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
@output_option("Write the table to this file (.csv).")
def ask(folder: str, n: int, output: str | None, **new: Any) -> None:
    """Designs to evaluate next for the study in FOLDER, as CSV; a folder that is not there is begun
    with --bounds.

    Add a column for each objective, leave cells of failed evaluations empty, and give the table to
    `tell`.
    """
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
    lines = [",".join((NUMBER, *study.names.variables))]
    for number, pending in study.pending.items():
        if pending.tolist() in designs:
            lines.append(",".join([str(number), *map(repr, pending.tolist())]))
    if output:
        Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")
        click.echo(f"written: {output}")
    else:
        click.echo("\n".join(lines))


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
    worst = read_pairs(new.pop("worst"), "--worst")
    method = bf.Surrogate(
        worst={key: read_number(text, f"--worst {key}") for key, text in worst.items()}
    )
    return bf.Study(
        read_bounds(bounds), len(texts) or int(objectives), method, folder=folder, **new
    )


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.argument("results", type=click.Path(exists=True, dir_okay=False))
def tell(folder: str, results: str) -> None:
    """Write the values in RESULTS, a CSV, into the study in FOLDER.

    It has a heading, a column `number` from `ask` (or the variables, for designs of your own) and a
    column for each objective; an empty cell says that the evaluation failed. Rows that are known
    already are left as they are.
    """
    study = bf.Study.open(folder)
    n = study.tell(*_read_results(results, study.names))
    click.echo(f"{n} new, {len(study.evaluations)} in all")


def _read_results(path: str, names: "bf.Names") -> tuple[Any, ...]:
    """The rows of a table as `Study.tell` takes them: values by number where it has that column,
    else designs and values."""
    # spreadsheets put a byte-order mark first, which utf-8-sig skips
    with open(path, encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file, skipinitialspace=True)
        columns = table.fieldnames or ()
        keys = (NUMBER,) if NUMBER in columns else names.variables
        missing = [name for name in (*keys, *names.objectives) if name not in columns]
        if missing:
            raise ValueError(
                f"{path} has no column {', '.join(missing)}; it has {', '.join(columns) or 'none'}"
            )
        rows = [
            (_numbers(row, keys, path), _numbers(row, names.objectives, path, or_none=True))
            for row in table
        ]
    if NUMBER in columns or not rows:
        return ({int(key[0]): y for key, y in rows},)
    return tuple(zip(*rows, strict=True))


def _numbers(row: dict[str, str], columns: Sequence[str], path: str, or_none: bool = False) -> Any:
    """The numbers in these columns; None where a cell may be empty and is."""
    cells = [(row[column] or "").strip() for column in columns]
    if or_none and not all(cells):
        return None
    try:
        return [float(cell) for cell in cells]
    except ValueError as error:
        raise ValueError(f"{path}: a row has no number in {', '.join(columns)}: {error}") from error


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@output_option("Write the solution to this file (.bez).")
@json_option
def surface(folder: str, output: str | None, json_path: str | None) -> None:
    """The surface of the evaluations so far in FOLDER, that of a study or of a run.

    `choose`, `evaluate`, `sample`, `plot` and `explore` take such a folder in place of a file, and
    make its surface each time.
    """
    report(load_solution(folder), output, json_path)
