"""Lifting: from a single-objective method A to the multi-objective method M(A). This is Algorithm 1
of the paper."""

from dataclasses import replace
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from ..answer import ErrorEstimate, Reason, Result, locate_non_finite, why_not_verified
from ..arguments import read_count, shown
from ..bezier import BezierSimplex, basis
from ..compilation import compiled, program
from ..evaluations import Evaluations, total
from ..interrupts import raise_if_interrupted
from ..kinds import kind
from ..methods import AbstractGradientMethod, AbstractMethod, GradientDescent
from ..names import Names
from ..objectives import FeasibleSet, FlatObjectives
from ..precision import on_host
from ..scalarizations import AbstractScalarization, Scalarized, WeightedSum
from ..simplex import AbstractSampler, Fixed, n_controls, quadrature_nodes
from .bounded import explain_bounds, touches
from .contract import AbstractFlow, Estimate, History, Info, Run, explain_end, steps_at_once
from .refit import AbstractRefit, LeastSquares, PullBack
from .schedule import SCHEDULE
from .stochastic import StochasticFlow

RUNNING, CONVERGED, DIVERGED, NON_FINITE = range(4)


@kind("flow.state/1")
class FlowState(NamedTuple):
    """What the next iteration needs.

    Attributes:
        surface: b(t|P).
        method_state: of A, a field over the simplex, or that of a rule on the control points.
        key: of the whole run; the key of iteration k is `fold_in(key, k)`.
        k: the number of the next iteration, from 1.
        evaluations: what all iterations evaluated.
        status: RUNNING, or why there is no next iteration.
        calm: how many iterations in a row changed the surface by less than the tolerance.
        size: of the control points at the start.
        least_movement: of the points in an iteration so far.
        calmest: the control points before that iteration, which are returned if the run goes wrong.
    """

    surface: BezierSimplex
    method_state: PyTree
    key: Array
    k: Int[Array, ""]
    evaluations: Evaluations
    status: Int[Array, ""]
    calm: Int[Array, ""]
    size: Float[Array, ""]
    least_movement: Float[Array, ""]
    calmest: Float[Array, "n_controls n_variables"]

    @property
    def done(self) -> Bool[Array, ""]:
        """Line 2: whether the surface no longer changes, or the run went wrong."""
        return self.status != RUNNING


