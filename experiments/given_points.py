"""Fits to given Pareto points, and beside them what flows reach without a single one.

On the instances of the authors' earlier paper (Tanaka, Sannai, Kobayashi and Hamada, AAAI 2020).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import bezierflow as bf
from bezierflow.problems import Quadratic
from bezierflow.simplex import faces

from .birthwt import load
from .methods import harmonic
from .trial_files import TrialFile

SIZES = (250, 500, 1000, 2000)
FIT_DEGREES = (2, 3)
FLOW_DEGREES = (1, 2, 3, 4, 5, 6)
N_TRIALS = 20
"""Their N, D and number of trials."""

N_TEST = 10_000
TEST_SEED = 43
COLUMNS = ("mse", "mse_exact", "jacobians", "hessians")

SHARES = {2: (0.261, 0.739), 3: (0.099, 0.587, 0.314)}
"""By degree: which part of N goes to the vertices, the edges and the inside for the inductive
skeleton, with three objectives. Their optimal ratios (`src/sampling.py` of
github.com/rafcc/aaai-20.1534)."""

FLOW_ITERATIONS = 1000
NEWTON_ITERATIONS = 3


class Instance(NamedTuple):
    """A problem, and the noise on its given points and on the test points."""

    problem: Quadratic
    noise: float


@cache
def birthwt_squares() -> Quadratic:
    """Squares in place of norms: how well six predictors fit the birth weight, and how large each
    group of three is.

    As the published data files were made (`src/group_ridge.py`): y and the columns of A
    standardized, and x*(t) minimizing t_1 |Ax − y|²/(2n) + Σ_g (t_g + 0.1) |x_g|²/6. As Σ t_m = 1,
    that is Σ t_m f_m with 0.1 |x|²/6 added to each objective.
    """
    data = load()
    A, y = data.X[:, :6], data.y
    n = len(y)
    ridge = np.eye(6) * 0.1 / 6
    first = A.T @ A / (2 * n) + ridge
    groups = [np.diag(np.repeat(rows, 3)) / 6 for rows in ((1.0, 0.0), (0.0, 1.0))]
    best = np.linalg.solve(first, A.T @ y / (2 * n))
    centers = np.stack([best, np.zeros(6), np.zeros(6)])
    return Quadratic(
        [first, *(group + ridge for group in groups)],
        centers,
        [y @ y / (2 * n) - best @ first @ best, 0.0, 0.0],
    )


@cache
def birthwt_as_in_the_text() -> Quadratic:
    """As their paper writes it: |Ax − y|², |x_age|², |x_lwt|², each with 1e-4 |x|² added."""
    data = load()
    A, y = data.X[:, :6], data.y
    ridge = 1e-4 * np.eye(6)
    first = A.T @ A + ridge
    groups = [np.diag(np.repeat(rows, 3)) for rows in ((1.0, 0.0), (0.0, 1.0))]
    best = np.linalg.solve(first, A.T @ y)
    return Quadratic(
        [first, *(group + ridge for group in groups)], np.stack([best, np.zeros(6), np.zeros(6)])
    )


@cache
def location() -> Quadratic:
    """f_m(x) = |x − e_m|² in 100 variables: the Pareto set is the flat triangle between e_1, e_2
    and e_3."""
    return Quadratic(np.ones((3, 100)), np.eye(3, 100))


INSTANCES = {
    "group lasso": lambda: Instance(birthwt_squares(), 0.0),
    "group lasso, as in the text": lambda: Instance(birthwt_as_in_the_text(), 0.0),
    "location": lambda: Instance(location(), 0.1),
}


def all_at_once(instance: Instance, degree: int, size: int, seed: int) -> bf.BezierSimplex:
    """Least squares to N points with known t."""
    rng = np.random.default_rng(seed)
    t = rng.dirichlet(np.ones(3), size)
    return bf.fit(t, noisy_points(instance, t, rng), degree)


def skeleton(instance: Instance, degree: int, size: int, seed: int) -> bf.BezierSimplex:
    """Vertices first, then edges, then the inside, each with its share of the N points, t known."""
    rng = np.random.default_rng(seed)
    samples = {}
    for face in (face for face in faces(3) if len(face) <= degree):
        count = int(
            np.floor(size * SHARES[degree][len(face) - 1] / (1 if len(face) == 3 else 3) + 0.5)
        )
        t = np.zeros((count, 3))
        t[:, list(face)] = rng.dirichlet(np.ones(len(face)), count)
        samples[face] = (t[:, list(face)], noisy_points(instance, t, rng))
    return bf.fit_skeleton(samples, 3, degree)


FITS = {"all-at-once": all_at_once, "inductive skeleton": skeleton}


def noisy_points(instance: Instance, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """x*(t) with the instance's noise."""
    x = np.asarray(instance.problem.pareto_map(t))
    return x + instance.noise * rng.standard_normal(x.shape)


