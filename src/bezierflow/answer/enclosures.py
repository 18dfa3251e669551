"""What a traced function does to whole sets of arguments at once, proved: an interpreter of its
formula, operation by operation.

Two kinds of sets share it. An `Interval` holds the numbers between two ends, and infinite ends are
allowed. A `Model` holds the functions on a simplex that are no farther than `rest` from a Bézier
simplex of fixed degree (a Taylor model in the Bernstein basis): errors do not grow with the width
of the simplex as those of intervals do, but with its power of the degree plus one. Both allow for
the rounding of each operation. Where a value is not defined on the whole set it is NaN, and so is
all that is made of it.

Values are flat: rows are members of a batch of sets, columns entries of the array that the function
is traced with. What does not depend on the arguments stays an array.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import factorial, pi, prod
from operator import add, mul, neg
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn
from jax.interpreters.partial_eval import dce_jaxpr

from ..bezier import design_matrix, elevate
from ..jaxprs import CALLS, bind, inner, interpret
from ..simplex import index_positions, lobatto_nodes, multi_indices, multinomials, n_controls

EPS = float(np.finfo(float).eps)
ULPS = 4
"""Library functions are off by at most this many roundings."""


class Enclosure:
    """Sets of arrays of numbers, which add and multiply with each other, and with numbers and
    arrays on either side."""

    # NumPy leaves sums and products with arrays on the left to this class.
    __array_ufunc__ = None

    def __add__(self: Any, other: Any) -> Any:
        return self.plus(other if isinstance(other, Enclosure) else self.constant(self._row(other)))

    def __mul__(self: Any, other: Any) -> Any:
        if isinstance(other, Enclosure):
            return self.times(other)
        return self.scaled(self._row(other))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self: Any) -> Any:
        return self * -1.0

    def _row(self: Any, values: Any) -> np.ndarray:
        """One number for each entry."""
        return values if np.ndim(values) else np.full(self.range[0].shape[1], values, dtype=float)


@dataclass(frozen=True)
class Interval(Enclosure):
    """All numbers from `low` to `high`, one row per box."""

    low: np.ndarray
    high: np.ndarray

    def constant(self, values: np.ndarray) -> "Interval":
        """These numbers, in every box."""
        rows = np.broadcast_to(values, (len(self.low), values.shape[-1]))
        return Interval(rows, rows)

    @property
    def range(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends."""
        return self.low, self.high

    def take(self, columns: np.ndarray) -> "Interval":
        """These entries."""
        return Interval(self.low[:, columns], self.high[:, columns])

    @staticmethod
    def join(parts: "Sequence[Interval]") -> "Interval":
        """All entries of all parts."""
        ends = zip(*(part.range for part in parts), strict=True)
        return Interval(*(np.concatenate(end, axis=1) for end in ends))

    def scaled(self, factor: np.ndarray) -> "Interval":
        """Times numbers."""
        return self.times(self.constant(factor))

    def plus(self, other: "Interval") -> "Interval":
        """The sum u + v."""
        return _outward(self.low + other.low, self.high + other.high)

    def times(self, other: "Interval") -> "Interval":
        """The product u v."""
        ends = [_product(a, b) for a in self.range for b in other.range]
        return _outward(np.minimum.reduce(ends), np.maximum.reduce(ends))

    def total(self, count: int) -> "Interval":
        """Sums of so many neighbors."""
        low, high = (end.reshape(len(end), -1, count) for end in self.range)
        slack = count * EPS * np.maximum(np.abs(low), np.abs(high)).sum(axis=2)
        # the sum of an infinite end has no rounding
        slack = np.where(np.isinf(slack), 0, slack)
        return _outward(low.sum(axis=2) - slack, high.sum(axis=2) + slack)

    def whole_power(self, power: int) -> "Interval":
        """Powers u^power, power > 0."""
        low, high = self.low**power, self.high**power
        if power % 2:
            return _outward(low, high)
        spans = (self.low < 0) & (self.high > 0)
        return _outward(np.where(spans, 0, np.minimum(low, high)), np.maximum(low, high))

    def exp(self) -> "Interval":
        """Exponentials e^u."""
        return _outward(np.exp(self.low), np.exp(self.high))

    def log(self) -> "Interval":
        """Logarithms of u > 0."""
        low = np.where(self.low > 0, self.low, np.nan)
        return _outward(np.log(low), np.log(self.high + 0 * low))

    def power(self, power: float) -> "Interval":
        """Powers u^power of u > 0."""
        low = np.where(self.low > 0, self.low, np.nan)
        ends = low**power, (self.high + 0 * low) ** power
        return _outward(np.minimum(*ends), np.maximum(*ends))

    def sin(self, shift: float = 0.0) -> "Interval":
        """Sines of u + shift: within half the width of that in the middle."""
        finite = np.isfinite(self.low) & np.isfinite(self.high)
        low, high = np.where(finite, self.low, -9), np.where(finite, self.high, 9)
        middle, radius = np.sin((low + high) / 2 + shift), (high - low) / 2
        radius = radius + ULPS * EPS * (1 + np.abs(low) + np.abs(high))
        radius = np.where(np.isnan(self.low), np.nan, radius)
        return Interval(np.maximum(middle - radius, -1), np.minimum(middle + radius, 1))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products, with 0 times infinity 0."""
    zero = ((a == 0) & ~np.isnan(b)) | ((b == 0) & ~np.isnan(a))
    return np.where(zero, 0, a * b)


def _outward(low: np.ndarray, high: np.ndarray) -> Interval:
    # np.spacing(inf) is NaN, and 0 stays 0: zeros of the formula are exact
    low, high = (np.asarray(end, dtype=float) for end in (low, high))
    slack = [np.where(np.isinf(end), 0, ULPS * EPS * np.abs(end)) for end in (low, high)]
    return Interval(low - slack[0], high + slack[1])


@dataclass(frozen=True)
class Model(Enclosure):
    """Functions on Δ^{M−1} within `rest` of a Bézier simplex, one row per simplex.

    Attributes:
        net: its control points, along the last axis.
        rest: how far they are from it at most.
        n_objectives: M.
        degree: of the Bézier simplex.
    """

    net: np.ndarray
    rest: np.ndarray
    n_objectives: int
    degree: int

    def _with(self, net: np.ndarray, rest: np.ndarray) -> "Model":
        return Model(net, rest, self.n_objectives, self.degree)

    @property
    def size(self) -> np.ndarray:
        """The longest control point of each entry."""
        return np.abs(self.net).max(axis=2)

    @property
    def range(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the values."""
        return self.net.min(axis=2) - self.rest, self.net.max(axis=2) + self.rest

    def constant(self, values: np.ndarray) -> "Model":
        """These numbers, on every simplex."""
        shape = (len(self.net), values.shape[-1], self.net.shape[2])
        return self._with(np.broadcast_to(values[..., None], shape), np.zeros(shape[:2]))

    def take(self, columns: np.ndarray) -> "Model":
        """These entries."""
        return self._with(self.net[:, columns], self.rest[:, columns])

    @staticmethod
    def join(parts: "Sequence[Model]") -> "Model":
        """All entries of all parts."""
        nets, rests = (
            np.concatenate(arrays, axis=1)
            for arrays in zip(*((part.net, part.rest) for part in parts), strict=True)
        )
        return parts[0]._with(nets, rests)

    def scaled(self, factor: np.ndarray) -> "Model":
        """Times numbers."""
        rest = (self.rest + EPS * self.size) * np.abs(factor)
        return self._with(self.net * factor[..., None], rest)

    def plus(self, other: "Model") -> "Model":
        """The sum u + v."""
        net = self.net + other.net
        return self._with(net, self.rest + other.rest + EPS * np.abs(net).max(axis=2))

    def total(self, count: int) -> "Model":
        """Sums of so many neighbors."""
        shape = (len(self.net), -1, count)
        rest = (self.rest + count * EPS * self.size).reshape(shape).sum(axis=2)
        return self._with(self.net.reshape(*shape, self.net.shape[2]).sum(axis=2), rest)

    def times(self, other: "Model") -> "Model":
        """The product u v. It has twice the degree and is interpolated; control points bound what
        that changes."""
        kept, changed, rounding = _reductions(self.n_objectives, self.degree)
        one, two = self.net[:, :, None], other.net[:, :, None]
        net = net_product(one, two, self.n_objectives, self.degree, self.degree)
        lost = np.abs(net @ changed.T).max(axis=2)
        sizes = self.size, other.size
        rest = self.rest * (sizes[1] + other.rest) + sizes[0] * other.rest
        return self._with(net @ kept.T, rest + lost + rounding * sizes[0] * sizes[1])

    def whole_power(self, power: int) -> "Model":
        """Powers u^power, power > 0."""
        found = self
        for bit in f"{power:b}"[1:]:
            found = found.times(found)
            found = found.times(self) if bit == "1" else found
        return found

    def exp(self) -> "Model":
        """Exponentials e^u."""
        return self._series(
            lambda c, k: np.exp(c) / factorial(k), lambda _, high, k: np.exp(high) / factorial(k)
        )

    def log(self) -> "Model":
        """Logarithms of u > 0."""
        return self._positive()._series(
            lambda c, k: np.log(c) if k == 0 else -((-1 / c) ** k) / k,
            lambda low, _, k: low ** (-float(k)) / k,
        )

    def power(self, power: float) -> "Model":
        """Powers u^power of u > 0."""
        return self._positive()._series(
            lambda c, k: _binomial(power, k) * c ** (power - k),
            lambda low, high, k: (
                abs(_binomial(power, k)) * np.maximum(low ** (power - k), high ** (power - k))
            ),
        )

    def sin(self, shift: float = 0.0) -> "Model":
        """Sines of u + shift."""
        return self._series(
            lambda c, k: np.sin(c + shift + k * pi / 2) / factorial(k),
            lambda low, _, k: np.ones_like(low) / factorial(k),
        )

    def _positive(self) -> "Model":
        return self._with(self.net, np.where(self.range[0] > 0, self.rest, np.nan))

    def _series(self, coefficient: Callable, bound: Callable) -> "Model":
        """Σ_k a_k (u − c)^k with Lagrange's remainder, c being in the middle of the range.

        Args:
            coefficient: a_k at c.
            bound: of |a_k| anywhere between two ends.
        """
        low, high = self.range
        middle, order = (low + high) / 2, self.degree + 1
        part = self._with(self.net - middle[..., None], self.rest + EPS * self.size)
        reach = part.size + part.rest
        terms = [np.asarray(coefficient(middle, k)) for k in range(order + 1)]
        found = part.constant(terms[-1])
        for a in reversed(terms[:-1]):
            found = found.times(part)
            found = found._with(found.net + a[..., None], found.rest)
        rounding = 2 * ULPS * EPS * sum(np.abs(a) * reach**k for k, a in enumerate(terms))
        last = bound(low, high, order + 1) * reach ** (order + 1)
        return found._with(found.net, found.rest + rounding + last)


