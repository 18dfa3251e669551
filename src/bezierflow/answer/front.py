"""A surface for the front: f∘b fitted by a Bézier simplex of its own, with its error measured."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import jax
import numpy as np
from jaxtyping import Float

from ..bezier import BezierSimplex, fit
from ..precision import double_precision
from ..simplex import lobatto_nodes, low_discrepancy, n_controls
from ..threads import one_blas_thread

RELATIVE_TOL = 1e-8
"""The fit stops at this error, relative to the range of each objective over the front."""

LARGEST_NET = 400
"""The fit stops at this many control points: a file stays small, a page stays fast."""

LARGEST_DEGREE = 16

HELD_OUT = 250
"""How many t, spread evenly and none of them a node of the fit, measure its error."""

GRADED = (2, 4, 8, 16)
"""As many again measure its largest error near the faces, where logarithms and roots are steep and
a polynomial is worst: a quarter each of t to these powers over their sum, every other one on a face
itself."""

ROUGH = 0.01
"""A front whose largest error is above this share of the range of an objective is flagged where
nothing else has the values."""


@dataclass(frozen=True)
class FittedFront:
    """The front as a Bézier simplex t ↦ f(b(t)), usable without the objectives' code, and how far
    it is off.

    Attributes:
        surface: the fitted surface, M values.
        rms: root mean square error of each objective, over held-out t.
        max: largest error of each objective, over held-out t, with those near faces.
    """

    surface: BezierSimplex
    rms: np.ndarray
    max: np.ndarray

    @property
    def is_rough(self) -> bool:
        """Whether an objective is off by more than `ROUGH` of its range somewhere."""
        values = np.asarray(self.surface(held_out_t(self.surface.n_objectives)))
        return bool((self.max > ROUGH * np.ptp(values, axis=0)).any())


@lru_cache(maxsize=16)
def held_out_t(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """The t at which errors are measured: `HELD_OUT` spread evenly, then those near and on faces.
    Cached and read-only."""
    with double_precision():
        even = np.asarray(low_discrepancy(jax.random.key(0), HELD_OUT, n_objectives))
    near = np.concatenate(
        [part**power for power, part in zip(GRADED, np.array_split(even, len(GRADED)), strict=True)]
    )
    if n_objectives > 2:
        rows = np.arange(0, len(near), 2)
        near[rows, even[rows].argmin(axis=1)] = 0.0
    t = np.concatenate([even, near / near.sum(axis=1, keepdims=True)])
    t.setflags(write=False)
    return t


@one_blas_thread()
def fit_front(
    front: Callable[[np.ndarray], np.ndarray], n_objectives: int, degree: int
) -> FittedFront:
    """Fits t ↦ front(t), raising the degree from `degree` until the held-out error is negligible or
    the net is large."""
    higher = range(degree + 1, LARGEST_DEGREE + 1)
    degrees = [degree, *(d for d in higher if n_controls(n_objectives, d) <= LARGEST_NET)]
    nodes = lobatto_nodes(n_objectives, degrees[-1] + 1).t
    held_out = held_out_t(n_objectives)
    # One call for all t there will be: the objectives are compiled for one number of points.
    values = np.asarray(front(np.concatenate([nodes, held_out])))
    at_nodes, truth = values[: len(nodes)], values[len(nodes) :]
    scale = np.ptp(truth, axis=0) + np.finfo(float).tiny
    best: FittedFront | None = None
    least = np.inf
    for current in degrees:
        surface = fit(nodes, at_nodes, current)
        miss = np.abs(np.asarray(surface(held_out)) - truth)
        candidate = FittedFront(
            surface, np.sqrt(np.mean(miss[:HELD_OUT] ** 2, axis=0)), miss.max(axis=0)
        )
        even = float((miss[:HELD_OUT].max(axis=0) / scale).max())
        if best is None or even < least:
            best, least = candidate, even
        if (best.max / scale).max() <= RELATIVE_TOL:
            break
    assert best is not None
    return best
