"""Objectives with kinks as smooth ones of more variables: |e|, max e_k and ‖e‖ become variables u
with rows that hold them up."""

from .lifted import Lifted
from .lifting import (
    CannotLiftError,
    Lifting,
    find_kinks,
    has_kinks,
    has_norms,
    keeps_kinks,
    lift_kinks,
    unseen_arms,
    with_slopes,
)

__all__ = [
    "CannotLiftError",
    "Lifted",
    "Lifting",
    "find_kinks",
    "has_kinks",
    "has_norms",
    "keeps_kinks",
    "lift_kinks",
    "unseen_arms",
    "with_slopes",
]
