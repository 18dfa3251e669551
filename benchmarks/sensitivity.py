"""What each tuned number of the atlas does: it is halved and doubled, and three problems are solved.

    python -m benchmarks.sensitivity [number ...]

Two quadratics in a box, the same with an equality and an inequality, and ZDT1 of five variables
from 1,500 values. A row has the largest factor by which evaluations, and the
worst error of the answers, changed against the schedule as it is (errors below 1e-7 count as 1e-7),
and the verdicts that changed. Rows that are in the file are not made again. Numbers that are a
tuple are changed together.
"""

import csv
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.optimize import LinearConstraint

import bezierflow as bf
from bezierflow.atlas import SCHEDULE

FILE = Path(__file__).parent / "results" / "sensitivity.csv"
COLUMNS = ("number", "factor", "evaluations", "error", "verdicts")
LEAST = 1e-7
CENTERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, 0.2]])


def pair(x: Any) -> Any:
    return jnp.sum((x - CENTERS) ** 2 * jnp.array([1.0, 2.0, 0.5]), axis=1)


def zdt1(x: Any) -> list[float]:
    x = [float(value) for value in x]
    g = 1 + 9 * sum(x[1:]) / 4
    return [x[0], g * (1 - np.sqrt(x[0] / g))]


def solved() -> dict[str, bf.Solution]:
    box = np.zeros(3), np.full(3, 0.4)
    wide = np.full(3, -1.0), np.ones(3)
    rows = [lambda x: 0.4 - x[0] - x[2], LinearConstraint(np.ones((1, 3)), 0.9, 0.9)]
    unit = np.zeros(5), np.ones(5)
    return {
        "box": bf.minimize(pair, np.full(3, 0.3), bounds=box),
        "rows": bf.minimize(pair, np.full(3, 0.3), bounds=wide, constraints=rows),
        "values": bf.minimize(zdt1, bounds=unit, budget=1500),
    }


def figures(
    solutions: dict[str, bf.Solution], true: dict[str, Callable]
) -> dict[str, tuple[float, float, str]]:
    """Evaluations, the error of 50 answers against the reference, and the verdict, per problem."""
    out = {}
    for name, solution in solutions.items():
        made = solution.stats.evaluations
        cost = float(made.objective + made.jacobian + made.hessian)
        F = np.asarray(solution.spread(50).F)
        out[name] = cost, max(true[name](F), LEAST), solution.result.reason.name
    return out


def reference(solution: bf.Solution) -> Callable[[np.ndarray], float]:
    """By how much points are above a front of many points, at most, in units of its ranges."""
    front = np.asarray(solution.spread(3000).F)
    span = np.ptp(front, axis=0)

    def error(F: np.ndarray) -> float:
        lead = ((F[:, None] - front[None]) / span).max(axis=2).min(axis=1)
        return float(np.maximum(lead, 0.0).max())

    return error


def largest(ratios: list[float]) -> float:
    return max(ratios, key=lambda ratio: abs(np.log(ratio)))


def scaled(value: Any, factor: float) -> Any:
    if isinstance(value, tuple):
        return tuple(scaled(part, factor) for part in value)
    if isinstance(value, int):
        return max(round(value * factor), 1)
    return value * factor


def main() -> None:
    base = solved()
    true = {name: reference(solution) for name, solution in base.items()}
    usual = figures(base, true)
    made = set()
    if FILE.exists():
        with FILE.open() as file:
            made = {(row["number"], row["factor"]) for row in csv.DictReader(file)}
    else:
        FILE.write_text(",".join(COLUMNS) + "\n")
    for name in sys.argv[1:] or [field.name for field in fields(SCHEDULE)]:
        value = getattr(SCHEDULE, name)
        for factor in (0.5, 2.0):
            if (name, str(factor)) in made:
                continue
            object.__setattr__(SCHEDULE, name, scaled(value, factor))  # frozen for everybody else
            try:
                now = figures(solved(), true)
                cost = largest([now[k][0] / usual[k][0] for k in usual])
                error = largest([now[k][1] / usual[k][1] for k in usual])
                words = [f"{k}: {now[k][2]}" for k in usual if now[k][2] != usual[k][2]]
                row = [name, str(factor), f"{cost:.3g}", f"{error:.3g}", "; ".join(words)]
            except Exception as wrong:
                row = [name, str(factor), "", "", type(wrong).__name__]
            finally:
                object.__setattr__(SCHEDULE, name, value)
            with FILE.open("a") as file:
                csv.writer(file, lineterminator="\n").writerow(row)
            print(*row, flush=True)


if __name__ == "__main__":
    main()