def _binomial(power: float, k: int) -> float:
    return prod((power - j) / (j + 1) for j in range(k))


def net_product(
    one: np.ndarray, other: np.ndarray, n_objectives: int, degree: int, other_degree: int
) -> np.ndarray:
    """The nets, along the last axis, of products of Bézier simplices, summed over the last axis but
    one; axes before that broadcast."""
    if degree > other_degree:
        return net_product(other, one, n_objectives, other_degree, degree)
    left = one * multinomials(n_objectives, degree)
    right = other * multinomials(n_objectives, other_degree)
    shape = np.broadcast_shapes(one.shape[:-2], other.shape[:-2])
    total = np.zeros((*shape, n_controls(n_objectives, degree + other_degree)))
    for d, columns in enumerate(_sums(n_objectives, degree, other_degree)):
        total[..., columns] += np.einsum("...m,...mk->...k", left[..., d], right)
    return total / multinomials(n_objectives, degree + other_degree)


@lru_cache(maxsize=32)
def _sums(n_objectives: int, degree: int, other_degree: int) -> np.ndarray:
    """Where the sum of a multi-index of each degree stands."""
    others = multi_indices(n_objectives, other_degree)
    return index_positions(multi_indices(n_objectives, degree)[:, None] + others)


@lru_cache(maxsize=16)
def _reductions(n_objectives: int, degree: int) -> tuple[np.ndarray, np.ndarray, float]:
    """For nets of twice a degree: those of the interpolant in the degree itself, those of the
    difference, and the rounding of a product of numbers of size 1."""
    nodes = lobatto_nodes(n_objectives, degree).t
    kept = np.linalg.solve(design_matrix(nodes, degree), design_matrix(nodes, 2 * degree))
    above = elevate(np.eye(kept.shape[0]), n_objectives, degree, 2 * degree)
    changed = np.eye(kept.shape[1]) - above @ kept
    longest = float(np.abs(kept).sum(axis=1).max())
    # Whatever `kept` is, `changed` must be what it leaves; both are sums of so many products.
    return kept, changed, 4 * kept.shape[1] * EPS * (1 + longest)


