"""The tuned numbers of `minimize`, `check` and `load`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """When an attempt is given up for the next one, and what a look at a problem takes.

    Attributes:
        lifted_tol: change of a surface, relative to its diameter, below which a lifted run without
            an iteration count of its own stops.
        kept_for_estimate: share of a budget of calls that no search may use.
        kept_for_probes: share of a budget, at most, that is kept for a look at convexity.
        most_values: of objectives without derivatives that one surface may take within bounds.
        usual_budget: about what a search from values takes where there is no budget.
        difference_tol: with gradients by differences, exact to ε^(2/3), a tolerance left open is
            this many times that, since held-out t see the worst.
        around: without bounds an atlas is looked for this many widths beyond what one surface
            found, on each side.
        negligible: shares below this are none: of the range of a survey that a front spans, of the
            size of an objective that it falls, of the place of a kink, of the values of a file.
        narrowest: a box around points is at least this share of its widest side.
        atlas_tries: how often an atlas is made that fresh probes may beat,
        most_gradients: twice at most where more gradients than these were computed.
        known_designs: designs of a surface that an atlas begins with.
        most_variables: up to so many an atlas is tried without bounds, which needs Hessians of
            every objective at thousands of points, and causes of doubt are looked for.
        compared_points: points of an atlas that the bottoms of wells are compared with.
        most_solved: answers that are solved for to be compared with designs, at a time.
        moved_designs: of an answer, beside its ends, whose variables are moved one by one,
        places: to so many places each, beside finer ones around the best,
        finer: that reach so far, in units of the distance between the first,
        own_basin: and no closer than this many of them to where the variable is,
        rounds_of_moves: again from what is better, at most so often,
        most_moves: with no more designs than about this in one round.
        hops: descents at a time from beside each design that basin hopping begins with,
        hop_lengths: so far away in each variable, in units of the box,
        hops_in_vain: until so many times in a row none is lower,
        one_well: where ends that are so near to each other, in units of the box, are in one well,
        few_wells: or once if of the wells that were met fewer than this share were met once,
        most_outside: and not at all if descents lead out of the box in more than this share of the
            variables;
        rounds_of_hops: at most so often.
        of_others: what other objectives count in the sums that it makes small.
        starts_by_values: where values are all that is known objectives are descended from the best
            of so many parts of the designs all over the box,
        steps_by_values: by so many steps at most,
        difference: with differences over at least this share of the box.
        least_lines: along variables, one for each if there are more, on which convexity is looked
            at,
        segments: and so many between the answer and the box,
        lengths: of which they are shares.
        fewest_designs: all over the box; as many as a population has where derivatives are exact,
        most_spread: and at most.
        apart_if_looked: tangent planes are looked at in `fewest_designs` of them, and in so many
            times fewer where somebody has looked all over the box before,
        apart_for_tangents: and each is compared with one in so many of the others.
        thrift: functions on the host are called at so many times fewer places of a line, and others
            within a small budget.
        population_values: of the population that an answer of objectives that are not convex is
            held against, per variable,
        most_population_values: and at most.
        ends_projected: how often the ends of lines are projected onto equality constraints.
        broken_values: of an atlas of objectives that jump or fall without end.
        beside_break: designs are moved by this share of their range to see whether they lie next to
            a jump,
        across_break: which changes an objective by this share of its range; or by `clear` of that
            where the interval can be halved until nothing else does.
        beside_edge: so much of that is next to a place without values,
        most_at_edge: where no larger share of an answer may lie.
        descent_steps: of the descent to each objective's minimizer that gives an unbounded problem
            its scale.
        farthest: objectives are followed along variables up to 10 to this power.
        beside_corner: of which the first say nothing.
        scanned: places along a variable at which its slope is looked at.
        halvings: how often the interval with the largest jump of a slope is halved.
        steady: what falls without end falls by this share of it again when it is halved as often
            again.
        clear: differences above this share count: of a slope within the last interval, which then
            has a kink there, of a gradient from differences of values, of ranges between a file and
            its objectives (beside `front_errors`); a variable varies at least by this, relative to
            the size of the points.
        seen: what is stated of an atlas is at least so many times the largest lead over it.
        clear_on_curves: the same of a lead over an atlas of curves that states no more.
        most_arms: of minima, that no design shows, are descended alone.
        walkers: points of an answer with kinks that are moved by small steps,
        from_ends: and so many from each of its ends,
        strides: so often,
        steps_tried: the best of so many,
        stride: of at most this share of the set's widths at first.
        steps_below: steps by which ends of an answer with kinks are moved, halved where none helps.
        value_points: points of an answer at which objectives must be finite,
        few_points: or at least so many where a budget of calls does not allow as many,
        most_numbers: and no more than these designs have numbers.
        thinness_points: points inside the simplex at which tangents are looked at.
        thinness_variables: surfaces of more variables are not looked at.
        one_design: designs that differ by less than this share of their size are one.
        flat: tangents shorter than this share of the longest span no dimension; objectives of one
            design vary by less than this share of their ranges over the box.
        rounding: nor do those shorter than this share of the designs.
        probes: points around x0, or in the box, that `check` looks at.
        compared_gradients: points at which derivatives are compared with differences, and noise is
            measured.
        compared_steps: of these differences, as shares of the region that is looked at.
        compared_share: of a budget of calls, for that.
        wrong_derivative: a derivative that is off by more than this share of its size is wrong,
        clearly_apart: if it is so by this many times what differences with other steps are.
        quiet_noise: up to this share of a value at the start nobody asks for its noise elsewhere,
        noise_calls: which takes at most so many calls per point;
        most_noise: above this share of an objective's range differences tell nothing,
        noisy_calls: and a run ends after so many more.
        calls_per_variable: values alone take about so many calls per variable and one more,
        most_searched: a surrogate is chosen for fewer, of which it can choose so many in minutes,
        slow_call: where a call takes as many seconds, which choosing takes, too,
        timed_calls: and none of so many further ones is faster.
        scanned_variables: `check` looks for kinks along so many variables.
        atlas_points: about how many points a run evaluates whose answer is an atlas, of two or
            three objectives.
        front_errors: values of objectives given for a file may differ from its front by so many
            times its error.
        most_sets: combinations of choices and whole numbers that are solved, a set for each.
        relaxed_points: points of the relaxation whose neighbors are looked at first.
        designs_traced: designs without continuous variables that are all evaluated, where JAX has
            traced the objectives,
        designs_on_host: and where they run on the host;
        designs_block: so many at a time.
        most_designs: points of such a set, at most.
        side_by_side: shorter stretches of a choice, in units of the first objective's range, are
            not told.
        keeps: violation of a constraint that counts as none.
    """

    lifted_tol: float = 1e-8
    kept_for_estimate: float = 0.1
    kept_for_probes: float = 0.1
    most_values: int = 5000
    usual_budget: int = 10_000
    difference_tol: float = 30.0
    around: float = 2.0
    negligible: float = 1e-6
    narrowest: float = 0.1
    atlas_tries: int = 3
    most_gradients: int = 15_000
    known_designs: int = 50
    most_variables: int = 50
    compared_points: int = 300
    most_solved: int = 100
    moved_designs: int = 2
    places: int = 32
    finer: tuple[float, float] = (1.0, 0.2)
    own_basin: float = 1.5
    rounds_of_moves: int = 3
    most_moves: int = 5000
    hops: int = 32
    hop_lengths: tuple[float, float] = (0.01, 0.3)
    hops_in_vain: int = 5
    one_well: float = 1e-2
    few_wells: float = 0.5
    most_outside: float = 0.3
    rounds_of_hops: int = 40
    starts_by_values: int = 6
    steps_by_values: int = 60
    difference: float = 1e-7
    of_others: float = 0.1
    least_lines: int = 6
    segments: int = 12
    lengths: tuple[float, float, float] = (0.05, 0.3, 1.0)
    fewest_designs: int = 1536
    most_spread: int = 6000
    apart_if_looked: int = 4
    apart_for_tangents: int = 9
    thrift: int = 3
    population_values: int = 2000
    most_population_values: int = 20_000
    ends_projected: int = 20
    broken_values: int = 3000
    beside_break: float = 1e-2
    across_break: float = 0.05
    beside_edge: float = 1e-2
    most_at_edge: float = 0.02
    descent_steps: int = 200
    farthest: int = 7
    beside_corner: int = 3
    scanned: int = 64
    halvings: int = 40
    steady: float = 0.75
    clear: float = 1e-3
    seen: float = 2.0
    clear_on_curves: float = 1e-4
    most_arms: int = 6
    walkers: int = 100
    from_ends: int = 10
    strides: int = 20
    steps_tried: int = 16
    stride: float = 0.1
    steps_below: int = 120
    value_points: int = 1000
    few_points: int = 200
    most_numbers: int = 20_000_000
    thinness_points: int = 12
    thinness_variables: int = 1000
    one_design: float = 1e-8
    flat: float = 1e-5
    rounding: float = 1e-9
    probes: int = 32
    compared_gradients: int = 4
    compared_steps: tuple[float, float, float] = (1e-4, 1e-5, 1e-6)
    compared_share: float = 0.1
    wrong_derivative: float = 1e-4
    clearly_apart: float = 10.0
    quiet_noise: float = 1e-9
    noise_calls: int = 27
    most_noise: float = 1e-3
    noisy_calls: int = 500
    calls_per_variable: int = 50
    most_searched: int = 200
    slow_call: float = 0.01
    timed_calls: int = 2
    scanned_variables: int = 10
    atlas_points: int = 12_000
    front_errors: float = 10.0
    most_sets: int = 32
    relaxed_points: int = 40
    designs_traced: int = 10_000_000
    designs_on_host: int = 50_000
    designs_block: int = 65_536
    most_designs: int = 500
    side_by_side: float = 1e-3
    keeps: float = 1e-9


SCHEDULE = Schedule()

SURFACE_POINTS = {1: 30, 2: 150, 3: 350, 4: 900, 5: 2000}
"""About how many points a run evaluates whose answer is one surface, by the number of objectives;
for more as for five."""
