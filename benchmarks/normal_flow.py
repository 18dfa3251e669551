"""How near the normal flow comes to exactly known Pareto sets, and at what cost.

`python benchmarks/normal_flow.py` for named problems, `python benchmarks/normal_flow.py families
20` for 20 random problems of each family: the share that comes within 1e-5, and how many went wrong
without a word. `pairs 40` solves strongly convex objectives of one shape, whose sets lie close to
their chords; `basins 40` counts how often objectives with many local minima are taken for solved;
`sensitivity 3` varies every number of the schedule.

Distances are the largest ones found, from the surface to the set and back, over the diameter. H
counts points at which values, gradients and Hessians of all objectives were computed, J those with
values and gradients alone; the error estimate has its own.
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from multiprocessing import get_context

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from bezierflow.answer import Flag
from bezierflow.bezier import project
from bezierflow.normal import Schedule, Settings, advance, begin, estimate_error
from bezierflow.problems import Fonseca, Quadratic, ScaledMED, SkewMED, SkewMMD, Warped


def random_quadratics(seed, n_objectives, n_variables, condition=10.0):
    rng = np.random.default_rng(seed)
    bases = [
        np.linalg.qr(rng.normal(size=(n_variables, n_variables)))[0] for _ in range(n_objectives)
    ]
    matrices = [basis @ np.diag(condition ** rng.random(n_variables)) @ basis.T for basis in bases]
    return Quadratic(matrices, rng.normal(size=(n_objectives, n_variables)))


def two_sided(problem, surface, n=200):
    """The largest distance both ways, at random t inside and on edges."""
    rng = np.random.default_rng(7)
    t = rng.dirichlet(np.ones(problem.n_objectives), size=n)
    edges = np.zeros((n // 2, problem.n_objectives))
    for row, share in zip(edges, rng.random(n // 2), strict=True):
        i, j = rng.choice(problem.n_objectives, 2, replace=False)
        row[i], row[j] = share, 1 - share
    t = np.concatenate([t, edges])
    there = problem.distance(np.asarray(surface(t))).max()
    exact = np.asarray(problem.pareto_point(t))
    back = project(surface, exact)[1].max()
    return max(there, back)


def run(problem, n_variables, schedule=None):
    settings = Settings(schedule=schedule or Schedule())
    began = time.perf_counter()
    state = begin(problem, np.zeros(n_variables), settings)
    while not state.done:
        state = advance(problem, settings, state)
    return state, time.perf_counter() - began


def judged(problem, state, schedule):
    """The error estimate of a run under a schedule."""
    settings = Settings(schedule=schedule)
    return estimate_error(problem, state.surface, tol=1e-6, settings=settings, memory=state.memory)


class Bent(eqx.Module):
    """A problem whose objectives are passed through increasing functions, scaled by 10^±6 and
    shifted: the set stays."""

    problem: Quadratic
    kind: str = eqx.field(static=True)
    powers: np.ndarray
    scales: np.ndarray
    offsets: np.ndarray

    def __init__(self, problem, kind, seed):
        rng = np.random.default_rng(seed)
        size = problem.n_objectives
        self.problem, self.kind = problem, kind
        self.powers, self.scales = np.exp(rng.uniform(-1, 1, size)), 10 ** rng.uniform(-6, 6, size)
        self.offsets = 10 * self.scales * rng.normal(size=size)

    def __call__(self, x):
        """The bent objectives."""
        f = self.problem(x)
        bent = {
            "powers": f ** jnp.asarray(self.powers),
            "logs": jnp.log1p(f),
            "exps": 1 - jnp.exp(-f / 10),
        }
        return jnp.asarray(self.scales) * bent[self.kind] + jnp.asarray(self.offsets)


FAMILIES = [
    (2, 2, None),
    (2, 5, "powers"),
    (3, 2, None),
    (3, 3, None),
    (3, 5, "powers"),
    (3, 6, "exps"),
    (3, 10, "logs"),
    (4, 5, None),
    (5, 6, None),
]


def solve_family(n_objectives, n_variables, kind, seeds, schedule=None):
    """For each seed: error over diameter (two-sided), true over estimated error, H, J, and whether
    it failed without a word."""
    rows = []
    for seed in seeds:
        problem = random_quadratics(seed, n_objectives, n_variables)
        bent = Bent(problem, kind, seed) if kind else problem
        state, _ = run(bent, n_variables, schedule)
        estimate = estimate_error(bent, state.surface, tol=1e-6, memory=state.memory)
        error = two_sided(problem, state.surface, 100)
        loud = set(estimate.flags) | set(state.flags)
        silent = (
            error > estimate.expected
            and error > 1e-3 * estimate.diameter
            and not loud - {Flag.NOT_AT_TOLERANCE}
        )
        counts = (state.evaluations.hessian, jacobians(state.evaluations))
        rows.append((error / estimate.diameter, error / max(estimate.max, 1e-300), *counts, silent))
    return rows


def jacobians(evaluations):
    """Points at which gradients were computed without Hessians."""
    return evaluations.jacobian - evaluations.hessian


def summary(n_objectives, n_variables, kind, rows):
    """A row of the table: errors at the 50 and 90 % quantiles and the worst, evaluations, and
    silent failures."""
    error, ratio, n_hessian, n_jacobian, silent = np.array(rows).T
    quantiles = " / ".join(f"{value:.0e}" for value in np.quantile(error, [0.5, 0.9, 1]))
    worst = ratio[error > 1e-8].max(initial=0)
    return (
        f"| M={n_objectives} L={n_variables} {kind or 'plain'} | {len(rows)} | {quantiles} |"
        f" {np.mean(error < 1e-5):.0%} | {np.median(n_hessian):.0f} + {np.median(n_jacobian):.0f} |"
        f" {worst:.1f} | {silent.sum():.0f} |"
    )


PROBLEMS = {
    "scaled-MED": ScaledMED(),
    "skew-3MED": SkewMED(3),
    "skew-5MED": SkewMED(5),
    "skew-3MMD": SkewMMD(3),
    "Fonseca n=10": Fonseca(10),
    "warped scaled-MED": Warped(ScaledMED()),
    "quadratics M=2 L=2": random_quadratics(1, 2, 2),
    "quadratics M=3 L=3": random_quadratics(1, 3, 3),
    "quadratics M=3 L=10": random_quadratics(1, 3, 10),
    "quadratics M=3 L=50": random_quadratics(1, 3, 50),
    "quadratics M=4 L=5": random_quadratics(1, 4, 5),
    "quadratics M=5 L=6": random_quadratics(1, 5, 6),
}


def families(n, first_seed=9000, chunk=20):
    """The table of all families, on as many processes as there are cores."""
    print(
        "| family | problems | error: median / 90 % / worst | within 1e-5 | H + J | worst"
        " true/estimated | silent |"
    )
    print("|---|---|---|---|---|---|---|")
    seeds = [
        range(first, min(first + chunk, first_seed + n))
        for first in range(first_seed, first_seed + n, chunk)
    ]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        parts = {
            family: [pool.submit(solve_family, *family, part) for part in seeds]
            for family in reversed(FAMILIES)
        }
        for family in FAMILIES:
            print(
                summary(*family, [row for part in parts[family] for row in part.result()]),
                flush=True,
            )


class Mirrored(eqx.Module):
    """g(x) and g(1 − x) for a strongly convex quartic g: an S-shaped set close to its chord."""

    matrix: np.ndarray
    quartic: np.ndarray

    def __init__(self, seed, n_variables):
        rng = np.random.default_rng(seed)
        basis = np.linalg.qr(rng.normal(size=(n_variables, n_variables)))[0]
        self.matrix = basis @ np.diag(10 ** rng.random(n_variables)) @ basis.T
        self.quartic = rng.uniform(0.01, 0.5, n_variables)

    def __call__(self, x):
        """Both objectives."""
        return jnp.stack(
            [y @ self.matrix @ y / 2 + jnp.sum(self.quartic * y**4) for y in (x, 1 - x)]
        )


class Shifted(eqx.Module):
    """g(x − c_m) for a strongly convex quartic g and three centers: Hessians of one shape."""

    mirrored: Mirrored
    centers: np.ndarray

    def __init__(self, seed, n_variables):
        self.mirrored = Mirrored(seed, n_variables)
        self.centers = np.random.default_rng(seed + 1).normal(size=(3, n_variables)) / 2

    def __call__(self, x):
        """The three objectives."""
        return jnp.stack([self.mirrored(x - center)[0] for center in self.centers])


def pairs(n, first_seed=9000):
    """Strongly convex objectives of one shape, two mirrored ones and three shifted ones: how many
    are at tolerance."""
    for make, label in ((Mirrored, "g(x), g(1 − x)"), (Shifted, "g(x − c_m), M = 3")):
        rows = []
        for seed in range(first_seed, first_seed + n):
            size = 2 + (seed % 3) + (make is Shifted)
            problem = make(seed, size)
            state, _ = run(problem, size)
            estimate = estimate_error(problem, state.surface, tol=1e-6, memory=state.memory)
            rows.append(
                (
                    estimate.relative,
                    not estimate.flags and not state.flags,
                    state.evaluations.objective,
                )
            )
        error, good, points = map(np.array, zip(*rows, strict=True))
        print(
            f"{label}: {good.sum()} of {n} at tolerance, largest estimate {error.max():.1e},"
            f" {np.median(points):.0f} points"
        )


class Rippled(eqx.Module):
    """Squared distances to points c_m with ripples of random height and width: many local minima,
    the global ones at c_m."""

    centers: np.ndarray
    height: np.ndarray
    width: np.ndarray

    def __init__(self, seed, n_objectives, n_variables):
        rng = np.random.default_rng(seed)
        self.centers = rng.normal(size=(n_objectives, n_variables)) + 3 * rng.normal(
            size=n_variables
        )
        self.height, self.width = (
            10 ** rng.uniform(-0.5, 1, n_objectives),
            rng.uniform(2, 8, n_objectives),
        )

    def __call__(self, x):
        """The objectives, 0 at their global minima."""
        away = x - jnp.asarray(self.centers)
        ripples = self.height * jnp.sum(
            1 - jnp.cos(2 * jnp.pi * away / jnp.asarray(self.width)[:, None]), axis=1
        )
        return jnp.sum(away**2, axis=1) + ripples


def basins(n, first_seed=9000):
    """How many runs end at corners that are not the global minima, and how many of those say that
    something is wrong.

    A corner is local if its objective is more than 1e-3 of the range over all corners above its
    minimum, which is 0.
    """
    print(
        "| exploration | problems | all corners global: no flag / flagged | some corner local:"
        " flagged / no flag |"
    )
    print("|---|---|---|---|")
    ignoring = replace(Schedule(), clear=np.inf)
    for label, schedule in (("ignored", ignoring), ("as it is", Schedule())):
        counts = {(local, loud): 0 for local in (False, True) for loud in (False, True)}
        for seed in range(first_seed, first_seed + n):
            n_objectives, n_variables = 2 + seed % 2, 2 + seed % 3
            problem = Rippled(seed, n_objectives, n_variables)
            state, _ = run(problem, n_variables, schedule)
            estimate = judged(problem, state, schedule)
            corners = np.asarray(state.surface(np.eye(n_objectives)))
            values = np.array([problem(x) for x in corners])
            local = bool((np.diagonal(values) > 1e-3 * np.ptp(values, axis=0)).any())
            counts[local, bool(estimate.flags or state.flags)] += 1
        print(
            f"| {label} | {n} | {counts[0, 0]} / {counts[0, 1]} | {counts[1, 1]} /"
            f" {counts[1, 0]} |",
            flush=True,
        )


def gradient_equivalents(evaluations, n_objectives, n_variables):
    """What evaluations cost in gradients of one objective."""
    return n_objectives * (evaluations.jacobian + n_variables * evaluations.hessian)


def sensitivity_problems(n, first_seed=7000):
    """Random problems on which the schedule's numbers are varied; not those of the families."""
    for seed in range(first_seed, first_seed + n):
        yield random_quadratics(seed, 2, 3), 2, 3
        yield Mirrored(seed, 2), 2, 2
        yield Bent(random_quadratics(seed, 2, 4), "powers", seed), 2, 4
        yield random_quadratics(seed, 3, 3), 3, 3
        yield Bent(random_quadratics(seed, 3, 5), "powers", seed), 3, 5


