"""How far each objective ranges over the front: the ideal point and the nadir point, with where
they are attained."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..answer import Solution
from ..names import Names
from .asking import answer, reach
from .choice import Certainty, Choice
from .region import Region, opened
from .view import AnyView
from .wishes import Bounds


@dataclass(frozen=True)
class Ranges:
    """The range of each objective over the front, or over a region of it.

    Attributes:
        ideal: the best value of each objective: the smallest, or the largest where it is maximized.
        nadir: the worst.
        ideal_t: where the best values are, one row an objective.
        nadir_t: where the worst are.
        feasible: whether the region has any point at all.
        certainty: how sure the figures are.
        names: of the objectives.
    """

    ideal: np.ndarray
    nadir: np.ndarray
    ideal_t: np.ndarray = field(repr=False)
    nadir_t: np.ndarray = field(repr=False)
    feasible: bool
    certainty: Certainty = field(repr=False)
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
    view, bounds = opened(solution, subject_to)
    n_objectives = len(bounds)
    if not view.extremes:
        view.extremes.extend(
            _extremes(view, range(2 * n_objectives), np.tile([-np.inf, np.inf], (n_objectives, 1)))
        )
    # an extreme of the whole front is one of every part that it is in
    choices = list(view.extremes)
    f = view.solution.names.signs * np.array([choice.f for choice in choices])
    outside = np.flatnonzero(((f < bounds[:, 0]) | (f > bounds[:, 1])).any(axis=1)).tolist()
    for k, choice in zip(outside, _extremes(view, outside, bounds), strict=True):
        choices[k] = choice
    low, high = choices[:n_objectives], choices[n_objectives:]
    return Ranges(
        ideal=np.array([choice.f[m] for m, choice in enumerate(low)]),
        nadir=np.array([choice.f[m] for m, choice in enumerate(high)]),
        ideal_t=np.array([choice.t for choice in low]),
        nadir_t=np.array([choice.t for choice in high]),
        feasible=all(choice.feasible for choice in choices),
        certainty=choices[0].certainty,
        names=view.solution.names,
    )


def _extremes(view: AnyView, numbers: Sequence[int], bounds: np.ndarray) -> list[Choice]:
    """Extremes within bounds, by number: 0 to M − 1 are the best of each objective, M to 2M − 1 the
    worst."""
    n_objectives, within = len(bounds), reach(view, bounds)
    rows = np.concatenate([np.eye(n_objectives), -np.eye(n_objectives)])
    words = ["best"] * n_objectives + ["worst"] * n_objectives
    return [answer(view, words[k], rows[k : k + 1], np.zeros(1), bounds, within) for k in numbers]
