"""Tuned numbers of this room."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """How densely suprema and averages over t are sampled, and how much is computed at once.

    Attributes:
        confidence: Of intervals, where nothing else is said.
        dense: About how many t stand for the whole simplex where a supremum or an average is taken.
        held_out: Evenly spread t whose mean loss stands for R: their error is far below that of the
            examples themselves.
        newton_steps: From a surface near the Pareto set, Newton's method is at its minimizer to
            rounding within half as many.
        negligible: An error this small, relative to the size of the surface, needs nothing, and a
            minimizer counts as found if the last Newton step is as small.
        twins_per_run: Twins of each run whose exchanged example is anywhere. Few of them make large
            differences: it takes hundreds for a mean square that can be told from the spread.
        power_tolerance: By how much step sizes may seem to fall faster than 1/k by rounding.
        batch_numbers: Numbers in the design matrices and points of the runs that advance side by
            side: few enough to stay in a cache.
        at_once: Pairs of surfaces whose difference is measured side by side, and runs whose losses
            are.
    """

    confidence: float = 0.95
    dense: int = 500
    held_out: int = 4000
    newton_steps: int = 12
    negligible: float = 1e-6
    twins_per_run: int = 8
    power_tolerance: float = 1e-6
    batch_numbers: int = 50_000
    at_once: int = 16


SCHEDULE = Schedule()
