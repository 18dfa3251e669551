"""States to JSON and back: the same to the last bit, what is shared stays shared, and no file makes
anything run."""

import json
from dataclasses import dataclass

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
from bezierflow.runs import Decoder, Encoder, UnknownKindError


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


@pytest.mark.parametrize(
    "document",
    [
        {"id": 0, "object": "os:system", "fields": [["x", "true"]]},
        {"id": 0, "object": "subprocess:Popen", "items": ["true"]},
        {"id": 0, "object": "bezierflow.cli.__main__:main", "fields": []},
        {"id": 0, "object": "bezierflow.flows.drive:time", "fields": []},
        {"id": 0, "object": "bezierflow.flows.no_such_file:Thing", "fields": []},
        {"id": 0, "enum": "bezierflow.answer.error:Flag", "name": "NO_SUCH_FLAG"},
        {"id": 0, "generator": "MT19937", "state": 1},
        {"id": 0, "array": "17"},
        {"again": 3},
        {"known": "something"},
        [1, 2],
        {},
    ],
)
def test_a_document_of_somebody_else_is_an_error_and_nothing_more(document):
    with pytest.raises(ValueError, match="a state is damaged"):
        Decoder({}).decode(document)
