"""Where a surface's error comes from: its degree, the method that made it, or the samples it
happened to draw."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..bezier import design_matrix
from ..compilation import compiled
from ..methods import Newton
from ..scalarizations import Scalarized
from .losses import Distance, held_out_points
from .setting import Setting

NEWTON_STEPS = 12
"""From a surface near the Pareto set, Newton's method is at its minimizer to rounding within half
as many."""

ARRIVED = 1e-6
"""A minimizer counts as found if the last Newton step is this small, relative to the size of the
surface."""


@dataclass(frozen=True)
class ErrorParts:
    """The mean of |b(t) − x*(t)|² over t and over runs is degree² + method² + samples². All are RMS
    distances in units of x.

    Attributes:
        degree: what no surface of this degree can avoid: the distance of x* from its best fit, over
            held-out t.
        method: the distance of the mean surface over runs from that best fit: iterations still to
            make, and that a method may settle elsewhere than at the best fit.
        samples: the distance of a run's surface from the mean surface, due to the samples it drew.
        n_missing: at how many of the held-out t no minimizer x*(t) was found; they are left out.
        n_held_out: how many there were.
        exact: whether x* is the problem's own Pareto map, or was found by Newton's method from b(t)
            on.
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
    setting: Setting, control_points: Float[np.ndarray, "n_runs n_controls n_variables"]
) -> ErrorParts:
    """Splits the error of runs that differ in their samples alone. Call in double precision.

    Args:
        setting: what the runs share.
        control_points: P^(K+1) of two runs or more.
    """
    t = held_out_points(setting.n_objectives)
    Z, n_runs = design_matrix(t, setting.degree), len(control_points)
    mean = control_points.mean(axis=0)
    x, found = _targets(setting, t, Z @ mean)
    if found.sum() < 2 * Z.shape[1]:
        raise ValueError(
            f"x*(t) was found at {found.sum()} of {len(t)} held-out t only, too few to tell where"
            " the error comes from; objectives must be smooth and have isolated minimizers near"
            " the surface"
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
        exact=isinstance(setting.loss, Distance),
    )


def _targets(
    setting: Setting,
    t: Float[np.ndarray, "n n_objectives"],
    start: Float[np.ndarray, "n n_variables"],
) -> tuple[Float[np.ndarray, "n n_variables"], Bool[np.ndarray, " n"]]:
    """x*(t) and where it was found: the problem's own, or where Newton's method leads from the
    surface."""
    loss = setting.loss
    if isinstance(loss, Distance):
        return np.asarray(loss.problem.pareto_map(t)), np.ones(len(t), dtype=bool)
    x, last_step = map(np.asarray, _minimizers(setting, jnp.asarray(t), jnp.asarray(start)))
    size = np.linalg.norm(np.ptp(start, axis=0))
    found = np.isfinite(x).all(axis=1) & (last_step <= ARRIVED * size)
    # A minimizer farther away than the surface is large is another one than the surface is about.
    found &= np.linalg.norm(np.where(found[:, None], x, np.inf) - start, axis=1) < max(
        size, ARRIVED
    )
    return x, found


def _mean_square(displacement: np.ndarray) -> float:
    return float(np.mean(np.sum(displacement**2, axis=-1)))


@compiled
def _minimizers(setting: Setting, t: Array, x: Array) -> tuple[Array, Array]:
    """Where Newton's method leads from x on f(·|t), and how long its last step was."""
    method = Newton()

    def follow(t: Array, x: Array) -> tuple[Array, Array]:
        objective = Scalarized(setting.objectives, setting.flow.scalarization, t)

        def step(_: Array, x_and_length: tuple[Array, Array]) -> tuple[Array, Array]:
            x = x_and_length[0]
            moved = method.step(objective, x, jnp.asarray(1))[0]
            return moved, jnp.linalg.norm(moved - x)

        return jax.lax.fori_loop(0, NEWTON_STEPS, step, (x, jnp.asarray(jnp.inf)))

    return jax.vmap(follow)(t, x)
