"""The theory made measurable: constants, bounds, stability, the generalization gap, a report."""

from .bounds import Bound, CurvatureBounds, PaperBounds, SharperBounds
from .eigenvalues import (
    Interval,
    SmallestEigenvalueLaw,
    basis_norm_bound,
    coherence,
    draws_for,
    eta_chernoff,
    expected_gram,
    expected_smallest_eigenvalue,
    gram_root,
    mean_interval,
    slope,
    smallest_eigenvalue_law,
    smallest_eigenvalues,
)
from .gap import GeneralizationGap, Scaling, against_samples, generalization_gap
from .report import ErrorParts, Report, error_parts, report
from .run_bounds import RunBounds, residuals, residuals_of_quadratics, run_bounds
from .setting import Distance, Setting, Stationarity
from .twins import (
    Exchange,
    Trace,
    TwinRuns,
    empirical_stability,
    run_many,
    samples_of_run,
    trace,
)

__all__ = [
    "Bound",
    "CurvatureBounds",
    "Distance",
    "ErrorParts",
    "Exchange",
    "GeneralizationGap",
    "Interval",
    "PaperBounds",
    "Report",
    "RunBounds",
    "Scaling",
    "Setting",
    "SharperBounds",
    "SmallestEigenvalueLaw",
    "Stationarity",
    "Trace",
    "TwinRuns",
    "against_samples",
    "basis_norm_bound",
    "coherence",
    "draws_for",
    "empirical_stability",
    "error_parts",
    "eta_chernoff",
    "expected_gram",
    "expected_smallest_eigenvalue",
    "generalization_gap",
    "gram_root",
    "mean_interval",
    "report",
    "residuals",
    "residuals_of_quadratics",
    "run_bounds",
    "run_many",
    "samples_of_run",
    "slope",
    "smallest_eigenvalue_law",
    "smallest_eigenvalues",
    "trace",
]
