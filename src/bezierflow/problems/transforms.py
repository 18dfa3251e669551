"""Variables that a solver sees on another scale than people do: by their logarithms."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

KINDS = ("", "log10", "log")
"""What a solver's variable may be of the one that people see: the same, or its logarithm to base 10
or e."""


def decode(
    z: Float[Array | np.ndarray, "*batch n_variables"], transforms: Sequence[str]
) -> Float[Array | np.ndarray, "*batch n_variables"]:
    """The variables that people see, x = 10^z or e^z where z is a logarithm. NumPy in, NumPy out;
    traceable by JAX."""
    if not any(transforms):
        return z
    xp, bases = (np if isinstance(z, np.ndarray) else jnp), _bases(transforms)
    # The exponent 0 in place of z where z is no logarithm: its power may overflow, and would spoil
    # derivatives.
    return xp.where(bases > 0, xp.power(np.maximum(bases, 1.0), xp.where(bases > 0, z, 0.0)), z)


def encode(
    x: Float[np.ndarray, "*batch n_variables"], transforms: Sequence[str]
) -> Float[np.ndarray, "*batch n_variables"]:
    """The variables that a solver sees. The logarithm of 0 is −∞; that of a negative number is not
    a number."""
    if not any(transforms):
        return x
    logarithm = {"": lambda column: column, "log10": np.log10, "log": np.log}
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([logarithm[kind](x[..., i]) for i, kind in enumerate(transforms)], axis=-1)


def _bases(transforms: Sequence[str]) -> Float[np.ndarray, " n_variables"]:
    """The base of each logarithm, 0 for none."""
    return np.array([{"": 0.0, "log10": 10.0, "log": np.e}[kind] for kind in transforms])
