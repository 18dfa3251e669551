"""The single-objective method A: what every one of them has, and step sizes α^(k)."""

import abc
import dataclasses
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from ..arguments import read_positive
from ..evaluations import Evaluations

Objective = Callable[[Float[Array, " n_variables"]], Float[Array, ""]]

StepSize = float | Callable[[Array], Array]
"""A number, or a function of the iteration number k = 1, 2, …"""


class AbstractMethod(eqx.Module):
    """A single-objective method A: an immutable object that moves a point x to lower an objective.

    It knows nothing of simplices or of many objectives; `bezierflow.lift` makes it multi-objective.
    A lifted method is run at fresh t in each iteration, so its state travels as a field over the
    simplex: every floating-point leaf s of the state is fitted like the surface itself, s(t) = Sᵀ
    z(t), and evaluated at the next t; other leaves (counters) are shared by all points. This is
    exact for whatever depends linearly on past points and gradients, such as momentum. A state that
    must keep more than that (a positive one, say) belongs into an `AbstractGradientMethod`.
    """

    runs_on_host: ClassVar[bool] = False
    """True for a method that JAX cannot trace; its flow then runs in Python, point by point."""

    @abc.abstractmethod
    def init(self, x: Float[Array, " n_variables"]) -> PyTree:
        """The state before the first step from x: a pytree of arrays, or ()."""

    @abc.abstractmethod
    def step(
        self, objective: Objective, x: Float[Array, " n_variables"], state: PyTree
    ) -> tuple[Array, PyTree]:
        """One application of A: where x moves to, and the state after it."""

    @abc.abstractmethod
    def evaluations(self, state: PyTree) -> Evaluations:
        """What the step that ended in this state evaluated, at one point."""

    def __repr__(self) -> str:
        # Equinox hides defaults by identity, which numbers from a file do not have.
        named = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        inside = ", ".join(f"{name}={eqx.tree_pformat(value)}" for name, value in named)
        return f"{type(self).__name__}({inside})"


class AbstractGradientMethod(AbstractMethod):
    """A method that is a rule on gradients: it sees only ∇f and its own state, not f.

    Lifted, such a rule is applied where a surface keeps its numbers: to the control points, with
    the gradient field fitted like the surface, (ZᵀZ)⁻¹ Zᵀ G. For plain gradient descent that is the
    update rule of Algorithm 2. Its state belongs to control points, which stay while t changes; no
    refit ever touches it, so squares remain positive and counters whole.
    """

    @abc.abstractmethod
    def update(self, gradient: PyTree, x: PyTree, state: PyTree) -> tuple[PyTree, PyTree]:
        """Where x (in training a pytree) moves to by its gradient, and the state after it."""

    def step(
        self, objective: Objective, x: Float[Array, " n_variables"], state: PyTree
    ) -> tuple[Array, PyTree]:
        """One application of the rule to a single point."""
        return self.update(jax.grad(objective)(x), x, state)

    def evaluations(self, state: PyTree) -> Evaluations:
        """One gradient per step."""
        return Evaluations(jacobian=1)


def check_step_size(step_size: StepSize) -> StepSize:
    """A number above 0, or any function: that is called when the run starts."""
    if callable(step_size):
        return step_size
    advice = "a function of the iteration such as lambda k: 1 / k will do as well"
    return read_positive(step_size, "step_size", advice)


def at_iteration(step_size: StepSize, k: Array) -> Array:
    """α^(k)."""
    return step_size(k) if callable(step_size) else jnp.asarray(step_size)
