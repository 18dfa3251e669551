"""The theory made measurable: constants, bounds, empirical stability, the generalization gap, and a report for people."""

from .bounds import Bound, CurvatureBounds, PaperBounds, SharperBounds
from .empirical import TwinRuns, empirical_stability
from .error_parts import ErrorParts, error_parts
from .gap import GeneralizationGap, generalization_gap
from .gram import basis_norm_bound, coherence, expected_gram, expected_smallest_eigenvalue
from .losses import AbstractLoss, Distance, Stationarity, loss_for
from .region import curvature, lipschitz
from .report import Report, report
from .run_bounds import Trace, curvature_bounds, sharper_bounds, trace
from .scaling import Scaling, against_samples
from .smallest_eigenvalue import Interval, SmallestEigenvalueLaw, draws_for, eta_chernoff, smallest_eigenvalue_law
from .twins import Exchange, run_many

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
    "Scaling",
    "SharperBounds",
    "SmallestEigenvalueLaw",
    "Stationarity",
    "Trace",
    "TwinRuns",
    "against_samples",
    "basis_norm_bound",
    "coherence",
    "curvature",
    "curvature_bounds",
    "draws_for",
    "empirical_stability",
    "error_parts",
    "eta_chernoff",
    "expected_gram",
    "expected_smallest_eigenvalue",
    "generalization_gap",
    "lipschitz",
    "loss_for",
    "report",
    "run_many",
    "sharper_bounds",
    "smallest_eigenvalue_law",
    "trace",
]
