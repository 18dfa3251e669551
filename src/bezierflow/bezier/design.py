"""The old place of `design_matrix`, until every room takes it from `bezierflow.bezier`."""

from .numpy_nets import design_matrix

__all__ = ["design_matrix"]
