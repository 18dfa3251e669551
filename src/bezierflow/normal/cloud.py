"""What a run has learned about the Pareto set: points near it, each with its tangents and with how
far it may be off."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from ..runs import kind
from .displacement import Linearization
from .survey import AbstractSurvey


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
    points: Float[np.ndarray, "n n_variables"]
    tangents: Float[np.ndarray, "n n_variables n_tangents"]
    miss: Float[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.t)

    def join(self, other: "Cloud") -> "Cloud":
        """Both together."""
        mine, others = (tuple(vars(cloud).values()) for cloud in (self, other))
        return Cloud(*[np.concatenate(parts) for parts in zip(mine, others, strict=True)])

    def take(self, rows: np.ndarray) -> "Cloud":
        """Only these points, given by their numbers or by a mask."""
        return Cloud(*[part[rows] for part in vars(self).values()])

    def with_points(self, changed: Callable[[np.ndarray], np.ndarray]) -> "Cloud":
        """With other coordinates for points and tangents."""
        n, width, k = self.tangents.shape
        points, tangents = (
            changed(self.points),
            changed(np.swapaxes(self.tangents, 1, 2).reshape(n * k, width)),
        )
        return replace(
            self, points=points, tangents=np.swapaxes(tangents.reshape(n, k, points.shape[1]), 1, 2)
        )

    def within(self, members: tuple[int, ...]) -> "Cloud":
        """The same points with t as coordinates of the face of these objectives."""
        columns = list(members)
        return replace(self, t=self.t[:, columns], faces=self.faces[:, columns])


def empty_cloud(n_objectives: int, n_variables: int, n_tangents: int) -> Cloud:
    """A cloud without points."""
    return Cloud(
        np.zeros((0, n_objectives)),
        np.zeros((0, n_objectives), dtype=bool),
        np.zeros((0, n_variables)),
        np.zeros((0, n_variables, n_tangents)),
        np.zeros(0),
    )


def observe(
    survey: AbstractSurvey,
    t: Float[np.ndarray, "n n_objectives"],
    x: Float[np.ndarray, "n n_variables"],
    linearization: Linearization,
    miss: Float[np.ndarray, " n"] | None = None,
) -> Cloud:
    """The cloud that a linearization at x = b(t) gives; points where it is not valid are left out.

    By how much a point may miss the set follows from the length of its displacement, unless `miss`
    says it (as a number).
    """
    look, diameter = survey.schedule.look, survey.diameter
    y = np.asarray(linearization.displacement)
    length = np.linalg.norm(y, axis=1)
    capped = y * np.minimum(1, look.longest * diameter / np.maximum(length, 1e-300))[:, None]
    usual = assumed_miss(survey, x, length)
    miss = usual if miss is None else np.where(np.isnan(miss), usual, miss)
    # Where the second-order condition fails the displacement leads to a saddle, if anywhere.
    miss = np.where(linearization.minimal, miss, np.maximum(miss, look.longest * diameter))
    cloud = Cloud(np.array(t), t > 0, x + capped, np.asarray(linearization.tangents), miss)
    return cloud.take(np.asarray(linearization.valid))


def assumed_miss(
    survey: AbstractSurvey, x: Float[np.ndarray, "n n_variables"], length: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """By how much displacements of these lengths usually miss the set: |y|²/ℓ, with ℓ as in
    `LookSchedule.straight`."""
    to_corner = np.linalg.norm(x[:, None, :] - survey.corners[None], axis=2).min(
        axis=1, initial=np.inf
    )
    straight = np.minimum(survey.schedule.look.straight * survey.diameter, to_corner)
    return np.where(length > 0, length**2 / np.maximum(straight, 1e-300), 0.0)
