"""Polish: run a single-objective method from a choice on the true problem, to shed the surface's
own error."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..answer import Solution
from ..compilation import program
from ..methods import AbstractMethod, Newton
from ..names import encode
from ..precision import double_precision
from ..solve import settle_on_atlas
from .asking import opened
from .choice import Choice

STIFFNESS = 1.0
"""What sideways movement costs beside progress, in units of ranges: enough to make concave parts of
a front stable."""


class NearChoice(eqx.Module):
    """w·f̂(x) + ½ρ‖P(f̂(x) − f̂₀)‖²: progress along the front's normal w, and a price on moving
    sideways.

    f̂ is f in units of its range, P the projector across w. Its stationary points are Pareto
    critical, with weights w + ρP(f̂ − f̂₀); without the second term the method would slide to
    another point, or off a concave front altogether.
    """

    objectives: Callable[[Array], Array]
    scale: Float[Array, " n_objectives"]
    f0: Float[Array, " n_objectives"]
    w: Float[Array, " n_objectives"]

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, ""]:
        """The value at x."""
        moved = (self.objectives(x) - self.f0) / self.scale
        sideways = moved - (moved @ self.w) / (self.w @ self.w) * self.w
        return moved @ self.w + STIFFNESS * (sideways @ sideways) / 2


def polish(
    solution: Solution, choice: Choice, method: AbstractMethod | None = None, n_iterations: int = 10
) -> Choice:
    """The choice after a single-objective method has run from it on the true problem, off the
    surface if need be.

    Where the surface is not exactly on the Pareto set, this steps onto the set right beside the
    choice. Bounds that held with nothing to spare may be broken by as much as the surface was
    wrong. A choice on an atlas goes to the Pareto point above its place on the chart, by Newton's
    method on what is active there, up to rounding; bounds and constraints of the run hold.

    Args:
        solution: the solution the choice is from, with its objectives.
        choice: the answer to a question.
        method: the single-objective method; Newton's if not given. An atlas takes no other.
        n_iterations: how many steps it makes; on an atlas as many as it takes.
    """
    solution, _ = opened(solution)
    if solution.set.trimmed:
        return _polish_within_bounds(solution, choice, method)
    method = Newton() if method is None else method
    if not isinstance(method, AbstractMethod):
        raise TypeError(
            f"method must be a single-objective method such as Newton(), got {method!r}"
        )
    objectives, signs, scale = solution.flat_objectives, solution.names.signs, solution.set.scale
    normal = np.maximum(solution.set.prices(choice.t)[0] * scale, 0.0)
    with double_precision():
        start = jnp.asarray(
            encode(
                np.asarray(solution.raveling.ravel(choice.x), dtype=float),
                solution.names.transforms,
            )
        )
        target = NearChoice(
            objectives, jnp.asarray(scale), jnp.asarray(signs * choice.f), jnp.asarray(normal)
        )
        end, state = start, method.init(start)
        for _ in range(n_iterations):
            end, state = (method.step if method.runs_on_host else partial(_step, method))(
                target, end, state
            )
        if not float(target(end)) <= float(target(start)) + 1e-12:
            return choice  # a method that made things worse has polished nothing
        f, moved = np.asarray(objectives(end)), float(jnp.linalg.norm(end - start))
    question = f"{choice.question}, polished by {type(method).__name__} (x moved by {moved:.2g})"
    return replace(
        choice,
        question=question,
        x=solution.seen(solution.raveling.unravel(np.asarray(end))),
        f=signs * f,
    )


def _polish_within_bounds(
    solution: Solution, choice: Choice, method: AbstractMethod | None
) -> Choice:
    """The choice at the Pareto point next to it; the choice itself where a search from there ends
    at none."""
    if not isinstance(method, Newton | None):
        raise TypeError(
            "method must be left open for an atlas, where Newton's method polishes within bounds,"
            f" got {method!r}"
        )
    with double_precision():
        start = encode(
            np.asarray(solution.raveling.ravel(choice.x), dtype=float), solution.names.transforms
        )
        end = settle_on_atlas(solution, start)
        if end is None:
            return choice
        f = np.asarray(solution.flat_objectives(jnp.asarray(end)))
    question = (
        f"{choice.question}, polished by Newton (x moved by {np.linalg.norm(end - start):.2g})"
    )
    x = solution.seen(solution.raveling.unravel(end))
    return replace(choice, question=question, x=x, f=solution.names.signs * f)


@program
def _step(
    method: AbstractMethod, target: NearChoice, x: Array, state: PyTree
) -> tuple[Array, PyTree]:
    return method.step(target, x, state)
