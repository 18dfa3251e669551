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
    sideways, without which a method would slide off a concave front.

    f̂ is f in units of its range, P the projector across w. Its stationary points are Pareto
    critical, with weights w + ρP(f̂ − f̂₀).
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

    Bounds that held with nothing to spare may be broken by as much as the surface was wrong. A
    choice on an atlas goes to the Pareto point above its place on the chart, by Newton's method on
    the active set, up to rounding; bounds and constraints of the run hold.

    Args:
        solution: the solution the choice is from, with its objectives.
        choice: the answer to a question.
        method: the single-objective method; Newton's if not given. An atlas takes no other.
        n_iterations: how many steps it makes; on an atlas as many as it takes.
    """
    solution, _ = opened(solution)
    method = Newton() if method is None else method
    trimmed, names, raveling = solution.set.trimmed, solution.names, solution.raveling
    if trimmed and not isinstance(method, Newton):
        raise TypeError(
            "method must be left open for an atlas, where Newton's method polishes within bounds,"
            f" got {method!r}"
        )
    if not isinstance(method, AbstractMethod):
        raise TypeError(
            f"method must be a single-objective method such as Newton(), got {method!r}"
        )
    with double_precision():
        numbers = raveling.ravel(solution.unseen(choice.x))
        start = encode(np.asarray(numbers, dtype=float), names.transforms)
        if trimmed:
            end = settle_on_atlas(solution, start)
        else:
            end = _descend(solution, choice, start, method, n_iterations)
        if end is None:
            return choice  # a method that made things worse has polished nothing
        f = np.asarray(solution.flat_objectives(jnp.asarray(end)))
    moved = np.linalg.norm(end - start)
    question = f"{choice.question}, polished by {type(method).__name__} (x moved by {moved:.2g})"
    x = solution.seen(raveling.unravel(end))
    return replace(choice, question=question, x=x, f=names.signs * f)


def _descend(
    solution: Solution,
    choice: Choice,
    start: Float[np.ndarray, " n_variables"],
    method: AbstractMethod,
    n_iterations: int,
) -> Float[np.ndarray, " n_variables"] | None:
    """Where a method ends that minimizes `NearChoice`; None if that is higher than its start."""
    scale, f0 = solution.set.scale, solution.names.signs * choice.f
    # A price below 0 would make its objective worse.
    normal = np.maximum(solution.set.prices(choice.t)[0] * scale, 0.0)
    target = NearChoice(solution.flat_objectives, *map(jnp.asarray, (scale, f0, normal)))
    begin = jnp.asarray(start)
    end, state = begin, method.init(begin)
    # Methods on the host call solvers of their own, which cannot be compiled.
    step = method.step if method.runs_on_host else partial(_step, method)
    for _ in range(n_iterations):
        end, state = step(target, end, state)
    return np.asarray(end) if float(target(end)) <= float(target(begin)) + 1e-12 else None


@program
def _step(
    method: AbstractMethod, target: NearChoice, x: Array, state: PyTree
) -> tuple[Array, PyTree]:
    return method.step(target, x, state)
