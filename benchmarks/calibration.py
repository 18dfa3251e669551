"""How the stated errors compare with true ones, over random problems whose sets are known.

    nice -n 15 python -m benchmarks.calibration 20          # so many seeds of each family and number of objectives; goes on where it was
    python -m benchmarks.calibration 20 --only dents        # families with this in their name
    python -m benchmarks.calibration --report               # the table of docs/reliability.md

One row per run in `benchmarks/results/calibration.csv`. Of a surface the stated error is
`error.max`, a distance between designs, and the true one the largest distance both ways, at 3,000 t
inside, on edges and close to corners. Of an atlas it is `error.front`, in units of the objectives'
ranges, and the true one the largest distance in an objective from a point of the true front, its
ends included, to the nearest answer. Runs that are flagged state nothing.
"""

import argparse
import csv
from itertools import permutations
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow.bezier import project
from bezierflow.precision import double_precision

from .atlas.__main__ import from_answers, nearest
from .atlas.problems import quadratics as bounded_quadratics
from .normal_flow import Bent, random_quadratics

RESULTS = Path(__file__).parent / "results" / "calibration.csv"

FIRST_SEED = 7000
"""Nothing was tuned on seeds from here on."""

MARGIN, LEAST = 2.0, 1e-7
"""Of what an atlas states: times the largest miss seen, and no less than the second number."""

SMALLEST = 1e-9
"""Errors below this share of the diameter, or of the ranges, are rounding of the truths."""


class Dented(eqx.Module):
    """Squared distances to three corners of y(x) = x − h exp(−|x_12 − p|²/w²) e_3: a flat triangle
    with one narrow dent, whose set is known."""

    corners: np.ndarray
    place: np.ndarray
    width: float
    depth: float = 0.05

    def dent(self, x: Any, xp: Any) -> Any:
        """The height of the set above the first two variables."""
        away = xp.sum((x[..., :2] - self.place) ** 2, axis=-1)
        return self.depth * xp.exp(-away / self.width**2)

    def __call__(self, x: Any) -> Any:
        y = x.at[2].add(-self.dent(x, jnp))
        return jnp.sum((y - jnp.asarray(self.corners)) ** 2, axis=1)

    def true_error(self, solution: bf.Solution) -> float:
        """The largest distance both ways between the answers and the dented triangle."""
        t = samples(3)
        near = np.random.default_rng(1).normal(self.place, self.width, (2000, 2))
        w = np.linalg.solve(
            np.vstack([self.corners[:, :2].T, np.ones(3)]), np.vstack([near.T, np.ones(2000)])
        ).T
        t = np.concatenate([t, w[(w >= 0).all(axis=1)]])
        exact = t @ self.corners
        exact[:, 2] += self.dent(exact, np)
        back = way_back(solution.pareto_set, exact)
        # From the surface: across the dent, up to its slope.
        x = np.asarray(solution.design(t))
        there = np.abs(x[:, 2] - self.dent(x, np)) / np.sqrt(1 + 2 * (self.depth / self.width) ** 2)
        return float(max(back, there.max(), np.abs(x[:, 3:]).max()))


def way_back(surface: Any, exact: np.ndarray) -> float:
    """The largest distance of exact designs from a surface; 0 for an atlas, which has no
    projection."""
    return float(project(surface, exact)[1].max()) if isinstance(surface, bf.BezierSimplex) else 0.0


