"""What a step looks at the set with: the evaluator, the Hessians known so far, and corners and
diameter, which set scales."""

import abc
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..objectives import Derivatives, JaxEvaluator, block_size, in_blocks, replace_rows
from .displacement import Linearization, linearize_points
from .host_displacement import linearize_on_host
from .lending import KnownHessians
from .schedule import Schedule

MANY_VARIABLES = 64
"""From so many variables on linear systems are factored on the host: once a point instead of three
times, and there is no pool of threads to wait for."""


class Sight(NamedTuple):
    """Derivatives and linearizations at points, and by how much x + y may miss the set.

    `miss` is not a number where that follows from the displacement as usual, None where it does
    everywhere.
    """

    derivatives: Derivatives
    linearization: Linearization
    miss: Float[np.ndarray, " n"] | None = None

    @classmethod
    def joined(cls, parts: "list[Sight]") -> "Sight":
        """All of them; there is at least one."""
        derivatives = parts[0].derivatives
        for part in parts[1:]:
            derivatives = derivatives.join(part.derivatives)
        columns = zip(*(part.linearization for part in parts), strict=True)
        rows = [np.concatenate([np.asarray(one) for one in column]) for column in columns]
        misses = [part.miss for part in parts if part.miss is not None]
        return cls(derivatives, Linearization(*rows), np.concatenate(misses) if misses else None)

    def with_rows(self, rows: np.ndarray, others: "Sight") -> "Sight":
        """With the linearizations and misses of some rows replaced."""
        pairs = zip(self.linearization, others.linearization, strict=True)
        settled = Linearization(
            *[replace_rows(np.asarray(old), rows, np.asarray(new)) for old, new in pairs]
        )
        miss = (
            self.miss
            if self.miss is None or others.miss is None
            else replace_rows(self.miss, rows, others.miss)
        )
        return self._replace(linearization=settled, miss=miss)


class AbstractSurvey(abc.ABC):
    """Looks at points of the Pareto set, with Hessians or without. It lives for one step.

    Points are rows of numbers: the variables themselves, or coordinates in a span that holds all
    points seen so far.

    Attributes:
        corners: minimizers of the single objectives.
        diameter: of the set, as far as it is known.
        schedule: the tuned numbers.
    """

    has_own_tangents: ClassVar[bool]
    """Whether looks always take the tangents of the surface, and not only near the set."""

    corners: Float[np.ndarray, "n_objectives n_variables"]
    diameter: float
    schedule: Schedule

    @property
    @abc.abstractmethod
    def n_tangents(self) -> int:
        """The dimension of the set where all objectives take part."""

    @property
    def measures(self) -> bool:
        """Whether variables are so many that gradients cost little beside Hessians (see
        `LookSchedule.measured_from`)."""
        return self.corners.shape[1] >= self.schedule.look.measured_from

    @property
    @abc.abstractmethod
    def left(self) -> float:
        """How many points may still be evaluated."""

    @property
    @abc.abstractmethod
    def width(self) -> int:
        """How many numbers a point takes by now."""

    @abc.abstractmethod
    def values(
        self, points: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_objectives"]:
        """The objectives at points."""

    @abc.abstractmethod
    def see(
        self,
        points: Float[np.ndarray, "n n_variables"],
        faces: Bool[np.ndarray, "n n_objectives"],
        tangents: Float[np.ndarray, "n n_variables n_tangents"] | None = None,
        support: bool = False,
    ) -> Sight:
        """The normal displacements at points (see `displacement`), with support rows or without."""

    def follow(
        self,
        points: Float[np.ndarray, "n n_variables"],
        faces: Bool[np.ndarray, "n n_objectives"],
        tangents: Float[np.ndarray, "n n_variables n_tangents"] | None = None,
    ) -> Sight:
        """As `see`, at points on their way to the set from a surface that is far from it, with
        these tangents."""
        return self.see(points, faces, tangents)

    @abc.abstractmethod
    def see_beyond(
        self, derivatives: Derivatives, faces: Bool[np.ndarray, "n n_objectives"]
    ) -> Linearization:
        """The displacements with support rows at points that were seen before."""


@dataclass
class Survey(AbstractSurvey):
    """Looks at points, remembering every Hessian. It lives for one step: `known` and the
    evaluator's counts go into the state.

    Attributes:
        evaluator: the objectives.
        known: Hessians computed so far.
        corners: minimizers of the single objectives.
        diameter: of the set, as far as it is known.
        schedule: the tuned numbers.
    """

    has_own_tangents: ClassVar[bool] = False

    evaluator: JaxEvaluator
    corners: Float[np.ndarray, "n_objectives n_variables"]
    diameter: float
    known: KnownHessians = field(default_factory=KnownHessians)
    schedule: Schedule = field(default_factory=Schedule)

    @property
    def n_tangents(self) -> int:
        """The dimension of the set where all objectives take part."""
        return min(self.evaluator.n_objectives - 1, self.evaluator.n_variables)

    @property
    def left(self) -> float:
        """How many points may still be evaluated."""
        return self.evaluator.left

    @property
    def width(self) -> int:
        """L."""
        return self.corners.shape[1]

    def values(
        self, points: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_objectives"]:
        """The objectives at points."""
        return self.evaluator.values(points)

    def see(
        self,
        points: Float[np.ndarray, "n n_variables"],
        faces: Bool[np.ndarray, "n n_objectives"],
        tangents: Float[np.ndarray, "n n_variables n_tangents"] | None = None,
        support: bool = False,
    ) -> Sight:
        """With a Hessian at every point; its own tangents are better than any other."""
        derivatives = self.look(points)
        return Sight(derivatives, self.linearize(derivatives, faces, support))

    def see_beyond(
        self, derivatives: Derivatives, faces: Bool[np.ndarray, "n n_objectives"]
    ) -> Linearization:
        """The displacements with support rows, from the same derivatives."""
        return self.linearize(derivatives, faces, support=True)

    @property
    def can_borrow(self) -> bool:
        """Whether there is a Hessian to borrow."""
        return self.known.can_lend(self.corners)

    def look(self, points: Float[np.ndarray, "n n_variables"]) -> Derivatives:
        """Derivatives with Hessians computed at the points, which are remembered."""
        found = self.evaluator.hessians(points)
        self.known = self.known.add(found)
        return found

    def look_by_gradients(self, points: Float[np.ndarray, "n n_variables"]) -> Derivatives:
        """Gradients at the points, with Hessians lent by points nearby; computed ones if there are
        none to lend."""
        if not self.can_borrow:
            return self.look(points)
        return self.known.lend(self.evaluator.jacobians(points), self.corners)

    def linearize(
        self,
        derivatives: Derivatives,
        faces: Bool[np.ndarray, "n n_objectives"],
        support: bool = False,
    ) -> Linearization:
        """The normal displacements at points with Hessians of their own or borrowed ones (see
        `linearize`)."""
        assert derivatives.hessians is not None
        if derivatives.points.shape[1] >= MANY_VARIABLES:
            return linearize_on_host(derivatives.gradients, derivatives.hessians, faces, support)
        size = block_size(*derivatives.gradients.shape[1:])
        parts = (derivatives.gradients, derivatives.hessians, faces)
        return Linearization(
            *in_blocks(lambda *block: linearize_points(*block, np.asarray(support)), size, *parts)
        )
