"""Evaluates a traced function with a say in its kinks: every |e|, ‖e‖, max and min that depends on
x is handed to a visitor.

Those without effect on slopes (see `effects`) are evaluated as they are.

Each kink is brought to the form base + gain · u with u = max_k e_k of its arms e_k. Two arms a, b
that do not depend on other kinks become ±(a − b), since max(a, b) = (a + b + |a − b|) / 2: kinks at
the same place then have the same arms up to a factor, however they are written. A Euclidean norm √Σ
e_k², a root of a sum of squares in the trace, is handed over with its terms e_k.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from ..precision import double_precision
from .effects import CALLS, effective, felt, inner_jaxprs, is_constant_nonnegative, is_nonnegative

CONSTANT, SMOOTH, KINKED = 0, 1, 2
"""How a value depends on x: not at all, without kinks, through a kink."""

KINKS = frozenset({"abs", "max", "min", "reduce_max", "reduce_min"})

OTHER_KINKS = frozenset(
    {"sort", "top_k", "cummax", "cummin", "reduce_window_max", "reduce_window_min"}
)
"""Kinked operations that cannot be lifted."""

SHAPES = frozenset({"broadcast_in_dim", "convert_element_type", "reshape", "squeeze", "copy"})
"""Operations that only give numbers another form."""


class Kinks(NamedTuple):
    """The n kinks of one operation: the largest of the arms of each, or the Euclidean norm of its
    terms."""

    parts: Float[Array, "n_parts n"]
    is_norm: bool

    @property
    def values(self) -> Float[Array, " n"]:
        """What they are. The slope of a norm at 0, which is not defined, is 0 here."""
        if not self.is_norm:
            return self.parts.max(axis=0)
        squares = jnp.sum(self.parts**2, axis=0)
        return jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1.0)), 0.0)


PARTS = frozenset({"slice", "squeeze", "reshape"})
"""Operations by which a part of an array is taken."""

Visitor = Callable[[Kinks], Float[Array, " n"]]
"""From n kinks to the values u that take their place."""


class Entry(NamedTuple):
    """A value, how it depends on x, the terms e_k, one a row, where it is known to be Σ e_k², and
    whether it surely is ≥ 0."""

    value: ArrayLike
    level: int
    terms: Array | None = None
    nonnegative: bool = False


def evaluate(
    objectives: Callable[[Array], Array], x: Float[Array, " n_variables"], visit: Visitor
) -> Array:
    """What the objectives are at x if each kink's maximum is what the visitor says, in the order of
    evaluation."""
    traced = jax.make_jaxpr(lambda x: objectives(x))(x)
    return jnp.asarray(_walk(traced, [Entry(x, SMOOTH)], [True], visit)[0].value)


def _walk(
    closed: ClosedJaxpr, arguments: Iterable[Entry], marks: list[bool], visit: Visitor
) -> list[Entry]:
    """The outputs; marked are those whose slopes count."""
    jaxpr, consts, marked = closed.jaxpr, closed.consts, felt(closed.jaxpr, marks)
    known = dict(zip(jaxpr.constvars, (Entry(const, CONSTANT) for const in consts), strict=True))
    known |= dict(zip(jaxpr.invars, arguments, strict=True))

    def read(atom: Var | Literal) -> Entry:
        return Entry(atom.val, CONSTANT) if isinstance(atom, Literal) else known[atom]

    parts: dict[tuple[str, str, int], list[Entry]] = {}
    for equation in jaxpr.eqns:
        name, inputs = equation.primitive.name, [read(atom) for atom in equation.invars]
        own_marks = [out in marked for out in equation.outvars]
        # the same part taken twice is one entry, so that a product with itself is seen to be one
        if name in PARTS:
            key = (name, str(equation.params), id(inputs[0].value))
            outputs = parts[key] = parts.get(key) or _apply(equation, inputs, own_marks, visit)
        else:
            outputs = _apply(equation, inputs, own_marks, visit)
        known |= dict(zip(equation.outvars, outputs, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _apply(
    equation: JaxprEqn, inputs: list[Entry], marks: list[bool], visit: Visitor
) -> list[Entry]:
    """The outputs of one operation; marked are those whose slopes count."""
    level = max((entry.level for entry in inputs), default=CONSTANT)
    values = [entry.value for entry in inputs]
    if level == CONSTANT or not any(marks) or _is_idle(equation, inputs):
        return _bind(equation, inputs, level)
    if is_kink(equation) and jnp.issubdtype(jnp.result_type(*values), jnp.floating):
        return [Entry(_meet_kink(equation, list(map(jnp.asarray, values)), level, visit), KINKED)]
    if level == SMOOTH and _is_root(equation) and inputs[0].terms is not None:
        terms = inputs[0].terms
        return [
            Entry(
                visit(Kinks(terms.reshape(len(terms), -1), True)).reshape(terms.shape[1:]), KINKED
            )
        ]
    if is_open(equation):
        (inner,) = inner_jaxprs(equation)
        return _walk(inner, inputs, marks, visit)
    return _bind(equation, inputs, level)


def _is_idle(equation: JaxprEqn, inputs: list[Entry]) -> bool:
    """Whether an operation is the absolute value of what is nowhere negative."""
    return equation.primitive.name == "abs" and inputs[0].nonnegative


def _bind(equation: JaxprEqn, inputs: list[Entry], level: int) -> list[Entry]:
    """The outputs of an operation as it is."""
    bound = equation.primitive.get_bind_params(equation.params)
    # a pair in older versions of JAX
    functions, parameters = bound if isinstance(bound, tuple) else ([], bound)
    outputs = equation.primitive.bind(*functions, *(entry.value for entry in inputs), **parameters)
    if equation.primitive.multiple_results:
        return [Entry(value, level) for value in outputs]
    terms = _terms(equation, inputs, outputs) if level == SMOOTH else None
    return [Entry(outputs, level, terms, is_nonnegative(equation, map(_is_nonnegative, inputs)))]


def _is_nonnegative(entry: Entry) -> bool:
    return entry.nonnegative or (entry.level == CONSTANT and is_constant_nonnegative(entry.value))


def _terms(equation: JaxprEqn, inputs: list[Entry], value: Array) -> Array | None:
    """The numbers whose squares an operation's value is the sum of, one row each; None where it is
    not seen to be one."""
    name, first = equation.primitive.name, inputs[0]
    if _is_square(equation, inputs):
        return jnp.asarray(first.value) if name == "dot_general" else jnp.asarray(first.value)[None]
    known = [entry.terms for entry in inputs if entry.terms is not None]
    if len(known) != len(inputs):
        return None
    if name == "add" and known[0].shape[1:] == known[1].shape[1:]:
        return jnp.concatenate(known)
    if name == "reduce_sum":
        axes = tuple(axis + 1 for axis in equation.params["axes"])
        terms = jnp.moveaxis(known[0], axes, range(1, 1 + len(axes)))
        return terms.reshape(-1, *value.shape)
    return (
        known[0].reshape(-1, *value.shape)
        if name in SHAPES and value.size == jnp.size(first.value)
        else None
    )


def _is_square(equation: JaxprEqn, inputs: list[Entry]) -> bool:
    """Whether an operation squares its numbers, or adds up their squares where they are those of a
    vector."""
    name, twice = equation.primitive.name, len(inputs) == 2 and inputs[0] is inputs[1]
    power = name == "square" or (name == "integer_pow" and equation.params["y"] == 2)
    return power or (
        twice and (name == "mul" or (name == "dot_general" and jnp.ndim(inputs[0].value) == 1))
    )


def _is_root(equation: JaxprEqn) -> bool:
    power = equation.invars[-1]
    half = (
        equation.primitive.name == "pow"
        and isinstance(power, Literal)
        and np.ndim(power.val) == 0
        and power.val == 0.5
    )
    return equation.primitive.name == "sqrt" or bool(half)


def _meet_kink(equation: JaxprEqn, values: list[Array], level: int, visit: Visitor) -> Array:
    """The output of a kink, from what the visitor makes of its arms."""
    arms, sign = _arms(equation, values)
    shape, arms = arms.shape[1:], arms.reshape(len(arms), -1)
    base, gain = jnp.zeros(arms.shape[1]), sign
    if len(arms) == 2 and level == SMOOTH:
        difference = arms[0] - arms[1]
        arms, base, gain = jnp.stack([difference, -difference]), (arms[0] + arms[1]) / 2, sign / 2
    else:
        arms = sign * arms
    return (base + gain * visit(Kinks(arms, False))).reshape(shape)


def _arms(equation: JaxprEqn, values: list[Array]) -> tuple[Float[Array, "n_arms *shape"], float]:
    """What a kink is the largest of, one row an arm, and −1 where it is the smallest."""
    name = equation.primitive.name
    sign = -1.0 if name in ("min", "reduce_min") else 1.0
    if name == "abs":
        return jnp.stack([values[0], -values[0]]), sign
    if name in ("max", "min"):
        return jnp.stack(jnp.broadcast_arrays(*values)), sign
    axes = equation.params["axes"]
    arms = jnp.moveaxis(values[0], axes, range(len(axes)))
    return arms.reshape(-1, *arms.shape[len(axes) :]), sign


def is_kink(equation: JaxprEqn) -> bool:
    """Whether an operation has kinks that can be lifted. The larger of a number and −inf has
    none."""
    endless = any(
        isinstance(atom, Literal) and np.isinf(atom.val).all() for atom in equation.invars
    )
    return equation.primitive.name in KINKS and not endless


def is_open(equation: JaxprEqn) -> bool:
    """Whether an operation is a call with kinks inside that can be reached.

    A function with a derivative of its own is left closed, since it may be smooth in spite of the
    kinks inside (softplus), unless it is nothing but a kink (relu).
    """
    inner = inner_jaxprs(equation)
    if equation.primitive.name not in CALLS or not any(
        has_kinks(jaxpr) or _has_roots(jaxpr) for jaxpr in inner
    ):
        return False
    return equation.primitive.name != "custom_jvp_call" or _is_bare(equation)


def _is_bare(equation: JaxprEqn) -> bool:
    name = equation.primitive.name
    inner = [part for jaxpr in inner_jaxprs(equation) for part in jaxpr.jaxpr.eqns]
    return name in KINKS | SHAPES or (name in CALLS and all(map(_is_bare, inner)))


def has_kinks(jaxpr: ClosedJaxpr) -> bool:
    """Whether there is a kink anywhere inside whose slopes reach the outputs."""
    return any(
        is_kink(equation) or any(map(has_kinks, inner_jaxprs(equation)))
        for equation in effective(jaxpr)
    )


def _has_roots(jaxpr: ClosedJaxpr) -> bool:
    return any(
        _is_root(equation) or any(map(_has_roots, inner_jaxprs(equation)))
        for equation in jaxpr.jaxpr.eqns
    )


def beyond_reach(jaxpr: ClosedJaxpr) -> list[str]:
    """What may have kinks that cannot be lifted, or not for sure: operations, loops with kinks
    inside, roots of sums (at 0)."""
    return [name for equations in _bodies(jaxpr) for name in _unliftable(equations)]


class Size(NamedTuple):
    """How many kinks an operation has, how many parts each, and whether they are norms."""

    n_parts: int
    n: int
    is_norm: bool


def count_kinks(objectives: Callable[[Array], Array], n_variables: int) -> list[Size]:
    """The sizes of the operations with kinks. The objectives are traced and not evaluated."""
    sizes: list[Size] = []

    def visit(kinks: Kinks) -> Float[Array, " n"]:
        n_parts, n = kinks.parts.shape
        sizes.append(Size(n_parts, n, kinks.is_norm))
        return kinks.values

    with double_precision():
        jax.eval_shape(
            lambda x: evaluate(objectives, x, visit),
            jax.ShapeDtypeStruct((n_variables,), np.float64),
        )
    return sizes


def _bodies(jaxpr: ClosedJaxpr) -> Iterator[list[JaxprEqn]]:
    yield jaxpr.jaxpr.eqns
    for equation in jaxpr.jaxpr.eqns:
        if equation.primitive.name in CALLS and (
            equation.primitive.name != "custom_jvp_call" or _is_bare(equation)
        ):
            for inner in inner_jaxprs(equation):
                yield from _bodies(inner)


def _unliftable(equations: list[JaxprEqn]) -> Iterator[str]:
    """Names of what may have kinks. A root of a sum, also of parts of it or behind a condition, is
    taken for a norm."""
    sums: set[int] = set()
    for equation in equations:
        name, of_sum = equation.primitive.name, any(id(atom) in sums for atom in equation.invars)
        if name in ("reduce_sum", "dot_general") or (
            of_sum and name in CALLS | SHAPES | {"select_n", "slice", "max"}
        ):
            sums |= {id(out) for out in equation.outvars}
        if name == "sqrt" and of_sum:
            yield "norm"
        elif name in OTHER_KINKS or (
            name in ("scan", "while", "cond") and any(map(has_kinks, inner_jaxprs(equation)))
        ):
            yield name
