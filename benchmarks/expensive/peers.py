"""Peers: BoTorch's qLogNEHVI and qNParEGO, pymoo's NSGA-II, Sobol points. Each goes on from the
evaluations it already has.

They run in an environment of their own (`pip install torch==2.13.0`, then `pip install botorch
pymoo moocore`), one process and one thread. BoTorch's as its documentation runs them: a Gaussian
process for each objective and constraint with standardized values, 2 (L + 1) Sobol points first, batches of 4, 128
Monte Carlo samples, 10 restarts from 512 raw points, and the reference point of the score. Where
torch finds an accelerator they run on it.
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import qmc

from .problems import Expensive

BATCH, N_SAMPLES, N_RESTARTS, N_RAW = 4, 128, 10, 512
POPULATION = 20
"""Of NSGA-II: two to seven generations fit into the budgets."""

Evaluate = Callable[[np.ndarray], np.ndarray]


def spread(problem: Expensive, n: int, seed: int) -> np.ndarray:
    """Scrambled Sobol points of the box."""
    low, high = problem.bounds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return low + (high - low) * qmc.Sobol(
            problem.n_variables, rng=np.random.default_rng(seed)
        ).random(n)


def sobol(
    problem: Expensive, evaluate: Evaluate, x: np.ndarray, y: np.ndarray, n: int, seed: int
) -> tuple[Any, Any]:
    """Points of the sequence."""
    new = problem.settable(spread(problem, n, seed)[len(x) :])
    return np.vstack([x, new]), np.vstack([y, evaluate(new)])


def nsga2(
    problem: Expensive, evaluate: Evaluate, x: np.ndarray, y: np.ndarray, n: int, seed: int
) -> tuple[Any, Any]:
    """Pymoo's NSGA-II from the beginning: it is quick."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize

    X, Y = [], []
    low, high = problem.bounds

    class Counted(Problem):
        def __init__(self):
            n, M, K = problem.n_variables, problem.n_objectives, problem.n_constraints
            super().__init__(n_var=n, n_obj=M, n_ieq_constr=K, xl=low, xu=high)

        def _evaluate(self, x, out, *args, **kwargs):
            X.append(problem.settable(x))
            Y.append(evaluate(X[-1]))
            out["F"], out["G"] = Y[-1][:, : self.n_obj], Y[-1][:, self.n_obj :]

    minimize(
        Counted(),
        NSGA2(pop_size=POPULATION, sampling=spread(problem, POPULATION, seed)),
        ("n_eval", n),
        seed=seed,
    )
    return np.vstack(X)[:n], np.vstack(Y)[:n]


def accelerated() -> bool:
    """Whether torch is used and has an accelerator."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_available()


def botorch(kind: str) -> Callable[..., tuple[Any, Any]]:
    """One of BoTorch's acquisition functions: one batch more, a function of the evaluations so far
    and of the seed."""

    def run(
        problem: Expensive, evaluate: Evaluate, x: np.ndarray, y: np.ndarray, n: int, seed: int
    ) -> tuple[Any, Any]:
        import torch

        torch.set_num_threads(1)
        torch.set_default_dtype(torch.double)
        torch.manual_seed(1000 * seed + len(x))
        low, high = problem.bounds
        n_first = 2 * (problem.n_variables + 1)
        if len(x) < n_first:
            new = spread(problem, n_first, seed)
        else:
            new = low + (high - low) * _next(
                problem, (x - low) / (high - low), y, min(BATCH, n - len(x)), kind
            )
            torch.cuda.empty_cache()  # other runs may need it; nothing without an accelerator
        new = problem.settable(new)
        return np.vstack([x, new]), np.vstack([y, evaluate(new)])

    return run


def _next(problem: Expensive, u: np.ndarray, y: np.ndarray, q: int, kind: str) -> np.ndarray:
    """The next batch on the unit cube; BoTorch maximizes."""
    import torch
    from botorch import fit_gpytorch_mll
    from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
    from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
    from botorch.acquisition.multi_objective.parego import qLogNParEGO
    from botorch.models import ModelListGP, SingleTaskGP
    from botorch.models.transforms.outcome import Standardize
    from botorch.optim import optimize_acqf
    from botorch.sampling import SobolQMCNormalSampler
    from gpytorch.mlls import SumMarginalLogLikelihood

    device = "cuda" if torch.cuda.is_available() else "cpu"
    M, signs = problem.n_objectives, np.ones(y.shape[1])
    signs[:M] = -1.0  # constraints are negative where they hold, there as here
    U, Y = torch.tensor(u, device=device), torch.tensor(signs * y, device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [
            SingleTaskGP(U, Y[:, m : m + 1], outcome_transform=Standardize(m=1))
            for m in range(Y.shape[1])
        ]
        model = ModelListGP(*models)
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        sampler = SobolQMCNormalSampler(sample_shape=torch.Size([N_SAMPLES]))
        cube = torch.stack([torch.zeros(u.shape[1]), torch.ones(u.shape[1])]).to(U)
        at_once = {"batch_limit": N_RESTARTS, "init_batch_limit": N_RAW}
        settings = {
            "num_restarts": N_RESTARTS,
            "raw_samples": N_RAW,
            "options": {**at_once, "maxiter": 200},
        }
        if kind == "qLogNEHVI":
            worst = (-problem.worst).tolist()
            limits = {
                "objective": IdentityMCMultiOutputObjective(outcomes=list(range(M))),
                "constraints": [lambda Z, k=k: Z[..., k] for k in range(M, y.shape[1])],
            }
            acquisition = qLogNoisyExpectedHypervolumeImprovement(
                model,
                worst,
                U,
                sampler=sampler,
                prune_baseline=True,
                **(limits if problem.n_constraints else {}),
            )
            found, _ = optimize_acqf(acquisition, cube, q=q, sequential=True, **settings)
            return found.detach().cpu().numpy()
        picked: list[Any] = []
        for _ in range(q):  # each point of a batch has random weights of its own
            pending = torch.cat(picked) if picked else None
            acquisition = qLogNParEGO(
                model, U, sampler=sampler, prune_baseline=True, X_pending=pending
            )
            picked.append(optimize_acqf(acquisition, cube, q=1, **settings)[0].detach())
        return torch.cat(picked).cpu().numpy()


PEERS = {
    "sobol": sobol,
    "NSGA-II": nsga2,
    "qLogNEHVI": botorch("qLogNEHVI"),
    "qNParEGO": botorch("qNParEGO"),
}
