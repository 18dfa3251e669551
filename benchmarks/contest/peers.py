"""The peers of the contest: other people's methods, each as its authors or its library's
documentation run it."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

import bezierflow as bf
from bezierflow.precision import double_precision

from .entries import Entry
from .found import Found

N_EVALUATIONS = 20_000
"""What an evolutionary method may spend."""

N_STARTS, N_STEPS = 50, 200
"""Of the methods that find one Pareto point a start: 10,000 Jacobians, more than `minimize(f, x0)`
asks for on most problems of the contest. Their aggregators take milliseconds a step, which is why
they do not get the 100,000 of Algorithm 2."""

STEP_SIZES = (0.1, 0.03, 0.01, 1e-3, 1e-4)
"""Tried in this order until one does not diverge; what diverged counts as spent."""

LARGEST = 1e6
"""Coordinates beyond this count as diverged."""

N_BATCH, N_UPDATES, WIDTH = 100, 1000, 256
"""Of the network: as many gradients as Algorithm 2 (100 t in each of 1000 iterations); two hidden
layers of 256 units and Adam with steps of 1e-3, as in Lin et al., "Pareto set learning for
expensive multi-objective optimization" (NeurIPS 2022)."""

N_SAMPLED = 4000
"""Points taken from a network, whose distance from the set is then measured by nearest
neighbors."""


def network_tchebycheff(entry: Entry, seed: int) -> Found:
    """Pareto set learning with the Tchebycheff scalarization, max_m t_m (f_m − z_m), z the least
    values seen so far."""
    return _network(entry, seed, lambda values, t, ideal: jnp.max(t * (values - ideal)))


def network_weighted_sum(entry: Entry, seed: int) -> Found:
    """The same with weighted sums."""
    return _network(entry, seed, lambda values, t, ideal: jnp.dot(t, values))


def _network(entry: Entry, seed: int, scalarize: Callable[[Any, Any, Any], Any]) -> Found:
    """An MLP x(t), trained on fresh uniform t; its last layer starts at the entry's start."""
    M, L = entry.n_objectives, len(entry.x0)
    rule = optax.adam(1e-3)

    def loss(network: eqx.nn.MLP, t: jax.Array, ideal: jax.Array) -> tuple[jax.Array, jax.Array]:
        values = jax.vmap(lambda t: entry.objectives(network(t)))(t)
        return jnp.mean(jax.vmap(scalarize, (0, 0, None))(values, t, ideal)), jnp.min(
            values, axis=0
        )

    def update(
        carry: tuple[Any, Any, jax.Array], key: jax.Array
    ) -> tuple[tuple[Any, Any, jax.Array], None]:
        weights, memory, ideal = carry
        t = bf.simplex.uniform(key, N_BATCH, M)
        gradient, lowest = jax.grad(lambda w: loss(eqx.combine(w, rest), t, ideal), has_aux=True)(
            weights
        )
        change, memory = rule.update(gradient, memory)
        return (optax.apply_updates(weights, change), memory, jnp.minimum(ideal, lowest)), None

    with double_precision():
        key = jax.random.key(seed)
        network = eqx.nn.MLP(M, L, WIDTH, 2, key=key)
        start = jnp.asarray(entry.start(seed))
        network = eqx.tree_at(lambda n: n.layers[-1].bias, network, start)
        weights, rest = eqx.partition(network, eqx.is_inexact_array)
        keys = jax.random.split(jax.random.fold_in(key, 1), N_UPDATES)
        carry = (weights, rule.init(weights), entry.objectives(start))
        weights, _, _ = jax.jit(lambda carry: jax.lax.scan(update, carry, keys)[0])(carry)
        t = np.concatenate(
            [np.eye(M), np.random.default_rng(seed).dirichlet(np.ones(M), N_SAMPLED)]
        )
        x = np.asarray(jax.vmap(eqx.combine(weights, rest))(jnp.asarray(t)))
    cost = M * N_BATCH * N_UPDATES
    return Found(None, x, cost, "") if np.isfinite(x).all() else Found(None, None, cost, "diverged")


