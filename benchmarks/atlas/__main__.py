"""Runs `bezierflow.minimize` and pymoo's populations on problems with bounds and constraints, and
writes one row for each run.

    python -m benchmarks.atlas named                  # named problems that have no row yet
    python -m benchmarks.atlas random 100 100 5       # so many seeds of bounded quadratics for 2, 3 and 4 objectives, likewise
    python -m benchmarks.atlas named --again DTLZ RE  # our rows of problems with one of these in their name, anew
    python -m benchmarks.atlas report                 # the tables of docs/atlas.md from the rows

Distances are in objectives, in units of their ranges over the true front. "front to answers": from
points of the true front to the answer above them, or to the nearest point of a population.
"dominated": by how much an answer is dominated by true points. True points are closed forms,
box-constrained minimizers of weighted sums, or SciPy's SLSQP from several starts on the program of
the chart.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
from scipy.optimize import minimize
from scipy.spatial import KDTree

import bezierflow as bf
from bezierflow.precision import double_precision

from .problems import NAMED, Bounded, quadratics

RESULTS = Path(__file__).parent.parent / "results"
COLUMNS = (
    "problem",
    "method",
    "front_max",
    "front_mean",
    "dominated",
    "reason",
    "estimate",
    "coverage",
    "pieces",
    "evaluations",
    "seconds",
)
N_TRUE, N_STARTS = 40, 6


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.atlas")
    parser.add_argument("what", choices=("named", "random", "report"), nargs="?", default="named")
    parser.add_argument("seeds", type=int, nargs="*", help="for 2, 3 and 4 objectives")
    parser.add_argument(
        "--again", nargs="+", default=(), help="only problems with one of these in their name, anew"
    )
    arguments = parser.parse_args()
    if arguments.what == "report":
        report()
        return
    random, path = arguments.what == "random", RESULTS / f"atlas_{arguments.what}.csv"
    families = [
        quadratics(M, 3 + seed % 3, 1000 * M + seed)
        for M, n in zip((2, 3, 4), arguments.seeds, strict=False)
        for seed in range(n)
    ]
    done = read(path)
    for problem in families if random else NAMED:
        known = any(name == problem.name for name, _ in done)
        if any(part in problem.name for part in arguments.again) if arguments.again else not known:
            for row in rows(problem, populations=not random and not known):
                done[row["problem"], row["method"]] = row
                print(row, flush=True)
            write(path, done)


def read(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows so far, by problem and method."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {(row["problem"], row["method"]): row for row in csv.DictReader(file)}


def write(path: Path, done: dict[tuple[str, str], dict[str, Any]]) -> None:
    """All rows, through a file beside: an interrupt loses none."""
    beside = path.with_suffix(".part")
    with beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(done.values())
    beside.replace(path)


def rows(problem: Bounded, populations: bool) -> list[dict[str, Any]]:
    """Our run and, where pymoo is installed and asked for, populations of 20,000 and 100,000
    evaluations."""
    began = time.perf_counter()
    solution = bf.minimize(
        problem.objectives,
        None,
        bounds=(problem.lower, problem.upper),
        constraints=problem.constraints or None,
    )
    seconds = time.perf_counter() - began
    true = problem.truth() if problem.truth else solved_truth(problem)
    found, atlas = solution.spread(400), solution.pareto_set
    # local solutions of SLSQP are no truth
    true = true[~beaten(true, np.concatenate([true, found.F]))]
    span = np.ptp(true, axis=0)
    if isinstance(atlas, bf.BezierAtlas):
        away = np.minimum(
            from_answers(problem, atlas, true, span), nearest(true / span, found.F / span)
        )
    else:
        away = nearest(true / span, solution.spread(4000).F / span)
    evaluations = solution.stats.evaluations
    out = [
        {
            "problem": problem.name,
            "method": "minimize",
            **distances(away, dominated(found.F / span, true / span)),
            "reason": solution.result.reason.value,
            "estimate": f"{solution.error.front or solution.error.relative:.1e}",
            "coverage": f"{solution.error.coverage or 1:.4f}",
            "pieces": (
                sum(not piece.face for piece in atlas.pieces)
                if isinstance(atlas, bf.BezierAtlas)
                else 1
            ),
            "evaluations": f"{int(evaluations.objective)} + {int(evaluations.hessian)} Hessians",
            "seconds": f"{seconds:.1f}",
        }
    ]
    for budget in (20_000, 100_000) if populations else ():
        row = population(problem, budget, true, span)
        out += [row] if row else []
    return out


def from_answers(
    problem: Bounded, atlas: bf.BezierAtlas, true: np.ndarray, span: np.ndarray
) -> np.ndarray:
    """The distance of true points to the answers of an atlas, at their own t or at
    others nearby.

    Where the front is steep, the nearest answer is not the one at the same t: a random search looks
    for it.
    """
    rng = np.random.default_rng(0)

    def away(a: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs((problem.values(atlas.flat(a)) - true) / span).max(axis=1))

    a = atlas.t(true)
    best, step = away(a), np.full(len(a), 1e-3)
    for _ in range(60):
        trial = np.maximum(a + step[:, None] * rng.normal(size=a.shape), 0)
        trial /= trial.sum(axis=1, keepdims=True)
        found = away(trial)
        better = found < best
        a, best = np.where(better[:, None], trial, a), np.minimum(found, best)
        step = np.where(better, 2 * step, 0.6 * step)
    return best


def distances(away: np.ndarray, dominated_by: float) -> dict[str, str]:
    """In words of the table."""
    return {
        "front_max": f"{away.max():.1e}",
        "front_mean": f"{away.mean():.1e}",
        "dominated": f"{dominated_by:.1e}",
    }


def beaten(f: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which points another one is better than in an objective, by more than 1e-6 of the range, and
    in none worse."""
    gain = (f[:, None] - others[None]) / np.ptp(f, axis=0)
    return ((gain > -1e-9).all(axis=2) & (gain > 1e-6).any(axis=2)).any(axis=1)


