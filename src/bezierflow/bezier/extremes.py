"""The extreme points of a cloud: those that span the largest simplex, where the corners of a
surface through it must lie."""

import numpy as np
from jaxtyping import Float


def extreme_points(x: Float[np.ndarray, "n width"], count: int) -> Float[np.ndarray, "count width"]:
    """`count` points of the cloud that span a simplex of (locally) largest volume. Deterministic.

    Grown by the point farthest from the hull of those chosen; then each in turn is exchanged for
    the point farthest from the hull of the others, until none moves. Each exchange enlarges the
    volume, so this ends.
    """
    if count > len(x):
        raise ValueError(
            f"x must have at least {count} points to find {count} extreme ones among, got {len(x)}"
        )
    chosen = [int(np.argmax(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))]
    while len(chosen) < count:
        chosen.append(int(np.argmax(_separation(x, chosen))))
    moved = count > 1
    while moved:
        moved = False
        for place in range(count):
            others = chosen[:place] + chosen[place + 1 :]
            separation = _separation(x, others)
            if separation.max() > (1 + 1e-9) * separation[chosen[place]]:
                chosen[place], moved = int(np.argmax(separation)), True
    return x[chosen]


def _separation(x: np.ndarray, chosen: list[int]) -> np.ndarray:
    """How far each point is from the affine hull of the chosen ones; where that is everything, from
    the nearest of them."""
    origin, *others = chosen
    apart = x - x[origin]
    if others:
        directions = np.linalg.qr((x[others] - x[origin]).T)[0]
        apart = apart - (apart @ directions) @ directions.T
    distances = np.linalg.norm(apart, axis=1)
    if distances.max() > 1e-9 * np.linalg.norm(x - x[origin], axis=1).max():
        return distances
    return np.min(np.linalg.norm(x[:, None] - x[chosen], axis=2), axis=1)
