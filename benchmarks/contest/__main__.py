"""Runs the contest: `python -m benchmarks.contest`, from the root of a checkout, or `bezierflow
bench`.

Rows already in the table are kept, so a run that was stopped goes on where it was; `--fresh` starts
over.
"""

import argparse
import csv
import importlib.metadata
import importlib.util
import platform
import time
from collections.abc import Iterator
from pathlib import Path

from .contestants import CONTESTANTS
from .entries import Entry, entries
from .scoring import scores

RESULTS = Path(__file__).parents[1] / "results" / "contest.csv"
SCORES = ("mean", "max", "igd_plus", "hypervolume_lost")
COLUMNS = [
    "problem",
    "method",
    "seed",
    *SCORES,
    "bound",
    "gradient_equivalents",
    "cold_seconds",
    "warm_seconds",
    "said",
]

WARM_LIMIT = 20.0
"""A method whose first run took longer (seconds) is not run a second time: compilation is a small
part of it then."""

LINE = (
    "{problem:46} {method:18} {seed} {max:>9} {igd_plus:>9} {gradient_equivalents:>9}"
    " {cold_seconds:>7} {said}"
)


def measure(entry: Entry, key: str, seed: int) -> dict[str, str]:
    """One row of the table: a method's run on the problem (compilation included), for seed 0 also
    its second."""
    run = CONTESTANTS[key].run
    row = {"problem": entry.name, "method": key, "seed": str(seed)}
    began = time.perf_counter()
    try:
        found = run(entry, seed)
    except Exception as error:  # a peer's own failure is a result, and the contest goes on
        return row | {"said": f"failed: {type(error).__name__}: {str(error).splitlines()[0][:100]}"}
    cold = time.perf_counter() - began
    warm = _seconds(entry, key) if seed == 0 and cold < WARM_LIMIT else float("nan")
    scored = {name: f"{value:.2e}" for name, value in scores(found, entry)._asdict().items()}
    return (
        row
        | scored
        | {
            "bound": f"{found.bound:.2e}",
            "gradient_equivalents": str(found.gradient_equivalents),
            "cold_seconds": f"{cold:.2f}",
            "warm_seconds": f"{warm:.3f}",
            "said": found.said,
        }
    )


def _seconds(entry: Entry, key: str) -> float:
    began = time.perf_counter()
    CONTESTANTS[key].run(entry, 0)
    return time.perf_counter() - began


def read(path: Path) -> list[dict[str, str]]:
    """The rows of an earlier run."""
    if not path.exists():
        return []
    lines = [
        line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    ]
    return list(csv.DictReader(lines))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """All rows, with the command and the versions that made them."""
    packages = ("bezierflow", "jax", "numpy", "scipy", "pymoo", "pytorch-bsf", "torchjd")
    found = [
        name
        for name in packages
        if importlib.util.find_spec({"pytorch-bsf": "torch_bsf"}.get(name, name))
    ]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in found)
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(".part")
    with temporary.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# bezierflow bench; {versions}; Python {platform.python_version()}\n")
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    temporary.replace(path)


def cases(
    problems: str | None, methods: str | None, most_seeds: int
) -> Iterator[tuple[Entry, str, int]]:
    """Every problem, method and seed that is asked for and whose package is installed."""
    keys = methods.split(",") if methods else list(CONTESTANTS)
    for entry in entries():
        if problems and problems not in entry.name:
            continue
        for key in keys:
            contestant = CONTESTANTS[key]
            if (
                contestant.package is None
                or importlib.util.find_spec(contestant.package) is not None
            ):
                yield from (
                    (entry, key, seed) for seed in range(min(most_seeds, contestant.n_seeds))
                )


def main() -> None:
    """Runs what is missing from the table, and prints it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="start over")
    parser.add_argument("--methods", help="only these, with commas: " + ", ".join(CONTESTANTS))
    parser.add_argument("--problems", help="only problems whose name contains this")
    parser.add_argument("--seeds", type=int, default=1000, help="so many seeds at most")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = [] if options.fresh else read(options.output)
    done = {(row["problem"], row["method"], row["seed"]) for row in rows}
    for entry, key, seed in cases(options.problems, options.methods, options.seeds):
        if (entry.name, key, str(seed)) in done:
            continue
        rows.append(measure(entry, key, seed))
        write(options.output, rows)
        print(LINE.format(**{**dict.fromkeys(COLUMNS, ""), **rows[-1]}), flush=True)


if __name__ == "__main__":
    main()
