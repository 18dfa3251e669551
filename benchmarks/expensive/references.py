"""Makes the files of true fronts.

    python -m benchmarks.expensive.references [problem ...]
    python -m benchmarks.expensive.references population re33   # adds a long run of pymoo's NSGA-II to a file that is there

ZDT1 and DTLZ2 have closed forms. The others go through `bezierflow.minimize`, with gradients and as
many evaluations as it takes. Its answer for RE33 is in doubt (it says so), which is why a
population is added there: its front is what is best known, no more.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

import bezierflow as bf

from .problems import FRONTS, PROBLEMS, Expensive

N_POINTS = {2: 1000, 3: 1500}
"""Points of the true front that are kept."""

N_DENSE = (5_000, 20_000)
"""Points of fronts of three objectives, from which the hypervolume of the whole front is
extrapolated."""


def set_of_zdt1(n: int) -> np.ndarray:
    return np.column_stack([np.linspace(0, 1, n) ** 2, np.zeros((n, 5))])


def set_of_dtlz2(n: int) -> np.ndarray:
    from scipy.stats import qmc

    angles = qmc.Sobol(2, rng=np.random.default_rng(0)).random(n)
    # Evenly on the sphere: the height sin(a) is uniform.
    return np.column_stack(
        [np.arcsin(angles[:, 0]) * 2 / np.pi, angles[:, 1], np.full((n, 4), 0.5)]
    )


CLOSED_FORMS: dict[str, Callable[[int], np.ndarray]] = {"zdt1": set_of_zdt1, "dtlz2": set_of_dtlz2}


def make(problem: Expensive) -> None:
    """Solves, measures and writes."""
    if problem.name in CLOSED_FORMS:
        designs = CLOSED_FORMS[problem.name]
        write(problem, lambda n: problem.values(designs(n)))
        return
    M = problem.n_objectives
    solution = bf.minimize(
        lambda x: jnp.stack(problem.formula(x, jnp)[:M]),
        None,
        bounds=problem.bounds,
        constraints=(lambda x: jnp.stack(problem.formula(x, jnp)[M:]))
        if problem.n_constraints
        else None,
        variables=dict.fromkeys(problem.whole, bf.Integer()) or None,
    )
    print(problem.name, solution.result, flush=True)

    front = np.asarray(solution.spread(N_POINTS[M]).F)
    ideal, nadir = front.min(axis=0), front.max(axis=0)
    whole, box = (
        bf.metrics.hypervolume(solution, nadir + 0.1 * (nadir - ideal)),
        float(np.prod(nadir - ideal)),
    )
    save(
        problem,
        {"volume": float(whole) / box, "volume_error": whole.error / box},
        front,
        ideal,
        nadir,
    )


def write(problem: Expensive, points: Callable[[int], np.ndarray]) -> None:
    """The file, from a function that gives so many points of the front."""
    import moocore

    few, many = (
        (f := points(n))[np.asarray(moocore.is_nondominated(f, keep_weakly=False))] for n in N_DENSE
    )
    ideal, nadir = many.min(axis=0), many.max(axis=0)
    z = (many - ideal) / (nadir - ideal)
    if problem.n_objectives == 2:
        order = np.argsort(z[:, 0])
        volume, error = float(np.trapezoid(1.1 - z[order, 1], z[order, 0]) + 0.11), 1e-5
    else:
        volumes = [
            float(moocore.hypervolume((f - ideal) / (nadir - ideal), ref=np.full(3, 1.1)))
            for f in (few, many)
        ]
        # what n points miss is proportional to n^(−1/2), and the second n is fourfold
        volume = 2 * volumes[1] - volumes[0]
        error = (volumes[1] - volumes[0]) / 5
    keep = spread(z, N_POINTS[problem.n_objectives])
    save(
        problem,
        {"volume": volume, "volume_error": error},
        z[keep] * (nadir - ideal) + ideal,
        ideal,
        nadir,
    )


def spread(z: np.ndarray, n: int) -> np.ndarray:
    """Rows far from each other, the ends among them."""
    chosen = list(dict.fromkeys(int(i) for i in z.argmin(axis=0)))
    away = np.min([np.linalg.norm(z - z[i], axis=1) for i in chosen], axis=0)
    while len(chosen) < min(n, len(z)):
        chosen.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(z - z[chosen[-1]], axis=1))
    return np.array(chosen)


def save(
    problem: Expensive,
    data: dict[str, Any],
    front: np.ndarray,
    ideal: np.ndarray,
    nadir: np.ndarray,
) -> None:
    FRONTS.mkdir(exist_ok=True)
    whole = {
        "ideal": ideal.tolist(),
        "nadir": nadir.tolist(),
        **data,
        "front": np.round(front, 9).tolist(),
    }
    (FRONTS / f"{problem.name}.json").write_text(json.dumps(whole) + "\n")
    print(problem.name, data, flush=True)


def add_population(problem: Expensive) -> None:
    """The nondominated points of the file and of 60,000 evaluations of NSGA-II; their volume, not
    extrapolated."""
    import moocore
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize

    class Vectorized(Problem):
        def __init__(self):
            low, high = problem.bounds
            super().__init__(n_var=problem.n_variables, n_obj=problem.n_objectives, xl=low, xu=high)

        def _evaluate(self, x, out, *args, **kwargs):
            out["F"] = problem.rows(x)

    found = minimize(Vectorized(), NSGA2(pop_size=600), ("n_gen", 100), seed=0).F
    own = problem.reference["front"]
    both = np.vstack([own, found])
    both = both[np.asarray(moocore.is_nondominated(both, keep_weakly=False))]
    print(
        f"{len(own)} points of the file and {len(found)} of NSGA-II, {len(both)} of them"
        " nondominated",
        flush=True,
    )
    ideal, nadir = both.min(axis=0), both.max(axis=0)
    volume = float(
        moocore.hypervolume(
            (both - ideal) / (nadir - ideal), ref=np.full(problem.n_objectives, 1.1)
        )
    )
    save(problem, {"volume": volume, "volume_error": None}, both, ideal, nadir)


if __name__ == "__main__":
    if sys.argv[1:2] == ["population"]:
        for name in sys.argv[2:]:
            add_population(PROBLEMS[name])
    else:
        for name in sys.argv[1:] or PROBLEMS:
            make(PROBLEMS[name])
