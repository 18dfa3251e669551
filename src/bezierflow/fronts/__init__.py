"""Certified fronts of benchmark problems, made by `benchmarks/fronts.py`."""

from .reference import available, reference

__all__ = ["available", "reference"]
