"""An array that NumPy's functions take for one of their own, and that JAX traces."""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy
import jax.scipy.stats
import numpy as np
from jax.core import Tracer

RENAMED = {"lgamma": "gammaln", "fsum": "sum", "asanyarray": "asarray", "alltrue": "all"}
RENAMED["asarray_chkfinite"] = "asarray"
"""Functions that JAX has under another name."""


class NotTraceableError(BaseException):
    """What stands in the way of tracing, in words.

    Not an `Exception`: the `except Exception` of a user's function must not swallow it.
    """


class SideEffectError(NotTraceableError):
    """The function does more than to compute: it counts, keeps, prints, or waits."""


class TracedArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array like NumPy's whose value is a NumPy array while it is a constant, and a tracer of
    JAX's as soon as it depends on x.

    It can be written to, as NumPy's arrays can, and what basic indexing returns is a view: writing
    to the view writes to its base.
    """

    __array_priority__ = 1000

    def __init__(self, value: Any, base: "TracedArray | None" = None, index: Any = None):
        self._value, self._base, self._index = value, base, index
        self.is_written = False  # by a constant, as a counter is

    def reset(self, value: np.ndarray) -> None:
        """The value it had at first."""
        self._value, self.is_written = value, False

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        """NumPy's arrays: functions ask `isinstance(x, np.ndarray)`."""
        return np.ndarray

    @property
    def value(self) -> Any:
        """The array or tracer itself."""
        return self._value if self._base is None else self._base.value[self._index]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's element-wise functions, their reductions, and writing in place."""
        out, where = (options.pop("out", None) or (None,))[0], options.pop("where", True)
        options = {k: v for k, v in options.items() if k in ("axis", "keepdims", "initial")}
        function, twin = ufunc, twin_of(ufunc)
        if method != "__call__":
            function, twin = getattr(ufunc, method), getattr(twin, method, None)
            options.update({} if where is True else {"where": where})
        found = apply(function, twin, inputs, options)
        if method == "__call__" and where is not True:
            # outside of `where` NumPy leaves what `out` held
            found = apply(np.where, jnp.where, (where, found, 0.0 if out is None else out), {})
        return found if out is None else _written(out, found)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's other functions."""
        return apply(function, twin_of(function), args, kwargs)

    def __jax_array__(self) -> jax.Array:
        """For functions of JAX's."""
        return jnp.asarray(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A constant for compiled code; a value that depends on x cannot be one."""
        return np.array(self._constant("is passed to compiled code"), dtype=dtype)

    def _constant(self, what: str) -> np.ndarray:
        value = self.value
        if isinstance(value, Tracer):
            raise NotTraceableError(what)
        return np.asarray(value)

    def __getattr__(self, name: str) -> Any:
        """Attributes and methods of arrays."""
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("dot", "copy", "flatten", "tolist", "item", "fill", "astype", "flat", "sort"):
            return _METHODS[name](self)
        found = getattr(self.value, name)
        if not callable(found):
            return wrapped(found)

        def method(*args: Any, **kwargs: Any) -> Any:
            value, args = self.value, unwrapped(args)
            kwargs = {key: unwrapped(part) for key, part in kwargs.items()}
            if kwargs.pop("out", None) is not None:
                raise NotTraceableError(f"writes what {name} returns into an array")
            if has_tracer(args) and not isinstance(value, Tracer):
                value = jnp.asarray(value)
            if isinstance(value, Tracer):
                kwargs.pop("order", None)
            return wrapped(getattr(value, name)(*args, **kwargs))

        return method

    def __len__(self) -> int:
        """Along the first axis."""
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        """Along the first axis."""
        return (self[i] for i in range(len(self.value)))

    def __getitem__(self, index: Any) -> Any:
        """A view, or a number of a constant."""
        index = _without_lists(unwrapped(index))
        value = self.value
        if has_tracer(index):
            value = jnp.asarray(value)
        if _is_mask(index) and isinstance(index, Tracer):
            raise NotTraceableError("picks entries by a condition on x")
        found = value[index]
        if not isinstance(found, Tracer | np.ndarray):
            return found
        # a number is a copy in NumPy, and so is what lists and masks pick
        is_view = found.ndim > 0 and all(
            isinstance(part, int | np.integer | slice | type(...) | type(None))
            for part in (index if isinstance(index, tuple) else (index,))
        )
        return TracedArray(None, self, index) if is_view else TracedArray(found)

    def __setitem__(self, index: Any, new: Any) -> None:
        """Writing in place."""
        if self._base is not None:
            part = TracedArray(self.value)
            part[index] = new
            self._base[self._index] = part.value
            return
        index, new, value = _without_lists(unwrapped(index)), unwrapped(new), self._value
        if not has_tracer((index, new, value)):
            if not self.is_written:  # it may be an array of the user's
                self._value, self.is_written = np.array(value), True
            self._value[index] = new
            return
        whole, new = jnp.asarray(value), jnp.asarray(_as_array(new))
        if isinstance(index, Tracer) and _is_mask(index):
            self._value = jnp.where(index, new, whole)
            return
        # NumPy takes an array of one entry where a number is due
        room = jax.eval_shape(lambda: whole[index]).shape
        new = new.reshape(room) if new.ndim > len(room) and new.size == math.prod(room) else new
        self._value = whole.at[index].set(new)

    def __bool__(self) -> bool:
        """Of constants only."""
        return bool(self._constant("branches on a value that depends on x (np.where does not)"))

    def __float__(self) -> float:
        """Of constants only."""
        return float(self._constant("makes a Python number of a value that depends on x"))

    def __int__(self) -> int:
        """Of constants only."""
        return int(self._constant("makes a whole number of a value that depends on x"))

    def __index__(self) -> int:
        """Of constants only."""
        return int(self._constant("counts or indexes by a value that depends on x"))

    def __round__(self, digits: int = 0) -> Any:
        """As NumPy rounds."""
        return apply(np.round, jnp.round, (self, digits), {})

    def __format__(self, how: str) -> str:
        """Of constants only."""
        return format(self._constant("writes a value that depends on x into a text"), how)

    def __hash__(self) -> int:
        """Of none: NumPy's arrays cannot be hashed either."""
        raise TypeError("unhashable type: 'numpy.ndarray'")


_METHODS: dict[str, Callable[[TracedArray], Any]] = {
    "dot": lambda a: lambda b: apply(np.dot, jnp.dot, (a, b), {}),
    "copy": lambda a: lambda *_, **__: TracedArray(_own(a.value)),
    "flatten": lambda a: lambda *_: TracedArray(_own(a.value).reshape(-1)),
    "tolist": lambda a: lambda: [e.tolist() if np.ndim(e) else e for e in a] if a.ndim else a,
    "item": lambda a: lambda *i: a[i] if len(i) > 1 else a.reshape(-1)[i[0] if i else 0],
    "astype": lambda a: lambda dtype, *_, **__: TracedArray(_own(a.value).astype(dtype)),
    "flat": lambda a: a.reshape(-1),
    "fill": lambda a: lambda number: a.__setitem__(..., number),
    "sort": lambda a: lambda axis=-1: a.__setitem__(..., apply(np.sort, jnp.sort, (a, axis), {})),
}
"""Methods that change an array, or that JAX's arrays have not or do otherwise."""


def _own(value: Any) -> Any:
    return value if isinstance(value, Tracer) else np.array(value)


def _without_lists(index: Any) -> Any:
    """An index with arrays for lists, which JAX does not take: the free entries of a load."""
    if type(index) is tuple:
        return tuple(map(_without_lists, index))
    if type(index) is list:
        return (
            _as_array(index) if has_tracer(index) else np.array(index, int if not index else None)
        )
    return index


def _is_mask(index: Any) -> bool:
    return getattr(index, "dtype", None) == np.dtype(bool)


def unwrapped(value: Any) -> Any:
    """The same with arrays and tracers in place of traced arrays."""
    if type(value) is TracedArray:
        return value.value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(unwrapped, value))
    if type(value) in (list, tuple):
        return type(value)([unwrapped(part) for part in value])
    if type(value) is dict:
        return {key: unwrapped(part) for key, part in value.items()}
    if type(value) is slice:
        return slice(*(unwrapped(part) for part in (value.start, value.stop, value.step)))
    if type(value) is np.ndarray and value.dtype == object:
        return unwrapped(value.tolist())
    return value


