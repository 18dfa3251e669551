"""Runs and studies that live in folders: go on with them, look at them, evaluate for them."""

from .resume import resume

__all__ = ["resume"]
