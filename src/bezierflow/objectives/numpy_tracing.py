"""NumPy code as a JAX program: a function written for NumPy arrays is run on arrays that record
what is done to them.

NumPy hands every call that meets a `TracedArray` to its two dispatch protocols (`__array_ufunc__`,
`__array_function__`), where jax.numpy answers. What the protocols do not see (arrays that a
function creates and writes to, `math`, its own helpers) is met in *copies* of the function and of
whatever it names: in their globals and closures modules are replaced by stand-ins, and containers
and objects by copies. The user's own function, globals and objects are never written to.
"""

import functools
import inspect
import linecache
import math
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.scipy
import numpy as np
from jax.core import Tracer

JAX = {"jax", "jaxlib", "equinox", "optax", "flax"}
LIBRARIES = JAX | {"numpy", "scipy", "torch", "pandas", "sklearn"}
"""Packages whose functions are called as they are, beside Python's own."""

IMPURE = {"asyncio", "datetime", "logging", "multiprocessing", "os", "random", "secrets", "shutil"}
IMPURE |= {"socket", "sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "urllib"}
"""Python's modules whose functions do or see more than their arguments."""

IMPURE_BUILTINS = ("exec", "eval", "input", "next", "open", "print", "setattr")

RENAMED = {"lgamma": "gammaln", "fsum": "sum", "asanyarray": "asarray", "alltrue": "all"}
"""Functions that JAX has under another name."""

MOST_COPIED = 10_000
"""Longer containers are data: they are passed on as they are."""


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
        self._is_own = False

    def reset(self, value: np.ndarray) -> None:
        """The value it had at first."""
        self._value, self._is_own = value, False

    @property
    def is_written(self) -> bool:
        """Whether a constant was written to it, as to a counter."""
        return self._is_own

    @property
    def __class__(self) -> type:
        """NumPy's arrays: functions ask `isinstance(x, np.ndarray)`."""
        return np.ndarray

    @property
    def value(self) -> Any:
        """The array or tracer itself."""
        return self._value if self._base is None else self._base.value[self._index]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's element-wise functions, their reductions, and writing in place."""
        outs, where = options.pop("out", ()), options.pop("where", True)
        for name in ("casting", "dtype", "order", "subok"):
            options.pop(name, None)
        if any(type(out) is not TracedArray for out in outs if out is not None):
            raise NotTraceableError("writes a value that depends on x into a plain NumPy array")
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        twin = _twin(ufunc)
        if twin is not None and method != "__call__":
            twin = getattr(twin, method, None)
        if method == "reduce" and where is not True:
            options["where"] = where
        found = _apply(function, twin, inputs, options)
        if method == "__call__" and where is not True:
            # outside of `where` NumPy leaves what `out` held
            before = outs[0] if outs else 0.0
            found = _apply(np.where, jnp.where, (where, found, before), {})
        if outs and outs[0] is not None:
            outs[0][...] = found
            return outs[0]
        return found

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's other functions."""
        return _apply(function, _twin(function), args, kwargs)

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
            return _wrapped(found)
        return lambda *args, **kwargs: _apply_method(self.value, name, args, kwargs)

    def __len__(self) -> int:
        """Along the first axis."""
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        """Along the first axis."""
        return (self[i] for i in range(len(self.value)))

    def __getitem__(self, index: Any) -> Any:
        """A view, or a number of a constant."""
        index = _unwrapped(index)
        value = self.value
        if _has_tracer(index):
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
        index, new, value = _unwrapped(index), _unwrapped(new), self._value
        if not _has_tracer((index, new, value)):
            if not self._is_own:  # it may be an array of the user's
                self._value, self._is_own = np.array(value), True
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
        return _apply(np.round, jnp.round, (self, digits), {})

    def __format__(self, how: str) -> str:
        """Of constants only."""
        return format(self._constant("writes a value that depends on x into a text"), how)

    def __hash__(self) -> int:
        """Of none: NumPy's arrays cannot be hashed either."""
        raise TypeError("unhashable type: 'numpy.ndarray'")


def _fill(array: TracedArray) -> Callable[..., None]:
    def fill(number: Any) -> None:
        array[...] = number

    return fill


def _sort(array: TracedArray) -> Callable[..., None]:
    def sort(axis: int = -1) -> None:
        array[...] = _apply(np.sort, jnp.sort, (array, axis), {})

    return sort


_METHODS: dict[str, Callable[[TracedArray], Any]] = {
    "dot": lambda a: lambda b: _apply(np.dot, jnp.dot, (a, b), {}),
    "copy": lambda a: lambda *_, **__: TracedArray(_own(a.value)),
    "flatten": lambda a: lambda *_: TracedArray(_own(a.value).reshape(-1)),
    "tolist": lambda a: lambda: [e.tolist() if np.ndim(e) else e for e in a] if a.ndim else a,
    "item": lambda a: lambda *i: _apply_item(a, i),
    "astype": lambda a: lambda dtype, *_, **__: TracedArray(_own(a.value).astype(dtype)),
    "flat": lambda a: a.reshape(-1),
    "fill": _fill,
    "sort": _sort,
}
"""Methods that change an array, or that JAX's arrays have not or do otherwise."""


def _apply_item(array: TracedArray, index: tuple[Any, ...]) -> Any:
    return array.reshape(-1)[index[0] if index else 0] if len(index) < 2 else array[index]


def _own(value: Any) -> Any:
    return value if isinstance(value, Tracer) else np.array(value)


def _is_mask(index: Any) -> bool:
    return getattr(index, "dtype", None) == np.dtype(bool)


def _unwrapped(value: Any) -> Any:
    """The same with arrays and tracers in place of traced arrays."""
    if type(value) is TracedArray:
        return value.value
    if type(value) in (list, tuple):
        return type(value)([_unwrapped(part) for part in value])
    if type(value) is dict:
        return {key: _unwrapped(part) for key, part in value.items()}
    if type(value) is slice:
        return slice(*(_unwrapped(part) for part in (value.start, value.stop, value.step)))
    if type(value) is np.ndarray and value.dtype == object:
        return _unwrapped(value.tolist())
    return value


def _wrapped(value: Any) -> Any:
    """The same with traced arrays in place of arrays and tracers."""
    if isinstance(value, Tracer | jax.Array) or type(value) is np.ndarray:
        return TracedArray(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_wrapped, value))
    if type(value) in (list, tuple):
        return type(value)([_wrapped(part) for part in value])
    return value


