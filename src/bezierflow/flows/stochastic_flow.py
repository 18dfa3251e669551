"""Stochastic training: a surface whose control points follow gradients on batches."""

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
from .batches import Batch, Feed, Sampled
from .contract import AbstractFlow, Estimate, History, Info, Run
from .refit import AbstractRefit, LeastSquares, PullBack

SAMPLES_AN_OBJECTIVE = 2
"""N is so many times M where no sampler is given."""

MOST_AT_ONCE = 1024
"""Iterations with keys that one compiled loop makes at most: the room it has for their infos."""

RUNNING, NON_FINITE, OUT_OF_BATCHES = range(3)


class TrainingState(NamedTuple):
    """What the next iteration needs. Every leaf is a plain array, so that any library for
    checkpoints can keep it."""

    control_points: PyTree
    """Shaped like x, with an axis of control points in front of each leaf that is not shared."""
    method_state: PyTree
    seed: UInt[Array, ""]
    k: Int[Array, ""]
    """The number of the next iteration, from 1."""
    status: Int[Array, ""]
    """RUNNING, or why there is no next iteration."""
    n_non_finite: Int[Array, ""]
    """How many iterations met a loss that is not finite."""
    where: Float[Array, " n_objectives"]
    """The t of the last such loss."""
    objective: Int[Array, ""]
    """The number of its objective."""

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
            Stratified(SAMPLES_AN_OBJECTIVE * n_objectives)
            if self.sampler is None
            else self.sampler
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
        _check_types(start.control_points)
        P = start.control_points
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
        P = jax.tree.map(
            lambda shared, leaf: _mean(jnp.asarray(leaf)) if shared else _plain(jnp.asarray(leaf)),
            flags,
            P,
        )
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
        for_t, for_data = jax.random.split(jax.random.fold_in(jax.random.key(state.seed), state.k))
        t, weights = sampler(for_t, M)
        Z, shares = basis(t, self.degree), weights / jnp.sum(weights)
        loss, G, values = self._gradients(
            objectives, state.control_points, t, Z, self._data(batch, for_data, len(t))
        )

        def pulled(shared: bool, g: Array) -> Array:
            if shared:
                return jnp.tensordot(shares.astype(g.dtype), g, 1)
            design, flat = Z.astype(g.dtype), g.reshape(len(t), -1)
            zeros = jnp.zeros((design.shape[1], flat.shape[1]), g.dtype)
            return refit(design, weights.astype(g.dtype), flat, zeros).reshape(
                design.shape[1], *g.shape[1:]
            )

        G_P = jax.tree.map(pulled, self._flags(state.control_points), G)
        P, method_state = self.method.update(G_P, state.control_points, state.method_state)
        after = state._replace(control_points=P, method_state=method_state, k=state.k + 1)
        means = shares @ values
        info = {"loss": shares @ loss, **{f"f{m + 1}": means[m] for m in range(M)}}
        return _checked(state, after, t, values), info

    def _gradients(
        self, objectives: Sampled, P: PyTree, t: Array, Z: Array, data: tuple[Batch, int | None]
    ) -> tuple:
        """Scalarized losses (N,), their gradients at the points b(t), shaped like x with N rows,
        and all values (N, M)."""
        leaves, treedef = jax.tree.flatten(P)
        flags = jax.tree.leaves(self._flags(P))
        x = [
            leaf if shared else jnp.tensordot(Z.astype(leaf.dtype), leaf, 1)
            for shared, leaf in zip(flags, leaves, strict=True)
        ]

        def loss(x: list[Array], t: Array, data: Batch) -> tuple[Array, tuple[Array, Array]]:
            values = jnp.asarray(as_vector(objectives(jax.tree.unflatten(treedef, x), data)))
            if values.shape != t.shape:
                raise ValueError(
                    f"objectives must return {len(t)} numbers for x and one batch, got shape"
                    f" {values.shape}"
                )
            values = values.astype(t.dtype)
            scalarized = self.scalarization(values, t)
            return scalarized, (scalarized, values)

        in_axes = ([None if shared else 0 for shared in flags], 0, data[1])
        G, (losses, values) = jax.vmap(jax.grad(loss, has_aux=True), in_axes)(x, t, data[0])
        return losses, jax.tree.unflatten(treedef, G), values

    def _data(self, batch: Batch, key: Array, n: int) -> tuple[Batch, int | None]:
        """What the objectives get beside x, and its axis of t: none where all t have the same."""
        if batch is None:
            return jax.random.split(key, n), 0
        if not self.split:
            return batch, None
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
        """A gradient on a batch at each of N points an iteration."""
        return Evaluations(
            jacobian=self.settled(state.n_objectives)[0].n_samples * (int(state.k) - 1)
        )

    def advance(
        self, objectives: PyTree, state: TrainingState, most: int
    ) -> tuple[TrainingState, History]:
        """Up to `most` iterations, which wait for the device only at their end."""
        if objectives.feed is None:
            after, infos = _advance(
                self, objectives.function, state, np.asarray(min(most, MOST_AT_ONCE))
            )
        else:
            after, listed = state, []
            for batch in objectives.feed.take(most):
                after, info = _step(self, objectives.function, after, batch)
                listed.append(info)
            # once, at the end: the iterations before wait for nothing
            listed = jax.device_get(listed)
            names = (
                listed[0] if listed else ("loss", *(f"f{m + 1}" for m in range(state.n_objectives)))
            )
            infos = {name: np.array([info[name] for info in listed]) for name in names}
            if objectives.feed.why and not after.done:
                after = after._replace(status=jnp.full_like(after.status, OUT_OF_BATCHES))
        made = int(after.k) - int(state.k)
        return after, {name: np.asarray(values)[:made] for name, values in infos.items()}

    def measure(
        self, objectives: PyTree, run: Run[TrainingState], seed: int, estimate: Estimate
    ) -> ErrorEstimate | None:
        """None: an estimate takes Hessians of what is known by samples only."""
        return None

    def explain(
        self, objectives: PyTree, run: Run[TrainingState], error: ErrorEstimate | None, names: Names
    ) -> Result:
        """Why the run ended, and whether a loss was not finite on the way."""
        state, k = run.state, run.iterations
        place = (
            f"{names.objectives[int(state.objective)]} was not finite at"
            f" t={np.round(state.where, 4).tolist()}"
        )
        n = int(state.n_non_finite)
        if int(state.status) == NON_FINITE:
            found = place if n else "a gradient was not finite, though the losses were"
            advice = (
                "Lower the learning rate, clip gradients (optax.clip_by_global_norm), or"
                " optax.apply_if_finite"
            )
            return Result(
                Reason.NON_FINITE,
                f"in iteration {k + 1} {found}; the surface before that is returned. {advice}",
            )
        note = f"; in {n} of them a loss was not finite, the last time {place}" if n else ""
        if run.stopped is None:
            reason = Reason.ITERATION_LIMIT if objectives.as_planned else Reason.OUT_OF_BATCHES
            return Result(
                reason, f"{objectives.feed.why}; the surface after iteration {k} is returned{note}"
            )
        words = {
            Reason.STOPPED: f"the callback returned True after iteration {k}",
            Reason.INTERRUPTED: f"interrupted after iteration {k}",
            Reason.ITERATION_LIMIT: f"all {k} iterations were made",
        }
        return Result(run.stopped, f"{words[run.stopped]}{note}")

    def parts(self) -> dict[str, object]:
        """The parts of the flow."""
        return {
            name: part
            for name, part in super().parts().items()
            if name != "shared" or self.shared is not None
        }


