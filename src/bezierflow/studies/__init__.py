"""A search whose every evaluation is written down as it arrives, wherever it was made."""

from .driving import Plan, run_study
from .study import AbstractSearch, Arrival, LoggedSearch, kept_settings, open_search

__all__ = [
    "AbstractSearch",
    "Arrival",
    "LoggedSearch",
    "Plan",
    "kept_settings",
    "open_search",
    "run_study",
]
