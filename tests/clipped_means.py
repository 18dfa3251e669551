"""Squared distances to three points in the unit box: their Pareto set is known, and its atlas is
made once for all tests."""

from functools import cache

import jax.numpy as jnp
import numpy as np

import bezierflow as bf

CENTERS = np.array([[1.5, 0.2, 0.4], [-0.3, 0.9, 0.1], [0.2, -0.5, 1.4]])


def distances(x):
    return jnp.sum((x - CENTERS) ** 2, axis=1)


def clipped_means(w):
    """The minimizers of the distances weighted by w within the box."""
    return np.clip(w @ CENTERS[: w.shape[-1]], 0, 1)


@cache
def atlas_in_the_box() -> bf.Solution:
    return bf.minimize(distances, None, bounds=(np.zeros(3), np.ones(3)))
