"""A study: a search whose every evaluation is written down as it arrives, wherever it was made."""

from .driving import Plan, run_study
from .study import AbstractSearch, Arrival, Study, open_study

__all__ = ["AbstractSearch", "Arrival", "Plan", "Study", "open_study", "run_study"]
