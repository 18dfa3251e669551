"""What a front offers: where something lies on it, how far each objective ranges over it, and what
one unit of an objective costs in another at a point of it."""

from dataclasses import dataclass, field
from itertools import permutations

import jax
import numpy as np
from jaxtyping import PyTree

from ..answer import Found, Solution
from ..arguments import read_doubles, shown
from ..names import Names, encode
from ..precision import double_precision
from ..quiet import quiet
from ..simplex import check_on_simplex
from .asking import Region, answer, design_at, opened, reach
from .choice import Bounds, Confidence, Numbers, numbers, objective_number


@dataclass(frozen=True)
class Location:
    """Where something lies on the surface, and how far from it.

    Attributes:
        t: the nearest point of the simplex.
        x: the design there.
        f: its objective values.
        distance: from what was given to that point; for `locate` in units of x, for `locate_front`
            in units of each range.
        confidence: how far that may be off.
    """

    t: np.ndarray
    x: PyTree
    f: np.ndarray
    distance: float
    confidence: Confidence = field(repr=False)


@quiet()
def locate(solution: Solution, x: PyTree) -> Location:
    """The nearest point of the surface to a design x: t = argmin ‖b(t) − x‖, over all leaves of x.

    A variable that the solver saw by its logarithm counts by that.
    """
    solution, _ = opened(solution)
    x = solution.unseen(x)
    x = jax.tree.map(lambda leaf: read_doubles(leaf, "x", "one design, shaped like x0"), x)
    raveling, flat = solution.raveling, np.zeros(0)
    # None is a pytree without leaves, which would ravel to a design of no variables.
    if x is not None:
        with double_precision():
            flat = encode(np.asarray(raveling.ravel(x), dtype=float), solution.names.transforms)
    if flat.shape != (raveling.n_variables,) or not np.isfinite(flat).all():
        raise ValueError(
            f"x must be one finite design of {raveling.n_variables} variables, got {shown(x)}"
        )
    return _location(solution, solution.set.nearest_design(flat, solution.error.diameter))


@quiet()
def locate_front(solution: Solution, f: Numbers) -> Location:
    """The nearest point of the front to objective values f, each measured in units of its range
    over the front."""
    solution, _ = opened(solution)
    target = solution.names.signs * numbers(solution, f, "f")
    return _location(solution, solution.set.nearest_values(target))


def _location(solution: Solution, near: Found) -> Location:
    f = solution.names.signs * solution.set.values(near.t[None])[0]
    x, confidence = design_at(solution, near.t), Confidence.of(solution, near)
    return Location(near.t, x, f, near.goal, confidence)


@dataclass(frozen=True)
class Ranges:
    """The range of each objective over the front, or over a region of it.

    Attributes:
        ideal: the best value of each objective: the smallest, or the largest where it is maximized.
        nadir: the worst.
        ideal_t: where the best values are, one row an objective.
        nadir_t: where the worst are.
        feasible: whether the region has any point at all.
        confidence: how far the figures may be off.
        names: of the objectives.
    """

    ideal: np.ndarray
    nadir: np.ndarray
    ideal_t: np.ndarray = field(repr=False)
    nadir_t: np.ndarray = field(repr=False)
    feasible: bool
    confidence: Confidence = field(repr=False)
    names: Names = field(repr=False)

    @property
    def width(self) -> np.ndarray:
        """|nadir − ideal|; 1 for an objective that is constant over the front."""
        spread = np.abs(self.nadir - self.ideal)
        return np.where(
            spread > 1e-12 * np.maximum(np.abs(self.nadir), np.abs(self.ideal)), spread, 1.0
        )

    def __str__(self) -> str:
        rows = zip(self.names.objective_labels, self.ideal, self.nadir, strict=True)
        return "\n".join(
            f"{label}: {best:.6g} (best) to {worst:.6g}" for label, best, worst in rows
        )


