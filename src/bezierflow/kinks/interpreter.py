"""Evaluates a traced function with a say in its kinks: every |e|, ‖e‖, max and min that depends on
x is handed to a visitor.

Each kink is brought to the form base + gain · u with u = max_k e_k of its arms e_k. Two arms a, b
that do not depend on other kinks become ±(a − b), since max(a, b) = (a + b + |a − b|) / 2: kinks at
the same place then have the same arms up to a factor, however they are written. A Euclidean norm √Σ
e_k², a root of a sum of squares in the trace, is handed over with its terms e_k.

Kinks without effect on slopes are evaluated as they are. Two kinds are found, both in every
log-sum-exp: a value that reaches the results through `stop_gradient` only, as the largest score
does that is taken off before exponentials, has no slopes; and the absolute value of what is nowhere
negative, as a sum of exponentials, is that number.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from ..jaxprs import CALLS as PLAIN_CALLS
from ..jaxprs import bind, inner, interpret
from ..precision import double_precision

CONSTANT, SMOOTH, KINKED = 0, 1, 2
"""How a value depends on x: not at all, without kinks, through a kink."""

KINKS = frozenset({"abs", "max", "min", "reduce_max", "reduce_min"})

OTHER_KINKS = frozenset(
    {"sort", "top_k", "cummax", "cummin", "reduce_window_max", "reduce_window_min"}
)
"""Kinked operations that cannot be lifted."""

CALLS = PLAIN_CALLS | {"custom_jvp_call"}
"""Calls whose kinks can be reached, and those that have a derivative of their own."""

PARTS = frozenset({"slice", "squeeze", "reshape"})
"""Operations by which a part of an array is taken."""

SHAPES = frozenset({"broadcast_in_dim", "convert_element_type", "reshape", "squeeze", "copy"})
"""Operations that only give numbers another form."""

NONNEGATIVE = frozenset({"exp", "exp2", "abs", "square", "sqrt", "logistic"})
"""Operations whose values are nowhere negative."""

KEEP_SIGNS = SHAPES | {
    *("add", "mul", "div", "max", "min", "pow", "reduce_sum", "reduce_max", "reduce_min"),
    *("cumsum", "dot_general", "transpose", "slice", "concatenate", "stack"),
}
"""Operations whose values are nowhere negative where none of their inputs is."""


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
        # twice, since JAX differentiates both branches and the slope of a root at 0 is infinite
        return jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1.0)), 0.0)


Visitor = Callable[[Kinks], Float[Array, " n"]]
"""From n kinks to the values u that take their place."""


class Entry(NamedTuple):
    """A value, how it depends on x, the terms e_k, one per row, where it is known to be Σ e_k², and
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
    # a plain function: JAX asks what it traces for its name, which a problem spells out at length
    traced = jax.make_jaxpr(lambda x: objectives(x))(x)
    return jnp.asarray(_walk(traced, [Entry(x, SMOOTH)], [True], visit)[0].value)


def count_kinks(
    objectives: Callable[[Array], Array], n_variables: int
) -> list[tuple[int, int, bool]]:
    """For each operation with kinks how many parts each has, how many there are, and whether they
    are norms. The objectives are traced and not evaluated."""
    sizes: list[tuple[int, int, bool]] = []

    def visit(kinks: Kinks) -> Float[Array, " n"]:
        sizes.append((len(kinks.parts), kinks.parts.shape[1], kinks.is_norm))
        return kinks.values

    with double_precision():
        x = jax.ShapeDtypeStruct((n_variables,), np.float64)
        jax.eval_shape(lambda x: evaluate(objectives, x, visit), x)
    return sizes


def _walk(
    closed: ClosedJaxpr, arguments: Iterable[Entry], marks: list[bool], visit: Visitor
) -> list[Entry]:
    """The outputs; marked are those whose slopes count."""
    marked = _felt(closed.jaxpr, marks)
    parts: dict[tuple[str, str, int], list[Entry]] = {}

    def apply(equation: JaxprEqn, inputs: list[Entry]) -> list[Entry]:
        # the same part taken twice is one entry, so that a product with itself is seen to be one
        name = equation.primitive.name
        key = (name, str(equation.params), id(inputs[0].value)) if name in PARTS else None
        outputs = None if key is None else parts.get(key)
        if outputs is None:
            own_marks = [out in marked for out in equation.outvars]
            outputs = _apply(equation, inputs, own_marks, visit)
        if key is not None:
            parts[key] = outputs
        return outputs

    return interpret(closed, arguments, lambda value: Entry(value, CONSTANT), apply)


