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
        descent_trials: minimizers not found after so many trial points are reported as not found.
        descent_precision: a descent ends when the Newton step is below this share of |x| (or of
            the last step).
        descent_share: without Hessian matrices, minimizers are found to this share of tol instead.
        least_size: an x counts as at least this share of its scale at the start.
        runaway: an x this many times larger than its start is a sign that there is no minimizer.
        shorten: a trial point that does not improve shortens the step by this factor.
        shortest: where rounding hides any further gain, a step shortened to less than this ends
            the descent, if the full one is below `short` of |x|.
        short: see `shortest`.
        longest_step: no step is longer than this many times |x| (or its scale at the start).
        factor_agreement: the factor β of homogeneous objectives is used if the last two points
            predict minimizers that differ by less than this share of their distance.
        factor_change: a factor β this close to 1 counts as 1, and one that changed by less does not
            restart the step length.
        factor_range: factors β outside of it are not believed.
        bend: an indefinite Hessian, in units of its norm, gets ĝĝᵀ added, and this much more if an
            eigenvalue stays below `barely`.
        barely: see `bend`.
        aside: a kink hit exactly is left by a step of this share of the scale of x.
        smooth: a gradient below this share of the first one belongs to a smooth minimum.
        singular: a smooth minimum whose Hessian has a smaller eigenvalue than this, over its norm,
            is not unique.
        tie_weight: weight of the other objectives, slope for slope, when they break a tie between
            minimizers. Their Hessians must stay above the error of products (`tie_margin` times).
        tie_margin: see `tie_weight`.
        one_point: minimizers this close together, beside the scale of the start, are one if the
            slopes there are this share of the first ones.
        largest_degrees: default of max_degree for 1, 2, ... objectives: as high as pays.
        most_controls: for more objectives, as many control points as the default may need.
        margin: rounds end at this share of tol: their nodes see less than the whole surface, and
            the bound is three times what is seen.
        first_order: Lobatto order of the first nodes: four inside an edge.
        most_nodes: inner nodes of a round; of more, a choice is taken.
        node_set: nodes that are laid out to choose from.
        folds: nodes next to folds that a round adds at most.
        fold_grid: about how many t are examined for folds: 50 on an edge for M = 3.
        least_seen: a patch is not finished before it was looked at in this many places, however
            small the error is there.
        most_rounds: rounds of a patch at most.
        patience: rounds at the largest degree without a gain of `gain` before a patch is left as it
            is (1 for four objectives and more, whose rounds cost most).
        gain: a round that leaves more than this share of the error brought nothing.
        near: errors below this are good to a few percent: they can be compared, and Hessians can
            be borrowed.
        precise: points of the cloud that may miss the set by more than this share of the error do
            not count as known, and weigh less.
        explained: a degree is high enough if its fit leaves this share of the error at known
            points, or `explained_target` of the target.
        explained_target: see `explained`.
        growth: degrees a patch may gain in a round. Every failed round in a row allows one more, as
            far as the cloud determines it: a set that is odd about the middle of an edge gains
            nothing from the next even degree.
        longest: a displacement counts for at most this: far from the set only its direction is
            believed. A point where the second-order condition fails may miss the set by this.
        straight: gradient directions change over this length, or over the distance to a corner
            where that is shorter. A point moved by y over such a length ℓ misses the set by |y|²/ℓ.
        follow: a point is followed towards the set if it may miss it by more than this share of
            its displacement.
        corrections: how often a far point is followed in a round.
        slowest_chord: a chord that leaves more than this share of the displacement after its first
            step is rejected.
        measured_from: from this many variables on, the assumed miss of a displacement is measured
            by gradients where it ends, and clouds near the set are refitted with the tangents of
            the surface. A Hessian costs as much as L gradients, so that such a check is cheap then;
            with few variables another Hessian does more (warped scaled-MED took 297 instead of 111
            of them with the check).
        lent_apart: closer to a corner than this, a gradient may be rounding, and lends no Hessian.
        lent_numbers: Hessians kept to be lent hold at most this many numbers (400 MB).
        recall_excess: points beyond the boundary of the set are called back where they are this
            many times farther from it than all others.
        recall_inward: they are called back by this many times their distance: to the boundary, and
            a little inside.
        recall_miss: a point that is called back counts as known to this share of its distance.
        overdetermined: equations per unknown before a degree is used: with fewer a fit meets its
            points and misses the set between them.
        first_damping: Levenberg's damping μ starts at the error, and at no less than this.
        damping_fall: μ falls with each accepted step, down to this share of the error.
        least_damping: and no further than this, or slides of the whole surface along itself would
            be undetermined.
        damping_factors: μ is divided by the first after an accepted step and multiplied by the
            second after a rejected one.
        restraint: near corners slides are damped more, at most by the square of this.
        fit_steps: steps of a fit at most.
        settled: with four objectives and more, whose steps cost most, a fit ends when one at the
            smallest μ leaves more than this share of the squared distances. With fewer, the last
            few steps decide rare cases.
        many_slides: from so many unknowns on, systems of slides are factored as symmetric ones.
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
        flat_axis: a direction that the set extends in by less than this is no axis of it.
        compared: points of the surface that probes are compared with.
        few_compared: the same from `free_variables` on.
        clear: a gain below this share of an objective's range is none.
        one_value: unit of an objective with one value all over the set, as a share of how it varies
            in the smallest box.
        neighbors: a probe hints at a well if it is lower than so many neighbors per axis.
        path: values on the way from such a probe to the surface, which tell a well from a slope.
        wells: how many such probes are followed downhill at most, the lowest first.
        restarts: how often a run starts again from better corners.
        first_look: held-out t at which a surface that the user gave is examined, before a run is
            made of it.
        samples: held-out t of an error estimate.
        suspects: t next to folds that are added, as a share of these.
        candidates: points from which each held-out t is chosen, by area.
        most_faces: of more faces (from M = 8 on) a random choice is sampled.
        near_corners: distances from corners, in t, at which edges are sampled as well.
        safety: the bound is this many times the largest distance seen. Over 360 random problems
            (`python benchmarks/normal_flow.py families 40`) the true two-sided maximum was at most
            2.3 times it, where it was above 1e-8 of the diameter.
        far: beyond this one linearization is not trusted: the point is followed to the set and the
            length of its path counts.
        far_free: the same without Hessian matrices, whose displacements take the tangents of the
            surface: up to this they are off by about one part in thirty.
        report_corrections: how many displacements a far point is given to reach the set.
        longest_correction: a displacement is shortened to this before the point is moved by it: a
            longer one could lead anywhere.
        point: a set smaller than this share of |x|, or of 1 near the origin, is a single point.
        curved: a corner is a smooth minimum if its gradient is below this share of the usual one,
            and a quadratic one if its Hessian is above this share.
        missed_corner: a corner farther than this from the minimizer of its objective raises a flag.
        dominated: share of dominated samples that raises a flag.
        folded: share of inner samples on folds that raises a flag.
        invalid: share of samples without a valid distance, or on saddles, that raises a flag.
        decided: a determinant of unit columns, or a gain over an objective's range, below this
            decides nothing.
        weakly_equal: a corner is weakly Pareto optimal where another point is as good to this share
            of the objective's range, and better by `weakly_better` in all others. A high power of
            a norm is flat, too, but not that flat that far from its minimizer.
        weakly_better: see `weakly_equal`.
        free_variables: from so many on, products of Hessians with vectors cost less than Hessians
            (`python -m benchmarks.large threshold`).
        coarsest: conjugate gradients end at a relative residual of the surface's relative error,
            and of this at most: 0.1 may stall rounds.
        finest: and of this at least.
        coarsest_newton: systems of Newton's method, at first; later ones to the share of the slope
            that is left.
        sloppy: a system that ends with a larger relative residual gives no displacement.
        bend_products: negative curvature met by conjugate gradients is bent along ρ by so many
            times the largest curvature met.
        most_products: products of one system at most.
        singular_products: products that look for directions without curvature at a minimizer.
        diagonal_products: products with random signs for each half of an estimated diagonal.
        agreement: the diagonal is a preconditioner where its two estimates, as logarithms,
            correlate by more than this.
        least_share: of the preconditioner, an objective has at least this share of the largest.
        spare: the basis of a subspace is made again where it has this many times the rows in use.
        chunk_numbers: numbers that arrays of one chunk of nodes hold at most, n·L·(3M+4) of them,
            by platform.
        largest_chunk: nodes that are worked on side by side at most; more would wait for the
            slowest of them.
        small_chunk: few points are worked on in batches of a chunk's size over this.
        weights_degree: first degree of the flow that solves weighted sums; degree 1 says nothing
            about the interior.
        weights_stalled: it ends where two degrees in a row leave more than this share of the miss
            before: the set is not smooth enough.
    """

    # minimizers of the single objectives
    descent_trials: int = 60
    descent_precision: float = 1e-11
    descent_share: float = 1e-3
    least_size: float = 1e-3
    runaway: float = 1e8
    shorten: float = 0.35
    shortest: float = 0.02
    short: float = 1e-6
    longest_step: float = 10.0
    factor_agreement: float = 0.3
    factor_change: float = 0.05
    factor_range: tuple[float, float] = (0.02, 50.0)
    bend: float = 2.0
    barely: float = 0.1
    aside: float = 1e-6
    smooth: float = 1e-6
    singular: float = 1e-8
    tie_weight: float = 1e-7
    tie_margin: float = 10.0
    one_point: float = 1e-8

    # nodes, and rounds of a patch
    largest_degrees: tuple[int, ...] = (1, 14, 12, 8, 6)
    most_controls: int = 300
    margin: float = 0.05
    first_order: int = 5
    most_nodes: int = 600
    node_set: int = 5000
    folds: int = 20
    fold_grid: int = 1300
    least_seen: int = 8
    most_rounds: int = 12
    patience: int = 2
    gain: float = 0.5
    near: float = 0.01
    precise: float = 0.05
    explained: float = 0.02
    explained_target: float = 0.3
    growth: int = 2

    # displacements
    longest: float = 0.3
    straight: float = 1 / 3
    follow: float = 0.06
    corrections: int = 2
    slowest_chord: float = 0.5
    measured_from: int = 100
    lent_apart: float = 1e-6
    lent_numbers: int = 50_000_000
    recall_excess: float = 2.0
    recall_inward: float = 1.5
    recall_miss: float = 0.1

    # fits
    overdetermined: float = 1.5
    first_damping: float = 1e-4
    damping_fall: float = 0.03
    least_damping: float = 1e-7
    damping_factors: tuple[float, float] = (10.0, 30.0)
    restraint: float = 1e3
    fit_steps: int = 16
    settled: float = 0.99
    many_slides: int = 300

    # the search elsewhere
    probes: int = 512
    few_probes: int = 64
    boxes: tuple[float, ...] = (3.0, 10.0, 30.0)
    widest: float = 6.0
    even_variables: int = 20
    axes: int = 8
    flat_axis: float = 0.01
    compared: int = 300
    few_compared: int = 100
    clear: float = 1e-3
    one_value: float = 1e-3
    neighbors: int = 4
    path: int = 16
    wells: int = 8
    restarts: int = 3

    # the error estimate
    first_look: int = 12
    samples: int = 200
    suspects: float = 0.2
    candidates: int = 8
    most_faces: int = 200
    near_corners: tuple[float, ...] = (0.005, 0.02)
    safety: float = 3.0
    far: float = 1e-4
    far_free: float = 1e-2
    report_corrections: int = 4
    longest_correction: float = 0.5
    point: float = 1e-9
    curved: float = 1e-3
    missed_corner: float = 0.25
    dominated: float = 0.05
    folded: float = 0.02
    invalid: float = 0.05
    decided: float = 1e-3
    weakly_equal: float = 1e-12
    weakly_better: float = 0.05

    # without Hessian matrices
    free_variables: int = 150
    coarsest: float = 0.03
    finest: float = 1e-3
    coarsest_newton: float = 0.1
    sloppy: float = 0.5
    bend_products: float = 2.0
    most_products: int = 300
    singular_products: int = 60
    diagonal_products: int = 6
    agreement: float = 0.5
    least_share: float = 1e-6
    spare: float = 1.25
    chunk_numbers: tuple[tuple[str, int], ...] = (
        ("cpu", 20_000_000),
        ("gpu", 2_000_000_000),
        ("tpu", 500_000_000),
    )
    largest_chunk: int = 32
    small_chunk: int = 4

    # the flow that solves weighted sums
    weights_degree: int = 2
    weights_stalled: float = 0.9


USUAL = Schedule()
"""The numbers of functions that are not given any."""
