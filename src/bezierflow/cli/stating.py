"""What a user types about a problem: names, directions, bounds, logarithmic variables, and how
exact the answer shall be."""

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import bezierflow as bf

from .printing import or_fail
from .reading import read_numbers

if TYPE_CHECKING:
    import numpy as np


class Statement(NamedTuple):
    """What was said about the problem, as `minimize` takes it, and the names of objectives and
    variables."""

    names: tuple[str, ...]
    variables: tuple[str, ...]
    settings: dict[str, Any]

    def named(self, objectives: Callable) -> Callable:
        """The problem with the names and units given, if any."""
        given = dict(
            zip(("objectives", "objective_units"), _names_and_units(self.names), strict=True)
        ) | dict(
            zip(("variables", "variable_units"), _names_and_units(self.variables), strict=True)
        )
        given = {key: texts for key, texts in given.items() if texts}
        if not given:
            return objectives
        problem = (
            objectives
            if isinstance(objectives, bf.problems.AbstractProblem)
            else bf.problems.Problem(objectives)
        )
        return or_fail(problem.with_names, **given)

    @property
    def has_bounds(self) -> bool:
        """Whether bounds were given, which say where to start."""
        return self.settings["bounds"] is not None


def statement_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds options about the problem, and hands them to the command as one `Statement`."""

    @click.option(
        "--names",
        help='Names of the objectives with commas, with units if you like: "cost [EUR],mass [kg]".',
    )
    @click.option("--variables", help='Names of the variables, likewise: "rate,width [mm]".')
    @click.option(
        "--maximize",
        help=(
            "Names of objectives to be maximized, with commas; f1, f2, … where they have no names."
        ),
    )
    @click.option(
        "--transform",
        help="Variables to be solved for by logarithms, with commas, such as rate=log10.",
    )
    @click.option(
        "--bounds",
        help="Lower and upper bounds of x: 0:1, or with a number for each variable 0,0:1,5.",
    )
    @click.option(
        "--tol", type=click.FloatRange(0), help="How exact: the largest error, relative to the set."
    )
    @click.option(
        "--budget", type=click.IntRange(0), help="The most points that --method auto may evaluate."
    )
    @wraps(command)
    def with_statement(
        names: str | None,
        variables: str | None,
        maximize: str | None,
        transform: str | None,
        bounds: str | None,
        tol: float | None,
        budget: int | None,
        **others: object,
    ) -> None:
        settings = {
            "maximize": _texts(maximize) if maximize else None,
            "transforms": read_pairs(_texts(transform), "--transform") if transform else None,
            "bounds": read_bounds(bounds) if bounds else None,
            "tol": tol,
            "budget": budget,
        }
        command(statement=Statement(_texts(names), _texts(variables), settings), **others)

    return with_statement


def read_bounds(text: str) -> "tuple[np.ndarray | float | None, ...]":
    """Lower and upper bounds: a number for all variables or one for each, nothing for no bound."""
    sides = text.split(":")
    if len(sides) != 2:
        raise click.BadParameter(
            f"--bounds must be lower:upper such as 0:1 or 0,0:1,5, got {text!r}"
        )
    read = [read_numbers(side, "--bounds") if side else None for side in sides]
    return tuple(side if side is None or len(side) > 1 else float(side[0]) for side in read)


def read_pairs(texts: tuple[str, ...], name: str) -> dict[str, str]:
    """name=value pairs."""
    pairs = [text.partition("=") for text in texts]
    for text, (key, sign, value) in zip(texts, pairs, strict=True):
        if not (key and sign and value):
            raise click.BadParameter(f"{name} must be pairs such as cost=1, got {text!r}")
    found = {key.strip(): value.strip() for key, _, value in pairs}
    if len(found) < len(texts):
        raise click.BadParameter(f"{name} must name each only once, got {', '.join(texts)}")
    return found


def _texts(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text else ()


def _names_and_units(labels: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of labels such as "cost [EUR]"."""
    parts = [re.fullmatch(r"(.*?)\s*(?:\[(.*)\])?", label) for label in labels]
    return tuple(part[1] for part in parts if part), tuple(part[2] or "" for part in parts if part)