def _apply(
    equation: JaxprEqn, inputs: list[Entry], marks: list[bool], visit: Visitor
) -> list[Entry]:
    """The outputs of one operation; marked are those whose slopes count."""
    level = max((entry.level for entry in inputs), default=CONSTANT)
    if level > CONSTANT and any(marks):
        if _is_met(equation, inputs):
            return [Entry(_meet_kink(equation, inputs, level, visit), KINKED)]
        terms = inputs[0].terms
        if level == SMOOTH and _is_root(equation) and terms is not None:
            norms = visit(Kinks(terms.reshape(len(terms), -1), True))
            return [Entry(norms.reshape(terms.shape[1:]), KINKED)]
        if _can_enter(equation) and any(has_kinks(part, roots=True) for part in inner(equation)):
            return _walk(inner(equation)[0], inputs, marks, visit)
    return _bind(equation, inputs, level)


def _bind(equation: JaxprEqn, inputs: list[Entry], level: int) -> list[Entry]:
    """The outputs of an operation as it is."""
    outputs = bind(equation, [entry.value for entry in inputs])
    if equation.primitive.multiple_results:
        return [Entry(value, level) for value in outputs]
    (value,) = outputs
    signs = [
        entry.nonnegative or (entry.level == CONSTANT and _is_constant_nonnegative(entry.value))
        for entry in inputs
    ]
    terms = _terms(equation, inputs, value) if level == SMOOTH else None
    return [Entry(value, level, terms, _is_nonnegative(equation, signs))]


def _is_met(equation: JaxprEqn, inputs: list[Entry]) -> bool:
    """Whether an operation has kinks for these inputs: |e| has none where e is nowhere negative,
    nor has anything of whole numbers."""
    if not _is_kink(equation) or (equation.primitive.name == "abs" and inputs[0].nonnegative):
        return False
    return jnp.issubdtype(jnp.result_type(*(entry.value for entry in inputs)), jnp.floating)


def _meet_kink(equation: JaxprEqn, inputs: list[Entry], level: int, visit: Visitor) -> Array:
    """The output of a kink, from what the visitor makes of its arms, one per row."""
    name, values = equation.primitive.name, [jnp.asarray(entry.value) for entry in inputs]
    sign = -1.0 if name in ("min", "reduce_min") else 1.0
    if name == "abs":
        arms = jnp.stack([values[0], -values[0]])
    elif name in ("max", "min"):
        arms = jnp.stack(jnp.broadcast_arrays(*values))
    else:
        axes = equation.params["axes"]
        arms = jnp.moveaxis(values[0], axes, range(len(axes)))
        arms = arms.reshape(-1, *arms.shape[len(axes) :])
    shape, arms = arms.shape[1:], arms.reshape(len(arms), -1)
    # arms that depend on other kinks stay apart: each has to be nondecreasing in those
    if len(arms) == 2 and level == SMOOTH:
        difference, base = arms[0] - arms[1], (arms[0] + arms[1]) / 2
        u = visit(Kinks(jnp.stack([difference, -difference]), False))
        return (base + sign / 2 * u).reshape(shape)
    return (sign * visit(Kinks(sign * arms, False))).reshape(shape)


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
    same_size = name in SHAPES and value.size == jnp.size(first.value)
    return known[0].reshape(-1, *value.shape) if same_size else None


def _is_square(equation: JaxprEqn, inputs: list[Entry]) -> bool:
    """Whether an operation squares its numbers, or adds up their squares where they are those of a
    vector."""
    name, twice = equation.primitive.name, len(inputs) == 2 and inputs[0] is inputs[1]
    if name == "square" or (name == "integer_pow" and equation.params["y"] == 2):
        return True
    vectors = name == "dot_general" and jnp.ndim(inputs[0].value) == 1
    return twice and (name == "mul" or vectors)


def _is_root(equation: JaxprEqn) -> bool:
    name, power = equation.primitive.name, equation.invars[-1]
    half = isinstance(power, Literal) and np.ndim(power.val) == 0 and bool(power.val == 0.5)
    return name == "sqrt" or (name == "pow" and half)


def _is_kink(equation: JaxprEqn) -> bool:
    """Whether an operation has kinks that can be lifted. The larger of a number and −inf has
    none."""
    endless = any(
        isinstance(atom, Literal) and np.isinf(atom.val).all() for atom in equation.invars
    )
    return equation.primitive.name in KINKS and not endless


def _can_enter(equation: JaxprEqn) -> bool:
    """Whether an operation is a call whose kinks can be reached.

    A function with a derivative of its own is left closed, since it may be smooth in spite of the
    kinks inside (softplus), unless it is nothing but a kink (relu).
    """
    name = equation.primitive.name
    return name in PLAIN_CALLS or (name in CALLS and _is_bare(equation))