@kind("flow.lifted/1")
class Flow(AbstractFlow[FlowState]):
    """M(A): moves a Bézier simplex towards the Pareto set by moving points on it with A and
    refitting. Made by `lift`.

    Its four parts are replaceable: where t is drawn (`sampler`), what A minimizes at t
    (`scalarization`), how a point moves (`method`), and how the surface is refitted (`refit`). A
    run ends when an iteration changes the surface by less than `tol` of its diameter.

    With `bounds` it is M(A) of the projected method x ← clip(A_t(x)): A sees points of the box, and
    what it moves is clipped to it. The surface keeps the bounds at the nodes up to the residual of
    the refit; between them a polynomial may leave the box.
    """

    method: AbstractMethod
    degree: int = eqx.field(static=True)
    sampler: AbstractSampler | None
    scalarization: AbstractScalarization
    refit: AbstractRefit | None
    tol: np.ndarray = eqx.field(converter=np.asarray, default=0.0)
    bounds: FeasibleSet | None = None

    most_iterations: ClassVar[int | None] = SCHEDULE.lifted_iterations
    parametrization: ClassVar[str] = "weights"

    def for_objectives(self, n_objectives: int) -> "Flow":
        """This flow with its sampler and its refit settled and its sizes checked for a problem with
        that many objectives."""
        sampler = (
            Fixed(quadrature_nodes(n_objectives, self.degree))
            if self.sampler is None
            else self.sampler.for_degree(self.degree)
        )
        needed = n_controls(n_objectives, self.degree)
        suitable = LeastSquares() if sampler.n_samples >= needed else PullBack()
        refit = suitable if self.refit is None else self.refit
        # Fewer points than control points leave a refit of moved points undetermined; gradients
        # pulled back to the control points are a descent direction all the same.
        by_gradients = isinstance(refit, PullBack) and isinstance(
            self.method, AbstractGradientMethod | GradientDescent
        )
        if sampler.n_samples < needed and not by_gradients:
            raise ValueError(
                f"sampler draws n_samples={sampler.n_samples} points per iteration, fewer than the"
                f" {needed} control points of degree {self.degree} with {n_objectives} objectives;"
                f" draw at least {needed}, lower the degree, or take GradientDescent or Optax with"
                " refit=PullBack()"
            )
        return replace(self, sampler=sampler, refit=refit)

    def stochastic(self, shared: PyTree = None, split: bool = False) -> StochasticFlow:
        """The same lifting for objectives that are known by batches; `StochasticFlow` explains
        `shared` and `split`."""
        if not isinstance(self.method, AbstractGradientMethod):
            raise TypeError(
                "method must be a rule on gradients to follow batches, such as"
                f" Optax(optax.adam(1e-3)), got {self.method!r}"
            )
        return StochasticFlow(
            self.method,
            self.degree,
            self.sampler,
            self.scalarization,
            self.refit,
            shared,
            split,
            n_iterations=self.n_iterations,
        )

    def prepare(
        self, objectives: FlatObjectives, start: BezierSimplex
    ) -> tuple["Flow", BezierSimplex]:
        """The flow with its sampler settled, and its start P^(1) at the flow's degree."""
        flow = self.for_objectives(start.n_objectives)
        if start.degree > self.degree:
            raise ValueError(
                f"x0 is a surface of degree {start.degree}, above the flow's {self.degree}; choose"
                f" degree={start.degree}"
            )
        if start.degree == 0:  # elevation would round
            return flow, BezierSimplex.constant(start.vertex(0), start.n_objectives, self.degree)
        return flow, start.elevate(self.degree)

    def init(self, objectives: FlatObjectives, start: BezierSimplex, seed: int) -> FlowState:
        """Line 1, compiled as one program: a dozen small ones would take a second to make."""
        return _begin(replace(self, n_iterations=None), start, np.asarray(seed))

    def begin(self, surface: BezierSimplex, key: Array) -> FlowState:
        """Line 1: k ← 1 and the initial control points P^(1)."""
        P = surface.control_points
        if isinstance(self.method, AbstractGradientMethod) or self.method.runs_on_host:
            method_state = self.method.init(P)
        else:
            method_state = _shared(jax.vmap(self.method.init)(P))
        zero, size = jnp.asarray(0, int), 1 + jnp.max(jnp.abs(P))
        nothing, infinite = Evaluations(zero, zero, zero), jnp.asarray(jnp.inf, float)
        return FlowState(
            surface, method_state, key, zero + 1, nothing, zero + RUNNING, zero, size, infinite, P
        )

    def iterate(
        self, objectives: FlatObjectives, state: FlowState, key: Array | None = None
    ) -> tuple[FlowState, Info]:
        """Lines 3 to 7: draw t, take the points b(t|P), move each with A on the t-weighted
        objective, refit P.

        The info has `movement`, the RMS distance by which A moved the points, `residual`, that
        between the moved points and the refitted surface, `finite`, whether every objective value
        and every moved point is, and `evaluations`.
        """
        surface, P = state.surface, state.surface.control_points

        # Line 3. The key depends on k alone: the run can be cut into pieces of any length.
        t, weights = self.draw(state.key, state.k, surface.n_objectives, key)
        Z = basis(t, self.degree)
        x = self._clipped(Z @ P)  # line 4
        move = (
            self._follow_rule
            if isinstance(self.method, AbstractGradientMethod)
            else self._move_points
        )
        moved, P_next, method_state, evaluations = move(objectives, t, weights, Z, x, state)

        # A gradient can be finite where its objective is not. The values cost nothing: gradients
        # compute them on the way.
        values = jax.vmap(objectives)(x)
        info = {
            "movement": _rms(moved - x),
            "residual": _rms(moved - Z @ P_next),
            "finite": jnp.all(jnp.isfinite(moved)) & jnp.all(jnp.isfinite(values)),
            "evaluations": evaluations,
        }
        surface = BezierSimplex(P_next, surface.n_objectives, self.degree)  # line 6
        return state._replace(surface=surface, method_state=method_state, k=state.k + 1), info

    def step(
        self, objectives: FlatObjectives, state: FlowState, key: Array | None = None
    ) -> tuple[FlowState, Info]:
        """An iteration, and whether another one follows. One that meets a value that is not finite
        changes nothing.

        `key` is that of the iteration, for a loop that makes the keys of many at once.
        """
        after, info = self.iterate(objectives, state, key)
        P, P_next = state.surface.control_points, after.surface.control_points
        diameter = jnp.linalg.norm(jnp.max(P_next, axis=0) - jnp.min(P_next, axis=0))
        calm = jnp.where(_rms(P_next - P) <= self.tol * diameter, state.calm + 1, 0)
        finite = info["finite"] & jnp.all(jnp.isfinite(P_next))
        blown_up = jnp.max(jnp.abs(P_next)) > SCHEDULE.blow_up * state.size
        # One quiet draw at random proves little.
        at_rest = calm >= (1 if isinstance(self.sampler, Fixed) else SCHEDULE.calm_iterations)
        status = jnp.where(
            ~finite,
            NON_FINITE,
            jnp.where(blown_up, DIVERGED, jnp.where(at_rest, CONVERGED, RUNNING)),
        )
        calmer = finite & (info["movement"] <= state.least_movement)
        # What was evaluated counts even where it led nowhere.
        after = jax.tree.map(lambda new, old: jnp.where(finite, new, old), after, state)
        after = after._replace(
            evaluations=total(state.evaluations, info["evaluations"]),
            status=jnp.asarray(status, int),
            calm=calm,
            least_movement=jnp.where(calmer, info["movement"], state.least_movement),
            calmest=jnp.where(calmer, P, state.calmest),
        )
        return after, {name: info[name] for name in self.recorded}

    @property
    def recorded(self) -> tuple[str, ...]:
        """The names of the infos. A rule on gradients moves the control points themselves: no
        refit, no residual."""
        by_rule = isinstance(self.method, AbstractGradientMethod) and self.bounds is None
        return ("movement",) if by_rule else ("movement", "residual")

    def surface(self, state: FlowState) -> BezierSimplex:
        """b(t|P) with the current P; after trouble the P whose points moved least."""
        trouble = int(state.status) in (DIVERGED, NON_FINITE)
        # A diverged surface is finite, but the one before its steps grew is worth more.
        P = state.calmest if trouble else state.surface.control_points
        return BezierSimplex(on_host(P), state.surface.n_objectives, self.degree)

    def advance(
        self, objectives: FlatObjectives, state: FlowState, most: int
    ) -> tuple[FlowState, History]:
        """Up to `most` iterations in one compiled loop, the same program whatever `most` is: the
        same result, bit for bit."""
        if self.method.runs_on_host:
            after, infos = self.step(objectives, state)
        else:
            # Without n_iterations, which would be a program of its own for each number.
            flow, most = replace(self, n_iterations=None), min(most, SCHEDULE.at_once)
            after, infos = _advance(flow, objectives, state, np.asarray(most))
        made = int(after.k) - int(state.k)
        return after, {name: np.atleast_1d(infos[name])[:made] for name in self.recorded}

    def measure(
        self, objectives: FlatObjectives, run: Run[FlowState], seed: int, estimate: Estimate
    ) -> ErrorEstimate | None:
        """Only the claim that the surface is at rest is verified: an estimate costs Hessians at
        some hundred points."""
        # A run that was stopped claims nothing.
        claims = run.stopped is None and int(run.state.status) == CONVERGED
        verify = claims and not self._why_not_verified(objectives, self.surface(run.state))
        return super().measure(objectives, run, seed, estimate) if verify else None

    def explain(
        self,
        objectives: FlatObjectives,
        run: Run[FlowState],
        error: ErrorEstimate | None,
        names: Names,
    ) -> Result:
        """Which end the run came to; where it went wrong, if it did; how it keeps its bounds, if it
        has any."""
        state, k, surface = run.state, run.iterations, self.surface(run.state)
        status = RUNNING if run.stopped else int(state.status)
        kept = "the calmest surface before that is returned"
        if status == NON_FINITE:
            t, _ = self.draw(state.key, state.k, state.surface.n_objectives)
            where = locate_non_finite(objectives, state.surface, np.asarray(t), names)
            result = Result(Reason.NON_FINITE, f"in iteration {k + 1} {where}; {kept}")
        elif status == DIVERGED:
            result = Result(
                Reason.DIVERGED,
                f"in iteration {k} the surface outgrew {SCHEDULE.blow_up:g} times its start;"
                f" {kept}. Take a smaller step_size, or a method that scales its own steps such as"
                " Newton()",
            )
        else:
            claim = (
                f"after {k} iterations the surface changes by less than {float(self.tol):g} of its"
                " diameter per iteration"
            )
            if status == CONVERGED and error is None:
                claim += f" (not verified: {self._why_not_verified(objectives, surface)})"
            result = explain_end(run, claim, error)
        # Exactly the iterations that the user asked for, with nothing else to wait for.
        as_asked = self.n_iterations is not None and float(self.tol) == 0
        if result.reason is Reason.ITERATION_LIMIT and as_asked:
            result = replace(result, reason=Reason.COMPLETED)
        if self.bounds is None:
            return result
        return explain_bounds(result, self.bounds, surface, self.method)

    def continues(self, other: AbstractFlow) -> bool:
        """Whether this flow goes on from a state of the other: all but tolerance and limit are the
        same."""
        blank = {"tol": np.zeros(()), "n_iterations": None}
        return isinstance(other, Flow) and bool(
            eqx.tree_equal(replace(self, **blank), replace(other, **blank))
        )

    def _why_not_verified(self, objectives: FlatObjectives, surface: BezierSimplex) -> str:
        if self.bounds is not None and touches(self.bounds, surface):
            return "the error estimate does not know bounds, and the surface reaches them"
        return why_not_verified(objectives, surface)

    def parts(self) -> dict[str, object]:
        """The four parts, the degree, the tolerance and the bounds, if any."""
        parts = {**super().parts(), "tol": float(self.tol)}
        return {name: part for name, part in parts.items() if name != "bounds" or part is not None}

    def draw(
        self, key: Array, k: Int[Array, ""], n_objectives: int, own: Array | None = None
    ) -> tuple[Float[Array, "n_samples n_objectives"], Float[Array, " n_samples"]]:
        """Line 3 of iteration k: t and the weights of the refit, the same whenever it is asked.
        `own` is the key of iteration k, where it was made before."""
        assert self.sampler is not None
        return self.sampler(jax.random.fold_in(key, k) if own is None else own, n_objectives)

    def _clipped(self, x: Array) -> Array:
        return x if self.bounds is None else jnp.asarray(self.bounds.clip(x))

    def _move_points(self, objectives, t, weights, Z, x, state):
        """Line 5, x_n ← A_{t_n}(x_n), with the state of A a field over the simplex, fitted like the
        surface; line 6, the refit."""
        refit, P = self.refit, state.surface.control_points
        assert refit is not None

        def move(t, x, method_state):
            raise_if_interrupted()  # between points on the host; a traced method passes here once
            f = Scalarized(objectives, self.scalarization, t)
            moved, method_state = self.method.step(f, x, method_state)
            return moved, method_state, self.method.evaluations(method_state)

        def refitted(values, previous):
            if not _is_field(previous):
                return values
            flat = refit(
                Z, weights, values.reshape(len(values), -1), previous.reshape(len(previous), -1)
            )
            return flat.reshape(previous.shape)

        if self.method.runs_on_host:
            points = [move(*point, state.method_state) for point in zip(t, x, strict=True)]
            rows, states, counts = zip(*points, strict=True)
            moved, method_state = jnp.stack(rows), states[-1]
            evaluations = Evaluations(*map(sum, zip(*counts, strict=True)))
        else:
            fields = jax.tree.map(_is_field, state.method_state)
            at_t = jax.tree.map(
                lambda field, leaf: jnp.tensordot(Z, leaf, 1) if field else leaf,
                fields,
                state.method_state,
            )
            axes = jax.tree.map(lambda field: 0 if field else None, fields)
            moved, at_t, counts = jax.vmap(move, in_axes=(0, 0, axes))(t, x, at_t)
            method_state = _shared(jax.tree.map(refitted, at_t, state.method_state))
            # A count that does not depend on the point comes out of vmap once per point.
            evaluations = Evaluations(*(jnp.sum(count) for count in counts))
        moved = self._clipped(moved)
        return moved, refit(Z, weights, moved, P), method_state, evaluations

    def _follow_rule(self, objectives, t, weights, Z, x, state):
        """Lines 5 and 6 for a rule on gradients: the gradient field is fitted, G_P = (ZᵀZ)⁻¹ Zᵀ G,
        and P follows the rule.

        Within bounds each point follows the rule, with the state of the rule at its t, and is
        clipped; P is refitted. The state stays with the control points all the same: it follows the
        rule with the fitted gradient field.
        """
        assert isinstance(self.method, AbstractGradientMethod)
        assert self.refit is not None
        P = state.surface.control_points

        def gradient(t, x):
            return jax.grad(Scalarized(objectives, self.scalarization, t))(x)

        G = jax.vmap(gradient)(t, x)
        G_P = self.refit(Z, weights, G, jnp.zeros_like(P))
        P_next, method_state = self.method.update(G_P, P, state.method_state)
        evaluations = Evaluations(
            *(jnp.asarray(len(t) * count) for count in self.method.evaluations(method_state))
        )
        if self.bounds is None:
            return Z @ P_next, P_next, method_state, evaluations
        at_t = jax.tree.map(
            lambda leaf: Z @ leaf if jnp.shape(leaf) == P.shape else leaf, state.method_state
        )
        moved = self._clipped(self.method.update(G, x, at_t)[0])
        return moved, self.refit(Z, weights, moved, P), method_state, evaluations


