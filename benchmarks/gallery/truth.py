"""The truth of a problem: a dense sample of its Pareto set, refined until it is exact. NumPy and
moocore alone.

The distance of two fronts at a chart point a is a difference of levels: min_x max_m (f_m(x) − a_m).
Any f is above one chart point, a = f − mean(f), so that a few hundred levels, each found by a
random search with shrinking steps, say how far answers are off.
"""

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import moocore
import numpy as np

from .case import Case

N_SAMPLES = 150_000
"""Evenly spread designs that are looked at first."""

N_KEPT, N_COMPARED = 1000, 200
"""Nondominated designs that are refined, and points of the front that answers are compared at."""

N_CLOSED = 20_000
"""Designs of a closed form, of which those are kept that spread the front best."""

ROUNDS, CHILDREN = 45, 24
"""Of a random search: rounds, and designs in each."""

EDGE = 1e-3
"""A truth without bounds that comes this close to a side of its box, as a share of its width, is
none, if objectives are defined beyond."""

POINT = 1e-7
"""A front that varies by less than this share of what a sample of the box does is a point in that
objective."""


@dataclass(frozen=True)
class Truth:
    """A Pareto set.

    Attributes:
        x: designs, all over it.
        f: their objectives.
        ideal, span: the least objectives, and the ranges that they are measured in.
        spacing: how far neighbors are apart, in units of ranges.
    """

    x: np.ndarray
    f: np.ndarray
    ideal: np.ndarray
    span: np.ndarray
    spacing: float

    def scaled(self, f: np.ndarray) -> np.ndarray:
        """Objectives from the ideal point on, in units of ranges."""
        return (f - self.ideal) / self.span

    @property
    def compared(self) -> np.ndarray:
        """Rows of the points that answers are compared at, spread evenly."""
        return spread(self.scaled(self.f), N_COMPARED)


def truth_of(case: Case) -> Truth:
    """The truth, made once for each version of the gallery's files and kept in the folder of
    temporary files."""
    here = Path(__file__).parent
    text = b"".join(
        (here / name).read_bytes()
        for name in (
            "case.py",
            "truth.py",
            "problems.py",
            "classes.py",
            "pitfalls.py",
            "places.py",
            "families.py",
        )
    )
    folder = (
        Path(tempfile.gettempdir()) / "bezierflow-gallery" / hashlib.sha256(text).hexdigest()[:16]
    )
    path = folder / f"{case.name}.npz"
    if path.exists():
        with np.load(path) as kept:
            return Truth(kept["x"], kept["f"], kept["ideal"], kept["span"], float(kept["spacing"]))
    truth = make_truth(case)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(path, x=truth.x, f=truth.f, ideal=truth.ideal, span=truth.span, spacing=truth.spacing)
    return truth


def make_truth(case: Case) -> Truth:
    """Closed form or dense sample."""
    rng = np.random.default_rng(0)
    sample = evenly(case, N_SAMPLES if case.n_variables <= 3 else 1000)
    f = case.values(sample)
    usual = np.nanmedian(np.where(np.isfinite(f), f, np.nan), axis=0) - f.min(axis=0)
    x = (
        case.designs(N_CLOSED)
        if case.designs is not None
        else refined(case, sample[nondominated(f)], rng)
    )
    x = x[nondominated(case.values(x))]
    f = case.values(x)
    if len(x) > N_KEPT:
        keep = spread(f / np.maximum(np.ptp(f, axis=0), np.finfo(float).tiny), N_KEPT)
        x, f = x[keep], f[keep]
    span = np.ptp(f, axis=0)
    # No sample keeps constraints that leave a single point.
    usual = np.where(np.isfinite(usual), usual, np.abs(f).max(axis=0))
    span = np.where(span > POINT * usual, span, np.maximum(usual, np.finfo(float).tiny))
    low, high = case.box
    farther = np.concatenate(
        [
            np.where(x < low + EDGE * (high - low), low - 1, x),
            np.where(x > high - EDGE * (high - low), high + 1, x),
        ]
    )
    leaves = np.isfinite(case.values(farther)).all(axis=1) & (farther != np.tile(x, (2, 1))).any(
        axis=1
    )
    if not case.bounded and case.designs is None and leaves.any():
        raise ValueError(
            f"the set of {case.name} leaves the box that it is looked for in: give it a wider one"
        )
    ideal = f.min(axis=0)
    spacing = 5 / cells(f.shape[1])
    return Truth(x, f, ideal, span, spacing)


def evenly(case: Case, n: int) -> np.ndarray:
    """A grid of about n designs, moved within its cells at random, with the bounds themselves on
    it."""
    low, high = case.box
    side = max(2, round(n ** (1 / len(low))))
    axes = [np.linspace(0, 1, side)] * len(low) if len(low) <= 3 else None
    if axes is None:
        return low + (high - low) * np.random.default_rng(1).random((n, len(low)))
    unit = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))
    moved = unit + (np.random.default_rng(1).random(unit.shape) - 0.5) / side
    return low + (high - low) * np.clip(np.concatenate([unit, moved]), 0, 1)


