"""Inverse maps: where on the simplex a given design, or a given vector of objective values,
lies."""

from dataclasses import dataclass, field

import jax
import numpy as np
from jaxtyping import PyTree

from ..answer import Near, Solution
from ..arguments import read_doubles, shown
from ..names import encode
from ..precision import double_precision
from ..quiet import quiet
from .asking import design_at, opened
from .choice import Confidence
from .wishes import Numbers, numbers


@dataclass(frozen=True)
class Location:
    """Where something lies on the surface, and how far from it.

    Attributes:
        t: the nearest point of the simplex.
        x: the design there.
        f: its objective values.
        distance: from what was given to that point; for `locate` in units of x, for `locate_front`
            in units of each range.
        confidence: how far that may be off.
    """

    t: np.ndarray
    x: PyTree
    f: np.ndarray
    distance: float
    confidence: Confidence = field(repr=False)


@quiet()
def locate(solution: Solution, x: PyTree) -> Location:
    """The nearest point of the surface to a design x: t = argmin ‖b(t) − x‖, over all leaves of x.

    A variable that the solver saw by its logarithm counts by that.
    """
    solution, _ = opened(solution)
    x = solution.unseen(x)
    x = jax.tree.map(lambda leaf: read_doubles(leaf, "x", "one design, shaped like x0"), x)
    raveling, flat = solution.raveling, np.zeros(0)
    # None is a pytree without leaves, which would ravel to a design of no variables.
    if x is not None:
        with double_precision():
            flat = encode(np.asarray(raveling.ravel(x), dtype=float), solution.names.transforms)
    if flat.shape != (raveling.n_variables,) or not np.isfinite(flat).all():
        raise ValueError(
            f"x must be one finite design of {raveling.n_variables} variables, got {shown(x)}"
        )
    return _location(solution, solution.set.nearest_design(flat, solution.error.diameter))


@quiet()
def locate_front(solution: Solution, f: Numbers) -> Location:
    """The nearest point of the front to objective values f, each measured in units of its range
    over the front."""
    solution, _ = opened(solution)
    target = solution.names.signs * numbers(solution, f, "f")
    return _location(solution, solution.set.nearest_values(target))


def _location(solution: Solution, near: Near) -> Location:
    f = solution.names.signs * solution.set.values(near.t[None])[0]
    confidence = Confidence.of(solution, near.starts, near.agreed, near.residual)
    return Location(near.t, design_at(solution, near.t), f, near.distance, confidence)
