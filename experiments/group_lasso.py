"""Group lasso as a three-objective problem on the Birthwt data, solved by a lifted proximal
gradient method."""

from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow.names import Names
from bezierflow.precision import double_precision, on_host
from bezierflow.problems import Composite

from .birthwt import Regression, load
from .trial_files import TrialFile

DEGREES = (1, 2, 3, 4, 5, 6, 8, 10)
N_ITERATIONS = 500
N_HELD_OUT = 50
HELD_OUT_SEED = 2025
COLUMNS = (
    "largest_excess",
    "mean_excess",
    "within_1_percent",
    "largest_excess_after_step",
    "within_1_percent_after_step",
    "rms_coefficients",
    "solver_residual",
)
SOLVER_ITERATIONS = 20_000
"""Of accelerated proximal gradient at each held-out weight: its optimality residual is then below
1e-12."""


def group_lasso_problem(data: Regression, mixing: np.ndarray) -> Composite:
    """Three objectives of the coefficients β: how well they fit, how few groups they use, how small
    they are.

    f_1 = |y − Xβ|²/(2n),  f_2 = Σ_g √|g| |β_g|,  f_3 = |β|²/2; the weighted sum is the group lasso
    with a ridge. What is minimized is `mixing @ f`, a matrix without negative entries. β = 0 is
    best for both f_2 and f_3, so that unmixed one edge of the simplex maps to one point: x*(t) is
    unique and continuous there, but not one-to-one.
    """
    n, sizes = len(data.y), np.bincount(data.group)
    member = (data.group[None, :] == np.arange(len(sizes))[:, None]).astype(float)

    def smooth(beta):
        return mixing @ jnp.array(
            [0.5 * jnp.sum((data.y - data.X @ beta) ** 2) / n, 0.0, 0.5 * jnp.sum(beta**2)]
        )

    def norms(beta):
        squares = member @ beta**2
        # The gradient of a root at 0 is infinite; 1 under it there, and 0 after it, keeps
        # derivatives finite.
        return jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1.0)), 0.0)

    def nonsmooth(beta):
        return mixing[:, 1] * jnp.sum(np.sqrt(sizes) * norms(beta))

    def prox(beta, weights):
        length = norms(beta)
        threshold = (weights @ mixing[:, 1]) * np.sqrt(sizes)
        kept = jnp.where(
            length > threshold, 1 - threshold / jnp.where(length > threshold, length, 1.0), 0.0
        )
        return beta * (kept @ member)

    return Composite(
        smooth, nonsmooth, prox, Names(("misfit", "group penalty", "ridge"), data.columns)
    )


def ranges(data: Regression) -> np.ndarray:
    """How far each objective ranges between its own minimizer and the others': from β = 0 to least
    squares, and back."""
    least_squares = np.linalg.lstsq(data.X, data.y)[0]
    problem = group_lasso_problem(data, np.eye(3))
    with double_precision():
        at_least_squares, at_zero = (
            np.asarray(problem(least_squares)),
            np.asarray(problem(np.zeros_like(least_squares))),
        )
    return np.abs(at_least_squares - at_zero)


EPSILON = 0.1
"""The perturbation in the authors' earlier group lasso (github.com/rafcc/aaai-20.1534,
src/group_lasso.py), which adds 0.1 to each weight: the same as adding 0.1 times all objectives to
each."""

VARIANTS = {
    "perturbed": lambda data: (np.eye(3) + EPSILON) / ranges(data),
    "range": lambda data: np.diag(1 / ranges(data)),
    "raw": lambda data: np.eye(3),
}
"""What is made of f_1, f_2, f_3: each divided by its range over the Pareto set and perturbed;
divided alone; as they are."""


def safe_step(data: Regression, mixing: np.ndarray) -> float:
    """One over a bound on the curvature that a weighted smooth part can have."""
    curvature = np.array([float(np.linalg.norm(data.X, 2) ** 2 / len(data.y)), 0.0, 1.0])
    return 1 / float(np.max(mixing @ curvature))


def surface_of_degree(
    data: Regression, mixing: np.ndarray, degree: int, n_iterations: int = N_ITERATIONS
) -> bf.BezierSimplex:
    """The lifted proximal gradient method's surface: fixed nodes, constant step, from β = 0."""
    flow = bf.lift(bf.ProximalGradient(safe_step(data, mixing)), degree, n_iterations=n_iterations)
    x0 = np.zeros(data.X.shape[1])
    return bf.minimize(group_lasso_problem(data, mixing), x0, flow).pareto_set


