"""Two banded quadratics of a million variables and more on an accelerator: `python
benchmarks/large_gpu.py [L ...]`.

One JSON line for each L (1e6 and 1e7 where none is given): seconds of the second, compiled run; the
bytes that its long arrays move by the model below, over these seconds; the bandwidth of conjugate
gradients alone, which make the steady state; that of a copy on the same device; and the largest
distance to the exact Pareto set over its diameter.

The model, in numbers of the long arrays' precision. A step of conjugate gradients at one node reads
and writes x, d, r, p, z, Hp (10 passes), U twice for each of its two projections (4(M − 1)), the
preconditioner's product (1), and what a product of the Hessian reads of the problem: M·(bands + 1)
arrays and p and x, and writes Hp (M·4 + 3 for two side bands).
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import jax
import jax.numpy as jnp
import numpy as np
from benchmarks.banded import Banded, banded, on_device

import bezierflow as bf
from bezierflow.normal import Layout, LongEvaluator, Systems
from bezierflow.precision import double_precision

M, TOL = 2, 1e-4
ITEM = 4
"""Bytes of a float32."""


def copy_bandwidth(n: int = 2**28) -> float:
    """Bytes a second of x + 1 into a new array: one read and one write of each number."""
    n = n if jax.default_backend() != "cpu" else 2**22
    add = jax.jit(lambda x: x + 1)
    x = add(jnp.zeros(n, jnp.float32)).block_until_ready()
    began = time.perf_counter()
    for _ in range(20):
        x = add(x)
    x.block_until_ready()
    return 20 * 2 * n * ITEM / (time.perf_counter() - began)


def passes(n_bands: int) -> int:
    """Numbers that move for each variable of each node in one step of conjugate gradients."""
    return 10 + 4 * (M - 1) + 1 + M * (n_bands + 1) + 3


def steady_bandwidth(problem: Banded, n_variables: int) -> tuple[float, float]:
    """Bytes a second by the model of 40 steps of conjugate gradients at a chunk of nodes, and
    seconds of one step."""
    layout = Layout("float32")
    n, steps = layout.chunk(M, n_variables), 40
    with double_precision():
        share = np.linspace(0.1, 0.9, n)
        x = jnp.asarray(share, jnp.float32)[:, None] * jnp.asarray(problem.centers[0]) + 0.1
        evaluator = LongEvaluator(problem, M, n_variables, layout, "free")
        _, gradients, _ = evaluator.look(x, n)
        w = np.stack([share, 1 - share], axis=1) / np.sqrt(n_variables)
        zero = np.zeros(n)
        # A residual of 0 is never reached: every node makes all steps.
        systems = Systems(w, -w, np.zeros((n, 1, M)), zero, zero, zero)
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            evaluator.solve(x, gradients, systems, None, n, steps).d.block_until_ready()
            seconds.append(time.perf_counter() - began)
    moved = ITEM * steps * n * n_variables * passes(problem.bands.shape[1])
    return moved / min(seconds), min(seconds) / steps


def true_error(problem: Banded, solution: bf.Solution, n: int = 12) -> float:
    """The largest distance of n points of the surface to the exact set, over the diameter."""
    surface, diameter = (
        solution.pareto_set,
        float(np.linalg.norm(problem.centers[0] - problem.centers[1])),
    )
    t = np.linspace(0.04, 0.96, n)
    points = surface(np.stack([t, 1 - t], axis=1))
    return (
        max(
            problem.distance(np.asarray(x, dtype=float), np.array([s, 1 - s]))
            for s, x in zip(t, points, strict=True)
        )
        / diameter
    )


def measure(n_variables: int, n_checked: int) -> dict[str, object]:
    """One row."""
    problem = banded(M, n_variables, dtype="float32")
    on = on_device(problem)
    flow = bf.NormalFlow(tol=TOL, hessian="free", dtype="float32")
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        solution = bf.minimize(on, np.zeros(n_variables, np.float32), flow)
        seconds.append(time.perf_counter() - began)
    products = int(solution.stats.evaluations.jacobian) + solution.error.evaluations
    moved = ITEM * products * n_variables * passes(problem.bands.shape[1])
    steady, step = steady_bandwidth(on, n_variables)
    copy = copy_bandwidth()
    return {
        "L": n_variables,
        "device": jax.devices()[0].device_kind,
        "first_seconds": round(seconds[0], 2),
        "seconds": round(seconds[1], 2),
        "reason": solution.result.reason.value,
        "degree": solution.degree,
        "products": products,
        "model_bytes": moved,
        "run_GBps": round(moved / seconds[1] / 1e9, 1),
        "step_seconds": step,
        "steady_GBps": round(steady / 1e9, 1),
        "copy_GBps": round(copy / 1e9, 1),
        "steady_share": round(steady / copy, 3),
        "estimate": float(f"{solution.error.relative:.2e}"),
        "error": float(f"{true_error(problem, solution, n_checked):.2e}"),
    }


if __name__ == "__main__":
    for size in [int(float(part)) for part in sys.argv[1:]] or [1_000_000, 10_000_000]:
        print(json.dumps(measure(size, 12 if size <= 1_000_000 else 2)), flush=True)
