"""`ask`, `tell` and `surface`: studies of expensive objectives by hand or by a queue; parsing and
printing only."""

import csv
from pathlib import Path
from typing import Any

import click

import bezierflow as bf

from .printing import check_writable, json_option, or_fail
from .reading import load_solution, read_number
from .solving import report
from .stating import read_bounds, read_pairs

NUMBER = "number"
"""The column that says which design a row is about."""


@click.command()
@click.argument("folder", type=click.Path(file_okay=False))
@click.option(
    "-n", "n", type=click.IntRange(1), default=1, show_default=True, help="How many designs."
)
@click.option(
    "--bounds",
    help=(
        "For a new study: lower and upper bounds with a number for each variable, such as 0,0:1,5."
    ),
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
    help="For a new study: how many evaluations there will be, about.",
)
@click.option("--seed", default=0, help="For a new study: of everything random.")
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), help="Write the table to this file (.csv)."
)
def ask(folder: str, n: int, output: str | None, **new: Any) -> None:
    """Designs to evaluate next for the study in FOLDER, as CSV; a folder that is not there is begun
    with --bounds.

    Add a column for each objective, leave cells of failed evaluations empty, and give the table to
    `tell`.
    """
    is_there, given = (
        (Path(folder) / "journal.jsonl").exists(),
        [name for name, value in new.items() if value],
    )
    if is_there and given and not (new["bounds"] and new["objectives"]):
        raise click.UsageError(
            f"{folder} holds a study, whose settings stay: leave out --{', --'.join(given)}"
        )
    study = _begin(folder, **new) if given or not is_there else or_fail(bf.Study.open, folder)
    lines = [",".join((NUMBER, *study.names.variables)), *_numbered(study, or_fail(study.ask, n))]
    if output:
        Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")
        click.echo(f"written: {output}")
    else:
        click.echo("\n".join(lines))


def _numbered(study: "bf.Study", asked: Any) -> list[str]:
    """Designs that were asked for, each after its number."""
    designs, pending = asked.tolist(), study.pending.items()
    numbered = [(number, x.tolist()) for number, x in pending if x.tolist() in designs]
    return [",".join([str(number), *map(repr, x)]) for number, x in numbered]


def _begin(
    folder: str, bounds: str | None, objectives: str | None, variables: str | None, **new: Any
) -> "bf.Study":
    if bounds is None or objectives is None:
        raise click.UsageError(
            f"{folder} holds no study; begin one with --bounds and --objectives, as in --bounds"
            " 0,0:1,5"
        )
    texts = [] if objectives.isdigit() else _texts(objectives)
    new["names"] = {"objectives": texts, "variables": _texts(variables)}
    new["maximize"] = _texts(new["maximize"]) or None
    worst: dict[str | int, float] = {
        name: read_number(value, f"--worst {name}")
        for name, value in read_pairs(new.pop("worst"), "--worst").items()
    }
    method, M = bf.Surrogate(worst=worst), len(texts) or int(objectives)
    return or_fail(bf.Study, read_bounds(bounds), M, method, folder=folder, **new)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.argument("results", type=click.Path(exists=True, dir_okay=False))
def tell(folder: str, results: str) -> None:
    """Write the values in RESULTS, a CSV, into the study in FOLDER.

    It has a heading, a column `number` from `ask` (or the variables, for designs of your own) and a
    column for each objective; an empty cell says that the evaluation failed. Rows that are known
    already are left as they are.
    """
    study = or_fail(bf.Study.open, folder)
    n = or_fail(study.tell, *or_fail(read_results, results, study.names))
    click.echo(f"{n} new, {len(study.evaluations)} in all")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    help="Write the solution to this file (.bez).",
)
@json_option
def surface(folder: str, output: str | None, json_path: str | None) -> None:
    """The surface of what is known by now in FOLDER, that of a study or of a run.

    `choose`, `evaluate`, `sample`, `plot` and `explore` take such a folder in place of a file, and
    make its surface each time.
    """
    check_writable(output)
    check_writable(json_path)
    report(load_solution(folder), output, json_path)


def read_results(path: str, names: "bf.Names") -> tuple[Any, ...]:
    """The rows of a table, as `Study.tell` takes them: values by number where it has that column,
    else designs and values."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file, skipinitialspace=True)
        by_number = NUMBER in (table.fieldnames or ())
        keys = (NUMBER,) if by_number else names.variables
        missing = [
            name for name in (*keys, *names.objectives) if name not in (table.fieldnames or ())
        ]
        if missing:
            raise ValueError(
                f"{path} has no column {', '.join(missing)}; it has"
                f" {', '.join(table.fieldnames or ('none',))}"
            )
        rows = [(_numbers(row, keys, path), _values(row, names.objectives, path)) for row in table]
    if by_number or not rows:
        return ({int(key[0]): y for key, y in rows},)
    return tuple(zip(*rows, strict=True))


def _numbers(row: dict[str, str], columns: tuple[str, ...], path: str) -> list[float]:
    try:
        return [float(row[column]) for column in columns]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: a row has no number in {', '.join(columns)}: {error}") from error


def _values(row: dict[str, str], columns: tuple[str, ...], path: str) -> list[float] | None:
    return (
        _numbers(row, columns, path)
        if all((row[column] or "").strip() for column in columns)
        else None
    )


def _texts(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",")] if text else []
