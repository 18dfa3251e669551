"""What all runs of a study share: the flow, the objectives, the start and the number of
iterations."""

import equinox as eqx

from ..bezier import BezierSimplex
from ..flows import Flow
from ..objectives import FlatObjectives
from ..simplex import AbstractSampler
from .checks import check_count
from .losses import AbstractLoss, loss_for


class Setting(eqx.Module):
    """A run of a lifted method without its samples. Those are drawn from the key that each run
    gets.

    Attributes:
        flow: M(A), with its sampler settled for the number of objectives.
        objectives: of a flat vector.
        surface: P^(1).
        n_iterations: K.
    """

    flow: Flow
    objectives: FlatObjectives
    surface: BezierSimplex
    n_iterations: int = eqx.field(static=True)

    def __init__(
        self, flow: Flow, objectives: FlatObjectives, surface: BezierSimplex, n_iterations: int
    ):
        if flow.method.runs_on_host:
            raise TypeError(
                "flow must have a method that JAX can trace, so that twins run side by side;"
                f" {type(flow.method).__name__} runs in Python. Use GradientDescent, Newton,"
                " Optax(...) or Optimistix(...)"
            )
        self.flow, self.objectives, self.surface = (
            flow.for_objectives(surface.n_objectives),
            objectives,
            surface,
        )
        self.n_iterations = check_count(n_iterations, "n_iterations")

    @property
    def sampler(self) -> AbstractSampler:
        """Where t is drawn."""
        assert self.flow.sampler is not None  # settled when this setting was made
        return self.flow.sampler

    @property
    def n_samples(self) -> int:
        """N."""
        return self.sampler.n_samples

    @property
    def n_objectives(self) -> int:
        """M."""
        return self.surface.n_objectives

    @property
    def degree(self) -> int:
        """D."""
        return self.flow.degree

    @property
    def loss(self) -> AbstractLoss:
        """ℓ: the distance to the Pareto map where it is known, else the stationarity residual."""
        return loss_for(self.objectives, self.flow.scalarization)
