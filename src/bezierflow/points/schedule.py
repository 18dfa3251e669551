"""Tuned numbers of surfaces through points."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Lengths are in units of the objectives' ranges unless said otherwise.

    Attributes:
        folds: parts of the points in a cross-validation.
        largest_degree: of a surface through points.
        points_per_control: points per control point, and Pareto points per objective, at least.
        patience: degrees in a row without a smaller held-out distance that end the trials.
        exact: held-out distance that ends them.
        beside: a point is on a face if it is the outermost of so many nearest candidates, itself
            included.
        fit_tol: tolerance of every fit: held-out distances change little beyond it.
        fit_iterations: iterations of every fit.
        worth_a_fold: a surface without folds may miss held-out points by so many times as much as
            one with folds.
        least_signal: what a variable counts for at least.
        far: held-out points missed by more than this share of the set's diameter, or of an
            objective's range, make a surface suspect.
        slack: bounds may be violated by this share of 1 + |x|.
        named_rows: rows named in a message; the others are counted.
        group: a smaller share of the points is no group of its own but a few outliers.
        usual: quantile of the gaps between neighbors that wide gaps are compared with.
        wide_gap: groups are apart if the gap between them is so many times wider than that.
        long_gap: width of such a gap, at least.
        most_compared: points looked at for groups, at most: all pairs are compared.
        thin: a neighborhood thinner than this share of its width has lost a dimension.
        most_folded: share of a front that may run backwards, where points are not exact.
        most_dominated: share of a front that other parts of it may dominate.
        n_parameters: parameters t at which a front is looked at, about.
        inward: share by which these are moved towards the middle of the simplex.
        clear: a point is dominated if another one is better by this in every objective; a
            determinant of unit columns below it has no sign.
    """

    folds: int = 5
    largest_degree: int = 6
    points_per_control: int = 2
    patience: int = 2
    exact: float = 1e-4
    beside: int = 3
    fit_tol: float = 1e-3
    fit_iterations: int = 60
    worth_a_fold: float = 2.0
    least_signal: float = 0.01
    far: float = 0.1
    slack: float = 1e-9
    named_rows: int = 5
    group: float = 0.05
    usual: float = 0.9
    wide_gap: float = 6.0
    long_gap: float = 0.12
    most_compared: int = 1500
    thin: float = 0.05
    most_folded: float = 0.1
    most_dominated: float = 0.05
    n_parameters: int = 2000
    inward: float = 0.001
    clear: float = 1e-2


SCHEDULE = Schedule()
