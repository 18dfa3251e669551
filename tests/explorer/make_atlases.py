"""The atlases that the page's tests open, as files: `python tests/explorer/make_atlases.py` makes
them again.

They take a minute or two, and the page shows what is in a file however it came there.
"""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
from scipy.optimize import LinearConstraint

import bezierflow as bf

FOLDER = Path(__file__).parent / "atlases"

POINTS = np.array([[1.5, 0.2, 0.4], [-0.3, 0.9, 0.1], [0.2, -0.5, 1.4], [0.5, 0.5, -0.4]])


def waves(x):
    """A front in several pieces: where a decreasing wave reaches a new low."""
    return jnp.array([x[0], 1 - jnp.sqrt(x[0] + 0.05) - 0.5 * x[0] * jnp.sin(6 * jnp.pi * x[0])])


def distances(n_objectives):
    return lambda x: jnp.sum((x - POINTS[:n_objectives]) ** 2, axis=1)


def main():
    box = np.full(3, 0.1), np.full(3, 0.7)
    bf.minimize(waves, None, bounds=(np.zeros(1), np.ones(1)), tol=1e-3).save(FOLDER / "2.bez")
    bf.minimize(distances(3), None, bounds=box).save(FOLDER / "3.bez")
    bf.minimize(distances(4), None, bounds=box, tol=1e-2).save(FOLDER / "4.bez")
    constraints = [LinearConstraint(np.ones(3), 1, 1), lambda x: x[0] - x[1] - 0.3]
    bounds = np.zeros(3), np.ones(3)
    bf.minimize(distances(2), None, bounds=bounds, constraints=constraints, tol=1e-3).save(
        FOLDER / "constrained.bez"
    )


if __name__ == "__main__":
    main()
