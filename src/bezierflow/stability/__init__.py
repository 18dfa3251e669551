"""The theory made measurable: stability, the generalization gap, where a run goes, a report."""

from .gap import GeneralizationGap, Scaling, against_samples, generalization_gap
from .mean_field import MeanField, is_quadratic, known_curvature, mean_field
from .report import ErrorParts, Report, error_parts, report
from .statistics import (
    Interval,
    check_samples,
    expected_gram,
    gram_root,
    mean_interval,
    slope,
)
from .twins import (
    Distance,
    Exchange,
    Setting,
    Stationarity,
    Trace,
    TwinRuns,
    dense_points,
    empirical_stability,
    is_papers,
    run_many,
    samples_of_run,
    trace,
)

__all__ = [
    "Distance",
    "ErrorParts",
    "Exchange",
    "GeneralizationGap",
    "Interval",
    "MeanField",
    "Report",
    "Scaling",
    "Setting",
    "Stationarity",
    "Trace",
    "TwinRuns",
    "against_samples",
    "check_samples",
    "dense_points",
    "empirical_stability",
    "error_parts",
    "expected_gram",
    "generalization_gap",
    "gram_root",
    "is_papers",
    "is_quadratic",
    "known_curvature",
    "mean_field",
    "mean_interval",
    "report",
    "run_many",
    "samples_of_run",
    "slope",
    "trace",
]
