"""Lifting: from a single-objective method A to the multi-objective method M(A). This is Algorithm 1 of the paper."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..bezier import BezierSimplex
from ..bezier.basis import basis
from ..methods import AbstractGradientMethod, AbstractMethod, Evaluations
from ..scalarizations import AbstractScalarization, Scalarized, WeightedSum
from ..simplex import AbstractSampler, Fixed, n_controls, quadrature_nodes
from .refit import AbstractRefit, LeastSquares

Objectives = Callable[[Float[Array, " n_variables"]], Float[Array, " n_objectives"]]


class FlowState(NamedTuple):
    """What the next iteration needs."""

    surface: BezierSimplex
    method_state: Any
    key: Array
    """Of the whole run; the key of iteration k is `fold_in(key, k)`."""
    k: Int[Array, ""]


class FlowInfo(NamedTuple):
    """What a person reads about an iteration."""

    movement: Float[Array, ""]
    """RMS distance by which A moved the points."""
    residual: Float[Array, ""]
    """RMS distance between the moved points and the refitted surface."""
    finite: Bool[Array, ""]
    """Whether every objective value and every moved point is finite."""
    evaluations: Evaluations


class Flow(eqx.Module):
    """M(A): moves a Bézier simplex towards the Pareto set by moving points on it with A and refitting. Made by `lift`.

    Its four parts are replaceable: where t is drawn (`sampler`), what A minimizes at t (`scalarization`), how a point moves
    (`method`), and how the surface is refitted (`refit`).
    """

    method: AbstractMethod
    degree: int = eqx.field(static=True)
    sampler: AbstractSampler | None
    scalarization: AbstractScalarization
    refit: AbstractRefit

    @property
    def runs_on_host(self) -> bool:
        """Whether JAX cannot trace the method."""
        return self.method.runs_on_host

    def for_objectives(self, n_objectives: int) -> "Flow":
        """This flow with its sampler settled and its sizes checked for a problem with that many objectives."""
        sampler = Fixed(quadrature_nodes(n_objectives, self.degree)) if self.sampler is None else self.sampler
        needed = n_controls(n_objectives, self.degree)
        if sampler.n_samples < needed:
            raise ValueError(
                f"sampler draws n_samples={sampler.n_samples} points an iteration, fewer than the {needed} control points of "
                f"degree {self.degree} with {n_objectives} objectives; draw at least {needed} or lower the degree"
            )
        return eqx.tree_at(lambda flow: flow.sampler, self, sampler, is_leaf=lambda leaf: leaf is None)

    def init(self, surface: BezierSimplex, key: Array) -> FlowState:
        """Line 1: k ← 1 and the initial control points P^(1)."""
        if isinstance(self.method, AbstractGradientMethod) or self.method.runs_on_host:
            method_state = self.method.init(surface.control_points)
        else:
            method_state = _shared(jax.vmap(self.method.init)(surface.control_points))
        return FlowState(surface, method_state, key, jnp.asarray(1, int))

    def step(self, objectives: Objectives, state: FlowState) -> tuple[FlowState, FlowInfo]:
        """Lines 3 to 7: draw t, take the points b(t|P), move each with A on the t-weighted objective, refit P."""
        surface, P = state.surface, state.surface.control_points

        t, weights = self.draw(state.key, state.k, surface.n_objectives)
        Z = basis(t, self.degree)
        x = Z @ P
        if isinstance(self.method, AbstractGradientMethod):
            P_next, method_state, evaluations = self._move_control_points(objectives, t, weights, Z, x, state)
            moved = Z @ P_next
        else:
            moved, method_state, evaluations = self._move_points(objectives, t, weights, Z, x, state)
            P_next = self.refit(Z, weights, moved, P)

        # A gradient can be finite where its objective is not. The values cost nothing: gradients compute them on the way.
        values = jax.vmap(objectives)(x)
        finite = jnp.all(jnp.isfinite(moved)) & jnp.all(jnp.isfinite(values))
        info = FlowInfo(_rms(moved - x), _rms(moved - Z @ P_next), finite, evaluations)
        surface = BezierSimplex(P_next, surface.n_objectives, self.degree)
        return FlowState(surface, method_state, state.key, state.k + 1), info

    def draw(
        self, key: Array, k: Int[Array, ""], n_objectives: int
    ) -> tuple[Float[Array, "n_samples n_objectives"], Float[Array, " n_samples"]]:
        """Line 3 of iteration k: t and the weights of the refit, the same whenever it is asked."""
        assert self.sampler is not None
        return self.sampler(jax.random.fold_in(key, k), n_objectives)

    def _objective(self, objectives: Objectives, t: Float[Array, " n_objectives"]) -> Scalarized:
        return Scalarized(objectives, self.scalarization, t)

    def _move_points(self, objectives, t, weights, Z, x, state):
        """Line 5: x_n ← A_{t_n}(x_n), with the state of A a field over the simplex, fitted like the surface."""

        def move(t, x, method_state):
            moved, method_state = self.method.step(self._objective(objectives, t), x, method_state)
            return moved, method_state, self.method.evaluations(method_state)

        if self.method.runs_on_host:
            return _point_by_point(move, t, x, state.method_state)
        at_t = jax.tree.map(lambda leaf: jnp.tensordot(Z, leaf, 1) if _is_field(leaf) else leaf, state.method_state)
        axes = jax.tree.map(lambda leaf: 0 if _is_field(leaf) else None, state.method_state)
        moved, at_t, evaluations = jax.vmap(move, in_axes=(0, 0, axes))(t, x, at_t)

        def refitted(values, previous):
            if not _is_field(previous):
                return values
            flat = self.refit(Z, weights, values.reshape(len(values), -1), previous.reshape(len(previous), -1))
            return flat.reshape(previous.shape)

        method_state = _shared(jax.tree.map(refitted, at_t, state.method_state))
        # A count that does not depend on the point comes out of vmap once for each point all the same.
        return moved, method_state, Evaluations(*(jnp.sum(count) for count in evaluations))

    def _move_control_points(self, objectives, t, weights, Z, x, state):
        """Lines 5 and 6 for a rule on gradients: the gradient field is fitted, G_P = (ZᵀZ)⁻¹ Zᵀ G, and P follows the rule."""
        assert isinstance(self.method, AbstractGradientMethod)
        P = state.surface.control_points
        G = jax.vmap(lambda t, x: jax.grad(self._objective(objectives, t))(x))(t, x)
        G_P = self.refit(Z, weights, G, jnp.zeros_like(P))
        P_next, method_state = self.method.update(G_P, P, state.method_state)
        return P_next, method_state, Evaluations(*(jnp.asarray(len(t) * c) for c in self.method.evaluations(method_state)))


def lift(
    method: AbstractMethod,
    degree: int = 3,
    sampler: AbstractSampler | None = None,
    scalarization: AbstractScalarization | None = None,
    refit: AbstractRefit | None = None,
) -> Flow:
    """M(A): the multi-objective method of the single-objective method A (Algorithm 1). With gradient descent, Algorithm 2.

    Args:
        method: A, such as `GradientDescent(lambda k: 1 / k)`, `Newton()` or `Optax(optax.adam(1e-2))`.
        degree: D, the degree of the surface.
        sampler: where t is drawn: `Uniform(100)` is the paper's, N = 100 fresh points each iteration. The default takes the
            same near-optimal nodes each iteration, which is more accurate with fewer points.
        scalarization: what A minimizes at t; the default is the paper's `WeightedSum()`.
        refit: how P is refitted to the moved points; the default is the paper's `LeastSquares()`.
    """
    if not isinstance(method, AbstractMethod):
        raise TypeError(
            f"method must be a single-objective method such as GradientDescent(0.1) or Newton(), got {method!r}; "
            "optimizers of optax, optimistix and SciPy are wrapped as Optax(...), Optimistix(...), SciPy(...)"
        )
    if int(degree) != degree or degree < 1:
        raise ValueError(f"degree must be a whole number of at least 1, got {degree!r}")
    if sampler is not None and not isinstance(sampler, AbstractSampler):
        raise TypeError(f"sampler must be a sampler such as Uniform(100), got {sampler!r}")
    return Flow(method, int(degree), sampler, scalarization or WeightedSum(), refit or LeastSquares())


def _is_field(leaf: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)


def _shared(method_state: Any) -> Any:
    """Counters come out of vmap with one entry a point; all are the same, so one is kept."""
    return jax.tree.map(lambda leaf: leaf if _is_field(leaf) else leaf[0], method_state)


def _point_by_point(move: Callable, t: Array, x: Array, method_state: Any) -> tuple[Array, Any, Evaluations]:
    moved, states, evaluations = zip(*(move(*point, method_state) for point in zip(t, x, strict=True)), strict=True)
    return jnp.stack(moved), states[-1], Evaluations(*(sum(counts) for counts in zip(*evaluations, strict=True)))


def _rms(displacement: Float[Array, "n_samples n_variables"]) -> Float[Array, ""]:
    return jnp.sqrt(jnp.mean(jnp.sum(displacement**2, axis=-1)))
