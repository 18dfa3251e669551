"""`choose`: the questions of `bezierflow.decisions` to a solution file; parsing and printing
only."""

import re
from typing import TYPE_CHECKING

import click

import bezierflow as bf

from .printing import check_writable, json_option, or_fail, write_json
from .reading import file_argument, load_solution, read_number
from .stating import read_pairs

if TYPE_CHECKING:
    from bezierflow.decisions import Choice

WISH = re.compile(r"(.+?)\s*(<=|>=)\s*(.+)")

QUESTIONS = ("best", "nearest", "knee", "compromise", "robust", "ranges")


@click.command()
@file_argument
@click.argument("question", type=click.Choice(QUESTIONS))
@click.argument("values", nargs=-1)
@click.option(
    "--subject-to",
    "-s",
    "wishes",
    multiple=True,
    help='A bound on an objective such as "mass<=2"; repeat for more.',
)
@json_option
def choose(
    file: str,
    question: str,
    values: tuple[str, ...],
    wishes: tuple[str, ...],
    json_path: str | None,
) -> None:
    """Ask the solution in FILE a QUESTION.

    \b
      best cost                        the best value of an objective
      nearest cost=1 mass=2            as near as possible to what you hope for
      knee                             where more of anything begins to cost a lot
      compromise cost=1 mass=3         least in total at these prices
      robust cost=1:1 mass=2:5         least regret while prices vary
      ranges                           how far each objective ranges

    Objectives that are maximized are as large as possible, and their prices count with a minus
    sign.
    """  # noqa: D301
    check_writable(json_path)
    solution, bounds = load_solution(file), read_wishes(wishes)
    if question == "ranges":
        span = or_fail(bf.decisions.ranges, solution, bounds)
        click.echo(str(span))
        write_json(
            json_path,
            {
                "ideal": span.ideal.tolist(),
                "nadir": span.nadir.tolist(),
                "names": solution.names.to_dict(),
            },
        )
        return
    ask = getattr(bf.decisions, question)
    choice: Choice = or_fail(
        ask, solution, subject_to=bounds, **_wanted(solution, question, values)
    )
    click.echo(str(choice))
    x = solution.flat_designs(choice.t).tolist()
    write_json(
        json_path,
        {
            "question": choice.question,
            "t": choice.t.tolist(),
            "x": x,
            "f": choice.f.tolist(),
            "value": choice.value,
            "gave": [str(concession) for concession in choice.gave],
            "names": solution.names.to_dict(),
        },
    )


def _wanted(solution: "bf.Solution", question: str, values: tuple[str, ...]) -> dict[str, object]:
    """What is asked for beside bounds, as the question takes it."""
    if question == "knee":
        return {}
    if question == "best":
        if len(values) != 1:
            raise click.UsageError("best takes one objective, such as: choose FILE best cost")
        names = solution.names
        maximized = (
            values[0] in names.objectives and names.signs[names.objectives.index(values[0])] < 0
        )
        return {"maximize" if maximized else "minimize": values[0]}
    if not values:
        raise click.UsageError(
            f"{question} takes values by name, such as: choose FILE {question} cost=1 mass=2"
        )
    pairs = read_pairs(values, question)
    if question == "robust":
        return {"weights": {name: _pair(value, name) for name, value in pairs.items()}}
    return {
        "aspiration" if question == "nearest" else "weights": {
            name: read_number(value, name) for name, value in pairs.items()
        }
    }


def read_wishes(wishes: tuple[str, ...]) -> dict[str | int, tuple[float | None, float | None]]:
    """Bounds on objectives from texts such as mass<=2; two of one objective are its lowest and its
    highest value."""
    bounds: dict[str | int, tuple[float | None, float | None]] = {}
    for wish in wishes:
        parts = WISH.fullmatch(wish.strip())
        if parts is None:
            raise click.BadParameter(
                f'--subject-to must be such as "mass<=2" or "noise>=1", got {wish!r}'
            )
        name, side, limit = parts[1], parts[2], read_number(parts[3], f"--subject-to {parts[1]}")
        low, high = bounds.get(name, (None, None))
        bounds[name] = (low, limit) if side == "<=" else (limit, high)
    return bounds


def _pair(text: str, name: str) -> tuple[float, float]:
    low, sign, high = text.partition(":")
    return read_number(low, name), read_number(high if sign else low, name)
