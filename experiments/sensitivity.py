"""How much the baseline depends on what the paper leaves open: NSGA-II's bounds and its number of
evaluations."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from bezierflow.problems import by_name

from .all_at_once import all_at_once
from .methods import DEGREE, individual_minimizers
from .nsga2 import BOUNDS, MAX_EVALUATIONS, nsga2
from .scores import table1_scores
from .trial_files import TrialFile

CHOICES = {
    "as in Table 1": (BOUNDS, MAX_EVALUATIONS),
    "bounds [-5.12, 5.12]": ((-5.12, 5.12), MAX_EVALUATIONS),
    "bounds [-1, 1]": ((-1.0, 1.0), MAX_EVALUATIONS),
    "4 times the evaluations": (BOUNDS, 4 * MAX_EVALUATIONS),
}
POPULATION = 100
N_TRIALS = 5
COLUMNS = ("mse", "set_mse", "population_distance")


def run_sensitivity(
    folder: Path,
    seed: int = 0,
    command: str = "",
    on_choice: Callable[[str], None] = lambda label: None,
) -> TrialFile:
    """The baseline on scaled-MED with p = 100 under each choice: both scores of Table 1, and how
    far the population itself is."""
    problem = by_name("scaled-med")
    file = TrialFile(
        folder / "sensitivity.csv", ["choice", "seed"], COLUMNS, {"population": POPULATION}, command
    )
    for choice, (bounds, max_evaluations) in CHOICES.items():
        for trial in range(seed, seed + N_TRIALS):

            def scores(
                bounds=bounds, max_evaluations=max_evaluations, trial=trial
            ) -> list[dict[str, float]]:
                x = nsga2(problem, POPULATION, trial, bounds, max_evaluations)
                surface = all_at_once(x, individual_minimizers(problem, x), DEGREE)
                distance = float(np.mean(problem.distance(x)))
                return [{**table1_scores(surface, problem, trial), "population_distance": distance}]

            file.once(scores, choice=choice, seed=trial)
        on_choice(choice)
    return file
