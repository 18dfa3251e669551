"""What `minimize` does with objectives that are known by samples: it trains a surface."""

import time
from dataclasses import replace
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from ..answer import Reason, Solution, Stats
from ..bezier import BezierSimplex, Raveling
from ..compilation import program
from ..evaluations import Evaluations
from ..methods import AbstractMethod
from ..names import Names
from ..objectives import as_vector
from .batches import Batch, Feed, HeldOut, Restored, Sampled, Stochastic, as_arrays
from .continuing import Paused
from .contract import Run
from .drive import Callback, drive
from .lift import Flow, lift
from .stochastic_flow import RUNNING, Fed, StochasticFlow, TrainingState

STOCHASTIC_DEGREE = 2
"""The degree of a method that `minimize` lifts to train networks: bends, at a third more control
points than the chord."""


class Settings(NamedTuple):
    """What `minimize` was asked for beside the objectives and the start."""

    method: object
    degree: Literal["auto"] | int
    n_iterations: int | None
    seed: int
    callback: Callback | None
    progress: bool


def train(problem: Stochastic, x0: PyTree, settings: Settings) -> Solution:
    """A surface of models that was trained on batches, in the types of x0 and with JAX's precision
    as it is."""
    began, n_iterations = time.perf_counter(), settings.n_iterations
    flow = _flow(settings.method, settings.degree)
    if problem.batches is None and n_iterations is None:
        raise ValueError("n_iterations must be given where objectives take a key: keys do not end")
    feed = (
        None if problem.batches is None else Feed(problem.batches, again=n_iterations is not None)
    )
    example = jax.random.key(settings.seed) if feed is None else feed.first
    x, rest = _split(x0)
    fed = Fed(Restored(problem.function, rest), feed, n_iterations is None)
    start = _start(x0, x, _count(fed.function, x, example))
    state = _paused_state(problem, x0, flow)
    state = _begin(flow, fed.function, start, np.asarray(settings.seed)) if state is None else state
    run = drive(flow, fed, state, n_iterations, settings.callback, settings.progress)
    last = example if feed is None else feed.last
    solution = _solution(problem, flow, fed, run, last)
    made_by = {**solution.made_by, "n_iterations": n_iterations, "seed": settings.seed}
    return replace(
        solution,
        made_by=made_by,
        stats=replace(solution.stats, seconds=time.perf_counter() - began),
    )


@program
def _begin(
    flow: StochasticFlow, function: Sampled, start: BezierSimplex, seed: Array | np.ndarray
) -> TrainingState:
    """The first state, compiled as one program."""
    return flow.init(function, start, seed)


def _solution(
    problem: Stochastic, flow: StochasticFlow, fed: Fed, run: Run[TrainingState], last: Batch
) -> Solution:
    """What the run found, with the objectives of the held-out batch, or of the last one."""
    surface = flow.surface(run.state).on_host()
    x = surface.vertex(0)
    raveling = Raveling.of(x)
    names = Names(tuple(problem.objective_names)).complete(
        surface.n_objectives, raveling.n_variables
    )
    has_held_out = problem.held_out is not None
    seen = as_arrays(problem.held_out if has_held_out else last, 1)
    objectives = HeldOut(
        fed.function, seen, tuple(np.dtype(leaf.dtype) for leaf in jax.tree.leaves(x))
    )
    result = flow.explain(fed, run, None, names)
    lost = result.reason is Reason.NON_FINITE
    return Solution(
        pareto_set=surface,
        objectives=objectives,
        names=names,
        result=result,
        stats=Stats(flow.evaluations(run.state), run.iterations, 0.0),
        history=run.history,
        made_by={
            **flow.parts(),
            "objectives": f"values of {'the held-out' if has_held_out else 'the last'} batch",
        },
        raveling=raveling,
        paused=(
            None if lost else Paused(problem, flow, run.state, objectives, surface, Evaluations())
        ),
    )


def _flow(method: object, degree: Literal["auto"] | int) -> StochasticFlow:
    """The user's own flow for batches, or their method lifted."""
    if isinstance(method, AbstractMethod):
        return lift(method, STOCHASTIC_DEGREE if degree == "auto" else degree).stochastic()
    if not isinstance(method, Flow | StochasticFlow):
        raise ValueError(
            "method must be a rule on gradients such as Optax(optax.adam(1e-3)), or a lifted one,"
            f" to train on batches, got {method!r}"
        )
    if degree not in ("auto", method.degree):
        raise ValueError(f"degree={degree!r} disagrees with the flow's own; give it to the flow")
    return method.stochastic() if isinstance(method, Flow) else method


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


def _start(x0: PyTree, x: PyTree, n_objectives: int) -> BezierSimplex:
    surface = x0.pareto_set if isinstance(x0, Solution) else x0
    if not isinstance(surface, BezierSimplex):
        return BezierSimplex(jax.tree.map(lambda leaf: leaf[None], x), n_objectives, 0)
    if surface.n_objectives != n_objectives:
        raise ValueError(
            f"x0 is a surface over {surface.n_objectives} objectives, but objectives returns"
            f" {n_objectives}"
        )
    return surface


def _count(function: Sampled, x: PyTree, batch: Batch) -> int:
    """M, by looking at the objectives once."""
    shape = jax.eval_shape(
        lambda x, batch: jnp.asarray(as_vector(function(x, batch))), x, batch
    ).shape
    if len(shape) != 1:
        raise ValueError(
            f"objectives must return one number for each objective, got shape {shape} for x0 and"
            " the first batch"
        )
    return shape[0]


def _paused_state(problem: Stochastic, x0: PyTree, flow: StochasticFlow) -> TrainingState | None:
    """The state to go on from where x0 is the solution of a run of the same objectives with the
    same flow."""
    paused = x0.paused if isinstance(x0, Solution) else None
    if (
        paused is None
        or not isinstance(paused.given, Stochastic)
        or paused.given.function is not problem.function
    ):
        return None
    if not eqx.tree_equal(paused.flow, flow):
        return None
    return paused.state._replace(status=jnp.full_like(paused.state.status, RUNNING))
