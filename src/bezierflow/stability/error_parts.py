"""Where a surface's error comes from: its degree, the method that made it, or the samples it happened to draw."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier.design import design_matrix
from ..compilation import NO_NESTED_THREADS
from ..flow import Flow
from ..methods import Newton
from ..scalarizations import Scalarized
from .losses import Distance, held_out_points, loss_for

NEWTON_STEPS = 12
"""From a surface near the Pareto set, Newton's method is at its minimizer to rounding within half as many."""

ARRIVED = 1e-6
"""A minimizer counts as found if the last Newton step is this small, relative to the size of the surface."""


@dataclass(frozen=True)
class ErrorParts:
    """The mean of |b(t) − x*(t)|² over t and over runs is degree² + method² + samples². All are RMS distances in units of x.

    Attributes:
        degree: what no surface of this degree can avoid: the distance of x* from its best fit, over held-out t.
        method: the distance of the mean surface over runs from that best fit: iterations still to make, and that a method may
            settle elsewhere than at the best fit.
        samples: the distance of a run's surface from the mean surface, due to the samples it drew.
        n_missing: at how many of the held-out t no minimizer x*(t) was found; they are left out.
        n_held_out: how many there were.
        exact: whether x* is the problem's own Pareto map, or was found by Newton's method from b(t) on.
    """

    degree: float
    method: float
    samples: float
    n_missing: int
    n_held_out: int
    exact: bool

    @property
    def total(self) -> float:
        """Root of the sum of squares."""
        return float(np.sqrt(self.degree**2 + self.method**2 + self.samples**2))

    @property
    def largest(self) -> str:
        """The name of the largest part."""
        return max(("degree", "method", "samples"), key=lambda name: getattr(self, name))


def error_parts(
    flow: Flow, objectives: Any, control_points: Float[np.ndarray, "n_runs n_controls n_variables"], n_objectives: int
) -> ErrorParts:
    """Splits the error of runs that differ in their samples alone. Call in double precision.

    Args:
        flow: what made them.
        objectives: of a flat vector, with `pareto_map` where known.
        control_points: P^(K+1) of two runs or more.
        n_objectives: M.
    """
    t = held_out_points(n_objectives)
    Z, n_runs = design_matrix(t, flow.degree), len(control_points)
    mean = control_points.mean(axis=0)
    loss = loss_for(objectives, flow)
    exact = isinstance(loss, Distance)
    if exact:
        x, found = np.asarray(objectives.pareto_map(t)), np.ones(len(t), dtype=bool)
    else:
        x, last_step = map(np.asarray, _minimizers(flow, objectives, jnp.asarray(t), jnp.asarray(Z @ mean)))
        size = np.linalg.norm(np.ptp(Z @ mean, axis=0))
        found = np.isfinite(x).all(axis=1) & (last_step <= ARRIVED * size)
        # A minimizer farther away than the surface is large is another one than the surface is about.
        found &= np.linalg.norm(np.where(found[:, None], x, np.inf) - Z @ mean, axis=1) < max(size, ARRIVED)
    if found.sum() < 2 * Z.shape[1]:
        raise ValueError(
            f"x*(t) was found at {found.sum()} of {len(t)} held-out t only, too few to tell where the error comes from; "
            "objectives must be smooth and have isolated minimizers near the surface"
        )
    Z, x = Z[found], x[found]
    best = np.linalg.lstsq(Z, x)[0]
    spread = _mean_square(Z @ (control_points - mean)) * n_runs / (n_runs - 1)
    # The mean over finitely many runs is itself off by its share of the spread.
    bias = _mean_square(Z @ (mean - best)) - spread / n_runs
    return ErrorParts(
        degree=float(np.sqrt(_mean_square(x - Z @ best))),
        method=float(np.sqrt(max(bias, 0.0))),
        samples=float(np.sqrt(spread)),
        n_missing=int(len(t) - found.sum()),
        n_held_out=len(t),
        exact=exact,
    )


def _mean_square(displacement: np.ndarray) -> float:
    return float(np.mean(np.sum(displacement**2, axis=-1)))


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _minimizers(flow: Flow, objectives: Any, t: Array, x: Array) -> tuple[Array, Array]:
    """Where Newton's method leads from x on f(·|t), and how long its last step was."""
    method = Newton()

    def follow(t, x):
        objective = Scalarized(objectives, flow.scalarization, t)

        def step(carry, _):
            x, _ = carry
            moved, _ = method.step(objective, x, jnp.asarray(1))
            return (moved, jnp.linalg.norm(moved - x)), None

        return jax.lax.scan(step, (x, jnp.asarray(jnp.inf)), length=NEWTON_STEPS)[0]

    return jax.vmap(follow)(t, x)
