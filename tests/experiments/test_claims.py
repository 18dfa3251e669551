"""What the paper claims and does not measure."""

import numpy as np
from experiments.claims import independence


def gradients_of_distances(centers, points):
    """Of |x − c|² at each point, one row per center."""
    return 2 * (points[:, None] - centers)


def test_independent_gradients_are_told_from_dependent_ones():
    """On a triangle two of three gradients are independent everywhere; where two objectives share
    their minimizer, two are 0 there and one is left."""
    triangle = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    t = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    points = np.concatenate([triangle, t @ triangle])
    assert independence(gradients_of_distances(triangle, points)) > 0.05
    collapsed = triangle[[0, 1, 1]]
    assert independence(gradients_of_distances(collapsed, t @ collapsed)) < 1e-12


def test_gradients_that_are_infinite_at_a_cusp_are_left_out():
    gradients = np.array([[[np.inf, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    assert independence(gradients) == 1.0
