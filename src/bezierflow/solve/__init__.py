"""`minimize`: which flows answer a problem, in which order, and what is said about the end."""

from .arguments import MISSING, read_arguments, settle_arguments
from .call import Call, Checkpoint, with_limits
from .checkpoint import ARGUMENTS, JOURNAL, SOLUTION, compare_versions, versions
from .checkup import check
from .dialogue import Dialogue
from .kinked import settle_on_atlas
from .loading import load
from .minimize import minimize, train

__all__ = [
    "ARGUMENTS",
    "JOURNAL",
    "MISSING",
    "SOLUTION",
    "Call",
    "Checkpoint",
    "Dialogue",
    "check",
    "compare_versions",
    "load",
    "minimize",
    "read_arguments",
    "settle_arguments",
    "settle_on_atlas",
    "train",
    "versions",
    "with_limits",
]
