"""States as JSON and arrays, and back, bit for bit, without pickle: reading runs no code and makes
no class but this package's.

A state is a graph: numbers, texts, tuples, lists, dictionaries, arrays of NumPy and JAX, random
generators, and objects of this package. What a graph shares stays shared. Things that a file cannot
hold, such as the objectives, have names: the writer says which objects they are, the reader what
stands for them.

An object is written by its attributes (values of a `cached_property` are left out) and made again
without its `__init__`.
"""

import dataclasses
import enum
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

PACKAGE = __name__.partition(".")[0]

ROOMS = {
    f"{PACKAGE}.{room}"
    for room in (
        *(
            "answer",
            "atlas",
            "bezier",
            "evaluations",
            "flows",
            "kinks",
            "methods",
            "names",
            "normal",
        ),
        *("objectives", "problems", "scalarizations", "simplex", "surrogate"),
    )
}
"""Rooms whose classes a state may be made of."""

GENERATORS = {
    "PCG64": np.random.PCG64,
    "PCG64DXSM": np.random.PCG64DXSM,
    "Philox": np.random.Philox,
    "SFC64": np.random.SFC64,
}

Json = Any
"""What JSON can hold."""

T = TypeVar("T")


class UnknownKindError(TypeError):
    """A state has a part that a file cannot hold."""


class Encoder:
    """Writes graphs into one set of arrays.

    Args:
        known: objects that are written by name.
    """

    def __init__(self, known: Mapping[str, object] | None = None):
        self.arrays: dict[str, np.ndarray] = {}
        self._names = {id(thing): name for name, thing in (known or {}).items()}
        self._numbers: dict[int, int] = {}
        # an id is that of its object as long as the object lives
        self._kept: list[object] = list((known or {}).values())

    def encode(self, thing: object, path: str = "state") -> Json:
        """The thing as JSON; arrays go to `arrays`."""
        if thing is None or type(thing) in (bool, int, str):
            return thing
        if type(thing) is float:
            return thing if math.isfinite(thing) else {"float": repr(thing)}
        if id(thing) in self._names:
            return {"known": self._names[id(thing)]}
        if id(thing) in self._numbers:
            return {"again": self._numbers[id(thing)]}
        number = self._numbers[id(thing)] = len(self._numbers)
        self._kept.append(thing)
        return {
            "id": number,
            **(
                self._array(thing, path)
                or self._container(thing, path)
                or self._object(thing, path)
            ),
        }

    def _array(self, thing: object, path: str) -> dict[str, Json] | None:
        if isinstance(thing, jax.Array):
            if jnp.issubdtype(thing.dtype, jax.dtypes.prng_key):
                return {
                    "key": self._stored(jax.random.key_data(thing), path),
                    "kind": str(jax.random.key_impl(thing)),
                }
            return {"jax": self._stored(thing, path)}
        if isinstance(thing, np.generic):
            return {"scalar": self._stored(thing, path)}
        if isinstance(thing, np.ndarray):
            # Sums and products may depend on the order of the axes in memory, to the last bit.
            axes = (
                {}
                if thing.flags.c_contiguous
                else {"axes": np.argsort(thing.strides, kind="stable")[::-1].tolist()}
            )
            return {"array": self._stored(thing, path), **axes}
        return None

    def _stored(self, array: object, path: str) -> str:
        values = np.asarray(array)
        if values.dtype.kind not in "biufc":
            raise UnknownKindError(
                f"{path} is an array of {values.dtype}, which a file cannot hold"
            )
        name = f"{len(self.arrays)}"
        self.arrays[name] = values
        return name

    def _container(self, thing: object, path: str) -> dict[str, Json] | None:
        if type(thing) in (list, tuple):
            assert isinstance(thing, Sequence)
            return {
                type(thing).__name__: [
                    self.encode(one, f"{path}[{i}]") for i, one in enumerate(thing)
                ]
            }
        if type(thing) is dict:
            return {
                "dict": [
                    [self.encode(k, path), self.encode(v, f"{path}[{k!r}]")]
                    for k, v in thing.items()
                ]
            }
        if isinstance(thing, np.random.Generator):
            kind = type(thing.bit_generator).__name__
            if kind in GENERATORS:
                return {
                    "generator": kind,
                    "state": self.encode(dict(thing.bit_generator.state), path),
                }
        return None

    def _object(self, thing: object, path: str) -> dict[str, Json]:
        cls = type(thing)
        if not _is_ours(cls.__module__):
            raise UnknownKindError(
                f"{path} is a {cls.__module__}.{cls.__qualname__}, which a file cannot hold"
            )
        name = f"{cls.__module__}:{cls.__qualname__}"
        if isinstance(thing, enum.Enum):
            return {"enum": name, "name": thing.name}
        if isinstance(thing, tuple):
            return {
                "object": name,
                "items": [self.encode(one, f"{path}[{i}]") for i, one in enumerate(thing)],
            }
        kept = {
            key: value
            for key, value in vars(thing).items()
            if not isinstance(getattr(cls, key, None), cached_property)
        }
        return {
            "object": name,
            "fields": [[key, self.encode(value, f"{path}.{key}")] for key, value in kept.items()],
        }


