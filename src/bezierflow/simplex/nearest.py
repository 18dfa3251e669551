"""Nearest points: for each of many targets the t ∈ Δ^{M−1} whose image F(t) ∈ R^L is nearest, for
any smooth map F.

A grid of the simplex is searched first, then Newton's method runs on the simplex from several of
its points. All in NumPy: nothing is compiled, and the number of searches still moving shrinks from
step to step.
"""

from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from .indices import largest_degree_within, neighbor_positions
from .points import grid

GRID_SIZE = 2000
"""At most this many points of the simplex are looked at before Newton starts: an edge is cut in 61
for M = 3."""

NEAREST_STARTS = 3
MOST_STARTS = 6
"""Newton starts for a target from the 3 nearest points of the grid, and from its local minima as
far as that makes 6 in all. The first see both sides of a fold finer than the grid, the others
sheets that are far apart."""

MOST_STEPS = 200
"""Newton steps at most; 4 to 15 are usual."""

STEP_LENGTHS = (1.0, 0.3, 0.1, 1e-2, 1e-3, 1e-5)
"""Shares of a Newton step, tried in this order until one gains enough."""

SUFFICIENT_GAIN = 1e-4
"""A step is taken if it gains more than this share of what the gradient predicts."""

CHUNK_ENTRIES = 2_000_000
"""Targets are treated so many at a time that no array grows past about this many numbers."""


@runtime_checkable
class SmoothMap(Protocol):
    """A map F from the simplex into R^L with its first two derivatives, at many t at once.

    Partial derivatives belong to some extension of F to R^M; which one does not matter, as only
    differences are used.
    """

    def __call__(self, t: Float[np.ndarray, "n n_objectives"], /) -> Float[np.ndarray, "n width"]:
        """F(t)."""
        ...

    def derivatives(
        self, t: Float[np.ndarray, "n n_objectives"], /
    ) -> tuple[
        Float[np.ndarray, "n width"],
        Float[np.ndarray, "n n_objectives width"],
        Float[np.ndarray, "n n_objectives n_objectives width"],
    ]:
        """F(t), ∂_m F and ∂_m ∂_k F."""
        ...


class Nearest(NamedTuple):
    """The nearest points found, one entry a target."""

    t: Float[np.ndarray, "n n_objectives"]
    """Where on the simplex."""
    distances: Float[np.ndarray, " n"]
    """‖F(t) − x‖."""
    n_starts: Int[np.ndarray, " n"]
    """From how many places the search started."""
    n_agreed: Int[np.ndarray, " n"]
    """How many of those searches ended as near as the best, to 1e-8 of the distance or of the
    target's size."""


