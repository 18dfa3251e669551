"""The numbers of `docs/convergence.md`: error against degree, and against iterations and N for
Algorithm 2."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import bezierflow as bf
from bezierflow.bezier import project
from bezierflow.precision import double_precision
from bezierflow.problems import AbstractSolvedProblem, by_name
from bezierflow.simplex import AbstractSampler
from bezierflow.stability import Setting, mean_field, trace

from .figures import POINTS, SURFACE, TRUTH, save_figure
from .methods import harmonic
from .reach import cut, front_values, lowest
from .samplers import exact_mse
from .trial_files import TrialFile

PROBLEMS = (
    "scaled-med",
    "warped-scaled-med",
    "quadratic-2-3",
    "quadratic-3-5",
    "quadratic-4-4",
    "skew-3med",
    "skew-3mmd",
    "fonseca-3",
)
DEGREES = tuple(range(1, 11))
NORMAL_DEGREES = (1, 2, 3, 4, 5, 6, 8)
N_FITTED, N_HELD_OUT = 4000, 2000
ROUNDING = 1e-11
"""Errors below this, relative to the set's diameter, are left out of a rate: rounding in the fit
has a part in them."""

N_SAMPLES = (30, 100, 300)
PLACES = (10, 30, 100, 300, 1000, 3000, 10_000)
N_RUNS = 8
LIMIT_SAMPLES = (30, 50, 100, 200, 300, 1000)
LIMIT_DRAWS = 2000
"""N, and draws of N points, of the mean field."""

DRAWN: dict[str, Callable[[int], AbstractSampler]] = {
    "Uniform": bf.Uniform,
    "Leverage, independent": lambda n: bf.Leverage(n, independent=True),
}
N_CASES = 2 * len(PROBLEMS) + 2 + len(N_SAMPLES) + len(DRAWN)
"""How often `run_convergence` reports."""


def exact_map(problem: AbstractSolvedProblem) -> Callable[[np.ndarray], np.ndarray]:
    """x*(t) where it is known, else the closed-form parametrization of the Pareto set."""
    known = getattr(problem, "pareto_map", problem.pareto_point)
    return lambda t: np.asarray(known(t))


def jumping_map(problem: AbstractSolvedProblem) -> Callable[[np.ndarray], np.ndarray]:
    """Argmin Σ t_m f_m over a fine sample of the Pareto set, for problems whose weighted sums are
    not convex."""
    cells = cut(problem)
    points = np.concatenate([cells.corners, cells.centers])
    values = front_values(problem, points)
    return lambda t: points[lowest(t, values)[0]]


def best_fit_errors(
    image: Callable[[np.ndarray], np.ndarray], n_objectives: int, degree: int
) -> tuple[float, float]:
    """RMS and largest distance, over the diameter, between a map and its least-squares fit of a
    degree, at held-out t."""
    rng = np.random.default_rng(0)
    t, fresh = (
        rng.dirichlet(np.ones(n_objectives), N_FITTED),
        rng.dirichlet(np.ones(n_objectives), N_HELD_OUT),
    )
    corners = image(np.eye(n_objectives))
    diameter = np.linalg.norm(corners[:, None] - corners[None], axis=2).max()
    away = (
        np.linalg.norm(np.asarray(bf.fit(t, image(t), degree)(fresh)) - image(fresh), axis=1)
        / diameter
    )
    return float(np.sqrt(np.mean(away**2))), float(away.max())


def run_degrees(
    folder: Path, command: str = "", on_case: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """How well a polynomial of each degree can represent each built-in problem's Pareto set."""
    settings = {"fitted": N_FITTED, "held_out": N_HELD_OUT}
    file = TrialFile(
        folder / "convergence_degree.csv",
        ["problem", "map", "degree"],
        ["rms", "largest"],
        settings,
        command,
    )
    maps = [(name, "exact set", exact_map) for name in PROBLEMS]
    maps += [(name, "argmin of weighted sums", jumping_map) for name in ("skew-3med", "skew-3mmd")]
    for name, title, make in maps:
        problem = by_name(name)
        image = make(problem)
        for degree in DEGREES:

            def measure(image=image, problem=problem, degree=degree) -> list[dict[str, float]]:
                return [
                    dict(
                        zip(
                            ("rms", "largest"),
                            best_fit_errors(image, problem.n_objectives, degree),
                            strict=True,
                        )
                    )
                ]

            file.once(measure, problem=name, map=title, degree=degree)
        on_case(f"{name}, {title}")
    return file


def rate(file: TrialFile, name: str, title: str) -> float | None:
    """The factor by which the RMS error falls from one degree to the next, from a line through the
    logarithms."""
    rows = [
        row
        for row in file.rows
        if (row["problem"], row["map"]) == (name, title) and float(row["rms"]) > ROUNDING
    ]
    if len(rows) < 3:
        return None
    degrees, errors = ([float(row[column]) for row in rows] for column in ("degree", "rms"))
    return float(np.exp(-np.polyfit(degrees, np.log(errors), 1)[0]))


