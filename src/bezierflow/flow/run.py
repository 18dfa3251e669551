"""The loop: iterations of a flow, compiled, with a way in for progress bars, callbacks and interruptions."""

import time
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..bezier import BezierSimplex
from ..compilation import NO_NESTED_THREADS
from ..simplex import Fixed
from .lift import Flow, FlowState, Objectives

RUNNING, CONVERGED, DIVERGED, NON_FINITE = 0, 1, 2, 3

CALM_ITERATIONS = 3
"""How many iterations in a row must change the surface by less than the tolerance, where t is drawn at random: one quiet draw
proves little. With fixed nodes one iteration is proof."""

BLOW_UP = 1e10
"""A surface this many times larger than where the run started has diverged; a few decades of overshoot can still heal."""

PULSE_SECONDS = 0.25
"""About how often a compiled run comes up for air: to redraw a progress bar, or to notice Ctrl-C."""


class Run(NamedTuple):
    """A run so far: where the flow stands, the best it had, and its history."""

    state: FlowState
    good: Float[Array, "n_controls n_variables"]
    """Control points of the calmest iterate so far: what is returned if the run goes wrong."""
    least_movement: Float[Array, ""]
    size: Float[Array, ""]
    calm: Int[Array, ""]
    status: Int[Array, ""]
    evaluations: Int[Array, " 3"]
    movement: Float[Array, " n_iterations"]
    residual: Float[Array, " n_iterations"]

    @property
    def iteration(self) -> int:
        """How many iterations were made."""
        return int(self.state.k) - 1


@eqx.filter_jit
def start(flow: Flow, surface: BezierSimplex, seed: Int[np.ndarray, ""], n_iterations: int) -> Run:
    """A run before its first iteration. Compiled as one program: a dozen small ones would take a second to make."""
    state = flow.init(surface, jax.random.key(seed))
    blank = jnp.full(n_iterations, jnp.nan)
    size = 1 + jnp.max(jnp.abs(surface.control_points))
    infinite, zero = jnp.asarray(jnp.inf, float), jnp.asarray(0, int)
    run = Run(state, surface.control_points, infinite, size, zero, zero, jnp.zeros(3, int), blank, blank)
    return jax.tree.map(_settle_type, run)


def _settle_type(leaf: Array) -> Array:
    """The leaf with its type settled: a counter that started as a bare 1 would make the loop compile a second time."""
    return leaf if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else jax.lax.convert_element_type(leaf, leaf.dtype)


def _advance_once(flow: Flow, objectives: Objectives, run: Run, tol: Float[Array, ""]) -> Run:
    state, info = flow.step(objectives, run.state)
    P, P_next = run.state.surface.control_points, state.surface.control_points
    change = jnp.sqrt(jnp.mean(jnp.sum((P_next - P) ** 2, axis=-1)))
    diameter = jnp.linalg.norm(jnp.max(P_next, axis=0) - jnp.min(P_next, axis=0))
    calm = jnp.where(change <= tol * diameter, run.calm + 1, 0)
    healthy = info.finite & jnp.all(jnp.isfinite(P_next))
    blown_up = jnp.max(jnp.abs(P_next)) > BLOW_UP * run.size
    trouble = jnp.where(~healthy, NON_FINITE, jnp.where(blown_up, DIVERGED, RUNNING))
    calm_enough = 1 if isinstance(flow.sampler, Fixed) else CALM_ITERATIONS
    status = jnp.where((trouble == RUNNING) & (calm >= calm_enough), CONVERGED, trouble)
    calmer = healthy & (info.movement <= run.least_movement)
    place = run.state.k - 1
    return Run(
        state=jax.tree.map(lambda new, old: jnp.where(healthy, new, old), state, run.state),
        good=jnp.where(calmer, P, run.good),
        least_movement=jnp.where(calmer, info.movement, run.least_movement),
        size=run.size,
        calm=calm,
        status=jnp.asarray(status, int),
        evaluations=run.evaluations + jnp.stack([jnp.asarray(count, int) for count in info.evaluations]),
        movement=run.movement.at[place].set(info.movement),
        residual=run.residual.at[place].set(info.residual),
    )


def _loop(flow: Flow, objectives: Objectives, run: Run, until: Int[Array, ""], tol: Float[Array, ""]) -> Run:
    """Iterations up to number `until` in one compiled loop, the same whatever `until` is: the same result, bit for bit."""
    return jax.lax.while_loop(
        lambda run: (run.status == RUNNING) & (run.state.k <= until),
        lambda run: _advance_once(flow, objectives, run, tol),
        run,
    )


_advance: Callable[..., Run] = eqx.filter_jit(_loop, compiler_options=NO_NESTED_THREADS)  # type: ignore[call-overload]


def advance(flow: Flow, objectives: Objectives, run: Run, until: int, tol: float) -> Run:
    """The run after iteration number `until`, or after an earlier one that ended it."""
    if flow.runs_on_host:
        while int(run.status) == RUNNING and run.iteration < until:
            run = _advance_once(flow, objectives, run, jnp.asarray(tol, float))
        return run
    return jax.block_until_ready(_advance(flow, objectives, run, jnp.asarray(until, int), jnp.asarray(tol, float)))


def drive(
    flow: Flow,
    objectives: Objectives,
    run: Run,
    n_iterations: int,
    tol: float,
    on_pulse: Callable[[Run], bool],
    every_iteration: bool,
) -> tuple[Run, bool]:
    """Drives a run to its end: the run, and whether `on_pulse` stopped it. That is called now and then, or every iteration.

    `on_pulse` returns True to stop. Ctrl-C is noticed between pulses and raised from here by Python itself.
    """
    chunk = 1
    while int(run.status) == RUNNING and run.iteration < n_iterations:
        began = time.perf_counter()
        run = advance(flow, objectives, run, min(run.iteration + chunk, n_iterations), tol)
        if on_pulse(run):
            return run, True
        if not every_iteration:
            seconds = max(time.perf_counter() - began, 1e-6)
            # The first iterations may include compilation; growing by at most 100x keeps a slow start from being a long one.
            chunk = int(np.clip(chunk * PULSE_SECONDS / seconds, 1, 100 * chunk))
    return run, False
