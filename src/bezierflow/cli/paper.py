"""The paper on the command line: `demo`, `stability`, and of a checkout `reproduce` and `bench`."""

import shlex
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import bezierflow as bf
from bezierflow.arguments import read_count

from .options import (
    METHODS,
    json_option,
    method_options,
    print_table,
    problem_options,
    read_flow,
    read_numbers,
    read_problem,
    read_start,
    write_json,
)

PARTS = (
    *("table1", "table2", "figures", "reach", "group-lasso", "given-points", "dtlz"),
    *("two-objectives", "sensitivity", "samplers", "convergence", "certificates", "claims", "all"),
)
"""What `reproduce` makes: the parts of experiments/run.py, which is not loaded for --help."""


@click.command()
@click.option(
    "--output",
    "-o",
    default="output",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder for the picture and the solutions.",
)
@json_option
def demo(output: str, json_path: str | None) -> None:
    """Run Algorithm 2, a lifted Newton and the no-knob method on scaled-MED; draw the surface
    against the true set."""
    from bezierflow.demo import run_demo

    rows = run_demo(Path(output))
    print_table(
        [
            *("method", "degree", "MSE to x*(t)", "degree floor"),
            *("max distance", "gradients", "Hessians", "seconds"),
        ],
        [
            [
                row.method,
                str(row.degree),
                "-" if row.mse is None else f"{row.mse:.3e}",
                "-" if row.floor is None else f"{row.floor:.3e}",
                f"{row.distance:.1e}",
                f"{row.gradients:,}",
                f"{row.hessians:,}",
                f"{row.seconds:.2f}",
            ]
            for row in rows
        ],
    )
    click.echo(
        "MSE: mean of |b(t) - x*(t)|^2, x*(t) the exact minimizer for weights t; floor: the least"
        " any surface of that degree\ncan have. Max distance: from the surface to the exact Pareto"
        " set, whatever t means (the last one slides freely)."
    )
    click.echo(f"written: {output}/scaled-med.png, {output}/scaled-med.bez")
    write_json(json_path, {"rows": [row._asdict() for row in rows]})


@click.command()
@problem_options
@method_options(METHODS[1:], degree=3)
@click.option(
    "--samples",
    default="100",
    show_default=True,
    help="Random t per iteration; several with commas measure slopes.",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Iterations to make.",
)
@click.option(
    "--runs",
    type=click.IntRange(2),
    default=24,
    show_default=True,
    help="Twins, or runs for each N.",
)
@json_option
def stability(  # noqa: PLR0913
    problem: str,
    x0: str | None,
    seed: int,
    method: str,
    degree: int,
    step_size: str,
    samples: str,
    iterations: int,
    runs: int,
    json_path: str | None,
) -> None:
    """How much one sample matters: solve PROBLEM with a lifted method and random t, and report its
    stability.

    With several --samples such as 16,64,256 it measures how stability and generalization gap fall
    with their number.
    """
    objectives = read_problem(problem)
    start = read_start(x0, objectives)
    counts = [read_count(n, "--samples", 1) for n in read_numbers(samples, "--samples")]
    # of several counts each takes its turn as the number of samples in `against_samples`
    flow = read_flow(method, degree, step_size, max(counts))
    if len(counts) == 1:
        flow = replace(flow, n_iterations=iterations)
        solution = bf.minimize(objectives, start, flow, seed=seed)
        report = bf.stability.report(solution, n_twins=runs, seed=seed)
        click.echo(str(report))
        write_json(json_path, report.figures())
        return
    scaling = bf.stability.against_samples(
        flow, objectives, start, counts, iterations, n_runs=runs, seed=seed
    )
    rows = scaling.rows()
    print_table(list(rows[0]), [[f"{value:.4g}" for value in row.values()] for row in rows])
    print_table(
        ["slope of", "", "95 %"],
        [
            (
                [name, f"{s.estimate:.2f}", f"{s.low:.2f} to {s.high:.2f}"]
                if s
                else [name, "none", "a value is 0, missing or infinite"]
            )
            for name, s in scaling.slopes.items()
        ],
    )
    unsure = scaling.gap_without_sign()
    if unsure:
        click.echo(f"The gap cannot be told from 0 at N = {', '.join(map(str, unsure))}.")
    slopes = {name: vars(s) if s else None for name, s in scaling.slopes.items()}
    write_json(json_path, {"rows": rows, "slopes": slopes})


@click.command()
@click.argument("what", type=click.Choice(PARTS))
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Trials of each cell of Tables 1 and 2.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the first trial; the others follow.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    help="A column of the tables; repeat for more.  [default: all]",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False),
    default="output/reproduction",
    show_default=True,
    help="Folder for results. Trials found there are not made again.",
)
@json_option
def reproduce(
    what: str, trials: int, seed: int, methods: tuple[str, ...], output: str, json_path: str | None
) -> None:
    """Reproduce WHAT of the paper by its own protocol: paper and ours side by side.

    Needs a checkout, where experiments/ lies beside the package, and for the NSGA-II baseline the
    extra "experiments". A killed run continues where it was when the same command is given again.
    """
    root = str(_checkout_with("experiments"))
    if root not in sys.path:  # experiments/ is a package of the checkout, not an installed one
        sys.path.insert(0, root)
    chosen = [part for name in methods for part in ("--method", name)]
    arguments = [what, "--trials", str(trials), "--seed", str(seed), *chosen, "--output", output]
    command = f"bezierflow reproduce {shlex.join(arguments)}"
    experiments = import_module("experiments.run")
    request = experiments.Request(trials, seed, Path(output), methods, command, progress=True)

    def show(report: Any) -> None:
        click.echo(report.title)
        print_table(report.headings, report.rows)

    reports = experiments.reproduce(what, request, on_report=show)
    parts = {report.title: report.figures for report in reports}
    click.echo(f"written: {output}")
    write_json(json_path, {"command": command, "parts": parts})


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def bench(options: tuple[str, ...]) -> None:
    """Every method on every problem, one table: OPTIONS are those of `python -m benchmarks.contest`
    (try -- --help).

    Works in a checkout. Peers that are not installed are left out; `make contest` installs them.
    """
    root = _checkout_with("benchmarks")
    command = [sys.executable, "-m", "benchmarks.contest", *options]
    raise SystemExit(subprocess.call(command, cwd=root))


def _checkout_with(folder: str) -> Path:
    """The checkout that holds a folder of scripts, which the wheel leaves out: the one this package
    was installed from, or the current one."""
    for root in (Path(__file__).resolve().parents[3], Path.cwd()):
        # "benchmarks" and "experiments" are common names: the project's own file says whose it is
        if (root / folder / "README.md").is_file() and (root / "src" / "bezierflow").is_dir():
            return root
    raise click.ClickException(
        f"{folder}/ is not part of the installed package; run this command in a checkout of"
        f" bezierflow, in the folder that holds {folder}/"
    )
