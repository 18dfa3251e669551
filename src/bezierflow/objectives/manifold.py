"""The set that equality constraints leave, and the way onto it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float

from ..compilation import program
from ..precision import double_precision, on_host
from .feasible import Constraint, FeasibleSet
from .schedule import SCHEDULE


class Manifold(eqx.Module):
    """Where equality constraints hold, and the way there: Newton's method for h(x) = 0 with the
    least change of x, within bounds."""

    feasible: FeasibleSet

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_variables"]:
        """A point of the set near x, where Newton's method finds one. Traceable by JAX."""
        scale = jnp.finfo(x.dtype).eps

        def move(h: Array, J: Array) -> Array:
            gram = J @ J.T
            gram = gram + scale * (jnp.trace(gram) + jnp.finfo(x.dtype).tiny) * jnp.eye(len(h))
            return -J.T @ jnp.linalg.solve(gram, h)

        def step(_: object, x: Array) -> Array:
            own = self.feasible
            h, J = own.equalities(x), jax.jacrev(own.equalities)(x)
            full = move(h, J)
            # Variables that a bound holds do not move: clipping them would leave most of h.
            held = ((x <= own.lower) & (full < 0)) | ((x >= own.upper) & (full > 0))
            return jnp.asarray(own.clip(x + move(h, jnp.where(held, 0.0, J))))

        return jax.lax.fori_loop(0, SCHEDULE.projections, step, x)

    def rest(self) -> FeasibleSet:
        """Bounds and inequalities at projected points; where the projection ended off the set,
        another inequality says so."""
        own, n = self.feasible, self.feasible.n_inequalities + self.feasible.n_equalities
        rows = Constraint(Partial(_rest, self), np.full(n, -np.inf), np.zeros(n), ("projected",))
        return FeasibleSet(own.lower, own.upper, (rows,), own.variables, own.scale)

    def project(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_variables"]:
        """The designs that these stand for, in NumPy."""
        with double_precision():
            return on_host(_projected(self, jnp.asarray(x)))


def _rest(manifold: Manifold, x: Float[Array, " n_variables"]) -> Float[Array, " n_rows"]:
    feasible, y = manifold.feasible, manifold(x)
    off = jnp.abs(feasible.equalities(y)) - SCHEDULE.on_manifold * (1 + jnp.abs(y).max())
    return jnp.concatenate([feasible.inequalities(y), off])


@program
def _projected(manifold: Manifold, x: Array) -> Array:
    return jax.vmap(manifold)(x)
