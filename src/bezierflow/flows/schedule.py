"""The tuned numbers of the flows in this room and of their driver."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """When flows pause, rest and give up, and how closely their surfaces are looked at.

    Attributes:
        pulse_seconds: seconds between two pauses of a flow that makes many iterations at once, to
            notice Ctrl-C and the time limit, and between two drawings of a progress bar.
        patience: seconds that a run lasts before a progress bar appears that nobody asked for.
        least_share: no estimate of the rest is made before this share of a run is done.
        largest_growth: the number of iterations made at once grows by at most this factor, since
            the time of the first ones may include compilation.
        lifted_degree: degree of a lifted method where the user leaves it open, the paper's.
        lifted_iterations: K, the most iterations of a lifted method where the user leaves it open,
            the paper's.
        calm_iterations: iterations in a row that must change the surface by less than the tolerance
            where t is drawn at random; with fixed nodes one is proof.
        blow_up: a surface this many times larger than where the run started has diverged; a few
            decades of overshoot can still heal.
        at_once: iterations that one compiled loop makes at most, which is the room it has for their
            infos.
        stochastic_degree: degree of a method that `train` lifts where the user leaves it open: it
            bends, at a third more control points than the chord.
        samples_per_objective: N / M in training where no sampler is given.
        grid_points: most points of the regular grid that a surface is looked at on; steps of 1/98
            for three objectives.
        inner_points: evenly spread points on top, because a grid for many objectives has none
            inside.
        wide: half the width of the search box along a variable without bounds, in units of the
            size of the start or 1.
    """

    pulse_seconds: float = 0.25
    patience: float = 3.0
    least_share: float = 0.02
    largest_growth: int = 100
    lifted_degree: int = 3
    lifted_iterations: int = 1000
    calm_iterations: int = 3
    blow_up: float = 1e10
    at_once: int = 4096
    stochastic_degree: int = 2
    samples_per_objective: int = 2
    grid_points: int = 5000
    inner_points: int = 1000
    wide: float = 10.0


SCHEDULE = Schedule()
