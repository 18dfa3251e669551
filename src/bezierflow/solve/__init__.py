"""`minimize`: which flows answer a problem, in which order, and what is said about the end."""

from .checkpoint import kept_arguments
from .checkup import check
from .loading import load
from .minimize import minimize
from .searching import Task
from .settling import settle_on_atlas

__all__ = [
    "Task",
    "check",
    "kept_arguments",
    "load",
    "minimize",
    "settle_on_atlas",
]
