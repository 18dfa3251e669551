"""Built-in problems by name."""

import pytest

from bezierflow.problems import (
    Fonseca,
    Quadratic,
    ScaledMED,
    SkewMED,
    SkewMMD,
    Warped,
    available,
    by_name,
)


@pytest.mark.parametrize(
    ("name", "kind", "sizes"),
    [
        ("scaled-med", ScaledMED, (3, 3)),
        ("Scaled-MED", ScaledMED, (3, 3)),
        ("warped-scaled-med", Warped, (3, 3)),
        ("skew-3med", SkewMED, (3, 3)),
        ("skew-5med", SkewMED, (5, 5)),
        ("skew-3mmd", SkewMMD, (3, 3)),
        ("fonseca-10", Fonseca, (2, 10)),
        ("quadratic-3-5", Quadratic, (3, 5)),
    ],
)
def test_names_lead_to_problems(name, kind, sizes):
    problem = by_name(name)
    assert isinstance(problem, kind)
    assert (problem.n_objectives, problem.n_variables) == sizes


@pytest.mark.parametrize(
    "name", ["", "scaled", "skew-med", "quadratic-3", "skew--3med", "skew-3medx"]
)
def test_unknown_names_are_answered_with_what_there_is(name):
    with pytest.raises(ValueError, match="no built-in problem") as error:
        by_name(name)
    assert all(form in str(error.value) for form in available())


def test_impossible_sizes_are_named():
    with pytest.raises(
        ValueError, match="n_objectives must be a whole number of at least 2, got 1"
    ):
        by_name("skew-1med")