def _has_tracer(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(_has_tracer, value))
    if type(value) is dict:
        return any(map(_has_tracer, value.values()))
    if type(value) is slice:
        return _has_tracer([value.start, value.stop, value.step])
    return isinstance(value, Tracer) or (
        type(value) is TracedArray and isinstance(value.value, Tracer)
    )


def _apply(function: Any, twin: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's function of constants, JAX's of what depends on x."""
    out = kwargs.get("out")
    args = _unwrapped(tuple(args))
    kwargs = {key: _unwrapped(v) for key, v in kwargs.items() if key != "out"}
    if not _has_tracer(args) and not _has_tracer(kwargs):
        found = function(*args, **kwargs)
    elif twin is None:
        raise NotTraceableError(f"calls {_name(function)}, which JAX has no counterpart of")
    else:
        # NumPy's arguments that mean nothing to a value that is not in memory
        kwargs = {k: v for k, v in kwargs.items() if k not in ("order", "subok", "like")}
        kwargs = {k: v for k, v in kwargs.items() if v is not np._NoValue}  # type: ignore[attr-defined]
        args, kwargs = list(map(_as_array, args)), {k: _as_array(v) for k, v in kwargs.items()}
        try:
            found = twin(*args, **kwargs)
        except TypeError:  # JAX takes no lists of numbers; shapes and axes it does
            found = twin(*(np.asarray(a) if type(a) is list else a for a in args), **kwargs)
    if out is not None:
        if type(out) is not TracedArray:
            raise NotTraceableError("writes a value that depends on x into a plain NumPy array")
        out[...] = found
        return out
    return _wrapped(found)


def _as_array(value: Any) -> Any:
    """A list of numbers of which some depend on x as one array; a list of arrays as it is, for they
    may be of several shapes, with arrays for lists in it."""
    if not (isinstance(value, list | tuple) and _has_tracer(value)):
        return value
    parts = [_as_array(part) for part in value]
    parts = [np.asarray(part) if isinstance(part, list | tuple) else part for part in parts]
    return jnp.asarray(parts) if len({jnp.shape(part) for part in parts}) == 1 else parts


def _apply_method(value: Any, name: str, args: Any, kwargs: Any) -> Any:
    args, kwargs = _unwrapped(args), {key: _unwrapped(part) for key, part in kwargs.items()}
    out = kwargs.pop("out", None)
    if out is not None:
        raise NotTraceableError(f"writes what {name} returns into an array")
    if _has_tracer(args) and not isinstance(value, Tracer):
        value = jnp.asarray(value)
    if isinstance(value, Tracer):
        kwargs.pop("order", None)
    return _wrapped(getattr(value, name)(*args, **kwargs))


def _name(function: Any) -> str:
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np')}.{getattr(function, '__name__', function)}"


@functools.cache
def _twin(function: Any) -> Callable[..., Any] | None:
    """JAX's function for one of NumPy's, SciPy's or Python's `math`; None where there is none."""
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", None) or ""
    name = RENAMED.get(name, name)
    if module == "math":
        if name == "log":
            return lambda x, base=None: jnp.log(x) if base is None else jnp.log(x) / jnp.log(base)
        return getattr(jnp, name, None) or getattr(jax.scipy.special, name, None)
    if function in (np.copyto, np.fill_diagonal, np.put, np.place, np.putmask):
        return None
    if isinstance(function, np.ufunc):
        return getattr(jnp, name, None) or getattr(jax.scipy.special, name, None)
    for prefix, place in _PLACES.items():
        if module.startswith(prefix):
            return getattr(place, name, None)
    return getattr(jnp, name, None) if module.split(".")[0] == "numpy" else None


_PLACES: dict[str, Any] = {
    "numpy.linalg": jnp.linalg,
    "numpy.fft": jnp.fft,
    "numpy.random": None,
    "scipy.special": jax.scipy.special,
    "scipy.linalg": jax.scipy.linalg,
}


class _StandIn(ModuleType):
    """A module whose functions are met by copies or by JAX's."""

    def __init__(self, module: Any, copies: "_Copies"):
        super().__init__(getattr(module, "__name__", "module"))
        self._module, self._copies = module, copies

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if _root(self._module) in IMPURE and callable(found) and not isinstance(found, type):
            return _refusal(f"{self._module.__name__}.{name}")
        return self._copies.of(found)


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise SideEffectError(f"calls {name}, which does more than to compute")

    return refuse


class _Watched(NamedTuple):
    """A copy that can be written to: what is in it by key, how to put something else there, what it
    held at first, and whether entries that depend on x may be added."""

    name: str
    read: Callable[[], dict]
    write: Callable[[dict], object]
    held: dict
    scratch: bool


def _refill(container: Any, items: Any) -> None:
    container.clear()
    (container.extend if isinstance(container, list) else container.update)(items)


class _Copies:
    """Copies of a function and of whatever it names, which share nothing with the originals that
    the function could write to."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}
        self.globals: dict[int, tuple[dict, dict]] = {}
        self.cells: dict[int, tuple[CellType, CellType]] = {}
        self.codes: set[CodeType] = set()
        self.uses_jax = False
        self.entered: set[tuple[int, str]] = set()
        self.filled: set[int] = set()
        self.watched: list[_Watched] = []

    def of(self, value: Any, name: str = "") -> Any:
        """The copy of anything that a function names; what needs none is returned as it is."""
        if id(value) in self.made:
            return self.made[id(value)][1]
        self.uses_jax |= _module(value) in JAX or _root(value) in JAX
        make = self._maker(value)
        return value if make is None else make(value, name)

    def _maker(self, value: Any) -> Callable[[Any, str], Any] | None:
        kind = type(value)
        if isinstance(value, ModuleType):
            plain = _root(value) in JAX or _root(value) == "torch"
            return None if plain else lambda module, _: self._keep(module, _StandIn(module, self))
        if kind is FunctionType and not _is_library(value):
            return self._function
        if isinstance(value, np.ufunc | BuiltinFunctionType | FunctionType) or (
            callable(value) and kind.__module__ == "numpy" and not isinstance(value, type)
        ):
            if _module(value) in IMPURE:
                return lambda function, _: _refusal(_name(function))
            return self._numpy_function if _module(value) in ("numpy", "scipy", "math") else None
        if kind is type and value is np.vectorize:
            return lambda *_: _vectorize
        if kind is MethodType and not _is_library(value.__func__):
            return lambda method, name: MethodType(
                self.of(method.__func__), self.of(method.__self__, name)
            )
        if kind is functools.partial:
            return lambda part, name: functools.partial(
                self.of(part.func), *map(self.of, part.args), **self._items(part.keywords)
            )
        if kind is np.ndarray and value.dtype.kind in "biufc":
            return self._array
        if kind in (list, tuple, dict, set) and len(value) <= MOST_COPIED:
            return self._container
        if isinstance(value, type):
            return self._class if kind is type and not _is_library(value) else None
        if hasattr(value, "__dict__") and not _is_library(kind):
            return self._object
        return None

    def _keep(self, original: Any, copy: Any) -> Any:
        self.made[id(original)] = (original, copy)
        return copy

    def _watch(
        self,
        name: str,
        read: Callable[[], dict],
        write: Callable[[dict], object],
        scratch: bool = False,
    ) -> None:
        self.watched.append(_Watched(name, read, write, read(), scratch))

    def _watch_attributes(self, name: str, items: dict) -> None:
        self._watch(name, lambda: dict(items), lambda held: _refill(items, held), scratch=True)

    def _items(self, items: dict) -> dict:
        return {key: self.of(part, str(key)) for key, part in items.items()}

    def _container(self, value: Any, name: str) -> Any:
        if type(value) is tuple:
            return tuple(self.of(part, name) for part in value)
        copy = self._keep(value, type(value)())
        if type(value) is dict:
            copy.update(self._items(value))
        elif type(value) is list:
            copy.extend(self.of(part, name) for part in value)
        else:
            copy.update(value)
        if type(value) is dict:
            self._watch(name, lambda: dict(copy), lambda held: _refill(copy, held))
        else:
            write = lambda held: _refill(copy, held.values())  # noqa: E731
            self._watch(name, lambda: dict(enumerate(copy)), write)
        return copy

    def _array(self, value: np.ndarray, name: str) -> TracedArray:
        copy = self._keep(value, TracedArray(value))
        self._watch(name, lambda: {name: copy.is_written}, lambda _: copy.reset(value))
        return copy

    def _numpy_function(self, function: Any, name: str) -> Any:
        twin = _twin(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if function is np.copyto:
                args[0][...] = args[1]
                return None
            return _apply(function, twin, args, kwargs)

        return self._keep(function, _Function(function, call))

    def _function(self, function: Any, name: str) -> Any:
        if _module(function) == "bezierflow":  # without the type checks of its own tests
            function = inspect.unwrap(function)
        space = self._globals(function.__globals__)
        code, closure = function.__code__, function.__closure__ or ()
        names = dict(zip(code.co_freevars, closure, strict=True))
        cells = tuple(self._cell(cell, free) for free, cell in names.items())
        copy = FunctionType(code, space, function.__name__, None, cells or None)
        # Kept before its parts are copied, for they may name the function itself.
        self._keep(function, copy)
        for inner in _codes(code):
            if _module(function) != "scipy":  # a line of SciPy's says nothing to its users
                self.codes.add(inner)
            for used in inner.co_names:
                if used in function.__globals__:
                    self._enter(space, function.__globals__, used)
                elif used in IMPURE_BUILTINS:
                    space[used] = _refusal(used)
        for free, cell in names.items():
            self._fill(cell, free)
        copy.__defaults__ = self.of(function.__defaults__)
        copy.__kwdefaults__ = function.__kwdefaults__ and self._items(function.__kwdefaults__)
        copy.__dict__.update(self._items(function.__dict__))
        self._watch_attributes(function.__name__, copy.__dict__)
        return copy

    def _globals(self, space: dict) -> dict:
        if id(space) not in self.globals:
            self.globals[id(space)] = (space, dict(space))
        return self.globals[id(space)][1]

    def _enter(self, space: dict, originals: dict, name: str) -> None:
        if (id(space), name) not in self.entered:
            self.entered.add((id(space), name))
            space[name] = self.of(originals[name], name)
            self._watch(name, lambda: {name: space[name]}, space.update)

    def _cell(self, cell: CellType, name: str) -> CellType:
        # super() looks at __class__
        return (
            cell if name == "__class__" else self.cells.setdefault(id(cell), (cell, CellType()))[1]
        )

    def _fill(self, cell: CellType, name: str) -> None:
        copy = self._cell(cell, name)
        if copy is cell or id(copy) in self.filled:
            return
        self.filled.add(id(copy))
        try:
            copy.cell_contents = self.of(cell.cell_contents, name)
        except ValueError:  # an empty cell
            return
        read, write = lambda: {name: copy.cell_contents}, copy.__setattr__
        self._watch(name, read, lambda held: write("cell_contents", held[name]))

    def _methods(self, kind: type) -> dict[str, Any]:
        """Copies of all functions that a class has or inherits from others than libraries."""
        found: dict[str, Any] = {}
        for owner in kind.__mro__:
            if _is_library(owner):
                continue
            for name, part in vars(owner).items():
                if name in found or name in ("__new__", "__init_subclass__", "__getattr__"):
                    continue
                if isinstance(part, FunctionType):
                    found[name] = self.of(part)
                elif isinstance(part, staticmethod | classmethod):
                    found[name] = type(part)(self.of(part.__func__))
                elif isinstance(part, property) and part.fget is not None:
                    found[name] = property(self.of(part.fget), part.fset, part.fdel)
        return found

    def _class(self, kind: type, name: str) -> Any:
        if kind.__module__ == "builtins" or "__slots__" in vars(kind):
            return kind
        copy = self._keep(kind, type(kind.__name__, (kind,), {"__module__": kind.__module__}))
        for method, part in self._methods(kind).items():
            setattr(copy, method, part)
        return copy

    def _object(self, value: Any, name: str) -> Any:
        kind = type(value)
        try:
            copy = object.__new__(self.of(kind) if type(kind) is type else kind)
        except TypeError:  # made by compiled code
            return value
        self._keep(value, copy)
        copy.__dict__.update(self._items(value.__dict__))
        if type(copy) is kind:
            # A class of classes of its own is left alone: its methods go into the object instead.
            methods = self._methods(kind)
            copy.__dict__.update(
                {m: MethodType(p, copy) for m, p in methods.items() if isinstance(p, FunctionType)}
            )
        self._watch_attributes(name or kind.__name__, copy.__dict__)
        return copy

    def changed(self) -> str | None:
        """The name of something outside of the function that a call of the copy has changed, as
        counters and archives are.

        An entry overwritten by something that depends on x is not one: intermediate results are
        kept so.
        """
        for one in self.watched:
            now, held = one.read(), one.held
            for key in now.keys() | held.keys():
                overwritten = key in now and _has_tracer(now[key]) and (one.scratch or key in held)
                if not overwritten and now.get(key) is not held.get(key):
                    return one.name
        return None

    def restore(self) -> None:
        """Everything as it was: a tracer left from one call means nothing in the next."""
        for one in self.watched:
            one.write(one.held)


class _Function:
    """A function of NumPy's by its name, with its attributes: `np.add.reduce`."""

    def __init__(self, function: Any, call: Callable[..., Any]):
        self._function, self._call = function, call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def _vectorize(function: Callable[..., Any], *_: Any, **options: Any) -> Callable[..., Any]:
    """np.vectorize: a function of numbers, entry by entry."""
    signature = {key: options[key] for key in ("excluded", "signature") if key in options}

    def one(*args: Any) -> Any:
        found = _unwrapped(function(*map(_wrapped, args)))
        return jnp.asarray(found) if not isinstance(found, tuple) else found

    def call(*args: Any) -> Any:
        return _wrapped(jnp.vectorize(one, **signature)(*map(jnp.asarray, _unwrapped(args))))

    return call


def _module(value: Any) -> str:
    """The package a function or class comes from."""
    module = getattr(value, "__module__", None)
    if module is None and isinstance(value, np.ufunc):
        return "numpy"
    return (module or "").split(".")[0]


def _root(module: Any) -> str:
    """The package of a module; "" for anything else."""
    name = module.__dict__.get("__name__") if isinstance(module, ModuleType) else None
    return (name or "").split(".")[0]


def _is_library(value: Any) -> bool:
    root = _module(value)
    if root == "scipy" and isinstance(value, FunctionType):
        # much of SciPy is NumPy code like anybody's
        return _twin(value) is not None
    return root in LIBRARIES or (root in sys.stdlib_module_names and root != "__main__")


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those inside of it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


class NumPyProgram:
    """A NumPy function as one that JAX can trace: calls the copy on traced arrays.

    Attributes:
        original: the function as the user gave it.
        uses_jax: whether it names anything of JAX's.
    """

    def __init__(self, function: Callable[..., Any], vectorized: bool = False):
        self.original, self._vectorized = function, vectorized
        self._copies = _Copies()
        copy = self._copies.of(getattr(function, "in_numpy", function), "the function")
        # an object's own class may be left alone, its copied method is not
        self._call = getattr(copy, "__dict__", {}).get("__call__", copy)
        self.uses_jax = self._copies.uses_jax

    def __call__(self, x: Any) -> Any:
        """What the function returns, with JAX's arrays for NumPy's."""
        self._copies.restore()
        try:
            if self._vectorized:
                rows = self._call(jax.tree.map(lambda leaf: _wrapped(leaf[None]), x))
                found = _unwrapped(rows[0])
            else:
                found = _unwrapped(self._call(jax.tree.map(_wrapped, x)))
        except (Exception, NotTraceableError) as error:
            kind = SideEffectError if isinstance(error, SideEffectError) else NotTraceableError
            raise kind(self._line(error)) from error
        # with a constant for x everything that is kept is one
        name = self._copies.changed() if _has_tracer(jax.tree.leaves(x)) else None
        if name is not None:
            raise SideEffectError(f"it changes `{name}`, which outlives the call")
        return found

    def _line(self, error: BaseException) -> str:
        """Where in the user's code an error came from, and what it was."""
        reason = str(error).strip().split("\n")[0]
        if not isinstance(error, NotTraceableError):
            reason = f"fails while it is traced ({type(error).__name__}: {reason[:100]})"
        place, frame = "", error.__traceback__
        while frame is not None:
            code = frame.tb_frame.f_code
            if code in self._copies.codes:
                source = linecache.getline(code.co_filename, frame.tb_lineno).strip()
                place = f"line {frame.tb_lineno}" + (f": `{source[:80]}`" if source else "")
            frame = frame.tb_next
        return f"{place} {reason}" if place else f"it {reason}"

    def __repr__(self) -> str:
        return repr(self.original)