def ranges(solution: Solution | Region, subject_to: Bounds | None = None) -> Ranges:
    """The ideal and the nadir point of the front, or of the part of it within bounds.

    Both are found on the surface by search, so the nadir is that of the whole front and not of a
    payoff table, which is wrong for three objectives and more.
    """
    solution, bounds = opened(solution, subject_to)
    M, signs, found = len(bounds), solution.names.signs, solution.extremes
    where = np.array([one.t for one in found])
    f, feasible = solution.set.values(where), True
    # An extreme of the whole front is one of every part that it is in.
    outside = np.flatnonzero(((f < bounds[:, 0]) | (f > bounds[:, 1])).any(axis=1))
    within = reach(solution, bounds) if len(outside) else None
    # Minima first, then maxima, as in `extremes`.
    for k in outside:
        row = np.eye(M)[k % M] * (1 if k < M else -1)
        choice = answer(solution, "", row[None], np.zeros(1), bounds, within)
        where[k], f[k], feasible = choice.t, signs * choice.f, feasible and choice.feasible
    return Ranges(
        ideal=signs * np.diagonal(f[:M]),
        nadir=signs * np.diagonal(f[M:]),
        ideal_t=where[:M],
        nadir_t=where[M:],
        feasible=feasible,
        confidence=Confidence.of(solution, found[0]),
        names=solution.names,
    )


@dataclass(frozen=True)
class Rates:
    """∂f_i/∂f_j along the front at t, all other objectives held: `rates["cost", "weight"]`, or by
    numbers.

    Attributes:
        t: where.
        f: the objective values there.
        matrix: row i, column j: how much f_i changes for one unit more of f_j, in the user's units.
            On a front this is negative, more of one being less of another, unless exactly one of
            the two is maximized. Infinite where f_j cannot be had for any price.
        weights: the front's normal at t, in units of 1 over each objective, its entries summing to
            1 when each is measured in its range: the prices at which this point is the bargain, at
            least 0 for maximized objectives too.
        definite: whether the front has one normal there. If not (a crease, a corner), the rates
            hold in one direction only.
        names: of the objectives.
    """

    t: np.ndarray
    f: np.ndarray
    matrix: np.ndarray
    weights: np.ndarray
    definite: bool
    names: Names = field(repr=False)

    def __getitem__(self, pair: tuple[str | int, str | int]) -> float:
        i, j = (self.names.objectives.index(one) if isinstance(one, str) else one for one in pair)
        return float(self.matrix[i, j])

    def __str__(self) -> str:
        pairs = permutations(enumerate(self.names.objective_labels), 2)
        return "\n".join(
            f"one more of {per} changes {of} by {self.matrix[i, j]:.6g}"
            for (j, per), (i, of) in pairs
        )


def rates(solution: Solution, t: np.ndarray) -> Rates:
    """The trade-off rates at t, from the front's exact derivative.

    Moving along the front keeps w·df = 0 for its normal w. With all other objectives held this
    leaves df_i = −(w_j/w_i) df_j.
    """
    solution, _ = opened(solution)
    t = read_doubles(t, "t", "one point of the simplex")
    if t.ndim != 1:
        raise ValueError(f"t must be one point of the simplex, got shape {t.shape}")
    check_on_simplex(t, solution.n_objectives)
    weights, definite = solution.set.prices(t)
    prices = solution.names.signs * weights
    # An objective with price 0 cannot be traded: its rates are infinite, not an error.
    with np.errstate(divide="ignore", invalid="ignore"):
        matrix = -prices[None, :] / prices[:, None]
    np.fill_diagonal(matrix, 1.0)
    f = solution.names.signs * solution.set.values(t[None])[0]
    return Rates(t, f, matrix, weights, definite, solution.names)


def rate(solution: Solution, t: np.ndarray, of: str | int, per: str | int) -> float:
    """One trade-off rate: how much `of` changes for one unit more of `per`."""
    i, j = (
        objective_number(solution, of, "of"),
        objective_number(solution, per, "per"),
    )
    return rates(solution, t)[i, j]