def wrapped(value: Any) -> Any:
    """The same with traced arrays in place of arrays and tracers."""
    if isinstance(value, Tracer | jax.Array) or type(value) is np.ndarray:
        return TracedArray(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(wrapped, value))
    if type(value) in (list, tuple):
        return type(value)([wrapped(part) for part in value])
    return value


def has_tracer(value: Any) -> bool:
    """Whether something depends on x."""
    if type(value) in (list, tuple):
        return any(map(has_tracer, value))
    if type(value) is dict:
        return any(map(has_tracer, value.values()))
    if type(value) is slice:
        return has_tracer([value.start, value.stop, value.step])
    return isinstance(value, Tracer) or (
        type(value) is TracedArray and isinstance(value.value, Tracer)
    )


def apply(function: Any, twin: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's function of constants, JAX's of what depends on x."""
    out = kwargs.get("out")
    args = unwrapped(tuple(args))
    kwargs = {key: unwrapped(v) for key, v in kwargs.items() if key != "out"}
    if not has_tracer(args) and not has_tracer(kwargs):
        found = function(*args, **kwargs)
    elif twin is None:
        raise NotTraceableError(f"calls {name_of(function)}, which JAX has no counterpart of")
    else:
        found = _call_twin(twin, args, kwargs)
    return wrapped(found) if out is None else _written(out, found)


def _call_twin(twin: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    # NumPy's arguments that mean nothing to a value that is not in memory
    given = {k: v for k, v in kwargs.items() if k not in ("order", "subok", "like", "copy")}
    no_value = getattr(np, "_NoValue", None)
    given = {k: _as_array(v) for k, v in given.items() if v is not no_value}
    args = list(map(_as_array, args))
    try:
        return twin(*args, **given)
    except TypeError:  # JAX takes no lists of numbers; shapes and axes it does
        given = {k: np.asarray(v) if type(v) is list else v for k, v in given.items()}
        return twin(*(np.asarray(a) if type(a) is list else a for a in args), **given)


def _written(out: Any, found: Any) -> Any:
    if type(out) is not TracedArray:
        raise NotTraceableError("writes a value that depends on x into a plain NumPy array")
    out[...] = found
    return out


def _as_array(value: Any) -> Any:
    """A list of numbers of which some depend on x as one array; a list of arrays as it is, for they
    may be of several shapes, with arrays for lists in it."""
    if not (isinstance(value, list | tuple) and has_tracer(value)):
        return value
    parts = [_as_array(part) for part in value]
    parts = [np.asarray(part) if isinstance(part, list | tuple) else part for part in parts]
    return jnp.asarray(parts) if len({jnp.shape(part) for part in parts}) == 1 else parts


def _extreme(builtin: Callable[..., Any], beats: np.ufunc) -> Callable[..., Any]:
    def better(best: Any, other: Any) -> Any:
        # Python's own rule, for ties and for what is not a number
        return apply(np.where, jnp.where, (beats(other, best), other, best), {})

    def find(*args: Any, **options: Any) -> Any:
        parts = list(args if len(args) != 1 else args[0])
        if options or not has_tracer(parts):
            return builtin(parts, **options)
        return functools.reduce(better, map(wrapped, parts))

    return find


def _sorted(parts: Any, *, key: Any = None, reverse: bool = False) -> list[Any]:
    parts = list(parts)
    if key is not None or not has_tracer(parts):
        return sorted(parts, key=key, reverse=reverse)
    found = list(apply(np.sort, jnp.sort, (parts,), {}))
    return found[::-1] if reverse else found


COMPARING = {"max": _extreme(max, np.greater), "min": _extreme(min, np.less), "sorted": _sorted}
"""Python's own functions that compare values, as `max(0, g)` does, for traced ones too."""


def name_of(function: Any) -> str:
    """What a function is called in messages."""
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np')}.{getattr(function, '__name__', function)}"


def is_distribution(value: Any) -> bool:
    """Whether this is one of SciPy's distributions, as `stats.norm`, whose methods JAX may have."""
    return (getattr(type(value), "__module__", None) or "").startswith("scipy.stats._continuous")


def _math_twin(name: str) -> Callable[..., Any] | None:
    if name == "log":
        return lambda x, base=None: jnp.log(x) if base is None else jnp.log(x) / jnp.log(base)
    if name in ("hypot", "dist"):
        return lambda *v: jnp.linalg.norm(jnp.stack(v) if name == "hypot" else v[0] - v[1])
    return getattr(jnp, name, None) or getattr(jax.scipy.special, name, None)


@functools.cache
def twin_of(function: Any) -> Callable[..., Any] | None:
    """JAX's function for one of NumPy's, SciPy's or Python's `math`; None where there is none."""
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", None) or ""
    name = RENAMED.get(name, name)
    owner: Any = getattr(function, "__self__", None)
    if is_distribution(owner):
        return getattr(getattr(jax.scipy.stats, owner.name, None), name, None)
    if module == "math":
        return _math_twin(name)
    if function in (np.copyto, np.fill_diagonal, np.put, np.place, np.putmask):
        return None
    if isinstance(function, np.ufunc):
        return getattr(jnp, name, None) or getattr(jax.scipy.special, name, None)
    for prefix, place in _PLACES.items():
        if module.startswith(prefix):
            found = getattr(place, name, None)
            return getattr(jnp.linalg, name, None) if (found, prefix) == _MISSING else found
    return getattr(jnp, name, None) if module.split(".")[0] == "numpy" else None


_PLACES: dict[str, Any] = {
    "numpy.linalg": jnp.linalg,
    "numpy.fft": jnp.fft,
    "numpy.random": None,
    "scipy.special": jax.scipy.special,
    "scipy.linalg": jax.scipy.linalg,
}
_MISSING = None, "scipy.linalg"
"""What NumPy has under the same name: `norm`, `eigvalsh`."""
