"""A function that runs on the host, outside of JAX, with whatever derivatives its author has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from jaxtyping import PyTree
from numpy.typing import ArrayLike

Rows = Callable[..., ArrayLike] | Sequence[Callable[..., ArrayLike]]
"""A function x -> (M, ...), or one function for each of M objectives."""


@dataclass(frozen=True)
class Objectives:
    """Objectives and their derivatives, as in `bf.minimize(bf.Objectives(f, jac=df), x0)`.

    A function alone needs no wrapping: `bf.Objectives(f)` means f, in whatever form f is. With
    derivatives, or vectorized, it is called on the host with NumPy arrays, outside of JAX. The same
    serves for the function of a constraint, and for that of a `bf.problems.Problem`.

    Attributes:
        function: x -> M numbers, or a list of functions x -> a number.
        jac: x -> (M, L), or a list of functions x -> (L,). Without it gradients are finite
            differences.
        hess: x -> (M, L, L), or a list of functions x -> (L, L). Without it Hessians are finite
            differences.
        vectorized: whether each of these takes many points at once, (n, L), and returns n rows: (n,
            M), (n, M, L), (n, M, L, L); in a list each returns (n,), (n, L), (n, L, L).
    """

    function: Rows
    jac: Rows | None = None
    hess: Rows | None = None
    vectorized: bool = False

    def __post_init__(self) -> None:
        for name, part in (("function", self.function), ("jac", self.jac), ("hess", self.hess)):
            if part is not None and not (callable(part) or is_list_of_functions(part)):
                raise TypeError(
                    f"{name} must be a function, or a list of functions, one for each objective,"
                    f" got {part!r}"
                )
            if isinstance(part, list):
                object.__setattr__(self, name, tuple(part))  # so that it can be hashed
        if self.hess is not None and self.jac is None:
            raise ValueError("hess goes with jac; give both, or neither")

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the function is given."""
        return self.jac is None and self.hess is None and not self.vectorized

    def __call__(self, x: PyTree) -> ArrayLike:
        """The function's values at one x."""
        if is_list_of_functions(self.function):
            return [one(x) for one in self.function]
        assert callable(self.function)
        return self.function(x)


@dataclass(frozen=True)
class TorchFunction:
    """Objectives written with torch, x -> M numbers, where `bf.minimize` cannot tell: one that runs
    on NumPy arrays as well."""

    function: Callable[..., PyTree]

    def __call__(self, x: PyTree) -> PyTree:
        """The function's values."""
        return self.function(x)


def is_list_of_functions(part: object) -> TypeGuard[Sequence[Callable[..., PyTree]]]:
    """Whether this is a list or tuple of at least one function."""
    return isinstance(part, list | tuple) and len(part) > 0 and all(callable(one) for one in part)
