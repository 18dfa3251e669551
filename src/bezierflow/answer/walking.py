"""Moving on an atlas: objectives and conditions along one patch with their slopes, and the best
points for simple goals."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..bezier import partial_derivatives
from .asking import variables
from .atlas import BezierAtlas
from .patches import barycentric

N_STARTS, MOST_PATCHES = 6, 8
"""A search starts at so many points of the set, and goes on from patch to patch at most so
often."""


AGREE = 1e-9
"""Goals, of order 1, that differ by less are as good."""


class Walk:
    """One patch as it is walked on, from the patch that answers above a chart point.

    Attributes:
        number: of the patch.
        c: the coordinates to start at.
    """

    def __init__(self, atlas: BezierAtlas, a: Float[np.ndarray, " n_objectives"]):
        claims = atlas.ask(a[None])
        self.atlas, self.number = atlas, int(claims.number[0])
        self.patch = atlas.patches[self.number]
        self.label = self.patch.label
        self.c = self.label.coordinates(claims.a)[0][0]
        rest = (
            np.linalg.inv((self.patch.corners[1:] - self.patch.corners[0]).T)
            if len(self.c)
            else np.zeros((0, 0))
        )
        self._by_c = np.concatenate([-rest.sum(axis=0, keepdims=True), rest])
        self._conditions = self.label.conditions(atlas.units.box)

    def look(
        self, c: Float[np.ndarray, " dimension"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The objectives in the user's units and what must be at most 0 (signs and domain), each
        with its slopes."""
        patch, units = self.patch, self.atlas.units
        t = barycentric(patch.corners, c[None])
        y = patch(c[None])
        dy = partial_derivatives(patch.control_points, t, patch.degree)[0].T @ self._by_c
        f = units.ideal + units.span * self.label.values(y, c[None])[0]
        df = units.span[:, None] * self.label.slopes(dy)
        S, offset = self._conditions
        normals, offsets = patch.domain[:, :-1], patch.domain[:, -1]
        room = np.concatenate([-(S @ y[0] + offset), normals @ c - offsets])
        return f, df, room, np.concatenate([-S @ dy, normals])

    def design(
        self, c: Float[np.ndarray, " dimension"]
    ) -> tuple[Float[np.ndarray, " n_variables"], np.ndarray]:
        """The design in the user's units, with its slopes."""
        units, patch = self.atlas.units, self.patch
        z = variables(self.label, patch(c[None]), units.box)
        dy = (
            partial_derivatives(
                patch.control_points, barycentric(patch.corners, c[None]), patch.degree
            )[0].T
            @ self._by_c
        )
        slopes = np.zeros((len(units.lower), len(c)))
        slopes[units.free] = (
            np.where(self.label.side == 0, units.unit, 0.0)[:, None] * dy[: len(units.free)]
        )
        return units.x(z)[0], slopes[: units.n_variables]

    def chart(self, c: Float[np.ndarray, " dimension"]) -> Float[np.ndarray, " n_objectives"]:
        """The chart point of the point with these coordinates."""
        f = self.label.values(self.patch(c[None]), c[None])[0]
        return f - f.mean()


Goal = Callable[[Walk, np.ndarray], tuple[float, np.ndarray]]
"""What is to be made small, with its slope, at coordinates of a patch."""


class Lowest(NamedTuple):
    """Where a goal is least: the chart point, from how many starts it was looked for, and how many
    led to one as good."""

    a: Float[np.ndarray, " n_objectives"]
    starts: int
    agreed: int


def lowest_total(
    atlas: BezierAtlas, w: Float[np.ndarray, " n_objectives"]
) -> Float[np.ndarray, " n_objectives"]:
    """The chart point of the set where Σ w_m f_m is least."""
    f = atlas.units.ideal + atlas.units.span * atlas.points.f
    scale = float(np.ptp(f @ w)) or 1.0

    def total(walk: Walk, c: np.ndarray) -> tuple[float, np.ndarray]:
        values, slopes, _, _ = walk.look(c)
        return float(w @ values) / scale, w @ slopes / scale

    return lowest(atlas, total, f @ w).a


def nearest_design(atlas: BezierAtlas, x: Float[np.ndarray, " n_variables"]) -> Lowest:
    """The chart point of the set whose design is nearest to x."""
    away = np.sum((atlas.units.x(atlas.points.z) - x) ** 2, axis=1)
    scale = float(away.max()) or 1.0

    def distance(walk: Walk, c: np.ndarray) -> tuple[float, np.ndarray]:
        design, slopes = walk.design(c)
        return float(np.sum((design - x) ** 2)) / scale, 2 * (design - x) @ slopes / scale

    return lowest(atlas, distance, away)


def nearest_values(atlas: BezierAtlas, f: Float[np.ndarray, " n_objectives"]) -> Lowest:
    """The chart point of the set whose objectives are nearest to f, in units of their ranges."""
    span = atlas.units.span

    def distance(walk: Walk, c: np.ndarray) -> tuple[float, np.ndarray]:
        values, slopes, _, _ = walk.look(c)
        miss = (values - f) / span
        return float(miss @ miss), 2 * miss @ (slopes / span[:, None])

    return lowest(
        atlas, distance, np.sum((atlas.points.f - (f - atlas.units.ideal) / span) ** 2, axis=1)
    )


def lowest(atlas: BezierAtlas, goal: Goal, known: Float[np.ndarray, " n"]) -> Lowest:
    """The chart point where a goal is least: from the best of the known points of several patches,
    along patches by SLSQP.

    Args:
        atlas: the set.
        goal: with its slope; of order 1.
        known: the goal, up to a factor, at `atlas.points`.
    """
    order = np.argsort(known)
    _, first = np.unique(atlas.points.patch[order], return_index=True)
    ends = [_descend(atlas, goal, atlas.points.f[row]) for row in order[np.sort(first)[:N_STARTS]]]
    value, a = min(ends, key=lambda end: end[0])
    return Lowest(a, len(ends), sum(end[0] <= value + AGREE for end in ends))


def _descend(atlas: BezierAtlas, goal: Goal, f: np.ndarray) -> tuple[float, np.ndarray]:
    """Where a goal stops falling, from patch to patch: its value and the chart point."""
    a, best = f - f.mean(), (np.inf, f - f.mean())
    for _ in range(MOST_PATCHES):
        walk = Walk(atlas, a)
        c = _lowest_of_patch(walk, goal) if len(walk.c) else walk.c
        a, value = walk.chart(c), goal(walk, c)[0]
        best = (value, a) if value < best[0] else best
        if Walk(atlas, a).number == walk.number:
            break
    return best


def _lowest_of_patch(walk: Walk, goal: Goal) -> Float[np.ndarray, " dimension"]:
    from scipy.optimize import minimize

    inside = {"type": "ineq", "fun": lambda c: -walk.look(c)[2], "jac": lambda c: -walk.look(c)[3]}
    options = {"ftol": 1e-16, "maxiter": 60}
    return minimize(
        partial(goal, walk), walk.c, jac=True, constraints=inside, method="SLSQP", options=options
    ).x