def nearest(f: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The distance from each point to the nearest of others."""
    return np.asarray(KDTree(others).query(f)[0])


def dominated(f: np.ndarray, true: np.ndarray) -> float:
    """The largest amount by which a true point is better than one of f in every objective."""
    return float(max(0.0, (f[:, None] - true[None]).min(axis=2).max()))


def solved_truth(problem: Bounded) -> np.ndarray:
    """Points of the front from SciPy alone: the program of the chart at random chart points, from
    several starts."""
    rng, M, n = np.random.default_rng(0), problem.n_objectives, len(problem.lower)
    with double_precision():
        stacked = jax.jit(
            lambda x: (problem.objectives(x), problem.g(x) if problem.g else np.zeros(0))
        )
        slopes = jax.jit(
            jax.jacfwd(
                lambda x: (problem.objectives(x), problem.g(x) if problem.g else np.zeros(0))
            )
        )
        pool = problem.lower + (problem.upper - problem.lower) * rng.random((4000, n))
        if problem.sums_to_one:
            pool = rng.dirichlet(np.ones(n), 4000)
        values = problem.values(pool)
        good = np.isfinite(values).all(axis=1)
        if problem.g:
            good &= np.asarray(jax.vmap(problem.g)(pool)).max(axis=1) <= 0
        pool, values = pool[good], values[good]
        low, span = (
            np.quantile(values, 0.01, axis=0),
            np.ptp(np.quantile(values, [0.01, 0.5], axis=0), axis=0),
        )
        found = []
        for _ in range(N_TRUE):
            a = rng.uniform(-0.7, 0.7, M)
            best = None
            order = np.argsort(((values - low) / span - a).max(axis=1))
            for x0 in pool[[*order[:N_STARTS], *rng.integers(len(pool), size=3)]]:
                end = _chart_program(problem, stacked, slopes, x0, low + a * span, span)
                if end is not None and (best is None or end[0] < best[0]):
                    best = end
            if best is not None:
                found.append(best[1])
        return problem.values(np.array(found))


def _chart_program(
    problem: Bounded, stacked: Any, slopes: Any, x0: np.ndarray, aim: np.ndarray, span: np.ndarray
) -> Any:
    """Min s with f ≤ aim + s·span from one start; None where SLSQP ends infeasible."""
    n = len(x0)
    unit = problem.upper - problem.lower

    def x(y: np.ndarray) -> np.ndarray:
        return np.clip(problem.lower + y[:n] * unit, problem.lower, problem.upper)

    def room(y: np.ndarray) -> np.ndarray:
        f, g = stacked(x(y))
        return np.concatenate([y[n] - (np.asarray(f) - aim) / span, -np.asarray(g)])

    def by_y(y: np.ndarray) -> np.ndarray:
        df, dg = slopes(x(y))
        rows = [-np.asarray(df) / span[:, None] * unit, -np.asarray(dg).reshape(-1, n) * unit]
        last = np.concatenate([np.ones(len(span)), np.zeros(len(rows[1]))])
        return np.nan_to_num(np.column_stack([np.concatenate(rows), last]))

    constraints: list[Any] = [{"type": "ineq", "fun": room, "jac": by_y}]
    if problem.sums_to_one:
        constraints.append(
            {"type": "eq", "fun": lambda y: x(y).sum() - 1, "jac": lambda y: np.append(unit, 0.0)}
        )
    tie = 1e-7
    start = np.append(
        (x0 - problem.lower) / unit, ((np.asarray(stacked(x0)[0]) - aim) / span).max()
    )
    end = minimize(
        lambda y: y[n] + tie * float(np.sum((np.asarray(stacked(x(y))[0]) - aim) / span)),
        start,
        jac=lambda y: np.append(
            tie * np.asarray(slopes(x(y))[0] / span[:, None]).sum(axis=0) * unit, 1.0
        ),
        bounds=[(0, 1)] * n + [(None, None)],
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-14},
    )
    if not np.isfinite(end.x).all() or room(end.x).min() < -1e-7:
        return None
    return float(((np.asarray(stacked(x(end.x))[0]) - aim) / span).max()), x(end.x)


def population(
    problem: Bounded, budget: int, true: np.ndarray, span: np.ndarray
) -> dict[str, Any] | None:
    """Pymoo's NSGA-II for two objectives, NSGA-III for more; None where pymoo is not installed."""
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.algorithms.moo.nsga3 import NSGA3
        from pymoo.core.problem import Problem
        from pymoo.optimize import minimize as run
        from pymoo.util.ref_dirs import get_reference_directions
    except ImportError:
        return None
    values = jax.jit(jax.vmap(problem.objectives))
    rows_of_g = jax.jit(jax.vmap(problem.g)) if problem.g else None
    n_rows = 0 if problem.g is None else len(problem.g(problem.lower))

    class Wrapped(Problem):
        def __init__(self) -> None:
            super().__init__(
                len(problem.lower),
                problem.n_objectives,
                n_rows + problem.sums_to_one,
                xl=problem.lower,
                xu=problem.upper,
            )

        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
            with double_precision():
                out["F"] = np.asarray(values(x))
                g = [np.asarray(rows_of_g(x))] if rows_of_g else []
            g += [np.abs(x.sum(axis=1, keepdims=True) - 1) - 1e-4] if problem.sums_to_one else []
            if g:
                out["G"] = np.concatenate(g, axis=1)

    began = time.perf_counter()
    two = problem.n_objectives == 2
    method = (
        NSGA2(pop_size=100)
        if two
        else NSGA3(get_reference_directions("das-dennis", problem.n_objectives, n_partitions=15))
    )
    found = run(Wrapped(), method, ("n_eval", budget), seed=1).F
    f = np.atleast_2d(found) if found is not None else np.full((1, problem.n_objectives), np.inf)
    away = nearest(true / span, f / span) if np.isfinite(f).all() else np.full(len(true), np.inf)
    return {
        "problem": problem.name,
        "method": f"{'NSGA-II' if two else 'NSGA-III'}, {budget:,}",
        **distances(away, dominated(f / span, true / span)),
        "evaluations": str(budget),
        "seconds": f"{time.perf_counter() - began:.1f}",
    }


def report() -> None:
    """The tables in Markdown."""
    with (RESULTS / "atlas_named.csv").open(encoding="utf-8") as file:
        named = list(csv.DictReader(file))
    print(
        "| problem | pieces | front to answers, max / mean | dominated | said | evaluations | s |"
        " populations: max |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for row in (row for row in named if row["method"] == "minimize"):
        others = [
            other["front_max"]
            for other in named
            if other["problem"] == row["problem"] and other["method"] != "minimize"
        ]
        print(
            f"| {row['problem']} | {row['pieces']} | {row['front_max']} / {row['front_mean']} |"
            f" {row['dominated']} | {row['reason']}, {row['estimate']} | {row['evaluations']} |"
            f" {row['seconds']} | {' / '.join(others)} |"
        )
    path = RESULTS / "atlas_random.csv"
    if path.exists():
        with path.open(encoding="utf-8") as file:
            random = list(csv.DictReader(file))
        print(
            "\n| objectives | seeds | median of max | within 1e-6 / 1e-4 / 1e-2 | flagged |"
            " unflagged and above 1e-2 | median s |"
        )
        print("|---|---|---|---|---|---|---|")
        for M in (2, 3, 4):
            mine = [row for row in random if row["problem"].startswith(f"quadratics {M}")]
            if not mine:
                continue
            worst = np.array([float(row["front_max"]) for row in mine])
            flagged = np.array([row["reason"] != "converged" for row in mine])
            shares = " / ".join(f"{np.mean(worst < limit):.0%}" for limit in (1e-6, 1e-4, 1e-2))
            seconds = np.median([float(row["seconds"]) for row in mine])
            print(
                f"| {M} | {len(mine)} | {np.median(worst):.1e} | {shares} | {flagged.sum()} | "
                f"{np.sum(~flagged & (worst > 1e-2))} | {seconds:.1f} |"
            )


if __name__ == "__main__":
    main()
