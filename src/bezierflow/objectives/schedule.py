"""The tuned numbers of this room."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """The tuned numbers of reading, evaluating and constraining objectives.

    Attributes:
        least_noise: relative error of a float64, the least noise that a function is taken to have.
        most_noise: noise beyond this share of a function's size is not believed: steps would leave
            the region in which a difference means much.
        noise_steps: where noise is looked for: steps in units of the scale, the first at which more
            than half of the values differ. At the smallest a smooth function of ordinary shape is a
            straight line to rounding; a function in single precision needs the others.
        noise_points: values along a line of which noise is estimated.
        noise_away: where a second line lies if the first one is noisy, in units of the scale.
        few_scaled: more variables of functions that are known by values get no units of their own
            within bounds, which would take a Hessian.
        noise_orders: orders of their differences: the smooth part is gone, the noise is left.
        scale_rounds: how often curvatures correct the guessed scales of the variables.
        largest_correction: the factor by which one round may change a scale at most.
        rough_noise: noise up to which differences of values lead to an accurate surface.
        table_numbers: float64 that one batch of points for differences, and the values that a
            bridge keeps, hold at most.
        block: points per compiled call. A second size would have to be compiled, which costs more
            than a thousand cheap evaluations.
        block_numbers: numbers that the Hessians of one block hold at most; blocks shrink where
            there are many variables,
        hessian_numbers: sooner where Hessians are what is asked for: one of many variables is
            enough work for a call, and most calls are for a single point.
        tolerance: a constraint holds at x where it is violated by at most this share of its scale
            at x (see `FeasibleSet.contains`).
        active: a bound or a constraint with less room than this share of its scale is active.
        n_starts: evenly spread points that a repair starts from, after x and the box's center; and
            so many more, the least violating ones
        n_spread: of so many.
        repair_steps: iterations of SLSQP, and evaluations of least squares, per search.
        few_steps: the same in a finite box without equalities,
        called_steps: and where constraints are called as they are there, too.
        repair_precision: what SciPy is asked for in a repair: more than `tolerance` needs.
        projections: steps of Newton's method onto equality constraints,
        on_manifold: which then hold up to this.
        steps_inside: steps of Newton's method to where inequalities hold, too,
        too_far: each so many times as long.
        unequal: variables are scaled where the lengths over which they matter differ by more than
            this factor.
        compared: points at which a traced NumPy function is compared with its original.
        compared_slopes: of these, points at which slopes are, too.
        compared_values: the largest relative difference of values that rounding explains.
        compared_rates: likewise of slopes, whose differences are less exact.
        compared_step: of those differences, as a share of the box.
        probes_share: of a budget of calls, for finding out what kind of function it is.
        least_budget: calls that reading a function takes at least.
        most_operations: a longer program takes XLA minutes to compile.
        most_scaled: beyond this many variables no Hessian is computed just to find scales.
    """

    least_noise: float = 1.2e-16
    most_noise: float = 1e-2
    noise_steps: tuple[float, ...] = (1e-9, 1e-7, 1e-5)
    noise_points: int = 9
    noise_away: float = 0.05
    few_scaled: int = 5
    noise_orders: tuple[int, ...] = (3, 4, 5, 6)
    scale_rounds: int = 2
    largest_correction: float = 1e4
    rough_noise: float = 1e-6
    table_numbers: int = 4_000_000
    block: int = 16
    block_numbers: int = 20_000_000
    hessian_numbers: int = 500_000
    tolerance: float = 1e-9
    active: float = 1e-6
    n_starts: int = 8
    n_spread: int = 500
    repair_steps: int = 200
    few_steps: int = 40
    called_steps: int = 10
    repair_precision: float = 1e-15
    projections: int = 12
    on_manifold: float = 1e-9
    steps_inside: int = 25
    too_far: float = 1.1
    unequal: float = 100.0
    compared: int = 30
    compared_slopes: int = 4
    compared_values: float = 1e-9
    compared_rates: float = 1e-4
    compared_step: float = 1e-6
    probes_share: float = 0.1
    least_budget: int = 5
    most_operations: int = 600
    most_scaled: int = 500


SCHEDULE = Schedule()