def nondominated(f: np.ndarray) -> np.ndarray:
    """The rows that no other row dominates."""
    usable = np.flatnonzero(np.isfinite(f).all(axis=1))
    return usable[moocore.is_nondominated(f[usable], keep_weakly=False)]


def cells(n_objectives: int) -> int:
    """In how many intervals an objective's range is divided when points are thinned out."""
    return {1: 1, 2: 1000}.get(n_objectives, 40 if n_objectives == 3 else 12)


def spread(f: np.ndarray, n: int) -> np.ndarray:
    """Rows of at most n points, each the farthest from those before it; the ends of every objective
    first."""
    chosen = list(dict.fromkeys(int(row) for row in f.argmin(axis=0)))
    away = np.min([np.abs(f - f[row]).max(axis=1) for row in chosen], axis=0)
    while len(chosen) < n and away.max() > 0:
        row = int(away.argmax())
        chosen.append(row)
        away = np.minimum(away, np.abs(f - f[row]).max(axis=1))
    return np.array(chosen)


def thinned(f: np.ndarray) -> np.ndarray:
    """One row for each cell of a grid in the objectives, and the ends."""
    ideal, span = f.min(axis=0), np.maximum(np.ptp(f, axis=0), np.finfo(float).tiny)
    number = np.floor((f - ideal) / span * cells(f.shape[1])).astype(int)
    rows = np.unique(number, axis=0, return_index=True)[1]
    return np.unique(np.concatenate([rows, f.argmin(axis=0)]))


def refined(case: Case, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Nondominated designs with their neighborhoods sampled ever finer, and each objective's own
    minimizer among them."""
    low, high = case.box
    width = (high - low) / 300
    for level in range(6):
        x = np.concatenate([x, minimizers(case, x, rng)])
        x = x[nondominated(case.values(x))]
        x = x[thinned(case.values(x))]
        x = x[rng.permutation(len(x))[: 3 * N_KEPT]]
        steps = 0.5**level * width * rng.normal(size=(max(4, 30_000 // len(x)), *x.shape))
        x = np.concatenate([x, np.clip(x + steps, low, high).reshape(-1, len(low))])
        x = x[nondominated(case.values(x))]
    x = x[thinned(case.values(x))]
    f = case.values(x)
    span = np.maximum(np.ptp(f, axis=0), np.finfo(float).tiny)
    x = x[spread(f / span, N_KEPT)]
    f = case.values(x)
    found = search(case, x, lambda g: ((g - f[:, None]) / span).max(axis=-1), rng, start=1e-3)
    return np.concatenate([found, minimizers(case, found, rng)])


def minimizers(case: Case, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Of each objective, and of those the one that is best for the others, from the best design
    known."""
    f = case.values(x)
    span = np.maximum(np.ptp(f, axis=0), 1e-9 * (1 + np.abs(f).max(axis=0)))
    rows = f.argmin(axis=0)
    weights = np.where(np.eye(len(rows), dtype=bool), 1.0, 1e-7) / span
    return search(case, x[rows], lambda g: (g * weights[:, None]).sum(axis=-1), rng, start=1e-2)


def search(
    case: Case,
    x: np.ndarray,
    loss: Callable[[np.ndarray], np.ndarray],
    rng: np.random.Generator,
    start: float,
) -> np.ndarray:
    """The best design near each row, by random steps whose length shrinks where none of them
    helps."""
    low, high = case.box
    return random_search(case.values, loss, x, (low, high), start, rng)


def random_search(
    values: Callable[[np.ndarray], np.ndarray],
    loss: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    box: tuple[np.ndarray, np.ndarray],
    start: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Rows x moved to where the loss of their values, (n, k, M) -> (n, k), is least. Steps along
    the last gain among them."""
    low, high = box
    x, scale = x.copy(), np.full((len(x), 1, 1), start)
    best, last = loss(values(x)[:, None])[:, 0], np.zeros_like(x)
    for _ in range(ROUNDS):
        steps = scale * (high - low) * rng.normal(size=(len(x), CHILDREN, len(low)))
        steps *= 10.0 ** -rng.uniform(0, 2, (len(x), CHILDREN, 1))
        steps[:, 0] = last
        steps[:, 1 : CHILDREN // 2] *= rng.random((len(x), CHILDREN // 2 - 1, len(low))) < 1 / min(
            2, len(low)
        )
        trial = np.clip(x[:, None] + steps, low, high)
        found = np.nan_to_num(loss(values(trial)), nan=np.inf)
        row, column = np.arange(len(x)), found.argmin(axis=1)
        better = found[row, column] < best
        last = np.where(better[:, None], 1.5 * (trial[row, column] - x), 0.0)
        x = np.where(better[:, None], trial[row, column], x)
        best = np.where(better, found[row, column], best)
        scale = np.where(better[:, None, None], 1.2 * scale, 0.45 * scale).clip(1e-9, 0.1)
    return x
