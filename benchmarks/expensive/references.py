"""Makes the files of true fronts: `python -m benchmarks.expensive.references [problem ...]`.

The exact formulas go through `bezierflow.minimize`, with gradients and as many evaluations as it takes; points of a long run of
pymoo's NSGA-III from the peers' environment, where it is, may only confirm them (`check` in the file is the largest share of a
range by which one of its points is better than all of ours in every objective).
"""

import json
import sys

import jax.numpy as jnp
import numpy as np

import bezierflow as bf

from .problems import FRONTS, PROBLEMS, Expensive

N_POINTS = {2: 1000, 3: 1500}
"""Points of the true front that are kept."""


def make(problem: Expensive) -> None:
    """Solves, measures and writes."""
    solution = bf.minimize(lambda x: jnp.stack(problem.formula(x, jnp)), None, bounds=problem.bounds)
    F = np.asarray(solution.spread(N_POINTS[problem.n_objectives]).F)
    ideal, nadir = F.min(axis=0), F.max(axis=0)
    volume = bf.metrics.hypervolume(solution, nadir + 0.1 * (nadir - ideal))
    data = {
        "ideal": ideal.tolist(),
        "nadir": nadir.tolist(),
        "volume": float(volume / np.prod(nadir - ideal)),
        "volume_error": float(volume.error / np.prod(nadir - ideal)),
        "front": np.round(F, 12).tolist(),
    }
    FRONTS.mkdir(exist_ok=True)
    (FRONTS / f"{problem.name}.json").write_text(json.dumps(data) + "\n")
    print(problem.name, solution.result, "volume", data["volume"], "±", data["volume_error"], flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or PROBLEMS:
        make(PROBLEMS[name])
