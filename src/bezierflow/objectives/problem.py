"""What `minimize` was given, checked."""

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import PyTree

from ..bezier import BezierSimplex, Raveling
from ..names import Names
from .bridge import Bridge
from .feasible_set import FeasibleSet
from .functions import Form
from .jax_evaluator import FlatObjectives

MOST_NOISE = 1e-6
"""Relative noise of values up to which differences of them lead to an accurate surface."""


class Problem(NamedTuple):
    """The objectives, also as a function of a flat vector, and a flat surface to start at."""

    form: Form
    flat: FlatObjectives
    """The objectives as the solver minimizes them, of its own flat variables."""
    start: BezierSimplex
    raveling: Raveling
    names: Names
    feasible: FeasibleSet | None
    """None where x may lie anywhere."""

    @property
    def objectives(self) -> Callable[[PyTree], PyTree]:
        """As functions of the user's x."""
        return self.form.of_x

    def lifted(self, flat: FlatObjectives, start: BezierSimplex) -> "Problem":
        """The same problem with other objectives of a flat vector, and their start."""
        return self._replace(flat=flat, start=start)

    @property
    def found(self) -> dict[str, object]:
        """What was found by looking at the problem, for `solution.made_by`."""
        scale = {} if self.raveling.scale is None else {"x_scale": list(self.raveling.scale)}
        return {"objectives": self.form.found, **scale}

    @property
    def gradient_noise(self) -> float:
        """The relative noise of values of which gradients are differences; 0 where gradients are
        exact."""
        bridge = self.form.flat
        return (
            bridge.differences.noise
            if isinstance(bridge, Bridge) and bridge.source.order == 0
            else 0.0
        )

    @property
    def note(self) -> str | None:
        """What a reader of the error estimate must know of units and derivatives."""
        scaled = (
            "distances are in the units made_by['x_scale'] of the variables"
            if self.raveling.scale
            else None
        )
        bridge = self.form.flat
        differences = None
        if isinstance(bridge, Bridge) and not self.form.is_exact:
            accuracy = bridge.differences.accuracy(bridge.source.order)
            differences = (
                f"derivatives are finite differences, gradients known to about {accuracy:.0e} of"
                " their size"
            )
            if bridge.differences.noise > MOST_NOISE:
                differences += "; values this noisy are what bf.Surrogate() is for, with bounds"
        return "; ".join(filter(None, (scaled, differences))) or None
