"""The problems of the contest: each with a start, and exact points of its Pareto set."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow.bezier import project
from bezierflow.precision import double_precision

N_EXACT = 400
"""About how many exact points a method's distance is measured with."""


class Entry(NamedTuple):
    """A problem of the contest."""

    name: str
    objectives: Callable
    x0: np.ndarray
    n_objectives: int
    distance: Callable[[np.ndarray], np.ndarray]
    """From points to their distances from the exact Pareto set."""
    exact: np.ndarray
    """Points all over the exact Pareto set."""

    def start(self, seed: int) -> np.ndarray:
        """Where a run with this seed starts: seed 0 at x0, others a random tenth of a unit beside
        it."""
        return self.x0 + (
            0.1 * np.random.default_rng(seed).standard_normal(self.x0.shape) if seed else 0.0
        )

    def values(self, x: np.ndarray) -> np.ndarray:
        """The objectives at each row of x."""
        with double_precision():
            return np.asarray(jax.vmap(self.objectives)(x))


def entries() -> list[Entry]:
    """All problems."""
    badly_scaled = np.array([1e6, 1.0, 1e-6]), np.array([3.0, -1e3, 10.0])
    scaled_med = bf.problems.ScaledMED()
    solved = [
        ("scaled-MED", scaled_med),
        ("skew-3MED", bf.problems.SkewMED(3)),
        ("skew-5MED", bf.problems.SkewMED(5)),
        ("skew-3MMD", bf.problems.SkewMMD(3)),
        ("Fonseca n=10", bf.problems.Fonseca(10)),
        ("warped scaled-MED", bf.problems.Warped(scaled_med)),
        *(
            (f"quadratic M={m} L={n}", bf.problems.Quadratic.random(m, n, seed=101))
            for m, n in ((2, 2), (2, 20), (3, 3), (3, 10), (3, 50), (4, 5), (5, 5), (6, 6))
        ),
    ]
    found = [_solved(name, problem, problem) for name, problem in solved]
    found.append(
        _solved(
            "scaled-MED, scaled by 1e6, 1, 1e-6 and shifted",
            scaled_med,
            _Affine(scaled_med, *badly_scaled),
        )
    )
    found.append(logistic_losses())
    return found


class _Affine:
    """Objectives scaled and shifted, one by one: the Pareto set stays."""

    def __init__(self, problem: Callable, scale: np.ndarray, shift: np.ndarray):
        self.problem, self.scale, self.shift = problem, scale, shift

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.scale * self.problem(x) + self.shift


def _solved(name: str, problem: bf.problems.AbstractSolvedProblem, objectives: Callable) -> Entry:
    m, n = problem.n_objectives, problem.n_variables
    assert m is not None
    assert n is not None
    w = np.concatenate([np.eye(m), np.random.default_rng(0).dirichlet(np.ones(m), N_EXACT)])
    # Off the center, where some problems have a kink or a saddle by symmetry.
    x0 = np.linspace(0.1, 0.3, n)
    return Entry(name, objectives, x0, m, problem.distance, np.asarray(problem.pareto_point(w)))


def logistic_losses() -> Entry:
    """Ridge-regularized logistic losses of three outcomes on the same 189 births and 6 predictors
    (R's MASS, birthwt).

    Low birth weight, smoking and uterine irritability are predicted by one common weight vector.
    Strongly convex, so the exact set consists of minimizers of weighted sums, each found to
    rounding.
    """
    path = Path(__file__).parents[2] / "experiments" / "data" / "birthwt.csv"
    # after three lines about the data
    columns = np.genfromtxt(path, delimiter=",", names=True, skip_header=3)
    X = np.column_stack([columns[name] for name in ("age", "lwt", "ptl", "ht", "ftv", "race")])
    X = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(X))])
    Y = np.stack([2 * (columns[name] > 0.5) - 1.0 for name in ("low", "smoke", "ui")])

    def losses(w: jax.Array) -> jax.Array:
        return jnp.mean(jax.nn.softplus(-Y * (X @ w)), axis=1) + 0.01 * jnp.sum(w**2)

    weights = np.concatenate([np.eye(3), np.random.default_rng(0).dirichlet(np.ones(3), N_EXACT)])
    exact = _weighted_minimizers(losses, weights, X.shape[1])
    fitted = bf.minimize(
        losses, np.zeros(X.shape[1]), bf.WeightsFlow(max_degree=14), tol=1e-10
    ).flat_surface
    # The set itself, finely: a weighted surface of high degree, whose own error is far below what
    # is measured with it.
    x0 = np.zeros(X.shape[1])
    return Entry(
        "logistic losses (birthwt)",
        losses,
        x0,
        3,
        lambda x: np.asarray(project(fitted, x)[1]),
        exact,
    )


def _weighted_minimizers(losses: Callable, weights: np.ndarray, n_variables: int) -> np.ndarray:
    """The minimizers of strongly convex weighted sums by Newton's method, to rounding; raises if it
    did not arrive."""

    def newton(_: jax.Array, x: jax.Array, t: jax.Array) -> jax.Array:
        return x - jnp.linalg.solve(
            jax.hessian(lambda x: t @ losses(x))(x), jax.grad(lambda x: t @ losses(x))(x)
        )

    with double_precision():
        solve = jax.jit(
            jax.vmap(
                lambda t: jax.lax.fori_loop(
                    0, 30, lambda k, x: newton(k, x, t), jnp.zeros(n_variables)
                )
            )
        )
        x = np.asarray(solve(jnp.asarray(weights)))
        slopes = np.asarray(jax.vmap(lambda x, t: t @ jax.jacobian(losses)(x))(x, weights))
    if np.abs(slopes).max() > 1e-12:
        raise ArithmeticError(
            f"Newton's method did not arrive: the largest slope is {np.abs(slopes).max():.2e}"
        )
    return x
