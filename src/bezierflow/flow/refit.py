"""How a surface is refitted to moved points."""

import abc

import equinox as eqx
from jaxtyping import Array, Float

from ..bezier import least_squares


class AbstractRefit(eqx.Module):
    """A rule that gives new control points for moved points. A new one needs `__call__`, nothing else."""

    @abc.abstractmethod
    def __call__(
        self,
        design: Float[Array, "n_samples n_controls"],
        weights: Float[Array, " n_samples"],
        values: Float[Array, "n_samples width"],
        previous: Float[Array, "n_controls width"],
    ) -> Float[Array, "n_controls width"]:
        """Control points whose surface takes these values where `design` was evaluated; `previous` are the current ones."""


class LeastSquares(AbstractRefit):
    """P = argmin Σ_n ω_n |x_n − b(t_n|P)|² = (ZᵀΩZ)⁻¹ ZᵀΩX (equations 4 and 5), the paper's refit.

    Solved for the change from the previous control points: the same P, but rounding is relative to how far points moved.
    """

    def __call__(
        self,
        design: Float[Array, "n_samples n_controls"],
        weights: Float[Array, " n_samples"],
        values: Float[Array, "n_samples width"],
        previous: Float[Array, "n_controls width"],
    ) -> Float[Array, "n_controls width"]:
        """The least-squares control points."""
        return previous + least_squares(design, values - design @ previous, weights)
