"""What is measured about a surface in one trial: MSE for Table 1, GD and IGD for Table 2."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from bezierflow.metrics import gd, igd, mse
from bezierflow.problems import AbstractSolvedProblem

N_TEST = 10_000
"""Test points for MSE, the paper's."""

N_SURFACE = 1000
"""|X|, the points taken from a surface for GD and IGD, the paper's."""

TEST_SEED_OFFSET = 1_000_000
"""Keeps the draws of test points apart from those of the methods, whose seeds are the trials'
numbers."""

Surface = Callable[[np.ndarray], Any]


def points_of_trial(n: int, n_objectives: int, seed: int) -> np.ndarray:
    """Points i.i.d. uniform on the simplex, n of them: those of this trial."""
    return np.random.default_rng(TEST_SEED_OFFSET + seed).dirichlet(np.ones(n_objectives), n)


def table1_scores(surface: Surface, problem: AbstractSolvedProblem, seed: int) -> dict[str, float]:
    """MSE against x*(t) at 10,000 random t; and the same without asking which t: the mean squared
    distance to the set.

    The second number is the first one's lower bound that no choice of parametrization can beat, at
    the first 1000 of the t.
    """
    t = points_of_trial(N_TEST, problem.n_objectives, seed)
    distances = problem.distance(np.asarray(surface(t[:N_SURFACE])))
    return {"mse": mse(surface, problem, t), "set_mse": float(np.mean(distances**2))}


def table2_scores(
    surface: Surface, problem: AbstractSolvedProblem, validation: np.ndarray, seed: int
) -> dict[str, float]:
    """GD and IGD as in the paper (Y from NSGA-II), against as many exact points, and the exact mean
    distance to the set.

    GD and IGD against Y in two norms: Euclidean, which the paper's text writes, and the sum of
    absolute differences (L1), which the evaluation code of the all-at-once fit's authors takes.
    """
    x = np.asarray(surface(points_of_trial(N_SURFACE, problem.n_objectives, seed)))
    exact = exact_points(problem, len(validation))
    return {
        "gd": gd(x, validation),
        "igd": igd(x, validation),
        "gd_l1": mean_l1_distance(x, validation),
        "igd_l1": mean_l1_distance(validation, x),
        "gd_exact": gd(x, exact),
        "igd_exact": igd(x, exact),
        "distance": float(np.mean(problem.distance(x))),
    }


def mean_l1_distance(x: np.ndarray, y: np.ndarray) -> float:
    """The mean over x ∈ X of min_{y ∈ Y} Σ_l |x_l − y_l|: GD of (x, y) in the L1 norm, and IGD of
    (y, x)."""
    return float(np.mean(KDTree(y).query(x, p=1)[0]))


def exact_points(problem: AbstractSolvedProblem, n: int) -> np.ndarray:
    """Points of the exact Pareto set, n of them, drawn uniformly over its closed-form
    parametrization; the same ones always."""
    w = np.random.default_rng(TEST_SEED_OFFSET - 1).dirichlet(np.ones(problem.n_objectives), n)
    return np.asarray(problem.pareto_point(w))
