"""`stability`: parsing and printing only."""

import click

import bezierflow as bf
from bezierflow.arguments import read_count

from .printing import check_writable, json_option, or_fail, print_table, write_json
from .reading import METHODS, MethodOptions, Task, method_options, read_numbers, task_options


@click.command()
@task_options
@method_options(METHODS[1:], degree=3)
@click.option(
    "--samples",
    default="100",
    show_default=True,
    help="Random t an iteration; several with commas measure slopes.",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Iterations to make.",
)
@click.option(
    "--epsilon", default=0.05, show_default=True, help="How often the paper's bound may fail."
)
@click.option(
    "--runs",
    type=click.IntRange(2),
    default=24,
    show_default=True,
    help="Twins, or runs for each N.",
)
@json_option
def stability(
    task: Task,
    method: MethodOptions,
    samples: str,
    iterations: int,
    epsilon: float,
    runs: int,
    json_path: str | None,
) -> None:
    """How much one sample matters: solve PROBLEM with a lifted method and random t, and report its
    stability.

    With several --samples such as 16,64,256 it measures how stability and generalization gap fall
    with their number.
    """
    objectives, start, seed = task.objectives, task.start, task.seed
    check_writable(json_path)
    counts = [or_fail(read_count, n, "--samples", 1) for n in read_numbers(samples, "--samples")]
    flow = or_fail(method.lifted, max(counts))
    if len(counts) == 1:
        solution = or_fail(bf.minimize, objectives, start, flow, n_iterations=iterations, seed=seed)
        report = or_fail(bf.stability.report, solution, epsilon=epsilon, n_twins=runs, seed=seed)
        click.echo(str(report))
        write_json(json_path, report.figures())
        return
    scaling = or_fail(
        bf.stability.against_samples,
        flow,
        objectives,
        start,
        counts,
        iterations,
        n_runs=runs,
        seed=seed,
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
    write_json(
        json_path,
        {
            "rows": rows,
            "slopes": {name: vars(s) if s else None for name, s in scaling.slopes.items()},
        },
    )
