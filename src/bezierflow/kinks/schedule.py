"""The tuned numbers of this room."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """The tuned numbers of finding and lifting kinks.

    Attributes:
        n_samples: points of the box at which kinks are looked at.
        most_kinks: a problem with more is not lifted: each of them adds a variable and at least two
            rows to every system of equations.
        falling: slopes above minus this share of the largest count as nonnegative, and below this
            share as 0.
        tip: the ε of a norm as a share of its median at the samples: how far from 0 its terms are
            where they should be 0. An absolute value or norm is taken to this share of itself to
            see whether the slope by it vanishes with it.
        vanishing: it does where the slope is at most this share there: the function is smooth.
        met: a norm below this share of its median is 0, and a tip is left out where a place is
            better in every objective by this share of its range over the places.
        n_nearest: so many places, those where a norm is least, are moved to its tip.
        tip_steps: Gauss-Newton steps of that; ‖Ax − b‖ needs one.
    """

    n_samples: int = 256
    most_kinks: int = 100
    falling: float = 1e-9
    vanishing: float = 1e-4
    tip: float = 1e-8
    met: float = 1e-3
    n_nearest: int = 20
    tip_steps: int = 3


SCHEDULE = Schedule()