def pytorch_bsf(entry: Entry, seed: int) -> Found:
    """`torch_bsf.minimize`, degree 3, 1000 iterations, with gradients from JAX and the largest of a
    few steps that works."""
    import warnings

    import torch
    import torch_bsf

    scalarized = _torch_function(entry)

    def loss(x: Any, points: Any) -> Any:
        return scalarized.apply(x, points.parameters)

    space = torch_bsf.BezierSpace.simplex(entry.n_objectives - 1, degree=3)
    start = torch_bsf.BezierModel(
        space, torch.tensor(np.tile(entry.start(seed), (space.n_controls, 1)))
    )
    n_samples = max(100, 2 * space.n_controls)
    spent = 0
    for step in STEP_SIZES:
        method = torch_bsf.PreconditionedSGD(step_size=step, max_iter=1000)
        spent += entry.n_objectives * n_samples * 1000
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = torch_bsf.minimize(
                    start, loss, method=method, n_samples=n_samples, seed=seed
                )
        except (ValueError, ArithmeticError):
            continue
        points = result.model.coefficients.detach().numpy()
        if np.isfinite(points).all() and np.abs(points).max() < LARGEST:
            return Found(
                bf.BezierSimplex(points.copy(), entry.n_objectives, 3),
                None,
                spent,
                f"step {step:g}",
            )
    return Found(None, None, spent, "diverged with every step size")


def _torch_function(entry: Entry) -> Any:
    """Σ t_m f_m(x) as a function of PyTorch, computed by JAX."""
    import torch

    with double_precision():
        both = jax.jit(
            lambda x, t: jax.vmap(jax.value_and_grad(lambda x, t: t @ entry.objectives(x)))(x, t)
        )

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

    return Scalarized


def upgrad(entry: Entry, seed: int) -> Found:
    """Descent along TorchJD's UPGrad from many random starts."""
    from torchjd.aggregation import UPGrad

    return _aggregated(entry, seed, UPGrad())


def mgda(entry: Entry, seed: int) -> Found:
    """Descent along TorchJD's MGDA, the shortest vector in the hull of the gradients, from many
    random starts."""
    from torchjd.aggregation import MGDA

    return _aggregated(entry, seed, MGDA())


def _aggregated(entry: Entry, seed: int, aggregate: Callable[[Any], Any]) -> Found:
    """Steps x ← x − α A(J_f(x)) from random points of the box that evolutionary methods get, all
    starts side by side."""
    import torch

    low, high = box(entry)
    starts = np.random.default_rng(seed).uniform(low, high, (N_STARTS, len(low)))
    with double_precision():
        jacobian = jax.jit(jax.vmap(jax.jacobian(entry.objectives)))
        spent = 0
        for step in STEP_SIZES:
            x = starts.copy()
            for _ in range(N_STEPS):
                spent += N_STARTS * entry.n_objectives
                slopes = np.array(jacobian(x))
                if not np.isfinite(slopes).all() or np.abs(x).max() > LARGEST:
                    break
                x -= step * np.stack([aggregate(torch.from_numpy(rows)).numpy() for rows in slopes])
            else:
                if np.isfinite(x).all() and np.abs(x).max() <= LARGEST:
                    return Found(None, x, spent, f"step {step:g}")
    return Found(None, None, spent, "diverged with every step size")


def nsga2(entry: Entry, seed: int) -> Found:
    """Pymoo's NSGA-II with 100 individuals."""
    from pymoo.algorithms.moo.nsga2 import NSGA2

    return _pymoo(entry, seed, NSGA2(pop_size=100))


def nsga3(entry: Entry, seed: int) -> Found:
    """Pymoo's NSGA-III with 100 reference directions."""
    from pymoo.algorithms.moo.nsga3 import NSGA3
    from pymoo.util.ref_dirs import get_reference_directions

    directions = get_reference_directions("energy", entry.n_objectives, 100, seed=seed)
    return _pymoo(entry, seed, NSGA3(ref_dirs=directions, pop_size=100))


def _pymoo(entry: Entry, seed: int, algorithm: Any) -> Found:
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize

    with double_precision():
        values = jax.jit(jax.vmap(entry.objectives))
    low, high = box(entry)

    class Wrapped(Problem):
        def __init__(self):
            super().__init__(n_var=len(entry.x0), n_obj=entry.n_objectives, xl=low, xu=high)

        def _evaluate(self, x, out, *args, **kwargs):
            with double_precision():
                out["F"] = np.asarray(values(x))

    result = minimize(Wrapped(), algorithm, ("n_eval", N_EVALUATIONS), seed=seed, verbose=False)
    return Found(None, np.atleast_2d(result.X), N_EVALUATIONS * entry.n_objectives, "")


def box(entry: Entry) -> tuple[np.ndarray, np.ndarray]:
    """The box that some methods ask for: twice as large as the exact set, a help that the others do
    not get."""
    low, high = entry.exact.min(axis=0), entry.exact.max(axis=0)
    margin = 0.5 * np.maximum(high - low, 0.1)
    return low - margin, high + margin
