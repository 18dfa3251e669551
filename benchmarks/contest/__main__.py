"""Runs the contest: `python -m benchmarks.contest`, from the root of a checkout, or `bezierflow bench`.

Rows already in the table are kept, so a run that was stopped goes on where it was; `--fresh` starts over.
"""

import argparse
import csv
import importlib.metadata
import importlib.util
import platform
import time
from pathlib import Path

import numpy as np

import bezierflow as bf

from .contestants import CONTESTANTS, Found
from .entries import Entry, entries

RESULTS = Path(__file__).parents[1] / "results" / "contest.csv"
COLUMNS = ["problem", "method", "mean", "max", "gradient_equivalents", "cold_seconds", "warm_seconds", "said"]

WARM_LIMIT = 20.0
"""A method whose first run took longer (seconds) is not run a second time: compilation is a small part of it then."""

LINE = "{problem:46} {method:15} {mean:>9} {max:>9} {gradient_equivalents:>9} {cold_seconds:>7} {warm_seconds:>8} {said}"


def distances(found: Found, entry: Entry) -> tuple[float, float]:
    """Mean and largest distance between what was found and the exact set, the worse of both ways, over the diameter."""
    if entry.distance is None or entry.exact is None or (found.surface is None and found.points is None):
        return float("nan"), float("nan")
    diameter = np.linalg.norm(entry.exact[:, None] - entry.exact[None], axis=2).max()
    if found.surface is not None:
        t = np.concatenate([np.eye(entry.n_objectives), np.random.default_rng(1).dirichlet(np.ones(entry.n_objectives), 400)])
        x = np.asarray(found.surface(t))
        back = bf.bezier.project(found.surface, entry.exact)[1]
    else:
        assert found.points is not None
        x = found.points
        back = np.linalg.norm(entry.exact[:, None] - x[None], axis=2).min(axis=1)
    there = entry.distance(x)
    return float(max(there.mean(), back.mean()) / diameter), float(max(there.max(), back.max()) / diameter)


def measure(entry: Entry, key: str) -> dict[str, str]:
    """One row of the table: the method's first run on the problem (compilation included), and its second."""
    _, run, _ = CONTESTANTS[key]
    row = {"problem": entry.name, "method": key}
    began = time.perf_counter()
    try:
        found = run(entry)
    except Exception as error:  # a peer's own failure is a result, and the contest goes on
        return row | {"said": f"failed: {type(error).__name__}: {str(error).splitlines()[0][:100]}"}
    cold = time.perf_counter() - began
    began = time.perf_counter()
    if cold < WARM_LIMIT:
        run(entry)
    warm = time.perf_counter() - began if cold < WARM_LIMIT else float("nan")
    mean, largest = distances(found, entry)
    return row | {
        "mean": f"{mean:.2e}",
        "max": f"{largest:.2e}",
        "gradient_equivalents": str(found.gradient_equivalents),
        "cold_seconds": f"{cold:.2f}",
        "warm_seconds": f"{warm:.3f}",
        "said": found.said,
    }


def read(path: Path) -> list[dict[str, str]]:
    """The rows of an earlier run."""
    if not path.exists():
        return []
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """All rows, with the command and the versions that made them."""
    packages = ("bezierflow", "jax", "numpy", "scipy", "pymoo", "pytorch-bsf")
    found = [name for name in packages if importlib.util.find_spec({"pytorch-bsf": "torch_bsf"}.get(name, name))]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in found)
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(".part")
    with temporary.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# bezierflow bench; {versions}; Python {platform.python_version()}\n")
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    temporary.replace(path)


def main() -> None:
    """Runs what is missing from the table, and prints it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="start over")
    parser.add_argument("--methods", help="only these, with commas: " + ", ".join(CONTESTANTS))
    parser.add_argument("--problems", help="only problems whose name contains this")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = [] if options.fresh else read(options.output)
    done = {(row["problem"], row["method"]) for row in rows}
    for entry in entries():
        if options.problems and options.problems not in entry.name:
            continue
        for key, (_, _, package) in CONTESTANTS.items():
            wanted = not options.methods or key in options.methods.split(",")
            if not wanted or (entry.name, key) in done:
                continue
            if package and importlib.util.find_spec(package) is None:
                continue
            row = measure(entry, key)
            rows.append(row)
            write(options.output, rows)
            shown = {**dict.fromkeys(COLUMNS, ""), **row}
            print(LINE.format(**shown), flush=True)


if __name__ == "__main__":
    main()
