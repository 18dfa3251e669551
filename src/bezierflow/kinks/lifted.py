"""Objectives with kinks as smooth functions of x and of one variable u for each kink, and a
direction d for each norm.

A maximum u of arms e_k has the rows e_k − u ≤ 0. A norm has infinitely many arms. It is lifted as

    ‖e‖ = w = u + ε (1 + ‖d‖²) / 2   with rows   e = (u + ε) d,   ‖d‖² ≤ 1,   u ≥ 0,

with ε of the size of rounding. The least w for a given e is ‖e‖ where ‖e‖ ≥ ε, with u = ‖e‖ − ε and
‖d‖ = 1, and Huber's ε/2 + ‖e‖²/2ε below, with u = 0: off by at most ε/2. Where minima have ‖e‖ > 0,
d is a unit vector and all is smooth in polar coordinates (u, d). Where they stay at the tip of the
norm's cone, u is at its bound, and d = λ/κ for the multipliers λ of the rows of e and the price κ =
∂F/∂w: the condition ‖λ‖ ≤ κ that holds at a tip is the row ‖d‖² ≤ 1.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .interpreter import Kinks, evaluate

AS_IT_IS = -1
"""In place of a number: a kink that stays what it is."""


class Norm(NamedTuple):
    """A norm that has variables.

    Attributes:
        kink: its number among all kinks.
        variable: the number of its u.
        n_terms: how many numbers it is the norm of; as many are in d.
        tip: ε.
    """

    kink: int
    variable: int
    n_terms: int
    tip: float


class Plan(eqx.Module):
    """What becomes of each kink of a function, in the order in which they are evaluated.

    Attributes:
        variables: the number of the variable u that takes its place, `AS_IT_IS` for none.
        factors: the kink is this times u; kinks that are multiples of each other share a variable.
        winners: the number of the arm that is the largest everywhere and takes its place,
            `AS_IT_IS` for none.
        rows: the numbers, among all parts of all kinks, of the arms that bound a variable
            from below.
        norms: the norms among the first kinks of each variable.
    """

    variables: tuple[int, ...] = eqx.field(static=True)
    factors: tuple[float, ...] = eqx.field(static=True)
    winners: tuple[int, ...] = eqx.field(static=True)
    rows: tuple[int, ...] = eqx.field(static=True)
    norms: tuple[Norm, ...] = eqx.field(static=True, default=())

    @property
    def n_kinks(self) -> int:
        """How many variables u there are."""
        return max(self.variables, default=AS_IT_IS) + 1

    @property
    def n_directions(self) -> int:
        """How many numbers there are in all d together."""
        return sum(norm.n_terms for norm in self.norms)

    @property
    def firsts(self) -> list[int]:
        """For each variable u the first kink that it stands for."""
        return [self.variables.index(number) for number in range(self.n_kinks)]

    @property
    def limits(self) -> tuple[Float[np.ndarray, " n_rows"], Float[np.ndarray, " n_rows"]]:
        """Between what the rows are to be: those of arms and of ‖d‖² at most 0, those of e equal to
        0."""
        n, n_equal = len(self.rows) + len(self.norms), self.n_directions
        return np.append(np.full(n, -np.inf), np.zeros(n_equal)), np.zeros(n + n_equal)

    @staticmethod
    def of_all(sizes: list[tuple[int, int, bool]], lift: bool) -> "Plan":
        """A variable u for each kink, norms included, and a row for each part; or every kink as it
        is, by which slopes of norms are defined at 0, as 0."""
        n, n_rows = sum(n for _, n, _ in sizes), sum(n_parts * n for n_parts, n, _ in sizes)
        stay = (AS_IT_IS,) * n
        if lift:
            return Plan(tuple(range(n)), (1.0,) * n, stay, tuple(range(n_rows)))
        return Plan(stay, (1.0,) * n, stay, ())


class Lifted(eqx.Module):
    """F(x, u, d) with F(x, u*(x), d*(x)) = f(x), where u*_k(x) is the k-th kink: an absolute value,
    a maximum or a norm.

    Where F and the arms are nondecreasing in every u, minimizing f is minimizing F subject to the
    rows.

    Attributes:
        objectives: f, a function of a flat vector.
        n_variables: how many of the numbers are x; u follows, then the directions d of norms.
        plan: what becomes of each kink.
    """

    objectives: Callable[[Array], Array]
    n_variables: int = eqx.field(static=True)
    plan: Plan

    @property
    def n_auxiliary(self) -> int:
        """How many variables there are besides x."""
        return self.plan.n_kinks + self.plan.n_directions

    def __call__(self, xu: Float[Array, " n_all"]) -> Float[Array, " n_objectives"]:
        """F(x, u, d)."""
        return self.evaluate(xu)[0]

    def rows(self, xu: Float[Array, " n_all"]) -> Float[Array, " n_rows"]:
        """The arms less their u, ‖d‖² − 1 for each norm, and e − (u + ε) d: see `Plan.limits`."""
        u, directions = self._auxiliary(xu)
        _, kinks, values = self.evaluate(xu)
        parts = [(each.parts - value).ravel() for each, value in zip(kinks, values, strict=True)]
        arms = jnp.concatenate([jnp.zeros(0), *parts])[np.array(self.plan.rows, dtype=int)]
        norms = list(zip(self.plan.norms, self._terms(kinks), directions, strict=True))
        balls = [jnp.sum(d**2, keepdims=True) - 1 for d in directions]
        cones = [e - (u[norm.variable] + norm.tip) * d for norm, e, d in norms]
        return jnp.concatenate([arms, *balls, *cones])

    def evaluate(self, xu: Float[Array, " n_all"]) -> tuple[Array, list[Kinks], list[Array]]:
        """F(x, u, d), and for each operation with kinks these and what took their place."""
        u, directions = self._auxiliary(xu)
        # from u to w, the value of the norm
        for norm, d in zip(self.plan.norms, directions, strict=True):
            u = u.at[norm.variable].add(norm.tip * (1 + jnp.sum(d**2)) / 2)
        return self._follow(xu[: self.n_variables], u)

    def exact(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_auxiliary"]:
        """u*(x) and d*(x), for which all rows hold and F is least."""
        _, kinks, values = self._follow(x, None)
        first = np.array(self.plan.firsts, dtype=int)
        u = jnp.concatenate([jnp.zeros(0), *values])[first] / np.array(self.plan.factors)[first]
        directions = []
        # back from w to u; at the tip d = e/ε, shorter than 1
        for norm, e in zip(self.plan.norms, self._terms(kinks), strict=True):
            u = u.at[norm.variable].set(jnp.maximum(u[norm.variable] - norm.tip, 0.0))
            directions.append(e / (u[norm.variable] + norm.tip))
        return jnp.concatenate([u, *directions])

    def _auxiliary(self, xu: Array) -> tuple[Array, list[Array]]:
        """U, and the direction d of each norm."""
        n = self.n_variables + self.plan.n_kinks
        ends = np.cumsum([norm.n_terms for norm in self.plan.norms])
        return xu[self.n_variables : n], jnp.split(xu[n:], ends[:-1]) if self.plan.norms else []

    def _terms(self, kinks: list[Kinks]) -> list[Array]:
        """The terms e of each norm that has variables."""
        columns = [(each.parts, k) for each in kinks for k in range(each.parts.shape[1])]
        places = [columns[norm.kink] for norm in self.plan.norms]
        return [parts[:, k] for parts, k in places]

    def _follow(self, x: Array, u: Array | None) -> tuple[Array, list[Kinks], list[Array]]:
        """Evaluates the objectives at x, with u in place of the kinks that have a variable, if it
        is given."""
        variables, winners = np.array(self.plan.variables, int), np.array(self.plan.winners, int)
        everything: list[Kinks] = []
        all_values: list[Array] = []

        def visit(found: Kinks) -> Array:
            n_seen = sum(each.parts.shape[1] for each in everything)
            kinks = np.arange(n_seen, n_seen + found.parts.shape[1])
            winner = winners[kinks]
            # any arm where there is no winner: `where` needs a number in both places
            largest = found.parts[np.maximum(winner, 0), np.arange(len(kinks))]
            value = jnp.where(winner == AS_IT_IS, found.values, largest)
            # without variables there is nothing that −1 could index
            if u is not None and self.plan.n_kinks:
                lifted = jnp.asarray(np.array(self.plan.factors)[kinks]) * u[variables[kinks]]
                value = jnp.where(variables[kinks] == AS_IT_IS, value, lifted)
            everything.append(found)
            all_values.append(value)
            return value

        return evaluate(self.objectives, x, visit), everything, all_values
