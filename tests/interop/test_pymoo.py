"""pymoo's results in, polished points and populations out."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf

pytest.importorskip("pymoo")

from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.optimize import minimize as pymoo_minimize

from bezierflow.interop.pymoo import from_result, polish, to_population

A, B = np.array([0.2, 0.3, 0.4]), np.array([0.8, 0.5, 0.1])


class TwoDistances(Problem):
    def __init__(self):
        super().__init__(n_var=3, n_obj=2, xl=0.0, xu=1.0)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = np.column_stack([np.sum((x - A) ** 2, axis=1), np.sum((x - B) ** 2, axis=1)])


def objectives(x):
    return jnp.array([jnp.sum((x - A) ** 2), jnp.sum((x - B) ** 2)])


def distance_to_segment(x):
    s = np.clip((x - A) @ (B - A) / np.sum((B - A) ** 2), 0, 1)
    return np.linalg.norm(x - A - s[:, None] * (B - A), axis=1)


@pytest.fixture(scope="module")
def result():
    return pymoo_minimize(TwoDistances(), NSGA2(pop_size=40), ("n_gen", 40), seed=1)


def test_a_result_becomes_a_solution(result):
    solution = from_result(result, names=bf.Names(("near A", "near B")))
    assert solution.result.success, solution.result
    assert distance_to_segment(np.asarray(solution.X)).max() < 0.05
    assert bf.decisions.knee(solution).f == pytest.approx(np.sum((A - B) ** 2) / 4, abs=0.02)
    assert solution.feasible.lower.tolist() == [0, 0, 0]


def test_points_are_polished_onto_the_set(result):
    points = polish(result, objectives)
    assert points.X.shape == (len(result.F), 3)
    assert (
        distance_to_segment(np.asarray(points.X)).max() < 1e-6 < distance_to_segment(result.X).max()
    )
    np.testing.assert_allclose(points.F, [objectives(x) for x in points.X], rtol=1e-5)


def test_a_solution_seeds_an_algorithm(result):
    population = to_population(from_result(result), 20)
    again = pymoo_minimize(
        TwoDistances(), NSGA2(pop_size=20, sampling=population), ("n_gen", 1), seed=1
    )
    assert distance_to_segment(again.X).max() < 0.05


def test_a_result_without_points_is_named():
    class Empty:
        X = F = None
        problem = TwoDistances()

    with pytest.raises(ValueError, match="holds no feasible points"):
        from_result(Empty())
