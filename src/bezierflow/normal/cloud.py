"""What a run has learned about the Pareto set: points near it, each with its tangents and with how much it can be trusted."""

from dataclasses import dataclass

import numpy as np

from .displacement import Linearization

LONGEST = 0.3
"""A displacement counts for at most this share of the diameter: far from the set only its direction can be believed."""

STRAIGHT = 1 / 3
"""Gradient directions change over lengths of about this share of the diameter, or of the distance to a corner where that is
shorter (at its minimizer the direction of a gradient jumps). A point moved by y over such a length ℓ misses the set by |y|²/ℓ."""


@dataclass(frozen=True)
class Cloud:
    """Points c = x + y of the critical set, each seen from a t of its face, with tangents T there.

    Evaluator are never thrown away: whatever the surface did since, a point of the set stays one. `miss` says how far
    from the set it may be; points found on the first, far-off surfaces miss by more and weigh less.
    """

    t: np.ndarray
    faces: np.ndarray
    points: np.ndarray
    tangents: np.ndarray
    miss: np.ndarray

    def __len__(self) -> int:
        return len(self.t)

    def join(self, other: "Cloud") -> "Cloud":
        """Both together."""
        mine, others = (tuple(vars(cloud).values()) for cloud in (self, other))
        return Cloud(*[np.concatenate(parts) for parts in zip(mine, others, strict=True)])

    def take(self, rows: np.ndarray) -> "Cloud":
        """Only these points."""
        return Cloud(*[part[rows] for part in vars(self).values()])


def empty_cloud(n_objectives: int, n_variables: int) -> Cloud:
    """A cloud without points."""
    n_tangents = min(n_objectives - 1, n_variables)
    return Cloud(
        np.zeros((0, n_objectives)),
        np.zeros((0, n_objectives), dtype=bool),
        np.zeros((0, n_variables)),
        np.zeros((0, n_variables, n_tangents)),
        np.zeros(0),
    )


def observe(
    t: np.ndarray, x: np.ndarray, lin: Linearization, corners: np.ndarray, diameter: float, miss: np.ndarray | None = None
) -> Cloud:
    """The cloud that a linearization at x = b(t) gives, given the minimizers; points where it failed are left out.

    By how much a point may miss the set follows from the length of its displacement, unless `miss` says it (as a number).
    """
    y = np.asarray(lin.displacement)
    length = np.linalg.norm(y, axis=1)
    capped = y * np.minimum(1, LONGEST * diameter / np.maximum(length, 1e-300))[:, None]
    to_corner = np.linalg.norm(x[:, None, :] - corners[None], axis=2).min(axis=1, initial=np.inf)
    usual = np.where(length > 0, length**2 / np.maximum(np.minimum(STRAIGHT * diameter, to_corner), 1e-300), 0.0)
    miss = usual if miss is None else np.where(np.isnan(miss), usual, miss)
    # Where the second-order condition fails the displacement leads to a saddle, if anywhere.
    miss = np.where(lin.minimal, miss, np.maximum(miss, 0.1 * diameter))
    cloud = Cloud(np.array(t), t > 0, x + capped, np.asarray(lin.tangents), miss)
    return cloud.take(np.flatnonzero(lin.valid))
