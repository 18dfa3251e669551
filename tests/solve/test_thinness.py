"""Sets thinner than their number of objectives allows are called so."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([[0, 0], [1, 1], [3, 0]], None),
        ([[0, 0], [1, 1]], None),
        ([[0, 0], [1, 1], [3, 3]], "a curve"),
        ([[0, 0], [1, 1], [3, 3 + 1e-6]], "a curve"),
        ([[1, 1], [1, 1], [1, 1]], "a point"),
        ([[1, 1], [1, 1]], "a point"),
    ],
)
def test_the_dimension_of_a_set_is_said_where_it_is_less_than_that_of_its_simplex(points, said):
    """Squared distances to points: the set is their hull."""
    places = np.array(points, dtype=float)
    solution = bf.minimize(lambda x: jnp.sum((x - places) ** 2, axis=1), np.zeros(2))
    words = "thinner than" if said is None else f"the set is {said}, thinner than"
    assert (words in solution.result.message) == (said is not None)
