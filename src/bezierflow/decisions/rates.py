"""Trade-off rates: what one unit of an objective costs in another, at a point of the front."""

from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from ..answer import Solution
from ..arguments import read_doubles
from ..names import Names
from ..simplex import check_on_simplex, tangent_basis
from .view import AnyView, AtlasView, view_of
from .wishes import objective_number

FLAT = 1e-9
"""Where the front's derivative is smaller than this in a second direction, relative to its largest,
it has no normal."""


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
    leaves df_i = −(w_j/w_i) df_j. The normal is the left null vector of the M × (M−1) derivative
    along the simplex, in units of ranges.
    """
    view = view_of(solution)
    t = read_doubles(t, "t", "one point of the simplex")
    if t.ndim != 1:
        raise ValueError(f"t must be one point of the simplex, got shape {t.shape}")
    if isinstance(view, AtlasView):
        return _rates_on_atlas(view, t)
    check_on_simplex(t, solution.n_objectives)
    (f,), (slopes,) = view.front.slopes(t[None])
    along = (slopes.T @ tangent_basis(solution.n_objectives)) / view.scale[:, None]
    directions, sizes, _ = np.linalg.svd(along)
    normal = directions[:, -1] * np.sign(directions[:, -1].sum() or 1.0)
    # A unit vector's rounding is no price: an objective at its very minimum has none.
    normal[np.abs(normal) < 1e-12] = 0.0
    weights = normal / normal.sum() / view.scale
    return _rates(view, t, f, weights, bool(sizes[-1] > FLAT * sizes[0]))


def _rates_on_atlas(view: AtlasView, t: np.ndarray) -> Rates:
    """The multipliers of the objectives are the front's normal; it has one where all of them are
    active."""
    prices = view.atlas.weights(t)
    weights = prices / np.sum(prices * view.scale)
    definite = view.atlas.label(t).full and bool(np.all(prices * view.scale > FLAT))
    return _rates(view, t, view.point(t)[1], weights, definite)


def _rates(
    view: AnyView, t: np.ndarray, f: np.ndarray, weights: np.ndarray, definite: bool
) -> Rates:
    """The rates with the user's signs, from the minimized objectives and their prices."""
    names, prices = view.solution.names, view.solution.names.signs * weights
    with np.errstate(divide="ignore", invalid="ignore"):
        matrix = -prices[None, :] / prices[:, None]
    np.fill_diagonal(matrix, 1.0)
    return Rates(t, names.signs * f, matrix, weights, definite, names)


def rate(solution: Solution, t: np.ndarray, of: str | int, per: str | int) -> float:
    """One trade-off rate: how much `of` changes for one unit more of `per`."""
    i, j = objective_number(solution, of, "of"), objective_number(solution, per, "per")
    return rates(solution, t)[i, j]
