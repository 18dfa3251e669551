"""Functions of flat vectors on the host: of NumPy and plain Python, and of JAX where it cannot
differentiate twice."""

from collections.abc import Callable, Iterator
from functools import cached_property

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PyTree
from numpy.typing import ArrayLike

from ..bezier import Raveling
from ..precision import double_precision
from .host import Objectives, Rows, is_list_of_functions
from .source import AbstractSource

DOMAIN_ERRORS = ("math domain error", "expected a nonnegative input", "expected a positive input")
"""How Python's `math` says that a function is not defined somewhere."""


class HostSource(AbstractSource):
    """`Objectives` of x in the user's form, as a function of flat vectors.

    A point where the function fails by arithmetic (a division by zero, a root or logarithm outside
    of its domain, an overflow) has no numbers for values; any other error is the user's to see.
    """

    def __init__(self, function: Objectives, raveling: Raveling, n_rows: int):
        self.function, self.raveling, self.n_rows = function, raveling, n_rows
        self.order = 2 if function.hess is not None else 1 if function.jac is not None else 0

    def values(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_rows"]:
        """F."""
        return self._rows(self.function.function, "objectives", x, (self.n_rows,))

    def jacobians(
        self, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables"]:
        """The user's jac, in units of the flat vector."""
        J = self._rows(self.function.jac, "jac", x, (self.n_rows, x.shape[1]))
        return J * self.raveling.units

    def hessians(
        self, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables n_variables"]:
        """The user's hess, in units of the flat vector."""
        H = self._rows(self.function.hess, "hess", x, (self.n_rows, x.shape[1], x.shape[1]))
        return H * self.raveling.units[:, None] * self.raveling.units

    def _rows(
        self, part: Rows | None, name: str, x: np.ndarray, shape: tuple[int, ...]
    ) -> np.ndarray:
        assert part is not None
        with np.errstate(all="ignore"), double_precision():
            if self.function.vectorized:
                return checked(
                    stacked(part, self.raveling.unravel(x), -len(shape)), name, (len(x), *shape)
                )
            rows = np.full((len(x), *shape), np.nan)
            for i, point in enumerate(one_by_one(self.raveling, x)):
                try:
                    rows[i] = checked(stacked(part, point, 0), name, shape)
                except ArithmeticError:
                    continue
                except ValueError as error:
                    if str(error) not in DOMAIN_ERRORS:
                        raise
        return rows


def one_by_one(raveling: Raveling, x: Float[np.ndarray, "n n_variables"]) -> Iterator[PyTree]:
    """Points in the user's form, each of its own memory."""
    leaves = jax.tree.leaves(raveling.unravel(x.copy()))
    if raveling.plain.is_vector:
        yield from leaves[0]
    else:
        treedef = raveling.treedef
        yield from (
            jax.tree.unflatten(treedef, [leaf[i] for leaf in leaves]) for i in range(len(x))
        )


def stacked(part: Rows, x: PyTree, axis: int) -> np.ndarray:
    """What a function, or a list of functions side by side, returns at x."""
    if is_list_of_functions(part):
        return np.stack([_numbers(one(x)) for one in part], axis=axis)
    assert callable(part)
    return _numbers(part(x))


def _numbers(values: object) -> np.ndarray:
    return np.asarray(
        [np.asarray(value) for value in values] if isinstance(values, list | tuple) else values,
        dtype=float,
    )


def checked(values: ArrayLike, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The values in the shape expected, or an error in one line. M functions may return numbers in
    arrays of one entry."""
    array = np.asarray(values, dtype=float)
    if array.shape == shape:
        return array
    if array.size == np.prod(shape) and [n for n in array.shape if n > 1] == [
        n for n in shape if n > 1
    ]:
        return array.reshape(shape)
    raise ValueError(f"{name} must return an array of shape {shape}, got shape {array.shape}")


class JaxSource(AbstractSource):
    """A JAX function that JAX cannot differentiate twice, or only forwards: a callback, a
    `custom_vjp`, a while loop."""

    def __init__(self, function: Callable[[Array], Array], n_rows: int, order: int, forwards: bool):
        self.function, self.n_rows, self.order, self.forwards = function, n_rows, order, forwards

    @cached_property
    def _derivatives(self) -> tuple[Callable[[Array], Array], ...]:
        jacobian = jax.jacfwd(self.function) if self.forwards else jax.jacrev(self.function)
        return tuple(
            eqx.filter_jit(part)
            for part in (self.function, jacobian, jax.jacfwd(jacobian))[: self.order + 1]
        )

    def values(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_rows"]:
        """f, point by point: not everything can be mapped."""
        return self._rows(0, x)

    def jacobians(
        self, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables"]:
        """∇f."""
        return self._rows(1, x)

    def hessians(
        self, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables n_variables"]:
        """∇²f."""
        return self._rows(2, x)

    def _rows(self, order: int, x: np.ndarray) -> np.ndarray:
        with double_precision():
            return np.stack([np.asarray(self._derivatives[order](row)) for row in x])