def _is_bare(equation: JaxprEqn) -> bool:
    name = equation.primitive.name
    inside = [part for jaxpr in inner(equation) for part in jaxpr.jaxpr.eqns]
    return name in KINKS | SHAPES or (name in CALLS and all(map(_is_bare, inside)))


def has_kinks(jaxpr: ClosedJaxpr, roots: bool = False) -> bool:
    """Whether there is a kink anywhere inside whose slopes reach the outputs, or, where asked for,
    a root."""
    return any(
        _is_kink(equation)
        or (roots and _is_root(equation))
        or any(has_kinks(part, roots) for part in inner(equation))
        for equation in _effective(jaxpr)
    )


def beyond_reach(jaxpr: ClosedJaxpr) -> Iterator[str]:
    """Names of what may have kinks that cannot be lifted, or not for sure: operations, loops with
    kinks inside, roots of sums (at 0).

    A root of a sum, also of parts of it or behind a condition, is taken for a norm.
    """
    sums: set[int] = set()
    for equation in jaxpr.jaxpr.eqns:
        name, of_sum = equation.primitive.name, any(id(atom) in sums for atom in equation.invars)
        carries = name in CALLS | SHAPES | {"select_n", "slice", "max"}
        if name in ("reduce_sum", "dot_general") or (of_sum and carries):
            sums |= {id(out) for out in equation.outvars}
        if name == "sqrt" and of_sum:
            yield "norm"
        elif _hides_kinks(equation):
            yield name
        elif _can_enter(equation):
            for part in inner(equation):
                yield from beyond_reach(part)


def _hides_kinks(equation: JaxprEqn) -> bool:
    """Whether an operation has kinks of a kind that cannot be lifted, or others out of reach."""
    name = equation.primitive.name
    # what has a derivative of its own may be smooth in spite of kinks inside
    closed = name not in CALLS | {"custom_vjp_call"}
    return name in OTHER_KINKS or (closed and any(map(has_kinks, inner(equation))))


def _felt(jaxpr: Jaxpr, outputs: Iterable[bool]) -> set[Var]:
    """The variables whose slopes reach one of the marked outputs."""
    atoms = zip(jaxpr.outvars, outputs, strict=True)
    found = {atom for atom, marked in atoms if marked and isinstance(atom, Var)}
    for equation in reversed(jaxpr.eqns):
        marks = [out in found for out in equation.outvars]
        if any(marks) and equation.primitive.name != "stop_gradient":
            found |= {atom for atom in _felt_inputs(equation, marks) if isinstance(atom, Var)}
    return found


def _felt_inputs(equation: JaxprEqn, marks: list[bool]) -> list[Var | Literal]:
    """The inputs of an operation whose slopes reach its marked outputs; those of loops and
    conditions all do."""
    parts = inner(equation)
    if equation.primitive.name not in PLAIN_CALLS or len(parts) != 1:
        return list(equation.invars)
    inside, own = _felt(parts[0].jaxpr, marks), parts[0].jaxpr.invars
    return [atom for atom, name in zip(equation.invars, own, strict=True) if name in inside]


def _effective(jaxpr: ClosedJaxpr) -> list[JaxprEqn]:
    """The operations whose slopes reach the outputs, without absolute values of what is nowhere
    negative."""
    marked = _felt(jaxpr.jaxpr, [True] * len(jaxpr.jaxpr.outvars))
    # those of an inner trace may be unknown
    constants = dict(zip(jaxpr.jaxpr.constvars, jaxpr.consts, strict=False))
    nonnegative: set[Var] = set()

    def sign(atom: Var | Literal) -> bool:
        if isinstance(atom, Literal):
            return _is_constant_nonnegative(atom.val)
        return atom in nonnegative or (
            atom in constants and _is_constant_nonnegative(constants[atom])
        )

    found = []
    for equation in jaxpr.jaxpr.eqns:
        idle = equation.primitive.name == "abs" and sign(equation.invars[0])
        if not idle and any(out in marked for out in equation.outvars):
            found.append(equation)
        if _is_nonnegative(equation, map(sign, equation.invars)):
            nonnegative |= set(equation.outvars)
    return found


def _is_nonnegative(equation: JaxprEqn, inputs: Iterable[bool]) -> bool:
    """Whether the value of an operation is nowhere negative, given which inputs are."""
    name = equation.primitive.name
    even = name == "integer_pow" and equation.params["y"] % 2 == 0
    return name in NONNEGATIVE or even or (name in KEEP_SIGNS and all(inputs))


def _is_constant_nonnegative(value: ArrayLike) -> bool:
    """Whether no number of a constant is below 0; no where it is not known yet."""
    known = not isinstance(value, Tracer) and jnp.issubdtype(jnp.result_type(value), jnp.number)
    return known and bool((np.asarray(value) >= 0).all())
