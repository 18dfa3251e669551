"""Objectives with kinks as smooth ones of more variables: |e| and max e_k become variables u with rows e_k − u ≤ 0."""

from .lifted import Lifted
from .lifting import CannotLiftError, KinkRows, Lifting, find_kinks, lift_kinks

__all__ = ["CannotLiftError", "KinkRows", "Lifted", "Lifting", "find_kinks", "lift_kinks"]