class Decoder:
    """Reads what an `Encoder` wrote. Anything else is a `ValueError`.

    Args:
        arrays: those of the encoder.
        known: what stands for the names.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], known: Mapping[str, object] | None = None):
        self.arrays, self.known = arrays, dict(known or {})
        self._made: dict[int, object] = {}

    def decode(self, document: Json) -> Any:
        """The thing that was encoded."""
        try:
            return self._thing(document)
        except (
            KeyError,
            TypeError,
            AttributeError,
            IndexError,
            RecursionError,
            ImportError,
        ) as error:
            raise ValueError(f"a state is damaged: {type(error).__name__} {error}") from error

    def _thing(self, document: Json) -> object:
        if not isinstance(document, dict):
            if isinstance(document, list):
                raise ValueError("a state is damaged: it has a list where a value belongs")
            return document
        if "float" in document:
            return float(document["float"])
        if "known" in document:
            return self.known[document["known"]]
        if "again" in document:
            return self._made[document["again"]]
        thing = self._array(document)
        thing = self._container(document) if thing is None else thing
        return self._object(document) if thing is None else thing

    def _keep(self, document: Json, thing: T) -> T:
        self._made[document["id"]] = thing
        return thing

    def _array(self, document: Json) -> object:
        if "array" in document:
            array = np.array(self.arrays[document["array"]], order="C")
            axes = document.get("axes")
            return self._keep(
                document,
                array if axes is None else array.transpose(axes).copy().transpose(np.argsort(axes)),
            )
        if "jax" in document:
            return self._keep(document, jnp.asarray(self.arrays[document["jax"]]))
        if "scalar" in document:
            return self._keep(document, self.arrays[document["scalar"]][()])
        if "key" in document:
            return self._keep(
                document,
                jax.random.wrap_key_data(
                    jnp.asarray(self.arrays[document["key"]]), impl=document["kind"]
                ),
            )
        return None

    def _container(self, document: Json) -> object:
        if "tuple" in document:
            return self._keep(document, tuple(self._thing(one) for one in document["tuple"]))
        if "list" in document:
            found: list[object] = self._keep(document, [])
            found += (self._thing(one) for one in document["list"])
            return found
        if "dict" in document:
            mapping: dict[object, object] = self._keep(document, {})
            mapping.update(
                (self._thing(key), self._thing(value)) for key, value in document["dict"]
            )
            return mapping
        if "generator" in document:
            source = GENERATORS[document["generator"]]()
            source.state = self._thing(document["state"])
            return self._keep(document, np.random.Generator(source))
        return None

    def _object(self, document: Json) -> object:
        cls = _class(document["enum"] if "enum" in document else document["object"])
        if "enum" in document:
            return self._keep(document, cls[document["name"]])
        if "items" in document:
            return self._keep(
                document, tuple.__new__(cls, [self._thing(one) for one in document["items"]])
            )
        thing = self._keep(document, object.__new__(cls))
        for name, value in document["fields"]:
            object.__setattr__(thing, name, self._thing(value))
        _fill_in(thing)
        return thing


def _fill_in(thing: object) -> None:
    """Gives an object the defaults of fields that its class has got since the file was written, all
    fields in their order."""
    own, fields = vars(thing), dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ()
    new = {
        one.name: one.default
        for one in fields
        if one.name not in own and one.default is not dataclasses.MISSING
    }
    if new:
        known = {**own, **new}
        own.clear()
        own.update({one.name: known[one.name] for one in fields if one.name in known} | known)


def _is_ours(module: str) -> bool:
    return ".".join(module.split(".")[:2]) in ROOMS


def _class(name: str) -> Any:
    module, _, qualified = name.partition(":")
    if not _is_ours(module):
        raise ValueError(f"a state is damaged: it names {name!r}, which is no part of a state")
    cls = getattr(import_module(module), qualified)
    if not isinstance(cls, type) or cls.__module__ != module:
        raise ValueError(f"a state is damaged: {name!r} is no class")
    return cls
