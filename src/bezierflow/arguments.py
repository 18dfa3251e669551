"""Readers of arguments: each returns the value in the one form that is used inside, or raises an
error in one line.

The line names the argument, shows the value found and says what would do. A wrong kind of thing is
a TypeError, a wrong value of the right kind a ValueError. Nothing is compiled or computed for it.
"""

import re
from collections.abc import Callable, Mapping
from math import isfinite
from numbers import Integral, Real
from operator import index
from reprlib import Repr
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

LONGEST = 120
"""Values are shown in messages with at most so many characters."""

LARGEST_SEED = 2**63 - 1
"""JAX's random keys are made of 64-bit integers with a sign."""

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that move the cursor, end a line or turn the direction of text, and halves of
characters."""

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = LONGEST
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = _REPR.maxset = 8


def shown(value: object) -> str:
    """The value as messages show it: one line, not long, without control characters."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        array = isinstance(value, np.ndarray)
        text = np.array2string(value, threshold=8) if array else _REPR.repr(value)
    except Exception:  # a `__repr__` of the user's that fails
        text = f"a {type(value).__name__}"
    text = " ".join(printable(text).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def printable(text: str) -> str:
    """The text with control characters written as escapes."""
    return CONTROL.sub(
        lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text
    )


def read_count(
    value: object, name: str, least: int = 0, most: int | None = None, advice: str = ""
) -> int:
    """A whole number, NumPy's too and floats that are whole, between `least` and `most`."""
    wanted = f"a whole number of at least {least}"
    if most is not None:
        wanted = f"a whole number from {least} to {most}"
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(_must(name, wanted, value, advice))
    if not isinstance(value, Integral) and not float(value).is_integer():
        raise ValueError(_must(name, wanted, value, advice))
    count = index(value) if isinstance(value, Integral) else int(float(value))
    if count < least or (most is not None and count > most):
        raise ValueError(_must(name, wanted, value, advice))
    return count


class UnknownName(KeyError):
    """A KeyError whose message is a sentence."""

    __str__ = Exception.__str__


def of_design(function: Callable[[Any], T], x: Any) -> T:
    """The user's function at a design; where it asks for an entry that x does not have, the error
    says which ones there are."""
    try:
        return function(x)
    except KeyError as error:
        known = isinstance(error, UnknownName) or not isinstance(x, Mapping)
        if known or len(error.args) != 1 or error.args[0] in x:
            raise
        # perhaps in a table of its own, and not in x
        raise UnknownName(
            f"the function looked up {shown(error.args[0])}, and its x has the names"
            f" {', '.join(map(str, x))}"
        ) from error


def or_none(read: Callable[..., T], value: object, *arguments: object) -> T | None:
    """None for None, else what the reader makes of the value."""
    return None if value is None else read(value, *arguments)


def read_number(
    value: object, name: str, wanted: str, holds: Callable[[float], bool], advice: str = ""
) -> float:
    """A real number with a property; `wanted` says which, in words. NaN has none."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(_must(name, wanted, value, advice))
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the largest double
        number = float("nan")
    if not holds(number):
        raise ValueError(_must(name, wanted, value, advice))
    return number


def read_nonnegative(value: object, name: str) -> float:
    """A finite number of at least 0."""
    wanted = "a finite number of at least 0"
    return read_number(value, name, wanted, lambda x: isfinite(x) and x >= 0)


def read_positive(value: object, name: str, advice: str = "") -> float:
    """A finite number above 0."""
    wanted = "a finite number above 0"
    return read_number(value, name, wanted, lambda x: isfinite(x) and x > 0, advice)


def read_probability(value: object, name: str, advice: str = "") -> float:
    """A number strictly between 0 and 1."""
    wanted = "a number strictly between 0 and 1"
    return read_number(value, name, wanted, lambda x: 0 < x < 1, advice)


def read_seed(value: object) -> int:
    """A seed: a whole number that JAX makes a key of. A float is none, also a whole one."""
    if isinstance(value, float | np.floating):
        raise TypeError(_must("seed", f"a whole number from 0 to {LARGEST_SEED}", value, ""))
    return read_count(value, "seed", 0, LARGEST_SEED)


def read_flag(value: object, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(_must(name, "True or False", value, ""))
    return bool(value)


def read_function(value: object, name: str, signature: str) -> Callable:
    """Something that can be called; `signature` says how it will be."""
    if not callable(value):
        raise TypeError(_must(name, f"a function {signature}", value, ""))
    return value


def read_reals(value: object, name: str, wanted: str) -> np.ndarray:
    """Finite real numbers as a float64 array of any shape; `wanted` says what they stand for."""
    array = read_doubles(value, name, wanted)
    if not np.isfinite(array).all():
        raise ValueError(_must(name, f"{wanted}, all finite", value, ""))
    return array


def read_doubles(value: Any, name: str, wanted: str) -> np.ndarray:
    """Real numbers as a float64 array of any shape, finite or not."""
    if np.iscomplexobj(value):
        advice = "give real and imaginary parts as two variables"
        raise TypeError(_must(name, f"{wanted}, real ones", value, advice))
    try:
        array = np.asarray(value)
        # Objects may be numbers, such as fractions; texts and dates must not become some.
        if array.dtype.kind not in "biufO":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(_must(name, wanted, value, "")) from None


def _must(name: str, wanted: str, value: object, advice: str) -> str:
    return f"{name} must be {wanted}, got {shown(value)}" + (f"; {advice}" if advice else "")