def run_normal(
    folder: Path, command: str = "", on_case: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """The normal flow's surfaces of fixed degree: their distance from the set, both ways, over the
    diameter."""
    values = ["rms", "largest", "jacobians", "hessians"]
    file = TrialFile(
        folder / "convergence_normal.csv",
        ["problem", "degree"],
        values,
        {"held_out": N_HELD_OUT},
        command,
    )
    for name in PROBLEMS:
        for degree in NORMAL_DEGREES:
            file.once(
                lambda name=name, degree=degree: [_normal_scores(by_name(name), degree)],
                problem=name,
                degree=degree,
            )
        on_case(name)
    return file


def _normal_scores(problem: AbstractSolvedProblem, degree: int) -> dict[str, float]:
    solution = bf.minimize(
        problem, np.linspace(0.1, 0.3, problem.n_variables), bf.NormalFlow(degree=degree)
    )
    t = np.random.default_rng(0).dirichlet(np.ones(problem.n_objectives), N_HELD_OUT)
    exact = np.asarray(problem.pareto_point(t))
    corners = np.asarray(problem.pareto_point(np.eye(problem.n_objectives)))
    diameter = np.linalg.norm(corners[:, None] - corners[None], axis=2).max()
    to_set = problem.distance(np.asarray(solution.pareto_set(t))) / diameter
    to_surface = np.asarray(project(solution.pareto_set, exact)[1]) / diameter
    counts = solution.stats.evaluations
    return {
        "rms": float(np.sqrt(max(np.mean(to_set**2), np.mean(to_surface**2)))),
        "largest": float(max(to_set.max(), to_surface.max())),
        "jacobians": int(counts.jacobian),
        "hessians": int(counts.hessian),
    }


def run_iterations(
    folder: Path, command: str = "", on_case: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """MSE of Algorithm 2 on scaled-MED (D = 3, α = 1/k) after k iterations, and its limits with
    many samples."""
    file = TrialFile(
        folder / "convergence_iterations.csv",
        ["n_samples", "seed", "k"],
        ["mse"],
        {"degree": 3},
        command,
    )
    problem = bf.problems.ScaledMED()
    t = np.random.default_rng(0).dirichlet(np.ones(3), 10_000)
    truth = np.asarray(problem.pareto_map(t))
    for n_samples in N_SAMPLES:
        for seed in range(N_RUNS):
            if not file.trial(n_samples=n_samples, seed=seed, k=PLACES[-1]):
                surfaces = _path(problem, n_samples, seed)
                errors = [
                    float(np.mean(np.sum((np.asarray(surface(t)) - truth) ** 2, axis=1)))
                    for surface in surfaces
                ]
                key = {"n_samples": n_samples, "seed": seed}
                file.add(
                    [{**key, "k": k, "mse": error} for k, error in zip(PLACES, errors, strict=True)]
                )
        on_case(f"N = {n_samples}")
    return file


def _path(problem: AbstractSolvedProblem, n_samples: int, seed: int) -> list[bf.BezierSimplex]:
    """The surfaces after `PLACES` iterations of one run."""
    with double_precision():
        flow = bf.lift(bf.GradientDescent(harmonic), 3, bf.Uniform(n_samples))
        setting = Setting(flow, problem, bf.BezierSimplex.constant(np.zeros(3), 3, 3), PLACES[-1])
        run = trace(setting, jax.random.key(seed))
    return [bf.BezierSimplex(run.control_points[k], 3, 3) for k in PLACES]


def run_limits(
    folder: Path, command: str = "", on_case: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """The zero P_N of the mean field on scaled-MED (D = 3): its exact MSE, E κ_N, the monotonicity
    that is proved and that near P_N, and whether the theorem holds."""
    values = ["mse", "kappa", "monotonicity", "at_zero", "converges"]
    settings = {"degree": 3, "draws": LIMIT_DRAWS}
    file = TrialFile(
        folder / "convergence_limits.csv", ["sampler", "n_samples"], values, settings, command
    )
    for title, make in DRAWN.items():
        for n in LIMIT_SAMPLES:

            def measure(make=make, n=n) -> list[dict[str, Any]]:
                flow = bf.lift(bf.GradientDescent(harmonic), 3, make(n))
                problem = bf.problems.ScaledMED()
                found = mean_field(flow, problem, np.zeros(3), n_draws=LIMIT_DRAWS)
                return [
                    {
                        "mse": exact_mse(found.zero),
                        "kappa": found.kappa.estimate,
                        "monotonicity": found.monotonicity,
                        "at_zero": found.at_zero,
                        "converges": found.converges,
                    }
                ]

            file.once(measure, sampler=title, n_samples=n)
        on_case(title)
    return file


def draw_limits(made: "Convergence") -> Any:
    """The MSE of P_N and of runs against N, between the best fit and the Galerkin surface."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    for title, color in zip(DRAWN, (POINTS, SURFACE), strict=True):
        errors = [float(row["mse"]) for row in made.limits.rows if row["sampler"] == title]
        ax.loglog(LIMIT_SAMPLES, errors, "-", color=color, label=f"P_N, {title}")
    runs = [mean_errors(made.iterations, n)[-1] for n in N_SAMPLES]
    ax.loglog(N_SAMPLES, runs, "o", color=POINTS, label="runs, Uniform, k = 10,000")
    for (name, value), style in zip(made.levels.items(), (":", "--"), strict=True):
        title = "Galerkin: P_N, Leverage" if name == "Galerkin" else name
        ax.axhline(value, color="#8a8a84", linestyle=style, linewidth=1, label=title)
    ax.set(xlabel="N", ylabel="MSE, scaled-MED, D = 3, α = 1/k")
    ax.grid(True, alpha=0.25)
    ax.legend(frameon=False, fontsize=8)
    return figure


def limits() -> dict[str, float]:
    """The MSE of degree 3 on scaled-MED that no surface is below, and the one that gradient descent
    tends to for N → ∞.

    The limit solves the Galerkin equations: the gradient field ∇f(b(t)|t) is orthogonal to all
    polynomials of degree 3. It is computed with the nodes of a rule that is exact for polynomials
    of degree 12 and more.
    """
    problem = bf.problems.ScaledMED()
    nodes = bf.simplex.quadrature_nodes(3, 12)
    flow = bf.lift(bf.GradientDescent(0.25), 3, bf.Fixed(nodes), n_iterations=500)
    galerkin = bf.minimize(problem, np.zeros(3), flow).pareto_set
    best = bf.fit(nodes.t, problem.pareto_map(nodes.t), 3, weights=nodes.weights)
    return {"best fit": exact_mse(best), "Galerkin": exact_mse(galerkin)}


def draw_convergence(made: "Convergence") -> Any:
    """Error against degree for each problem, and against iterations for each N."""
    import matplotlib.pyplot as plt  # only for pictures: tables are made without

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for name, title in made.rates():
        errors = [
            float(row["rms"])
            for row in made.degrees.rows
            if (row["problem"], row["map"]) == (name, title)
        ]
        exact = title == "exact set"
        style, label = ("o-", name) if exact else ("s:", f"{name}, weighted sums")
        left.semilogy(DEGREES, np.maximum(errors, 1e-16), style, markersize=3, label=label)
    left.set(xlabel="degree D", ylabel="RMS error of the best fit / diameter")
    for n_samples, color in zip(N_SAMPLES, (POINTS, SURFACE, TRUTH), strict=True):
        right.loglog(
            PLACES,
            mean_errors(made.iterations, n_samples),
            "o-",
            color=color,
            markersize=4,
            label=f"N = {n_samples}",
        )
    for (name, value), style in zip(made.levels.items(), (":", "--"), strict=True):
        right.axhline(value, color="#8a8a84", linestyle=style, linewidth=1, label=name)
    right.set(xlabel="iterations k", ylabel="MSE, scaled-MED, D = 3, α = 1/k")
    for ax in (left, right):
        ax.grid(True, alpha=0.25)
        ax.legend(frameon=False, fontsize=8)
    return figure


def mean_errors(file: TrialFile, n_samples: int) -> list[float]:
    """The mean MSE over the runs after each of `PLACES` iterations."""
    own = [row for row in file.rows if row["n_samples"] == str(n_samples)]
    return [
        float(np.mean([float(row["mse"]) for row in own if row["k"] == str(k)])) for k in PLACES
    ]


class Convergence(NamedTuple):
    """The four files, and the MSE of the best fit and of the Galerkin surface."""

    degrees: TrialFile
    normal: TrialFile
    iterations: TrialFile
    limits: TrialFile
    levels: dict[str, float]

    def rates(self) -> dict[tuple[str, str], float | None]:
        """The rate for each problem and map."""
        keys = dict.fromkeys((row["problem"], row["map"]) for row in self.degrees.rows)
        return {key: rate(self.degrees, *key) for key in keys}


def run_convergence(
    folder: Path, command: str = "", on_case: Callable[[str], None] = lambda label: None
) -> Convergence:
    """All four files and the figures."""
    parts = (run_degrees, run_normal, run_iterations, run_limits)
    made = Convergence(*(run(folder, command, on_case) for run in parts), limits())
    save_figure(draw_convergence(made), folder / "figures", "convergence")
    save_figure(draw_limits(made), folder / "figures", "limits")
    return made
