"""jMetalPy's NSGA-II with its slow parts done faster, to the same outcome bit for bit. Importing
this needs jMetalPy."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jmetal.algorithm.multiobjective.nsgaii import NSGAII
from jmetal.core.problem import FloatProblem
from jmetal.core.solution import FloatSolution
from jmetal.operator.replacement import RankingAndDensityEstimatorReplacement, RemovalPolicyType
from jmetal.util.density_estimator import CrowdingDistanceDensityEstimator
from jmetal.util.evaluator import Evaluator
from jmetal.util.ranking import FastNonDominatedRanking

from bezierflow.precision import double_precision


class BoxProblem(FloatProblem):
    """A box of variables; populations are evaluated by a `BatchEvaluator`.

    Args:
        n_variables: L.
        n_objectives: M.
        bounds: every variable's range.
        quick: whether solutions are `QuickCopy`, or jMetalPy's own.
    """

    def __init__(
        self, n_variables: int, n_objectives: int, bounds: tuple[float, float], quick: bool = True
    ):
        super().__init__()
        self.lower_bound, self.upper_bound = [bounds[0]] * n_variables, [bounds[1]] * n_variables
        self.n_objectives, self.quick = n_objectives, quick

    def number_of_objectives(self) -> int:
        """M."""
        return self.n_objectives

    def number_of_constraints(self) -> int:
        """None."""
        return 0

    def create_solution(self) -> FloatSolution:
        """A random point of the box, as jMetalPy draws it."""
        solution = super().create_solution()
        if not self.quick:
            return solution
        quick = QuickCopy(self.lower_bound, self.upper_bound, self.n_objectives, 0)
        quick.variables = solution.variables
        return quick

    def evaluate(self, solution: FloatSolution) -> FloatSolution:
        """Never called: a batch evaluator takes its place."""
        raise TypeError("populations are evaluated as one batch, by a BatchEvaluator")

    def name(self) -> str:
        """What jMetalPy asks for."""
        return "box"


class QuickCopy(FloatSolution):  # type: ignore[misc]
    """A solution whose deep copy is jMetalPy's own `__copy__`, which copies every list, instead of
    the general machinery."""

    def __deepcopy__(self, memo: dict) -> Any:
        return self.__copy__()


class BatchEvaluator(Evaluator):
    """A whole population in one compiled call: the same numbers as one by one, many times
    faster."""

    def __init__(self, objectives: Callable):
        self.evaluate_rows = jax.jit(jax.vmap(objectives))

    def evaluate(self, solution_list: list, problem: Any) -> list:
        """Sets the objectives of every solution."""
        with double_precision():
            values = np.asarray(
                self.evaluate_rows(np.array([solution.variables for solution in solution_list]))
            )
        for solution, row in zip(solution_list, values, strict=True):
            solution.objectives = row.tolist()
        return solution_list


class MatrixRanking(FastNonDominatedRanking):
    """Non-dominated sorting from one matrix of comparisons instead of pair by pair in Python."""

    def compute_ranking(self, solutions: list, k: int | None = None) -> list[list]:
        """The fronts, in the order in which jMetalPy builds them."""
        values = np.array([solution.objectives for solution in solutions])
        no_worse = np.ones((len(values), len(values)), dtype=bool)
        better = np.zeros_like(no_worse)
        for column in values.T:
            no_worse &= column[:, None] <= column[None, :]
            better |= column[:, None] < column[None, :]
        self.ranked_sublists = _fronts(solutions, no_worse & better, k)
        return self.ranked_sublists


class MatrixNSGAII(NSGAII):
    """jMetalPy's NSGA-II with `MatrixRanking`."""

    def replacement(self, population: list, offspring_population: list) -> list:
        """As in the parent class, which makes its own ranking here."""
        estimator, policy = CrowdingDistanceDensityEstimator(), RemovalPolicyType.ONE_SHOT
        return RankingAndDensityEstimatorReplacement(MatrixRanking(), estimator, policy).replace(
            population, offspring_population
        )


def _fronts(solutions: list, dominates: np.ndarray, k: int | None) -> list[list]:
    """Within a front, members come in the order in which those of the front before release them."""
    n_dominating = dominates.sum(axis=0)
    front, fronts, total = np.flatnonzero(n_dominating == 0).tolist(), [], 0
    while front:
        for member in front:
            solutions[member].attributes["dominance_ranking"] = len(fronts)
        fronts.append([solutions[member] for member in front])
        total += len(front)
        if k and total >= k:
            break
        released = []
        for member in front:
            dominated = np.flatnonzero(dominates[member])
            n_dominating[dominated] -= 1
            released += dominated[n_dominating[dominated] == 0].tolist()
        front = released
    return fronts
