"""Claims of the paper that it does not measure: the generalization gap of its baseline, and the
condition under which strongly convex problems are simplicial."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import jax
import numpy as np

import bezierflow as bf
from bezierflow import stability
from bezierflow.bezier import project
from bezierflow.precision import double_precision
from bezierflow.problems import AbstractSolvedProblem, by_name
from bezierflow.simplex import grid

from .methods import DEGREE, N_ITERATIONS, Task, baseline, harmonic
from .populations import SIZES, population
from .scores import N_TEST, points_of_trial
from .trial_files import TrialFile

GAP_PROBLEMS = ("scaled-med", "skew-3med", "skew-3mmd")
CORANK_PROBLEMS = (
    *GAP_PROBLEMS,
    "warped-scaled-med",
    "quadratic-2-3",
    "quadratic-3-5",
    "quadratic-4-4",
)
LOSSES = ("distance of points", "|b(t) − x*(t)|")
RESOLUTION = 40
"""Steps along an edge of the grid on which Jacobians are looked at."""

N_CASES = len(GAP_PROBLEMS) * len(SIZES) + 1
"""How often `run_gaps` and `run_corank` report."""


def run_gaps(
    folder: Path,
    trials: int,
    seed: int,
    command: str = "",
    on_case: Callable[[str], None] = lambda label: None,
) -> TrialFile:
    """Mean losses at examples that made a surface, at fresh ones, and their difference with its 95 %
    interval over independent trials.

    For NSGA-II and the all-at-once fit an example is a point of the population, its loss the
    distance from the surface, and fresh ones are the population of another run. On scaled-MED the
    paper's loss |b(t) − x*(t)| is taken as well: at the foot points t that the fit chose for the
    population, and at 10,000 fresh t. Algorithm 2 has its samples t.
    """
    values = ["loss", "method", "seen", "fresh", "gap", "low", "high"]
    settings = {"trials": trials, "seed": seed, "degree": DEGREE}
    file = TrialFile(folder / "gaps.csv", ["problem", "size"], values, settings, command)
    for name, size in product(GAP_PROBLEMS, SIZES):

        def rows(name: str = name, size: int = size) -> list[dict[str, object]]:
            seeds = [seed + number for number in range(trials)]
            pairs = zip(seeds, seeds[1:] + seeds[:1], strict=True)
            losses = [_baseline_losses(folder, name, size, *pair, command) for pair in pairs]
            found = [
                _row(loss, *np.array(of_trials).T)
                for loss, of_trials in zip(LOSSES, zip(*losses, strict=True), strict=False)
            ]
            return found + ([_proposed(size, trials, seed)] if name == "scaled-med" else [])

        file.once(rows, problem=name, size=size)
        on_case(f"{name} {size}")
    return file


def _baseline_losses(
    folder: Path, name: str, size: int, seed: int, other: int, command: str
) -> list[list[float]]:
    """Seen and fresh means of one trial, for each loss."""
    problem, populations = by_name(name), folder / "populations"
    surface = baseline(Task(name, problem, size, seed, populations, command))
    t, seen = project(surface, population(populations, name, size, seed, command))
    fresh = project(surface, population(populations, name, size, other, command))[1]
    found = [[float(np.mean(seen)), float(np.mean(fresh))]]
    if hasattr(problem, "pareto_map"):
        tests = points_of_trial(N_TEST, problem.n_objectives, seed)
        misses = [np.asarray(surface(s)) - np.asarray(problem.pareto_map(s)) for s in (t, tests)]
        found.append([float(np.linalg.norm(miss, axis=1).mean()) for miss in misses])
    return found


def _row(loss: str, seen: np.ndarray, fresh: np.ndarray) -> dict[str, object]:
    gap = stability.mean_interval(seen - fresh)
    means = {"seen": float(seen.mean()), "fresh": float(fresh.mean())}
    ends = {"gap": gap.estimate, "low": gap.low, "high": gap.high}
    return {"loss": loss, "method": "baseline", **means, **ends}


def _proposed(size: int, trials: int, seed: int) -> dict[str, object]:
    """Algorithm 2 as in Table 1: all K N samples of a run are its examples."""
    flow = bf.lift(bf.GradientDescent(harmonic), DEGREE, bf.Uniform(size))
    start = bf.BezierSimplex.constant(np.zeros(3), 3, DEGREE)
    with double_precision():
        setting = stability.Setting(flow, bf.problems.ScaledMED(), start, N_ITERATIONS)
        keys = jax.random.split(jax.random.key(seed), trials)
        found = stability.generalization_gap(setting, keys=keys)
    risk, gap = float(found.risks.mean()), found.expected
    ends = {"gap": gap.estimate, "low": gap.low, "high": gap.high}
    return {
        "loss": LOSSES[1],
        "method": "proposed",
        "seen": risk + gap.estimate,
        "fresh": risk,
        **ends,
    }


def run_corank(folder: Path, command: str = "") -> TrialFile:
    """For each problem the least share σ_{M−1}/σ_1 of gradients of length 1 over its exact Pareto
    set, and the least curvature of an objective there."""
    file = TrialFile(
        folder / "corank.csv",
        ["problem"],
        ["independence", "curvature"],
        {"resolution": RESOLUTION},
        command,
    )
    for name in CORANK_PROBLEMS:
        file.once(lambda name=name: [_corank(by_name(name))], problem=name)
    return file


def _corank(problem: AbstractSolvedProblem) -> dict[str, float]:
    M = problem.n_objectives
    steps = RESOLUTION if M <= 3 else RESOLUTION // 2
    with double_precision():
        x = np.asarray(problem.pareto_point(grid(M, steps)))
        hessians = np.asarray(jax.vmap(jax.hessian(problem))(x))
        gradients = np.asarray(jax.vmap(jax.jacobian(problem))(x))
    curvatures = np.linalg.eigvalsh(hessians[np.isfinite(hessians).all(axis=(1, 2, 3))])
    return {"independence": independence(gradients), "curvature": float(curvatures.min())}


def independence(gradients: np.ndarray) -> float:
    """The least σ_{M−1}/σ_1 of the matrices of gradients, each divided by its length: 0 where the
    corank is 2 or more.

    At its own minimizer a gradient is 0, or not defined at a cusp; the other M − 1 have to be
    independent there.
    """
    lengths = np.linalg.norm(gradients, axis=2)
    scale = np.nanmax(np.where(np.isfinite(lengths), lengths, np.nan))
    kept = np.isfinite(lengths) & (lengths > 1e-9 * scale)
    rows = np.where(kept[..., None], gradients, 0) / np.where(kept, lengths, 1)[..., None]
    values = np.linalg.svd(rows, compute_uv=False)
    return float((values[:, gradients.shape[1] - 2] / values[:, 0]).min())
