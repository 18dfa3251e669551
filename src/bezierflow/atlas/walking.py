"""Moving on an atlas: objectives and conditions along one patch, with their slopes, and the best point for a total."""

import numpy as np
from jaxtyping import Float

from ..bezier import partial_derivatives
from .atlas import BezierAtlas
from .patches import barycentric

N_STARTS, MOST_PATCHES = 3, 8
"""A search starts at so many points of the set, and goes on from patch to patch at most so often."""


class Walk:
    """One patch as it is walked on, from the patch that answers above a chart point.

    Attributes:
        number: of the patch.
        c: the coordinates to start at.
    """

    def __init__(self, atlas: BezierAtlas, a: Float[np.ndarray, " n_objectives"]):
        self.atlas, self.number = atlas, int(atlas.ask(a[None]).number[0])
        self.patch = atlas.patches[self.number]
        self.label = self.patch.label
        self.c = self.label.coordinates(a[None])[0][0]
        rest = np.linalg.inv((self.patch.corners[1:] - self.patch.corners[0]).T) if len(self.c) else np.zeros((0, 0))
        self._by_c = np.concatenate([-rest.sum(axis=0, keepdims=True), rest])
        self._conditions = self.label.conditions(atlas.units.box)

    def look(self, c: Float[np.ndarray, " dimension"]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The objectives in the user's units and what must be at most 0 (signs and domain), each with its slopes."""
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

    def chart(self, c: Float[np.ndarray, " dimension"]) -> Float[np.ndarray, " n_objectives"]:
        """The chart point of the point with these coordinates."""
        f = self.label.values(self.patch(c[None]), c[None])[0]
        return f - f.mean()


def lowest_total(atlas: BezierAtlas, w: Float[np.ndarray, " n_objectives"]) -> Float[np.ndarray, " n_objectives"]:
    """The chart point of the set where Σ w_m f_m is least: from the best of many points, along patches by SLSQP."""
    f = atlas.units.ideal + atlas.units.span * atlas.points.f
    order = np.argsort(f @ w)
    _, first = np.unique(atlas.points.patch[order], return_index=True)
    starts = order[np.sort(first)[:N_STARTS]]
    scale = float(np.ptp(f @ w)) or 1.0
    ends = [_descend(atlas, w / scale, f[row]) for row in starts]
    return min(ends, key=lambda a: float(atlas.front(a) @ w))


def _descend(atlas: BezierAtlas, w: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Where a total stops falling, from patch to patch."""
    a = best = atlas.chart(f)
    for _ in range(MOST_PATCHES):
        walk = Walk(atlas, a)
        a = walk.chart(_lowest_of_patch(walk, w) if len(walk.c) else walk.c)
        if atlas.front(a) @ w < atlas.front(best) @ w:
            best = a
        if Walk(atlas, a).number == walk.number:
            return best
    return best


def _lowest_of_patch(walk: Walk, w: np.ndarray) -> Float[np.ndarray, " dimension"]:
    from scipy.optimize import minimize

    inside = {"type": "ineq", "fun": lambda c: -walk.look(c)[2], "jac": lambda c: -walk.look(c)[3]}
    return minimize(
        lambda c: float(w @ walk.look(c)[0]),
        walk.c,
        jac=lambda c: w @ walk.look(c)[1],
        constraints=inside,
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 60},
    ).x
