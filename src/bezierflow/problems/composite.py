"""Objectives with kinks, split into a smooth part and a part with a prox."""

from collections.abc import Callable

import equinox as eqx
from jaxtyping import Array, Float, PyTree

from ..names import Names
from .problem import AbstractProblem


class Composite(AbstractProblem):
    """f_m = s_m + g_m with s_m smooth and g_m nonsmooth: lasso, group lasso, worst cases,
    constraints as indicators.

    `minimize(problem, x0)` lifts the kinks it finds, absolute values and maxima that objectives
    rise with, and answers with an atlas (`docs/atlas.md`); it does not use the prox. Proximal
    methods use the prox, whatever the kinks are: `minimize(problem, x0,
    ProximalGradient(step_size))`.

    Args:
        smooth: x -> (s_1(x), …, s_M(x)); zeros where an objective is all nonsmooth.
        nonsmooth: x -> (g_1(x), …, g_M(x)); zeros where an objective is all smooth.
        prox: (x, weights) -> argmin_y |y − x|²/2 + Σ_m weights_m g_m(y), for any weights of at
            least 0.
        names: names and units, if any.
    """

    smooth: Callable[[PyTree], Float[Array, " n_objectives"]]
    nonsmooth: Callable[[PyTree], Float[Array, " n_objectives"]]
    prox: Callable[[PyTree, Float[Array, " n_objectives"]], PyTree]
    names: Names = eqx.field(static=True)
    n_objectives: int | None = eqx.field(static=True)
    n_variables: int | None = eqx.field(static=True)

    def __init__(
        self, smooth: Callable, nonsmooth: Callable, prox: Callable, names: Names | None = None
    ):
        for name, part in (("smooth", smooth), ("nonsmooth", nonsmooth), ("prox", prox)):
            if not callable(part):
                raise TypeError(f"{name} must be a function, got {part!r}")
        self.smooth, self.nonsmooth, self.prox, self.names = (
            smooth,
            nonsmooth,
            prox,
            names or Names(),
        )
        self.n_objectives, self.n_variables = self.names.n_objectives, self.names.n_variables

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """s(x) + g(x)."""
        return self.smooth(x) + self.nonsmooth(x)
