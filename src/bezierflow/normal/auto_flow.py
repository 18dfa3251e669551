"""What the flows of `method="auto"` share: a degree that they choose, a tolerance for the error
estimate, a budget."""

import dataclasses
from typing import Any, Literal

import equinox as eqx
from jaxtyping import PyTree

from ..answer import ErrorEstimate
from ..flows import AbstractFlow, Estimate, Run, State
from ..objectives import FlatObjectives
from .estimate import estimate_error
from .lending import KnownHessians
from .schedule import DescentSchedule, Schedule
from .settings import Settings

AUTO_TOL = 1e-6
"""The largest distance to the set, relative to its diameter, that `method="auto"` is content
with."""


class AbstractAutoFlow(AbstractFlow[State]):
    """A flow that raises its degree until the held-out distance to the set is below a tolerance.
    Its states have `flags`.

    Attributes:
        degree: "auto" lets it grow until the held-out error is below tol; a number fixes it.
        max_degree: the largest degree "auto" may choose; by default 14 for two objectives, 12 for
            three, 8 for four, 6 for five.
        tol: the largest held-out distance, relative to the diameter of the set, that ends the run;
            None for 1e-6, or what suits an atlas that takes its place.
        budget: the most points that may be evaluated; None for no limit. Never exceeded. The error
            estimate comes on top.
        noise: the relative error of values, where gradients are differences of them; `minimize`
            finds it out.
        x_scale: the unit of each variable: one positive number, one for each, or a pytree like x.
            Distances are measured in these units. By default all are 1, unless the objectives'
            curvatures at x0 show that the variables differ in scale by more than 100;
            `solution.made_by["x_scale"]` says what was used.
    """

    degree: int | Literal["auto"] = eqx.field(static=True, default="auto")
    max_degree: int | None = eqx.field(static=True, default=None)
    tol: float | None = eqx.field(static=True, default=None)
    budget: int | None = eqx.field(static=True, default=None)
    noise: float = eqx.field(static=True, default=0.0)
    x_scale: PyTree = None

    def __check_init__(self) -> None:
        _ = self.settings

    @property
    def settings(self) -> Settings:
        """The same, checked, as `bezierflow.normal` takes them."""
        schedule = Schedule(descent=DescentSchedule(noise=self.noise))
        tol = AUTO_TOL if self.tol is None else self.tol
        return Settings(self.degree, self.max_degree, tol, self.budget, schedule)

    def parts(self) -> dict[str, object]:
        """Numbers and texts; `minimize` says which units it used."""
        parts = {**super().parts(), "tol": self.settings.tol}
        return {name: part for name, part in parts.items() if name != "x_scale"}

    def with_budget(self, state: Any) -> Any:
        """The state with a budget to go on: one that was spent is no reason to have ended."""
        return state.with_budget()

    def measure(
        self, objectives: FlatObjectives, run: Run[Any], seed: int, estimate: Estimate
    ) -> ErrorEstimate:
        """The error at held-out t, with the flags that the run itself raised; Hessians that it left
        behind make it cheaper."""
        known: KnownHessians | None = getattr(run.state, "known", None)
        error = estimate_error(
            objectives,
            run.state.surface,
            seed,
            tol=self.settings.tol,
            known=known,
            schedule=self.settings.schedule,
        )
        beaten, n_probes = getattr(run.state, "beaten", 0.0), getattr(run.state, "n_probes", 0)
        coverage = None if error.coverage is None else min(error.coverage, 1 - beaten)
        flags = tuple(dict.fromkeys((*error.flags, *run.state.flags)))
        return dataclasses.replace(error, flags=flags, coverage=coverage, n_probes=n_probes)