def judge(problems, schedule):
    """Errors (estimated, relative) and costs of all problems under a schedule, and how many are
    good."""
    rows = []
    for problem, n_objectives, n_variables in problems:
        state, _ = run(problem, n_variables, schedule)
        estimate = judged(problem, state, schedule)
        cost = gradient_equivalents(state.evaluations, n_objectives, n_variables)
        rows.append((estimate.relative, cost, not estimate.flags and not state.flags))
    return np.array(rows, dtype=float).T


def scaled(value, factor):
    """A number of the schedule, or each of several, times a factor; whole numbers stay whole and
    above 0."""
    if isinstance(value, tuple):
        return tuple(scaled(one, factor) for one in value)
    return max(round(value * factor), 1) if isinstance(value, int) else value * factor


def sensitivity(n):
    """A row for each number of the schedule: what halving and doubling it changes."""
    problems = list(sensitivity_problems(n))
    usual = judge(problems, Schedule())
    print(f"{len(problems)} problems, {usual[2].sum():.0f} at tolerance\n")
    print(
        "| number | value | halved: error, cost, at tolerance | doubled: error, cost, at"
        " tolerance |"
    )
    print("|---|---|---|---|")
    for number in fields(Schedule):
        value, cells = getattr(Schedule(), number.name), []
        several = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(one, int | float) for one in several):  # sizes of memories
            continue
        for factor in (0.5, 2.0):
            schedule = replace(Schedule(), **{number.name: scaled(value, factor)})
            error, cost, good = judge(problems, schedule)
            worse = np.exp(np.mean(np.log(np.maximum(error, 1e-9) / np.maximum(usual[0], 1e-9))))
            cells.append(f"{worse:.2f}, {cost.sum() / usual[1].sum():.2f}, {good.sum():.0f}")
        shown = ", ".join(f"{one:.3g}" for one in several)
        print(f"| {number.name} | {shown} | {' | '.join(cells)} |", flush=True)


def main():
    print(
        "| problem | degree | two-sided max / diameter | estimated max / diameter | H + J |"
        " estimate | cold s | warm s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, problem in PROBLEMS.items():
        state, cold = run(problem, problem.n_variables)
        _, warm = run(problem, problem.n_variables)
        estimate = estimate_error(problem, state.surface, memory=state.memory)
        error = two_sided(problem, state.surface) / estimate.diameter
        print(
            f"| {name} | {state.surface.degree} | {error:.1e} | {estimate.relative:.1e} |"
            f" {state.evaluations.hessian} + {jacobians(state.evaluations)} |"
            f" {estimate.evaluations} | {cold:.1f} | {warm:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    tables = {"families": families, "pairs": pairs, "basins": basins, "sensitivity": sensitivity}
    tables[sys.argv[1]](int(sys.argv[2])) if sys.argv[1:2] else main()
