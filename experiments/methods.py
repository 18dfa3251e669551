"""What the tables compare: each method is one entry here and one more column there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import bezierflow as bf
from bezierflow.precision import double_precision
from bezierflow.problems import AbstractSolvedProblem

from .all_at_once import all_at_once
from .populations import SIZES, population

DEGREE = 3
N_ITERATIONS = 1000
"""The paper's D and K."""


class Task(NamedTuple):
    """What a method is asked to solve in one trial."""

    problem_name: str
    problem: AbstractSolvedProblem
    size: int
    """The paper's N or p of this row of the table; a method without such a number ignores it."""
    seed: int
    populations: Path
    """Where populations of NSGA-II are kept."""
    command: str


class Method(NamedTuple):
    """A column of the tables."""

    title: str
    symbol: str
    """What the size of a row is called for this method: N, p, or '' if the method has no such
    number."""
    solve: Callable[[Task], Callable[[np.ndarray], Any]]
    """From a task to a surface: anything that maps points t of the simplex, one a row, to points
    x."""


def harmonic(k: Any) -> Any:
    """The paper's step size, α^(k) = 1/k."""
    return 1 / k


def root(k: Any) -> Any:
    """α^(k) = 1/√k: longer steps later on."""
    return k**-0.5


def proposed(task: Task) -> bf.BezierSimplex:
    """Algorithm 2 as the paper ran it: D = 3, P^(1) = O, K = 1000, α^(k) = 1/k, N fresh points an
    iteration."""
    return _algorithm_2(task, bf.WeightedSum(), harmonic)


def leverage(task: Task) -> bf.BezierSimplex:
    """The same with N points per iteration that are drawn by leverage."""
    return _algorithm_2(task, bf.WeightedSum(), harmonic, bf.Leverage)


def tchebycheff(task: Task) -> bf.BezierSimplex:
    """The same with the smooth Tchebycheff scalarization in place of weighted sums."""
    return _algorithm_2(task, bf.SmoothTchebycheff(), harmonic)


def tchebycheff_root(task: Task) -> bf.BezierSimplex:
    """The same with steps of 1/√k: normalized objectives have small gradients, and steps of 1/k end
    before it arrives."""
    return _algorithm_2(task, bf.SmoothTchebycheff(), root)


def _algorithm_2(
    task: Task, scalarization: Any, step_size: Callable[[Any], Any], sampler: Any = bf.Uniform
) -> bf.BezierSimplex:
    flow = bf.lift(
        bf.GradientDescent(step_size),
        DEGREE,
        sampler(task.size),
        scalarization,
        n_iterations=N_ITERATIONS,
    )
    x0 = np.zeros(task.problem.n_variables)
    return bf.minimize(task.problem, x0, flow, seed=task.seed).pareto_set


def baseline(task: Task) -> bf.BezierSimplex:
    """NSGA-II of jMetalPy with population p, then the all-at-once fit of degree 3 to its
    non-dominated points."""
    x = population(task.populations, task.problem_name, task.size, task.seed, task.command)
    return all_at_once(x, individual_minimizers(task.problem, x), DEGREE)


def individual_minimizers(problem: AbstractSolvedProblem, x: np.ndarray) -> np.ndarray:
    """The point of a population that is best in each objective, one a row: these name the corners
    of the fitted surface."""
    with double_precision():
        values = np.asarray(jax.vmap(problem)(x))
    return x[np.argmin(values, axis=0)]


def auto(task: Task) -> bf.BezierSimplex:
    """`bf.minimize` without any knob but what t shall mean: weights where the score asks for them,
    else left free."""
    flow = bf.WeightsFlow() if hasattr(task.problem, "pareto_map") else bf.NormalFlow()
    x0 = np.zeros(task.problem.n_variables)
    return bf.minimize(task.problem, x0, flow, seed=task.seed).pareto_set


def exact_set(task: Task) -> Callable[[np.ndarray], Any]:
    """The exact Pareto set itself, in closed form: what a perfect surface would score."""
    return task.problem.pareto_point


METHODS = {
    "proposed": Method("Proposed", "N", proposed),
    "baseline": Method("NSGA-II + all-at-once", "p", baseline),
    "leverage": Method("Algorithm 2, leverage", "N", leverage),
    "tchebycheff": Method("Algorithm 2, Tchebycheff", "N", tchebycheff),
    "tchebycheff-root": Method("Algorithm 2, Tchebycheff, α = 1/√k", "N", tchebycheff_root),
    "auto": Method("bf.minimize(f, x0)", "", auto),
    "exact": Method("exact set", "", exact_set),
}
"""All columns there are. The first two are the paper's, and the test of significance is between
them. A further method is one more line: `"name": Method("title", "", lambda task: ...)`, where
`task.problem` is to be solved and a surface returned."""

ROW_SIZES = SIZES
"""N and p of the rows."""
