"""The curvature of the objectives, as the flow asks for it: minimizing steps and displacements.

`Matrices` computes Hessians and factors them; `Products` has products of Hessians with vectors only
and solves by conjugate gradients. Stages, fits and the error estimate see one interface and do not
know which of the two is at work.

Points are short rows of float64 on the host: with matrices the variables themselves, without them
coordinates in an orthonormal basis of what was seen so far (see `span`). Lengths and angles are the
same in both.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from ..kinds import kind
from ..objectives import Derivatives, JaxEvaluator
from .conjugate import LongEvaluator
from .displacement import Column, Faces, Linearization, Values
from .schedule import USUAL, Schedule
from .span import resize

Rows = Float[np.ndarray, "_ width"]
"""Points or vectors, one per row: variables, or coordinates in a subspace."""

Frames = Float[np.ndarray, "n width n_tangents"]
"""Tangents at n points, as columns."""

Record = TypeVar("Record")
Evaluator = TypeVar("Evaluator", bound=JaxEvaluator | LongEvaluator)
Memory = TypeVar("Memory")


@kind("normal.sample/1")
class Sample(eqx.Module):
    """Weighted sums of the objectives, each at a point of its own.

    Attributes:
        x: the points.
        values: all objectives there.
        value: the weighted sums.
        slope: |g|, the lengths of their gradients.
        newton: d = H⁻¹g; not a number where there are no derivatives, as at a kink hit exactly.
        flatness: the smallest |eigenvalue| of H/|H|; not a number where it takes an effort to find
            (see `Curvature.flatness`).
        strength: |H|, likewise.
    """

    x: Rows
    values: Values
    value: Column
    slope: Column
    newton: Rows
    flatness: Column
    strength: Column


@kind("normal.descent/1")
class Descent(eqx.Module):
    """Where minimizations of weighted sums stand, one row per weight vector.

    Attributes:
        weights: of the objectives.
        best: the best point of each row so far.
        last: the last point with derivatives.
        trial: the next point to look at.
        factor: β (see `descent`).
        shrink: share of the step that the trial takes.
        restarted: whether the trial takes the full step again because β changed.
        kinks: how often a kink was hit exactly.
        scale: |x| at the start, at least 1.
        first_slope: |g| at the first point with a gradient.
        active: which rows go on.
        converged: which rows found their minimizer.
        n_trials: points looked at.
    """

    weights: Values
    best: Sample
    last: Sample
    trial: Rows
    factor: Column
    shrink: Column
    restarted: Bool[np.ndarray, " n"]
    kinks: Int[np.ndarray, " n"]
    scale: Column
    first_slope: Column
    active: Bool[np.ndarray, " n"]
    converged: Bool[np.ndarray, " n"]
    n_trials: Int[np.ndarray, " n"]

    @property
    def x(self) -> Rows:
        """The best points so far."""
        return self.best.x

    def take(self, rows: Int[np.ndarray, " n_rows"]) -> "Descent":
        """Some of the rows."""
        return jax.tree.map(lambda part: part[rows], self)


class Sight(NamedTuple):
    """Derivatives and linearizations at points, and by how much x + y may miss the set: not a
    number where that follows from the displacement as usual, None where it does everywhere."""

    derivatives: Derivatives
    linearization: Linearization
    miss: Column | None = None


@dataclass
class Curvature(abc.ABC, Generic[Evaluator, Memory]):
    """Looks at points with second derivatives. It lives for one step: its counts and its memory, a
    frozen record that opens the curvature of the next step, go into the next state.

    Attributes:
        evaluator: the objectives.
        corners: minimizers of the single objectives, once they are known.
        diameter: of the set, as far as it is known; 0 before the corners are.
        schedule: the tuned numbers.
        noise: relative error of values, where gradients are differences of them.
        error: the latest error of the surface, relative to the diameter.
        memory: what is kept for the next step.
        width: how many numbers a point takes by now.
        rounding: relative precision of points and gradients.
        product_rounding: relative precision of products with Hessians.
        precision: a minimizer is found when the Newton step is below this share of |x|.
        far: displacements in the error estimate are followed beyond this.
        borrows_tangents: whether displacements come with the tangents of the surface, which later
            surfaces then have better ones of.
    """

    borrows_tangents: ClassVar[bool] = False
    evaluator: Evaluator
    corners: Rows
    diameter: float = 0.0
    schedule: Schedule = USUAL
    noise: float = 0.0
    error: float = 1.0
    memory: Memory = field(kw_only=True)
    width: int = field(init=False)
    rounding: float = field(init=False)
    product_rounding: float = field(init=False)
    precision: float = field(init=False)
    far: float = field(init=False)

    @property
    def n_tangents(self) -> int:
        """The dimension of the set where all objectives take part."""
        return min(self.evaluator.n_objectives - 1, self.evaluator.n_variables)

    @property
    def singular(self) -> float:
        """Hessians with a smaller eigenvalue, over their norm, count as singular."""
        return max(self.schedule.singular, 8 * self.product_rounding)

    @abc.abstractmethod
    def reserve(self, n: int) -> int:
        """How many numbers a point takes while n more are looked at. Rows must be that wide
        then."""

    @abc.abstractmethod
    def values(self, points: Rows) -> Values:
        """The objectives at points."""

    @abc.abstractmethod
    def slopes(self, points: Rows) -> Values:
        """|g_m| at points."""

    @abc.abstractmethod
    def sample(self, descent: Descent) -> Sample:
        """What the trial points of minimizations show."""

    @abc.abstractmethod
    def flatness(self, sample: Sample, weights: Values) -> tuple[Column, Column]:
        """The smallest curvature of weighted sums at a sample over the largest; and the largest."""

    @abc.abstractmethod
    def look(
        self,
        points: Rows,
        faces: Faces,
        tangents: Frames,
        near: bool = False,
        support: bool = False,
        whole: bool = False,
    ) -> Sight:
        """The normal displacements at points of a surface with these tangents.

        Args:
            points: x, on the surface or on their way from there to the set.
            faces: the objectives that t asks for.
            tangents: of the surface.
            near: whether the surface is near the set, so that curvature may be borrowed.
            support: whether points past the boundary of the set see the way back to it.
            whole: whether points are on their way from a surface whose tangents are rough, so that
                displacements are not reduced by them.
        """

    @abc.abstractmethod
    def look_back(self, sight: Sight, rows: Bool[np.ndarray, " n"], faces: Faces) -> Linearization:
        """The way back to the set, with support rows, from some of the points of a sight."""

    @abc.abstractmethod
    def measure(self, points: Rows, faces: Faces, tangents: Frames) -> Sight:
        """Displacements with support rows for the error estimate, as cheaply as their lengths can
        be had."""

    @abc.abstractmethod
    def directions(self, n: int) -> Rows:
        """Unit vectors that no problem is likely to be symmetric in, nearly orthogonal."""

    @abc.abstractmethod
    def settle(self, corners: Rows, diameter: float, memory: object = None) -> None:
        """Measures everything by these corners from now on, and borrows curvature from this memory
        instead of its own, if one is given."""


def steepness(
    points: Rows, gradients: Float[np.ndarray, "n n_objectives width"], corners: Rows
) -> Values:
    """|g_m|/r_m, with r_m the distance to the minimizer of f_m: the unit that curvature is borrowed
    in; 0 at a minimizer itself."""
    away = np.linalg.norm(points[:, None] - corners[None], axis=2)
    return np.linalg.norm(gradients, axis=2) / np.where(away > 0, away, np.inf)


def uneven(n: int, width: int) -> Float[np.ndarray, "n width"]:
    """Unit vectors of cosines of uneven numbers: no problem is likely to be symmetric in them."""
    rows = np.cos(1 + np.arange(n)[:, None] + np.arange(width) ** 2)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def with_coordinates(
    record: Record,
    change: Callable[[Rows], Rows],
    change_tangents: Callable[[Rows], Rows] | None = None,
) -> Record:
    """The record with all of its `Rows` and `Frames` changed, however deep they are in it.

    This is how points survive a change of the basis that they are coordinates in.
    """
    if type(record) is tuple:
        return tuple(with_coordinates(one, change, change_tangents) for one in record)  # pyright: ignore
    if not is_dataclass(record):
        return record
    parts: dict[str, Any] = {}
    for part in fields(record):
        value = getattr(record, part.name)
        if part.type is Rows:
            parts[part.name] = change(value)
        elif part.type is Frames:
            n, width, k = value.shape
            flat = np.swapaxes(value, 1, 2).reshape(n * k, width)
            flat = (change_tangents or change)(flat)
            parts[part.name] = np.swapaxes(flat.reshape(n, k, flat.shape[1]), 1, 2)
        elif is_dataclass(value) or type(value) is tuple:
            parts[part.name] = with_coordinates(value, change, change_tangents)
    return replace(record, **parts)  # pyright: ignore


def at_width(record: Record, width: int) -> Record:
    """The record with coordinates of this width: zeros are added, or left out, at the end."""
    return with_coordinates(record, lambda rows: resize(rows, width))
