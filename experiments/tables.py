"""Tables 1 and 2: every method on every problem, trial by trial, then means, deviations and the
paper's test."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bezierflow.problems import by_name

from .methods import DEGREE, METHODS, N_ITERATIONS, ROW_SIZES, Task
from .nsga2 import BOUNDS, MAX_EVALUATIONS
from .populations import VALIDATION_SEED, VALIDATION_SIZE, validation_set
from .scores import N_SURFACE, N_TEST, table1_scores, table2_scores
from .significance import Verdict, rank_sum
from .trial_files import TrialFile, read_rows

PAPER = Path(__file__).parent / "paper"


class Table(NamedTuple):
    """One of the paper's tables: on what it is made, and what it measures."""

    name: str
    caption: str
    problems: tuple[str, ...]
    scores: tuple[str, ...]
    methods: tuple[str, ...]
    """Its columns, where none are chosen. Weighted sums are convex in Table 1, so that another
    scalarization changes nothing."""


TABLE1 = Table(
    "table1",
    "Table 1: MSE for scaled-MED",
    ("scaled-med",),
    ("mse", "set_mse"),
    ("proposed", "baseline", "leverage", "auto", "exact"),
)
TABLE2 = Table(
    "table2",
    "Table 2: GD and IGD for skew-3MED and skew-3MMD",
    ("skew-3med", "skew-3mmd"),
    ("gd", "igd", "gd_l1", "igd_l1", "gd_exact", "igd_exact", "distance"),
    tuple(METHODS),
)


class Cell(NamedTuple):
    """Mean and standard deviation of a score over the trials, and the trials themselves."""

    mean: float
    sd: float
    values: np.ndarray

    @classmethod
    def of(cls, values: Sequence[float]) -> "Cell":
        """The cell of these trials; the deviation is the sample's (n − 1), and 0 for a single
        trial."""
        array = np.asarray(values, dtype=float)
        return cls(float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else 0.0, array)


class Line(NamedTuple):
    """One line of a table: a problem, a score and a size, with a cell for each method and the
    paper's verdict."""

    problem: str
    score: str
    size: int
    cells: dict[str, Cell]
    paper: dict[str, tuple[float, float]]
    verdict: Verdict | None
    """Between the first two methods, the paper's; None with fewer than 2 trials or without both."""


def run_trials(
    table: Table,
    folder: Path,
    n_trials: int,
    first_seed: int,
    methods: Sequence[str],
    command: str = "",
    on_trial: Callable[[str], None] = lambda label: None,
) -> TrialFile:
    """Makes the trials that are not on file yet, and returns the file with all of them.

    Args:
        table: which table.
        folder: where results go: `<table>.csv`, and populations in a folder of their own.
        n_trials: how many trials of each method, problem and size.
        first_seed: the first trial's seed; the others follow it.
        methods: names from `METHODS`.
        command: what to say made the files.
        on_trial: called with a label after each trial.
    """
    settings = {
        "degree": DEGREE,
        "iterations": N_ITERATIONS,
        "test_points": N_TEST,
        "surface_points": N_SURFACE,
        "nsga2": {"bounds": list(BOUNDS), "max_evaluations": MAX_EVALUATIONS},
        "validation": {"population": VALIDATION_SIZE, "seed": VALIDATION_SEED},
    }
    key = ["problem", "method", "size", "seed"]
    file = TrialFile(folder / f"{table.name}.csv", key, table.scores, settings, command)
    for problem_name, name, size, seed in trial_keys(table, n_trials, first_seed, methods):
        task = Task(
            problem_name, by_name(problem_name), size, seed, folder / "populations", command
        )
        trial = {"problem": problem_name, "method": name, "size": size, "seed": seed}
        file.once(lambda name=name, task=task: [_scores(table, name, task)], **trial)
        on_trial(f"{problem_name}, {METHODS[name].title}, {size}, seed {seed}")
    return file


def trial_keys(
    table: Table, n_trials: int, first_seed: int, methods: Sequence[str]
) -> Iterator[tuple[str, str, int, int]]:
    """Problem, method, size and seed of every trial, seed by seed. A method without a size makes
    one trial a seed."""
    for name in methods:
        if name not in METHODS:
            raise ValueError(f"no method is called {name!r}; there are {', '.join(METHODS)}")
    for seed in range(first_seed, first_seed + n_trials):
        for problem_name in table.problems:
            for name in methods:
                for size in ROW_SIZES if METHODS[name].symbol else (0,):
                    yield problem_name, name, size, seed


def _scores(table: Table, name: str, task: Task) -> dict[str, float]:
    surface = METHODS[name].solve(task)
    if table is TABLE1:
        return table1_scores(surface, task.problem, task.seed)
    validation = validation_set(task.populations, task.problem_name, task.command)
    return table2_scores(surface, task.problem, validation, task.seed)


def lines(
    table: Table, file: TrialFile, n_trials: int, first_seed: int, methods: Sequence[str]
) -> list[Line]:
    """The table's lines from the trials on file with these seeds."""
    seeds, paper = (
        {str(seed) for seed in range(first_seed, first_seed + n_trials)},
        paper_values(table),
    )
    found = []
    for problem, score, size in product(table.problems, table.scores, ROW_SIZES):
        cells = {name: _cell(file, (problem, name, size), seeds, score) for name in methods}
        # The paper's numbers stand beside both norms: which of them it took is for the reader to
        # judge.
        beside = {
            name: paper[key]
            for name in methods
            if (key := (problem, score.removesuffix("_l1"), name, size)) in paper
        }
        found.append(Line(problem, score, size, cells, beside, _verdict(cells)))
    return found


def _verdict(cells: dict[str, Cell]) -> Verdict | None:
    """Between the paper's two methods, with 2 trials of each or more."""
    compared = [cells[name].values for name in list(METHODS)[:2] if name in cells]
    return rank_sum(*compared) if len(compared) == 2 and len(compared[0]) > 1 else None


def _cell(file: TrialFile, key: tuple[str, str, int], seeds: set[str], score: str) -> Cell:
    problem, name, size = key
    wanted = (problem, name, str(size if METHODS[name].symbol else 0))
    rows = [
        r
        for r in file.rows
        if (r["problem"], r["method"], r["size"]) == wanted and r["seed"] in seeds
    ]
    return Cell.of([float(row[score]) for row in rows])


def paper_values(table: Table) -> dict[tuple[str, str, str, int], tuple[float, float]]:
    """The paper's own means and deviations, by problem, score, method and size."""
    rows = read_rows(PAPER / f"{table.name}.csv")
    return {
        (r["problem"], r["score"], r["method"], int(r["size"])): (float(r["mean"]), float(r["sd"]))
        for r in rows
    }


def line_figures(line: Line) -> dict[str, Any]:
    """The line for a program: every trial, with the paper's numbers beside ours."""
    verdict = line.verdict
    return {
        "problem": line.problem,
        "score": line.score,
        "size": line.size,
        "ours": {
            name: {"mean": c.mean, "sd": c.sd, "trials": c.values.tolist()}
            for name, c in line.cells.items()
        },
        "paper": {name: {"mean": mean, "sd": sd} for name, (mean, sd) in line.paper.items()},
        "significantly_better": (
            None if verdict is None or verdict.better is None else list(METHODS)[verdict.better]
        ),
        "p_value": None if verdict is None else verdict.p_value,
    }