Value = Interval | Model | np.ndarray
"""An enclosure, or a constant with its shape."""


class Unsupported(ValueError):
    """An operation that the interpreter has no rule for, or none for a whole set."""


def without_dead_code(traced: ClosedJaxpr) -> ClosedJaxpr:
    """The same outputs without operations that they do not need: derivatives are traced with the
    values that they are derivatives of."""
    jaxpr, _ = dce_jaxpr(traced.jaxpr, [True] * len(traced.jaxpr.outvars), instantiate=True)
    return ClosedJaxpr(jaxpr, traced.consts)


def enclose(traced: ClosedJaxpr, arguments: Sequence[Value], derivative: bool = True) -> list[Any]:
    """Enclosures of the outputs for all arguments in the given sets.

    Args:
        traced: the function.
        arguments: flat.
        derivative: whether it is the derivative of a function that was found to be smooth. Rules of
            derivatives compare numbers to step around infinities; in a function itself comparisons
            mean pieces, which are refused.

    Raises:
        Unsupported: names the operation.
    """

    def apply(equation: JaxprEqn, inputs: list[Value]) -> list[Any]:
        if any(isinstance(value, Enclosure) for value in inputs):
            return _apply(equation, inputs, derivative)
        return [np.asarray(out) for out in bind(equation, inputs)]

    return interpret(traced, arguments, np.asarray, apply)


