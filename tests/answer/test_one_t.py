"""One meaning of t for every set: corners are minimizers, faces Pareto sets of their objectives, and
t(f) inverts the front. For surfaces and atlases alike."""

from itertools import combinations
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

import bezierflow as bf
from bezierflow.simplex import grid

ATLASES = Path(__file__).parents[1] / "explorer" / "atlases"


def in_a_box(seed, n_objectives):
    """Random strictly convex quadratics whose Pareto set follows the sides of a box."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.6, 1.6, (n_objectives, n_objectives))
    scales = rng.uniform(0.5, 2.0, (n_objectives, n_objectives))

    def objectives(x):
        return jnp.sum(scales * (x - centers) ** 2, axis=1)

    n = n_objectives
    return bf.minimize(objectives, np.full(n, 0.5), bounds=(np.zeros(n), np.ones(n)))


SOLUTIONS = {
    "surface of two": lambda: bf.minimize(bf.problems.Quadratic.random(2, 3, seed=1), np.zeros(3)),
    "surface of three": lambda: bf.minimize(bf.problems.ScaledMED(), np.zeros(3)),
    "box, two objectives": lambda: in_a_box(0, 2),
    "another box, two objectives": lambda: in_a_box(5, 2),
    "box, three objectives": lambda: in_a_box(3, 3),
    "maximized": lambda: bf.load(ATLASES / "constrained.bez"),
    "stored, two objectives": lambda: bf.load(ATLASES / "2.bez"),
    "stored, three objectives": lambda: bf.load(ATLASES / "3.bez"),
    "stored, four objectives": lambda: bf.load(ATLASES / "4.bez"),
}


@pytest.fixture(scope="module", params=SOLUTIONS)
def solution(request):
    if request.param == "box, three objectives" and not request.config.getoption("--slow"):
        pytest.skip("slow: pytest --slow runs it")
    return SOLUTIONS[request.param]()


@pytest.fixture(scope="module")
def scale(solution):
    return np.abs(solution.set.scale)


def minimized(solution, t):
    return solution.names.signs * np.asarray(solution.front(t))


def test_at_a_corner_its_objective_is_best(solution, scale):
    M = solution.n_objectives
    corners = minimized(solution, np.eye(M))
    everywhere = minimized(solution, solution.set.sample_t)
    assert (np.diagonal(corners) <= everywhere.min(axis=0) + 2e-4 * scale).all()


def test_on_a_face_no_point_is_better_in_all_of_its_objectives(solution, scale):
    M = solution.n_objectives
    everywhere = minimized(solution, solution.set.sample_t) / scale
    for size in range(1, M):
        for face in combinations(range(M), size):
            t = np.zeros((len(grid(size, 6)), M))
            t[:, face] = grid(size, 6)
            for f in minimized(solution, t) / scale:
                lead = (f[list(face)] - everywhere[:, face]).min(axis=1)
                assert lead.max() <= 2e-3


def test_t_inverts_the_front(solution, scale):
    t = solution.spread(25).t
    F = np.asarray(solution.front(t))
    again = solution.t(F)
    assert (again >= 0).all()
    np.testing.assert_allclose(again.sum(axis=1), 1, atol=1e-12)
    miss = np.abs(np.asarray(solution.front(again)) - F) / scale
    assert np.median(miss.max(axis=1)) < 1e-4
    assert miss.max() < 5e-3


def test_t_of_other_values_is_the_point_that_exceeds_them_least(solution, scale):
    rng = np.random.default_rng(0)
    everywhere = minimized(solution, solution.set.sample_t)
    low, high = everywhere.min(axis=0) - scale, everywhere.max(axis=0) + scale
    for aim in rng.uniform(low, high, (5, solution.n_objectives)):
        t = solution.t(solution.names.signs * aim)
        assert t.min() >= 0
        level = ((minimized(solution, t) - aim) / scale).max()
        assert level <= ((everywhere - aim) / scale).max(axis=1).min() + 2e-3


def test_two_objectives_come_sorted_along_the_front(solution):
    if solution.n_objectives != 2:
        pytest.skip("there is no order of three objectives")
    points = solution.spread(40)
    F = solution.names.signs * points.F
    assert (np.diff(F[:, 0]) >= -1e-9).all()
    assert (np.diff(F[:, 1]) <= 1e-9).all()
    assert (np.diff(points.t[:, 0]) <= 0).all()


@pytest.mark.usefixtures("unchecked")
def test_what_is_no_point_of_the_simplex_is_refused_on_an_atlas():
    solution = bf.load(ATLASES / "2.bez")
    for wrong in ([0.3, -0.3], [0.5, 0.6], [1.2, -0.2], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="simplex"):
            solution.design(np.array(wrong))


def test_corners_reach_the_ends_of_a_front_that_is_flat_there():
    """Where an objective is flat at its minimizer, an error of its least value is one of its square
    root in the others: corners at the ranges alone would cut off the end."""
    A = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 1.5]])

    def objectives(x):
        y = x - np.array([0.3, -0.2, 0.9])
        z = x - np.array([-0.6, 0.4, -0.1])
        return np.array([y @ y, z @ A @ z])

    low, high = np.full(3, -0.5), np.full(3, 0.5)
    solution = bf.minimize(objectives, None, bounds=(low, high))
    assert isinstance(solution.pareto_set, bf.BezierAtlas)
    box = list(zip(low, high, strict=True))
    ends = [
        minimize(lambda x, m=m: objectives(x)[m], np.zeros(3), bounds=box, tol=1e-15).x
        for m in range(2)
    ]
    true = np.stack([objectives(x) for x in ends])
    atol = 2e-6 * np.ptp(true, axis=0).min()
    np.testing.assert_allclose(solution.front(np.eye(2)), true, rtol=0, atol=atol)
