"""What `docs/convergence.md` states about lifted gradient descent with fixed nodes, and the rates
of approximation."""

from itertools import pairwise

import numpy as np
import pytest
from experiments.convergence import best_fit_errors, exact_map, jumping_map, limits, rate
from experiments.trial_files import TrialFile

import bezierflow as bf
from bezierflow.bezier import design_matrix
from bezierflow.problems import by_name

PROBLEM = bf.problems.Quadratic.random(3, 4, condition=10, seed=3)
STEEPEST, FLATTEST = 2 * 10**0.5, 2 / 10**0.5
"""β and m of every weighted sum: Quadratic.random has eigenvalues between 10^(−1/2) and
10^(1/2)."""


def node_norm(nodes, values):
    return np.sqrt(np.sum(nodes.weights[:, None] * values**2))


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_fixed_nodes_converge_linearly_to_a_surface_nearly_as_good_as_the_best(degree):
    nodes = bf.simplex.quadrature_nodes(3, degree)
    Z, x = design_matrix(nodes.t, degree), np.asarray(PROBLEM.pareto_map(nodes.t))
    step = 2 / (STEEPEST + FLATTEST)
    surfaces = []

    def keep(iteration):
        surfaces.append(np.asarray(iteration.surface.control_points))

    flow = bf.lift(bf.GradientDescent(step), degree, bf.Fixed(nodes), n_iterations=120)
    bf.minimize(PROBLEM, np.zeros(4), flow, tol=0.0, callback=keep)
    limit = surfaces[-1]
    factor = (STEEPEST - FLATTEST) / (STEEPEST + FLATTEST)
    gaps = [node_norm(nodes, Z @ (P - limit)) for P in surfaces[:20]]
    assert all(later <= factor * earlier * (1 + 1e-9) + 1e-12 for earlier, later in pairwise(gaps))
    root = np.sqrt(nodes.weights)[:, None]
    best = np.linalg.lstsq(root * Z, root * x)[0]
    error, least = node_norm(nodes, Z @ limit - x), node_norm(nodes, Z @ best - x)
    kappa = STEEPEST / FLATTEST
    assert least <= error <= (kappa + 1) / (2 * kappa**0.5) * least


@pytest.mark.parametrize("kappa", [3.0, 9.0, 100.0])
def test_the_constant_of_theorem_2_is_attained(kappa):
    """Constants through two minimizers 0 and 1, of curvatures 1 and κ, by the iteration b ← Π A(b)."""
    x, curvature = np.array([0.0, 1.0]), np.array([1.0, kappa])
    weights = np.array([kappa, 1.0]) / (1 + kappa)
    b = 0.0
    for _ in range(2000):
        b = weights @ (b - curvature * (b - x) / kappa)
    error, least = (np.sqrt(weights @ (c - x) ** 2) for c in (b, weights @ x))
    assert error / least == pytest.approx((kappa + 1) / (2 * kappa**0.5))


@pytest.mark.parametrize("q", [0.0, 0.5, 0.95])
def test_any_contraction_lifts_with_its_factor_to_a_surface_as_good_as_theorem_3_says(q):
    """A_t(x) = x*(t) + q R_t (x − x*(t)) with rotations R_t, most of them nearly none or half a
    turn, by b ← Π A(b); some come near the bound."""
    rng, nodes, degree, tightest = np.random.default_rng(0), 5, 1, 0.0
    for _ in range(200):
        s, weights = rng.uniform(size=nodes), rng.dirichlet(np.ones(nodes))
        root = np.sqrt(weights)[:, None]
        basis = np.linalg.qr(root * design_matrix(np.column_stack([s, 1 - s]), degree))[0]
        target = root * rng.standard_normal((nodes, 2))  # in the coordinates of the norm
        angles = np.pi * rng.integers(0, 2, nodes) + 0.1 * rng.standard_normal(nodes)
        turns = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])

        def lifted(b, target=target, basis=basis, turns=turns):
            moved = target + q * np.einsum("ijn,nj->ni", turns, b - target)
            return basis @ (basis.T @ moved)

        start, limit = basis @ rng.standard_normal((basis.shape[1], 2)), np.zeros_like(target)
        for _ in range(600):
            limit = lifted(limit)
        gap = np.linalg.norm(lifted(start) - limit)
        assert gap <= q * np.linalg.norm(start - limit) * (1 + 1e-9) + 1e-9
        least = np.linalg.norm(target - basis @ (basis.T @ target))
        share = np.linalg.norm(limit - target) / least * np.sqrt(1 - q**2)
        assert share <= 1 + 1e-9
        tightest = max(tightest, share)
    assert tightest > 0.8


def test_a_map_that_is_a_polynomial_is_met_at_its_degree():
    assert max(best_fit_errors(exact_map(by_name("skew-3med")), 3, 1)) < 1e-12
    cubic = lambda t: np.column_stack([t[:, 0] ** 3, t[:, 1]])
    assert min(best_fit_errors(cubic, 3, 2)) > 1e-3
    assert max(best_fit_errors(cubic, 3, 3)) < 1e-12


def test_an_analytic_map_gains_a_factor_with_each_degree_and_a_jumping_one_does_not():
    """On the edge with weights 1 and 3 a coordinate of x* is 1/(1 + 2s): its pole makes the factor
    2 + √3 = 3.73."""
    problem = by_name("scaled-med")
    errors = [best_fit_errors(exact_map(problem), 3, degree)[0] for degree in (3, 4, 5, 6)]
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert np.all(ratios > 3.5)
    skew = by_name("skew-3mmd")
    first, last = (best_fit_errors(jumping_map(skew), 3, degree)[0] for degree in (3, 6))
    assert first / last < 1.5


def test_a_rate_is_that_of_a_geometric_sequence(tmp_path):
    file = TrialFile(tmp_path / "rates.csv", ["problem", "map", "degree"], ["rms", "largest"], {})
    file.add(
        [
            {"problem": "p", "map": "m", "degree": d, "rms": 0.1 * 2.5**-d, "largest": 1.0}
            for d in range(1, 8)
        ]
    )
    file.add(
        [
            {"problem": "q", "map": "m", "degree": d, "rms": 1e-16, "largest": 1e-16}
            for d in range(1, 8)
        ]
    )
    assert rate(file, "p", "m") == pytest.approx(2.5)
    assert rate(file, "q", "m") is None


def test_the_limit_of_algorithm_2_is_slightly_above_the_best_fit():
    found = limits()
    assert found["best fit"] < found["Galerkin"] < 1.2 * found["best fit"]
