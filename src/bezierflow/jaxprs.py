"""Functions as JAX has traced them: their operations, and what these have inside."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

CALLS = frozenset({"jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint"})
"""Operations that do what they have inside, and nothing else."""


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
