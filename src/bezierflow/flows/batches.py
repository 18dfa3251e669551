"""Objectives that are known by samples: a function of x and a batch, and where the batches come
from."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..compilation import program
from ..objectives import as_vector

Batch = PyTree
"""A pytree of arrays, of any kind that NumPy can read."""

Sampled = Callable[[PyTree, Batch], PyTree]
"""Objectives of x and a batch, or of x and a key."""


@dataclass(frozen=True)
class Stochastic:
    """Objectives that are known by samples, f(x, batch) -> M numbers: `bf.minimize(bf.Stochastic(f,
    loader), x0, flow)`.

    Attributes:
        function: f(x, batch), or f(x, key) where no batches are given: each point of the surface
            then gets a fresh key in each iteration, for data that lies on the device or is
            simulated. x has the form of x0.
        batches: any iterable of batches (pytrees of arrays; torch tensors too) that all have the
            same shapes. A list or a loader is gone through again as often as `n_iterations` asks
            for; without `n_iterations` a run is one pass.
        held_out: a batch (or a key) of which `solution.objectives` and so the front, decisions and
            pictures are; by default the last one that the run used.
        objective_names: what the objectives are called.
    """

    function: Sampled
    batches: Iterable[Batch] | None = None
    held_out: Batch = None
    objective_names: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be a function of x and a batch, got {self.function!r}")
        if self.batches is not None and not isinstance(self.batches, Iterable):
            raise TypeError(
                "batches must be an iterable of batches, or None for a function of x and a key,"
                f" got {self.batches!r}"
            )


class Feed:
    """The batches of a run, one after another, all of the shapes of the first.

    Attributes:
        batches: where they come from.
        again: whether they are gone through again when they end.
        first: the first one.
        last: the last one that was taken.
        taken: how many were.
        why: why there are no more; empty as long as there may be some.
        misshapen: whether that is because one has another form than the first.
    """

    def __init__(self, batches: Iterable[Batch], again: bool):
        self.batches, self.again = batches, again and not isinstance(batches, Iterator)
        self.iterator, self.taken, self.why, self.misshapen = iter(batches), 0, "", False
        found = next(self.iterator, None)
        if found is None:
            raise ValueError("batches must hold at least one batch, got none")
        self.first = self.last = as_arrays(found, 1)
        self.waiting: list[Batch] = [self.first]

    def take(self, most: int) -> Iterator[Batch]:
        """Up to so many batches: fewer where they end, or where one has another shape."""
        for _ in range(most):
            batch = self.waiting.pop() if self.waiting else self._next()
            if batch is None:
                return
            self.last, self.taken = batch, self.taken + 1
            yield batch

    def _next(self) -> Batch | None:
        found = next(self.iterator, None)
        if found is None and self.again:
            self.iterator = iter(self.batches)
            found = next(self.iterator, None)
        if found is None:
            self.why = f"batches ended after {self.taken}"
            return None
        batch = as_arrays(found, self.taken + 1)
        if _form(batch) == _form(self.first):
            return batch
        self.misshapen = True
        self.why = (
            f"batch {self.taken + 1} has the form {_form(batch)}, but the first one"
            f" {_form(self.first)}; drop an incomplete last batch (drop_last=True), or pad it"
        )
        return None


class Restored(eqx.Module):
    """Objectives of the floating-point arrays of x, with all that x has beside them (functions,
    integers) put back."""

    function: Sampled
    rest: PyTree

    def __call__(self, x: PyTree, batch: Batch) -> PyTree:
        """f(x, batch)."""
        return self.function(x if self.rest is None else eqx.combine(x, self.rest), batch)


class HeldOut(eqx.Module):
    """Objectives of x alone: those of one batch, computed with the types of x0."""

    function: Sampled
    batch: Batch
    dtypes: tuple[np.dtype, ...] = eqx.field(static=True)

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """f(x, batch)."""
        leaves, treedef = jax.tree.flatten(x)
        typed = [
            jnp.asarray(leaf).astype(dtype) for leaf, dtype in zip(leaves, self.dtypes, strict=True)
        ]
        return as_vector(self.function(jax.tree.unflatten(treedef, typed), self.batch))


def average_along(
    surface: Callable[[np.ndarray], PyTree],
    function: Sampled,
    batches: Iterable[Batch],
    t: Float[Array | np.ndarray, "n n_objectives"],
) -> PyTree:
    """The mean over all batches of function(b(t), batch), at each t: one row a t, in every leaf of
    what the function returns.

    For test losses of a whole loader, and for batch statistics: those of b(t) are not between those
    of the corners, so they are computed anew along the surface. Batches count equally.
    """
    x, total, n = surface(np.asarray(t)), None, 0
    for n, batch in enumerate(batches, 1):
        found = _at_each(function, x, as_arrays(batch, n))
        total = found if total is None else jax.tree.map(jnp.add, total, found)
    if n == 0:
        raise ValueError("batches must hold at least one batch, got none")
    return jax.tree.map(lambda leaf: leaf / n, total)


@program
def _at_each(function: Sampled, x: PyTree, batch: Batch) -> PyTree:
    return jax.vmap(lambda x: function(x, batch))(x)


def as_arrays(batch: Batch, number: int) -> Batch:
    """A batch with NumPy arrays for what is none of JAX's, or an error that names what is no
    array."""

    def as_array(leaf: object) -> Array | np.ndarray:
        if isinstance(leaf, jax.Array):
            return leaf
        array = np.asarray(leaf)
        if array.dtype.kind not in "biufcV":
            raise TypeError(
                f"batches must hold pytrees of arrays of numbers, but batch {number} has a leaf"
                f" {leaf!r}"
            )
        return array

    return jax.tree.map(as_array, batch)


def _form(batch: Batch) -> str:
    leaves, treedef = jax.tree.flatten(batch)
    return f"{treedef} of {[(leaf.shape, leaf.dtype.name) for leaf in leaves]}"
