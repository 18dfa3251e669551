"""What a step looks at the set with: the evaluator, the Hessians known so far, and corners and diameter, which set scales."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float

from ..evaluation import AbstractEvaluator, Derivatives, block_size, in_blocks
from .displacement import Linearization, linearize_points
from .lending import KnownHessians
from .schedule import Schedule


@dataclass
class Survey:
    """Looks at points, remembering every Hessian. It lives for one step: `known` and the evaluator's counts go into the state.

    Attributes:
        evaluator: the objectives.
        known: Hessians computed so far.
        corners: minimizers of the single objectives.
        diameter: of the set, as far as it is known.
        schedule: the tuned numbers.
    """

    evaluator: AbstractEvaluator
    corners: Float[np.ndarray, "n_objectives n_variables"]
    diameter: float
    known: KnownHessians = field(default_factory=KnownHessians)
    schedule: Schedule = field(default_factory=Schedule)

    @property
    def n_tangents(self) -> int:
        """The dimension of the set where all objectives take part."""
        return min(self.evaluator.n_objectives - 1, self.evaluator.n_variables)

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
        """Gradients at the points, with Hessians lent by points nearby; computed ones if there are none to lend."""
        if not self.can_borrow:
            return self.look(points)
        return self.known.lend(self.evaluator.jacobians(points), self.corners)

    def linearize(
        self, derivatives: Derivatives, faces: Bool[np.ndarray, "n n_objectives"], support: bool = False
    ) -> Linearization:
        """The normal displacements at points with Hessians of their own or borrowed ones (see `linearize`)."""
        assert derivatives.hessians is not None
        size = block_size(*derivatives.gradients.shape[1:])
        parts = (derivatives.gradients, derivatives.hessians, faces)
        return Linearization(*in_blocks(lambda *block: linearize_points(*block, np.asarray(support)), size, *parts))
