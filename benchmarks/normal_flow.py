"""How near the normal flow comes to exactly known Pareto sets, and at what cost.

`python benchmarks/normal_flow.py` for named problems, `python benchmarks/normal_flow.py families 20` for 20 random problems of
each family: the share that comes within 1e-5, and how many went wrong without a word.

Distances are the largest ones found, from the surface to the set and back, over the diameter. H counts points at which values,
gradients and Hessians of all objectives were computed, J those with values and gradients alone; the error estimate has its own.
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from bezierflow.bezier import project
from bezierflow.normal import Flag, NormalFlow, estimate_error
from bezierflow.problems import Fonseca, Quadratic, ScaledMED, SkewMED, SkewMMD, Warped


def random_quadratics(seed, n_objectives, n_variables, condition=10.0):
    rng = np.random.default_rng(seed)
    bases = [np.linalg.qr(rng.normal(size=(n_variables, n_variables)))[0] for _ in range(n_objectives)]
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


def run(problem, n_variables):
    flow = NormalFlow()
    began = time.perf_counter()
    state = flow.init(problem, np.zeros(n_variables))
    while not state.done:
        state, _ = flow.step(state)
    return state, time.perf_counter() - began


class Bent(eqx.Module):
    """A problem whose objectives are passed through increasing functions, scaled by 10^±6 and shifted: the set stays."""

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
        bent = {"powers": f ** jnp.asarray(self.powers), "logs": jnp.log1p(f), "exps": 1 - jnp.exp(-f / 10)}
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


def solve_family(n_objectives, n_variables, kind, seeds):
    """For each seed: error over diameter (two-sided), true over estimated error, H, J, and whether it failed without a word."""
    rows = []
    for seed in seeds:
        problem = random_quadratics(seed, n_objectives, n_variables)
        state, _ = run(Bent(problem, kind, seed) if kind else problem, n_variables)
        count = state.evaluations
        estimate = estimate_error(count.objectives, state.surface, tol=1e-6, evaluations=count.successor())
        error = two_sided(problem, state.surface, 100)
        loud = set(estimate.flags) | set(state.flags)
        silent = error > estimate.bound and error > 1e-3 * estimate.diameter and not loud - {Flag.NOT_AT_TOLERANCE}
        rows.append((error / estimate.diameter, error / max(estimate.max, 1e-300), count.n_hessian, jacobians(count), silent))
    return rows


def jacobians(count):
    """Points at which gradients were computed without Hessians."""
    return count.n_jacobian - count.n_hessian


def summary(n_objectives, n_variables, kind, rows):
    """A row of the table: errors at the 50 and 90 % quantiles and the worst, evaluations, and silent failures."""
    error, ratio, n_hessian, n_jacobian, silent = np.array(rows).T
    quantiles = " / ".join(f"{value:.0e}" for value in np.quantile(error, [0.5, 0.9, 1]))
    worst = ratio[error > 1e-8].max(initial=0)
    return (
        f"| M={n_objectives} L={n_variables} {kind or 'plain'} | {len(rows)} | {quantiles} | {np.mean(error < 1e-5):.0%} "
        f"| {np.median(n_hessian):.0f} + {np.median(n_jacobian):.0f} | {worst:.1f} | {silent.sum():.0f} |"
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
    print("| family | problems | error: median / 90 % / worst | within 1e-5 | H + J | worst true/estimated | silent |")
    print("|---|---|---|---|---|---|---|")
    seeds = [range(first, min(first + chunk, first_seed + n)) for first in range(first_seed, first_seed + n, chunk)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        parts = {family: [pool.submit(solve_family, *family, part) for part in seeds] for family in reversed(FAMILIES)}
        for family in FAMILIES:
            print(summary(*family, [row for part in parts[family] for row in part.result()]), flush=True)


def main():
    print("| problem | degree | two-sided max / diameter | estimated max / diameter | H + J | estimate H + J | cold s | warm s |")
    print("|---|---|---|---|---|---|---|---|")
    for name, problem in PROBLEMS.items():
        state, cold = run(problem, problem.n_variables)
        _, warm = run(problem, problem.n_variables)
        ran, checked = state.evaluations, state.evaluations.successor()
        estimate = estimate_error(problem, state.surface, evaluations=checked)
        error = two_sided(problem, state.surface) / estimate.diameter
        print(
            f"| {name} | {state.surface.degree} | {error:.1e} | {estimate.relative:.1e} "
            f"| {ran.n_hessian} + {jacobians(ran)} | {checked.n_hessian} + {jacobians(checked)} | {cold:.1f} | {warm:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    families(int(sys.argv[2])) if sys.argv[1:2] == ["families"] else main()
