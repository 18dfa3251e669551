"""What the flows of `method="auto"` share: a degree that they choose, a tolerance for the error estimate, a budget."""

import dataclasses
from typing import Any

import equinox as eqx

from ..normal import ErrorEstimate, estimate_error, largest_degree
from .contract import AbstractFlow, Run, State
from .objectives_on_host import Objectives

AUTO_TOL = 1e-6
"""The largest distance to the set, relative to its diameter, that `method="auto"` is content with."""


class AbstractAutoFlow(AbstractFlow[State]):
    """A flow that raises its degree until the held-out distance to the set is below a tolerance. Its states have `flags`.

    Attributes:
        degree: "auto" lets it grow until the held-out error is below tol; a number fixes it.
        max_degree: the largest degree "auto" may choose; by default 14 for two objectives, 12 for three, 8 for four, 6 for five.
        tol: the largest held-out distance, relative to the diameter of the set, that ends the run.
        budget: the most points that may be evaluated; None for no limit. Never exceeded. The error estimate comes on top.
    """

    degree: int | str = eqx.field(static=True, default="auto")
    max_degree: int | None = eqx.field(static=True, default=None)
    tol: float = eqx.field(static=True, default=AUTO_TOL)
    budget: int | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        if self.degree != "auto" and (not isinstance(self.degree, int) or self.degree < 1):
            raise ValueError(f'degree must be "auto" or a whole number of at least 1, got {self.degree!r}')
        if self.max_degree is not None and self.max_degree < 1:
            raise ValueError(f"max_degree must be at least 1, got {self.max_degree}")
        if not self.tol > 0:
            raise ValueError(f"tol must be above 0, a share of the set's diameter, got {self.tol}")
        if self.budget is not None and self.budget < 0:
            raise ValueError(f"budget must be at least 0 evaluations, or None for no limit, got {self.budget}")

    def limit(self, n_objectives: int) -> int:
        """The largest degree the surface may have."""
        return self.degree if isinstance(self.degree, int) else self.max_degree or largest_degree(n_objectives)

    def measure(self, objectives: Objectives, run: Run[Any], seed: int) -> ErrorEstimate:
        """The error at held-out t, with the flags that the run itself raised."""
        state = run.state
        error = estimate_error(objectives, state.surface, seed, tol=self.tol, **self.known(state))
        return dataclasses.replace(error, flags=tuple(dict.fromkeys((*error.flags, *state.flags))))

    def known(self, state: State) -> dict[str, Any]:
        """What the run leaves behind that makes the estimate cheaper, as arguments of `estimate_error`."""
        return {}
