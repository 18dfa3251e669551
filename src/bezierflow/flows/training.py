"""Training: a surface of models from objectives that are known by batches."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..answer import Reason, Solution, Stats
from ..bezier import BezierSimplex, Raveling
from ..compilation import program
from ..evaluations import Evaluations
from ..methods import AbstractMethod
from ..names import Names
from ..objectives import as_vector
from .contract import Paused
from .drive import Callback, drive
from .lift import Flow, lift
from .schedule import SCHEDULE
from .stochastic import (
    RUNNING,
    Batch,
    Feed,
    Sampled,
    StochasticFlow,
    as_arrays,
)

_begin = program(StochasticFlow.init)
"""The first state, compiled as one program."""


class Restored(eqx.Module):
    """Objectives of the floating-point arrays of x, with all that x has beside them (functions,
    integers) put back."""

    function: Sampled
    rest: PyTree

    def __call__(self, x: PyTree, batch: Batch) -> PyTree:
        """f(x, batch)."""
        return self.function(x if self.rest is None else eqx.combine(x, self.rest), batch)


class HeldOut(eqx.Module):
    """Objectives of x alone: those of one batch, computed with the types of x0."""

    function: Sampled
    batch: Batch
    dtypes: tuple[np.dtype, ...] = eqx.field(static=True)

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """f(x, batch)."""
        leaves, treedef = jax.tree.flatten(x)
        typed = [
            jnp.asarray(leaf).astype(dtype) for leaf, dtype in zip(leaves, self.dtypes, strict=True)
        ]
        return as_vector(self.function(jax.tree.unflatten(treedef, typed), self.batch))


def stochastic_flow(method: object) -> StochasticFlow:
    """The user's own flow for batches, or their method lifted."""
    if isinstance(method, AbstractMethod):
        return lift(method, SCHEDULE.stochastic_degree).stochastic()
    if not isinstance(method, Flow | StochasticFlow):
        raise ValueError(
            "method must be a rule on gradients such as Optax(optax.adam(1e-3)), or a lifted one,"
            f" to train on batches, got {method!r}"
        )
    return method.stochastic() if isinstance(method, Flow) else method


def train_surface(  # noqa: PLR0913
    function: Sampled,
    x0: PyTree,
    flow: StochasticFlow,
    batches: Iterable[Batch] | None,
    held_out: Batch,
    names: Sequence[str],
    seed: int,
    callback: Callback | None,
    progress: bool | None,
) -> Solution:
    """A surface of models that was trained on batches, in the types of x0 and with JAX's precision
    as it is."""
    began = time.perf_counter()
    x, rest = _split(x0)
    restored = Restored(function, rest)
    feed = Feed(restored, batches, one_pass=flow.n_iterations is None)
    # Shapes of one batch, or a key, tell how many objectives there are.
    example = jax.random.key(seed) if batches is None else feed.first
    start = _start(restored, x0, x, example)
    paused = x0.paused if isinstance(x0, Solution) else None
    if paused is not None and paused.given is function and flow.continues(paused.flow):
        # Batches that had ended, or a limit, are no reason to end again.
        state = paused.state._replace(status=jnp.full_like(paused.state.status, RUNNING))
    else:
        plain = replace(flow, n_iterations=None)
        state = _begin(plain, restored, start, np.asarray(seed))
    run = drive(flow, feed, state, callback, progress)
    surface = flow.surface(run.state).on_host()
    x = surface.vertex(0)
    raveling = Raveling.of(x)
    complete = Names(tuple(names)).complete(surface.n_objectives, raveling.n_variables)
    # Without a held-out batch the front is that of the last one: of data that was seen.
    last = example if batches is None else feed.last
    objectives = HeldOut(
        restored,
        as_arrays(last if held_out is None else held_out, 1),
        tuple(np.dtype(leaf.dtype) for leaf in jax.tree.leaves(x)),
    )
    result = flow.explain(feed, run, None, complete)
    lost = result.reason is Reason.NON_FINITE  # the same state would fail again
    of = f"values of {'the last' if held_out is None else 'the held-out'} batch"
    return Solution(
        pareto_set=surface,
        objectives=objectives,
        names=complete,
        result=result,
        stats=Stats(flow.evaluations(run.state), run.iterations, time.perf_counter() - began),
        history=run.history,
        made_by={**flow.parts(), "objectives": of, "seed": seed},
        raveling=raveling,
        paused=(
            None if lost else Paused(function, flow, run.state, objectives, surface, Evaluations())
        ),
    )


def _split(x0: PyTree) -> tuple[PyTree, PyTree]:
    """The floating-point arrays of x0, and all else: None stands in each for what is in the
    other."""
    if isinstance(x0, Solution):
        before = x0.objectives.function if isinstance(x0.objectives, HeldOut) else None
        return _split(x0.pareto_set)[0], before.rest if isinstance(before, Restored) else None
    if isinstance(x0, BezierSimplex):
        return x0.vertex(0), None
    params, rest = eqx.partition(
        x0, lambda leaf: hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.floating)
    )
    if not jax.tree.leaves(params):
        raise ValueError("x0 must hold at least one array of floating-point numbers")
    return params, rest


def _start(function: Sampled, x0: PyTree, x: PyTree, batch: Batch) -> BezierSimplex:
    """The surface to start at, for as many objectives as the function returns when traced once."""
    shape = jax.eval_shape(
        lambda x, batch: jnp.asarray(as_vector(function(x, batch))), x, batch
    ).shape
    if len(shape) != 1:
        raise ValueError(
            f"objectives must return one number for each objective, got shape {shape} for x0 and"
            " the first batch"
        )
    surface = x0.pareto_set if isinstance(x0, Solution) else x0
    if not isinstance(surface, BezierSimplex):
        return BezierSimplex(jax.tree.map(lambda leaf: leaf[None], x), shape[0], 0)
    if surface.n_objectives != shape[0]:
        raise ValueError(
            f"x0 is a surface over {surface.n_objectives} objectives, but objectives returns"
            f" {shape[0]}"
        )
    return surface


def average_along(
    surface: Callable[[np.ndarray], PyTree],
    function: Sampled,
    batches: Iterable[Batch],
    t: Float[Array | np.ndarray, "n n_objectives"],
) -> PyTree:
    """The mean over all batches of function(b(t), batch): one row per t, in every leaf of what the
    function returns.

    For test losses of a whole loader, and for batch statistics: those of b(t) are not between those
    of the corners, so they are computed anew along the surface. Batches count equally.
    """
    x, total, n = surface(np.asarray(t)), None, 0
    # Batch by batch: a whole loader may not fit into memory.
    for n, batch in enumerate(batches, 1):
        found = _at_each(function, x, as_arrays(batch, n))
        total = found if total is None else jax.tree.map(jnp.add, total, found)
    if n == 0:
        raise ValueError("batches must hold at least one batch, got none")
    return jax.tree.map(lambda leaf: leaf / n, total)


@program
def _at_each(function: Sampled, x: PyTree, batch: Batch) -> PyTree:
    return jax.vmap(lambda x: function(x, batch))(x)
