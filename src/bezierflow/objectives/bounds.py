"""Bounds in each form that users give them in, as two flat vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import jax
import numpy as np
from jaxtyping import Float, PyTree

from ..bezier import Raveling
from ..names import numbered

Side = Float[np.ndarray, " n_variables"]

FORMS = (
    "give (lower, upper), each a number, an array or a pytree like x, or scipy.optimize.Bounds, or"
    " pairs (low, high)"
)


@dataclass(frozen=True)
class Bounds:
    """Bounds of x as they were read: flat float64 vectors in the user's units.

    Attributes:
        raveling: the form of x, without units.
        lower: −inf where there is no bound.
        upper: +inf where there is no bound.
    """

    raveling: Raveling
    lower: Side
    upper: Side

    @property
    def is_everything(self) -> bool:
        """Whether no variable has a bound."""
        return not (np.isfinite(self.lower).any() or np.isfinite(self.upper).any())


def read_bounds(
    bounds: object, raveling: Raveling | None = None, variables: Sequence[str] | None = None
) -> Bounds:
    """The bounds of x, or an error in one line. What was read before is returned as it is.

    Args:
        bounds: None; `(lower, upper)`, each a number, an array, a pytree like x or None;
            `scipy.optimize.Bounds`; or one pair `(low, high)` for each variable, with None for no
            bound. Where x has two variables, two entries of two numbers each are read the way that
            leaves more variables to vary, whatever holds them. Where both leave as many, a tuple
            of two lists is `(lower, upper)`, entries that hold None are pairs, and others are
            refused. Two arrays are always `(lower, upper)`. A variable with lower == upper is
            fixed; bounds that fix all of them are refused.
        raveling: the form of x; None where the bounds have to tell it.
        variables: their names in messages; x1, x2, … if not given.
    """
    if isinstance(bounds, Bounds):
        return bounds
    form = raveling_of_bounds(bounds) if raveling is None else raveling.plain
    if form is None:
        raise ValueError(
            f"bounds={bounds!r} do not tell how many variables there are: give (lower, upper) as"
            " arrays"
        )
    n, (lower, upper) = form.n_variables, _sides(bounds, form)
    if bounds is None:
        return Bounds(form, lower, upper)
    # those given may be too few, which is for the reader of names to say
    names = [*(variables or ()), *numbered("x", n)]
    for side, values in (("lower", lower), ("upper", upper)):
        if np.isnan(values).any():
            name = names[int(np.argmax(np.isnan(values)))]
            raise ValueError(
                f"bounds must be numbers, got {side} nan for {name}; give None or an infinite"
                " number for no bound"
            )
    wrong = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"bounds must have lower <= upper, got lower {lower[i]:g} and upper {upper[i]:g} for"
            f" {names[i]}; exchange them"
        )
    if (lower == upper).all():
        raise ValueError(
            f"bounds fix every variable (lower == upper = {lower.tolist()}); leave one of them free"
        )
    return Bounds(form, lower, upper)


def raveling_of_bounds(bounds: object, n_variables: int | None = None) -> Raveling | None:
    """The form of x that bounds alone tell: that of a pytree `lower`, else a vector; None where
    they do not tell its length."""
    sides, sizes = _parts(bounds), [] if n_variables is None else [n_variables]
    if len(sides) != 2:
        sizes.append(len(sides))
    else:
        for side in sides:
            if _is_tree(side):
                return Raveling.of(jax.tree.map(np.asarray, _without_none(side, -np.inf)))
            sizes += [np.size(side)] if np.ndim(side) else []
    return Raveling.of(np.zeros(sizes[0])) if sizes else None


def _parts(bounds: object) -> Sequence[PyTree]:
    """Lower and upper bounds, or a pair for each variable."""
    if bounds is None:
        return (None, None)
    from scipy.optimize import Bounds as SciPyBounds  # a third of a second that bounds alone need

    if isinstance(bounds, SciPyBounds):
        return (bounds.lb, bounds.ub)
    if not _is_sequence(bounds):
        raise TypeError(f"bounds must hold lower and upper bounds, got {bounds!r}; {FORMS}")
    return bounds if isinstance(bounds, list) else tuple(bounds)


def _sides(bounds: object, form: Raveling) -> tuple[Side, Side]:
    """Lower and upper bounds as flat vectors, from two sides or from pairs."""
    parts, n = _parts(bounds), form.n_variables
    is_matrix = isinstance(bounds, np.ndarray | jax.Array)
    if len(parts) != 2 or (n == 2 and _are_pairs(parts, is_matrix)):
        return _from_pairs(parts, n)
    lower, upper = parts
    return _side(lower, form, -np.inf, "lower bounds"), _side(upper, form, np.inf, "upper bounds")


def _are_pairs(bounds: Sequence[PyTree], is_matrix: bool) -> bool:
    """Whether two entries for two variables are pairs (low, high), and not lower and upper; an
    error where nobody knows which is meant."""
    if not all(_is_sequence(entry) and len(entry) == 2 for entry in bounds):
        return False
    entries = [*bounds[0], *bounds[1]]
    arrays = not is_matrix and all(isinstance(entry, np.ndarray | jax.Array) for entry in bounds)
    if arrays or max(map(np.ndim, entries)):  # or leaves of a pytree
        return False
    # two sides are two pairs of one low and one high each, the other way round
    as_sides, as_pairs = _from_pairs([*zip(*bounds, strict=True)], 2), _from_pairs(bounds, 2)
    sides, pairs = _n_varying(*as_sides), _n_varying(*as_pairs)
    if sides != pairs or sides == 0 or np.array_equal(as_sides, as_pairs):
        return pairs > sides
    return None in entries or _refuse_either(bounds)


def _refuse_either(bounds: Sequence[PyTree]) -> bool:
    """False for a tuple of two lists, which is (lower, upper) as it is written; an error for what
    may be two pairs as well."""
    if not (isinstance(bounds, tuple) and all(isinstance(entry, list) for entry in bounds)):
        raise ValueError(
            f"bounds {bounds!r} of two variables may be read as two pairs (low, high) or as lower"
            " and upper: give a tuple (lower, upper) of lists or arrays, or"
            " scipy.optimize.Bounds(lower, upper)"
        )
    return False


def _n_varying(lower: Side, upper: Side) -> int:
    """How many variables may vary; 0 where bounds are exchanged."""
    return int((lower < upper).sum()) if (lower <= upper).all() else 0


def _from_pairs(pairs: Sequence[PyTree], n: int) -> tuple[Side, Side]:
    if len(pairs) != n:
        raise ValueError(
            f"bounds must hold a pair (low, high) for each of the {n} variables, got {len(pairs)}"
            f" entries; {FORMS}"
        )
    for i, pair in enumerate(pairs):
        if not _is_sequence(pair) or len(pair) != 2:
            raise ValueError(
                f"bounds must hold pairs (low, high), got {pair!r} for variable {i + 1}; {FORMS}"
            )
    low = [-np.inf if pair[0] is None else pair[0] for pair in pairs]
    high = [np.inf if pair[1] is None else pair[1] for pair in pairs]
    return _numbers(low, "lower bounds"), _numbers(high, "upper bounds")


def _side(side: PyTree, form: Raveling, none: float, argument: str) -> Side:
    """One side as a flat vector: from None, a number, a pytree like x (whose leaves may be
    numbers), or L numbers."""
    n, side = form.n_variables, _without_none(side, none)
    leaves, treedef = jax.tree.flatten(side)
    if not form.is_vector and treedef == form.treedef:
        arrays = [_numbers(leaf, argument) for leaf in leaves]
        try:
            parts = map(np.broadcast_to, arrays, form.shapes)
            return np.concatenate([part.ravel() for part in parts])
        except ValueError:
            raise ValueError(
                f"{argument} must have leaves like x, {list(form.shapes)}, got shapes"
                f" {[leaf.shape for leaf in arrays]}"
            ) from None
    if _is_tree(side):
        raise ValueError(f"{argument} must be a pytree like x ({form}), got {treedef}; {FORMS}")
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


def _is_tree(side: PyTree) -> bool:
    """Whether this is a pytree of arrays and not an array, a number, None, or a plain sequence of
    numbers."""
    plain = isinstance(side, list | tuple)
    entries = side if plain else [side]
    return not all(
        entry is None or (jax.tree_util.all_leaves([entry]) and not (plain and np.ndim(entry)))
        for entry in entries
    )


def _is_sequence(value: object) -> TypeGuard[Sequence[PyTree]]:
    return isinstance(value, list | tuple) or (
        isinstance(value, np.ndarray | jax.Array) and value.ndim > 0
    )
