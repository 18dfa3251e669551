"""The tuned numbers of this room. `python -m benchmarks.sensitivity` halves and doubles each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Lengths are in units of the box for variables, and of the ranges of objectives for these and
    for the chart, unless something else is said.

    Attributes:
        steepest: slopes and curvatures of scaled rows are cut off here: at a bound they may be
            infinite.
        rounding_of_hessians: curvatures above minus this share of a matrix's largest entry are
            rounding of a positive one.
        inside: derivatives that do not exist at a bound are taken so far inside of it.
        tie: the weight of Σ f_m in the merit of a point: of several points with the same s it
            prefers one that is not dominated.
        price: of a scaled constraint's violation in the merit of a point, to begin with,
        most_price: and at most,
        dearer: and how often it is raised in a search with Hessians,
        hopeful: as long as that leaves at most this share of a violation,
        dear: and, without, where multipliers are above this share of it.
        feasible: the largest violation of a scaled constraint at a point that the archive keeps.
        nearly_feasible: the same at the end of a search.
        large: scales beyond this do not allow larger violations, where these are limited strictly.
        difference_steps: steps of forward differences are between these: the root of the noise.
        most_kept: an archive larger than this is reduced to its nondominated points,
        fewest_kept: and to so many of them at most,
        finest_grid: by boxes, at most so many along an objective's range.

        search_steps: quadratic programs of one search.
        first_radius: of its trust region,
        largest_radius: which grows up to this.
        nothing: a search with Hessians ends before a step that promises less: Newton's method on
            active sets goes on from there.
        flattest: curvatures below this share of the largest are raised to it, so that each
            quadratic program has one solution.
        first_bend: a learned curvature begins with this multiple of the identity;
        steep_bend: changes of slopes steeper than this teach nothing,
        bends: and eigenvalues stay within these.

        at_once: searches at a time.
        tie_of_labels: the weight of Σ f_m in the equations of a label: it makes their solution
            unique where the active objectives alone do not.
        flat: added to the curvature in each Newton step: a variable that nothing depends on stays
            where it is. Solutions are the same.
        newton_steps: at most, of one solution,
        short: of which one shorter than this is the last,
        longest: and a longer one than this leads away.
        wrong: signs below minus this are wrong.
        most_labels: labels tried for one step, beginning with the last one's;
        corrections: and with that of the program's solution from nothing.
        redundant: taken from the diagonal of active rows, so that one that others imply has no
            multiplier instead of any.
        level: the curvature that the level gets in programs that are solved from nothing.
        priced: multipliers above this belong to active rows.
        most_saddles: searches that may end at saddle points,
        nudges: how far from one the next may start.
        unheld: bounds with multipliers below this hold nothing;
        negative: curvatures below this make a saddle point;
        stiff: and this one is given to directions which active rows forbid.
        stale_steps: Newton steps at a node with the curvature of another,
        slowest: as long as these shorten at least by this;
        telling: those shorter than this are rounding, and say nothing.
        forgiven: each look at fresh Hessians multiplies the rate that was seen by this, so that
            they are shared again later.

        held_steps: Newton steps of a solution with a frozen active set;
        close_step: the length after which the square of a step is no error any more;
        longest_held: the longest one;
        near_factor: after a step shorter than this a factor of the equations serves once more,
        slow_factor: and as long as steps with it shorten at least by this.
        exact: and what curvature may change rows by along the last,
        very_exact: and the rows themselves, where curvatures are above `steep`,
        steep: which `steepest` cuts off, so that they say too little.
        stale_close: the last step is no longer than this where Hessians are not those of its
            design, which would say how rows bend along it.
        zero: eigenvalues above minus this count as nonnegative.
        dependent: a row whose slope along free variables is a combination of those of other active
            rows, up to this share of its length, says nothing more.
        farthest: a step that is longer leads nowhere.

        degrees: of the polynomials that are tried on an arc: the nodes of one are among those of
            the next.
        outside: how far beyond the first and the last node of a front its end is looked for,
        few_tries: with so many lengths.
        most_short: a curve is left after so many arcs in a row for which longer ones were tried in
            vain;
        many_arcs: and if so many led no farther
        little: than this: active sets that change so often are those of designs that are not
            unique.
        arc_lengths: the shortest and the longest arc on the chart. Where Newton's method does not
            reach as far as the first, a curve ends: it folds back, or its slope is infinite.
        slow_gain: a degree that leaves more of the error than this is the last that is tried.
        shrink: an arc is tried so many times as short where Newton's method fails or no degree
            suffices: the first time it may be its end alone, where slopes may be infinite.
        share_of_way: of the way to go, below which arcs are not shortened: they would crawl.
        beyond: arcs are tried so far beyond the place where tangents say that they end.
        kept_inside: searches begin no nearer to a bound than this share of the distance that a
            solution nearby has from it.
        between: places of an arc where inequalities are evaluated.
        looked: places of an arc where its signs are looked at,
        refined: and how often again where one changes.
        blurred: signs may be wrong by so many times what they were at fresh coordinates.
        rounding: signs are exact to this.
        touched: signs below minus this are wrong; an arc that ends with one nearer to 0 ends by it.
        wrong_start: a solution with a sign below minus this is none to begin with.
        at_bound: a variable nearer to a bound is at it, and so are constraints.
        nudge: how far beyond an end what is active there is asked.
        in_designs: what a unit of the box in designs counts.
        of_slack: the share of its slack by which a constraint may be wrong.
        apart: designs of both sides of a change that differ by more are on two curves.
        touching: arcs that are no farther apart on the chart than so many tolerances are without a
            hole, and nodes whose levels differ by less are on them.
        rounding_of_ends: ends of arcs are rounded to this.
        on_arc: points of an arc that are compared with others,
        bisections: and refinements of where it becomes worse, each by a factor of `on_arc`.

        n_spread: evenly spread points that a survey evaluates first,
        population: the group that goes on from them,
        generations: at least, at most, and at most where evaluations are limited,
        still: as long as ten of them bring this much.
        far: a chart point this far away asks for the minimum of one objective.
        few: fewer nondominated points do not tell the ranges of the front: sampling finds hardly
            any feasible points where there are equalities;
        slowly: then units shrink by no more than this factor.
        large_population: of a survey that goes on,
        strangers: which so many designs from anywhere join every so often.

        usual_budget: evaluations that a search plans with where nobody says how many.
        most_evaluations: a search without a budget ends after so many,
        most_hessians: or so many Hessians, of few variables and of many, whatever is left to cut:
            what no cell covers is answered by the designs that were met.
        many: so many variables are many.
        explored: the share of the budget of one exploration,
        explored_first: of all of them before cells are cut,
        cut_share: and of one round of cuts.
        still_rounds: so many explorations in a row that change nothing end a search.
        nearer: one that finds nothing feasible changes something where the least violation falls to
            this share of the one before.
        first_nodes: steps of the grid of first nodes along an edge, for two objectives, three, and
            more;
        first_followed: and where arcs lead from one node to the next.
        same: nodes whose chart points differ by less are one.
        finest: cells are not cut below this size, which only jumps of the front reach, for two
            objectives, three, and more;
        finer: with Hessians, so many times as small: kinks are cut down to what they are worth.
        most_ends: how often the ends of the front are looked for before there are other nodes.
        roughest: a cell that is expected to miss by more is no part of the answer.
        jump: nodes of one cell whose designs differ by more,
        steep_jump: and by so many times their distance on the chart, may be on two branches.
        most_nodes: of a mesh whose answers are polished: more would serve only files and pictures.
        first_goal: cells are cut to this miss first,
        fall: then to ever smaller ones by this factor.
        promised: searches end before steps that promise less than so many tolerances,
        gained: and after those that promised and gained less than so many: with the curvature of a
            neighbor, what is left is a small part.
        loosest: searches for nodes are not looser than with this tolerance;
        finished: at the end they have so many times that of cells.
        curved: curvatures by differences take up to this share of a budget at a node.
        slopes: designs at whose slopes constraints get their scales,
        scales: and by how much these change at most.
        most_noise: cells are not asked to be more exact than this many times the noise.
        margin: nodes keep inequalities by so many tolerances,
        widest_margin: at most by this.
        narrow: a variable whose nodes lie within this share of its unit gets one
        closer: of so many times what they take;
        narrowest: one whose nodes lie within this share has one value.
        compared: points of the archive's front that are looked for on cells after a round.
        most_lost: parts of the archive's front that are solved for at a time.
        much: a node is dominated by one that is better in an objective by this many tolerances.
        exact_nodes: by how much one may be worse in other objectives, and must be better in one, to
            dominate a node that was solved for up to rounding.
        news_gain: changes that gain less do not ask for another exploration.
        most_late: how often the archive is asked once more after cuts.
        news: the share of the budget after which what the archive knows better is left for later.
        same_gap: a gap is known whose ends have moved by less than this share of its length.
        rise: a cell does not use the node beyond a neighbor in which designs change so many times
            as fast.
        checked: where intervals are checked, in their own coordinates.
        often: where there are constraints, which may cut off a corner, cells are checked so near to
            each.
        trust: of what a cell's newest node promises to miss by, this much at least is believed.
        cut: gradients that a cut may take.
        rim: the rim of a mesh is followed until new nodes lie less outside of it.
        same_units: units of objectives that change by less are left as they are once there are
            arcs, which would have to be followed again.
        most_traced: cells between which arcs are looked for at a time.
        fresh: random designs that each exploration begins with, beside what is known.
        populations: the smallest and the largest group of an exploration.
        first_share: the first nodes are at most so many that a gradient at each takes this share of
            the budget.
        spread: the fewest and the most points all over the box that a search begins with.
        coarse: cells that nobody has looked at may miss the archive by this much.
        better_start: a design of the archive is a better start than a prediction if it is better by
            this much.
        flattest_cell: cells that are thinner than this share of their length are none.

        tol: what patches shall miss fresh points by at most where the user does not say, with
            Hessians, for two objectives, three, and more: from three on patches are where answers
            begin that are solved for;
        values_tol: and without Hessians,
        further: which becomes so many times as small while a budget lasts.
        tight: inequalities with less room are tried as active.
        no_lead: searches begin once more from archived designs that are lower than a solution by
            more;
        nearly: or higher by less,
        elsewhere: and farther away than this: between them and the chart point another basin may
            become the best.
        compared_at_once: chart points compared with the archive at a time.
        most_points: single points of an answer,
        alike: of which those on one such mesh of objective values are one: differences leave
            trails;
        beside: and those that are less apart are one piece.
        n_on_set: fresh chart points below points of the set,
        n_anywhere: and anywhere on the simplex,
        near_ends: and so near to each of its corners,
        fewest: and at the fewest.
        search_gradients: a search for the truth takes about so many.
        beaten: an answer is beaten if a point is known that is better in all objectives by this,
        much_beaten: and by this many tolerances.
        same_level: solutions whose levels differ by less are one, or as good as each other.
        telling_points: of so many points that are solved for at a time,
        many_beaten: if more than this share is beaten, the others are not looked at.
        measured_at_once: points of a mesh that are solved for at a time, with Hessians.
        well_covered: the share of fresh chart points that must have a certified answer.
        most_beaten: the share of answers that may be beaten: up to this it is part of the error
            that is stated.
        stated: so many times the largest miss at fresh points is stated (`python -m
            benchmarks.calibration`),
        least_stated: and no less than this: where an objective is at its least, rounding of its
            value is the root of that in the others.
        violated: the largest violation of an answer, in units of the constraint's scale, that is
            only stated.
        most_misses: fresh answers may miss by this many times the tolerance that patches were made
            with: the worst of hundreds of new points.
        solved: the tolerance of answers that are solved for, where the user does not say.
        together: objectives that are this near to their best values at one design have a minimizer
            in common.
    """

    steepest: float = 1e7
    rounding_of_hessians: float = 1e-12
    inside: float = 1e-12
    tie: float = 1e-5
    price: float = 20.0
    most_price: float = 1e4
    dearer: int = 3
    hopeful: float = 0.5
    dear: float = 0.9
    feasible: float = 1e-8
    nearly_feasible: float = 1e-6
    large: float = 100.0
    difference_steps: tuple[float, float] = (1e-7, 5e-2)
    most_kept: int = 3000
    fewest_kept: int = 2000
    finest_grid: int = 2**20
    search_steps: int = 40
    first_radius: float = 0.25
    largest_radius: float = 0.5
    nothing: float = 1e-9
    flattest: float = 1e-6
    first_bend: float = 0.1
    steep_bend: float = 1e6
    bends: tuple[float, float] = (1e-5, 1e5)
    at_once: int = 24
    tie_of_labels: float = 1e-9
    flat: float = 1e-10
    newton_steps: int = 12
    short: float = 1e-9
    longest: float = 2.0
    wrong: float = 1e-11
    most_labels: int = 10
    corrections: int = 3
    redundant: float = 1e-11
    level: float = 1e-6
    priced: float = 1e-10
    most_saddles: int = 3
    nudges: tuple[float, float, float] = (1e-3, 1e-2, 1e-1)
    unheld: float = 1e-7
    negative: float = -1e-5
    stiff: float = 1e4
    stale_steps: int = 4
    slowest: float = 0.1
    telling: float = 1e-6
    forgiven: float = 0.7
    held_steps: int = 10
    close_step: float = 1e-5
    longest_held: float = 0.3
    near_factor: float = 1e-3
    slow_factor: float = 0.3
    exact: float = 1e-11
    very_exact: float = 1e-9
    steep: float = 1e5
    stale_close: float = 1e-7
    zero: float = 1e-9
    dependent: float = 1e-7
    farthest: float = 10.0
    degrees: tuple[int, int, int] = (4, 8, 16)
    outside: float = 0.02
    few_tries: int = 2
    most_short: int = 15
    many_arcs: int = 30
    little: float = 1e-3
    arc_lengths: tuple[float, float] = (1e-7, 0.5)
    slow_gain: float = 0.3
    shrink: tuple[float, float] = (0.5, 0.2)
    share_of_way: float = 1e-3
    beyond: float = 1.05
    kept_inside: float = 0.05
    between: int = 17
    looked: int = 65
    refined: int = 5
    blurred: float = 3.0
    rounding: float = 1e-13
    touched: float = 1e-9
    wrong_start: float = 1e-5
    at_bound: float = 1e-9
    nudge: float = 1e-6
    in_designs: float = 0.01
    of_slack: float = 0.1
    apart: float = 0.02
    touching: float = 10.0
    rounding_of_ends: float = 1e-10
    on_arc: int = 17
    bisections: int = 5
    n_spread: int = 256
    population: int = 64
    generations: tuple[int, int, int] = (24, 300, 100_000)
    still: float = 2e-3
    far: float = 20.0
    few: int = 10
    slowly: float = 10.0
    large_population: int = 100
    strangers: int = 32
    usual_budget: int = 20_000
    most_evaluations: int = 30_000
    most_hessians: tuple[int, int] = (10_000, 4_000)
    many: int = 10
    explored: float = 0.1
    explored_first: float = 0.6
    cut_share: float = 0.1
    still_rounds: int = 2
    nearer: float = 0.9
    first_nodes: tuple[int, int, int] = (8, 5, 4)
    first_followed: int = 4
    same: float = 1e-7
    finest: tuple[float, float, float] = (1e-3, 0.02, 0.1)
    finer: float = 1e-2
    most_ends: int = 3
    roughest: float = 0.03
    jump: float = 0.05
    steep_jump: float = 3.0
    most_nodes: int = 600
    first_goal: float = 1e-2
    fall: float = 0.1
    promised: float = 0.2
    gained: float = 5.0
    loosest: float = 1e-4
    finished: float = 1e-5
    curved: float = 0.01
    slopes: int = 5
    scales: tuple[float, float] = (1e-9, 1e2)
    most_noise: float = 10.0
    margin: float = 2.0
    widest_margin: float = 1e-4
    narrow: float = 1e-2
    closer: float = 4.0
    narrowest: float = 1e-9
    compared: int = 400
    most_lost: int = 6
    much: float = 100.0
    exact_nodes: tuple[float, float] = (1e-9, 1e-3)
    news_gain: float = 1e-3
    most_late: int = 8
    news: float = 0.1
    same_gap: float = 0.01
    rise: float = 4.0
    checked: tuple[float, float] = (0.3, 0.7)
    often: float = 0.8
    trust: float = 0.1
    cut: float = 3.0
    rim: float = 2e-3
    same_units: float = 1e-4
    most_traced: int = 200
    fresh: int = 8
    populations: tuple[int, int] = (20, 100)
    first_share: float = 0.1
    spread: tuple[int, int] = (8, 256)
    coarse: float = 0.05
    better_start: float = 1e-2
    flattest_cell: float = 1e-8
    tol: tuple[float, float, float] = (1e-7, 1e-3, 1e-2)
    values_tol: tuple[float, float, float] = (1e-5, 1e-3, 1e-2)
    further: float = 1e-3
    tight: float = 1e-6
    no_lead: float = 1e-8
    nearly: float = 1e-2
    elsewhere: float = 0.1
    compared_at_once: int = 64
    most_points: int = 400
    alike: float = 1e-4
    beside: float = 0.03
    n_on_set: int = 200
    n_anywhere: int = 100
    near_ends: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4)
    fewest: int = 5
    search_gradients: int = 3
    beaten: float = 1e-4
    much_beaten: float = 10.0
    same_level: float = 1e-7
    telling_points: int = 60
    many_beaten: float = 0.1
    measured_at_once: int = 50
    well_covered: float = 0.98
    most_beaten: float = 0.2
    stated: float = 2.0
    least_stated: float = 1e-7
    violated: float = 1e-4
    most_misses: float = 10.0
    solved: float = 1e-6
    together: float = 1e-4


SCHEDULE = Schedule()


def most_hessians(n_variables: int) -> int:
    """After how many Hessians a search without a budget ends, and a measurement."""
    return SCHEDULE.most_hessians[n_variables >= SCHEDULE.many]


def by_objectives(numbers: tuple[float, float, float], n_objectives: int) -> float:
    """The number for two objectives, for three, or for more."""
    return numbers[n_objectives - 2] if n_objectives in (2, 3) else numbers[2]
