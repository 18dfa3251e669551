"""The archive of states: JSON and arrays, and back, bit for bit, without pickle.

A state is a graph of numbers, texts, tuples, lists, dictionaries, arrays of NumPy and JAX, random
generators, and objects of registered classes (see `kinds`). What a graph shares stays shared.
Reading makes objects of registered classes alone, imports nothing and runs no code.

Things that a file cannot hold, such as the objectives, have names: the writer says which objects
they are, the reader what stands for them.
"""

import dataclasses
import enum
import math
import zlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..bezier import Manifest, read_archive, write_archive
from ..kinds import KINDS, is_registered, kind_of

GENERATORS = {
    "PCG64": np.random.PCG64,
    "PCG64DXSM": np.random.PCG64DXSM,
    "Philox": np.random.Philox,
    "SFC64": np.random.SFC64,
}

Json = Any
"""What JSON can hold."""


class UnknownKindError(TypeError):
    """A state has a part that a file cannot hold."""


class Encoder:
    """Writes graphs into one set of arrays.

    Args:
        known: objects that are written by name.
        prefix: of the names of arrays.
    """

    def __init__(self, known: Mapping[str, object] | None = None, prefix: str = ""):
        self.arrays: dict[str, np.ndarray] = {}
        self._prefix = prefix
        self._known = {id(thing): name for name, thing in (known or {}).items()}
        self._numbers: dict[int, int] = {}
        # an id is that of its object as long as the object lives
        self._alive: list[object] = list((known or {}).values())

    def encode(self, thing: object, path: str = "state") -> Json:
        """The thing as JSON; arrays go to `arrays`."""
        # exact types: a subclass, such as an IntEnum, would come back as something else
        if thing is None or type(thing) in (bool, int, str):
            return thing
        if type(thing) is float:
            return thing if math.isfinite(thing) else {"float": repr(thing)}
        if id(thing) in self._known:
            return {"known": self._known[id(thing)]}
        if id(thing) in self._numbers:
            return {"again": self._numbers[id(thing)]}
        number = self._numbers[id(thing)] = len(self._numbers)
        self._alive.append(thing)
        return {"id": number, **(self._array(thing, path) or self._object(thing, path))}

    def _array(self, thing: object, path: str) -> dict[str, Json] | None:
        """An array of NumPy or JAX, a scalar of NumPy, a random key of JAX; None for others."""
        about: dict[str, Json] = {}
        if isinstance(thing, jax.Array) and jnp.issubdtype(thing.dtype, jax.dtypes.prng_key):
            tag, about = "key", {"impl": str(jax.random.key_impl(thing))}
            thing = jax.random.key_data(thing)
        elif isinstance(thing, jax.Array):
            tag = "jax"
        elif isinstance(thing, np.generic):
            tag = "scalar"
        elif isinstance(thing, np.ndarray):
            tag = "array"
            if not thing.flags.c_contiguous:
                # Sums and products may depend on the order of the axes in memory, to the last bit.
                about = {"axes": np.argsort(thing.strides, kind="stable")[::-1].tolist()}
        else:
            return None
        values = np.asarray(thing)
        if values.dtype.kind not in "biufc":
            raise UnknownKindError(
                f"{path} is an array of {values.dtype}, which a file cannot hold"
            )
        name = f"{self._prefix}{len(self.arrays)}"
        self.arrays[name] = values
        return {tag: name, **about}

    def _object(self, thing: Any, path: str) -> dict[str, Json]:
        """A container, a random generator, or an object of a registered class."""
        cls = type(thing)
        if cls is dict:
            pairs = [
                [self.encode(key, path), self.encode(value, f"{path}[{key!r}]")]
                for key, value in thing.items()
            ]
            return {"dict": pairs}
        if cls is np.random.Generator and type(thing.bit_generator).__name__ in GENERATORS:
            state = self.encode(dict(thing.bit_generator.state), path)
            return {"generator": type(thing.bit_generator).__name__, "state": state}
        # exact classes again: a subclass of a registered one may hold anything
        if cls not in (list, tuple) and not is_registered(cls):
            raise UnknownKindError(
                f"{path} is a {cls.__module__}.{cls.__qualname__}, which a file cannot hold"
            )
        about = {"kind": kind_of(cls)}
        if isinstance(thing, enum.Enum):
            return {**about, "member": thing.name}
        if isinstance(thing, list | tuple):
            items = [self.encode(one, f"{path}[{i}]") for i, one in enumerate(thing)]
            return {**about, "items": items}
        fields = [
            [key, self.encode(value, f"{path}.{key}")]
            for key, value in vars(thing).items()
            if not isinstance(getattr(cls, key, None), cached_property)  # computed again
        ]
        return {**about, "fields": fields}


