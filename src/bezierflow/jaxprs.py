"""Functions as JAX has traced them: their operations, and what these have inside."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

CALLS = frozenset({"jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint"})
"""Operations that do what they have inside, and nothing else."""

LINEAR = frozenset(
    {
        *("add", "add_any", "sub", "neg", "reduce_sum", "cumsum", "concatenate", "reshape", "rev"),
        *("broadcast_in_dim", "squeeze", "expand_dims", "transpose", "slice", "split", "pad"),
        *("stack", "unstack", "copy"),
    }
)
"""Operations that are linear in all of their inputs together."""

LINEAR_BUT_FOR = {
    "div": slice(1, 2),
    "gather": slice(1, 2),
    "dynamic_slice": slice(1, None),
    "scatter": slice(1, 2),
    "scatter-add": slice(1, 2),
    "select_n": slice(0, 1),
}
"""The same as long as some of the inputs are constant: a divisor, indices, a choice."""


def inner(equation: JaxprEqn) -> list[ClosedJaxpr]:
    """What a call, a loop or a condition has inside."""
    found: list[ClosedJaxpr] = []
    # conditions have a tuple of branches; what is open has no constants of its own
    for value in equation.params.values():
        for part in value if isinstance(value, list | tuple) else [value]:
            if isinstance(part, ClosedJaxpr):
                found.append(part)
            elif isinstance(part, Jaxpr):
                found.append(ClosedJaxpr(part, []))
    return found


def operations(traced: ClosedJaxpr) -> Iterator[str]:
    """The names of all operations, with those inside of others."""
    for equation in traced.jaxpr.eqns:
        yield equation.primitive.name
        for part in inner(equation):
            yield from operations(part)


def interpret(
    traced: ClosedJaxpr,
    inputs: Iterable[Any],
    constant: Callable[[Any], Any],
    apply: Callable[[JaxprEqn, list[Any]], list[Any]],
) -> list[Any]:
    """The outputs of a function on values of another kind, operation by operation.

    Args:
        traced: the function.
        inputs: one value per argument.
        constant: makes a value of a number or an array that the trace holds.
        apply: from an operation and its inputs to its outputs.
    """
    jaxpr = traced.jaxpr
    known = dict(zip(jaxpr.constvars, map(constant, traced.consts), strict=True))
    known |= dict(zip(jaxpr.invars, inputs, strict=True))

    def read(atom: Any) -> Any:
        return constant(atom.val) if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        outputs = apply(equation, [read(atom) for atom in equation.invars])
        known |= dict(zip(equation.outvars, outputs, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def bind(equation: JaxprEqn, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of an operation for these inputs."""
    bound = equation.primitive.get_bind_params(equation.params)
    # a pair in older versions of JAX
    functions, parameters = bound if isinstance(bound, tuple) else ([], bound)
    outputs = equation.primitive.bind(*functions, *inputs, **parameters)
    return list(outputs) if equation.primitive.multiple_results else [outputs]


def degree(traced: ClosedJaxpr) -> float:
    """The degree at most of a function that is a polynomial of its arguments, as its operations
    tell; infinite where they do not."""

    def apply(equation: JaxprEqn, known: list[float]) -> list[float]:
        name, most = equation.primitive.name, max(known, default=0.0)
        if most == 0.0:
            found = 0.0
        elif name in CALLS:
            return degrees(inner(equation)[0], known)
        elif name in ("mul", "dot_general"):
            found = sum(known)
        elif name == "square" or (name == "integer_pow" and equation.params["y"] >= 0):
            found = most * equation.params.get("y", 2)
        elif name in LINEAR_BUT_FOR and not any(known[LINEAR_BUT_FOR[name]]):
            found = most
        elif name == "convert_element_type":
            found = most if np.issubdtype(equation.params["new_dtype"], np.inexact) else np.inf
        else:
            found = most if name in LINEAR else np.inf
        return [found] * len(equation.outvars)

    def degrees(part: ClosedJaxpr, known: list[float]) -> list[float]:
        return interpret(part, known, lambda _: 0.0, apply)

    return max(degrees(traced, [1.0] * len(traced.jaxpr.invars)), default=0.0)
