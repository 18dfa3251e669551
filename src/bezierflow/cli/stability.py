"""`stability`: parsing and printing only."""

import click

from .printing import json_option, or_fail, print_table, write_json
from .reading import METHODS, default_x0, read_flow, read_numbers, read_problem


@click.command()
@click.argument("problem")
@click.option("--method", type=click.Choice(METHODS[1:]), default=METHODS[1], show_default=True, help="What is lifted.")
@click.option("--degree", type=click.IntRange(1), default=3, show_default=True, help="Degree of the surface.")
@click.option("--samples", default="100", show_default=True, help="Random t an iteration; several with commas measure slopes.")
@click.option("--iterations", type=click.IntRange(1), default=1000, show_default=True, help="Iterations to make.")
@click.option("--step-size", default="1/k", show_default=True, help="For gradient-descent and adam: a number, or 1/k.")
@click.option("--epsilon", default=0.05, show_default=True, help="How often the paper's bound may fail.")
@click.option("--runs", type=click.IntRange(2), default=24, show_default=True, help="Twins, or runs for each N.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same report.")
@click.option("--x0", help="Starting point, as numbers with commas.  [default: zeros]")
@json_option
def stability(
    problem: str,
    method: str,
    degree: int,
    samples: str,
    iterations: int,
    step_size: str,
    epsilon: float,
    runs: int,
    seed: int,
    x0: str | None,
    json_path: str | None,
) -> None:
    """How much one sample matters: solve PROBLEM with a lifted method and random t, and report its stability.

    With several --samples such as 16,64,256 it measures how stability and generalization gap fall with their number.
    """
    import numpy as np

    import bezierflow as bf

    objectives = read_problem(problem)
    start = np.asarray(read_numbers(x0, "--x0") if x0 else default_x0(objectives), dtype=float)
    counts = [int(n) for n in read_numbers(samples, "--samples")]
    flow = read_flow(method, degree, max(counts), step_size)
    if len(counts) == 1:
        solution = or_fail(bf.minimize, objectives, start, flow, n_iterations=iterations, seed=seed)
        report = or_fail(bf.stability.report, solution, epsilon=epsilon, n_twins=runs, seed=seed)
        click.echo(str(report))
        write_json(json_path, report.figures())
        return
    scaling = or_fail(bf.stability.against_samples, flow, objectives, start, counts, iterations, n_runs=runs, seed=seed)
    rows = scaling.rows()
    print_table(list(rows[0]), [[f"{value:.4g}" for value in row.values()] for row in rows])
    print_table(
        ["slope of", "", "95 %"],
        [
            [name, f"{s.estimate:.2f}", f"{s.low:.2f} to {s.high:.2f}"]
            if s
            else [name, "none", "a value is 0, missing or infinite"]
            for name, s in scaling.slopes.items()
        ],
    )
    unsure = scaling.gap_without_sign()
    if unsure:
        click.echo(f"The gap cannot be told from 0 at N = {', '.join(map(str, unsure))}.")
    write_json(json_path, {"rows": rows, "slopes": {name: vars(s) if s else None for name, s in scaling.slopes.items()}})
