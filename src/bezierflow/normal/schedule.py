"""Every tuned number of the normal flow and of its error estimate, with what it does.

`python benchmarks/normal_flow.py sensitivity 1` halves and doubles each of them on random problems
and prints what that changes in error and cost (`docs/normal_flow.md` has the table). Lengths are
shares of the set's diameter unless said otherwise. Constants that follow from double precision
(rounding, underflow) are named where they are used.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class DescentSchedule:
    """Minimizing one weighted sum: a safeguarded Newton method."""

    most_evaluations: int = 60
    """A minimizer not found after so many trial points is reported as not found."""

    precision: float = 1e-11
    """The descent ends when the Newton step is below this share of |x| (or of the last step)."""

    noise: float = 0.0
    """The relative error of values whose gradients are differences of them. A minimizer is known to
    noise^(2/3) then (see `forms.differences`), so that much ends the descent, and values closer
    than that cannot be told apart."""

    runaway: float = 1e8
    """An x this many times larger than its start is taken for a sign that the objective has no
    minimizer."""

    shorten: float = 0.35
    """A trial point that does not improve shortens the step by this factor."""

    longest_step: float = 10.0
    """No step is longer than this many times |x| (or its scale at the start)."""

    factor_agreement: float = 0.3
    """The factor β of homogeneous objectives is used if the last two points predict minimizers that
    differ by less than this share of their distance."""

    factor_change: float = 0.05
    """A factor β this close to 1 counts as 1, and one that changed by less does not restart the
    step length."""

    bend: float = 2.0
    """An indefinite Hessian, in units of its norm, gets ĝĝᵀ added, and this much more if an
    eigenvalue stays below `barely`."""

    barely: float = 0.1
    """See `bend`."""

    singular: float = 1e-8
    """A smooth minimum whose Hessian has a smaller eigenvalue than this (over its norm) has no
    unique minimizer."""

    tie_weight: float = 1e-7
    """What the other objectives weigh, slope for slope, when they break a tie between
    minimizers."""

    @property
    def blur(self) -> float:
        """How exactly a minimizer can be known, relative to its size."""
        return 3 * self.noise ** (2 / 3)


@dataclass(frozen=True)
class RoundSchedule:
    """Rounds of a patch: look at fresh nodes, learn, refit."""

    margin: float = 0.05
    """Rounds end at this share of tol: their nodes see less than the whole surface, and the bound
    is three times what is seen."""

    first_order: int = 5
    """Lobatto order of the first nodes: four inside an edge."""

    least_seen: int = 8
    """A patch is not finished before it was looked at in this many places, however small the error
    is there."""

    most_rounds: int = 12
    """Rounds of a patch at most."""

    patience: int = 2
    """Rounds at the largest degree without a gain of `gain` before a patch is left as it is (1 for
    four objectives and more, whose rounds cost most)."""

    gain: float = 0.5
    """A round that leaves more than this share of the error brought nothing."""

    near: float = 0.01
    """Errors below this are good to a few percent: they can be compared, and Hessians can be
    borrowed."""

    precise: float = 0.05
    """Points of the cloud that may miss the set by more than this share of the error do not count
    as known, and weigh less."""

    explained: float = 0.02
    """A degree is high enough if its fit leaves this share of the error at known points, or
    `explained_target` of the target."""

    explained_target: float = 0.3
    """See `explained`."""

    growth: int = 2
    """Degrees a patch may gain in a round. Every failed round in a row allows one more, as far as
    the cloud determines it: a set that is odd about the middle of an edge gains nothing from the
    next even degree."""

    folds: int = 20
    """Nodes next to folds that a round adds at most."""


@dataclass(frozen=True)
class LookSchedule:
    """Looking at points: how far a displacement is believed."""

    longest: float = 0.3
    """A displacement counts for at most this: far from the set only its direction is believed. A
    point where the second-order condition fails may miss the set by this."""

    straight: float = 1 / 3
    """Gradient directions change over this length, or over the distance to a corner where that is
    shorter. A point moved by y over such a length ℓ misses the set by |y|²/ℓ."""

    follow: float = 0.06
    """A point is followed towards the set if it may miss it by more than this share of its
    displacement."""

    corrections: int = 2
    """How often a far point is followed."""

    slowest_chord: float = 0.5
    """A chord that leaves more than this share of the displacement after its first step is
    rejected."""

    measured_from: int = 100
    """From this many variables on, what a displacement is assumed to miss the set by is measured by
    gradients where it ends, and clouds near the set are refitted with the tangents of the surface
    at hand instead of those of earlier ones. A Hessian costs as much as L gradients, so that such a
    check is cheap then; with few variables another Hessian does more (warped scaled-MED took 297
    instead of 111 of them with the check)."""

    recall_excess: float = 2.0
    """Points beyond the boundary of the set are called back where they are this many times farther
    from it than all others."""

    recall_inward: float = 1.5
    """They are called back by this many times their distance: to the boundary, and a little
    inside."""


@dataclass(frozen=True)
class FitSchedule:
    """Fitting a surface to a cloud."""

    overdetermined: float = 1.5
    """Equations for each unknown before a degree is used: with fewer a fit meets its points and
    misses the set between them."""

    first_damping: float = 1e-4
    """Levenberg's damping μ starts at the error, and at no less than this."""

    damping_fall: float = 0.03
    """μ falls tenfold with each accepted step, down to this share of the error."""

    steps: int = 16
    """Steps of a fit at most."""

    settled: float = 0.99
    """With four objectives and more, whose steps cost most, a fit ends when one at the smallest μ
    leaves more than this share of the squared distances. With fewer, the last few steps decide rare
    cases."""


