"""Gauss–Newton on control points: linearize at the nodes, refit with slides, keep what comes nearer to the set.

It works on a batch of surfaces of the same kind at once: all edges of a simplex, or one whole simplex.
"""

from dataclasses import dataclass, replace

import numpy as np

from .displacement import Linearization
from .evaluations import Evaluations
from .nodes import FlowNodes, flow_nodes
from .refit import slide_refit

FIRST_DAMPING = 1e-2
SMALLEST_DAMPING = 1e-7

LONGEST = 0.3
"""A displacement counts for at most this share of the diameter: far from the set only its direction can be believed."""

LITTLE = 0.5
"""A step that leaves more than this share of the error (with frozen Hessians) asks for new ones."""


@dataclass(frozen=True)
class Fit:
    """A batch of surfaces being fitted: what is known at their nodes.

    Attributes:
        control_points: (batch, n_controls, n_variables).
        faces: (batch, n, M), the objectives that each node asks for.
        lin: The linearization at the nodes, every part (batch, n, …).
        hessians: (batch, n, M, L, L), from `age` steps ago.
        merit: Σ ω²|y|² over the nodes of each surface.
        active: Which surfaces are still being moved.
    """

    nodes: FlowNodes
    control_points: np.ndarray
    faces: np.ndarray
    lin: Linearization
    hessians: np.ndarray
    merit: np.ndarray
    damping: np.ndarray
    active: np.ndarray
    diameter: float
    support: bool
    age: np.ndarray
    n_steps: int = 0

    @property
    def largest(self) -> np.ndarray:
        """The largest distance at a node, for each surface of the batch."""
        return np.max(self.distances, axis=-1, initial=0.0)

    @property
    def distances(self) -> np.ndarray:
        """|y| at the nodes; the diameter where it could not be told."""
        return np.where(self.lin.valid, np.linalg.norm(self.lin.displacement, axis=-1), self.diameter)


def start_fit(
    count: Evaluations,
    control_points: np.ndarray,
    members: np.ndarray,
    degree: int,
    order: int,
    diameter: float,
    damping: float = FIRST_DAMPING,
    support: bool = False,
) -> Fit:
    """Linearize a batch of surfaces at its nodes, Hessians included. `members` (batch, k) are the objectives of each."""
    batch, size = members.shape
    nodes = flow_nodes(size, degree, order)
    faces = np.zeros((batch, len(nodes.t), count.n_objectives), dtype=bool)
    np.put_along_axis(faces, np.repeat(members[:, None, :], len(nodes.t), 1), np.repeat(nodes.t[None] > 0, batch, 0), 2)
    points = nodes.full_design @ control_points
    at = count.at(points.reshape(-1, points.shape[-1]))
    assert at.hessians is not None
    hessians = at.hessians.reshape(batch, len(nodes.t), *at.hessians.shape[1:])
    lin = _batched(count.linearize(at, faces.reshape(-1, count.n_objectives), support), batch)
    return Fit(
        nodes=nodes,
        control_points=control_points,
        faces=faces,
        lin=lin,
        hessians=hessians,
        merit=_merit(lin, nodes, diameter),
        damping=np.full(batch, damping),
        active=np.ones(batch, dtype=bool),
        diameter=diameter,
        support=support,
        age=np.zeros(batch, dtype=int),
    )


def advance(count: Evaluations, fit: Fit) -> Fit:
    """One Gauss–Newton step for every active surface: new Jacobians at all nodes, new Hessians where the old ones fail."""
    rows = np.flatnonzero(fit.active)
    change, left = _propose(fit, rows)
    # The linear model itself sees nothing left to gain: what remains is what this degree cannot express.
    hopeless = left > 0.9 * fit.merit[rows]
    if hopeless.any():
        fit = replace(fit, active=_put(fit.active, rows[hopeless], False))
        rows, change, left = rows[~hopeless], change[~hopeless], left[~hopeless]
        if len(rows) == 0:
            return fit
    moved = fit.control_points[rows]
    moved[:, fit.nodes.free] += change
    stale = fit.age[rows] < 0
    lin, hessians = _look(count, fit, rows, moved, bool(stale.any()))
    merit = _merit(lin, fit.nodes, fit.diameter)
    better = merit < fit.merit[rows]
    slow = merit > LITTLE**2 * fit.merit[rows]
    damping = np.where(better, np.maximum(fit.damping[rows] / 5, SMALLEST_DAMPING), 30 * fit.damping[rows])
    kept = rows[better]
    parts = [_put(old, kept, np.asarray(new)[better]) for old, new in zip(fit.lin, lin, strict=True)]
    if stale.any():
        age = np.zeros(len(rows), dtype=int)
    else:
        age = np.where(slow & (fit.age[rows] >= 0), -1, fit.age[rows] + 1)
    # Rounding-level or floor-level errors: nothing more to gain from another step of the same kind.
    settled = better & (merit > 0.8 * fit.merit[rows]) & (merit < 1.5 * left)
    given_up = damping > 1e4
    return replace(
        fit,
        control_points=_put(fit.control_points, kept, moved[better]),
        lin=Linearization(*parts),
        hessians=_put(fit.hessians, kept, hessians[better]) if hessians is not None else fit.hessians,
        merit=_put(fit.merit, kept, merit[better]),
        damping=_put(fit.damping, rows, damping),
        active=_put(fit.active, rows, ~(settled | given_up)),
        age=_put(fit.age, rows, age),
        n_steps=fit.n_steps + 1,
    )


def _look(count: Evaluations, fit: Fit, rows: np.ndarray, moved: np.ndarray, fresh: bool):
    points = (fit.nodes.full_design @ moved).reshape(-1, moved.shape[-1])
    at = count.at(points, hessians=fresh)
    frozen = None if fresh else fit.hessians[rows].reshape(-1, *fit.hessians.shape[2:])
    lin = count.linearize(at, fit.faces[rows].reshape(-1, count.n_objectives), fit.support, frozen)
    hessians = at.hessians.reshape(len(rows), -1, *at.hessians.shape[1:]) if at.hessians is not None else None
    return _batched(lin, len(rows)), hessians


def _propose(fit: Fit, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The refit's change of the free control points, and the merit it expects to be left with."""
    y = _capped(fit.lin.displacement[rows], fit.diameter)
    tangents = fit.lin.tangents[rows]
    change = slide_refit(fit.nodes.design, y, tangents, fit.nodes.weights, fit.damping[rows], xp=np)
    missed = fit.nodes.design @ change - y
    missed = missed - np.einsum("bnlk,bnk->bnl", tangents, np.einsum("bnlk,bnl->bnk", tangents, missed))
    return change, np.einsum("n,bnl,bnl->b", fit.nodes.weights**2, missed, missed)


def _capped(y: np.ndarray, diameter: float) -> np.ndarray:
    length = np.linalg.norm(y, axis=-1, keepdims=True)
    return y * np.minimum(1, LONGEST * diameter / np.maximum(length, 1e-300))


def _merit(lin: Linearization, nodes: FlowNodes, diameter: float) -> np.ndarray:
    length = np.minimum(np.linalg.norm(lin.displacement, axis=-1), LONGEST * diameter)
    length = np.where(lin.valid, length, LONGEST * diameter)
    return np.sum((nodes.weights * length) ** 2, axis=-1)


def _batched(lin: Linearization, batch: int) -> Linearization:
    return Linearization(*[np.asarray(part).reshape(batch, -1, *np.shape(part)[1:]) for part in lin])


def _put(array: np.ndarray, rows: np.ndarray, values) -> np.ndarray:
    array = array.copy()
    array[rows] = values
    return array
