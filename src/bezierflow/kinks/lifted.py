"""Objectives with kinks as smooth functions of x and of one variable u for each kink."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .interpreter import Arms, evaluate

AS_IT_IS = -1
"""In place of a number: a kink that stays what it is."""


class Plan(eqx.Module):
    """What becomes of each kink of a function, in the order in which they are evaluated.

    Attributes:
        variables: the number of the variable u that takes its place, `AS_IT_IS` for none.
        factors: the kink is this times u; kinks that are multiples of each other share a variable.
        winners: the number of the arm that is the largest everywhere and takes its place, `AS_IT_IS` for none.
        rows: the numbers of those arms, of all arms of all kinks, that bound a variable from below.
    """

    variables: tuple[int, ...] = eqx.field(static=True)
    factors: tuple[float, ...] = eqx.field(static=True)
    winners: tuple[int, ...] = eqx.field(static=True)
    rows: tuple[int, ...] = eqx.field(static=True)

    @property
    def n_auxiliary(self) -> int:
        """How many variables u there are."""
        return max(self.variables, default=AS_IT_IS) + 1

    @staticmethod
    def everything(sizes: list[tuple[int, int]]) -> "Plan":
        """A variable for each kink and a row for each arm, for kinks with these numbers of arms and of values."""
        n, n_rows = sum(values for _, values in sizes), sum(arms * values for arms, values in sizes)
        return Plan(tuple(range(n)), (1.0,) * n, (AS_IT_IS,) * n, tuple(range(n_rows)))


class Lifted(eqx.Module):
    """F(x, u) with F(x, u*(x)) = f(x), where u*_k(x) is the k-th kink: an absolute value or a maximum.

    Where F and the arms are nondecreasing in every u, minimizing f is minimizing F subject to arms(x, u) − u ≤ 0.

    Attributes:
        objectives: f, a function of a flat vector.
        n_variables: how many of the numbers are x; u follows.
        plan: what becomes of each kink.
    """

    objectives: Callable[[Array], Array]
    n_variables: int = eqx.field(static=True)
    plan: Plan

    @property
    def n_auxiliary(self) -> int:
        """How many variables u there are."""
        return self.plan.n_auxiliary

    def __call__(self, xu: Float[Array, " n_all"]) -> Float[Array, " n_objectives"]:
        """F(x, u)."""
        return self.evaluate(xu)[0]

    def rows(self, xu: Float[Array, " n_all"]) -> Float[Array, " n_rows"]:
        """The arms less their u: at most 0 where each u is at least its kink."""
        arms, u = self.evaluate(xu)[1:]
        parts = [(part - value).ravel() for part, value in zip(arms, u, strict=True)]
        return jnp.concatenate([jnp.zeros(0), *parts])[np.array(self.plan.rows, dtype=int)]

    def evaluate(self, xu: Float[Array, " n_all"]) -> tuple[Array, list[Arms], list[Array]]:
        """F(x, u), and for each operation with kinks its arms and what took the place of their maximum."""
        x, u = xu[: self.n_variables], xu[self.n_variables :]
        return self._follow(x, lambda kinks, exact: jnp.asarray(self._factors[kinks]) * u[self._variables[kinks]])

    def exact(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_auxiliary"]:
        """u*(x), the least u for which all rows hold."""
        values = jnp.concatenate([jnp.zeros(0), *self._follow(x, lambda kinks, exact: exact)[2]])
        first = [self.plan.variables.index(number) for number in range(self.n_auxiliary)]
        return values[np.array(first, dtype=int)] / self._factors[first]

    @property
    def _variables(self) -> np.ndarray:
        return np.array(self.plan.variables, dtype=int)

    @property
    def _factors(self) -> np.ndarray:
        return np.array(self.plan.factors)

    def _follow(self, x: Array, lift: Callable[[np.ndarray, Array], Array]) -> tuple[Array, list[Arms], list[Array]]:
        """Evaluates the objectives with `lift(numbers, exact values)` in place of the kinks that have a variable."""
        all_arms: list[Arms] = []
        all_values: list[Array] = []
        n_seen = 0

        def visit(arms: Arms) -> Array:
            nonlocal n_seen
            kinks = np.arange(n_seen, n_seen + arms.shape[1])
            n_seen += arms.shape[1]
            winner = np.array(self.plan.winners, dtype=int)[kinks]
            exact = arms.max(axis=0)
            settled = jnp.where(winner == AS_IT_IS, exact, arms[np.maximum(winner, 0), np.arange(len(kinks))])
            value = jnp.where(self._variables[kinks] == AS_IT_IS, settled, lift(kinks, exact)) if self.n_auxiliary else settled
            all_arms.append(arms)
            all_values.append(value)
            return value

        return evaluate(self.objectives, x, visit), all_arms, all_values
