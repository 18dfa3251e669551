"""Evaluation, fitting and Algorithm 2 against pytorch-bsf and NumPy, side by side in one run.

Run it with `make bench`: bezierflow and pytorch-bsf are installed in one environment, and the
contestants take turns, so that whatever else the machine does hits all alike. What is reported are
the best of several rounds, and their ratios.
"""

import argparse
import csv
import importlib.metadata
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch_bsf

import bezierflow as bf
from bezierflow.bezier import design_matrix

RESULTS = Path(__file__).parent / "results" / "peers.csv"


def race(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The best time of each contestant over rounds in which they take turns, after one round that
    does not count."""
    best = dict.fromkeys(contestants, np.inf)
    for number in range(rounds + 1):
        for name, run in contestants.items():
            began = time.perf_counter()
            run()
            if number:
                best[name] = min(best[name], time.perf_counter() - began)
    return best


def evaluation(rounds: int) -> dict[str, float]:
    """One million points of a degree-3 surface of three objectives into R³."""
    rng = np.random.default_rng(0)
    t, points = rng.dirichlet(np.ones(3), 1_000_000), rng.normal(size=(10, 3))
    surface = bf.BezierSimplex(points, 3, 3)
    model = torch_bsf.BezierModel(torch_bsf.BezierSpace.simplex(2, degree=3), torch.tensor(points))
    torch_t = torch.tensor(t)
    with torch.no_grad():
        np.testing.assert_allclose(model(torch_t).numpy(), surface(t), atol=1e-12)
        return race(
            {"bezierflow": lambda: surface(t), "pytorch-bsf": lambda: model(torch_t)}, rounds
        )


def fitting(rounds: int) -> dict[str, float]:
    """Least squares for 10,000 points in R³ at degree 3; NumPy is given the design matrix,
    bezierflow builds its own."""
    rng = np.random.default_rng(0)
    t, x = rng.dirichlet(np.ones(3), 10_000), rng.normal(size=(10_000, 3))
    design = np.ascontiguousarray(design_matrix(t, 3))
    np.testing.assert_allclose(
        bf.fit(t, x, 3).control_points, np.linalg.lstsq(design, x)[0], atol=1e-10
    )
    return race(
        {
            "bezierflow": lambda: bf.fit(t, x, 3),
            "numpy.linalg.lstsq": lambda: np.linalg.lstsq(design, x),
        },
        rounds,
    )


def scaled_med(x: torch.Tensor) -> torch.Tensor:
    """The problem of the paper's first table, for PyTorch."""
    a, b, c = x.unbind(-1)
    return torch.stack(
        [
            a**2 + 3 * (b - 1) ** 2 + 2 * (c - 1) ** 2,
            2 * (a - 1) ** 2 + b**2 + 3 * (c - 1) ** 2,
            3 * (a - 1) ** 2 + 2 * (b - 1) ** 2 + (c + 1) ** 2,
        ],
        dim=-1,
    )


def algorithm_2(rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """K = 1000 iterations with N = 100 samples on scaled-MED, warm; times, and the errors that were
    reached."""
    problem = bf.problems.ScaledMED()
    flow = bf.lift(
        bf.GradientDescent(lambda k: 1 / k), degree=3, sampler=bf.Uniform(100), n_iterations=1000
    )
    space = torch_bsf.BezierSpace.simplex(2, degree=3)
    start = torch_bsf.BezierModel(space, torch.zeros(10, 3, dtype=torch.float64))
    loss = torch_bsf.linear_scalarization(scaled_med)
    # The largest of 1, 0.3, 0.1, … that does not diverge here.
    method = torch_bsf.PreconditionedSGD(step_size=0.1, max_iter=1000)
    found = {}

    def ours() -> None:
        found["bezierflow"] = bf.minimize(problem, np.zeros(3), flow).pareto_set

    def theirs() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found["pytorch-bsf"] = torch_bsf.minimize(
                start, loss, method=method, n_samples=100, seed=0
            ).model

    times = race({"bezierflow": ours, "pytorch-bsf": theirs}, rounds)
    t = np.random.default_rng(1).dirichlet(np.ones(3), 10_000)
    truth = problem.pareto_map(t)
    with torch.no_grad():
        values = {
            "bezierflow": found["bezierflow"](t),
            "pytorch-bsf": found["pytorch-bsf"](torch.tensor(t)).numpy(),
        }
    return times, {
        name: float(np.mean(np.sum((x - truth) ** 2, axis=1))) for name, x in values.items()
    }


def main() -> None:
    """Runs all races, prints them and keeps them as CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    flow_times, errors = algorithm_2(max(2, rounds // 2))
    races = {
        "evaluate 1e6 points, D=3, into R3": evaluation(rounds),
        "fit 1e4 points, D=3, into R3": fitting(4 * rounds),
        "Algorithm 2, K=1000, N=100, warm": flow_times,
    }
    rows = []
    for name, times in races.items():
        own = times["bezierflow"]
        for contestant, seconds in times.items():
            rows.append([name, contestant, f"{seconds:.5f}", f"{seconds / own:.2f}"])
    packages = ("bezierflow", "jax", "numpy", "pytorch-bsf", "torch")
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    made_by = f"make bench; {versions}; Python {platform.python_version()}"
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        file.write(f"# {made_by}\n")
        writer = csv.writer(file)
        writer.writerow(["race", "contestant", "best seconds", "times bezierflow's"])
        writer.writerows(rows)
    for row in rows:
        print("{:36} {:20} {:>9} s {:>8} x".format(*row))
    print(
        f"MSE reached by Algorithm 2: {errors['bezierflow']:.2e}, by pytorch-bsf:"
        f" {errors['pytorch-bsf']:.2e}"
    )


if __name__ == "__main__":
    main()