class Fed(NamedTuple):
    """Objectives with the batches of a run."""

    function: Sampled
    feed: Feed | None
    """None where the objectives take a key."""
    one_pass: bool
    """Whether the run is to end with the batches."""

    @property
    def as_planned(self) -> bool:
        """Whether batches that ended are no surprise."""
        return self.one_pass and not (self.feed is not None and self.feed.misshapen)


def _checked(state: TrainingState, after: TrainingState, t: Array, values: Array) -> TrainingState:
    """The state after an iteration; the one before it where the control points are no longer
    finite, or the run was done."""
    bad = ~jnp.isfinite(values)
    first = jnp.argmax(bad)
    met = jnp.any(bad) & ~state.done
    finite = jnp.all(
        jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(after.control_points)])
    )
    goes_on = finite & ~state.done
    kept = jax.tree.map(lambda new, old: jnp.where(goes_on, new, old), after, state)
    return kept._replace(
        status=jnp.where(goes_on | state.done, state.status, NON_FINITE).astype(state.status.dtype),
        n_non_finite=state.n_non_finite + met.astype(state.n_non_finite.dtype),
        where=jnp.where(met, t[first // values.shape[1]], state.where).astype(state.where.dtype),
        objective=jnp.where(met, first % values.shape[1], state.objective).astype(
            state.objective.dtype
        ),
    )


def _mean(rows: Array) -> Array:
    """The mean of rows, exact where all are the same."""
    return rows[0] + jnp.mean(rows - rows[0], axis=0)


def _plain(leaf: Array) -> Array:
    """The leaf with its type settled, so that a loop does not compile a second time."""
    return jax.lax.convert_element_type(leaf, leaf.dtype)


def _check_types(x: PyTree) -> None:
    for leaf in jax.tree.leaves(x):
        if np.dtype(leaf.dtype) not in (np.float32, np.float64):
            raise TypeError(
                f"x0 must have leaves of float32 or float64 to be bent, got {leaf.dtype}; keep such"
                " weights in float32 and cast them inside of the objectives, or split off what is"
                " no weight: eqx.partition(model, eqx.is_inexact_array)"
            )


@program
def _step(
    flow: StochasticFlow, objectives: Sampled, state: TrainingState, batch: Batch
) -> tuple[TrainingState, Info]:
    return flow.step(objectives, state, batch)


@program
def _advance(
    flow: StochasticFlow, objectives: Sampled, state: TrainingState, most: Array | np.ndarray
) -> tuple[TrainingState, Info]:
    """Iterations with keys until the flow is done or `most` were made, and their infos in arrays
    with room to spare."""

    def iterate(running: tuple[TrainingState, Info]) -> tuple[TrainingState, Info]:
        before, infos = running
        after, info = flow.step(objectives, before)
        return after, {name: infos[name].at[before.k - state.k].set(info[name]) for name in infos}

    named = jax.eval_shape(lambda state: flow.step(objectives, state)[1], state)
    blank = {name: jnp.full(MOST_AT_ONCE, jnp.nan, info.dtype) for name, info in named.items()}
    return jax.lax.while_loop(
        lambda running: ~running[0].done & (running[0].k - state.k < most), iterate, (state, blank)
    )
