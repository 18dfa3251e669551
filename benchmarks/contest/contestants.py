"""The methods of the contest: each takes an entry and a seed and returns what it found, with what
that cost."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

import bezierflow as bf
from bezierflow.precision import double_precision

from . import peers
from .entries import Entry
from .found import Found


def _from_solution(solution: bf.Solution, entry: Entry) -> Found:
    counts, m, n = solution.stats.evaluations, entry.n_objectives, len(entry.x0)
    # A Jacobian brings the values with it, and a Hessian counts apart from the Jacobian beside it.
    cost = m * (max(counts.objective - counts.jacobian, 0) + counts.jacobian + n * counts.hessian)
    flags = " ".join(flag.name for flag in solution.error.flags) if solution.known_error else ""
    bound = (
        solution.error.expected / solution.error.diameter if solution.known_error else float("nan")
    )
    said = f"{solution.result.reason.value} {flags}".strip()
    return Found(solution.flat_surface, None, int(cost), said, bound)


def auto(entry: Entry, seed: int) -> Found:
    """`bf.minimize(f, x0)`."""
    return _from_solution(bf.minimize(entry.objectives, entry.start(seed)), entry)


def weights(entry: Entry, seed: int) -> Found:
    """`bf.minimize(f, x0, bf.WeightsFlow())`."""
    return _from_solution(bf.minimize(entry.objectives, entry.start(seed), bf.WeightsFlow()), entry)


def harmonic(k: jax.Array) -> jax.Array:
    """α^(k) = 1/k."""
    return 1 / k


def algorithm_2(entry: Entry, seed: int, degree: int = 3) -> Found:
    """The paper's: K = 1000, α = 1/k, N = 100, or twice the number of control points where that is
    more."""
    n_samples = max(100, 2 * bf.simplex.n_controls(entry.n_objectives, degree))
    flow = bf.lift(
        bf.GradientDescent(harmonic),
        degree=degree,
        sampler=bf.Uniform(n_samples),
        n_iterations=1000,
    )
    return _from_solution(bf.minimize(entry.objectives, entry.start(seed), flow, seed=seed), entry)


def algorithm_2_of_equal_degree(entry: Entry, seed: int) -> Found:
    """The same at the degree that `bf.minimize(f, x0)` chose for the problem, the search for which
    is not counted."""
    degree = bf.minimize(entry.objectives, entry.start(seed)).flat_surface.degree
    found = algorithm_2(entry, seed, degree)
    return found._replace(said=f"degree {degree}, {found.said}")


def solve_then_fit(entry: Entry, seed: int) -> Found:
    """SciPy's L-BFGS-B on Σ t_m f_m at the quadrature nodes of degree 5, then one least-squares
    fit: the honest baseline."""
    from scipy.optimize import minimize

    nodes = bf.simplex.quadrature_nodes(entry.n_objectives, 5)
    with double_precision():
        both = jax.jit(jax.value_and_grad(lambda x, t: t @ entry.objectives(x)))
        runs = [
            minimize(
                lambda x, t=t: tuple(np.asarray(part) for part in both(x, t)),
                entry.start(seed),
                jac=True,
                method="L-BFGS-B",
                options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500},
            )
            for t in nodes.t
        ]
    surface = bf.fit(nodes.t, np.stack([run.x for run in runs]), 5, weights=nodes.weights)
    return Found(surface, None, entry.n_objectives * sum(run.nfev for run in runs), "")


class Contestant(NamedTuple):
    """A column of the contest."""

    title: str
    run: Callable[[Entry, int], Found]
    package: str | None = None
    """What must be installed for it, if anything."""
    n_seeds: int = 3
    """How many seeds it is run with: of its random numbers and of where it starts."""


CONTESTANTS = {
    "auto": Contestant("minimize(f, x0)", auto),
    "weights": Contestant("WeightsFlow()", weights),
    "algorithm-2": Contestant("Algorithm 2, degree 3", algorithm_2),
    "algorithm-2-equal": Contestant(
        "Algorithm 2, degree of minimize(f, x0)", algorithm_2_of_equal_degree
    ),
    "solve-then-fit": Contestant("SciPy at nodes, then fit, degree 5", solve_then_fit),
    "psl-tchebycheff": Contestant("network x(t), Tchebycheff", peers.network_tchebycheff),
    "psl-sum": Contestant("network x(t), weighted sums", peers.network_weighted_sum),
    "pytorch-bsf": Contestant("pytorch-bsf minimize, degree 3", peers.pytorch_bsf, "torch_bsf"),
    "upgrad": Contestant("UPGrad (TorchJD) from 50 starts", peers.upgrad, "torchjd"),
    "mgda": Contestant("MGDA (TorchJD) from 50 starts", peers.mgda, "torchjd", n_seeds=1),
    "nsga2": Contestant("NSGA-II (pymoo), 20,000 evaluations", peers.nsga2, "pymoo"),
    "nsga3": Contestant("NSGA-III (pymoo), 20,000 evaluations", peers.nsga3, "pymoo"),
}
"""All of them by key."""
