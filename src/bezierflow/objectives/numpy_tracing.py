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
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .traced_array import (
    COMPARING,
    NotTraceableError,
    SideEffectError,
    TracedArray,
    apply,
    has_tracer,
    is_distribution,
    name_of,
    twin_of,
    unwrapped,
    wrapped,
)

JAX = {"jax", "jaxlib", "equinox", "optax", "flax"}
LIBRARIES = JAX | {"numpy", "scipy", "torch", "pandas", "sklearn"}
"""Packages whose functions are called as they are, beside Python's own."""

IMPURE = {"asyncio", "datetime", "logging", "multiprocessing", "os", "random", "secrets", "shutil"}
IMPURE |= {"socket", "sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "urllib"}
"""Python's modules whose functions do or see more than their arguments."""

IMPURE_BUILTINS = ("exec", "eval", "input", "next", "open", "print", "setattr")


CALLABLES = (FunctionType, BuiltinFunctionType, MethodType, functools.partial, np.ufunc)

MOST_COPIED = 10_000
"""Longer containers are data: they are passed on as they are."""


class _StandIn(ModuleType):
    """A module whose functions are met by copies or by JAX's."""

    def __init__(self, module: Any, copies: "_Copies"):
        super().__init__(getattr(module, "__name__", "module"))
        self._original, self._copies = module, copies

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._original, name)
        if _root(self._original) in IMPURE and callable(found) and not isinstance(found, type):
            return _refusal(f"{self._original.__name__}.{name}")
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
        if value is np.vectorize:
            return _vectorize
        self.uses_jax |= _module(value) in JAX or _root(value) in JAX
        return self._copy_of(value, name)

    def _copy_of(self, value: Any, name: str) -> Any:
        kind = type(value)
        if isinstance(value, ModuleType) or is_distribution(value):
            plain = _root(value) in (*JAX, "torch")
            return value if plain else self._keep(value, _StandIn(value, self))
        if kind in (np.ndarray, list, tuple, dict, set):
            return self._container(value, name)
        if callable(value) and (kind in CALLABLES or kind.__module__ == "numpy"):
            return self._callable(value, name)
        if _is_library(value if kind is type else kind):
            return value
        return self._class(value) if kind is type else self._object(value, name)

    def _callable(self, value: Any, name: str) -> Any:
        """The copy of a function or a method, of Python code or compiled."""
        if type(value) is functools.partial:
            args = map(self.of, value.args)
            return functools.partial(self.of(value.func), *args, **self._items(value.keywords))
        if type(value) is MethodType and not is_distribution(value.__self__):
            return MethodType(self.of(value.__func__), self.of(value.__self__, name))
        if type(value) is FunctionType and not _is_library(value):
            return self._function(value)
        if _module(value) in IMPURE:
            return _refusal(name_of(value))
        known = _module(value) in ("numpy", "scipy", "math")
        return self._keep(value, _Function(value)) if known else value

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

    def _watch_items(self, name: str, items: dict, scratch: bool = False) -> None:
        self._watch(name, lambda: dict(items), lambda held: _refill(items, held), scratch)

    def _items(self, items: dict) -> dict:
        return {key: self.of(part, str(key)) for key, part in items.items()}

    def _container(self, value: Any, name: str) -> Any:
        if type(value) is np.ndarray:
            if value.dtype.kind not in "biufc":
                return value
            copy = self._keep(value, TracedArray(value))
            self._watch(name, lambda: {name: copy.is_written}, lambda _: copy.reset(value))
            return copy
        if len(value) > MOST_COPIED:
            return value
        if type(value) is tuple:
            return tuple(self.of(part, name) for part in value)
        copy = self._keep(value, type(value)())
        if type(value) is dict:
            copy.update(self._items(value))
            self._watch_items(name, copy)
            return copy
        _refill(copy, [self.of(part, name) for part in value] if type(value) is list else value)
        write = lambda held: _refill(copy, held.values())  # noqa: E731
        self._watch(name, lambda: dict(enumerate(copy)), write)
        return copy

    def _function(self, function: Any) -> Any:
        if _module(function) == "bezierflow":  # without the type checks of its own tests
            function = inspect.unwrap(function)
        own = function.__globals__
        space = self.globals.setdefault(id(own), (own, dict(own)))[1]
        code, closure = function.__code__, function.__closure__ or ()
        names = dict(zip(code.co_freevars, closure, strict=True))
        cells = tuple(self._cell(cell, free) for free, cell in names.items())
        copy = FunctionType(code, space, function.__name__, None, cells or None)
        # Kept before its parts are copied, for they may name the function itself.
        self._keep(function, copy)
        for inner in _codes(code):
            self._enter_names(inner, function, space)
        for free, cell in names.items():
            self._fill(cell, free)
        copy.__defaults__ = self.of(function.__defaults__)
        copy.__kwdefaults__ = function.__kwdefaults__ and self._items(function.__kwdefaults__)
        copy.__dict__.update(self._items(function.__dict__))
        self._watch_items(function.__name__, copy.__dict__, scratch=True)
        return copy

    def _enter_names(self, code: CodeType, function: FunctionType, space: dict) -> None:
        """Copies of the globals that a code names go into the globals of its copy."""
        if _module(function) != "scipy":  # a line of SciPy's says nothing to its users
            self.codes.add(code)
        for used in code.co_names:
            if used not in function.__globals__:
                if used in IMPURE_BUILTINS:
                    space[used] = _refusal(used)
                elif used in COMPARING:
                    space[used] = COMPARING[used]
            elif (id(space), used) not in self.entered:
                self.entered.add((id(space), used))
                space[used] = self.of(function.__globals__[used], used)
                self._watch(used, lambda used=used: {used: space[used]}, space.update)

    def _cell(self, cell: CellType, name: str) -> CellType:
        # super() looks at __class__
        if name == "__class__":
            return cell
        return self.cells.setdefault(id(cell), (cell, CellType()))[1]

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

    def _class(self, kind: type) -> Any:
        if kind.__module__ == "builtins" or "__slots__" in vars(kind):
            return kind
        copy = self._keep(kind, type(kind.__name__, (kind,), {"__module__": kind.__module__}))
        for method, part in self._methods(kind).items():
            setattr(copy, method, part)

        def read() -> dict:
            return {key: part for key, part in vars(copy).items() if not key.startswith("__")}

        def write(held: dict) -> None:
            for key in read().keys() - held.keys():
                delattr(copy, key)
            for key, part in held.items():
                setattr(copy, key, part)

        self._watch(kind.__name__, read, write)
        return copy

    def _object(self, value: Any, name: str) -> Any:
        kind = type(value)
        if not hasattr(value, "__dict__"):
            return value
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
        self._watch_items(name or kind.__name__, copy.__dict__, scratch=True)
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
                overwritten = key in now and has_tracer(now[key]) and (one.scratch or key in held)
                if not overwritten and now.get(key) is not held.get(key):
                    return one.name
        return None

    def restore(self) -> None:
        """Everything as it was: a tracer left from one call means nothing in the next."""
        for one in self.watched:
            one.write(one.held)


