"""Stochastic training: objectives that are known by batches, and a surface whose control points
follow gradients on them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree, UInt

from ..answer import ErrorEstimate, Reason, Result
from ..bezier import BezierSimplex, basis
from ..compilation import program
from ..evaluations import Evaluations
from ..methods import AbstractGradientMethod
from ..names import Names
from ..objectives import as_vector
from ..scalarizations import AbstractReferencedScalarization, AbstractScalarization
from ..simplex import AbstractSampler, Stratified, n_controls
from .contract import AbstractFlow, History, Info, Run, steps_at_once
from .refit import AbstractRefit, LeastSquares, PullBack
from .schedule import SCHEDULE

Batch = PyTree
"""A pytree of arrays, of any kind that NumPy can read."""

Sampled = Callable[[PyTree, Batch], PyTree]
"""Objectives of x and a batch, or of x and a key."""

RUNNING, NON_FINITE, OUT_OF_BATCHES = range(3)


class Feed:
    """Objectives with the batches of a run, one after another, all of the shapes of the first.

    Attributes:
        function: f(x, batch), or f(x, key) where there are no batches.
        batches: where they come from; None for keys.
        one_pass: whether the run ends with the batches; else they are gone through again, unless
            they are an iterator.
        first: the first batch.
        last: the last one that was taken.
        taken: how many were.
        why: why there are no more; empty as long as there may be some.
        misshapen: whether that is because one has another form than the first.
    """

    def __init__(self, function: Sampled, batches: Iterable[Batch] | None, one_pass: bool):
        self.function, self.batches, self.one_pass = function, batches, one_pass
        self.taken, self.why, self.misshapen = 0, "", False
        self.first: Batch = None
        if batches is not None:
            self.iterator = iter(batches)
            found = next(self.iterator, None)
            if found is None:
                raise ValueError("batches must hold at least one batch, got none")
            self.first = as_arrays(found, 1)
        self.last = self.first

    def take(self, most: int) -> Iterator[Batch]:
        """Up to so many batches: fewer where they end, or where one has another shape."""
        for _ in range(most):
            found = next(self.iterator, None) if self.taken else self.first
            # An iterator that has ended would end again at once.
            if found is None and not self.one_pass and not isinstance(self.batches, Iterator):
                assert self.batches is not None
                self.iterator = iter(self.batches)
                found = next(self.iterator, None)
            if found is None:
                self.why = f"batches ended after {self.taken}"
                return
            batch = as_arrays(found, self.taken + 1)
            if _form(batch) != _form(self.first):
                self.misshapen = True
                self.why = (
                    f"batch {self.taken + 1} has the form {_form(batch)}, but the first one"
                    f" {_form(self.first)}; drop an incomplete last batch (drop_last=True), or pad"
                    " it"
                )
                return
            self.last, self.taken = batch, self.taken + 1
            yield batch


def as_arrays(batch: Batch, number: int) -> Batch:
    """A batch with NumPy arrays for what is none of JAX's, or an error that names what is no
    array."""

    def as_array(leaf: object) -> Array | np.ndarray:
        if isinstance(leaf, jax.Array):
            return leaf
        array = np.asarray(leaf)
        # V: types that NumPy itself does not have, such as bfloat16.
        if array.dtype.kind not in "biufcV":
            raise TypeError(
                f"batches must hold pytrees of arrays of numbers, but batch {number} has a leaf"
                f" {leaf!r}"
            )
        return array

    return jax.tree.map(as_array, batch)


def _form(batch: Batch) -> str:
    leaves, treedef = jax.tree.flatten(batch)
    return f"{treedef} of {[(leaf.shape, leaf.dtype.name) for leaf in leaves]}"


class TrainingState(NamedTuple):
    """What the next iteration needs. Every leaf is a plain array, so that any library for
    checkpoints can keep it.

    Attributes:
        control_points: shaped like x, with an axis of control points in front of each leaf that is
            not shared.
        method_state: of the rule.
        seed: of the run.
        k: the number of the next iteration, from 1.
        status: RUNNING, or why there is no next iteration.
        n_non_finite: how many iterations met a loss that is not finite.
        where: the t of the last such loss.
        objective: the number of its objective.
    """

    control_points: PyTree
    method_state: PyTree
    seed: UInt[Array, ""]
    k: Int[Array, ""]
    status: Int[Array, ""]
    n_non_finite: Int[Array, ""]
    where: Float[Array, " n_objectives"]
    objective: Int[Array, ""]

    @property
    def n_objectives(self) -> int:
        """M."""
        return self.where.shape[-1]

    @property
    def done(self) -> Bool[Array, ""]:
        """Whether the run went wrong or has no batches left."""
        return self.status != RUNNING


class StochasticFlow(AbstractFlow[TrainingState]):
    """M(A) on batches: gradients at N points b(t) are taken back to the control points, which
    follow the rule A.

    An iteration draws t, takes G_n = ∇_x f(b(t_n|P), batch | t_n) and sets P ← A(P, G_P) with G_P =
    ZᵀΩG/Σω, the gradient in P of the mean of f(b(t|P) | t) (`PullBack`), or G_P = (ZᵀΩZ)⁻¹ZᵀΩG
    (`LeastSquares`, Algorithm 2). x is any pytree of float32 or float64 arrays and is never
    flattened: the rule sees the control points leaf by leaf. Made by `lift(...).stochastic()`.

    `init` and `step` are pure functions of arrays, for a training loop of one's own within one's
    own `jit`, `scan` or `vmap`.

    Attributes:
        method: A, a rule on gradients: `Optax(...)`.
        degree: D.
        sampler: where t is drawn; `Stratified(2 M)` by default.
        scalarization: what is minimized at t.
        refit: `PullBack()`, the default, or `LeastSquares()`, which needs N of at least the number
            of control points. The refit amplifies the noise of batches by (ZᵀΩZ)⁻¹ unless N is much
            larger than that (measured: `benchmarks/networks.py`).
        shared: True at the leaves of x that are the same for every t, as a pytree of bools like x
            or like its upper part. Such a leaf is trained, with the mean of its gradients, but not
            bent.
        split: whether a batch is cut along its first axis into N equal parts, one for each t. Else
            all t have the same batch.
    """

    method: AbstractGradientMethod
    degree: int = eqx.field(static=True)
    sampler: AbstractSampler | None
    scalarization: AbstractScalarization
    refit: AbstractRefit | None
    shared: PyTree = None
    split: bool = eqx.field(static=True, default=False)

    parametrization: ClassVar[str] = "weights"

    def __check_init__(self) -> None:
        if (
            isinstance(self.scalarization, AbstractReferencedScalarization)
            and self.scalarization.reference is None
        ):
            name = type(self.scalarization).__name__
            raise ValueError(
                f"scalarization must have a reference, since batches find none; give {name} its"
                " reference=..."
            )

    def settled(self, n_objectives: int) -> tuple[AbstractSampler, AbstractRefit]:
        """The sampler and the refit for so many objectives."""
        sampler = (
            Stratified(SCHEDULE.samples_per_objective * n_objectives)
            if self.sampler is None
            else self.sampler.for_degree(self.degree)
        )
        needed = n_controls(n_objectives, self.degree)
        if isinstance(self.refit, LeastSquares) and sampler.n_samples < needed:
            raise ValueError(
                f"refit=LeastSquares() needs n_samples of at least the {needed} control points of"
                f" degree {self.degree} with {n_objectives} objectives, got {sampler.n_samples};"
                " draw more, or take PullBack()"
            )
        return sampler, PullBack() if self.refit is None else self.refit

    def init(
        self, objectives: PyTree, start: BezierSimplex, seed: int | Array | np.ndarray = 0
    ) -> TrainingState:
        """The state before the first iteration: control points of `start`, a surface of degree 0
        where every t starts at one x.

        A shared leaf starts at the mean of its control points. The objectives are not called.
        """
        self.settled(start.n_objectives)
        P = start.control_points
        for leaf in jax.tree.leaves(P):
            if np.dtype(leaf.dtype) not in (np.float32, np.float64):
                raise TypeError(
                    f"x0 must have leaves of float32 or float64 to be bent, got {leaf.dtype}; keep"
                    " such weights in float32 and cast them inside of the objectives, or split off"
                    " what is no weight: eqx.partition(model, eqx.is_inexact_array)"
                )
        if start.degree == 0:
            size = n_controls(start.n_objectives, self.degree)
            P = jax.tree.map(lambda leaf: jnp.repeat(jnp.asarray(leaf), size, axis=0), P)
        elif start.degree <= self.degree:
            P = start.elevate(self.degree).control_points
        else:
            raise ValueError(
                f"x0 is a surface of degree {start.degree}, above the flow's {self.degree}"
            )
        flags = self._flags(P)
        if all(jax.tree.leaves(flags)):
            raise ValueError(
                "shared must leave at least one leaf of x to be bent, got True for all"
            )

        def first(shared: bool, leaf: Array) -> Array:
            # The mean, exact where all rows are the same; else the leaf with its type settled, so
            # that a loop does not compile a second time.
            rows = jnp.asarray(leaf)
            if shared:
                return rows[0] + jnp.mean(rows - rows[0], axis=0)
            return jax.lax.convert_element_type(rows, rows.dtype)

        P = jax.tree.map(first, flags, P)
        zero = jnp.zeros((), jnp.int32)
        return TrainingState(
            P,
            self.method.init(P),
            jnp.asarray(seed, jnp.uint32),
            zero + 1,
            zero,
            zero,
            jnp.zeros(start.n_objectives),
            zero,
        )

    def step(
        self, objectives: PyTree, state: TrainingState, batch: Batch = None
    ) -> tuple[TrainingState, Info]:
        """One iteration with f(x, batch), or without a batch with f(x, key) and a fresh key for
        each t.

        An iteration after which a control point would not be finite changes nothing but the status.
        """
        M = state.n_objectives
        sampler, refit = self.settled(M)
        # One key for t and one for the data: t stays the same where batches take the place of keys.
        for_t, for_data = jax.random.split(jax.random.fold_in(jax.random.key(state.seed), state.k))
        t, weights = sampler(for_t, M)
        Z, shares = basis(t, self.degree), weights / jnp.sum(weights)
        data, axis = self._data(batch, for_data, len(t))
        leaves, treedef = jax.tree.flatten(state.control_points)
        flags = jax.tree.leaves(self._flags(state.control_points))

        def scalarized(x: list[Array], t: Array, data: Batch) -> tuple[Array, tuple[Array, Array]]:
            values = jnp.asarray(as_vector(objectives(jax.tree.unflatten(treedef, x), data)))
            if values.shape != t.shape:
                raise ValueError(
                    f"objectives must return {len(t)} numbers for x and one batch, got shape"
                    f" {values.shape}"
                )
            values = values.astype(t.dtype)
            loss = self.scalarization(values, t)
            return loss, (loss, values)

        # losses (N,), gradients at the points b(t), shaped like x with N rows, values (N, M)
        x = [
            leaf if shared else jnp.tensordot(Z.astype(leaf.dtype), leaf, 1)
            for shared, leaf in zip(flags, leaves, strict=True)
        ]
        in_axes = ([None if shared else 0 for shared in flags], 0, axis)
        G, (loss, values) = jax.vmap(jax.grad(scalarized, has_aux=True), in_axes)(x, t, data)

        def pulled(shared: bool, g: Array) -> Array:
            if shared:
                return jnp.tensordot(shares.astype(g.dtype), g, 1)
            design, flat = Z.astype(g.dtype), g.reshape(len(t), -1)
            zeros = jnp.zeros((design.shape[1], flat.shape[1]), g.dtype)
            return refit(design, weights.astype(g.dtype), flat, zeros).reshape(
                design.shape[1], *g.shape[1:]
            )

        G_P = jax.tree.unflatten(treedef, list(map(pulled, flags, G)))
        P, method_state = self.method.update(G_P, state.control_points, state.method_state)
        after = state._replace(control_points=P, method_state=method_state, k=state.k + 1)
        means = shares @ values
        info = {"loss": shares @ loss, **{f"f{m + 1}": means[m] for m in range(M)}}

        bad = ~jnp.isfinite(values)
        first, met = jnp.argmax(bad), jnp.any(bad) & ~state.done
        finite = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(P)]
        goes_on = jnp.all(jnp.stack(finite)) & ~state.done
        news = {
            "status": jnp.where(goes_on | state.done, state.status, NON_FINITE),
            "n_non_finite": state.n_non_finite + met,
            "where": jnp.where(met, t[first // M], state.where),
            "objective": jnp.where(met, first % M, state.objective),
        }
        kept = jax.tree.map(lambda new, old: jnp.where(goes_on, new, old), after, state)
        # types stay what they were, or a loop would compile a second time
        typed = {name: new.astype(getattr(state, name).dtype) for name, new in news.items()}
        return kept._replace(**typed), info

    def _data(self, batch: Batch, key: Array, n: int) -> tuple[Batch, int | None]:
        """What the objectives get beside x, and its axis of t: none where all t have the same."""
        if batch is None:
            return jax.random.split(key, n), 0
        if not self.split:
            return batch, None
        # Shapes are known while tracing, so this raises before anything is computed.
        sizes = {leaf.shape[0] if leaf.ndim else 0 for leaf in jax.tree.leaves(batch)}
        if any(size == 0 or size % n for size in sizes):
            raise ValueError(
                f"split=True needs batches whose first axis is a multiple of n_samples={n}, got"
                f" sizes {sorted(sizes)}"
            )
        return (
            jax.tree.map(lambda leaf: leaf.reshape(n, leaf.shape[0] // n, *leaf.shape[1:]), batch),
            0,
        )

    def _flags(self, P: PyTree) -> PyTree:
        """Whether each leaf is shared."""
        if self.shared is None:
            return jax.tree.map(lambda _: False, P)
        try:
            return jax.tree.map(
                lambda flag, part: jax.tree.map(lambda _: bool(flag), part), self.shared, P
            )
        except (ValueError, TypeError) as error:
            raise ValueError(
                "shared must be a pytree of bools like x or like its upper part, got"
                f" {self.shared!r}"
            ) from error

    def surface(self, state: TrainingState) -> BezierSimplex:
        """The surface b(t|P), with values shaped like x."""
        P, size = state.control_points, n_controls(state.n_objectives, self.degree)
        P = jax.tree.map(
            lambda shared, leaf: jnp.broadcast_to(leaf, (size, *leaf.shape)) if shared else leaf,
            self._flags(P),
            P,
        )
        return BezierSimplex(P, state.n_objectives, self.degree)

    def evaluations(self, state: TrainingState) -> Evaluations:
        """A gradient on a batch at each of N points per iteration."""
        return Evaluations(
            jacobian=self.settled(state.n_objectives)[0].n_samples * (int(state.k) - 1)
        )

    def advance(
        self, objectives: PyTree, state: TrainingState, most: int
    ) -> tuple[TrainingState, History]:
        """Up to `most` iterations, which wait for the device only at their end."""
        feed: Feed = objectives
        # Without n_iterations, which would be a program of its own for each number.
        flow = replace(self, n_iterations=None)
        if feed.batches is None:
            most = min(most, SCHEDULE.at_once)
            after, infos = _advance(flow, feed.function, state, np.asarray(most))
        else:
            after, listed = state, []
            for batch in feed.take(most):
                after, info = _step(flow, feed.function, after, batch)
                listed.append(info)
            # once, at the end: the iterations before wait for nothing
            listed = jax.device_get(listed)
            names = (
                listed[0] if listed else ("loss", *(f"f{m + 1}" for m in range(state.n_objectives)))
            )
            infos = {name: np.array([info[name] for info in listed]) for name in names}
            # A loss that is not finite says more than that batches ended.
            if feed.why and not after.done:
                after = after._replace(status=jnp.full_like(after.status, OUT_OF_BATCHES))
        made = int(after.k) - int(state.k)
        return after, {name: np.asarray(values)[:made] for name, values in infos.items()}

    def explain(
        self, objectives: PyTree, run: Run[TrainingState], error: ErrorEstimate | None, names: Names
    ) -> Result:
        """Why the run ended, and whether a loss was not finite on the way."""
        state, k, n = run.state, run.iterations, int(run.state.n_non_finite)
        place = (
            f"{names.objectives[int(state.objective)]} was not finite at"
            f" t={np.round(state.where, 4).tolist()}"
        )
        if int(state.status) == NON_FINITE:
            found = place if n else "a gradient was not finite, though the losses were"
            return Result(
                Reason.NON_FINITE,
                f"in iteration {k + 1} {found}; the surface before that is returned. Lower the"
                " learning rate, clip gradients (optax.clip_by_global_norm), or"
                " optax.apply_if_finite",
            )
        note = f"in {n} of them a loss was not finite, the last time {place}" if n else ""
        if run.stopped is None:
            planned = objectives.one_pass and not objectives.misshapen
            reason = Reason.COMPLETED if planned else Reason.OUT_OF_BATCHES
            words = f"{objectives.why}; the surface after iteration {k} is returned"
            return Result(reason, words).noted(note)
        limit = run.stopped is Reason.ITERATION_LIMIT
        return Result(Reason.COMPLETED if limit else run.stopped, run.ending).noted(note)

    def continues(self, other: AbstractFlow) -> bool:
        """Whether this flow goes on from a state of the other: all but the limit is the same."""
        return isinstance(other, StochasticFlow) and bool(
            eqx.tree_equal(replace(self, n_iterations=None), replace(other, n_iterations=None))
        )

    def parts(self) -> dict[str, object]:
        """The parts of the flow."""
        return {
            name: part
            for name, part in super().parts().items()
            if name != "shared" or self.shared is not None
        }


_step = program(StochasticFlow.step)
"""An iteration, compiled."""


@program
def _advance(
    flow: StochasticFlow, objectives: Sampled, state: TrainingState, most: Array | np.ndarray
) -> tuple[TrainingState, Info]:
    """Iterations with keys until the flow is done or `most` were made."""
    return steps_at_once(lambda state: flow.step(objectives, state), state, most, SCHEDULE.at_once)
