"""Tuned numbers of this room."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Limits on sizes, and the numbers of nearest-point searches and node sets.

    Attributes:
        most_controls: `n_controls` stops counting here: larger numbers take hours to compute.
        most_rows: Largest index set that is laid out; a larger one fills a small machine's memory.
        tolerance: How far coordinates and sums of t may be off; numbers of six digits will do.
        single_tolerance: The same for float32.
        affordable_oversampling: Gauss nodes are used while there are at most this many per control
            point; past that low-discrepancy nodes win.
        spread_oversampling: Low-discrepancy nodes per control point: enough for a condition number
            below about 10² up to M = 20.
        grid_size: Points of the simplex searched before Newton's method starts, at most; an edge is
            cut in 61 for M = 3.
        nearest_starts: Newton's method starts from this many nearest points of the grid, which see
            both sides of a fold finer than the grid.
        most_starts: And from local minima of the grid, which see sheets far apart, up to this many
            starts in all.
        most_steps: Newton steps at most; 4 to 15 are usual.
        step_lengths: Shares of a Newton step, tried in this order until one gains enough.
        sufficient_gain: A step is taken if it gains more than this share of what the gradient
            predicts.
        widest_band: Coordinates above this are never set to 0 in one step (Bertsekas' ε).
        least_curvature: Eigenvalues of a Hessian, relative to its norm, are raised to this.
        agreement: Searches agree if they end at the same distance, to this share of the distance or
            of the target's size.
        envelope_fineness: Places per degree at which the envelopes of leverage sampling are
            measured: they are at most 2 % too high.
        joint_candidates: Candidates per point of a joint draw that are made at once; all of n
            points take n (1 + 1/2 + … + 1/n) in the mean.
        chunk_entries: About how many numbers an array may hold; more targets are treated in turn.
    """

    most_controls: int = 10**18
    most_rows: int = 20_000_000
    tolerance: float = 1e-5
    single_tolerance: float = 1e-4
    affordable_oversampling: int = 8
    spread_oversampling: int = 3
    grid_size: int = 2000
    nearest_starts: int = 3
    most_starts: int = 6
    most_steps: int = 200
    step_lengths: tuple[float, ...] = (1.0, 0.3, 0.1, 1e-2, 1e-3, 1e-5)
    sufficient_gain: float = 1e-4
    widest_band: float = 0.01
    least_curvature: float = 1e-10
    agreement: float = 1e-8
    envelope_fineness: int = 8
    joint_candidates: int = 3
    chunk_entries: int = 2_000_000


SCHEDULE = Schedule()
