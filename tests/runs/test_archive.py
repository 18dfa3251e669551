"""States to JSON and back: the same to the last bit, what is shared stays shared, and no file makes
anything run."""

import enum
import json
import re
from dataclasses import dataclass, fields, is_dataclass
from typing import get_args, get_type_hints

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bezierflow.answer import Flag
from bezierflow.bezier import BezierSimplex
from bezierflow.evaluations import Evaluations
from bezierflow.precision import double_precision
from bezierflow.runs import (
    KINDS,
    Decoder,
    Encoder,
    UnknownKindError,
    kind,
    read_checked,
    write_checked,
)
from bezierflow.simplex import Fixed
from bezierflow.study import Study  # noqa: F401  imports every room whose classes are registered


def there_and_back(thing, known=None):
    encoder = Encoder(known)
    document = json.loads(json.dumps(encoder.encode(thing), allow_nan=False, sort_keys=True))
    return Decoder(encoder.arrays, known).decode(document)


ARRAYS = hnp.arrays(
    st.sampled_from(["f8", "f4", "i8", "i4", "?", "u1", "c16"]),
    hnp.array_shapes(min_dims=0, min_side=0),
)
ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | ARRAYS
THINGS = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=12,
)


def same(a, b) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes() or (a != a and b != b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return a == b


@settings(max_examples=40)
@given(THINGS)
def test_whatever_a_state_is_made_of_comes_back_to_the_last_bit(thing):
    assert same(there_and_back(thing), thing)


@settings(max_examples=20)
@given(
    hnp.arrays("f8", hnp.array_shapes(min_dims=2, max_dims=3, min_side=2)),
    st.randoms(use_true_random=False),
)
def test_axes_keep_their_order_in_memory(array, random):
    axes = list(range(array.ndim))
    random.shuffle(axes)
    turned = array.transpose(axes)
    back = there_and_back(turned)
    assert np.array_equal(back, turned, equal_nan=True)
    assert np.argsort(back.strides).tolist() == np.argsort(turned.strides).tolist()


def test_objects_of_the_package_sharing_cycles_and_generators():
    shared, rng = [1.5], np.random.default_rng(3)
    rng.normal(size=5)
    surface = BezierSimplex(np.arange(6.0).reshape(3, 2), 2, 2)
    thing = {
        "a": shared,
        "b": (shared, surface),
        "flags": [Flag.NOT_AT_TOLERANCE],
        "n": Evaluations(1, 2, 3),
        "rng": rng,
    }
    shared.append(thing)
    back = there_and_back(thing)
    assert back["a"] is back["b"][0]
    assert back["a"][1] is back
    assert back["flags"] == [Flag.NOT_AT_TOLERANCE]
    assert type(back["n"]) is Evaluations
    assert back["n"] == (1, 2, 3)
    np.testing.assert_array_equal(back["b"][1].control_points, surface.control_points)
    assert back["b"][1].degree == 2
    assert back["rng"].normal() == rng.normal()


def test_arrays_and_keys_of_jax():
    with double_precision():
        key, x = jax.random.key(7), jnp.linspace(0, 1, 3)
        back_key, back_x = there_and_back((key, x))
        assert isinstance(back_x, jax.Array)
        assert back_x.dtype == x.dtype == np.float64
        assert jax.random.normal(back_key) == jax.random.normal(key)


def test_what_a_file_cannot_hold_has_a_name():
    def objectives(x):
        return x

    assert (
        there_and_back({"f": objectives, "g": [objectives]}, {"objectives": objectives})["g"][0]
        is objectives
    )
    with pytest.raises(UnknownKindError, match=r"state\['g'\]\[1\] is a builtins.function"):
        Encoder().encode({"g": [1, objectives]})


@dataclass
class Foreign:
    x: int = 1


@pytest.mark.parametrize(
    "thing", [Foreign(), object(), {1, 2}, b"x", Foreign, np.array([object()]), 1j]
)
def test_things_of_others_are_refused(thing):
    with pytest.raises(UnknownKindError):
        Encoder().encode(thing)


def an_object(cls):
    """An object of a class with something else in each field."""
    names = getattr(cls, "_fields", ("first", "second", "third"))
    names = [one.name for one in fields(cls)] if is_dataclass(cls) else names
    several = (np.linspace(0, 1, 3), (1, float("nan")), "é", None, {"a": [-0.0]})
    values = {name: several[k % len(several)] for k, name in enumerate(names)}
    if issubclass(cls, tuple):
        return tuple.__new__(cls, values.values())
    thing = object.__new__(cls)
    vars(thing).update(values)
    return thing


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_has_a_version_and_comes_back_bit_for_bit(name):
    cls = KINDS[name]
    assert re.fullmatch(r"[a-z_.]+/\d+", name)
    assert [other for other in KINDS if KINDS[other] is cls] == [name]
    if issubclass(cls, enum.Enum):
        assert there_and_back(list(cls)) == list(cls)
        return
    thing = an_object(cls)
    back = there_and_back(thing)
    assert type(back) is cls
    content = tuple if issubclass(cls, tuple) else vars
    assert same(content(back), content(thing))


def classes_in(annotation):
    """The classes of the package that an annotation names; those that an abstract one stands for."""
    if isinstance(annotation, type) and annotation.__module__.startswith("bezierflow"):
        if annotation.__name__.startswith("Abstract"):
            return {one for child in annotation.__subclasses__() for one in classes_in(child)}
        return {annotation}
    return {one for part in get_args(annotation) for one in classes_in(part)}


def test_what_fields_of_registered_classes_hold_is_registered():
    """But for what a state holds by name, and for solvers, which no file holds."""
    missing = set()
    for name, cls in KINDS.items():
        # their solvers are classes of other packages, which are imported when they are used
        if name not in ("method.optax/1", "method.optimistix/1"):
            missing |= set().union(*map(classes_in, get_type_hints(cls).values()))
    assert {cls.__name__ for cls in missing - set(KINDS.values())} == {"Lifted"}


def test_states_hold_no_name_of_a_module():
    encoder = Encoder()
    assert "bezierflow" not in json.dumps(
        encoder.encode([an_object(cls) for cls in (Evaluations, Fixed)])
    )


def test_a_class_that_is_renamed_or_moved_keeps_its_kind(monkeypatch):
    @dataclass
    class Former:
        x: int
        y: tuple[float, ...]

    monkeypatch.setitem(KINDS, "test.record/1", None)
    monkeypatch.delitem(KINDS, "test.record/1")
    kind("test.record/1")(Former)
    encoder = Encoder()
    document = encoder.encode([Former(1, (0.5,))])
    with pytest.raises(ValueError, match=r"'test.record/1' is that of .*Former.* already"):
        kind("test.record/1")(Foreign)

    @dataclass
    class Latter:
        x: int
        y: tuple[float, ...]
        z: str = "new"

    monkeypatch.delitem(KINDS, "test.record/1")
    with pytest.raises(
        ValueError, match=r"a state holds a 'test.record/1'.* go on with the version"
    ):
        Decoder(encoder.arrays).decode(document)
    kind("test.record/1")(Latter)
    assert Decoder(encoder.arrays).decode(document) == [Latter(1, (0.5,))]


@pytest.mark.parametrize("name", ["state", "normal.state", "Normal/1", "normal/0", "os:system/1"])
def test_a_kind_is_short_and_has_a_version(name):
    with pytest.raises(ValueError, match="kind must have a version"):
        kind(name)


def test_a_file_of_another_kind_or_version_is_said_with_its_path(tmp_path):
    write_checked(tmp_path / "0.bez", {"kind": "state of a flow"}, {"x": np.zeros(2)})
    with pytest.raises(
        ValueError, match=r"0.bez holds 'state of a flow', not 'run.state/1'.*another folder"
    ):
        read_checked(tmp_path / "0.bez", "run.state/1")


@pytest.mark.parametrize(
    "document",
    [
        {"id": 0, "kind": "os:system", "fields": [["x", "true"]]},
        {"id": 0, "kind": "subprocess:Popen", "items": ["true"]},
        {"id": 0, "object": "bezierflow.normal.stages:NormalState", "fields": []},
        {"id": 0, "kind": "answer.flag/1", "member": "NO_SUCH_FLAG"},
        {"id": 0, "kind": "answer.flag/1"},
        {"id": 0, "kind": ["answer.flag/1"], "items": []},
        {"id": 0, "kind": "tuple", "fields": []},
        {"id": 0, "generator": "MT19937", "state": 1},
        {"id": 0, "array": "17"},
        {"again": 3},
        {"known": "something"},
        [1, 2],
        {},
    ],
)
def test_a_document_of_somebody_else_is_an_error_and_nothing_more(document):
    with pytest.raises(ValueError, match=r"a state (is damaged|holds a .*, which is no kind)"):
        Decoder({}).decode(document)
