"""Algorithm 2 with other samplers than the paper's at equal cost: where t is drawn, and how well."""

from collections.abc import Callable
from math import isqrt
from pathlib import Path

import numpy as np

import bezierflow as bf
from bezierflow.simplex import AbstractSampler, gauss_nodes

from .methods import DEGREE, N_ITERATIONS, harmonic
from .trial_files import TrialFile

SIZES = (10, 15, 30, 100)
"""N, from the number of control points on."""

N_RUNS = 6

SAMPLERS: dict[str, Callable[[int], AbstractSampler]] = {
    "Uniform": bf.Uniform,
    "LowDiscrepancy": bf.LowDiscrepancy,
    "Stratified": bf.Stratified,
    "Leverage, independent": lambda n: bf.Leverage(n, independent=True),
    "Leverage": bf.Leverage,
    "Fixed, Gauss nodes": lambda n: bf.Fixed(gauss_nodes(3, isqrt(n))),
}
"""Each with at most N points per iteration."""


def run_samplers(
    folder: Path, command: str = "", on_case: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """The exact MSE on scaled-MED (D = 3, K = 1000, α = 1/k, P^(1) = O), by sampler and N."""
    settings = {"degree": DEGREE, "iterations": N_ITERATIONS}
    file = TrialFile(
        folder / "samplers.csv", ["size", "sampler", "seed"], ["mse"], settings, command
    )
    for size in SIZES:
        for title, make in SAMPLERS.items():
            fixed = title.startswith("Fixed")
            if fixed and isqrt(size) ** 2 < SIZES[0]:
                continue  # fewer nodes than control points
            for seed in range(1 if fixed else N_RUNS):  # chance plays no part in fixed nodes

                def trial(make=make, size=size, seed=seed):
                    return [{"mse": exact_mse(_surface(make(size), seed))}]

                file.once(trial, size=size, sampler=title, seed=seed)
        on_case(f"N = {size}")
    return file


def _surface(sampler: AbstractSampler, seed: int) -> bf.BezierSimplex:
    flow = bf.lift(bf.GradientDescent(harmonic), DEGREE, sampler, n_iterations=N_ITERATIONS)
    return bf.minimize(bf.problems.ScaledMED(), np.zeros(3), flow, seed=seed).pareto_set


def exact_mse(surface: bf.BezierSimplex) -> float:
    """The mean of |b(t) − x*(t)|² over the simplex on scaled-MED, by quadrature."""
    nodes = gauss_nodes(3, 20)
    away = np.asarray(surface(nodes.t)) - bf.problems.ScaledMED().pareto_map(nodes.t)
    return float(nodes.weights @ np.sum(np.asarray(away) ** 2, axis=1))
