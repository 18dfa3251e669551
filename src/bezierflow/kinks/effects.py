"""Which operations with kinks have no effect on slopes: seen in a trace, without evaluating
anything.

Two kinds are found, both in every log-sum-exp. A value that reaches the results through
`stop_gradient` only, as the largest score does that is taken off before exponentials, has no
slopes. The absolute value of what is nowhere negative, as a sum of exponentials, is that number.
"""

from collections.abc import Iterable

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from jax.typing import ArrayLike

CALLS = frozenset(
    {"jit", "pjit", "closed_call", "core_call", "remat", "checkpoint", "custom_jvp_call"}
)
"""Calls whose kinks can be reached."""

NONNEGATIVE = frozenset({"exp", "exp2", "abs", "square", "sqrt", "logistic"})
"""Operations whose values are nowhere negative."""

KEEP_SIGNS = frozenset(
    {
        "add",
        "mul",
        "div",
        "max",
        "min",
        "pow",
        "reduce_sum",
        "reduce_max",
        "reduce_min",
        "cumsum",
        "dot_general",
    }
    | {
        "broadcast_in_dim",
        "convert_element_type",
        "reshape",
        "squeeze",
        "copy",
        "transpose",
        "slice",
        "concatenate",
    }
)
"""Operations whose values are nowhere negative where none of their inputs is."""


def inner_jaxprs(equation: JaxprEqn) -> list[ClosedJaxpr]:
    """What a call, a loop or a condition has inside."""
    found: list[ClosedJaxpr] = []
    for value in equation.params.values():
        for part in value if isinstance(value, list | tuple) else [value]:
            found += (
                [part]
                if isinstance(part, ClosedJaxpr)
                else [ClosedJaxpr(part, [])]
                if isinstance(part, Jaxpr)
                else []
            )
    return found


def felt(jaxpr: Jaxpr, outputs: Iterable[bool]) -> set[Var]:
    """The variables whose slopes reach one of the marked outputs."""
    found = {
        atom
        for atom, marked in zip(jaxpr.outvars, outputs, strict=True)
        if marked and isinstance(atom, Var)
    }
    for equation in reversed(jaxpr.eqns):
        marks = [out in found for out in equation.outvars]
        if any(marks) and equation.primitive.name != "stop_gradient":
            found |= {atom for atom in _felt_inputs(equation, marks) if isinstance(atom, Var)}
    return found


def _felt_inputs(equation: JaxprEqn, marks: list[bool]) -> list[Var | Literal]:
    """The inputs of an operation whose slopes reach its marked outputs; those of loops and
    conditions all do."""
    inner = inner_jaxprs(equation)
    if equation.primitive.name not in CALLS - {"custom_jvp_call"} or len(inner) != 1:
        return list(equation.invars)
    inside = felt(inner[0].jaxpr, marks)
    return [
        atom
        for atom, own in zip(equation.invars, inner[0].jaxpr.invars, strict=True)
        if own in inside
    ]


def is_nonnegative(equation: JaxprEqn, inputs: Iterable[bool]) -> bool:
    """Whether the value of an operation is nowhere negative, given which inputs are."""
    name = equation.primitive.name
    even = name == "integer_pow" and equation.params["y"] % 2 == 0
    return name in NONNEGATIVE or even or (name in KEEP_SIGNS and all(inputs))


def is_constant_nonnegative(value: ArrayLike) -> bool:
    """Whether no number of a constant is below 0; no where it is not known yet."""
    known = not isinstance(value, Tracer) and jnp.issubdtype(jnp.result_type(value), jnp.number)
    return known and bool((np.asarray(value) >= 0).all())


def effective(jaxpr: ClosedJaxpr) -> list[JaxprEqn]:
    """The operations whose slopes reach the outputs, without absolute values of what is nowhere
    negative."""
    marked = felt(jaxpr.jaxpr, [True] * len(jaxpr.jaxpr.outvars))
    # those of an inner trace may be unknown
    constants = dict(zip(jaxpr.jaxpr.constvars, jaxpr.consts, strict=False))
    nonnegative: set[Var] = set()

    def sign(atom: Var | Literal) -> bool:
        if isinstance(atom, Literal) or atom in constants:
            return is_constant_nonnegative(
                atom.val if isinstance(atom, Literal) else constants[atom]
            )
        return atom in nonnegative

    found = []
    for equation in jaxpr.jaxpr.eqns:
        idle = equation.primitive.name == "abs" and sign(equation.invars[0])
        if not idle and any(out in marked for out in equation.outvars):
            found.append(equation)
        nonnegative |= (
            set(equation.outvars) if is_nonnegative(equation, map(sign, equation.invars)) else set()
        )
    return found