class _Function:
    """A function of NumPy's by its name, with its attributes: `np.add.reduce`."""

    def __init__(self, function: Any):
        self._function, self._twin = function, twin_of(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._function is np.copyto:
            args[0][...] = args[1]
            return None
        return apply(self._function, self._twin, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def _vectorize(function: Callable[..., Any], *_: Any, **options: Any) -> Callable[..., Any]:
    """np.vectorize: a function of numbers, entry by entry."""
    signature = {key: options[key] for key in ("excluded", "signature") if key in options}

    def one(*args: Any) -> Any:
        found = unwrapped(function(*map(wrapped, args)))
        return jnp.asarray(found) if not isinstance(found, tuple) else found

    def call(*args: Any) -> Any:
        return wrapped(jnp.vectorize(one, **signature)(*map(jnp.asarray, unwrapped(args))))

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
        return twin_of(value) is not None
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
        copy = self._copies.of(getattr(function, "in_numpy", function))
        # an object's own class may be left alone, its copied method is not
        self._call = getattr(copy, "__dict__", {}).get("__call__", copy)
        self.uses_jax = self._copies.uses_jax

    def __call__(self, x: Any) -> Any:
        """What the function returns, with JAX's arrays for NumPy's."""
        self._copies.restore()
        try:
            if self._vectorized:
                rows = self._call(jax.tree.map(lambda leaf: wrapped(leaf[None]), x))
                found = unwrapped(rows[0])
            else:
                found = unwrapped(self._call(jax.tree.map(wrapped, x)))
        except (Exception, NotTraceableError) as error:
            kind = SideEffectError if isinstance(error, SideEffectError) else NotTraceableError
            raise kind(self._line(error)) from error
        # with a constant for x everything that is kept is one
        name = self._copies.changed() if has_tracer(jax.tree.leaves(x)) else None
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
