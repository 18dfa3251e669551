"""The smooth Tchebycheff scalarization."""

from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from ..arguments import read_positive
from ..kinds import kind
from .scalarization import AbstractReferencedScalarization, Reference


@kind("scalarization.smooth_tchebycheff/1")
class SmoothTchebycheff(AbstractReferencedScalarization):
    """μ log Σ_m exp(t_m u_m/μ): a smooth max_m t_m u_m, with u the normalized objectives.

    Its minimizers reach every Pareto point, on fronts of any shape. A smaller μ is closer to the
    maximum itself and harder on a method (curvature grows like 1/μ). See Lin et al., "Smooth
    Tchebycheff scalarization for multi-objective optimization", 2024.

    Args:
        smoothing: μ > 0.
        reference: ideal point and ranges; found by the run if None.
    """

    smoothing: float
    reference: Reference | None

    def __init__(self, smoothing: float = 0.1, reference: Reference | None = None):
        self.smoothing, self.reference = read_positive(smoothing, "smoothing"), reference

    def __call__(
        self, values: Float[Array, " n_objectives"], t: Float[Array, " n_objectives"]
    ) -> Float[Array, ""]:
        """μ log Σ_m exp(t_m u_m/μ), over the objectives with t_m > 0."""
        u = self.normalized(values)
        # Objectives with t_m = 0 are left out: their terms exp(0) would only shrink the gradient of
        # the others.
        return self.smoothing * logsumexp(t * u / self.smoothing, where=t > 0, return_sign=False)
