"""Stability and generalization gap against N, for three problems and three methods: the study behind `docs/stability.md`.

python experiments/stability.py scaling     writes experiments/results/stability_scaling.csv (about ten minutes on two cores)
"""

import csv
import sys
from pathlib import Path

import numpy as np
import optax

import bezierflow as bf
from bezierflow import stability

RESULTS = Path(__file__).parent / "results"
N_SAMPLES = (16, 32, 64, 128, 256, 512)
PROBLEMS = {"scaled-med": 0.0, "quadratic-3-5": 0.0, "skew-3med": 0.4}
"""Each with the coordinate every control point starts from. Skew-3MED's gradient is infinite at (1, 0, 0): not from there."""

METHODS = {
    "gradient-descent": (lambda: bf.GradientDescent(lambda k: 1 / k), 200),
    "newton": (lambda: bf.Newton(), 10),
    "adam": (lambda: bf.Optax(optax.adam(optax.cosine_decay_schedule(0.1, 200))), 200),
}
"""Each with its number of iterations K."""


def scaling() -> None:
    """One row for each problem, method and N; slopes below, as rows of their own."""
    rows, slopes = [], []
    for name, start in PROBLEMS.items():
        problem = bf.problems.by_name(name)
        for method, (make, n_iterations) in METHODS.items():
            found = stability.against_samples(
                bf.lift(make(), degree=3),
                problem,
                np.full(problem.n_variables, start),
                N_SAMPLES,
                n_iterations,
                problem.n_objectives,
            )
            about = {"problem": name, "method": method, "n_iterations": n_iterations}
            rows += [about | row for row in found.rows()]
            slopes += [about | {"of": of, "slope": s.estimate, "low": s.low, "high": s.high} for of, s in found.slopes.items()]
            print(about, {of: str(s) for of, s in found.slopes.items()}, flush=True)
            write("stability_scaling.csv", rows)
            write("stability_slopes.csv", slopes)


def write(name: str, rows: list[dict]) -> None:
    """A CSV with the command that made it in its first line."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / name).open("w", newline="") as file:
        file.write(f"# python experiments/stability.py {' '.join(sys.argv[1:])}\n")
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{v:.6g}" if isinstance(v, float) else v for key, v in row.items()})


if __name__ == "__main__":
    {"scaling": scaling}[sys.argv[1]]()
