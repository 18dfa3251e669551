"""Runs the gallery: one row for each problem in `benchmarks/results/gallery.csv`.

nice -n 15 python -m benchmarks.gallery                 # what has no row yet; again and again until all have one
python -m benchmarks.gallery --again "double"           # problems whose name or kind has this in it, anew
python -m benchmarks.gallery --random 20                # so many seeds of each random family too (10 by default)
python -m benchmarks.gallery --report                   # the tables of docs/gallery.md
"""

import argparse
import csv
import os
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path

QUICK_COMPILATION = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    " --xla_cpu_use_fusion_emitters=false"
)
# as in tests/conftest.py: every program is compiled once and run a few times
if version("jaxlib").startswith("0.10."):
    os.environ.setdefault("XLA_FLAGS", QUICK_COMPILATION)

import jax  # noqa: E402

from .case import Case  # noqa: E402
from .classes import classes  # noqa: E402
from .families import families  # noqa: E402
from .outcomes import Outcome, solve  # noqa: E402
from .pitfalls import pitfalls  # noqa: E402
from .places import places  # noqa: E402
from .problems import problems  # noqa: E402
from .report import report  # noqa: E402

FREED_AFTER = 40
"""So many problems later compiled programs are forgotten."""

RESULTS = Path(__file__).parent.parent / "results" / "gallery.csv"


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gallery")
    parser.add_argument(
        "--again", nargs="+", help="only problems with one of these in their name or kind, anew"
    )
    parser.add_argument("--only", nargs="+", help="only those of them without a row")
    parser.add_argument("--random", type=int, default=10, help="seeds of each random family")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument(
        "--time-limit", type=float, default=120.0, help="seconds of a run, on a machine of its own"
    )
    parser.add_argument("--report", action="store_true", help="print the tables")
    arguments = parser.parse_args()
    rows = read(arguments.results)
    if arguments.report:
        print(report(list(rows.values())))
        return
    solved = 0
    for case in interleaved(
        [*classes(), *pitfalls(), *places(), *problems()], list(families(arguments.random))
    ):
        parts = arguments.again or arguments.only
        named = parts is None or any(part in f"{case.kind}: {case.name}" for part in parts)
        if not named or (arguments.again is None and case.name in rows):
            continue
        outcome = solve(case, arguments.time_limit)
        rows[case.name] = outcome
        write(arguments.results, rows)
        print(line(outcome), flush=True)
        solved += 1
        # programs of a problem's objectives are of no use to the next one, and fill the memory
        if solved % FREED_AFTER == 0:
            jax.clear_caches()


def line(outcome: Outcome) -> str:
    """An outcome for the terminal."""
    figures = (
        f"true {outcome.beyond:.1e} {outcome.missed:.1e}, said {outcome.estimate:.1e}, beats"
        f" {outcome.beats:.1e}"
    )
    return (
        f"{outcome.outcome:23}{outcome.kind}: {outcome.problem}: {outcome.reason}, {figures},"
        f" {outcome.seconds:.0f} s"
    )


def interleaved(some: list[Case], others: list[Case]) -> list[Case]:
    """Both lists as one, a part of which has a part of each."""
    places = [(n / len(cases), case) for cases in (some, others) for n, case in enumerate(cases)]
    return [case for _, case in sorted(places, key=lambda place: place[0])]


def read(path: Path) -> dict[str, Outcome]:
    """The rows so far."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        numbers = {field.name for field in fields(Outcome) if field.type is float}
        return {
            row["problem"]: Outcome(
                **{name: float(text) if name in numbers else text for name, text in row.items()}
            )
            for row in csv.DictReader(file)
        }


def write(path: Path, rows: dict[str, Outcome]) -> None:
    """All rows, complete or not at all."""
    part = path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Outcome)])
        writer.writeheader()
        for row in rows.values():
            writer.writerow(
                {
                    name: f"{value:.4g}" if isinstance(value, float) else value
                    for name, value in asdict(row).items()
                }
            )
    part.replace(path)


if __name__ == "__main__":
    main()
