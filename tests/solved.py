"""Solutions for tests without a run: a surface fitted to a problem's exact Pareto map, with its
true error beside it."""

from typing import Any

import jax
import numpy as np

from bezierflow import Reason, Solution, fit
from bezierflow.answer import ErrorEstimate, FittedFront, Result, Stats
from bezierflow.bezier import BezierSimplex, Raveling
from bezierflow.evaluations import Evaluations
from bezierflow.normal import NormalEstimator
from bezierflow.precision import double_precision
from bezierflow.simplex import quadrature_nodes


def solved(problem: Any, degree: int = 4, objectives: bool = True) -> Solution:
    """The solution of a problem with a known Pareto set; without objectives it is as if loaded from
    a file."""
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
        estimator=NormalEstimator(),
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


def distances_to_points(
    n_objectives: int,
    n_variables: int,
    degree: int = 2,
    front_degree: int = 2,
    names: Any = None,
    objectives: bool = False,
) -> Solution:
    """Squared distances to M points: the Pareto set is their hull and the front a polynomial of
    degree 2, both exact.

    Written in any higher degree. Nothing is compiled for it but the elevation.
    """
    from bezierflow.names import Names
    from bezierflow.simplex import multi_indices

    centers = np.random.default_rng(7).normal(size=(n_objectives, n_variables))
    squared = np.sum((centers[:, None] - centers[None]) ** 2, axis=2)
    # |Σ t_k c_k − c_m|² = Σ_k t_k |c_k − c_m|² − Σ_{k<l} t_k t_l |c_k − c_l|², a net of degree 2 by
    # polarization.
    net = []
    for index in multi_indices(n_objectives, 2):
        k, *rest = np.flatnonzero(index)
        other = rest[0] if rest else k
        net.append((squared[k] + squared[other]) / 2 - squared[k, other] / 2)
    error = ErrorEstimate(
        0.0, 0.0, 0.0, float(np.sqrt(squared.max())), 100, 0, 0.0, 0.0, 1.0, 0.0, (), 0
    )
    names = names or Names()
    front = BezierSimplex(np.array(net), n_objectives, 2).elevate(front_degree)
    return Solution(
        pareto_set=BezierSimplex(centers, n_objectives, 1).elevate(degree).on_host(),
        objectives=(lambda x: ((x - centers) ** 2).sum(axis=1)) if objectives else None,
        names=names.complete(n_objectives, n_variables),
        result=Result(Reason.CONVERGED, "exact"),
        stats=Stats(Evaluations(), 1, 0.0),
        history={"movement": np.geomspace(1, 1e-6, 12), "residual": np.full(12, 1e-3)},
        made_by={"method": "exact"},
        raveling=Raveling.of(np.zeros(n_variables)),
        known_error=error,
        known_front=FittedFront(front.on_host(), np.zeros(n_objectives), np.zeros(n_objectives)),
        estimator=NormalEstimator(),
    )


def turned(solution: Solution, *maximized: int) -> Solution:
    """The same set as the answer to a problem whose objectives with these numbers are minus what
    they were, and maximized."""
    import dataclasses

    from bezierflow import BezierAtlas

    M, minimized = solution.n_objectives, solution.objectives
    names = solution.names.complete(M, solution.raveling.n_variables)
    names = dataclasses.replace(
        names, directions=tuple("maximize" if m in maximized else "minimize" for m in range(M))
    )
    atlas, front = isinstance(solution.pareto_set, BezierAtlas), solution.known_front
    if front is not None:
        net = names.signs * np.asarray(front.surface.control_points)
        front = FittedFront(BezierSimplex(net, M, front.surface.degree), front.rms, front.max)
    return dataclasses.replace(
        solution,
        pareto_set=solution.pareto_set.turned(names.signs) if atlas else solution.pareto_set,
        objectives=None if minimized is None else lambda x: names.signs * minimized(x),
        names=names,
        known_front=front,
    )
