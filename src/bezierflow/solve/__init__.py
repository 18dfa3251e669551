"""`minimize`: which flows answer a problem, in which order, and what is said about the end."""

from .arguments import MISSING, read_arguments, settle_arguments
from .checkpoint import ARGUMENTS, JOURNAL, SOLUTION, compare_versions, versions
from .checkup import check
from .dialogue import Dialogue
from .loading import load
from .minimize import minimize
from .searching import Task
from .settling import settle_on_atlas

__all__ = [
    "ARGUMENTS",
    "JOURNAL",
    "MISSING",
    "SOLUTION",
    "Dialogue",
    "Task",
    "check",
    "compare_versions",
    "load",
    "minimize",
    "read_arguments",
    "settle_arguments",
    "settle_on_atlas",
    "versions",
]