def samples(n_objectives: int, n: int = 3000) -> np.ndarray:
    """Points of the simplex: inside, on edges, and at all distances from corners."""
    rng = np.random.default_rng(11)
    inside = rng.dirichlet(np.ones(n_objectives), n // 3)
    edges = np.zeros((n // 3, n_objectives))
    pairs = np.array(list(permutations(range(n_objectives), 2)))[
        rng.integers(n_objectives * (n_objectives - 1), size=n // 3)
    ]
    share = rng.random(n // 3)
    edges[np.arange(n // 3), pairs[:, 0]], edges[np.arange(n // 3), pairs[:, 1]] = share, 1 - share
    close = 10 ** rng.uniform(-5, -0.5, (n // 3, 1))
    corners = np.eye(n_objectives)[rng.integers(n_objectives, size=n // 3)]
    around = (1 - close) * corners + close * rng.dirichlet(np.ones(n_objectives), n // 3)
    return np.concatenate([np.eye(n_objectives), inside, edges, around])


def of_surface(problem: Any, objectives: Any, n_variables: int) -> dict[str, Any]:
    """A run without bounds whose set is known in x."""
    solution = bf.minimize(objectives, np.zeros(n_variables))
    error = solution.error
    with double_precision():
        if isinstance(problem, Dented):
            true = problem.true_error(solution)
        else:
            t = samples(problem.n_objectives)
            there = problem.distance(np.asarray(solution.design(t))).max()
            exact = np.asarray(problem.pareto_point(t))
            true = max(there, way_back(solution.pareto_set, exact))
    return row(solution, float(true), error.max, error.diameter)


def of_atlas(problem: Any) -> dict[str, Any]:
    """A run within bounds whose front is known."""
    solution = bf.minimize(problem.objectives, None, bounds=(problem.lower, problem.upper))
    front, answer = problem.truth(), solution.pareto_set
    span = np.ptp(front, axis=0)
    if isinstance(answer, bf.BezierAtlas):
        true = from_answers(problem, answer, front, span).max()
    else:
        true = nearest(front / span, solution.spread(4000).F / span).max()
    return row(solution, float(true), float(solution.error.front or np.nan), 1.0)


def row(solution: Any, true: float, stated: float, unit: float) -> dict[str, Any]:
    """The figures of a run, in units of the diameter or the ranges."""
    return {
        "reason": solution.result.reason.value,
        "true": f"{true / unit:.3g}",
        "stated": f"{stated / unit:.3g}",
        "resolution": f"{solution.error.resolution or float('nan'):.2g}",
        "seconds": f"{solution.stats.seconds:.0f}",
    }


def run(family: str, n_objectives: int, seed: int) -> dict[str, Any]:
    """One problem of a family."""
    M, L = n_objectives, n_objectives + seed % 3
    if family == "bounded quadratics":
        return of_atlas(bounded_quadratics(M, 3 + seed % 3, seed))
    if family.startswith("dents"):
        rng = np.random.default_rng(seed)
        corners = np.zeros((3, 4))
        corners[:, :2] = [[0, 0], [1, 0], [0.5, np.sqrt(0.75)]]
        place = rng.dirichlet(np.ones(3)) @ corners[:, :2]
        problem = Dented(corners, place, float(family.split()[-1]))
        return of_surface(problem, problem, 4)
    problem = random_quadratics(seed, M, L)
    if family == "warped quadratics":
        problem = bf.problems.Warped(problem, 0.3)
        return of_surface(problem, problem, L)
    kinds = {"quadratics": None, "bent quadratics": ("powers", "exps", "logs")[seed % 3]}
    kind = kinds[family]
    return of_surface(problem, Bent(problem, kind, seed) if kind else problem, L)


FAMILIES = {
    "quadratics": (2, 3, 4),
    "bent quadratics": (2, 3, 4),
    "warped quadratics": (2, 3, 4),
    "bounded quadratics": (2, 3, 4),
    "dents of width 0.2": (3,),
    "dents of width 0.1": (3,),
    "dents of width 0.05": (3,),
    "dents of width 0.02": (3,),
    "dents of width 0.01": (3,),
}


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration")
    parser.add_argument("seeds", type=int, nargs="?", default=20)
    parser.add_argument("--only", nargs="+", default=("",))
    parser.add_argument("--objectives", type=int, nargs="+", default=(2, 3, 4))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    rows = read(arguments.results)
    if arguments.report:
        print(report(rows))
        return
    for seed in range(FIRST_SEED, FIRST_SEED + arguments.seeds):
        for family, numbers in FAMILIES.items():
            for M in numbers:
                key = {"family": family, "objectives": str(M), "seed": str(seed)}
                known = any(all(row[name] == key[name] for name in key) for row in rows)
                wanted = (
                    any(part in family for part in arguments.only) and M in arguments.objectives
                )
                if known or not wanted:
                    continue
                rows.append({**key, **run(family, M, seed)})
                print(rows[-1], flush=True)
                write(arguments.results, rows)


def read(path: Path) -> list[dict[str, str]]:
    """The rows so far."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """All rows, complete or not at all."""
    part = path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    part.replace(path)


def report(rows: list[dict[str, str]]) -> str:
    """A line per family and number of objectives: of the runs that are not flagged, how many true
    errors lie below the stated ones, the largest ratio, and how large errors are."""
    lines = [
        "| family | objectives | runs | flagged | true ≤ stated | true > 3 × stated | true / stated: median, largest | true: median, largest |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    keys = dict.fromkeys((row["family"], row["objectives"]) for row in rows)
    for family, M in sorted(keys, key=lambda key: (list(FAMILIES).index(key[0]), key[1])):
        mine = [row for row in rows if (row["family"], row["objectives"]) == (family, M)]
        kept = [row for row in mine if row["reason"] in ("converged", "not at tolerance")]
        true = np.array([float(row["true"]) for row in kept])
        stated = np.array([float(row["stated"]) for row in kept])
        ratio = np.where(true < SMALLEST, 0.0, true) / np.maximum(stated, SMALLEST)
        figures = f"{np.median(ratio):.2g}, {ratio.max():.2g}" if len(kept) else "–"
        errors = f"{np.median(true):.1e}, {true.max():.1e}" if len(kept) else "–"
        lines.append(
            f"| {family} | {M} | {len(mine)} | {len(mine) - len(kept)} | {(ratio <= 1).sum()} of"
            f" {len(kept)} | {(ratio > 3).sum()} | {figures} | {errors} |"
        )
    return "\n".join([*lines, "", *before_margins()])


def before_margins() -> list[str]:
    """What margin and least estimate of an atlas make of the rows of `benchmarks.atlas random`,
    whose estimates had neither."""
    lines = []
    for M in "234":
        rows = [
            row
            for row in read(RESULTS.with_name("atlas_random.csv"))
            if f"quadratics {M}," in row["problem"]
        ]
        kept = [row for row in rows if row["reason"] in ("converged", "not at tolerance")]
        # Of two objectives the first 20 rows are of the present engine.
        kept = kept[:20] if M == "2" else kept
        true, seen = (
            np.array([float(row[name]) for row in kept]) for name in ("front_max", "estimate")
        )
        ratio = true / np.maximum(MARGIN * seen, LEAST)
        lines.append(
            f"atlas_random.csv, M = {M}: true above stated in {(ratio > 1).sum()} of {len(kept)}, at most {ratio.max():.2f} times"
        )
    return lines


if __name__ == "__main__":
    main()
