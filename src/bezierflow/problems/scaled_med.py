"""Scaled-MED: the paper's problem with a Pareto map in closed form."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..kinds import kind
from ..names import Names
from .forms import CenterMap, weighted_center
from .problem import AbstractSolvedProblem, as_batch

SCALES = np.array([[1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [3.0, 2.0, 1.0]])
CENTERS = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, -1.0]])


@kind("problem.scaled_med/1")
class ScaledMED(AbstractSolvedProblem):
    """Squared distances to three points, scaled differently per objective (Appendix "Problem
    Definition").

    f_1 = x_1² + 3(x_2−1)² + 2(x_3−1)²,  f_2 = 2(x_1−1)² + x_2² + 3(x_3−1)²,  f_3 = 3(x_1−1)² +
    2(x_2−1)² + (x_3+1)².
    """

    def __init__(self):
        self.n_objectives = self.n_variables = 3
        self.names = Names.default(3, 3)

    def _objectives(self, x: Array | np.ndarray) -> Array:
        x = jnp.asarray(x)
        away = x - jnp.asarray(CENTERS, x.dtype)
        return jnp.sum(jnp.asarray(SCALES, x.dtype) * away**2, axis=1)

    def pareto_map(
        self, t: Float[Array | np.ndarray, "*batch 3"]
    ) -> Float[Array | np.ndarray, "*batch 3"]:
        """x*(t), the minimizer of Σ t_m f_m (Appendix "Analytical solution of scaled-MED").

        x*(t) = ( (2t_2+3t_3)/(t_1+2t_2+3t_3), (3t_1+2t_3)/(3t_1+t_2+2t_3),
        (2t_1+3t_2−t_3)/(2t_1+3t_2+t_3) ).
        """
        return weighted_center(SCALES, CENTERS, as_batch(t, 3, "t"))

    def pareto_point(
        self, w: Float[Array | np.ndarray, "*batch 3"]
    ) -> Float[Array | np.ndarray, "*batch 3"]:
        """`pareto_map`, which is onto the Pareto set by strict convexity."""
        return self.pareto_map(w)

    def set_map(self) -> CenterMap:
        """`pareto_map`, with derivatives."""
        return CenterMap(SCALES, CENTERS)
