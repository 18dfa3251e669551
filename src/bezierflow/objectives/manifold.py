"""The set that equality constraints leave, and the way onto it."""

from collections.abc import Callable

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
        return self._zero_of(self.feasible.equalities, x, SCHEDULE.projections)

    def inside(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_variables"]:
        """Likewise one that keeps inequalities, too. Steps go a little too far, since Newton's
        method comes to a curved side of the set from outside and never arrives."""
        own = self.feasible

        def rows(x: Array) -> Array:
            return jnp.concatenate([own.equalities(x), jnp.maximum(own.inequalities(x), 0)])

        far = np.append(np.ones(own.n_equalities), np.full(own.n_inequalities, SCHEDULE.too_far))
        return self._zero_of(rows, x, SCHEDULE.steps_inside, far)

    def _zero_of(
        self,
        rows: Callable[[Array], Array],
        x: Array,
        steps: int,
        far: np.ndarray | float = 1.0,
    ) -> Array:
        """Where rows end at 0, by Newton's steps, so many times as long for each row."""
        scale = jnp.finfo(x.dtype)

        def move(h: Array, J: Array) -> Array:
            gram = J @ J.T
            # Where all rows hold their slopes are 0, and nothing moves.
            least = jnp.maximum(scale.eps * jnp.trace(gram), scale.tiny)
            return -J.T @ jnp.linalg.solve(gram + least * jnp.eye(len(h)), far * h)

        def step(_: object, x: Array) -> Array:
            own = self.feasible
            h, J = rows(x), jax.jacrev(rows)(x)
            full = move(h, J)
            # Variables that a bound holds do not move: clipping them would leave most of h.
            held = ((x <= own.lower) & (full < 0)) | ((x >= own.upper) & (full > 0))
            return jnp.asarray(own.clip(x + move(h, jnp.where(held, 0.0, J))))

        return jax.lax.fori_loop(0, steps, step, x)

    def rest(self) -> FeasibleSet:
        """Bounds and inequalities at projected points; where the projection ended off the set,
        another inequality says so."""
        own, n = self.feasible, self.feasible.n_inequalities + self.feasible.n_equalities
        rows = Constraint(Partial(_rest, self), np.full(n, -np.inf), np.zeros(n), ("projected",))
        return FeasibleSet(own.lower, own.upper, (rows,), own.variables, own.scale)

    def project(
        self, x: Float[np.ndarray, "n n_variables"], inside: bool = False
    ) -> Float[np.ndarray, "n n_variables"]:
        """The designs that these stand for, in NumPy; or those `inside`."""
        with double_precision():
            return on_host((_moved_inside if inside else _projected)(self, jnp.asarray(x)))


def _rest(manifold: Manifold, x: Float[Array, " n_variables"]) -> Float[Array, " n_rows"]:
    feasible, y = manifold.feasible, manifold(x)
    off = jnp.abs(feasible.equalities(y)) - SCHEDULE.on_manifold * (1 + jnp.abs(y).max())
    return jnp.concatenate([feasible.inequalities(y), off])


@program
def _projected(manifold: Manifold, x: Array) -> Array:
    return jax.vmap(manifold)(x)


@program
def _moved_inside(manifold: Manifold, x: Array) -> Array:
    return jax.vmap(manifold.inside)(x)
