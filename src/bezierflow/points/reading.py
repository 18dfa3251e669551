"""The door of `from_points`: designs and objective values in the forms people have them, as two
matrices with names."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..arguments import read_doubles
from ..bezier import Raveling
from ..names import Names
from ..objectives import FeasibleSet, feasible_set

NAMED_ROWS = 5
"""So many rows are named in a message; the others are counted."""

GivenNames = Names | Mapping[str, Sequence[str]]

Designs = ArrayLike | dict[str, ArrayLike]
"""One design a row: a table, a data frame too, or a dict of arrays."""


class Given(NamedTuple):
    """What `from_points` was given, checked: all points, the Pareto points among them told apart.

    Attributes:
        x: the designs as flat vectors, those of `kept` alone.
        f: their objective values.
        raveling: how a design lies in a flat vector.
        names: of objectives and variables.
        feasible: the bounds, or None.
        n_given: how many points there were.
        n_dominated: how many of them another one dominates.
        n_repeated: how many are copies of another one.
    """

    x: Float[np.ndarray, "n n_variables"]
    f: Float[np.ndarray, "n n_objectives"]
    raveling: Raveling
    names: Names
    feasible: FeasibleSet | None
    n_given: int
    n_dominated: int
    n_repeated: int


def read(X: Designs, F: ArrayLike, names: GivenNames | None, bounds: object) -> Given:
    """The Pareto points among those given, or an error in one line that says which argument is
    wrong and what to do."""
    values = _matrix(F, "F")
    designs = (
        {key: _leaf(X[key], f"X[{key!r}]") for key in X} if isinstance(X, dict) else _matrix(X, "X")
    )
    raveling = Raveling.of(designs, batch_axes=1)
    x = np.asarray(raveling.ravel(designs, batch_axes=1))
    _check_rows(x, values)
    named = _names(X, F, names).complete(values.shape[1], x.shape[1])
    feasible = _box(bounds, raveling, named, x)
    distinct = np.sort(np.unique(np.hstack([x, values]), axis=0, return_index=True)[1])
    kept = distinct[nondominated(values[distinct])]
    n_dominated = len(distinct) - len(kept)
    return Given(
        x[kept],
        values[kept],
        raveling,
        named,
        feasible,
        len(x),
        n_dominated,
        len(x) - len(distinct),
    )


def nondominated(f: Float[np.ndarray, "n n_objectives"]) -> np.ndarray:
    """Which points no other one dominates; points with equal values are all kept or none."""
    import moocore

    values, place = np.unique(f, axis=0, return_inverse=True)
    return np.asarray(moocore.is_nondominated(values))[place.ravel()]


def _matrix(table: ArrayLike, argument: str) -> Float[np.ndarray, "n width"]:
    """A table of numbers as float64, one point a row; a plain vector is one column."""
    try:
        array = np.asarray(table, dtype=float)
    except (TypeError, ValueError):
        wrong = _text_columns(table)
        where = f"; its columns {', '.join(map(repr, wrong))} do not" if wrong else ""
        raise TypeError(f"{argument} must hold numbers alone, one point a row{where}") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{argument} must be a matrix with one point a row, got shape {array.shape}"
        )
    return array


def _text_columns(table: object) -> list[str]:
    """The columns of a data frame that hold no numbers."""
    items = getattr(table, "items", None)
    return (
        [str(name) for name, column in items() if not _is_numeric(column)]
        if items is not None
        else []
    )


def _leaf(values: ArrayLike, argument: str) -> np.ndarray:
    """One part of designs that lie in a dict: an array with one point a row."""
    array = read_doubles(values, argument, "an array of numbers with one point a row")
    if array.ndim < 1:
        raise ValueError(f"{argument} must be an array with one point a row, got a single number")
    return array


def _is_numeric(column: ArrayLike) -> bool:
    try:
        np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        return False
    return True


def _check_rows(x: np.ndarray, values: np.ndarray) -> None:
    """Raises unless there are as many designs as values, all finite, of two objectives or more."""
    if len(x) != len(values):
        raise ValueError(
            f"X and F must have one row for each point, got {len(x)} and {len(values)} rows"
        )
    if values.shape[1] < 2:
        raise ValueError(
            "F must have a column for each of two objectives or more, got 1; a single objective"
            " has no trade-off, and its best point is row"
            f" {int(np.nanargmin(values)) if np.isfinite(values).any() else 0}"
        )
    bad = np.flatnonzero(~(np.isfinite(x).all(axis=1) & np.isfinite(values).all(axis=1)))
    if len(bad):
        named = ", ".join(map(str, bad[:NAMED_ROWS])) + (
            f" and {len(bad) - NAMED_ROWS} more" if len(bad) > NAMED_ROWS else ""
        )
        raise ValueError(
            f"X and F must be finite; these rows are not: {named}; leave such points out"
        )


def _names(X: Designs, F: ArrayLike, names: GivenNames | None) -> Names:
    """The names given; what they leave open comes from the columns of data frames."""
    if names is not None and not isinstance(names, Names | Mapping):
        raise TypeError(
            'names must be a bezierflow.problems.Names or {"objectives": [...], "variables":'
            f" [...]}}, got {names!r}"
        )
    given = names if isinstance(names, Names) else Names.from_dict(names or {})
    found = {kind: _column_names(table) for kind, table in (("variables", X), ("objectives", F))}
    return given.replaced(
        **{kind: texts for kind, texts in found.items() if texts and not getattr(given, kind)}
    )


def _column_names(table: object) -> tuple[str, ...]:
    """The column names of a data frame, or the name of a single column; none where they are
    numbers."""
    columns = getattr(table, "columns", None)
    if columns is None:
        name = getattr(table, "name", None)
        return (name,) if isinstance(name, str) else ()
    texts = tuple(columns)
    return texts if all(isinstance(text, str) for text in texts) else ()


def _box(bounds: object, raveling: Raveling, names: Names, x: np.ndarray) -> FeasibleSet | None:
    """The bounds, which the points must obey."""
    if bounds is None:
        return None
    box = feasible_set(bounds, None, raveling, names.variables)
    violation = np.maximum(box.lower - x, x - box.upper)
    slack = 1e-9 * (1 + np.abs(x).max(axis=0))
    if (violation > slack).any():
        row, column = map(int, np.argwhere(violation > slack)[0])
        raise ValueError(
            f"X must obey the bounds, but {names.variables[column]} is {x[row, column]:g} in row"
            f" {row}, outside of [{box.lower[column]:g}, {box.upper[column]:g}]"
        )
    return None if box.unbounded else box
