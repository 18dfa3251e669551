"""Nearest points: for each target the t ∈ Δ^{M−1} whose image F(t) ∈ R^L is nearest, F smooth.

A grid of the simplex is searched first, then Newton's method runs on the simplex from several of
its points. All in NumPy: nothing is compiled, and the number of searches still moving shrinks from
step to step.
"""

from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from .points import grid, largest_degree_within, neighbor_positions
from .schedule import SCHEDULE


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
    """The nearest points found, one entry per target.

    Attributes:
        t: Where on the simplex.
        distances: ‖F(t) − x‖.
        n_starts: From how many places the search started.
        n_agreed: How many of those searches ended as near as the best one.
    """

    t: Float[np.ndarray, "n n_objectives"]
    distances: Float[np.ndarray, " n"]
    n_starts: Int[np.ndarray, " n"]
    n_agreed: Int[np.ndarray, " n"]


def nearest(smooth_map: SmoothMap, x: Float[np.ndarray, "n width"], n_objectives: int) -> Nearest:
    """argmin_{t ∈ Δ^{M−1}} ‖F(t) − x‖ for each row of x.

    Each distance is that of a local minimum, to rounding. That it is the global one rests on the
    grid: for 8000 points and 400 random quadratics of condition up to 100 (M ≤ 5, L ≤ 6), ten
    random starts per point found no nearer point of the Pareto set. Folds much finer than the grid
    may hide one.
    """
    if not np.isfinite(x).all():
        raise ValueError("x must be finite to have a nearest point, got a NaN or an infinity")
    on_grid = smooth_map(search_grid(n_objectives))
    entries = len(on_grid) + SCHEDULE.most_starts * n_objectives**2 * x.shape[1]
    chunk = max(1, SCHEDULE.chunk_entries // entries)
    parts = [
        _nearest(smooth_map, x[i : i + chunk], on_grid, n_objectives)
        for i in range(0, max(len(x), 1), chunk)
    ]
    return Nearest(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _nearest(
    smooth_map: SmoothMap, x: np.ndarray, on_grid: np.ndarray, n_objectives: int
) -> Nearest:
    """As `nearest`, from local minima of the grid and from its nearest points."""
    squares = _grid_squares(x, on_grid)
    chosen = np.ones(squares.shape, dtype=bool)
    degree = largest_degree_within(n_objectives, SCHEDULE.grid_size)
    for neighbors in neighbor_positions(n_objectives, degree).T:
        chosen &= squares <= squares[neighbors]
    by_target = np.ascontiguousarray(squares.T)
    n_nearest = min(SCHEDULE.nearest_starts, len(on_grid))
    nearby = np.argpartition(by_target, n_nearest - 1, axis=1)[:, :n_nearest]
    chosen[nearby.T, np.arange(len(x))] = True
    # pairs of a target and a point of the grid, targets ascending, the nearest points first
    targets, places = np.nonzero(chosen.T)
    order = np.lexsort((by_target[targets, places], targets))
    rank = np.arange(len(order)) - np.searchsorted(targets, targets)
    kept = order[rank < SCHEDULE.most_starts]
    targets, places = targets[kept], places[kept]
    t, ends = nearest_from(smooth_map, x[targets], search_grid(n_objectives)[places])
    first = np.searchsorted(targets, np.arange(len(x)))
    distances = np.sqrt(np.minimum.reduceat(ends, first) if len(x) else ends)
    best = np.lexsort((ends, targets))[first]
    size = np.maximum(distances, np.linalg.norm(x, axis=1))
    agreed = np.sqrt(ends) <= (distances + SCHEDULE.agreement * size)[targets]
    n_starts, n_agreed = (np.bincount(of, minlength=len(x)) for of in (targets, targets[agreed]))
    return Nearest(t[best], distances, n_starts, n_agreed)


@lru_cache(maxsize=64)
def search_grid(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """Points of the simplex to search: a regular grid, squared and normalized."""
    # Points crowd towards the faces: weighted minimizers move fastest where one weight is small.
    squares = grid(n_objectives, largest_degree_within(n_objectives, SCHEDULE.grid_size)) ** 2
    return squares / squares.sum(axis=1, keepdims=True)


def _grid_squares(
    x: Float[np.ndarray, "n width"], on_grid: Float[np.ndarray, "n_grid width"]
) -> Float[np.ndarray, "n_grid n"]:
    """‖F(t) − x‖² up to a number for each x."""
    # About the grid's center: far from the origin, products would cost digits.
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
    n_steps: int = SCHEDULE.most_steps,
) -> tuple[Float[np.ndarray, "n n_objectives"], Float[np.ndarray, " n"]]:
    """Local minimizers of ‖F(t) − x‖² over the simplex and the squares, by Newton steps from t."""
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
    """A Newton step from each t with a line search, the squares there, and whether to go on."""
    point, first, second = smooth_map.derivatives(t)
    away = point - x
    squares, largest = np.sum(away**2, axis=1), np.argmax(t, axis=1)
    gradient, direction = _newton_direction(t, away, first, second, largest)
    # Differences of squares below this are rounding: away is known to the precision of x.
    noise = 4 * np.finfo(float).eps * (squares + np.sqrt(squares) * np.linalg.norm(x, axis=1))
    moved, moved_squares, goes_on = t.copy(), squares.copy(), np.zeros(len(t), dtype=bool)
    searching = np.arange(len(t))
    for length in SCHEDULE.step_lengths:
        start, before = t[searching], squares[searching]
        trial = _cut(start + length * direction[searching], largest[searching])
        after = np.sum((smooth_map(trial) - x[searching]) ** 2, axis=1)
        predicted = 2 * np.sum(gradient[searching] * (start - trial), axis=1)
        # Where the prediction is lost in rounding t is at its minimum, and the whole step mends its
        # last digits.
        settled = np.abs(predicted) <= noise[searching]
        enough = before - after > SCHEDULE.sufficient_gain * np.maximum(predicted, 0.0)
        taken = np.where(settled, after <= before + noise[searching], enough)
        rows = searching[taken]
        moved[rows], moved_squares[rows] = trial[taken], after[taken]
        goes_on[rows] = ~settled[taken]
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
    """The gradient of ½‖F(t) − x‖² with t_k = 1 − Σ others eliminated, and the direction to go.

    The coordinate k that is eliminated is the largest. Projected Newton (Bertsekas, "Projected
    Newton methods for optimization problems with simple constraints", SIAM J. Control Optim. 20,
    1982): coordinates close to 0 that want to fall are set to 0; the others take a Newton step,
    with the Hessian's eigenvalues made positive.
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
    to_zero = (t <= np.minimum(band, SCHEDULE.widest_band)) & (gradient > 0)
    free = ~to_zero
    free[rows, largest] = False
    both_free = free[:, :, None] & free[:, None, :]
    eigenvalues, vectors = np.linalg.eigh(np.where(both_free, hessian, 0.0))
    curvature = np.maximum(np.abs(eigenvalues), SCHEDULE.least_curvature * size)
    along = np.where(free, gradient, 0.0)[:, None, :] @ vectors
    newton = (vectors @ (along / curvature[:, None, :]).swapaxes(1, 2))[:, :, 0]
    return gradient, np.where(free, -newton, np.where(to_zero, -t, 0.0))


def _cut(
    t: Float[np.ndarray, "n n_objectives"], largest: Int[np.ndarray, " n"]
) -> Float[np.ndarray, "n n_objectives"]:
    """Raises coordinates to 0; the largest takes what the others leave of 1, or they share it."""
    rows = np.arange(len(t))
    t = np.maximum(t, 0.0)
    t[rows, largest] = 0.0
    t[rows, largest] = np.maximum(1.0 - t.sum(axis=1), 0.0)
    return t / t.sum(axis=1, keepdims=True)
