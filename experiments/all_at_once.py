"""The all-at-once fit as its authors run it: a few rounds of foot points and least squares."""

import warnings

import numpy as np

import bezierflow as bf
from bezierflow.bezier import project

MAX_ROUNDS = 30
TOLERANCE = 1e-4
"""As in the authors' published trainer (github.com/rafcc/aaai-20.1534, src/trainer.py): at most 30
rounds, and an end when |residuals|/n falls by less than 1e-4. Carried on to convergence, the fit of
a noisy population swings out between its points."""


def all_at_once(x: np.ndarray, vertices: np.ndarray, degree: int) -> bf.BezierSimplex:
    """The Bézier simplex fitted to points whose t are unknown (Kobayashi et al., AAAI 2019), by
    their alternation.

    Start: the flat simplex through the vertices. Each round: t_n is the foot point of x_n on the
    surface, found here exactly on the simplex where the authors take Newton steps and then move t
    back into it; P is the least-squares fit to (t_n, x_n).

    Args:
        x: the points, one a row.
        vertices: where the corners start, one a row: the points best in each objective.
        degree: the degree of the surface.
    """
    n_objectives = len(vertices)
    surface = bf.BezierSimplex(
        bf.simplex.grid(n_objectives, degree) @ vertices, n_objectives, degree
    )
    previous = np.inf
    # Copies of the last point make up the next power of two, so that populations of similar size
    # share a compiled program.
    padded = np.pad(x, ((0, (1 << (len(x) - 1).bit_length()) - len(x)), (0, 0)), mode="edge")
    for _ in range(MAX_ROUNDS):
        t, distances = (array[: len(x)] for array in project(surface, padded))
        misfit = float(np.linalg.norm(distances)) / len(x)
        with warnings.catch_warnings():
            # Where many foot points share an edge, least squares is not unique; `fit` then takes
            # the shortest solution.
            warnings.simplefilter("ignore", np.exceptions.RankWarning)
            surface = bf.fit(t, x, degree)
        if abs(previous - misfit) < TOLERANCE:
            break
        previous = misfit
    return surface
