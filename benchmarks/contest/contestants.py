"""The methods of the contest: each takes an entry and returns what it found, with what that cost."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

import bezierflow as bf
from bezierflow.precision import double_precision

from .entries import Entry

N_EVALUATIONS = 20_000
"""What an evolutionary method may spend."""


class Found(NamedTuple):
    """A surface or a cloud of points, what it cost, and what its method said about it."""

    surface: bf.BezierSimplex | None
    points: np.ndarray | None
    gradient_equivalents: int
    """One gradient or value of one objective counts 1, a Hessian of one objective L."""
    said: str


def _from_solution(solution: bf.Solution, entry: Entry) -> Found:
    count, m, n = solution.stats.evaluations, entry.n_objectives, len(entry.x0)
    # A Jacobian brings the values with it, and a Hessian counts apart from the Jacobian beside it.
    cost = m * (max(count.objective - count.jacobian, 0) + count.jacobian + n * count.hessian)
    flags = " ".join(flag.name for flag in solution.error.flags) if solution.known_error else ""
    return Found(solution.flat_surface, None, int(cost), f"{solution.result.reason.value} {flags}".strip())


def auto(entry: Entry) -> Found:
    """`bf.minimize(f, x0)`."""
    return _from_solution(bf.minimize(entry.objectives, entry.x0), entry)


def weights(entry: Entry) -> Found:
    """`bf.minimize(f, x0, parametrization="weights")`."""
    return _from_solution(bf.minimize(entry.objectives, entry.x0, parametrization="weights"), entry)


def harmonic(k: jax.Array) -> jax.Array:
    """α^(k) = 1/k."""
    return 1 / k


def algorithm_2(entry: Entry) -> Found:
    """The paper's: degree 3, N = 100, K = 1000, α = 1/k."""
    flow = bf.lift(bf.GradientDescent(harmonic), degree=3, sampler=bf.Uniform(max(100, 2 * _controls(entry, 3))))
    return _from_solution(bf.minimize(entry.objectives, entry.x0, flow, n_iterations=1000), entry)


def solve_then_fit(entry: Entry) -> Found:
    """SciPy's L-BFGS-B on Σ t_m f_m at the quadrature nodes of degree 5, then one least-squares fit: the honest baseline."""
    from scipy.optimize import minimize

    nodes = bf.simplex.quadrature_nodes(entry.n_objectives, 5)
    with double_precision():
        both = jax.jit(jax.value_and_grad(lambda x, t: t @ entry.objectives(x)))
        runs = [
            minimize(
                lambda x, t=t: tuple(np.asarray(part) for part in both(x, t)),
                entry.x0,
                jac=True,
                method="L-BFGS-B",
                options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500},
            )
            for t in nodes.t
        ]
    surface = bf.fit(nodes.t, np.stack([run.x for run in runs]), 5, weights=nodes.weights)
    return Found(surface, None, entry.n_objectives * sum(run.nfev for run in runs), "")


def pytorch_bsf(entry: Entry) -> Found:
    """`torch_bsf.minimize`, degree 3, 1000 iterations, with gradients from JAX and the largest of a few steps that works."""
    import warnings

    import torch
    import torch_bsf

    with double_precision():
        both = jax.jit(lambda x, t: jax.vmap(jax.value_and_grad(lambda x, t: t @ entry.objectives(x)))(x, t))

    class Scalarized(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, t):
            with double_precision():
                value, gradient = both(x.detach().numpy(), t.detach().numpy())
            ctx.save_for_backward(torch.tensor(np.asarray(gradient)))
            return torch.tensor(np.asarray(value))

        @staticmethod
        def backward(ctx, upstream):
            return upstream[:, None] * ctx.saved_tensors[0], None

    def loss(x: torch.Tensor, points: torch_bsf.Points) -> torch.Tensor:
        return Scalarized.apply(x, points.parameters)

    space = torch_bsf.BezierSpace.simplex(entry.n_objectives - 1, degree=3)
    start = torch_bsf.BezierModel(space, torch.tensor(np.tile(entry.x0, (space.n_controls, 1))))
    n_samples = max(100, 2 * space.n_controls)
    spent = 0
    for step in (0.1, 0.03, 0.01, 1e-3, 1e-4):
        method = torch_bsf.PreconditionedSGD(step_size=step, max_iter=1000)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = torch_bsf.minimize(start, loss, method=method, n_samples=n_samples, seed=0)
        except (ValueError, ArithmeticError):
            continue
        spent += entry.n_objectives * n_samples * 1000
        points = result.model.coefficients.detach().numpy()
        if np.isfinite(points).all() and np.abs(points).max() < 1e6:
            return Found(bf.BezierSimplex(points.copy(), entry.n_objectives, 3), None, spent, f"step {step:g}")
    return Found(None, None, spent, "diverged with every step size")


def _pymoo(entry: Entry, name: str) -> Found:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.algorithms.moo.nsga3 import NSGA3
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize
    from pymoo.util.ref_dirs import get_reference_directions

    with double_precision():
        values = jax.jit(jax.vmap(entry.objectives))

    low, high = _box(entry)

    class Wrapped(Problem):
        def __init__(self):
            super().__init__(n_var=len(entry.x0), n_obj=entry.n_objectives, xl=low, xu=high)

        def _evaluate(self, x, out, *args, **kwargs):
            with double_precision():
                out["F"] = np.asarray(values(x))

    if name == "NSGA-II":
        algorithm = NSGA2(pop_size=100)
    else:
        directions = get_reference_directions("energy", entry.n_objectives, 100, seed=0)
        algorithm = NSGA3(ref_dirs=directions, pop_size=100)
    result = minimize(Wrapped(), algorithm, ("n_eval", N_EVALUATIONS), seed=0, verbose=False)
    return Found(None, np.atleast_2d(result.X), N_EVALUATIONS * entry.n_objectives, "")


def _box(entry: Entry) -> tuple[np.ndarray, np.ndarray]:
    """The box that an evolutionary method asks for: twice as large as the exact set, a help that the others do not get."""
    if entry.exact is None:
        return np.zeros(len(entry.x0)), np.ones(len(entry.x0))
    low, high = entry.exact.min(axis=0), entry.exact.max(axis=0)
    margin = 0.5 * np.maximum(high - low, 0.1)
    return low - margin, high + margin


def _controls(entry: Entry, degree: int) -> int:
    return bf.simplex.n_controls(entry.n_objectives, degree)


CONTESTANTS: dict[str, tuple[str, Callable[[Entry], Found], str | None]] = {
    "auto": ("minimize(f, x0)", auto, None),
    "weights": ('parametrization="weights"', weights, None),
    "algorithm-2": ("Algorithm 2, degree 3", algorithm_2, None),
    "solve-then-fit": ("SciPy at nodes, then fit, degree 5", solve_then_fit, None),
    "pytorch-bsf": ("pytorch-bsf minimize, degree 3", pytorch_bsf, "torch_bsf"),
    "nsga2": ("NSGA-II (pymoo), 20,000 evaluations", lambda entry: _pymoo(entry, "NSGA-II"), "pymoo"),
    "nsga3": ("NSGA-III (pymoo), 20,000 evaluations", lambda entry: _pymoo(entry, "NSGA-III"), "pymoo"),
}
"""Key: title, how it is run, and the package it needs, if any."""
