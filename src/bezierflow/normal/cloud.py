"""What a run has learned about the Pareto set: points near it, each with its tangents and with how
far it may be off; and how looking at a surface adds to them."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from ..kinds import kind
from ..precision import ROUNDING
from .curvature import Curvature, Frames, Rows, Sight


@kind("normal.cloud/1")
@dataclass(frozen=True)
class Cloud:
    """Points c = x + y of the critical set, each seen from a t of its face, with tangents T there.

    Points are never thrown away: whatever the surface did since, a point of the set stays one.
    `miss` says how far from the set it may be; points found on the first, far-off surfaces miss by
    more and weigh less.
    """

    t: Float[np.ndarray, "n n_objectives"]
    faces: Bool[np.ndarray, "n n_objectives"]
    points: Rows
    tangents: Frames
    miss: Float[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.t)

    @classmethod
    def empty(cls, n_objectives: int, width: int, n_tangents: int) -> "Cloud":
        """A cloud without points."""
        t = np.zeros((0, n_objectives))
        return cls(t, t > 0, np.zeros((0, width)), np.zeros((0, width, n_tangents)), np.zeros(0))

    def join(self, other: "Cloud") -> "Cloud":
        """Both together."""
        parts = zip(vars(self).values(), vars(other).values(), strict=True)
        return Cloud(*[np.concatenate(pair) for pair in parts])

    def take(self, rows: np.ndarray) -> "Cloud":
        """Only these points, given by their numbers or by a mask."""
        return Cloud(*[part[rows] for part in vars(self).values()])

    def on_face(self, members: tuple[int, ...]) -> "Cloud":
        """The points seen from this face or from one of its own faces, with t as coordinates of
        it."""
        others = np.delete(np.arange(self.t.shape[1]), list(members))
        own = self.take(np.asarray(~(self.t[:, others] > 0).any(axis=1)))
        return replace(own, t=own.t[:, list(members)], faces=own.faces[:, list(members)])


def observe(
    curvature: Curvature, t: Float[np.ndarray, "n n_objectives"], x: Rows, sight: Sight
) -> tuple[Cloud, Bool[np.ndarray, " n_cloud"]]:
    """The cloud that a look at x = b(t) gives, without points where it is not valid; and which of
    them may miss the set by so much of their displacement that they are worth another look."""
    numbers, diameter, found = curvature.schedule, curvature.diameter, sight.linearization
    length = np.linalg.norm(found.displacement, axis=1)
    longest = numbers.straight * diameter
    share = np.minimum(1, longest / np.maximum(length, 1e-300))
    # usually |y|²/ℓ, with ℓ as in `Schedule.straight`
    to_corner = np.linalg.norm(x[:, None, :] - curvature.corners[None], axis=2)
    straight = np.minimum(longest, to_corner.min(axis=1, initial=np.inf))
    miss = np.where(length > 0, length**2 / np.maximum(straight, 1e-300), 0.0)
    if sight.miss is not None:
        miss = np.where(np.isnan(sight.miss), miss, sight.miss)
    # Where the second-order condition fails the displacement leads to a saddle, if anywhere.
    miss = np.where(found.minimal, miss, np.maximum(miss, longest))
    points = x + found.displacement * share[:, None]
    follow = (miss > numbers.follow * length) & (length > ROUNDING * diameter)
    cloud = Cloud(np.array(t), t > 0, points, found.tangents, miss)
    return cloud.take(found.valid), follow[found.valid]


def probe(
    curvature: Curvature,
    t: Float[np.ndarray, "n n_objectives"],
    x: Rows,
    tangents: Frames,
    near: bool = False,
) -> tuple[Cloud, Float[np.ndarray, " n"], Cloud]:
    """The surface looked at in x = b(t); points far from the set are followed to it before they
    join the cloud.

    `near` says that the surface is near the set, so that curvature may be borrowed.

    Returns:
        Points of the set. The distance of each x from the set, the diameter where there is no valid
        one. Where the surface reaches beyond the boundary of the set, points inside to which those
        t should be called back: they hold for this surface alone, and their t are fixed (they
        belong to no face).
    """
    numbers, diameter = curvature.schedule, curvature.diameter
    sight = curvature.look(x, t > 0, tangents, near=near)
    cloud, follow = observe(curvature, t, x, sight)
    found = sight.linearization
    distance = np.where(found.valid, np.linalg.norm(found.displacement, axis=1), diameter)
    recall, beyond = Cloud.empty(t.shape[1], *found.tangents.shape[1:]), found.beyond(t > 0)
    # The set goes on past its boundary as a set of critical points with a negative multiplier. To
    # learn its shape, that part is as good as any, but a surface that reaches there is wrong, and
    # only the displacement with support rows sees it.
    if beyond.any():
        inward = curvature.look_back(sight, beyond, t > 0)
        length = np.linalg.norm(inward.displacement, axis=1)
        distance[beyond] = np.where(inward.valid, length, diameter)
        # Only where a surface is near the set but for this: a farther one first has to come nearer.
        farther = length > numbers.recall_excess * distance[~beyond].max(initial=0.0)
        due = inward.valid & farther & (length < numbers.near * diameter)
        points = sight.derivatives.points[beyond] + numbers.recall_inward * inward.displacement
        nowhere = np.zeros((len(points), t.shape[1]), dtype=bool)
        recall = Cloud(t[beyond], nowhere, points, inward.tangents, numbers.follow * length)
        recall = recall.take(due)
    settled, rows = [], np.flatnonzero(found.valid)
    for _ in range(numbers.following):
        if not follow.any() or follow.sum() > curvature.evaluator.left:
            break
        settled.append(cloud.take(~follow))
        rows, x = rows[follow], cloud.points[follow]
        sight = curvature.look(x, t[rows] > 0, tangents[rows], whole=True)
        cloud, follow = observe(curvature, t[rows], x, sight)
        rows = rows[sight.linearization.valid]
    for part in settled:
        cloud = part.join(cloud)
    return cloud, distance, recall