def _apply(equation: JaxprEqn, inputs: list[Value], derivative: bool) -> list[Any]:
    """The outputs of one operation, some inputs of which are sets."""
    name, params = equation.primitive.name, equation.params
    shapes: list[Any] = [getattr(atom.aval, "shape", ()) for atom in equation.invars]
    target = tuple(getattr(equation.outvars[0].aval, "shape", ()))
    like: Any = next(value for value in inputs if isinstance(value, Enclosure))
    if name in CALLS:
        return enclose(inner(equation)[0], inputs, derivative)
    if name in ARRAYS:
        return ARRAYS[name](equation, inputs, shapes, like)
    if name in COMPARISONS and derivative:
        return [_compare(name, inputs, shapes, target, like)]
    rule: Any = _rule(name, params)
    wide = [_wide(value, shape, target) for value, shape in zip(inputs, shapes, strict=True)]
    return [rule(*wide, params) if name == "integer_pow" else rule(*wide)]


def _rule(name: str, params: dict) -> Callable:
    """What an operation does to each entry."""
    if name in RULES:
        return RULES[name]
    if name == "custom_jvp_call" and _names(params["call_jaxpr"]) == _names_of_logaddexp():
        return _logaddexp  # softplus too; other rules of derivatives are not proved
    raise Unsupported(name)


