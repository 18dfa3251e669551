"""Populations of NSGA-II, kept on file: the slow part of the protocol, run once for each problem,
size and seed."""

from pathlib import Path

import numpy as np

from bezierflow.problems import AbstractSolvedProblem, by_name

from .nsga2 import BOUNDS, MAX_EVALUATIONS, nsga2
from .trial_files import TrialFile

SIZES = (30, 50, 100)
"""The paper's population sizes p."""

VALIDATION_SIZE = 1000
"""The paper's population size for the validation sets Y."""

VALIDATION_SEED = 10_000
"""A seed no trial uses. One validation set a problem serves all trials, as the paper's wording
suggests."""

DIGITS = 8
"""Decimals kept of a population on file: far below the spread of its points, and half the size."""


def population(
    folder: Path, problem_name: str, size: int, seed: int, command: str = ""
) -> np.ndarray:
    """The non-dominated points that NSGA-II finds with this population size and seed, from the
    folder or computed now.

    Args:
        folder: where populations are kept.
        problem_name: a built-in problem of bezierflow, such as scaled-med.
        size: the population size p.
        seed: the trial's seed.
        command: what to say made the file.
    """
    problem: AbstractSolvedProblem = by_name(problem_name)
    columns = [f"x{number + 1}" for number in range(problem.n_variables)]
    settings = {
        "algorithm": "NSGA-II",
        "bounds": list(BOUNDS),
        "max_evaluations": MAX_EVALUATIONS,
        "population": size,
    }
    file = TrialFile(
        Path(folder) / f"{problem_name}-p{size}.csv", ["seed"], columns, settings, command
    )

    def run() -> list[dict[str, float]]:
        points = nsga2(problem, size, seed)
        return [
            dict(zip(columns, np.round(point, DIGITS).tolist(), strict=True)) for point in points
        ]

    return np.array(
        [[float(row[column]) for column in columns] for row in file.once(run, seed=seed)]
    )


def validation_set(folder: Path, problem_name: str, command: str = "") -> np.ndarray:
    """The paper's Y: approximate Pareto solutions by NSGA-II with the population size of 1000."""
    return population(folder, problem_name, VALIDATION_SIZE, VALIDATION_SEED, command)
