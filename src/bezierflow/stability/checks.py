"""What this room checks at its doors."""

from collections.abc import Callable

import jax
import numpy as np

from ..arguments import read_count, read_probability
from ..simplex import n_controls


def check_probability(value: float, name: str) -> float:
    """The value, strictly between 0 and 1."""
    return read_probability(value, name, "0.05 asks for a statement that fails 5 % of the time")


def check_count(value: object, name: str, least: int = 1) -> int:
    """The value as an int."""
    return read_count(value, name, least)


def check_samples(n_samples: int, n_objectives: int, degree: int) -> int:
    """N, at least the number of control points."""
    needed = n_controls(n_objectives, degree)
    if check_count(n_samples, "n_samples") < needed:
        raise ValueError(
            f"n_samples={n_samples} is below the {needed} control points of degree {degree} with"
            f" {n_objectives} objectives, where ZᵀZ is singular and no refit is stable; draw at"
            f" least {needed} or lower the degree"
        )
    return int(n_samples)


def check_gradients(objectives: Callable, x: np.ndarray) -> None:
    """Raises a TypeError for objectives that JAX cannot differentiate."""
    try:
        jax.eval_shape(jax.jacrev(objectives), x)
    except Exception as error:
        first_line = str(error).strip().split("\n")[0]
        raise TypeError(
            "objectives must have gradients, written with jax.numpy; differentiating them failed:"
            f" {first_line}"
        ) from error