class Origin(NamedTuple):
    """What it takes to make a run of a lifted method again, with its samples or with others.

    Attributes:
        flow: M(A), its sampler settled.
        surface: where it started, P^(1), with flat vectors for values.
        seed: what the samples were drawn from.
    """

    flow: Flow
    surface: BezierSimplex
    seed: int


@program
def _begin(flow: Flow, surface: BezierSimplex, seed: Array | np.ndarray) -> FlowState:
    def settled(leaf: Array | np.ndarray) -> Array:
        # a counter that started as a bare 1 would make the loop compile a second time
        leaf = jnp.asarray(leaf)
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return leaf if is_key else jax.lax.convert_element_type(leaf, leaf.dtype)

    return jax.tree.map(settled, flow.begin(surface, jax.random.key(seed)))


@compiled
def _advance(
    flow: Flow, objectives: FlatObjectives, state: FlowState, most: Array | np.ndarray
) -> tuple[FlowState, Info]:
    """Line 2: iterations until the flow is done or `most` were made."""
    first, room = state.k, SCHEDULE.at_once
    # All at once: one by one, keys would take a fifth of the loop.
    keys = jax.vmap(lambda k: jax.random.fold_in(state.key, k))(first + jnp.arange(room))
    return steps_at_once(
        lambda state: flow.step(objectives, state, keys[state.k - first]), state, most, room
    )


