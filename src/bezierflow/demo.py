"""The demonstration: scaled-MED by the paper's Algorithm 2, a lifted Newton and the normal flow,
against the exact Pareto set."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from .answer import Solution
from .bezier import BezierSimplex, fit
from .flows import lift
from .methods import GradientDescent, Newton
from .plots import surface
from .problems import ScaledMED
from .simplex import Uniform, gauss_nodes, grid
from .solve import minimize

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUADRATURE_ORDER = 24
"""Gauss nodes a direction for the best surface of a degree and for its error; 48 agree with it to
12 digits."""


class Row(NamedTuple):
    """A line of the table. `mse`, and the least that its degree allows, are None where t is not the
    weights of a weighted sum; `distance` is the largest to the exact Pareto set."""

    method: str
    degree: int
    mse: float | None
    floor: float | None
    distance: float
    gradients: int
    hessians: int
    seconds: float


def run_demo(folder: Path) -> list[Row]:
    """Runs three methods, writes `scaled-med.png` and `scaled-med.bez` into the folder, and returns
    the rows of the table."""
    problem = ScaledMED()
    x0 = np.zeros(3)
    algorithm_2 = minimize(
        problem,
        x0,
        lift(GradientDescent(lambda k: 1 / k), degree=3, sampler=Uniform(100), n_iterations=1000),
        progress=True,
    )
    newton = minimize(problem, x0, lift(Newton(), degree=3), progress=True)
    auto = minimize(problem, x0, progress=True)
    folder.mkdir(parents=True, exist_ok=True)
    axes = surface(algorithm_2, title="scaled-MED: Algorithm 2, degree 3", net=True)
    cast("Figure", axes.figure).savefig(folder / "scaled-med.png", dpi=160)
    algorithm_2.save(folder / "scaled-med.bez")
    return [
        _row("Algorithm 2 (N=100, K=1000)", algorithm_2, problem),
        _row("lifted Newton", newton, problem),
        _row("no knobs: minimize(f, x0)", auto, problem),
    ]


def _row(name: str, solution: Solution, problem: ScaledMED) -> Row:
    surface, degree, mse, floor = solution.flat_surface, solution.degree, None, None
    if solution.made_by["parametrization"] == "weights":
        mse = _exact_mse(surface, problem)
        # The least any surface of this degree can have: that of the L² projection of x*(t).
        nodes = gauss_nodes(problem.n_objectives, QUADRATURE_ORDER)
        exact = np.asarray(problem.pareto_map(nodes.t))
        floor = _exact_mse(fit(nodes.t, exact, degree, weights=nodes.weights), problem)
    points = np.asarray(surface(grid(problem.n_objectives, 30)))
    return Row(
        method=name,
        degree=degree,
        mse=mse,
        floor=floor,
        distance=float(problem.distance(points).max()),
        gradients=int(solution.stats.evaluations.jacobian),
        hessians=int(solution.stats.evaluations.hessian),
        seconds=solution.stats.seconds,
    )


def _exact_mse(surface: BezierSimplex, problem: ScaledMED) -> float:
    """The mean of |b(t) − x*(t)|² over the simplex by quadrature: what a sample of t estimates,
    without its noise."""
    nodes = gauss_nodes(problem.n_objectives, QUADRATURE_ORDER)
    difference = np.asarray(surface(nodes.t)) - np.asarray(problem.pareto_map(nodes.t))
    return float(nodes.weights @ np.sum(difference**2, axis=1))
