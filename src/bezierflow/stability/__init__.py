"""The theory made measurable: constants, bounds, empirical stability, the generalization gap, and a
report for people."""

from .bounds import Bound, CurvatureBounds, PaperBounds, SharperBounds
from .empirical import TwinRuns, empirical_stability
from .error_parts import ErrorParts, error_parts
from .gap import GeneralizationGap, generalization_gap
from .gram import basis_norm_bound, coherence, expected_gram, expected_smallest_eigenvalue
from .intervals import Interval, mean_interval, slope
from .losses import AbstractLoss, Distance, Stationarity, loss_for
from .report import Report, report
from .run_bounds import RunBounds, run_bounds
from .scaling import Scaling, against_samples
from .setting import Setting
from .smallest_eigenvalue import (
    SmallestEigenvalueLaw,
    draws_for,
    eta_chernoff,
    smallest_eigenvalue_law,
)
from .trace import Trace, trace
from .twins import Exchange, run_many, samples_of_run

__all__ = [
    "AbstractLoss",
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
    "loss_for",
    "mean_interval",
    "report",
    "run_bounds",
    "run_many",
    "samples_of_run",
    "slope",
    "smallest_eigenvalue_law",
    "trace",
]
