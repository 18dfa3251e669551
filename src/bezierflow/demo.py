"""The demonstration: scaled-MED by the paper's Algorithm 2, a lifted Newton and the normal flow, against the exact Pareto set."""

from pathlib import Path
from typing import Any

import numpy as np

from .bezier import BezierSimplex, fit
from .flow import Solution, lift, minimize
from .methods import GradientDescent, Newton
from .plots import surface
from .plots.matplotlib_import import pyplot
from .problems import ScaledMED
from .simplex import Uniform, gauss_nodes, grid

FLOOR_ORDER = 24
"""Gauss nodes a direction for the best surface of a degree and for its error: the floor is then exact to many digits."""


def degree_floor(problem: Any, degree: int) -> float:
    """The least MSE any surface of this degree can have: that of the L² projection of x*(t), by quadrature."""
    nodes = gauss_nodes(problem.n_objectives, FLOOR_ORDER)
    return exact_mse(fit(nodes.t, np.asarray(problem.pareto_map(nodes.t)), degree, weights=nodes.weights), problem)


def exact_mse(surface: BezierSimplex, problem: Any) -> float:
    """The mean of |b(t) − x*(t)|² over the simplex by quadrature: what a sample of t estimates, without its noise."""
    nodes = gauss_nodes(problem.n_objectives, FLOOR_ORDER)
    miss = np.asarray(surface(nodes.t)) - np.asarray(problem.pareto_map(nodes.t))
    return float(nodes.weights @ np.sum(miss**2, axis=1))


def distance_to_set(surface: BezierSimplex, problem: Any) -> float:
    """The largest distance from the surface to the exact Pareto set, over a regular grid: right for any parametrization."""
    return float(problem.distance(np.asarray(surface(grid(problem.n_objectives, 30)))).max())


def run_demo(folder: Path) -> list[dict[str, Any]]:
    """Runs three methods, writes `scaled-med.png` and `scaled-med.bez` into the folder, and returns the rows of the table."""
    problem = ScaledMED()
    x0 = np.zeros(3)
    algorithm_2 = minimize(
        problem, x0, lift(GradientDescent(lambda k: 1 / k), degree=3, sampler=Uniform(100)), n_iterations=1000, progress=True
    )
    newton = minimize(problem, x0, lift(Newton(), degree=3), progress=True)
    auto = minimize(problem, x0, progress=True)
    rows = [
        _row("Algorithm 2 (N=100, K=1000)", algorithm_2, problem),
        _row("lifted Newton", newton, problem),
        _row("no knobs: minimize(f, x0)", auto, problem),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    axes = surface(algorithm_2, title="scaled-MED: Algorithm 2, degree 3", net=True)
    axes.figure.savefig(folder / "scaled-med.png", dpi=160)
    pyplot().close(axes.figure)
    algorithm_2.save(folder / "scaled-med.bez")
    return rows


def _row(name: str, solution: Solution, problem: Any) -> dict[str, Any]:
    weights = solution.made_by["parametrization"] == "weights"
    return {
        "method": name,
        "degree": solution.degree,
        "mse": exact_mse(solution.pareto_set, problem) if weights else None,
        "floor": degree_floor(problem, solution.degree) if weights else None,
        "distance": distance_to_set(solution.pareto_set, problem),
        "gradients": solution.stats.evaluations.jacobian,
        "hessians": solution.stats.evaluations.hessian,
        "seconds": solution.stats.seconds,
    }
