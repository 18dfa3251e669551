"""The posterior mean as objectives like any other: designs as people see them in, values with their
own signs out."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..bezier import Raveling
from ..compilation import compiled
from ..names import Names
from ..precision import double_precision
from .kernels import Numbers
from .posterior import Posterior, describe_posterior, restore_posterior

LOGARITHMS = {"": lambda x: x, "log10": jnp.log10, "log": jnp.log}


class PosteriorMean(eqx.Module):
    """x ↦ the expected objective values, for x shaped like the user's.

    Attributes:
        posterior: of the objectives as they are minimized, on the unit cube.
        low: bounds of the variables that vary, logarithms where they are taken: 0 in the cube.
        width: from there to their upper bounds: 1 in the cube.
        calibration: by what the posterior's standard deviations are multiplied, so that held-out
            errors agree with them.
        free: the numbers of the variables that vary.
        raveling: how x lies in a flat vector.
        names: with directions and transforms.
    """

    posterior: Posterior
    low: Float[Array | np.ndarray, " n_free"]
    width: Float[Array | np.ndarray, " n_free"]
    calibration: Float[Array | np.ndarray, ""]
    free: tuple[int, ...] = eqx.field(static=True)
    raveling: Raveling
    names: Names = eqx.field(static=True)

    @property
    def n_objectives(self) -> int:
        """M."""
        return len(self.names.objectives)

    @property
    def n_variables(self) -> int:
        """L."""
        return self.raveling.n_variables

    def place(self, x: PyTree) -> Float[Array, " n_free"]:
        """A design as a point of the unit cube."""
        flat = jnp.asarray(self.raveling.ravel(x))
        z = jnp.stack([LOGARITHMS[self.names.transforms[i]](flat[i]) for i in self.free])
        return (z - self.low) / self.width

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """The expected values. Traceable, and so are two derivatives."""
        return jnp.asarray(self.names.signs) * self.posterior.mean(self.place(x))

    def std(self, x: PyTree, batch_axes: int = 0) -> Float[np.ndarray, "*batch n_objectives"]:
        """The calibrated standard deviations of the values at designs, noise left out."""
        flat = np.asarray(self.raveling.ravel(x, batch_axes), dtype=float)
        rows = flat.reshape(-1, flat.shape[-1])
        with double_precision():
            found = np.asarray(_stds(self, rows))
        return found.reshape(*flat.shape[:-1], self.n_objectives)

    def describe(self) -> tuple[dict[str, object], dict[str, np.ndarray]]:
        """What `restore` makes the same processes from: JSON, and arrays."""
        own = {"low": self.low, "width": self.width, "calibration": self.calibration}
        arrays = {name: np.asarray(values) for name, values in own.items()}
        return {"free": list(self.free)}, {**describe_posterior(self.posterior), **arrays}

    @classmethod
    def restore(
        cls,
        manifest: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        raveling: Raveling,
        names: Names,
    ) -> "PosteriorMean":
        """What `describe` described."""
        place = arrays["low"], arrays["width"], arrays["calibration"], tuple(manifest["free"])
        return cls(restore_posterior(arrays), *place, raveling, names)


@compiled
def _stds(mean: PosteriorMean, x: Numbers) -> Array:
    def one(row: Numbers) -> Array:
        return jnp.asarray(mean.calibration) * mean.posterior.std(
            mean.place(mean.raveling.unravel(row))
        )

    return jax.vmap(one)(x)