def nearest(smooth_map: SmoothMap, x: Float[np.ndarray, "n width"], n_objectives: int) -> Nearest:
    """argmin_{t ∈ Δ^{M−1}} ‖F(t) − x‖ for each row of x.

    Each distance is that of a local minimum, to rounding. That it is the global one rests on the
    grid: for 8000 points and 400 random quadratics of condition up to 100 (M ≤ 5, L ≤ 6), ten
    random starts a point found no nearer point of the Pareto set. Folds much finer than the grid
    may hide one.
    """
    if not np.isfinite(x).all():
        raise ValueError("x must be finite to have a nearest point, got a NaN or an infinity")
    on_grid = smooth_map(search_grid(n_objectives))
    chunk = max(1, CHUNK_ENTRIES // (len(on_grid) + MOST_STARTS * n_objectives**2 * x.shape[1]))
    parts = [
        _nearest(smooth_map, x[i : i + chunk], on_grid, n_objectives)
        for i in range(0, max(len(x), 1), chunk)
    ]
    return Nearest(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _nearest(
    smooth_map: SmoothMap, x: np.ndarray, on_grid: np.ndarray, n_objectives: int
) -> Nearest:
    targets, places = _starts(x, on_grid, n_objectives)
    t, squares = nearest_from(smooth_map, x[targets], search_grid(n_objectives)[places])
    first = np.searchsorted(targets, np.arange(len(x)))
    least = np.minimum.reduceat(squares, first) if len(x) else squares
    best = np.lexsort((squares, targets))[first]
    distances = np.sqrt(least)
    size = np.maximum(distances, np.linalg.norm(x, axis=1))
    agreed = np.sqrt(squares) <= (distances + 1e-8 * size)[targets]
    return Nearest(
        t[best],
        distances,
        np.bincount(targets, minlength=len(x)),
        np.bincount(targets[agreed], minlength=len(x)),
    )


@lru_cache(maxsize=64)
def search_grid(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """Points of the simplex to search: a regular grid, squared and normalized, so that they crowd
    towards the faces.

    Weighted minimizers move fastest where one weight is small.
    """
    squares = grid(n_objectives, largest_degree_within(n_objectives, GRID_SIZE)) ** 2
    return squares / squares.sum(axis=1, keepdims=True)


def _starts(
    x: Float[np.ndarray, "n width"], on_grid: Float[np.ndarray, "n_grid width"], n_objectives: int
) -> tuple[Int[np.ndarray, " n_starts"], Int[np.ndarray, " n_starts"]]:
    """Pairs of a target and a point of the grid to start from, targets in ascending order."""
    squares = _grid_squares(x, on_grid)
    chosen = np.ones(squares.shape, dtype=bool)
    for neighbors in neighbor_positions(
        n_objectives, largest_degree_within(n_objectives, GRID_SIZE)
    ).T:
        chosen &= squares <= squares[neighbors]
    by_target = np.ascontiguousarray(squares.T)
    n_nearest = min(NEAREST_STARTS, len(on_grid))
    nearby = np.argpartition(by_target, n_nearest - 1, axis=1)[:, :n_nearest]
    chosen[nearby.T, np.arange(len(x))] = True
    targets, places = np.nonzero(chosen.T)
    order = np.lexsort((by_target[targets, places], targets))
    rank = np.arange(len(order)) - np.searchsorted(targets, targets)
    kept = order[rank < MOST_STARTS]
    return targets[kept], places[kept]


def _grid_squares(
    x: Float[np.ndarray, "n width"], on_grid: Float[np.ndarray, "n_grid width"]
) -> Float[np.ndarray, "n_grid n"]:
    """‖F(t) − x‖² up to a number for each x, about the grid's center so that its place costs no
    digits."""
    images, points = on_grid - on_grid.mean(axis=0), x - on_grid.mean(axis=0)
    return np.sum(images**2, axis=1)[:, None] - 2 * (images @ points.T)


def nearest_of_grid(
    smooth_map: SmoothMap, x: Float[np.ndarray, "n width"], n_objectives: int
) -> Float[np.ndarray, "n n_objectives"]:
    """The t of the search grid whose image is nearest to each x."""
    t = search_grid(n_objectives)
    return t[np.argmin(_grid_squares(x, smooth_map(t)), axis=0)]


def nearest_from(
    smooth_map: SmoothMap,
    x: Float[np.ndarray, "n width"],
    t: Float[np.ndarray, "n n_objectives"],
    n_steps: int = MOST_STEPS,
) -> tuple[Float[np.ndarray, "n n_objectives"], Float[np.ndarray, " n"]]:
    """Local minimizers of ‖F(t) − x‖² over the simplex, from each t by at most `n_steps` Newton
    steps, and the squares there."""
    t, squares = t.copy(), np.zeros(len(t))
    moving = np.arange(len(t))
    for _ in range(n_steps):
        if not len(moving):
            break
        t[moving], squares[moving], goes_on = _step(smooth_map, x[moving], t[moving])
        moving = moving[goes_on]
    return t, squares


def _step(
    smooth_map: SmoothMap, x: Float[np.ndarray, "n width"], t: Float[np.ndarray, "n n_objectives"]
) -> tuple[Float[np.ndarray, "n n_objectives"], Float[np.ndarray, " n"], Bool[np.ndarray, " n"]]:
    """A Newton step from each t, shortened until it gains enough; the squares there, and whether
    another step is worth it."""
    point, first, second = smooth_map.derivatives(t)
    away = point - x
    squares, largest = np.sum(away**2, axis=1), np.argmax(t, axis=1)
    gradient, direction = _newton_direction(t, away, first, second, largest)
    # Differences of squares below this are rounding: away is known to the precision of x.
    noise = 4 * np.finfo(float).eps * (squares + np.sqrt(squares) * np.linalg.norm(x, axis=1))
    moved, moved_squares, goes_on = t.copy(), squares.copy(), np.zeros(len(t), dtype=bool)
    searching = np.arange(len(t))
    for length in STEP_LENGTHS:
        start, before = t[searching], squares[searching]
        trial = _cut(start + length * direction[searching], largest[searching])
        after = np.sum((smooth_map(trial) - x[searching]) ** 2, axis=1)
        predicted = 2 * np.sum(gradient[searching] * (start - trial), axis=1)
        # Where the prediction is lost in rounding t is at its minimum, and the whole step mends its
        # last digits.
        settled = np.abs(predicted) <= noise[searching]
        enough = before - after > SUFFICIENT_GAIN * np.maximum(predicted, 0.0)
        taken = np.where(settled, after <= before + noise[searching], enough)
        rows = searching[taken]
        moved[rows], moved_squares[rows], goes_on[rows] = (
            trial[taken],
            after[taken],
            ~settled[taken],
        )
        searching = searching[~taken & ~settled]
        if not len(searching):
            break
    return moved, moved_squares, goes_on


def _newton_direction(
    t: Float[np.ndarray, "n n_objectives"],
    away: Float[np.ndarray, "n width"],
    first: Float[np.ndarray, "n n_objectives width"],
    second: Float[np.ndarray, "n n_objectives n_objectives width"],
    largest: Int[np.ndarray, " n"],
) -> tuple[Float[np.ndarray, "n n_objectives"], Float[np.ndarray, "n n_objectives"]]:
    """The gradient of ½‖F(t) − x‖² with the largest coordinate eliminated, t_k = 1 − Σ others, and
    the direction to go.

    Projected Newton (Bertsekas, "Projected Newton methods for optimization problems with simple
    constraints", SIAM J. Control Optim. 20, 1982): coordinates close to 0 that want to fall are set
    to 0; the others take a Newton step, with the Hessian's eigenvalues made positive.
    """
    rows = np.arange(len(t))
    gradient = (first @ away[:, :, None])[:, :, 0]
    hessian = first @ first.swapaxes(1, 2) + (second @ away[:, None, :, None])[..., 0]
    gradient = gradient - gradient[rows, largest, None]
    across = hessian[rows, largest]
    hessian = hessian - across[:, None, :] - across[:, :, None] + across[rows, largest, None, None]
    size = np.sqrt(np.sum(hessian**2, axis=(1, 2)))[:, None] + np.finfo(float).tiny
    # How far a plain gradient step would go: the nearer the minimizer, the narrower the band in
    # which a coordinate counts as 0.
    band = np.abs(_cut(t - gradient / size, largest) - t).max(axis=1, keepdims=True)
    to_zero = (t <= np.minimum(band, 0.01)) & (gradient > 0)
    free = ~to_zero
    free[rows, largest] = False
    eigenvalues, vectors = np.linalg.eigh(
        np.where(free[:, :, None] & free[:, None, :], hessian, 0.0)
    )
    curvature = np.maximum(np.abs(eigenvalues), 1e-10 * size)
    along = np.where(free, gradient, 0.0)[:, None, :] @ vectors
    newton = (vectors @ (along / curvature[:, None, :]).swapaxes(1, 2))[:, :, 0]
    return gradient, np.where(free, -newton, np.where(to_zero, -t, 0.0))


def _cut(
    t: Float[np.ndarray, "n n_objectives"], largest: Int[np.ndarray, " n"]
) -> Float[np.ndarray, "n n_objectives"]:
    """Coordinates below 0 become 0, and the largest takes what the others leave of 1; if they leave
    nothing, they share it."""
    rows = np.arange(len(t))
    t = np.maximum(t, 0.0)
    t[rows, largest] = 0.0
    t[rows, largest] = np.maximum(1.0 - t.sum(axis=1), 0.0)
    return t / t.sum(axis=1, keepdims=True)
