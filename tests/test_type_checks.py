"""Annotations of the package are checked while the tests run."""

import jaxtyping
import numpy as np
import pytest

import bezierflow as bf
import type_checks

pytestmark = pytest.mark.skipif(jaxtyping.config.jaxtyping_disable, reason="checks are turned off")


def refused(function, n):
    """The numbers of the calls with a wrong argument that were refused."""
    found = []
    for number in range(n):
        try:
            function("one")
        except jaxtyping.TypeCheckError:
            found.append(number)
    return found


def plus_one(number: int) -> str:
    return f"{number} + 1"


def test_calls_are_checked_often_at_first_and_all_of_them_with_slow(request):
    import beartype

    function = type_checks._jaxtyped(plus_one, typechecker=beartype.beartype)
    every = list(range(40))
    assert refused(function, 40) == (
        every if request.config.getoption("--slow") else [0, 1, 2, 3, 4, 8, 16, 32]
    )
    type_checks.begin_test()
    assert refused(function, 2)[:1] == [0]
    type_checks.begin_file()
    assert refused(function, 4) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "call",
    [
        lambda: bf.simplex.grid("three", 4),
        lambda: bf.metrics.farthest_points(np.zeros((2, 2)), "many"),
    ],
)
def test_functions_and_classes_of_the_package_are_checked(call):
    with pytest.raises(jaxtyping.TypeCheckError):
        call()
