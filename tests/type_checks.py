"""Annotations are checked in some of the calls: all of them took a third of the processor time of
the tests.

These are a function's first call in each test, and in each file of tests its first calls and then
those whose number is a power of two: they are counted, so that a run repeats itself. What beartype
checks is compiled at a function's first checked call, not where it is defined.
"""

import dataclasses
import functools
import inspect
from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import Any

import jaxtyping

FIRST = 4
"""So many calls of a function are checked at the beginning of each file."""

CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
"""As for every type checker, an int will do where a float is annotated."""

_check_fully = jaxtyping.jaxtyped
_calls: Counter[int] = Counter()
_checked_in_test: set[int] = set()
_settings = {"every call": False}


def install(*packages: str) -> None:
    """Checks what is imported from these packages from now on."""
    # the import hook writes this name above every function and class
    jaxtyping.jaxtyped = _jaxtyped
    jaxtyping.install_import_hook(packages, CHECKER)


def begin_file() -> None:
    """Counts calls from 0 again."""
    _calls.clear()


def begin_test() -> None:
    """The next call of each function is checked."""
    _checked_in_test.clear()


def check_every_call() -> None:
    """Checks all calls from now on."""
    _settings["every call"] = True


def _jaxtyped(one: Any = None, *, typechecker: Any) -> Any:
    if one is None:
        return functools.partial(_jaxtyped, typechecker=typechecker)
    if inspect.isclass(one):
        if dataclasses.is_dataclass(one) and not hasattr(one.__init__, "checked_at_times"):
            one.__init__ = _checked_at_times(one.__init__, typechecker)
        return one
    return (
        _checked_at_times(one, typechecker)
        if isinstance(one, FunctionType)
        else _check_fully(one, typechecker=typechecker)
    )


def _checked_at_times(function: Callable, typechecker: Any) -> Callable:
    # Functions defined again in each call of another one share their code. It stands for itself by
    # its id: the hash of a code object is computed anew each time, from all that is in it.
    code, checked = id(function.__code__), None

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        nonlocal checked
        number = _calls[code]
        _calls[code] = number + 1
        passed_over = number >= FIRST and number & (number - 1) and code in _checked_in_test
        if (passed_over and not _settings["every call"]) or jaxtyping.config.jaxtyping_disable:
            return function(*args, **kwargs)
        _checked_in_test.add(code)
        checked = checked or _check_fully(function, typechecker=typechecker)
        return checked(*args, **kwargs)

    either.checked_at_times = True
    return either
