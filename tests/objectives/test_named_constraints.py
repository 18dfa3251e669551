"""Constraints with names: in texts, in solutions and their files, and as multipliers."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

import bezierflow as bf
from bezierflow.objectives import feasible_set

BARS = {"mass": lambda x: x[0] + x[1], "sag": lambda x: 1 / x[0] + 2 / x[1]}
STRESS = bf.constraint(lambda x: 30 / (x[0] + x[1]), name="stress", unit="MPa", upper=25)
SPACE = bf.constraint(LinearConstraint([[1, 0.5]], -np.inf, 2.5), name="space", unit="m")


def test_texts_have_names_and_units():
    rows = bf.constraint(lambda x: [x[0], x[1]], name=["load", "heat"], lower=1.0, upper=[2.0, 3.0])
    one = bf.constraint(lambda x: x, name="flow")
    texts = feasible_set(None, [STRESS, SPACE, rows, one], 2).inequality_texts
    assert texts[:2] == ("stress <= 25 MPa", "space <= 2.5 m")
    assert texts[2:6] == ("load <= 2", "heat <= 3", "load >= 1", "heat >= 1")
    assert texts[6:] == ("flow, row 1 <= 0", "flow, row 2 <= 0")


def test_solutions_know_the_names_and_what_constraints_cost(tmp_path):
    solution = bf.minimize(
        BARS, [1.0, 1.0], bounds=([0.1, 0.1], [2.0, 1.5]), constraints=[STRESS, SPACE]
    )
    assert solution.names.objectives == ("mass", "sag")
    assert solution.names.constraints == ("stress <= 25 MPa", "space <= 2.5 m")
    # mass = 30 / stress: one more MPa takes off 30 / 25²
    assert solution.multipliers([1.0, 0.0]) == pytest.approx({"stress <= 25 MPa": 30 / 25**2})
    # the least sag is at x = (1.75, 1.5)
    space = 1 / 1.75**2
    assert solution.multipliers([0.0, 1.0]) == pytest.approx(
        {"x2 <= 1.5": 2 / 1.5**2 - space / 2, "space <= 2.5 m": space}, rel=1e-5
    )
    assert solution.multipliers([0.5, 0.5]) == {}
    solution.save(tmp_path / "bars.bez")
    loaded = bf.load(tmp_path / "bars.bez")
    assert loaded.names == solution.names
    with pytest.raises(ValueError, match="came from points or a file"):
        loaded.multipliers([1.0, 0.0])


@pytest.mark.slow
def test_names_go_with_variables_that_are_not_continuous():
    box, x2 = ([0.1, 0.1], [2.0, 1.5]), {"x2": bf.Choice(0.5, 1.5)}
    given = {"bounds": box, "variables": x2, "constraints": [STRESS, SPACE]}
    solution = bf.minimize(list(BARS.values()), **given)
    assert solution.result.success, solution.message
    # 30 / (x1 + x2) <= 25 and x1 + x2 / 2 <= 2.5
    ends = np.asarray(solution.design(np.eye(2)))
    np.testing.assert_allclose(ends, [[0.7, 0.5], [1.75, 1.5]], atol=1e-6)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "name must be a text, or one for each row, got ''"),
        ({"name": 3}, "name must be a text, or one for each row, got 3"),
        ({"name": ["a", 4]}, "name and unit must hold texts alone, got 4"),
        ({"name": "a", "unit": "\x1b"}, "without control characters"),
        ({"g": LinearConstraint([[1.0]], 0, 1), "name": "a", "upper": 2}, "has sides of its own"),
    ],
)
def test_misuse_is_named(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        bf.constraint(**{"g": lambda x: x[0], **arguments})


def test_names_must_fit_the_rows():
    with pytest.raises(ValueError, match=r"one for each of 1 rows, got \('a', 'b'\)"):
        feasible_set(None, bf.constraint(lambda x: x[0], name=("a", "b")), 2)
