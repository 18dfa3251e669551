"""Scaled-MED against the paper's formulas, and the error no surface of degree 3 can go below."""

import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import basis
from bezierflow.precision import in_double_precision
from bezierflow.problems import ScaledMED
from bezierflow.simplex import gauss_nodes

coordinate = st.floats(-3, 3)


@given(st.tuples(coordinate, coordinate, coordinate))
@settings(deadline=None)
def test_objectives_as_in_the_paper(x):
    x1, x2, x3 = x
    expected = [
        x1**2 + 3 * (x2 - 1) ** 2 + 2 * (x3 - 1) ** 2,
        2 * (x1 - 1) ** 2 + x2**2 + 3 * (x3 - 1) ** 2,
        3 * (x1 - 1) ** 2 + 2 * (x2 - 1) ** 2 + (x3 + 1) ** 2,
    ]
    np.testing.assert_allclose(ScaledMED()(np.array(x)), expected, rtol=1e-14)


def test_pareto_map_as_in_the_paper():
    t = np.random.default_rng(0).dirichlet(np.ones(3), 100)
    t1, t2, t3 = t.T
    expected = np.stack(
        [
            (2 * t2 + 3 * t3) / (t1 + 2 * t2 + 3 * t3),
            (3 * t1 + 2 * t3) / (3 * t1 + t2 + 2 * t3),
            (2 * t1 + 3 * t2 - t3) / (2 * t1 + 3 * t2 + t3),
        ],
        axis=1,
    )
    np.testing.assert_allclose(ScaledMED().pareto_map(t), expected, rtol=1e-13, atol=1e-15)


def test_best_surface_of_degree_3_has_the_known_error():
    """The L² projection of x* on polynomials of degree 3, by quadrature: an MSE of 3.33e-5."""
    nodes = gauss_nodes(3, 24)
    root = np.sqrt(nodes.weights)[:, None]
    design = root * in_double_precision(lambda t: basis(jnp.asarray(t), 3), nodes.t)
    truth = root * ScaledMED().pareto_map(nodes.t)
    residual = truth - design @ np.linalg.lstsq(design, truth)[0]
    np.testing.assert_allclose(np.sum(residual**2), 3.33e-5, rtol=0.01)
