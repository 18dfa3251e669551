"""What a problem is: a map x -> (f_1(x), …, f_M(x)) that knows its sizes and names."""

import abc
import copy
from collections.abc import Callable, Sequence
from typing import TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PyTree

from .arguments import read_count
from .kinds import kind
from .names import Names

Renamed = TypeVar("Renamed", bound="AbstractProblem")
"""The kind of a problem, which its names do not change."""


class AbstractProblem(eqx.Module):
    """A multi-objective problem: minimize f(x) = (f_1(x), …, f_M(x)).

    An immutable pytree, traceable by JAX. Where the mathematics gives it, a problem also has
    `pareto_map(t)`, the minimizer of Σ t_m f_m; it is absent where that minimizer is not known, so
    ask with `hasattr`. `n_objectives` or `n_variables` may be None where only a call can tell.
    """

    names: Names = eqx.field(static=True)
    n_objectives: int | None = eqx.field(static=True)
    n_variables: int | None = eqx.field(static=True)

    @abc.abstractmethod
    def __call__(self, x: PyTree) -> Float[Array | np.ndarray, " n_objectives"]:
        """The M objective values at one point; `jax.vmap(problem)` takes many."""

    def __hash__(self) -> int:
        # By content, arrays included, so that `jax.jit(problem)` works and equal problems share
        # what it compiled.
        leaves, structure = jax.tree.flatten(self)
        content = (leaf.tobytes() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves)
        return hash((structure, *content))

    def with_names(
        self: Renamed,
        objectives: Sequence[str] | None = None,
        variables: Sequence[str] | None = None,
        objective_units: Sequence[str] | None = None,
        variable_units: Sequence[str] | None = None,
    ) -> Renamed:
        """The same problem with these names and units; what is not given stays as it was."""
        given = (objectives, variables, objective_units, variable_units)
        Names().replaced(*given).check(self.n_objectives, self.n_variables)
        names = self.names.replaced(*given)
        fields = {
            "names": names,
            "n_objectives": self.n_objectives or names.n_objectives,
            "n_variables": self.n_variables or names.n_variables,
        }
        renamed = copy.copy(self)
        for field, value in fields.items():
            # a frozen module: only this fresh copy, before anyone sees it
            object.__setattr__(renamed, field, value)
        return renamed


@kind("problem.own/1")
class Problem(AbstractProblem):
    """Any function x -> (M,) of the user's own, with names and units.

    Args:
        function: takes a point (an array or any pytree of arrays) and returns the M objective
            values; written in JAX.
        n_objectives: M. Taken from the names where those are given, else left to the first call.
        n_variables: L, likewise; for a pytree the number of entries over all leaves.
        objective_names: one text per objective; f1, f2, … if not given.
        variable_names: one text per variable; x1, x2, … if not given.
        objective_units: one text per objective, '' for none.
        variable_units: one text per variable, '' for none.
        bounds: lower and upper bounds of x, the default of `bezierflow.minimize`, in any form that
            it takes.
        constraints: constraints on x, likewise.
        maximize: the objectives to be maximized, likewise.
        transforms: variables to be solved for by their logarithms, likewise.
    """

    function: Callable
    bounds: object
    constraints: object
    maximize: PyTree
    transforms: PyTree

    def __init__(  # noqa: PLR0913
        self,
        function: Callable[..., object],
        n_objectives: int | None = None,
        n_variables: int | None = None,
        *,
        objective_names: Sequence[str] = (),
        variable_names: Sequence[str] = (),
        objective_units: Sequence[str] = (),
        variable_units: Sequence[str] = (),
        bounds: object = None,
        constraints: object = None,
        maximize: PyTree = None,
        transforms: PyTree = None,
    ):
        if not callable(function):
            raise TypeError(f"function must be callable as function(x) -> (M,), got {function!r}")
        names = Names().replaced(objective_names, variable_names, objective_units, variable_units)
        for argument, size in (("n_objectives", n_objectives), ("n_variables", n_variables)):
            if size is not None:
                read_count(size, argument, 1)
        names.check(n_objectives, n_variables)
        self.function, self.names = function, names
        self.bounds, self.constraints = bounds, constraints
        self.maximize, self.transforms = maximize, transforms
        self.n_objectives = n_objectives or names.n_objectives
        self.n_variables = n_variables or names.n_variables

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """What the function returns, untouched."""
        return self.function(x)


@kind("problem.composite/1")
class Composite(AbstractProblem):
    """f_m = s_m + g_m with s_m smooth and g_m nonsmooth: lasso, group lasso, worst cases.

    `minimize(problem, x0)` lifts the kinks it finds, absolute values and maxima that objectives
    rise with, and answers with an atlas (`docs/atlas.md`); it does not use the prox. Proximal
    methods use it, whatever the kinks are, constraints as indicators included:
    `minimize(problem, x0, ProximalGradient(step_size))`.

    Args:
        smooth: x -> (s_1(x), …, s_M(x)); zeros where an objective is all nonsmooth.
        nonsmooth: x -> (g_1(x), …, g_M(x)); zeros where an objective is all smooth.
        prox: (x, weights) -> argmin_y |y − x|²/2 + Σ_m weights_m g_m(y), for weights of at least 0.
        names: names and units, if any.
    """

    smooth: Callable[[PyTree], Float[Array, " n_objectives"]]
    nonsmooth: Callable[[PyTree], Float[Array, " n_objectives"]]
    prox: Callable[[PyTree, Float[Array, " n_objectives"]], PyTree]

    def __init__(
        self, smooth: Callable, nonsmooth: Callable, prox: Callable, names: Names | None = None
    ):
        for name, part in (("smooth", smooth), ("nonsmooth", nonsmooth), ("prox", prox)):
            if not callable(part):
                raise TypeError(f"{name} must be a function, got {part!r}")
        self.smooth, self.nonsmooth, self.prox = smooth, nonsmooth, prox
        self.names = names or Names()
        self.n_objectives, self.n_variables = self.names.n_objectives, self.names.n_variables

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """s(x) + g(x)."""
        return self.smooth(x) + self.nonsmooth(x)
