"""Many variables: `python -m benchmarks.large PATH [L ...]`, `… threshold`, `… cost`, `… plot`, `…
digits [PATH ...]`.

PATH is "dense", "free", "none" (see `NormalFlow.hessian`) or "auto". Each row is a run on three
banded quadratics: seconds of a first run with compilation and of a second one, processor seconds of
the second, the largest memory by then, gradient-equivalents for each objective (of the run, without
the error estimate), and the largest distance of the surface to the exact set and of exact points to
the surface, both over the diameter. Rows are appended to `benchmarks/results/large.csv`.

From 2,000 variables on the tolerance is 5e-4, below it is the default, 1e-6. `LARGE_LABEL` in the
environment names the rows otherwise than by their path: the same command with the sources of an
earlier version gave those called "dense before".

"threshold" compares the dense and the free path at each L in the default tolerance, "cost" runs the
free path at one tolerance, 5e-4, for every L, and "plot" draws the latest row of each L in that
tolerance. "digits" is softmax regression on scikit-learn's digits; `digits free` runs one path
alone, where the other, which takes many minutes of a processor, was run before or elsewhere.
"""

import csv
import os
import resource
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from benchmarks.banded import Banded, banded
from scipy.optimize import nnls

import bezierflow as bf
from bezierflow.bezier import project

RESULTS = Path(__file__).parent / "results" / "large.csv"
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "large.png"
KEPT = Path("output") / "large"
COLUMNS = (
    "problem", "L", "path", "tol", "first_seconds", "seconds", "cpu_seconds", "megabytes", "degree", "estimate", "to_set",
    "from_set", "gradient_equivalents", "reason",
)  # fmt: skip
LOOSE, MANY = 5e-4, 2000
COSTS = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
M = 3


def flow(path: str, tol: float) -> object:
    """The flow of this name; an earlier version has none to choose from."""
    try:
        return bf.NormalFlow(tol=tol, hessian=path)
    except TypeError:
        return bf.NormalFlow(tol=tol)


