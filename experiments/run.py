"""One command for everything: what `bezierflow reproduce` runs, and what it prints."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bezierflow.flows import progress_bar
from bezierflow.metrics import mse
from bezierflow.problems import by_name

from . import (
    certificates,
    claims,
    convergence,
    dtlz,
    given_points,
    group_lasso,
    reach,
    samplers,
    sensitivity,
    two_objectives,
)
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


class Request(NamedTuple):
    """What is asked of every part.

    Attributes:
        trials: how many trials a cell of Tables 1 and 2.
        seed: the first trial's seed.
        output: the folder for results.
        methods: columns of the tables, names from `METHODS`; each table's own if empty.
        command: what to say made the files.
        progress: show progress bars.
    """

    trials: int
    seed: int
    output: Path
    methods: tuple[str, ...] = ()
    command: str = ""
    progress: bool = False


def reproduce(
    what: str, request: Request, on_report: Callable[[Report], None] = lambda report: None
) -> list[Report]:
    """Makes one part of the reproduction, or all of them; trials on file in the output folder are
    not made again.

    Args:
        what: one of `PARTS`, or "all".
        request: how many trials, from which seed, into which folder.
        on_report: called with each part's report as soon as it is made.
    """
    if what != "all" and what not in PARTS:
        raise ValueError(f"what must be one of {', '.join(PARTS)} or all, got {what!r}")
    made = []
    for part in PARTS if what == "all" else (what,):
        report = PARTS[part](request)
        made.append(report)
        on_report(report)
    return made


def _table(table: Table, request: Request) -> Report:
    methods, seed, trials = request.methods or table.methods, request.seed, request.trials
    total = sum(1 for _ in trial_keys(table, trials, seed, methods))
    with progress_bar(request.progress, total, table.name) as update:
        file = run_trials(
            table, request.output, trials, seed, methods, request.command, _counted(update)
        )
    made = lines(table, file, trials, seed, methods)
    figures: dict[str, Any] = {"lines": [line_figures(line) for line in made]}
    if table is TABLE1:
        papers = [name for name in list(METHODS)[:2] if name in methods]
        figures["sd_of_one_surface"] = sd_of_one_surface(
            request.output, seed, papers, request.command
        )
    return Report(
        f"{table.caption}, {trials} trials", headings(made), body(made, bold="*"), figures
    )


def sd_of_one_surface(
    output: Path, seed: int, methods: Sequence[str], command: str = "", n_test_sets: int = 20
) -> dict[str, dict[str, float]]:
    """By how much the MSE of one surface, the first trial's, varies with the 10,000 test points, by
    method and size.

    Args:
        output: the folder for results.
        seed: the first trial's.
        methods: names from `METHODS`.
        command: what to say made the file.
        n_test_sets: how many sets of test points.
    """
    key, problem = ["method", "size", "test_seed"], by_name("scaled-med")
    file = TrialFile(
        output / "table1_one_surface.csv", key, ["mse"], {"surface_seed": seed}, command
    )
    for name, size in product(methods, ROW_SIZES):
        if not file.trial(method=name, size=size, test_seed=seed + n_test_sets - 1):
            surface = METHODS[name].solve(
                Task("scaled-med", problem, size, seed, output / "populations", command)
            )
            for test_seed in range(seed, seed + n_test_sets):
                score = mse(
                    surface, problem, points_of_trial(N_TEST, problem.n_objectives, test_seed)
                )
                file.once(
                    lambda score=score: [{"mse": score}],
                    method=name,
                    size=size,
                    test_seed=test_seed,
                )
    return {name: {str(size): _sd(file, name, size) for size in ROW_SIZES} for name in methods}


def _sd(file: TrialFile, method: str, size: int) -> float:
    return float(
        np.std(
            [
                float(row["mse"])
                for row in file.rows
                if (row["method"], row["size"]) == (method, str(size))
            ],
            ddof=1,
        )
    )


def _figures(request: Request) -> Report:
    with progress_bar(request.progress, 4, "figures") as update:
        folder, populations = request.output / "figures", request.output / "populations"
        files = draw_figures(
            folder, request.seed, populations, command=request.command, on_figure=_counted(update)
        )
    return Report(
        "Figures",
        ["file"],
        [[str(file)] for file in files],
        {"files": [str(file) for file in files]},
    )


def _reach(request: Request) -> Report:
    with progress_bar(request.progress, len(reach.PROBLEMS), "reach") as update:
        file = reach.run_reach(request.output, request.command, _counted(update))
    return _of_file(
        "The part of the Pareto set that weighted sums reach, and the largest jump of their"
        " minimizers",
        file,
    )


def _group_lasso(request: Request) -> Report:
    total = len(group_lasso.VARIANTS) * len(group_lasso.DEGREES)
    with progress_bar(request.progress, total, "group lasso") as update:
        file = group_lasso.run_group_lasso(request.output, request.command, _counted(update))
    return _of_file("Group lasso on Birthwt, 50 held-out weights", file)


def _given_points(request: Request) -> Report:
    with progress_bar(
        request.progress, sum(1 for _ in given_points.cases()), "given points"
    ) as update:
        file = given_points.run_given_points(request.output, request.command, _counted(update))
    return _means(
        "Fits to given points, and flows without any",
        file,
        ["instance", "method", "degree", "size"],
    )


def _dtlz(request: Request) -> Report:
    total = len(dtlz.INSTANCES) * ((len(dtlz.FRONTS) - 1) * len(dtlz.DEGREES) + 1)
    with progress_bar(request.progress, total, "DTLZ") as update:
        file = dtlz.run_dtlz(request.output, request.seed, request.command, _counted(update))
    return _of_file("DTLZ, not simplicial; distances in objective space", file)


def _two_objectives(request: Request) -> Report:
    total = len(two_objectives.PROBLEMS) * len(two_objectives.CURVE_METHODS)
    with progress_bar(request.progress, total, "two objectives") as update:
        file = two_objectives.run_two_objectives(
            request.output, request.seed, request.command, _counted(update)
        )
    return _means("Two objectives", file, ["problem", "method"])


def _sensitivity(request: Request) -> Report:
    with progress_bar(request.progress, len(sensitivity.CHOICES), "sensitivity") as update:
        file = sensitivity.run_sensitivity(
            request.output, request.seed, request.command, _counted(update)
        )
    return _means("The baseline under other choices, scaled-MED, p = 100", file, ["choice"])


def _samplers(request: Request) -> Report:
    with progress_bar(request.progress, len(samplers.SIZES), "samplers") as update:
        file = samplers.run_samplers(request.output, request.command, _counted(update))
    return _means("Algorithm 2 by sampler, scaled-MED", file, ["size", "sampler"])


def _certificates(request: Request) -> Report:
    with progress_bar(request.progress, certificates.N_CASES, "certificates") as update:
        count = _counted(update)
        file = certificates.run_certificates(request.output, request.command, count)
        certificates.run_dents(request.output, request.command)
        count("dents")
    return _of_file("Proved and true distances from the Pareto set", file)


def _claims(request: Request) -> Report:
    with progress_bar(request.progress, claims.N_CASES, "claims") as update:
        count = _counted(update)
        claims.run_corank(request.output, request.command)
        count("corank")
        file = claims.run_gaps(request.output, request.trials, request.seed, request.command, count)
    return _of_file("Losses at seen and at fresh examples", file)


def _convergence(request: Request) -> Report:
    with progress_bar(request.progress, convergence.N_CASES, "convergence") as update:
        made = convergence.run_convergence(request.output, request.command, _counted(update))
    rates, text = made.rates(), "none"
    rows = [
        [name, title, text if value is None else f"{value:.2f}"]
        for (name, title), value in rates.items()
    ]
    figures = {"rates": [[*key, value] for key, value in rates.items()], "limits": made.levels}
    return Report(
        "By which factor the best fit's error falls with each degree",
        ["problem", "map", "factor"],
        rows,
        figures,
    )


def _means(title: str, file: TrialFile, by: list[str]) -> Report:
    """Means over the seeds on file, one row for each value of the columns `by`."""
    values = [column for column in file.columns if column not in (*by, "seed")]
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in file.rows:
        groups.setdefault(tuple(row[column] for column in by), []).append(row)
    means = [
        [np.mean([float(row[column]) for row in own]) for column in values]
        for own in groups.values()
    ]
    rows = [
        [*key, *(f"{mean:.2e}" for mean in row)] for key, row in zip(groups, means, strict=True)
    ]
    return Report(
        f"{title}, means over trials",
        [name.replace("_", " ") for name in (*by, *values)],
        rows,
        {"rows": file.rows},
    )


def _of_file(title: str, file: TrialFile) -> Report:
    """The file itself as a table, floats shortened."""
    rows = [[_short(row[column]) for column in file.columns] for row in file.rows]
    return Report(
        title, [column.replace("_", " ") for column in file.columns], rows, {"rows": file.rows}
    )


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


PARTS: dict[str, Callable[[Request], Report]] = {
    "table1": lambda request: _table(TABLE1, request),
    "table2": lambda request: _table(TABLE2, request),
    "figures": _figures,
    "reach": _reach,
    "group-lasso": _group_lasso,
    "given-points": _given_points,
    "dtlz": _dtlz,
    "two-objectives": _two_objectives,
    "sensitivity": _sensitivity,
    "samplers": _samplers,
    "convergence": _convergence,
    "certificates": _certificates,
    "claims": _claims,
}
"""What can be asked for, in the order in which "all" makes it."""
