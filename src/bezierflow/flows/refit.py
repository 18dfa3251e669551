"""How a surface follows moved points: by a refit, or by pulling their displacements back to the
control points."""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..bezier import least_squares
from ..kinds import kind


class AbstractRefit(eqx.Module):
    """A rule that gives new control points for moved points. A new one needs `__call__`, nothing
    else."""

    @abc.abstractmethod
    def __call__(
        self,
        design: Float[Array, "n_samples n_controls"],
        weights: Float[Array, " n_samples"],
        values: Float[Array, "n_samples width"],
        previous: Float[Array, "n_controls width"],
    ) -> Float[Array, "n_controls width"]:
        """Control points whose surface takes these values where `design` was evaluated; `previous`
        are the current ones."""


@kind("refit.least_squares/1")
class LeastSquares(AbstractRefit):
    """P = argmin Σ_n ω_n |x_n − b(t_n|P)|² = (ZᵀΩZ)⁻¹ ZᵀΩX (equations 4 and 5), the paper's refit.

    Solved for the change from the previous control points: the same P, but rounding is relative to
    how far points moved.
    """

    def __call__(
        self,
        design: Float[Array, "n_samples n_controls"],
        weights: Float[Array, " n_samples"],
        values: Float[Array, "n_samples width"],
        previous: Float[Array, "n_controls width"],
    ) -> Float[Array, "n_controls width"]:
        """The least-squares control points."""
        # For the change, since it is small where P is nearly right.
        return previous + least_squares(design, values - design @ previous, weights)


@kind("refit.pull_back/1")
class PullBack(AbstractRefit):
    """P + ZᵀΩ(X − ZP)/Σω: displacements are pulled back to the control points. Any number of points
    N will do.

    Applied to gradients G it gives ZᵀΩG/Σω, the sample mean of ∇_P f(b(t|P)|t) = z(t)
    ∇f(b(t|P)|t)ᵀ: a rule on gradients then descends on the control points of E_t[f(b(t|P)|t)], as
    stochastic gradient descent does on weights. `LeastSquares` multiplies the same matrix by
    (ZᵀΩZ)⁻¹, which exists from N = n_controls on.
    """

    def __call__(
        self,
        design: Float[Array, "n_samples n_controls"],
        weights: Float[Array, " n_samples"],
        values: Float[Array, "n_samples width"],
        previous: Float[Array, "n_controls width"],
    ) -> Float[Array, "n_controls width"]:
        """The control points after one step towards the points."""
        shares = weights / jnp.sum(weights)
        return previous + design.T @ (shares[:, None] * (values - design @ previous))
