"""NSGA-II from jMetalPy itself: the paper's baseline and its validation sets."""

import logging
import random

import numpy as np

from bezierflow.problems import AbstractSolvedProblem

MAX_EVALUATIONS = 25_000
"""jMetalPy's own default termination; the paper says "default parameters except for population
size"."""

DISTRIBUTION_INDEX = 20
"""Of both operators, as in jMetalPy's documented example of NSGA-II; its constructor asks for
operators and has no default."""

BOUNDS = (-2.0, 2.0)
"""Each variable's range. The paper's problems have none, NSGA-II needs one, and the paper does not
say which it took. This holds every Pareto set of the paper with a margin of at least one unit."""


def nsga2(
    problem: AbstractSolvedProblem,
    population_size: int,
    seed: int,
    bounds: tuple[float, float] = BOUNDS,
    max_evaluations: int = MAX_EVALUATIONS,
    exactly_as_jmetal: bool = False,
) -> np.ndarray:
    """The non-dominated points of the last population, one a row, by jMetalPy's NSGA-II.

    The operators are those of jMetalPy's documentation: SBX with probability 1 and polynomial
    mutation with probability 1/L, both with distribution index 20; as many offspring as parents;
    binary tournament. Two things that take most of its time, sorting fronts and copying solutions,
    are done faster with the same outcome to the last bit; `exactly_as_jmetal` leaves even those to
    jMetalPy.
    """
    try:
        from jmetal.operator.crossover import SBXCrossover
        from jmetal.operator.mutation import PolynomialMutation
        from jmetal.util.solution import get_non_dominated_solutions
        from jmetal.util.termination_criterion import StoppingByEvaluations

        from .jmetal_parts import NSGAII, BatchEvaluator, BoxProblem, MatrixNSGAII
    except ImportError as error:
        raise ImportError(
            "the NSGA-II baseline needs jMetalPy: pip install 'bezierflow[experiments]'"
        ) from error
    # it reports every stage of every run on stderr otherwise
    logging.getLogger("jmetal").setLevel(logging.WARNING)
    random.seed(seed)  # jMetalPy draws from both global generators and takes no seed of its own
    np.random.seed(seed)  # noqa: NPY002
    algorithm = (NSGAII if exactly_as_jmetal else MatrixNSGAII)(
        problem=BoxProblem(
            problem.n_variables, problem.n_objectives, bounds, quick=not exactly_as_jmetal
        ),
        population_size=population_size,
        offspring_population_size=population_size,
        mutation=PolynomialMutation(
            probability=1.0 / problem.n_variables, distribution_index=DISTRIBUTION_INDEX
        ),
        crossover=SBXCrossover(probability=1.0, distribution_index=DISTRIBUTION_INDEX),
        termination_criterion=StoppingByEvaluations(max_evaluations=max_evaluations),
        population_evaluator=BatchEvaluator(problem),
    )
    algorithm.run()
    return np.array(
        [solution.variables for solution in get_non_dominated_solutions(algorithm.result())],
        dtype=float,
    )
