"""Any optax optimizer as a method."""

from typing import TYPE_CHECKING

import equinox as eqx
from jaxtyping import PyTree

from ..kinds import kind
from .method import AbstractGradientMethod

if TYPE_CHECKING:
    import optax


@kind("method.optax/1")
class Optax(AbstractGradientMethod):
    """A method from any `optax` optimizer: `Optax(optax.adam(1e-2))`. One gradient per step.

    Lifted, the optimizer acts on the control points (see `AbstractGradientMethod`), so momenta,
    second moments and schedules mean what they mean in optax although fresh t are drawn each
    iteration. Optimizers that ask for the objective's value during `update` (line searches,
    `optax.lbfgs` with its default) do not fit; use `Optimistix` for such methods.
    """

    optimizer: "optax.GradientTransformation" = eqx.field(static=True)

    def __init__(self, optimizer: "optax.GradientTransformation"):
        if not (hasattr(optimizer, "init") and hasattr(optimizer, "update")):
            raise TypeError(
                f"optimizer must be an optax optimizer such as optax.adam(1e-2), got {optimizer!r}"
            )
        self.optimizer = optimizer

    def init(self, x: PyTree) -> PyTree:
        """The optimizer's own state."""
        return self.optimizer.init(x)

    def update(self, gradient: PyTree, x: PyTree, state: PyTree) -> tuple[PyTree, PyTree]:
        """One optax update."""
        import optax

        updates, state = self.optimizer.update(gradient, state, x)
        return optax.apply_updates(x, updates), state