def distances(problem: Banded, solution: bf.Solution, n: int = 24) -> tuple[float, float]:
    """The largest distance of points of the surface to the exact set, and of exact points to the
    surface."""
    rng = np.random.default_rng(3)
    t = np.concatenate(
        [
            rng.dirichlet(np.ones(M), n),
            *(np.insert(rng.dirichlet(np.ones(2), n // 6), k, 0.0, axis=1) for k in range(M)),
        ]
    )
    points, to_set = np.asarray(solution.pareto_set(t), dtype=float), []
    for x in points:
        slopes = np.stack(
            [problem.applied(np.eye(M)[m], x - np.asarray(problem.centers)) for m in range(M)],
            axis=1,
        )
        scale = np.linalg.norm(slopes)
        w = nnls(np.vstack([slopes / scale, np.ones(M)]), np.append(np.zeros(len(x)), 1.0))[0]
        to_set.append(problem.distance(x, w / w.sum()))
    exact = np.stack([problem.minimizer(w) for w in rng.dirichlet(np.ones(M), n)])
    return max(to_set), float(project(solution.pareto_set, exact)[1].max())


def measure(
    n_variables: int, path: str, tol: float | None = None, name: str = "banded"
) -> dict[str, object]:
    """One row."""
    problem = banded(M, n_variables)
    tol = tol or (LOOSE if n_variables >= MANY else 1e-6)
    seconds = []
    for _ in range(2):
        began, processor = time.perf_counter(), time.process_time()
        solution = bf.minimize(problem, np.zeros(n_variables), flow(path, tol))
        seconds.append((time.perf_counter() - began, time.process_time() - processor))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    corners = np.stack([problem.minimizer(w) for w in np.eye(M)])
    diameter = np.linalg.norm(corners[:, None] - corners[None], axis=2).max()
    to_set, from_set = (found / diameter for found in distances(problem, solution))
    spent = solution.gradient_equivalents / M
    label = os.environ.get("LARGE_LABEL", path)
    return dict(
        zip(
            COLUMNS,
            (name, n_variables, label, tol, f"{seconds[0][0]:.1f}", f"{seconds[1][0]:.1f}", f"{seconds[1][1]:.1f}", f"{memory:.0f}",
             solution.degree, f"{solution.error.relative:.1e}", f"{to_set:.1e}", f"{from_set:.1e}", f"{spent:.0f}",
             solution.result.reason.value),
            strict=True,
        )
    )  # fmt: skip


def digits_objectives() -> tuple[object, int]:
    """Softmax regression on scikit-learn's digits: the mean losses of three groups of classes, with
    a small ridge."""
    from sklearn.datasets import load_digits

    data = load_digits()
    X, y = data.data / 16, data.target
    groups = [np.isin(y, classes) for classes in ((0, 1, 2), (3, 4, 5), (6, 7, 8, 9))]

    def objectives(x: jax.Array) -> jax.Array:
        scores = jnp.asarray(X) @ x[:640].reshape(64, 10) + x[640:]
        losses = jax.nn.logsumexp(scores, axis=1) - scores[jnp.arange(len(y)), y]
        ridge = 0.005 * jnp.sum(x**2)
        return jnp.stack([jnp.mean(losses[np.flatnonzero(group)]) + ridge for group in groups])

    return objectives, 650


def digits(paths: list[str], kept: Path) -> None:
    """The same call by these paths, and how far their surfaces are apart at fresh t.

    In the default degree, 12, edges of the set are missed by 1.5e-4. Surfaces are kept in a folder,
    so that the paths may be run apart from each other.
    """
    objectives, n_variables = digits_objectives()
    kept.mkdir(parents=True, exist_ok=True)
    for path in paths:
        processor = time.process_time()
        solution = bf.minimize(
            objectives, np.zeros(n_variables), bf.NormalFlow(tol=1e-4, hessian=path, max_degree=16)
        )
        cells = ("digits", n_variables, path, 1e-4, f"{solution.stats.seconds:.1f}", "", f"{time.process_time() - processor:.1f}", "",
                 solution.degree, f"{solution.error.relative:.1e}", "", "", f"{solution.gradient_equivalents / M:.0f}",
                 solution.result.reason.value)  # fmt: skip
        append(dict(zip(COLUMNS, cells, strict=True)))
        solution.save(kept / f"digits_{path}.bez")
    if not all((kept / f"digits_{path}.bez").exists() for path in ("dense", "free")):
        return
    dense, free = (bf.load(kept / f"digits_{path}.bez") for path in ("dense", "free"))
    t = np.random.default_rng(0).dirichlet(np.ones(M), 60)
    pairs = ((dense.pareto_set, free.pareto_set), (free.pareto_set, dense.pareto_set))
    ways = [project(a, np.asarray(b(t)))[1].max() / dense.error.diameter for a, b in pairs]
    print(f"free to dense {ways[0]:.1e}, dense to free {ways[1]:.1e} of the diameter")


def append(row: dict[str, object]) -> None:
    """Adds a row to the results."""
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(row, flush=True)


def threshold(sizes: list[int]) -> None:
    """The dense and the free path at each L, in the tolerance that is the default."""
    lines = []
    for L in sizes:
        both = [measure(L, path, 1e-6, "threshold") for path in ("dense", "free")]
        for row in both:
            append(row)
        errors = [max(float(str(row["to_set"])), float(str(row["from_set"]))) for row in both]
        cells = [
            f"{row['first_seconds']} | {row['cpu_seconds']} | {error:.1e}"
            for row, error in zip(both, errors, strict=True)
        ]
        lines.append(f"| {L} | {' | '.join(cells)} |")
    print("\n".join(lines))


def plot() -> None:
    """Processor seconds of compiled runs and gradient-equivalents against L, with the slope and a
    line of slope 1."""
    import matplotlib.pyplot as plt

    with RESULTS.open() as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["path"], float(row["tol"])) == ("free", LOOSE)
        ]
    own = {int(row["L"]): row for row in rows}
    sizes = np.array(sorted(own))
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.6), layout="constrained")
    names = {
        "cpu_seconds": "processor seconds, compiled",
        "gradient_equivalents": "gradient-equivalents for each objective",
    }
    for ax, (column, label) in zip(axes, names.items(), strict=True):
        cost = np.array([float(own[L][column]) for L in sizes])
        many = sizes >= MANY
        slope = np.polyfit(np.log(sizes[many]), np.log(cost[many]), 1)[0]
        print(f"{label}: slope {slope:.2f} from L = {MANY} on")
        ax.loglog(
            sizes, cost, "o-", label=f"free, tol {LOOSE:g}: slope {slope:.2f} from L = {MANY:,} on"
        )
        if column == "cpu_seconds":
            ax.loglog(sizes, cost[-1] * sizes / sizes[-1], "--", color="gray", label="slope 1")
        else:
            ax.set_ylim(100, 10_000)
        ax.set(xlabel="variables L", ylabel=label)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False)
    figure.suptitle("Three banded quadratics, condition 10")
    figure.savefig(PICTURE, dpi=110)


def main(arguments: list[str]) -> None:
    """See the top of this file."""
    if arguments[0] == "plot":
        plot()
        return
    if arguments[0] == "digits":
        digits(arguments[1:] or ["dense", "free"], KEPT)
        return
    sizes = [int(size) for size in arguments[1:]]
    if arguments[0] == "threshold":
        threshold(sizes or [50, 100, 200, 300])
        return
    for size in sizes or COSTS:
        append(
            measure(size, "free", LOOSE) if arguments[0] == "cost" else measure(size, arguments[0])
        )


if __name__ == "__main__":
    main(sys.argv[1:])