def converged(
    data: Regression, mixing: np.ndarray, t: np.ndarray, n_iterations: int = SOLVER_ITERATIONS
) -> tuple[np.ndarray, float]:
    """Minimizers of the t-weighted objectives by accelerated proximal gradient (FISTA), and their
    largest residual.

    The residual is the length of one more proximal gradient step, which is 0 at a minimizer.
    """
    problem, step = group_lasso_problem(data, mixing), safe_step(data, mixing)

    def forward_backward(beta, weights):
        gradient = jax.grad(lambda b: weights @ problem.smooth(b))(beta)
        return problem.prox(beta - step * gradient, step * weights)

    def solve(weights):
        def iterate(state, _):
            beta, ahead, momentum = state
            beta_next = forward_backward(ahead, weights)
            momentum_next = (1 + jnp.sqrt(1 + 4 * momentum**2)) / 2
            # A restart wherever momentum points uphill makes the accelerated method converge
            # linearly.
            uphill = jnp.sum((ahead - beta_next) * (beta_next - beta)) > 0
            momentum_next = jnp.where(uphill, 1.0, momentum_next)
            ahead_next = beta_next + jnp.where(uphill, 0.0, (momentum - 1) / momentum_next) * (
                beta_next - beta
            )
            return (beta_next, ahead_next, momentum_next), None

        start = jnp.zeros(data.X.shape[1])
        beta = jax.lax.scan(iterate, (start, start, jnp.asarray(1.0)), None, n_iterations)[0][0]
        return beta, jnp.linalg.norm(forward_backward(beta, weights) - beta)

    with double_precision():
        beta, residual = on_host(jax.jit(jax.vmap(solve))(jnp.asarray(t)))
    return beta, float(residual.max())


def proximal_step(
    data: Regression, mixing: np.ndarray, t: np.ndarray, beta: np.ndarray
) -> np.ndarray:
    """A_t(b(t)): one more step of the method from each point of the surface. It brings back the
    exact zeros of group lasso."""
    problem, step = group_lasso_problem(data, mixing), safe_step(data, mixing)

    def move(weights, beta):
        return problem.prox(
            beta - step * jax.grad(lambda b: weights @ problem.smooth(b))(beta), step * weights
        )

    with double_precision():
        return np.asarray(jax.vmap(move)(t, beta))


def held_out_weights() -> np.ndarray:
    """50 weights, uniform on the simplex, that no flow has seen."""
    return np.random.default_rng(HELD_OUT_SEED).dirichlet(np.ones(3), N_HELD_OUT)


def excess(
    data: Regression, mixing: np.ndarray, surface: Callable, t: np.ndarray, exact: np.ndarray
) -> np.ndarray:
    """By how much the surface's t-weighted objective exceeds the minimum, relative to the minimum,
    at each t."""
    problem = group_lasso_problem(data, mixing)
    with double_precision():
        values = jax.vmap(problem)
        found, least = np.asarray(values(np.asarray(surface(t)))), np.asarray(values(exact))
    lowest = np.sum(t * least, axis=1)
    return np.sum(t * found, axis=1) / lowest - 1


def run_group_lasso(
    folder: Path, command: str = "", on_degree: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """The table of degrees: the worst and the mean excess at the held-out weights, and the distance
    of the coefficients."""
    data, t = load(), held_out_weights()
    settings = {"iterations": N_ITERATIONS, "held_out": N_HELD_OUT, "held_out_seed": HELD_OUT_SEED}
    file = TrialFile(folder / "group_lasso.csv", ["variant", "degree"], COLUMNS, settings, command)
    for variant, mixing_of in VARIANTS.items():
        mixing, exact, residual = mixing_of(data), None, 0.0
        for degree in DEGREES:
            if not file.trial(variant=variant, degree=degree):
                if exact is None:
                    exact, residual = converged(data, mixing, t)
                scores = _scores(data, mixing, degree, t, exact)
                file.add(
                    [{"variant": variant, "degree": degree, **scores, "solver_residual": residual}]
                )
            on_degree(f"group lasso, {variant}, degree {degree}")
    return file


def _scores(
    data: Regression, mixing: np.ndarray, degree: int, t: np.ndarray, exact: np.ndarray
) -> dict[str, float | int]:
    surface = surface_of_degree(data, mixing, degree)
    over = excess(data, mixing, surface, t, exact)
    stepped = excess(
        data, mixing, lambda t: proximal_step(data, mixing, t, np.asarray(surface(t))), t, exact
    )
    return {
        "largest_excess": float(over.max()),
        "mean_excess": float(over.mean()),
        "within_1_percent": int(np.sum(over <= 0.01)),
        "largest_excess_after_step": float(stepped.max()),
        "within_1_percent_after_step": int(np.sum(stepped <= 0.01)),
        "rms_coefficients": float(
            np.sqrt(np.mean(np.sum((np.asarray(surface(t)) - exact) ** 2, axis=1)))
        ),
    }