def algorithm_2(problem: Quadratic, degree: int) -> bf.Solution:
    """The paper's: α = 1/k, N = 100."""
    return _lifted(
        problem, bf.lift(bf.GradientDescent(harmonic), degree, bf.Uniform(100)), FLOW_ITERATIONS
    )


def gradient_descent(problem: Quadratic, degree: int) -> bf.Solution:
    """M(GD) with fixed nodes and a constant step of 1/β, β being the largest curvature of an
    objective."""
    most = 2 * float(np.linalg.eigvalsh(_full(problem)).max())
    return _lifted(problem, bf.lift(bf.GradientDescent(1 / most), degree), FLOW_ITERATIONS)


def newton(problem: Quadratic, degree: int) -> bf.Solution:
    """M(Newton) with fixed nodes: on quadratics one iteration is enough, the others confirm it."""
    return _lifted(problem, bf.lift(bf.Newton(), degree), NEWTON_ITERATIONS)


def auto(problem: Quadratic, degree: int) -> bf.Solution:
    """`bf.minimize(f, x0, bf.WeightsFlow(degree=D))`."""
    return bf.minimize(problem, np.zeros(problem.n_variables), bf.WeightsFlow(degree=degree))


FLOWS = {
    "Algorithm 2": algorithm_2,
    "M(GD), fixed nodes": gradient_descent,
    "M(Newton), fixed nodes": newton,
    "minimize": auto,
}


def run_given_points(
    folder: Path, command: str = "", on_case: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """MSE against held-out minimizers of both fits for each N and D, and of each flow for each
    D."""
    settings = {
        "test": N_TEST,
        "iterations": FLOW_ITERATIONS,
        "newton_iterations": NEWTON_ITERATIONS,
    }
    key = ["instance", "method", "degree", "size", "seed"]
    file = TrialFile(folder / "given_points.csv", key, COLUMNS, settings, command)
    for name, method, degree, size in cases():
        instance = INSTANCES[name]()
        for seed in range(N_TRIALS if method in FITS else 1):

            def score(
                instance=instance, method=method, degree=degree, size=size, seed=seed
            ) -> list[dict[str, float]]:
                return [_scores(instance, method, degree, size, seed)]

            file.once(score, instance=name, method=method, degree=degree, size=size, seed=seed)
        on_case(f"{name}, {method}, degree {degree}")
    return file


def cases() -> Iterator[tuple[str, str, int, int]]:
    """Instance, method, degree and number of given points of every case."""
    for name in INSTANCES:
        yield from ((name, *case) for case in product(FITS, FIT_DEGREES, SIZES))
        if name != "group lasso, as in the text":
            yield from ((name, *case, 0) for case in product(FLOWS, FLOW_DEGREES))


def _scores(instance: Instance, method: str, degree: int, size: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(TEST_SEED)
    t = rng.dirichlet(np.ones(3), N_TEST)
    given, exact = noisy_points(instance, t, rng), np.asarray(instance.problem.pareto_map(t))
    jacobians = hessians = 0
    if method in FITS:
        surface = FITS[method](instance, degree, size, seed)
    else:
        solution = FLOWS[method](instance.problem, degree)
        surface, counts = solution.pareto_set, solution.stats.evaluations
        jacobians, hessians = int(counts.jacobian), int(counts.hessian)
    x = np.asarray(surface(t))
    errors = {
        name: float(np.mean(np.sum((x - truth) ** 2, axis=1)))
        for name, truth in (("mse", given), ("mse_exact", exact))
    }
    return {**errors, "jacobians": jacobians, "hessians": hessians}


def _lifted(problem: Quadratic, flow: bf.Flow, n_iterations: int) -> bf.Solution:
    return bf.minimize(
        problem, np.zeros(problem.n_variables), replace(flow, n_iterations=n_iterations)
    )


def _full(problem: Quadratic) -> np.ndarray:
    return np.stack([np.diag(Q) if Q.ndim == 1 else Q for Q in problem.matrices])
