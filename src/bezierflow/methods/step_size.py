"""Step sizes: a number, or a function of the iteration number k, from 1 on."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array

from ..arguments import read_positive

StepSize = float | Callable[[Array], Array]


def check_step_size(step_size: StepSize) -> StepSize:
    """The step size, or a ValueError: a number must be positive; a function is called when the run
    starts."""
    if callable(step_size):
        return step_size
    return read_positive(
        step_size,
        "step_size",
        "a function of the iteration such as lambda k: 1 / k will do as well",
    )


def at_iteration(step_size: StepSize, k: Array) -> Array:
    """α^(k)."""
    return step_size(k) if callable(step_size) else jnp.asarray(step_size)
