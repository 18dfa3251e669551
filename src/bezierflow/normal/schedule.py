"""Every tuned number of the normal flow and of its error estimate.

`python benchmarks/normal_flow.py sensitivity 1` halves and doubles each of them on random problems
and prints what that changes in error and cost (`docs/normal_flow.md` has the table). Constants that
follow from the precision of floating-point numbers are named where they are used.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """The numbers, in the order of a run. Lengths are shares of the set's diameter, unless said
    otherwise.

    Attributes:
        negligible: lengths and slopes below this share of the first or usual ones count as none: a
            gradient that is left at a smooth minimum, a Newton step that cannot be told from
            rounding, the step aside from a kink, the gradients and preconditioners of an objective
            next to its own corner.
        singular: a Hessian whose smallest eigenvalue, over its norm, is below this leaves the
            minimizer undetermined; a set smaller than this share of |x| is a single point; a value
            that rises from a tip by less than this share below its slope rises straight.
        clear: differences below this share of an objective's range, or of its usual slope and
            curvature, decide nothing.
        descent_trials: trial points after which a minimizer is reported as not found.
        descent_precision: a descent ends when the Newton step is below this share of |x|.
        descent_share: without Hessian matrices, minimizers are found to this share of tol instead;
            |x| counts as at least this share of its scale at the start.
        runaway: an x this many times larger than its start is a sign that there is no minimizer.
        shorten: a trial point that does not improve shortens the step by this factor.
        shortest: a step shortened to less than this, where the full one is negligible, ends the
            descent: rounding hides any further gain.
        longest_step: steps are at most this many times |x| (or its scale at the start).
        factor_agreement: the factor β of homogeneous objectives is used if the last two points
            predict minimizers that differ by less than this share of their distance.
        factor_change: factors β this close to 1 count as 1; smaller changes of β do not restart the
            step length.
        largest_factor: factors β above this or below its inverse are not believed.
        bend: an indefinite Hessian, in units of its norm (or of the largest curvature that
            conjugate gradients met), gets this many ĝĝᵀ added.
        tie_weight: weight of the other objectives, slope for slope, when they break a tie between
            minimizers.
        largest_degrees: default of max_degree for 1, 2, ... objectives: as high as pays.
        falling: a higher degree is advised where the last one made errors smaller by this factor.
        most_controls: for more objectives, as many control points as the default may need.
        margin: rounds end at this share of tol: their nodes see less than the whole surface, and
            the bound is three times what is seen.
        first_order: Lobatto order of the first nodes: four inside an edge.
        most_nodes: inner nodes of a round; of more, a choice is taken.
        folds: nodes next to folds that a round, or an error estimate, adds at most.
        fold_grid: about how many t are examined for folds: 50 on an edge for M = 3.
        least_seen: nodes that a patch is looked at in before it may be finished, however small the
            error is there.
        most_rounds: rounds of a patch at most.
        patience: rounds at the largest degree without a gain of `gain` before a patch is left as it
            is (1 for four objectives and more, whose rounds cost most).
        gain: rounds, chords and linear systems that leave more than this share of an error, a
            displacement, a residual are rejected.
        near: errors below this are good to a few percent: they can be compared, and Hessians can
            be borrowed. A direction that the set extends in by less is no axis of it.
        precise: points of the cloud that may miss the set by more than this share of the error do
            not count as known, and weigh less.
        explained: a degree is high enough if its fit leaves this share of the error, or of tol, at
            known points.
        growth: degrees a patch may gain in a round. Every failed round in a row allows one more, as
            far as the cloud determines it: a set that is odd about the middle of an edge gains
            nothing from the next even degree.
        straight: gradient directions change over this length, or over the distance to a corner
            where that is shorter. A point moved by y over such a length ℓ misses the set by |y|²/ℓ.
            Displacements are shortened to it: farther away only their direction is believed.
        follow: a point is followed towards the set if it may miss it by more than this share of
            its displacement; one that is called back counts as known to this share.
        following: how often a far point is followed in a round.
        corrections: displacements that a far point is given to reach the set in an estimate.
        lent_numbers: Hessians kept to be lent hold at most this many numbers (400 MB).
        recall_excess: points beyond the boundary of the set are called back where they are this
            many times farther from it than all others,
        recall_inward: by this many times their distance: a little inside.
        overdetermined: equations per unknown before a degree is used: with fewer a fit meets its
            points and misses the set between them.
        damping_fall: Levenberg's damping μ starts at the error and falls to this share of it.
        least_damping: and no further than this, or slides of the whole surface along itself would
            be undetermined.
        damping_factors: μ is divided by the first after an accepted step, and multiplied by the
            second after a rejected one.
        restraint: near corners slides are damped more, at most by the square of this.
        fit_steps: steps of a fit at most.
        settled: with four objectives and more, whose steps cost most, a fit ends when one at the
            smallest μ leaves more than this share of the squared distances. With fewer, the last
            few steps decide rare cases.
        probes: values in each box around the set, in search of something better.
        few_probes: the same from `free_variables` on, where values cost more.
        boxes: sides of the boxes. `python benchmarks/normal_flow.py basins 40`: without them 18 of
            40 runs on problems with many local minima end at a local one, with them 3, and those
            carry a flag.
        widest: side of one more box where the set is small, in units of |x|, at least 1: it holds
            the set's mirror image at 0, which no box measured by a small set would.
        even_variables: up to this many variables boxes have all of them for their axes, and probes
            are a low-discrepancy sequence.
        axes: with more variables, boxes have so many axes: up to half of them along the set, the
            others in random directions.
        neighbors: a probe hints at a well if it is lower than so many neighbors per axis.
        path: values on the way from such a probe to the surface, which tell a well from a slope.
        wells: such probes followed downhill at most, the lowest first.
        restarts: how often a run starts again from better corners.
        first_look: held-out t at which a surface that the user gave is examined, before a run is
            made of it.
        few_samples: fewer say nothing; no estimate is made where the budget allows no more.
        samples: held-out t of an error estimate, and points that probes are compared with. Of more
            faces than this (from M = 8 on) a random choice is sampled.
        candidates: points from which each held-out t is chosen, by area; each node, from M = 4 on.
        near_corners: distances from corners, in t, at which edges are sampled as well.
        stated_margin: the estimate is this many times the largest distance seen (`python -m
            benchmarks.calibration`).
        scanned: t at which gradients alone are looked at, where JAX computes them,
        scanned_numbers: and they have no more numbers than this,
        followed: of which so many, where they balance least, are measured like held-out ones,
        climbs: after so many steps to where they balance less,
        climbers: each to the best of so many t.
        far: beyond this one linearization is not trusted: the point is followed to the set and the
            length of its path counts. Without Hessian matrices `near` takes its place:
            displacements with tangents of the surface are off by a thirtieth there.
        far_in_noise: this many times the relative error of gradients by differences of values is
            the least that `far` may be: a displacement that is noise does not become less, and
            would pass for a distance that cannot be told.
        missed_corner: a corner farther than this from the minimizer of its objective raises a flag.
        flagged: share of samples, dominated or without a valid distance or on saddles, that raises
            a flag; and of its range by which an objective must be better to make a corner weakly
            Pareto optimal. A high power of a norm is flat, too, but not that far from its
            minimizer.
        folded: share of inner samples on folds that raises a flag.
        free_variables: from so many on, products of Hessians with vectors cost less than Hessians
            (`python -m benchmarks.large threshold`).
        coarsest: conjugate gradients end at a relative residual of the surface's relative error,
            and of this at most: 0.1 may stall rounds.
        coarsest_newton: likewise in Newton's method, of the share of the slope that is left. With
            0.03 float32 reports minimizers as not found from 30,000 variables on.
        finest: and of this at least.
        most_products: products of one system at most.
        singular_products: products that look for directions without curvature at a minimizer.
        diagonal_products: products with random signs for each half of an estimated diagonal.
        agreement: the diagonal is a preconditioner where its two estimates, as logarithms,
            correlate by more than this.
        spare: the basis of a subspace is made again where it has this many times the rows in use.
        chunk_numbers: numbers that arrays of one chunk of nodes hold at most, n·L·(3M+4) of them,
            by platform.
        largest_chunk: nodes that are worked on side by side at most; more would wait for the
            slowest of them.
        small_chunk: few points are worked on in batches of a chunk's size over this.
        weights_stalled: the flow that solves weighted sums ends where two degrees in a row leave
            more than this share of the miss before: the set is not smooth enough.
    """

    negligible: float = 1e-6
    singular: float = 1e-8
    clear: float = 1e-3

    # minimizers of the single objectives
    descent_trials: int = 60
    descent_precision: float = 1e-11
    descent_share: float = 1e-3
    runaway: float = 1e8
    shorten: float = 0.35
    shortest: float = 0.02
    longest_step: float = 10.0
    factor_agreement: float = 0.3
    factor_change: float = 0.05
    largest_factor: float = 50.0
    bend: float = 2.0
    tie_weight: float = 1e-7

    # nodes, and rounds of a patch
    largest_degrees: tuple[int, ...] = (1, 14, 12, 8, 6)
    falling: float = 0.7
    most_controls: int = 300
    margin: float = 0.05
    first_order: int = 5
    most_nodes: int = 600
    folds: int = 20
    fold_grid: int = 1300
    least_seen: int = 8
    most_rounds: int = 12
    patience: int = 2
    gain: float = 0.5
    near: float = 0.01
    precise: float = 0.05
    explained: float = 0.02
    growth: int = 2

    # displacements
    straight: float = 1 / 3
    follow: float = 0.06
    following: int = 2
    corrections: int = 4
    lent_numbers: int = 50_000_000
    recall_excess: float = 2.0
    recall_inward: float = 1.5

    # fits
    overdetermined: float = 1.5
    damping_fall: float = 0.03
    least_damping: float = 1e-7
    damping_factors: tuple[float, float] = (10.0, 30.0)
    restraint: float = 1e3
    fit_steps: int = 16
    settled: float = 0.99

    # the search elsewhere
    probes: int = 512
    few_probes: int = 64
    boxes: tuple[float, ...] = (3.0, 10.0, 30.0)
    widest: float = 6.0
    even_variables: int = 20
    axes: int = 8
    neighbors: int = 4
    path: int = 16
    wells: int = 8
    restarts: int = 3

    # the error estimate
    first_look: int = 12
    samples: int = 200
    few_samples: int = 5
    candidates: int = 8
    near_corners: tuple[float, ...] = (0.005, 0.02)
    stated_margin: float = 1.5
    scanned: int = 3000
    scanned_numbers: int = 10_000_000
    followed: int = 40
    climbs: int = 8
    climbers: int = 6
    far: float = 1e-4
    far_in_noise: float = 4.0
    missed_corner: float = 0.25
    flagged: float = 0.05
    folded: float = 0.02

    # without Hessian matrices
    free_variables: int = 150
    coarsest: float = 0.03
    coarsest_newton: float = 0.1
    finest: float = 1e-3
    most_products: int = 300
    singular_products: int = 60
    diagonal_products: int = 6
    agreement: float = 0.5
    spare: float = 1.25
    chunk_numbers: tuple[tuple[str, int], ...] = (
        ("cpu", 20_000_000),
        ("gpu", 2_000_000_000),
        ("tpu", 500_000_000),
    )
    largest_chunk: int = 32
    small_chunk: int = 4

    # the flow that solves weighted sums
    weights_stalled: float = 0.9


USUAL = Schedule()
"""The numbers of functions that are not given any."""
