"""Functions as JAX has traced them: their operations, and what these have inside."""

from collections.abc import Iterator, Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

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


def bind(equation: JaxprEqn, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of an operation for these inputs."""
    bound = equation.primitive.get_bind_params(equation.params)
    # a pair in older versions of JAX
    functions, parameters = bound if isinstance(bound, tuple) else ([], bound)
    outputs = equation.primitive.bind(*functions, *inputs, **parameters)
    return list(outputs) if equation.primitive.multiple_results else [outputs]
