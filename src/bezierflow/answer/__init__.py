"""The answer: a Pareto set, the error estimate, and the solution that holds both."""

from .atlas import BezierAtlas, Exact, ExactAround, Units
from .certificate import Certificate
from .description import cost_text, error_text
from .enclosures import Interval, Model, Unsupported, enclose
from .error import ErrorEstimate, Flag, by_cause
from .files import from_archive
from .front import ExactMap, FittedFront, PolynomialMap, interpolate
from .notebook import share_bar, table
from .pareto_set import Found, Points
from .patches import (
    Claims,
    Label,
    Patch,
    ask_patch,
    ask_patches,
    barycentric,
    best_levels,
    centered,
    frame,
    variables,
)
from .program import (
    Epigraph,
    Program,
    first_order,
    good_starts,
    search,
    solve,
)
from .result import (
    Evaluated,
    Reason,
    Result,
    Stats,
    describe,
    judge,
    locate_non_finite,
    why_not_estimated,
    why_not_verified,
)
from .schedule import SCHEDULE
from .shifts import without_shifts
from .solution import Solution, as_start, in_users_form
from .surface_set import SurfaceSet
from .union import Member, Single, unite

__all__ = [
    "SCHEDULE",
    "BezierAtlas",
    "Certificate",
    "Claims",
    "Epigraph",
    "ErrorEstimate",
    "Evaluated",
    "Exact",
    "ExactAround",
    "ExactMap",
    "FittedFront",
    "Flag",
    "Found",
    "Interval",
    "Label",
    "Member",
    "Model",
    "Patch",
    "Points",
    "PolynomialMap",
    "Program",
    "Reason",
    "Result",
    "Single",
    "Solution",
    "Stats",
    "SurfaceSet",
    "Units",
    "Unsupported",
    "as_start",
    "ask_patch",
    "ask_patches",
    "barycentric",
    "best_levels",
    "by_cause",
    "centered",
    "cost_text",
    "describe",
    "enclose",
    "error_text",
    "first_order",
    "frame",
    "from_archive",
    "good_starts",
    "in_users_form",
    "interpolate",
    "judge",
    "locate_non_finite",
    "search",
    "share_bar",
    "solve",
    "table",
    "unite",
    "variables",
    "why_not_estimated",
    "why_not_verified",
    "without_shifts",
]
