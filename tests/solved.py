"""Solutions for tests without a run: a surface fitted to a problem's exact Pareto map, with its true error beside it."""

from typing import Any

import jax
import numpy as np

from bezierflow import Reason, Solution, fit
from bezierflow.flow.raveling import Raveling
from bezierflow.flow.result import Result, Stats
from bezierflow.methods import Evaluations
from bezierflow.normal import ErrorEstimate
from bezierflow.precision import double_precision
from bezierflow.simplex import quadrature_nodes


def solved(problem: Any, degree: int = 4, objectives: bool = True) -> Solution:
    """The solution of a problem with a known Pareto set; without objectives it is as if loaded from a file."""
    with double_precision():
        t = quadrature_nodes(problem.n_objectives, degree).t
        surface = fit(t, np.asarray(problem.pareto_point(t)), degree)
        held_out = np.random.default_rng(0).dirichlet(np.ones(problem.n_objectives), 100)
        x = np.asarray(surface(held_out))
        distance = np.linalg.norm(x - np.asarray(problem.pareto_point(held_out)), axis=1)
    diameter = float(np.linalg.norm(np.ptp(x, axis=0)))
    rms, largest = float(np.sqrt(np.mean(distance**2))), float(distance.max())
    error = ErrorEstimate(rms, largest, 3 * largest, diameter, 100, 0, 0.0, 0.0, 1.0, 0.0, (), 0)
    solution = Solution(
        pareto_set=surface,
        objectives=problem,
        names=problem.names.complete(problem.n_objectives, problem.n_variables),
        result=Result(Reason.CONVERGED, "fitted to the exact Pareto map"),
        stats=Stats(Evaluations(), 1, 0.0),
        history={"movement": np.geomspace(1, 1e-6, 12), "residual": np.full(12, 1e-3)},
        made_by={"method": "exact map"},
        raveling=Raveling.of(np.zeros(problem.n_variables)),
        known_error=error,
    )
    return solution if objectives else without_objectives(solution)


def without_objectives(solution: Solution) -> Solution:
    """The same solution as if it came from a file."""
    import dataclasses

    return dataclasses.replace(solution, objectives=None, known_front=solution.fitted_front)


def values(problem: Any, surface: Any, t: np.ndarray) -> np.ndarray:
    """Objective values on a surface, computed apart from the code under test."""
    with double_precision():
        return np.asarray(jax.vmap(problem)(np.asarray(surface(t))))