def _names(traced: ClosedJaxpr) -> list[str]:
    """The operations of a function, in order."""
    return [equation.primitive.name for equation in traced.jaxpr.eqns]


@lru_cache(maxsize=1)
def _names_of_logaddexp() -> list[str]:
    call = jax.make_jaxpr(jax.nn.softplus)(0.0).jaxpr.eqns[0]
    return _names(call.params["jaxpr"].jaxpr.eqns[0].params["call_jaxpr"])


def _wide(value: Value, shape: tuple[int, ...], target: tuple[int, ...]) -> Value:
    """Flat entries of an array broadcast to another shape."""
    if isinstance(value, np.ndarray):
        return np.broadcast_to(value, target).reshape(-1)
    if shape == target:
        return value
    return value.take(np.broadcast_to(np.arange(prod(shape)).reshape(shape), target).reshape(-1))


def _as_set(value: Value, like: Interval | Model) -> Any:
    """An array as a set of one point."""
    return like.constant(value.reshape(-1)) if isinstance(value, np.ndarray) else value


def _lay_out(equation: JaxprEqn, inputs: list[Value], shapes: list, like: Any) -> list[Value]:
    """Operations that only put entries in other places: done to the entries' numbers."""
    if equation.primitive.name == "select_n" and not isinstance(inputs[0], np.ndarray):
        raise Unsupported("a choice that depends on x")
    moved, start, parts = [], 0, []
    for value, shape in zip(inputs, shapes, strict=True):
        kept = isinstance(value, np.ndarray) and not np.issubdtype(value.dtype, np.floating)
        if kept:  # places, or conditions
            moved.append(value)
            continue
        moved.append(np.arange(start, start + prod(shape)).reshape(shape))
        parts.append(_as_set(value, like))
        start += prod(shape)
    joined, outputs = like.join(parts), list(map(np.asarray, bind(equation, moved)))
    if any(((out < 0) | (out >= start)).any() for out in outputs):
        raise Unsupported(f"{equation.primitive.name} beyond the ends of an array")
    return [joined.take(out.reshape(-1)) for out in outputs]


def _convert(equation: JaxprEqn, inputs: list[Value], shapes: list, like: Any) -> list[Value]:
    """Other kinds of numbers: whole ones would be rounded."""
    if not np.issubdtype(equation.params["new_dtype"], np.floating):
        raise Unsupported("conversion to whole numbers")
    return [like]


def _sum(equation: JaxprEqn, inputs: list[Value], shapes: list, like: Any) -> list[Value]:
    """Sums along axes."""
    axes, places = equation.params["axes"], np.arange(prod(shapes[0])).reshape(shapes[0])
    order = np.moveaxis(places, axes, range(-len(axes), 0)).reshape(-1)
    return [like.take(order).total(prod(shapes[0][axis] for axis in axes))]


def _dot(equation: JaxprEqn, inputs: list[Value], shapes: list, like: Any) -> list[Value]:
    """Sums of products over pairs of entries."""
    places, dimensions = [], equation.params["dimension_numbers"]
    for shape, contracted, batch in zip(shapes, *dimensions, strict=True):
        free = [axis for axis in range(len(shape)) if axis not in (*contracted, *batch)]
        order = np.arange(prod(shape)).reshape(shape).transpose(*batch, *free, *contracted)
        sizes = [prod(shape[axis] for axis in axes) for axes in (batch, free, contracted)]
        places.append(order.reshape(sizes))
    (left, right), count = places, places[0].shape[2]
    left, right = np.broadcast_arrays(left[:, :, None], right[:, None])
    factors = [
        value.reshape(-1)[place] if isinstance(value, np.ndarray) else value.take(place)
        for value, place in zip(inputs, (left.reshape(-1), right.reshape(-1)), strict=True)
    ]
    if count == 0:
        return [like.constant(np.zeros(prod(left.shape[:3])))]
    return [mul(*factors).total(count)]


