"""One surface of networks against separately trained networks: overlaid digits, a label for each
digit, one loss a label.

    python -m benchmarks.networks [--small] [--csv benchmarks/results/networks.csv]

Each image shows two (or three) of scikit-learn's digits, overlaid; the tasks are to read the left,
the right (the middle) one. A small multilayer network (6,356 weights for two tasks) is trained with
Adam and a cosine schedule on batches of 256 images, by the same total number of batch gradients: as
one surface of degree 1, 2, 3 whose t are drawn anew in each step, or as separate networks, one for
each of 11 (or 15) weights. A second row of separate networks has 5.5 times as many gradients. What
counts is the hypervolume of the test losses at those weights, up to 1.5 in each: over all seeds,
for each learning rate. One row is a surface that is refitted instead of pulled back. Networks,
seeds and rates run side by side (vmap), steps in one scan: minutes on a GPU, hours on two cores;
`--small` is a tenth of the gradients with 2 seeds and one rate.
"""

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits

import bezierflow as bf

BATCH, HIDDEN, N_CLASSES, WORST, LONGER = 256, 32, 10, 1.5, 5.5
N_TRAIN, TRAIN_IMAGES, TEST_IMAGES = 1300, 60_000, 10_000
"""How many of the 1,797 digits are for training, and how many images are made of them and of the
others."""

RESULTS = Path(__file__).parent / "results" / "networks.csv"


class Overlaid(NamedTuple):
    """Images (n, pixels) and the labels of their digits (n, tasks)."""

    images: jax.Array
    labels: jax.Array


class Plan(NamedTuple):
    """How much is trained."""

    n_tasks: int
    gradients: int
    seeds: int
    rates: tuple[float, ...]

    @property
    def weights(self) -> np.ndarray:
        """11 weights for two tasks, 15 for three."""
        return bf.simplex.grid(self.n_tasks, 10 if self.n_tasks == 2 else 4)

    @property
    def n_samples(self) -> int:
        """N: gradients in a step of a surface."""
        return 2 * self.n_tasks

    def runs(self) -> tuple[jax.Array, jax.Array]:
        """Every rate with every seed."""
        rates, seeds = np.meshgrid(self.rates, np.arange(self.seeds), indexing="ij")
        return jnp.asarray(rates.ravel(), jnp.float32), jnp.asarray(seeds.ravel(), jnp.uint32)


def overlaid(digits: np.ndarray, labels: np.ndarray, n_tasks: int, n: int, seed: int) -> Overlaid:
    """Each next digit four pixels further right and down; where two overlap the brighter pixel is
    seen."""
    chosen = np.random.default_rng(seed).integers(len(digits), size=(n_tasks, n))
    size = 8 + 4 * (n_tasks - 1)
    images = np.zeros((n, size, size), np.float32)
    for task, which in enumerate(chosen):
        part = images[:, 4 * task : 4 * task + 8, 4 * task : 4 * task + 8]
        np.maximum(part, digits[which], out=part)
    return Overlaid(jnp.asarray(images.reshape(n, -1)), jnp.asarray(labels[chosen].T))


def data(n_tasks: int) -> tuple[Overlaid, Overlaid]:
    """Images for training and for testing, of different digits."""
    digits, labels = load_digits(return_X_y=True)
    digits = digits.reshape(-1, 8, 8).astype(np.float32) / 16
    order = np.random.default_rng(0).permutation(len(digits))
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    made = [(train, TRAIN_IMAGES, 1), (test, TEST_IMAGES, 2)]
    return tuple(overlaid(digits[part], labels[part], n_tasks, n, seed) for part, n, seed in made)  # type: ignore[return-value]


def network(key: jax.Array, n_pixels: int, n_tasks: int) -> list:
    """Weights and biases of two hidden layers, He's initialization."""
    sizes = [n_pixels, HIDDEN, HIDDEN, N_CLASSES * n_tasks]
    shapes = list(pairwise(sizes))
    keys = jax.random.split(key, len(shapes))
    scales = [np.float32(np.sqrt(2 / shape[0])) for shape in shapes]
    weights = [
        jax.random.normal(key, shape) * scale
        for key, shape, scale in zip(keys, shapes, scales, strict=True)
    ]
    return [(W, jnp.zeros(W.shape[1])) for W in weights]


def losses(x: list, seen: Overlaid) -> jax.Array:
    """The mean cross-entropy of each task."""
    h = seen.images
    for W, b in x[:-1]:
        h = jax.nn.relu(h @ W + b)
    logits = (h @ x[-1][0] + x[-1][1]).reshape(len(h), -1, N_CLASSES)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), seen.labels[..., None], axis=-1)[
        ..., 0
    ].mean(axis=0)


def batch(train: Overlaid, key: jax.Array) -> Overlaid:
    chosen = jax.random.randint(key, (BATCH,), 0, len(train.images))
    return Overlaid(train.images[chosen], train.labels[chosen])


def train_surface(plan: Plan, degree: int, refit: bf.flows.AbstractRefit) -> Callable:
    """(images, rate, seed) -> the networks of one surface at all weights."""
    n_steps = plan.gradients // plan.n_samples

    def trained(train: Overlaid, rate: jax.Array, seed: jax.Array) -> list:
        optimizer = optax.adam(optax.cosine_decay_schedule(1.0, n_steps))
        method = bf.Optax(optax.chain(optimizer, optax.scale(rate)))
        flow = bf.lift(method, degree, bf.Stratified(plan.n_samples), refit=refit).stochastic()
        start = network(jax.random.key(seed), train.images.shape[1], plan.n_tasks)
        state = flow.init(losses, bf.BezierSimplex.constant(start, plan.n_tasks, 0), seed)
        objectives = lambda x, key: losses(x, batch(train, key))
        state, _ = jax.lax.scan(
            lambda state, _: (flow.step(objectives, state)[0], None), state, length=n_steps
        )
        return flow.surface(state)(jnp.asarray(plan.weights, jnp.float32))

    return trained


