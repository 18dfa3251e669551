"""Whether the event of stability can be a product B^{N+1}, as the paper's Theorem 1 asks for."""

import jax
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.bezier import design_matrix

SCALED = bf.problems.ScaledMED()
CURVES = bf.problems.Quadratic(
    np.array([[1.0, 3.0], [2.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
)


def step(problem, t, P, degree):
    """P after one iteration with α = 1."""
    Z = design_matrix(t, degree)
    jacobians = np.asarray(jax.vmap(jax.jacobian(problem))(Z @ P), float)
    return P - np.linalg.lstsq(Z, np.einsum("nm,nml->nl", t, jacobians), rcond=0)[0]


@pytest.mark.parametrize("degree", [1, 2])
def test_with_three_objectives_nearly_collinear_examples_move_the_surface_without_bound(degree):
    """All but few examples on a line in the middle, one at a distance h from it: exchanging that one
    moves the surface like 1/h, wherever the line lies."""
    rng, P = np.random.default_rng(0), np.random.default_rng(1).standard_normal((3 * degree, 3))
    P = P[: len(bf.simplex.multi_indices(3, degree))]
    s = rng.uniform(-0.1, 0.1, 8)
    along, across = np.array([1.0, -1.0, 0.0]), np.array([1.0, 1.0, -2.0]) / 6
    line = 1 / 3 + s[:, None] * along
    others = np.array([[0.5, 0.3, 0.2], [0.2, 0.35, 0.45]])[: {1: 0, 2: 2}[degree]]

    def moved(h):
        last = [1 / 3 + 0.15 * along + side * across for side in (h, 0.5)]
        ends = [step(SCALED, np.vstack([line, others, x]), P, degree) for x in last]
        return np.linalg.norm(ends[0] - ends[1])

    moves = [moved(h) for h in (1e-2, 1e-3, 1e-4)]
    assert moves[1] / moves[0] == pytest.approx(10, rel=0.3)
    assert moves[2] / moves[1] == pytest.approx(10, rel=0.1)


def test_with_two_objectives_close_examples_do_no_harm():
    """A least-squares fit is a mean of interpolants, whose divided differences are derivatives."""
    rng, P = np.random.default_rng(0), np.array([[0.0, 0.5], [2.0, 1.0], [-1.0, 0.3]])
    largest = []
    for width in (1e-1, 1e-2, 1e-3):
        ends = []
        for _ in range(50):
            s = 0.4 + width * rng.uniform(0, 1, 5)
            ends.append(step(CURVES, np.column_stack([s, 1 - s]), P, 2))
        largest.append(np.max(np.linalg.norm(np.array(ends) - ends[0], axis=(1, 2))))
    assert max(largest) < 50
    assert largest[2] < 3 * largest[0]
