"""An honest error estimate for any surface: its normal distance to the Pareto-critical set at t that no fit ever saw."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Array

from ..bezier.design import design_matrix
from ..bezier.model import BezierSimplex
from .chord import settle_chords
from .derivatives import Derivatives
from .displacement import Linearization
from .evaluator import Evaluator
from .flags import Flag
from .held_out import held_out_points, suspect_points
from .polynomial import surface_tangents
from .shape import dominated_fraction, fold_fraction, largest_gap, weakly_pareto_vertices

N_SAMPLES = 200
"""Held-out t a report asks for by default."""

SAFETY = 3.0
"""The bound is this many times the largest distance seen. Over 900 random problems (`benchmarks/normal_flow.py families 100`) the
true two-sided maximum was at most 2.4 times it."""

FAR = 1e-4
"""Beyond this share of the diameter one linearization is not trusted: the point is followed to the set and the way measured."""

CORRECTIONS = 4
"""How many displacements a far point is given to reach the set."""

SINGULAR = 1e-8
"""An objective whose Hessian at its minimizer has a smaller ratio of eigenvalues than this has no unique minimizer."""

DOMINATED = 0.05
FOLDED = 0.02
INVALID = 0.05
"""Shares of the held-out t beyond which a flag is raised."""


@dataclass(frozen=True)
class ErrorEstimate:
    """How far a surface is from the Pareto set, measured at held-out t. Distances are in the units of x; float() gives the rms.

    Attributes:
        rms: Root mean square of the distances.
        max: The largest of them.
        bound: What the true largest distance, both ways, is expected to stay below: three times `max`.
        diameter: Of the surface; divide by it for relative errors.
        n_samples: How many held-out t there were, vertices included.
        n_invalid: At how many of them the distance could not be estimated.
        residual: The largest |ρ| = |Σ w_m ĝ_m| among them but for the vertices: scale-free, between 0 and 1.
        folded: Share of inner t where the surface runs backwards.
        gap: The largest jump between neighboring points of an edge over the median jump: how unevenly t is spread.
        dominated: Share of the sampled points that another sampled point clearly dominates.
        flags: What is wrong, if anything, with advice as their values.
        evaluations: How many points were evaluated for this estimate.
    """

    rms: float
    max: float
    bound: float
    diameter: float
    n_samples: int
    n_invalid: int
    residual: float
    folded: float
    gap: float
    dominated: float
    flags: tuple[Flag, ...]
    evaluations: int

    def __float__(self) -> float:
        return self.rms

    @property
    def relative(self) -> float:
        """The largest distance over the diameter: what `tol` is compared with."""
        return self.max / self.diameter if self.diameter > 0 else self.max


def estimate_error(
    objectives: Callable[[Array], Array],
    surface: BezierSimplex,
    seed: int = 0,
    n: int = N_SAMPLES,
    tol: float | None = None,
    evaluations: Evaluator | None = None,
) -> ErrorEstimate:
    """The error of a surface, whichever flow made it: the distance to the critical set of face J(t) at held-out t.

    Each distance is the normal displacement with support rows (see `displacement`); where it is large, the point is followed to
    the set by repeating it, and the length of the way counts. The estimate needs Hessians at about n points, or gradients at
    about 2n where a run has left Hessians nearby (see `chord`). It does not know the true set: a surface on a local Pareto set
    is told apart only where `dominated` or the curvature shows it.

    Args:
        objectives: x (L,) -> (M,), twice differentiable, in double precision.
        surface: Control points (n_controls, L).
        seed: Draws the held-out t.
        n: About how many held-out t; vertices come on top.
        tol: Relative to the diameter; a larger estimate raises the flag NOT_AT_TOLERANCE.
        evaluations: Counts (and limits) the evaluations, and may know Hessians from a run; a fresh count by default.
    """
    control_points = np.asarray(surface.control_points, dtype=float)
    n_objectives, degree = surface.n_objectives, surface.degree
    count = evaluations or Evaluator(objectives, n_objectives, control_points.shape[1])
    before = count.spent
    t = held_out_points(control_points, n_objectives, degree, n, seed)
    n_even = n_objectives + len(t)
    t = np.concatenate([np.eye(n_objectives), t, suspect_points(control_points, n_objectives, degree, n // 5, seed)])
    points = design_matrix(t, degree) @ control_points
    diameter = set_diameter(points)
    at, borrowed = _derivatives(count, points, n_objectives)
    distance, valid, minimal, lin = _distances(count, at, borrowed, t > 0, diameter)
    # A corner at a kink of its objective (a norm at its center) has no gradient: nothing to measure there, and nothing wrong.
    kink = np.zeros(len(t), dtype=bool)
    kink[:n_objectives] = _unmeasurable_corners(at, n_objectives)
    counted = ~kink
    tangents = surface_tangents(control_points, t, degree)
    inner = np.flatnonzero((t > 0).all(axis=1) & valid)
    inner = inner[inner < n_even]
    folded = fold_fraction(at.gradients[inner], tangents[inner], lin.multipliers[inner])
    dominated = dominated_fraction(at.values)
    distance = distance[counted]
    n_invalid = int(np.sum(~valid[counted]))
    largest = float(distance.max(initial=0.0))
    flags = _flags(at, n_objectives, folded, dominated, n_invalid / counted.sum(), np.mean(~minimal[counted]))
    if tol is not None and largest > tol * diameter:
        flags = (Flag.NOT_AT_TOLERANCE, *flags)
    return ErrorEstimate(
        rms=float(np.sqrt(np.mean(distance**2))),
        max=largest,
        bound=SAFETY * largest,
        diameter=diameter,
        n_samples=int(counted.sum()),
        n_invalid=n_invalid,
        residual=float(np.max(np.where(valid, lin.residual, 0.0)[n_objectives:], initial=0.0)),
        folded=folded,
        gap=largest_gap(control_points, n_objectives, degree),
        dominated=dominated,
        flags=flags,
        evaluations=count.spent - before,
    )


def set_diameter(points: np.ndarray) -> float:
    """The diameter of points, up to a factor √2 at most: the largest distance from the one farthest from their mean."""
    farthest = points[np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1))]
    return float(np.linalg.norm(points - farthest, axis=1).max())


def _derivatives(count: Evaluator, points: np.ndarray, n_corners: int) -> tuple[Derivatives, np.ndarray]:
    """Derivatives at the points, and where the Hessians are borrowed: wherever some are known, but for the corners."""
    if not count.known.can_lend(points[:n_corners]):
        return count.at(points), np.zeros(len(points), dtype=bool)
    at = count.at(points[:n_corners]).join(count.with_borrowed_hessians(points[n_corners:], points[:n_corners]))
    return at, np.arange(len(points)) >= n_corners


def _with_chords(
    count: Evaluator, at: Derivatives, lin: Linearization, faces: np.ndarray, borrowed: np.ndarray, diameter: float
) -> Linearization:
    """The linearizations with borrowed Hessians followed along their chords, where they are near the set."""
    near = np.flatnonzero(borrowed & lin.valid & (np.linalg.norm(lin.displacement, axis=1) <= FAR * diameter))
    lin = Linearization(*[np.array(part) for part in lin])
    _, settled, _ = settle_chords(count, at.take(near), lin.take(near), faces[near], diameter, support=True)
    for part, better in zip(lin, settled, strict=True):
        part[near] = better
    return lin


def _distances(count: Evaluator, at: Derivatives, borrowed: np.ndarray, faces: np.ndarray, diameter: float) -> tuple:
    """Distances, whether each is valid, whether the second-order condition holds, and the first linearization."""
    lin = count.linearize(at, faces, support=True)
    if borrowed.any():
        lin = _with_chords(count, at, lin, faces, borrowed, diameter)
    valid, minimal = np.array(lin.valid), np.array(lin.minimal)
    way = np.array(lin.displacement)
    first = np.linalg.norm(way, axis=1)
    last = first.copy()
    far = np.flatnonzero(valid & (first > FAR * diameter))
    for _ in range(CORRECTIONS):
        if len(far) == 0 or len(far) > count.left:
            break
        # A displacement longer than the set itself is no small step: shortened, or it would land anywhere.
        way[far] *= np.minimum(1, 0.5 * diameter / np.linalg.norm(way[far], axis=1))[:, None]
        following = count.linearize(count.at(at.points[far] + way[far]), faces[far], support=True)
        way[far] += following.displacement
        valid[far], minimal[far] = following.valid, following.minimal
        last[far] = np.linalg.norm(following.displacement, axis=1)
        far = far[following.valid & (last[far] > FAR * diameter)]
    # A point that does not draw nearer has no distance that could be vouched for.
    valid[far] &= last[far] < first[far] / 2
    distance = np.where(valid, np.maximum(np.linalg.norm(way, axis=1), last), diameter)
    return np.minimum(distance, diameter), valid, minimal, lin


def _unmeasurable_corners(at: Derivatives, n_objectives: int) -> np.ndarray:
    """Which corners have a value but no gradient or no Hessian, or a gradient of exactly 0, or a singular Hessian."""
    assert at.hessians is not None
    corner = np.arange(n_objectives)
    slope = np.linalg.norm(at.gradients[corner, corner], axis=1)
    smooth = np.isfinite(slope) & np.isfinite(at.hessians[corner, corner]).all(axis=(1, 2))
    bare = (~smooth | (slope == 0)) & np.isfinite(at.values[corner, corner])
    return bare | _singular_corners(at, n_objectives)


def _singular_corners(at: Derivatives, n_objectives: int) -> np.ndarray:
    """Which objectives have a Hessian at their corner that leaves the minimizer undetermined.

    The corner must be a smooth minimum for that: its gradient small beside those elsewhere (else it is a kink, like a norm's)
    and its Hessian not (else the objective is flatter than quadratic, like a high power of a norm, and nothing can be said).
    """
    assert at.hessians is not None
    corner = np.arange(n_objectives)
    own, slope = at.hessians[corner, corner], np.asarray(np.linalg.norm(at.gradients, axis=2))
    curvature = np.asarray(np.linalg.norm(at.hessians, axis=(2, 3)))
    usable = np.asarray(np.isfinite(own).all(axis=(1, 2)))
    smooth = slope[corner, corner] < 1e-3 * np.nanmedian(slope, axis=0)
    quadratic = curvature[corner, corner] > 1e-3 * np.nanmedian(curvature, axis=0)
    values = np.abs(np.linalg.eigvalsh(np.where(usable[:, None, None], own, np.eye(own.shape[-1]))))
    return usable & smooth & quadratic & (values.min(axis=1) <= SINGULAR * values.max(axis=1))


def _flags(
    at: Derivatives, n_objectives: int, folded: float, dominated: float, invalid: float, saddles: float
) -> tuple[Flag, ...]:
    found = []
    if folded > FOLDED or dominated > DOMINATED:
        found.append(Flag.NOT_SIMPLICIAL)
    if _singular_corners(at, n_objectives).any():
        found.append(Flag.MINIMIZER_NOT_UNIQUE)
    if weakly_pareto_vertices(at.values, n_objectives).any():
        found.append(Flag.WEAKLY_PARETO_VERTEX)
    if at.points.shape[1] < n_objectives - 1:
        found.append(Flag.FEW_VARIABLES)
    if saddles - invalid > INVALID:
        found.append(Flag.WRONG_BRANCH)
    if invalid > INVALID:
        found.append(Flag.ESTIMATE_INVALID)
    return tuple(found)