def train_apart(plan: Plan, gradients: int) -> Callable:
    """(images, rate, seed) -> one network for each of the weights, each trained alone from the same
    start."""
    n_steps = int(gradients // len(plan.weights))

    def trained(train: Overlaid, rate: jax.Array, seed: jax.Array) -> list:
        optimizer = optax.chain(
            optax.adam(optax.cosine_decay_schedule(1.0, n_steps)), optax.scale(rate)
        )
        start = network(jax.random.key(seed), train.images.shape[1], plan.n_tasks)

        def one(w: jax.Array, key: jax.Array) -> list:
            def step(carry: tuple, key: jax.Array) -> tuple:
                x, state = carry
                gradient = jax.grad(lambda x: w @ losses(x, batch(train, key)))(x)
                updates, state = optimizer.update(gradient, state, x)
                return (optax.apply_updates(x, updates), state), None

            return jax.lax.scan(
                step, (start, optimizer.init(start)), jax.random.split(key, n_steps)
            )[0][0]

        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), 1), len(plan.weights))
        return jax.vmap(one)(jnp.asarray(plan.weights, jnp.float32), keys)

    return trained


def measured(
    plan: Plan, method: str, gradients: int, trained: Callable, images: tuple[Overlaid, Overlaid]
) -> list[dict]:
    """One row for each rate: mean, spread and range of the hypervolume over seeds."""
    # given to the compiled programs: as constants of them they would take minutes to compile
    train, test = images
    began = time.perf_counter()
    rates, seeds = plan.runs()
    networks = jax.jit(jax.vmap(trained, (None, 0, 0)))(train, rates, seeds)
    each = jax.vmap(losses, (0, None))
    values = jax.jit(lambda networks, test: jax.lax.map(lambda x: each(x, test), networks))(
        networks, test
    )
    F = np.asarray(values).reshape(len(plan.rates), plan.seeds, len(plan.weights), plan.n_tasks)
    seconds = time.perf_counter() - began
    rows = []
    for rate, of_rate in zip(plan.rates, F, strict=True):
        volumes = np.array(
            [float(bf.metrics.hypervolume(one, np.full(plan.n_tasks, WORST))) for one in of_rate]
        )
        middle = of_rate[:, len(plan.weights) // 2].mean()
        rows.append(
            {
                "tasks": plan.n_tasks,
                "method": method,
                "gradients": gradients,
                "rate": rate,
                "seeds": plan.seeds,
                "hypervolume": round(float(volumes.mean()), 4),
                "std": round(float(volumes.std(ddof=1)) if plan.seeds > 1 else 0.0, 4),
                "least": round(float(volumes.min()), 4),
                "most": round(float(volumes.max()), 4),
                "middle_loss": round(float(middle), 4),
                "seconds": round(seconds, 1),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def compared(plan: Plan) -> list[dict]:
    """All methods on the same data."""
    images = data(plan.n_tasks)
    n = len(plan.weights)
    rows: list[dict] = []
    for degree in (1, 2, 3):
        trained = train_surface(plan, degree, bf.PullBack())
        rows += measured(plan, f"surface of degree {degree}", plan.gradients, trained, images)
    trained = train_surface(plan, 1, bf.LeastSquares())
    rows += measured(plan, "surface of degree 1, refitted", plan.gradients, trained, images)
    for gradients in (plan.gradients, int(LONGER * plan.gradients)):
        rows += measured(plan, f"{n} networks", gradients, train_apart(plan, gradients), images)
    return rows


def table(rows: list[dict]) -> str:
    """The row of the best rate for each method, as Markdown."""
    best: dict[tuple, dict] = {}
    for row in sorted(rows, key=lambda row: row["hypervolume"]):
        best[row["tasks"], row["method"], row["gradients"]] = row
    lines = [
        "| tasks | trained | gradients | rate | hypervolume | std over seeds |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        if best[row["tasks"], row["method"], row["gradients"]] is row:
            figures = (
                f"{row['gradients']:,} | {row['rate']} | {row['hypervolume']:.3f} |"
                f" {row['std']:.3f}"
            )
            lines.append(f"| {row['tasks']} | {row['method']} | {figures} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="1,200 gradients, 2 seeds, one rate")
    parser.add_argument("--tasks", type=int, nargs="+", default=[2, 3])
    parser.add_argument(
        "--csv",
        type=Path,
        default=None,
        help=f"where the table goes; the whole one is kept in {RESULTS.name}",
    )
    asked = parser.parse_args()
    size = (1200, 2, (0.004,)) if asked.small else (12_000, 5, (0.001, 0.002, 0.004, 0.008))
    rows = [row for n_tasks in asked.tasks for row in compared(Plan(n_tasks, *size))]
    print(table(rows), file=sys.stderr)
    if asked.csv is not None:
        with asked.csv.open("w", newline="") as file:
            command = f"python -m benchmarks.networks{' --small' if asked.small else ''}"
            file.write(f"# {command}; jax {jax.__version__} on {jax.devices()[0].device_kind}\n")
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
