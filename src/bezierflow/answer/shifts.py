"""Formulas without the shifts that keep exponentials from overflow.

logsumexp(u) is computed as s + log Σ exp(u_i − s), where s is the maximum of u behind a
`stop_gradient`. A maximum is not smooth, but the sum does not depend on s. That is proved here,
operation by operation: every value is v + c s or v exp(c s) with a whole number c and v free of s.
Where c = 0 in all outputs a number may stand in the place of s.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn
from jaxtyping import Array

from ..jaxprs import CALLS, bind, inner, interpret
from .enclosures import without_dead_code

LAYOUTS = frozenset(
    {"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "transpose", "slice", "copy"}
)
"""Operations that put entries of one array in other places."""

SIGNS = {"add": 1, "mul": 1, "sub": -1, "div": -1}
"""With which the weight of the second argument counts."""


class _Entry(NamedTuple):
    """A value and how each of its entries depends on a shift: v + c s, or v exp(c s) with v > 0.

    Attributes:
        value: the value.
        weights: c.
        shifts: the number of s.
        is_exponential: whether it is v exp(c s).
    """

    value: Any
    weights: np.ndarray
    shifts: np.ndarray
    is_exponential: bool = False

    @classmethod
    def free(cls, value: Any) -> "_Entry":
        """A value that does not depend on shifts."""
        none = np.zeros(np.shape(value), dtype=int)
        return cls(value, none, none)


class _Dependent(Exception):
    """A value depends on a shift in another way, or may."""


def without_shifts(objectives: Callable[[Array], Array], x: np.ndarray) -> Callable:
    """The same function with numbers, those at x, in the places of shifts; the function itself
    where there are none, or where what stands behind a `stop_gradient` may be more than a shift."""
    traced, numbers = without_dead_code(jax.make_jaxpr(lambda x: objectives(x))(x)), []
    try:
        outputs = _followed(traced, x, numbers)
    except _Dependent:
        return objectives
    if not numbers or any(output.weights.any() for output in outputs):
        return objectives
    return lambda x: _followed(traced, x, numbers)[0].value


def _followed(traced: ClosedJaxpr, x: Any, numbers: list[Any]) -> list[_Entry]:
    """The outputs of a formula at x, and how they depend on shifts.

    Args:
        traced: the formula.
        x: its argument.
        numbers: what stands in the places of shifts, in their order. To those that are missing the
            shifts themselves are appended.
    """
    sizes: list[int] = []  # of the shifts that were met

    def apply(equation: JaxprEqn, inputs: list[_Entry]) -> list[_Entry]:
        name = equation.primitive.name
        first: Any = inputs[0] if inputs else None
        if name in CALLS:
            return interpret(inner(equation)[0], inputs, _Entry.free, apply)
        if name == "stop_gradient":
            if first.weights.any():
                raise _Dependent
            if len(sizes) == len(numbers):
                numbers.append(first.value)
            value, weights = numbers[len(sizes)], np.ones_like(first.weights)
            places = sum(sizes) + np.arange(weights.size).reshape(weights.shape)
            sizes.append(weights.size)
            return [_Entry(value, weights, places)]
        if name == "abs" and first.is_exponential:
            return [first]
        values = bind(equation, [entry.value for entry in inputs])
        if not any(entry.weights.any() for entry in inputs):
            return [_Entry.free(value) for value in values]
        weights, shifts, is_exponential = _dependence(equation, inputs)
        (value,) = values
        return [_Entry(value, np.asarray(weights), np.asarray(shifts), is_exponential)]

    return interpret(traced, [_Entry.free(x)], _Entry.free, apply)


def _dependence(equation: JaxprEqn, inputs: list[_Entry]) -> tuple[Any, Any, bool]:
    """Weights, shifts and whether it is v exp(c s), of the output of an operation."""
    name, first = equation.primitive.name, inputs[0]
    weights, shifts, exponential = first[1:]
    match name, [entry.is_exponential for entry in inputs]:
        case ("exp", [False]) | ("log", [True]):
            return weights, shifts, not exponential
        case "neg", [False]:
            return -weights, shifts, False
        case "convert_element_type", _:
            return weights, shifts, exponential
        case ("add" | "sub", [False, False]) | ("mul" | "div", [True, True]):
            return *_joined(inputs[0], inputs[1], SIGNS[name]), exponential
        case "reduce_sum", [True]:
            axes = equation.params["axes"]
            if (np.ptp(weights, axis=axes) == 0).all() and (np.ptp(shifts, axis=axes) == 0).all():
                return weights.max(axis=axes), shifts.max(axis=axes), True
    if name in LAYOUTS and len(inputs) == 1:
        with jax.ensure_compile_time_eval():  # numbers, also where values are traced
            moved = [np.asarray(bind(equation, [part])[0]) for part in (weights, shifts)]
        return moved[0], moved[1], exponential
    raise _Dependent


def _joined(one: _Entry, other: _Entry, sign: int) -> tuple[Any, Any]:
    """Of v + c s and w + d s, added or subtracted, where each pair of entries has one s."""
    (c, s), (d, r) = one[1:3], other[1:3]
    if ((c != 0) & (d != 0) & (s != r)).any():
        raise _Dependent
    return c + sign * d, np.where(c != 0, s, r)
