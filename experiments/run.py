"""One command for everything: what `bezierflow reproduce` runs, and what it prints."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bezierflow.flow.progress import progress_bar
from bezierflow.metrics import mse
from bezierflow.problems import by_name

from . import dtlz, group_lasso, sensitivity, two_objectives
from .figures import draw_figures
from .methods import METHODS, ROW_SIZES, Task
from .rendering import body, headings
from .scores import N_TEST, points_of_trial
from .tables import TABLE1, TABLE2, Table, line_figures, lines, run_trials, trial_keys
from .trial_files import TrialFile


class Report(NamedTuple):
    """What a person reads after a run, and what a program does."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    figures: Any


PARTS = ("table1", "table2", "figures", "group-lasso", "dtlz", "two-objectives", "sensitivity")


def reproduce(
    what: str,
    trials: int,
    seed: int,
    output: Path,
    methods: Sequence[str] = (),
    command: str = "",
    progress: bool = False,
    on_report: Callable[[Report], None] = lambda report: None,
) -> list[Report]:
    """Makes one part of the reproduction, or all of them; trials on file in the output folder are not made again.

    Args:
        what: one of `PARTS`, or "all".
        trials: how many trials a cell of Tables 1 and 2.
        seed: the first trial's seed.
        output: the folder for results.
        methods: columns of the tables, names from `METHODS`; all of them if empty.
        command: what to say made the files.
        progress: show progress bars.
        on_report: called with each part's report as soon as it is made.
    """
    if what != "all" and what not in PARTS:
        raise ValueError(f"what must be one of {', '.join(PARTS)} or all, got {what!r}")
    methods = tuple(methods) or tuple(METHODS)
    made = []
    for part in PARTS if what == "all" else (what,):
        if part in ("table1", "table2"):
            table = TABLE1 if part == "table1" else TABLE2
            report = _table(table, trials, seed, output, methods, command, progress)
        else:
            report = _OTHER_PARTS[part](seed, output, command, progress)
        made.append(report)
        on_report(report)
    return made


def _table(table: Table, trials: int, seed: int, output: Path, methods: Sequence[str], command: str, progress: bool) -> Report:
    total = sum(1 for _ in trial_keys(table, trials, seed, methods))
    with progress_bar(progress, total, table.name) as update:
        file = run_trials(table, output, trials, seed, methods, command, _counted(update))
    made = lines(table, file, trials, seed, methods)
    figures: dict[str, Any] = {"lines": [line_figures(line) for line in made]}
    if table is TABLE1:
        papers = [name for name in list(METHODS)[:2] if name in methods]
        figures["sd_of_one_surface"] = sd_of_one_surface(output, seed, papers, command)
    return Report(f"{table.caption}, {trials} trials", headings(made), body(made, bold="*"), figures)


def sd_of_one_surface(
    output: Path, seed: int, methods: Sequence[str], command: str = "", n_test_sets: int = 20
) -> dict[str, dict[str, float]]:
    """By how much the MSE of one surface, the first trial's, varies with the 10,000 test points, by method and size."""
    key, problem = ["method", "size", "test_seed"], by_name("scaled-med")
    file = TrialFile(output / "table1_one_surface.csv", key, ["mse"], {"surface_seed": seed}, command)
    for name in methods:
        for size in ROW_SIZES:
            if not file.trial(method=name, size=size, test_seed=seed + n_test_sets - 1):
                surface = METHODS[name].solve(Task("scaled-med", problem, size, seed, output / "populations", command))
                for test_seed in range(seed, seed + n_test_sets):
                    score = mse(surface, problem, points_of_trial(N_TEST, problem.n_objectives, test_seed))
                    file.once(lambda score=score: [{"mse": score}], method=name, size=size, test_seed=test_seed)
    found: dict[str, dict[str, float]] = {name: {} for name in methods}
    for name, size in ((name, size) for name in methods for size in ROW_SIZES):
        own = [float(row["mse"]) for row in file.rows if (row["method"], row["size"]) == (name, str(size))]
        found[name][str(size)] = float(np.std(own, ddof=1))
    return found


def _figures(seed: int, output: Path, command: str, progress: bool) -> Report:
    with progress_bar(progress, 3, "figures") as update:
        files = draw_figures(output / "figures", seed, output / "populations", command=command, on_figure=_counted(update))
    return Report("Figures", ["file"], [[str(file)] for file in files], {"files": [str(file) for file in files]})


def _group_lasso(seed: int, output: Path, command: str, progress: bool) -> Report:
    total = len(group_lasso.VARIANTS) * len(group_lasso.DEGREES)
    with progress_bar(progress, total, "group lasso") as update:
        file = group_lasso.run_group_lasso(output, command, _counted(update))
    return _of_file("Group lasso on Birthwt, 50 held-out weights", file)


def _dtlz(seed: int, output: Path, command: str, progress: bool) -> Report:
    total = len(dtlz.INSTANCES) * ((len(dtlz.FRONTS) - 1) * len(dtlz.DEGREES) + 1)
    with progress_bar(progress, total, "DTLZ") as update:
        file = dtlz.run_dtlz(output, seed, command, _counted(update))
    return _of_file("DTLZ, not simplicial; distances in objective space", file)


def _two_objectives(seed: int, output: Path, command: str, progress: bool) -> Report:
    total = len(two_objectives.PROBLEMS) * len(two_objectives.CURVE_METHODS)
    with progress_bar(progress, total, "two objectives") as update:
        file = two_objectives.run_two_objectives(output, seed, command, _counted(update))
    return _means("Two objectives", file, ["problem", "method"])


def _sensitivity(seed: int, output: Path, command: str, progress: bool) -> Report:
    with progress_bar(progress, len(sensitivity.CHOICES), "sensitivity") as update:
        file = sensitivity.run_sensitivity(output, seed, command, _counted(update))
    return _means("The baseline under other choices, scaled-MED, p = 100", file, ["choice"])


def _means(title: str, file: TrialFile, by: list[str]) -> Report:
    """Means over the seeds on file, one row for each value of the columns `by`."""
    values = [column for column in file.columns if column not in (*by, "seed")]
    keys = list(dict.fromkeys(tuple(row[column] for column in by) for row in file.rows))
    rows = []
    for key in keys:
        own = [row for row in file.rows if tuple(row[column] for column in by) == key]
        rows.append([*key, *(f"{np.mean([float(row[column]) for row in own]):.2e}" for column in values)])
    titles = [column.replace("_", " ") for column in (*by, *values)]
    return Report(f"{title}, means over {len(file.rows) // len(keys)} trials", titles, rows, {"rows": file.rows})


def _of_file(title: str, file: TrialFile) -> Report:
    """The file itself as a table, floats shortened."""
    rows = [[_short(row[column]) for column in file.columns] for row in file.rows]
    return Report(title, [column.replace("_", " ") for column in file.columns], rows, {"rows": file.rows})


def _short(cell: str) -> str:
    try:
        return cell if cell.isdigit() else f"{float(cell):.2e}"
    except ValueError:
        return cell


def _counted(update: Callable[[int, str], None]) -> Callable[[str], None]:
    """A callback that counts its calls on a progress bar."""
    done = 0

    def count(label: str) -> None:
        nonlocal done
        done += 1
        update(done, label)

    return count


_OTHER_PARTS = {
    "figures": _figures,
    "group-lasso": _group_lasso,
    "dtlz": _dtlz,
    "two-objectives": _two_objectives,
    "sensitivity": _sensitivity,
}
