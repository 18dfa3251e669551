"""Sets thinner than their number of objectives allows are called so."""

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.solve import describe_thinness

BENT = np.array([[0.0, 0.0], [0.5, 1.0], [1.0, 1.2], [1.0, 2.0], [1.5, 1.0], [2.0, 0.0]])
"""A net of degree 2 over a triangle."""


@pytest.mark.parametrize(
    ("points", "n_objectives", "said"),
    [
        (BENT, 3, None),
        (BENT[:3], 2, None),
        (BENT * [1.0, 0.0], 3, "a curve"),
        (BENT * [1.0, 1e-7], 3, "a curve"),
        (np.tile(BENT[1], (6, 1)), 3, "a point"),
        (np.tile(BENT[1], (3, 1)), 2, "a point"),
    ],
)
def test_the_dimension_of_a_surface_is_said_where_it_is_less_than_that_of_its_simplex(
    points, n_objectives, said
):
    text = describe_thinness(bf.BezierSimplex(points, n_objectives, 2))
    assert (text is None) if said is None else f"the set is {said}" in (text or "")
