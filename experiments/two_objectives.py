"""Two objectives: the paper's flow beside what it is compared with in words, on the same problems
and budgets.

A Bézier curve optimized for uncrowded hypervolume, in the spirit of Maree, Alderliesten and Bosman
(PPSN 2020), and a continuation method that follows the Pareto set from one end to the other.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow.metrics import gd, igd
from bezierflow.precision import double_precision
from bezierflow.problems import AbstractSolvedProblem, by_name

from .methods import DEGREE, harmonic
from .trial_files import TrialFile

PROBLEMS = ("quadratic-2-3", "skew-2med", "skew-2mmd", "fonseca-3")
BUDGET = 10_000
"""Points at which objectives and gradients are evaluated, for each method."""

N_CURVE = 20
"""Points of the curve an iteration: samples of the flow, and the points whose hypervolume
counts."""

N_SCORED = 1000
N_TRIALS = 5
COLUMNS = ("gd", "igd", "distance", "evaluations")


class Curve(NamedTuple):
    """What a method returns: a map from [0, 1] into the variables, and how many points it
    evaluated."""

    at: Callable[[np.ndarray], np.ndarray]
    evaluations: int


def flow_curve(problem: AbstractSolvedProblem, seed: int) -> Curve:
    """Algorithm 2 with N = 20 and α = 1/k, from a random start near the middle of the Pareto
    set."""
    n_iterations = BUDGET // N_CURVE
    flow = bf.lift(bf.GradientDescent(harmonic), DEGREE, bf.Uniform(N_CURVE))
    surface = bf.minimize(
        problem, _start(problem, seed), replace(flow, n_iterations=n_iterations), seed=seed
    ).pareto_set
    return Curve(lambda s: np.asarray(surface(np.column_stack([1 - s, s]))), n_iterations * N_CURVE)


def hypervolume_curve(problem: AbstractSolvedProblem, seed: int) -> Curve:
    """A Bézier curve of degree 3 whose points at N evenly spread t have the largest uncrowded
    hypervolume.

    For two objectives the hypervolume of points sorted by f_1 is a sum of rectangles up to a
    reference point, here the worst values between the two minimizers plus a tenth. A dominated
    point counts minus its distance to the staircase of the others (the uncrowded part), which pulls
    it back. BezEA maximizes this with an evolutionary algorithm; the problems here have gradients,
    so Adam takes its place, at the same number of points evaluated.
    """
    import optax

    t = bf.simplex.grid(2, N_CURVE - 1)
    ends = np.asarray(problem.pareto_point(np.eye(2)))
    with double_precision():
        design = bf.bezier.design_matrix(t, DEGREE)
        worst = np.asarray(jax.vmap(problem)(ends)).max(axis=0)
    reference = worst * 1.1 + 1e-3
    rule = optax.adam(optax.cosine_decay_schedule(0.05, BUDGET // N_CURVE))

    def loss(P):
        return -uncrowded_hypervolume(jax.vmap(problem)(design @ P), reference)

    def iterate(state, _):
        P, memory = state
        update, memory = rule.update(jax.grad(loss)(P), memory)
        return (P + update, memory), None

    with double_precision():
        rng = np.random.default_rng(seed)
        P = jnp.asarray(
            _start(problem, seed) + 0.1 * rng.standard_normal((DEGREE + 1, problem.n_variables))
        )
        P = np.asarray(
            jax.jit(
                lambda P: jax.lax.scan(iterate, (P, rule.init(P)), None, BUDGET // N_CURVE)[0][0]
            )(P)
        )
    surface = bf.BezierSimplex(P, 2, DEGREE)
    return Curve(lambda s: np.asarray(surface(np.column_stack([1 - s, s]))), BUDGET)


def uncrowded_hypervolume(values: Any, reference: Any) -> Any:
    """The hypervolume of the non-dominated points, less the mean distance of dominated ones to the
    region they are in.

    Differentiable where the order of the points does not change; two objectives, both minimized.
    """
    order = jnp.argsort(values[:, 0])
    f = jnp.minimum(values[order], reference)
    least = jax.lax.cummin(f[:, 1])
    before = jnp.concatenate([reference[1:], least[:-1]])
    # A point that does not lower f_2 below all before it adds no rectangle: it is dominated.
    volume = jnp.sum((reference[0] - f[:, 0]) * jnp.maximum(before - f[:, 1], 0.0))
    beyond = jnp.sum(jnp.maximum(values - reference, 0.0))
    dominated = jnp.mean(jnp.maximum(f[1:, 1] - least[:-1], 0.0))
    return volume - dominated - beyond


def continuation_curve(problem: AbstractSolvedProblem, seed: int) -> Curve:
    """A homotopy in the weights: from w = 1/2 towards both ends, each point corrected by gradient
    steps from the last one.

    The predictor is the secant through the last two points, the corrector Barzilai–Borwein gradient
    descent on the weighted sum, with as many steps a point as the budget allows. (Hillermeier 2001
    corrects with Newton steps, which need Hessians.) The answer is the polygon through its points:
    no surface, so its density is its accuracy.
    """
    n_points = 41
    n_steps = BUDGET // n_points

    def correct(x, w):
        gradient = jax.grad(lambda x: w @ problem(x))

        def step(state, _):
            x, x_old, g_old, length = state
            g = gradient(x)
            s, y = x - x_old, g - g_old
            curvature = jnp.sum(s * y)
            length = jnp.where(
                curvature > 0,
                jnp.clip(jnp.sum(s * s) / jnp.where(curvature > 0, curvature, 1.0), 1e-4, 1e2),
                length,
            )
            move = -length * g
            # Steps across a kink of a power below 1 can be wild; a tenth of a unit is far enough
            # for one step.
            move = move * jnp.minimum(1.0, 0.1 / jnp.maximum(jnp.linalg.norm(move), 1e-300))
            return (x + move, x, g, length), None

        g = gradient(x)
        state = (x - 1e-3 * g, x, g, jnp.asarray(1e-3))
        return jax.lax.scan(step, state, None, n_steps - 1)[0][0]

    with double_precision():
        correct = jax.jit(correct)
        weights = np.linspace(0, 1, n_points)
        found = {
            n_points // 2: np.asarray(
                correct(jnp.asarray(_start(problem, seed)), jnp.asarray([0.5, 0.5]))
            )
        }
        for direction in (1, -1):
            for number in range(
                n_points // 2 + direction, n_points if direction > 0 else -1, direction
            ):
                last, before = found[number - direction], found.get(number - 2 * direction)
                guess = last if before is None else 2 * last - before
                w = weights[number]
                found[number] = np.asarray(correct(jnp.asarray(guess), jnp.asarray([1 - w, w])))
    polygon = np.stack([found[number] for number in range(n_points)])
    return Curve(
        lambda s: np.column_stack([np.interp(s, weights, column) for column in polygon.T]),
        n_points * n_steps,
    )


CURVE_METHODS = {
    "flow": ("Algorithm 2", flow_curve),
    "hypervolume": ("Bézier curve, uncrowded hypervolume", hypervolume_curve),
    "continuation": ("continuation in the weights", continuation_curve),
}
"""All methods of this comparison: one line each."""


def run_two_objectives(
    folder: Path,
    seed: int = 0,
    command: str = "",
    on_trial: Callable[[str], None] = lambda label: None,
) -> TrialFile:
    """Every method on every problem, five seeds: mean distance to the exact set, and GD and IGD
    against 1000 exact points."""
    settings = {"degree": DEGREE, "budget": BUDGET, "points": N_CURVE, "scored": N_SCORED}
    file = TrialFile(
        folder / "two_objectives.csv", ["problem", "method", "seed"], COLUMNS, settings, command
    )
    for problem_name in PROBLEMS:
        problem = by_name(problem_name)
        for name, (title, solve) in CURVE_METHODS.items():
            for trial in range(seed, seed + N_TRIALS):
                key = {"problem": problem_name, "method": name, "seed": trial}
                file.once(
                    lambda solve=solve, problem=problem, trial=trial: [
                        _scores(problem, solve(problem, trial))
                    ],
                    **key,
                )
            on_trial(f"{problem_name}, {title}")
    return file


def _scores(problem: AbstractSolvedProblem, curve: Curve) -> dict[str, float | int]:
    s = np.linspace(0, 1, N_SCORED)
    x, exact = curve.at(s), np.asarray(problem.pareto_point(np.column_stack([1 - s, s])))
    distance = float(np.mean(problem.distance(x)))
    return {
        "gd": gd(x, exact),
        "igd": igd(x, exact),
        "distance": distance,
        "evaluations": curve.evaluations,
    }


def _start(problem: AbstractSolvedProblem, seed: int) -> np.ndarray:
    """The middle of the segment between both minimizers, off by a random tenth: the same start for
    every method."""
    ends = np.asarray(problem.pareto_point(np.eye(2)))
    return ends.mean(axis=0) + 0.1 * np.random.default_rng(seed).standard_normal(
        problem.n_variables
    )
