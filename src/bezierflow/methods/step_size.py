"""Step sizes: a number, or a function of the iteration number k, from 1 on."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array

StepSize = float | Callable[[Array], Array]


def check_step_size(step_size: StepSize) -> StepSize:
    """The step size, or a ValueError: a number must be positive; a function is called when the run starts."""
    if callable(step_size):
        return step_size
    if not step_size > 0:
        raise ValueError(f"step_size must be above 0, or a function of the iteration such as lambda k: 1 / k, got {step_size!r}")
    return float(step_size)


def at_iteration(step_size: StepSize, k: Array) -> Array:
    """α^(k)."""
    return step_size(k) if callable(step_size) else jnp.asarray(step_size)