def _compare(name: str, inputs: list[Value], shapes: list, target: tuple, like: Any) -> np.ndarray:
    """The outcome of a comparison that is the same on all sets."""
    pairs = zip(inputs, shapes, strict=True)
    (low, high), (other_low, other_high) = (
        _as_set(_wide(value, shape, target), like).range for value, shape in pairs
    )
    undefined = np.isnan(low + other_low)
    below = (undefined | (high < other_low)).all(axis=0)
    above = (undefined | (low > other_high)).all(axis=0)
    if not (below | above).all():
        raise Unsupported(f"the comparison {name}")
    outcome = {"lt": below, "le": below, "gt": above, "ge": above, "ne": below | above}
    return outcome.get(name, np.zeros_like(below)).reshape(target)


def _reciprocal(u: Any) -> Any:
    """1/u by the sign of u, entry by entry."""
    if isinstance(u, np.ndarray):
        return 1 / u
    sign = np.where(u.range[1] < 0, -1.0, 1.0)
    return (u * sign).power(-1.0) * sign


def _whole_power(u: Any, params: dict) -> Any:
    power = params["y"]
    if power == 0:
        return u.constant(np.ones(u.range[0].shape[1]))
    found = u.whole_power(abs(power))
    return found if power > 0 else _reciprocal(found)


def _polynomial(u: Any, *coefficients: Any) -> Any:
    """Horner's rule."""
    return reduce(lambda value, a: value * u + a, coefficients[::-1])


def _power(u: Any, v: Any) -> Any:
    if not isinstance(v, np.ndarray):
        raise Unsupported("pow with an exponent that depends on x")
    powers = np.unique(v)
    if isinstance(u, np.ndarray) or len(powers) != 1:
        raise Unsupported("pow with several exponents")
    power = float(powers[0])
    whole = power.is_integer()
    return _whole_power(u, {"y": int(power)}) if whole else u.power(power)


def _logistic(u: Any) -> Any:
    return _reciprocal((-u).exp() + 1)


def _logaddexp(u: Any, v: Any) -> Any:
    return v + ((u + -v).exp() + 1).log()


ARRAYS: dict[str, Callable] = {
    **dict.fromkeys(
        (
            *("reshape", "broadcast_in_dim", "squeeze", "slice", "concatenate", "transpose", "rev"),
            *("expand_dims", "stack", "split", "gather", "dynamic_slice", "pad", "copy"),
            *("dynamic_update_slice", "select_n"),
        ),
        _lay_out,
    ),
    "convert_element_type": _convert,
    "reduce_sum": _sum,
    "dot_general": _dot,
}
"""Operations on arrays as wholes."""

COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})

RULES: dict[str, Callable] = {
    "add": add,
    "add_any": add,
    "sub": lambda u, v: u + -v,
    "mul": mul,
    "div": lambda u, v: u * _reciprocal(v),
    "neg": neg,
    "integer_pow": _whole_power,
    "square": lambda u: u.whole_power(2),
    "one_minus_square": lambda u: -u.whole_power(2) + 1,
    "polynomial": _polynomial,
    "pow": _power,
    "sqrt": lambda u: u.power(0.5),
    "rsqrt": lambda u: u.power(-0.5),
    "exp": lambda u: u.exp(),
    "exp2": lambda u: (u * np.log(2.0)).exp(),
    "expm1": lambda u: u.exp() + -1,
    "log": lambda u: u.log(),
    "log2": lambda u: u.log() * (1 / np.log(2.0)),
    "log1p": lambda u: (u + 1).log(),
    "logistic": _logistic,
    "tanh": lambda u: _logistic(u * 2) * 2 + -1,
    "sinh": lambda u: u.exp() * 0.5 + (-u).exp() * -0.5,
    "cosh": lambda u: u.exp() * 0.5 + (-u).exp() * 0.5,
    "sin": lambda u: u.sin(),
    "cos": lambda u: u.sin(pi / 2),
}
"""Smooth operations."""
