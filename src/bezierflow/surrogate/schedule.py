"""Tuned numbers of the search for expensive objectives."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Lengths are in units of the cube, values in units of the objectives' ranges over the set.

    Attributes:
        tol: default tolerance of held-out error and uncertainty at which a search is done, and of
            the surface of three objectives or more.
        initial: evenly spread points that come first, for each variable and one more.
        mostly_noise: share of the variance that noise explains, above which every second point is
            an evenly spread one.
        patience: in units of the first points, the points after which such an objective is taken
            for noise indeed.
        few: up to so many evaluations hyperparameters are fitted from several starts each time.
        growth: beyond, whenever evaluations have grown by this factor, and from the last optimum
            alone in between.
        cone: the dominance cone is wider by this: z_m + cone Σ_{j≠m} z_j are minimized. Surrogates
            have tails, by error, that gain less than this share of what another objective loses.
        n_directions: directions of weights on a regular grid, at most, and as many random ones, so
            that points between those of the grid come up sometimes.
        least_weight: least weight of an objective beside the largest.
        n_ends: starts per end of the set and round: one objective alone has local minima, and a
            missed end loses all on the way to it.
        n_candidates: points among which each direction finds its start.
        n_rounds: rounds of descents; from the second on, all points found are candidates too.
        n_steps: steps of Adam per descent.
        steps: lengths of the first and the last step; all add up to about an edge of the cube.
        decay: Adam's decay rates of the first and the second moment.
        widths: of the smooth maximum in the first and the last step.
        least_span: range of an objective that does not vary, in standardized values.
        n_paths: Thompson samples whose sets count beside that of the mean.
        period: one point of so many explores.
        known_well: uncertainty along the surface below which no point explores.
        n_promising: points of the mean's set among which hypervolume improvement is maximized, and
            random places of which the emptiest replaces a point that is there already.
        n_targets: points that stand for the set of a path, or for its front.
        n_pool: random points, and as many around the sets, that may be picked to explore.
        around: standard deviation of the latter from the sets.
        close: a point nearer than this to another one along every variable is the same.
        close_to_failed: likewise for one whose evaluation failed.
        beyond: distance of the hypervolume's reference point from the worst values of the set.
        jitter: share of the process variance added to the noise of an evaluation.
        n_recent: the last evaluations on the surface, from which held-out errors come.
        least_held_out: evaluations below which the error is not known.
        calm: batches in a row within the tolerance after which a search is done.
        far_off: held-out error, RMS, above which a surface is suspect.
        overconfident: the same in predicted standard deviations.
        usual: quantile of the distances from the median that outliers are compared with.
        outlier: an outlier is so many times farther from the median than that.
        least_values: values below which outliers are not looked for.
        clearly_negative: a value that cannot be negative clearly is where it is below minus this
            share of the objective's median size.
        curve_tol: tolerance of the surface of two objectives; the mean is seldom known better.
        most_points: evaluations of the mean for its surface, at most.
        penalty: of descents where evaluations are expected to fail, per unit of the process of
            success, which is 1 where they succeed and −1 where they fail.
        success_lengths: bounds of the length scales of that process, before they are multiplied by
            √L.
        assured: of that process, what designs and the surface keep to. At 0, every second design
            at the edge of what can be evaluated would fail.
        at_the_edge: a point of the surface is limited by failures where the process exceeds that by
            less than this.
        n_fronts: functions drawn from the posterior, whose fronts are held against the surface.
        n_surface: designs that stand for the surface then.
        confidence: probability of the bound on what may be missing.
        slack: objectives on the surface may exceed the worst values of the properly nondominated
            set by this.
    """

    tol: float = 1e-3
    initial: int = 2
    mostly_noise: float = 0.5
    patience: int = 3
    few: int = 64
    growth: float = 1.25
    cone: float = 0.01
    n_directions: int = 70
    least_weight: float = 0.003
    n_ends: int = 8
    n_candidates: int = 512
    n_rounds: int = 2
    n_steps: int = 80
    steps: tuple[float, float] = (0.06, 3e-4)
    decay: tuple[float, float] = (0.8, 0.95)
    widths: tuple[float, float] = (0.05, 5e-4)
    least_span: float = 1e-6
    n_paths: int = 2
    period: int = 8
    known_well: float = 0.1
    n_promising: int = 256
    n_targets: int = 64
    n_pool: int = 96
    around: float = 0.1
    close: float = 1e-4
    close_to_failed: float = 0.02
    beyond: float = 0.1
    jitter: float = 1e-10
    n_recent: int = 6
    least_held_out: int = 3
    calm: int = 3
    far_off: float = 0.1
    overconfident: float = 3.0
    usual: float = 0.9
    outlier: float = 50.0
    least_values: int = 10
    clearly_negative: float = 0.2
    curve_tol: float = 1e-4
    most_points: int = 30_000
    penalty: float = 5.0
    success_lengths: tuple[float, float] = (0.05, 0.15)
    assured: float = 0.5
    at_the_edge: float = 0.1
    n_fronts: int = 8
    n_surface: int = 512
    confidence: float = 0.9
    slack: float = 1e-3


SCHEDULE = Schedule()
