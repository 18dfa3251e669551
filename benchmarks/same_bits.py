"""The same bits whatever the number of threads: one problem, solved and asked, in processes with 1,
2 and 4 threads.

python benchmarks/same_bits.py
"""

import hashlib
import os
import subprocess
import sys

THREADS = (1, 2, 4)


def solve_and_ask() -> str:
    """A hash of everything that a run, questions, the error estimate and the fitted front give."""
    import jax.numpy as jnp
    import numpy as np

    import bezierflow as bf

    L, rng = 20, np.random.default_rng(0)
    factors, c = rng.normal(size=(3, L, L)), rng.normal(size=(3, L))
    H = factors @ factors.transpose(0, 2, 1) / L + np.eye(L)

    def f(x):
        return jnp.stack(
            [(x - c[m]) @ H[m] @ (x - c[m]) + 0.01 * jnp.sum((x - c[m]) ** 4) for m in range(3)]
        )

    solution = bf.minimize(f, np.zeros(L))
    limits = {1: (None, float(np.mean(solution.F[:, 1])))}
    answers = [
        bf.decisions.knee(solution),
        bf.decisions.best(solution, 0, limits),
        bf.decisions.locate(solution, np.zeros(L)),
    ]
    found = [
        solution.pareto_set.control_points,
        solution.X,
        solution.F,
        solution.fitted_front.surface.control_points,
    ]
    found += (
        [answer.t for answer in answers]
        + [answer.f for answer in answers]
        + [[solution.error.rms, solution.error.max]]
    )
    return hashlib.sha256(b"".join(np.asarray(part).tobytes() for part in found)).hexdigest()[:16]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(solve_and_ask())
        raise SystemExit
    hashes = []
    for n in THREADS:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(n), "OMP_NUM_THREADS": str(n)}
        once = [sys.executable, __file__, "once"]
        hashes.append(
            subprocess.run(
                once, env=environment, stdout=subprocess.PIPE, text=True, check=True
            ).stdout.strip()
        )
        print(f"{n} threads: {hashes[-1]}")
    raise SystemExit(len(set(hashes)) > 1)