def lift(
    method: AbstractMethod,
    degree: int = SCHEDULE.lifted_degree,
    sampler: AbstractSampler | None = None,
    scalarization: AbstractScalarization | None = None,
    refit: AbstractRefit | None = None,
    *,
    n_iterations: int | None = None,
) -> Flow:
    """M(A): the multi-objective method of the single-objective method A (Algorithm 1). With
    gradient descent, Algorithm 2.

    Args:
        method: A, such as `GradientDescent(lambda k: 1 / k)`, `Newton()` or
            `Optax(optax.adam(1e-2))`.
        degree: D, the degree of the surface.
        sampler: where t is drawn: `Uniform(100)` is the paper's, N = 100 fresh points per
            iteration; `Leverage(N)` has an unbiased refit. The default takes the same near-optimal
            nodes in each iteration, which is more accurate with fewer points.
        scalarization: what A minimizes at t; the default is the paper's `WeightedSum()`.
        refit: how P follows the moved points: the paper's `LeastSquares()`, or `PullBack()`. By
            default the former where N is at least the number of control points, else the latter,
            which suits gradient descent and optax. On batches (`stochastic`) it is always the
            latter, unless a refit is named.
        n_iterations: K of Algorithm 1. Without `tol` a run makes exactly that many; with `tol` at
            most. By default it ends when the surface is at rest, or after 1,000.
    """
    if not isinstance(method, AbstractMethod):
        raise TypeError(
            "method must be a single-objective method such as GradientDescent(0.1) or Newton(),"
            f" got {shown(method)}; optimizers of optax, optimistix and SciPy are wrapped as"
            " Optax(...), Optimistix(...), SciPy(...)"
        )
    degree = read_count(degree, "degree", 1)
    parts = {
        "sampler": (sampler, AbstractSampler, "a sampler such as Uniform(100)"),
        "scalarization": (
            scalarization,
            AbstractScalarization,
            "a scalarization such as WeightedSum()",
        ),
        "refit": (refit, AbstractRefit, "a refit such as LeastSquares()"),
    }
    for name, (part, parent, wanted) in parts.items():
        if part is not None and not isinstance(part, parent):
            raise TypeError(f"{name} must be {wanted}, got {shown(part)}")
    scalarization = scalarization or WeightedSum()
    return Flow(method, degree, sampler, scalarization, refit, n_iterations=n_iterations)


def _is_field(leaf: PyTree) -> bool:
    return jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)


def _shared(method_state: PyTree) -> PyTree:
    """Counters come out of vmap with one entry per point; all are the same, so one is kept."""
    return jax.tree.map(lambda leaf: leaf if _is_field(leaf) else leaf[0], method_state)


def _rms(displacement: Float[Array, "n n_variables"]) -> Float[Array, ""]:
    return jnp.sqrt(jnp.mean(jnp.sum(displacement**2, axis=-1)))