class Decoder:
    """Reads what an `Encoder` wrote. Anything else is a `ValueError`.

    Args:
        arrays: those of the encoder.
        known: what stands for the names.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], known: Mapping[str, object] | None = None):
        self.arrays, self.known = arrays, dict(known or {})
        self._made: dict[int, Any] = {}

    def decode(self, document: Json) -> Any:
        """The thing that was encoded."""
        try:
            return self._thing(document)
        except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
            raise ValueError(f"a state is damaged: {type(error).__name__} {error}") from error

    def _thing(self, document: Json) -> Any:
        if isinstance(document, list):
            raise ValueError("a state is damaged: it has a list where a value belongs")
        if not isinstance(document, dict):
            return document
        if "float" in document:
            return float(document["float"])
        if "known" in document:
            return self.known[document["known"]]
        if "again" in document:
            return self._made[document["again"]]
        number = document["id"]
        made = self._array(document)
        self._made[number] = self._object(document, number) if made is None else made
        return self._made[number]

    def _array(self, document: Json) -> Any:
        if "array" in document:
            array, axes = np.array(self.arrays[document["array"]], order="C"), document.get("axes")
            return (
                array if axes is None else array.transpose(axes).copy().transpose(np.argsort(axes))
            )
        if "jax" in document:
            return jnp.asarray(self.arrays[document["jax"]])
        if "scalar" in document:
            return self.arrays[document["scalar"]][()]
        if "key" in document:
            data = jnp.asarray(self.arrays[document["key"]])
            return jax.random.wrap_key_data(data, impl=document["impl"])
        return None

    def _object(self, document: Json, number: int) -> Any:
        # What may hold itself is known by its number before its parts are read.
        if "dict" in document:
            mapping = self._made[number] = {}
            mapping.update(
                (self._thing(key), self._thing(value)) for key, value in document["dict"]
            )
            return mapping
        if "generator" in document:
            source = GENERATORS[document["generator"]]()
            source.state = self._thing(document["state"])
            return np.random.Generator(source)
        if document["kind"] == "list":
            found = self._made[number] = []
            found += (self._thing(one) for one in document["items"])
            return found
        known: dict[str, Any] = {"tuple": tuple, **KINDS}
        if document["kind"] not in known:
            raise ValueError(
                f"a state holds a {document['kind']!r}, which is no kind that is registered here:"
                " go on with the version of bezierflow that wrote it, or import the module that"
                " registers it first"
            )
        cls = known[document["kind"]]
        if "member" in document:
            return cls[document["member"]]
        if "items" in document:
            return tuple.__new__(cls, [self._thing(one) for one in document["items"]])
        thing = self._made[number] = object.__new__(cls)
        for name, value in document["fields"]:
            object.__setattr__(thing, name, self._thing(value))  # also where it is frozen
        _fill_in(thing)
        return thing


def _fill_in(thing: object) -> None:
    """Gives an object the defaults of fields that its class has got since the file was written, and
    takes those that it has lost."""
    if not dataclasses.is_dataclass(thing):
        return
    own, fields = vars(thing), dataclasses.fields(thing)
    new = {one.name: one.default for one in fields if one.default is not dataclasses.MISSING}
    known = {**new, **own}
    own.clear()
    # in the order of the class: arguments are compared by their documents
    own.update({one.name: known[one.name] for one in fields if one.name in known})


def write_checked(path: Path, manifest: Manifest, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes an archive, whole or not at all; the manifest gets the checksum of each array."""
    sums = {name: _checksum(np.asarray(array)) for name, array in arrays.items()}
    write_archive(path, {**manifest, "arrays": sums}, arrays)


def read_checked(path: Path, kind: str) -> tuple[Manifest, dict[str, np.ndarray]]:
    """What `write_checked` wrote, or a `ValueError` with the path."""
    manifest, arrays = read_archive(path)
    if manifest["kind"] != kind:
        raise ValueError(
            f"{path} holds {manifest['kind']!r}, not {kind!r}: it is another file, or another"
            " version of bezierflow wrote it; go on with that version, or begin in another folder"
        )
    if manifest.get("arrays") != {name: _checksum(array) for name, array in arrays.items()}:
        raise ValueError(f"{path} is damaged: its arrays are not those that were written")
    return manifest, arrays


def _checksum(array: np.ndarray) -> str:
    content = zlib.crc32(np.ascontiguousarray(array).tobytes())
    return f"{array.dtype.str[1:]}{list(array.shape)} {content:08x}"