@dataclass(frozen=True)
class ExploreSchedule:
    """Looking for something better elsewhere."""

    probes: int = 512
    """Values in each box."""

    boxes: tuple[float, ...] = (3.0, 10.0, 30.0)
    """Sides of the boxes around the set. `python benchmarks/normal_flow.py basins 40`: without them
    18 of 40 runs on problems with many local minima end at a local one, with them 3, and those
    carry a flag."""

    widest: float = 6.0
    """Side of one more box where the set is small, in units of |x|, at least 1: it holds the set's
    mirror image at 0. Wells that are far from a small set lie in no box that is measured by the
    set."""

    samples: int = 300
    """Points of the surface that the values are compared with."""

    clear: float = 1e-3
    """A gain below this share of an objective's range is none."""

    neighbors: int = 4
    """A probe hints at a well if it is lower than so many neighbors for each variable."""

    steps: int = 16
    """Values on the way from such a probe to the surface, which tell a well from a slope."""

    wells: int = 8
    """How many such probes are followed downhill at most, the lowest first."""

    restarts: int = 3
    """How often a run starts again from better corners."""


@dataclass(frozen=True)
class ReportSchedule:
    """The error estimate."""

    samples: int = 200
    """Held-out t by default."""

    safety: float = 3.0
    """The bound is this many times the largest distance seen. Over 360 random problems (`python
    benchmarks/normal_flow.py families 40`) the true two-sided maximum was at most 2.3 times it,
    where it was above 1e-8 of the diameter."""

    far: float = 1e-4
    """Beyond this one linearization is not trusted: the point is followed to the set and the length
    of its path counts."""

    corrections: int = 4
    """How many displacements a far point is given to reach the set."""

    missed_corner: float = 0.25
    """A corner farther than this from the minimizer of its objective raises a flag."""

    dominated: float = 0.05
    """Share of dominated samples that raises a flag."""

    folded: float = 0.02
    """Share of inner samples on folds that raises a flag."""

    invalid: float = 0.05
    """Share of samples without a valid distance, or on saddles, that raises a flag."""


@dataclass(frozen=True)
class FreeSchedule:
    """Working without Hessian matrices (see `free_survey`)."""

    coarsest: float = 0.03
    """Systems are solved to a relative residual of the surface's relative error, and to this at
    most: 0.1 may stall rounds."""

    finest: float = 1e-3
    """And to this at least."""

    newton: float = 0.1
    """Systems of Newton's method for minimizers, at first; later ones to the share of the slope
    that is left."""

    most_steps: int = 60
    """A minimizer not found after so many steps of Newton's method is reported as not found."""

    corner: float = 1e-3
    """Minimizers are found to this share of tol, times |x|."""

    search: int = 12
    """How often a step that does not improve is shortened."""

    probes: int = 32
    """Values in each box around the set: in so many dimensions chance meets little."""

    far: float = 1e-2
    """As `ReportSchedule.far`: up to this a displacement is off by about one part in thirty."""

    singular_products: int = 60
    """Products that look for directions without curvature at a minimizer."""


@dataclass(frozen=True)
class Schedule:
    """All of them."""

    descent: DescentSchedule = field(default_factory=DescentSchedule)
    rounds: RoundSchedule = field(default_factory=RoundSchedule)
    look: LookSchedule = field(default_factory=LookSchedule)
    fit: FitSchedule = field(default_factory=FitSchedule)
    explore: ExploreSchedule = field(default_factory=ExploreSchedule)
    report: ReportSchedule = field(default_factory=ReportSchedule)
    free: FreeSchedule = field(default_factory=FreeSchedule)
