"""`check`: parsing and printing only."""

import click

import bezierflow as bf
from bezierflow.arguments import printable

from .printing import check_writable, json_option, or_fail, write_json
from .reading import Task, task_options
from .stating import Statement, statement_options


@click.command()
@task_options
@statement_options
@json_option
def check(task: Task, statement: Statement, json_path: str | None) -> None:
    """Look at PROBLEM before a run: a built-in name such as scaled-med, or file.py:function.

    Shapes, finite values, gradients against differences, noise, kinks, what an evaluation costs,
    and what solve will do. The exit code is 1 where something was found that makes a run fail or
    its answer wrong.
    """
    check_writable(json_path)
    start = None if task.x0 is None and statement.has_bounds else task.start
    settings = {key: statement.settings[key] for key in ("bounds", "maximize", "transforms")}
    report = or_fail(bf.check, statement.named(task.objectives), start, **settings)
    click.echo("\n".join(map(printable, str(report).split("\n"))))
    figures = {key: value for key, value in vars(report).items() if key != "names"}
    figures |= {
        "values": report.values.tolist(),
        "ranges": report.ranges.tolist(),
        "names": report.names.to_dict(),
    }
    write_json(json_path, figures)
    if not report.ok:
        raise SystemExit(1)
