"""Names and units: defaults, lengths, labels, and the way into a file and back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.arguments import CONTROL
from bezierflow.names import Names


def test_defaults():
    names = Names.default(2, 3)
    assert names.objectives == ("f1", "f2")
    assert names.variables == ("x1", "x2", "x3")
    assert names.objective_units == ("", "")
    assert names.variable_units == ("", "", "")
    assert (names.n_objectives, names.n_variables) == (2, 3)
    assert Names().n_objectives is None


def test_what_is_not_given_is_filled():
    names = Names(objectives=("cost", "mass"), objective_units=("EUR", "")).complete(2, 1)
    assert names.objective_labels == ("cost [EUR]", "mass")
    assert names.variable_labels == ("x1",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"objectives": ("a",)}, "objectives must hold 2 texts for 2 objectives, got 1"),
        ({"variables": ("a", "b")}, "variables must hold 3 texts for 3 variables, got 2"),
        ({"objective_units": ("m",)}, "objective_units must hold 2 texts"),
        ({"variable_units": ("m",) * 4}, "variable_units must hold 3 texts"),
    ],
)
def test_lengths_must_fit(given, message):
    with pytest.raises(ValueError, match=message):
        Names(**given).complete(2, 3)


def test_units_must_fit_their_names():
    with pytest.raises(ValueError, match=r"objective_units must hold one text for each of 'a, b'"):
        Names(objectives=("a", "b"), objective_units=("m",))


def test_names_are_distinct():
    with pytest.raises(ValueError, match="'a' more than once"):
        Names(variables=("a", "b", "a"))


@pytest.mark.parametrize("wrong", ["cost", ("cost", 1), 3])
@pytest.mark.usefixtures("unchecked")
def test_names_are_sequences_of_texts(wrong):
    with pytest.raises(TypeError, match="objectives must"):
        Names(objectives=wrong)


@pytest.mark.usefixtures("unchecked")
def test_lists_become_tuples_so_that_names_hash():
    assert hash(Names(objectives=["a", "b"])) == hash(Names(objectives=("a", "b")))


TEXTS = st.text().filter(lambda text: not CONTROL.search(text))


@pytest.mark.parametrize("text", ["a\x1b[31m", "a\nb", "tab\t", "\u202eturned", "\x9b2J", "\x7f"])
def test_control_characters_are_refused(text):
    with pytest.raises(ValueError, match=r"without control characters, got '[ -~]*'$"):
        Names(objectives=(text, "b"))


@given(
    st.lists(TEXTS, min_size=1, max_size=4, unique=True),
    st.lists(TEXTS, min_size=1, max_size=4, unique=True),
)
@settings(deadline=None)
def test_any_text_survives_json(objectives, variables):
    names = Names(tuple(objectives), tuple(variables)).complete(len(objectives), len(variables))
    assert Names.from_dict(json.loads(json.dumps(names.to_dict()))) == names


def test_unknown_keys_are_refused():
    with pytest.raises(ValueError, match="colors"):
        Names.from_dict({"colors": ["red"]})
