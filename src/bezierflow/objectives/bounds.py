"""Bounds in each form that users give them in, as two flat vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

import jax
import numpy as np
from jaxtyping import Float, PyTree

from ..bezier import Raveling

if TYPE_CHECKING:
    from scipy.optimize import Bounds

Side = Float[np.ndarray, " n_variables"]

FORMS = (
    "give (lower, upper), each a number, an array or a pytree like x, or scipy.optimize.Bounds, or"
    " pairs (low, high)"
)


def read_bounds(
    bounds: object, raveling: Raveling, variables: tuple[str, ...]
) -> tuple[Side, Side]:
    """Lower and upper bounds as flat float64 vectors, infinite where there is none, or an error in
    one line.

    `feasible_set` says which forms `bounds` may have.
    """
    lower, upper = _sides(bounds, raveling.plain)
    for side, values in (("lower", lower), ("upper", upper)):
        if np.isnan(values).any():
            name = variables[int(np.argmax(np.isnan(values)))]
            raise ValueError(
                f"bounds must be numbers, got {side} nan for {name}; give None or an infinite"
                " number for no bound"
            )
    wrong = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        i = int(np.argmax(wrong))
        found = f"lower {lower[i]:g} and upper {upper[i]:g} for {variables[i]}"
        raise ValueError(
            f"bounds must have lower <= upper, got {found}; exchange them{_hint(bounds, raveling)}"
        )
    if (lower == upper).all():
        raise ValueError(
            f"bounds fix every variable (lower == upper = {lower.tolist()}); leave one of them"
            f" free{_hint(bounds, raveling)}"
        )
    return lower / raveling.units, upper / raveling.units


def raveling_of_bounds(bounds: object, n_variables: int | None) -> Raveling | None:
    """The form of x that bounds alone tell: that of a pytree `lower`, else a vector; None where
    they do not tell its length."""
    sizes = [] if n_variables is None else [n_variables]
    if _is_scipy_bounds(bounds):
        sizes += [np.size(side) for side in (bounds.lb, bounds.ub) if np.ndim(side)]
    elif _is_sequence(bounds) and len(bounds) == 2:
        for side in bounds:
            if _is_tree(side):
                return Raveling.of(jax.tree.map(np.asarray, _without_none(side, -np.inf)))
            sizes += [np.size(side)] if np.ndim(side) else []
    elif _is_sequence(bounds):
        sizes += [len(bounds)]
    return Raveling.of(np.zeros(sizes[0])) if sizes else None


def _sides(bounds: object, raveling: Raveling) -> tuple[Side, Side]:
    n = raveling.n_variables
    if bounds is None:
        return np.full(n, -np.inf), np.full(n, np.inf)
    if _is_scipy_bounds(bounds):
        return _side(bounds.lb, raveling, -np.inf, "bounds.lb"), _side(
            bounds.ub, raveling, np.inf, "bounds.ub"
        )
    if not _is_sequence(bounds):
        raise TypeError(f"bounds must hold lower and upper bounds, got {bounds!r}; {FORMS}")
    if n == 2 and _is_list_of_two_pairs(bounds):
        return _from_two_pairs(bounds)
    if len(bounds) == 2 and not (n == 2 and _has_none(bounds)):
        return _side(bounds[0], raveling, -np.inf, "lower bounds"), _side(
            bounds[1], raveling, np.inf, "upper bounds"
        )
    if len(bounds) != n:
        raise ValueError(
            f"bounds must hold a pair (low, high) for each of the {n} variables, got {len(bounds)}"
            f" entries; {FORMS}"
        )
    return _from_pairs(bounds)


def _from_pairs(pairs: Sequence[PyTree] | np.ndarray) -> tuple[Side, Side]:
    for i, pair in enumerate(pairs):
        if not _is_sequence(pair) or len(pair) != 2:
            raise ValueError(
                f"bounds must hold pairs (low, high), got {pair!r} for variable {i + 1}; {FORMS}"
            )
    low = [-np.inf if pair[0] is None else pair[0] for pair in pairs]
    high = [np.inf if pair[1] is None else pair[1] for pair in pairs]
    return _numbers(low, "lower bounds"), _numbers(high, "upper bounds")


def _from_two_pairs(bounds: Sequence[PyTree]) -> tuple[Side, Side]:
    """A list of two pairs, as SciPy takes it, unless it would do as (lower, upper) too: then nobody
    knows which is meant."""
    pairs, sides = (
        _from_pairs(bounds),
        (
            np.array(bounds[0], dtype=np.float64),
            np.array(bounds[1], dtype=np.float64),
        ),
    )
    if not (_hold_something(*pairs) and _hold_something(*sides)) or np.array_equal(pairs, sides):
        return pairs if _hold_something(*pairs) else sides
    raise ValueError(
        f"bounds {bounds!r} of two variables may be read as two pairs (low, high) or as lower and"
        " upper: give a tuple (lower, upper) of arrays, or scipy.optimize.Bounds(lower, upper)"
    )


def _hold_something(lower: Side, upper: Side) -> bool:
    """Whether these are bounds of something that can vary."""
    return bool((lower <= upper).all() and (lower < upper).any())


def _side(side: PyTree, raveling: Raveling, none: float, argument: str) -> Side:
    """One side as a flat vector: from None, a number, a pytree like x (whose leaves may be
    numbers), or L numbers."""
    n, side = raveling.n_variables, _without_none(side, none)
    leaves, treedef = jax.tree.flatten(side)
    if not raveling.is_vector and treedef == raveling.treedef:
        arrays = [_numbers(leaf, argument) for leaf in leaves]
        try:
            parts = [
                np.broadcast_to(leaf, shape).ravel()
                for leaf, shape in zip(arrays, raveling.shapes, strict=True)
            ]
        except ValueError:
            shapes = [leaf.shape for leaf in arrays]
            raise ValueError(
                f"{argument} must have leaves like x, {list(raveling.shapes)}, got shapes {shapes}"
            ) from None
        return np.concatenate(parts)
    if _is_tree(side):
        raise ValueError(f"{argument} must be a pytree like x ({raveling}), got {treedef}; {FORMS}")
    numbers = _numbers(side, argument)
    if numbers.ndim == 0 or numbers.shape == (1,):
        return np.full(n, float(numbers.reshape(())))
    if numbers.shape != (n,):
        raise ValueError(
            f"{argument} must hold {n} numbers, one for each variable, got shape {numbers.shape};"
            f" {FORMS}"
        )
    return numbers


def _numbers(values: object, argument: str) -> np.ndarray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} must be numbers, got {values!r}; {FORMS}") from None


def _without_none(side: PyTree, none: float) -> PyTree:
    return jax.tree.map(
        lambda leaf: none if leaf is None else leaf, side, is_leaf=lambda leaf: leaf is None
    )


def _is_tree(side: object) -> bool:
    """Whether this is a pytree of arrays and not an array, a number, None, or a plain sequence of
    numbers."""
    if side is None or _is_leaf(side):
        return False
    plain = isinstance(side, list | tuple) and all(
        entry is None or (_is_leaf(entry) and np.ndim(entry) == 0) for entry in side
    )
    return not plain


def _is_leaf(value: object) -> bool:
    return jax.tree.structure(value) == jax.tree.structure(0)


def _has_none(bounds: Sequence[PyTree] | np.ndarray) -> bool:
    """Whether an entry is a pair of numbers with None in it: no array has that."""
    return all(_is_sequence(entry) and len(entry) == 2 for entry in bounds) and any(
        v is None for entry in bounds for v in entry
    )


def _is_list_of_two_pairs(bounds: Sequence[PyTree]) -> bool:
    numbers = (int, float, np.integer, np.floating)
    return (
        isinstance(bounds, list)
        and len(bounds) == 2
        and all(
            isinstance(entry, tuple)
            and len(entry) == 2
            and all(isinstance(value, numbers) for value in entry)
            for entry in bounds
        )
    )


def _is_sequence(value: object) -> TypeGuard[Sequence[PyTree]]:
    return isinstance(value, list | tuple) or (
        isinstance(value, np.ndarray | jax.Array) and value.ndim > 0
    )


def _is_scipy_bounds(bounds: object) -> TypeGuard["Bounds"]:
    from scipy.optimize import Bounds  # a third of a second that only bounded problems need

    return isinstance(bounds, Bounds)


def _hint(bounds: object, raveling: Raveling) -> str:
    """What may have gone wrong where two pairs were read as two arrays."""
    if (
        raveling.n_variables == 2
        and _is_sequence(bounds)
        and all(_is_sequence(side) for side in bounds)
    ):
        return "; for two variables, two entries are read as (lower, upper), not as two pairs"
    return ""
