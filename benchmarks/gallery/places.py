"""A third trial: feasible sets in several places, or with degenerate vertices, wells in three
dimensions, and sums of order statistics."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .case import Case, far, on_segments
from .classes import at


def corners() -> Iterator[Case]:
    """Each coordinate as large as possible below a hyperplane: the front is a simplex, also with
    its corners cut off, and with each row said twice and once more in a sum."""
    for M in (3, 4, 5):
        for name, most, twice in (
            ("simplex", 1.0, False),
            ("simplex without corners", 0.7, False),
            ("simplex said twice", 1.0, True),
        ):

            def designs(n: int, M: int = M, most: float = most) -> np.ndarray:
                rng, ends = np.random.default_rng(6), most * np.eye(M)
                vertices = np.eye(M)
                if most < 1:  # what is left goes to one other coordinate
                    vertices = np.array(
                        [ends[i] + (1 - most) * np.eye(M)[j] for i in range(M) for j in range(M)]
                    )
                x = np.concatenate([vertices, rng.dirichlet(np.full(M, 0.6), 3 * n)])
                return x[(x <= most + 1e-12).all(axis=1)][:n]

            def rows(x: Any, xp: Any, M: int = M, twice: bool = twice) -> list[Any]:
                over = [x.sum(-1) - 1]
                if twice:
                    over += [2 * over[0], *(over[0] - x[..., m] for m in range(M))]
                return over

            yield Case(
                f"{name} of {M}",
                "linear programs",
                lambda x, xp, M=M: [-x[..., m] for m in range(M)],
                np.zeros(M),
                most,
                bounded=True,
                designs=designs,
                g=rows,
                kept=1e-9,
            )


def on_circles(goals: Any, circles: Any, n_variables: int) -> Callable[[int], np.ndarray]:
    """Designs among which the nearest ones to two goals are, in the plane of the first two
    variables: on circles (center and radius), and on the segment."""
    first, last = np.array(goals, float)

    def designs(n: int) -> np.ndarray:
        angle, share = np.linspace(0, 2 * np.pi, n), np.linspace(0, 1, n)[:, None]
        round_ = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        parts = [np.asarray(center, float) + radius * round_ for center, radius in circles]
        x = np.zeros((n * (len(parts) + 1), n_variables))
        x[:, :2] = np.concatenate([*parts, (1 - share) * first + share * last])
        return x

    return designs


SHELLS = (0.4, 0.5), (1.0, 1.1), (1.6, 1.7)
"""Radii of three concentric shells."""


def shells() -> Iterator[Case]:
    """Three concentric shells; the start is on the outermost one."""
    for name, n, radius in (
        ("inside of three", 2, 0.2),
        ("between the first two of three", 2, 0.7),
        ("between the last two of three", 3, 1.4),
        ("outside of three", 3, 1.9),
    ):
        goals = np.zeros((2, n))
        goals[:, :2] = at(0.4, radius), at(1.3, radius)
        circles = [
            ((0.0, 0.0), r + 1e-12 * s)
            for pair in SHELLS
            for r, s in zip(pair, (1, -1), strict=True)
        ]
        start = np.zeros(n)
        start[0] = -1.65

        def outside(x: Any, xp: Any) -> list[Any]:
            r = xp.sqrt((x**2).sum(-1) + 1e-30)
            return [xp.stack([xp.abs(r - 0.5 * (a + b)) - 0.5 * (b - a) for a, b in SHELLS]).min(0)]

        yield Case(
            f"shells: {name}, L = {n}",
            "shells",
            lambda x, xp, c=goals: [far(x, c[0]), far(x, c[1])],
            np.full(n, -2.0),
            2,
            tuple(start),
            bounded=True,
            designs=on_circles(goals[:, :2], circles, n),
            g=outside,
        )


def channels() -> Iterator[Case]:
    """A channel that the start is in, and a disc beside it that is nearer to the goals."""
    for n, radius, place in (
        (2, 0.1, 0.8),
        (2, 0.03, 0.8),
        (3, 0.1, -0.9),
        (3, 0.05, 0.9),
    ):
        center, goals = np.zeros(n), np.zeros((2, n))
        center[:2] = 0.5, place
        goals[:, 0], goals[:, 1] = (0.2, 0.8), 1.5 * place

        def outside(x: Any, xp: Any, c: np.ndarray = center, r: float = radius) -> list[Any]:
            return [xp.minimum((x[..., 1:] ** 2).sum(-1) - 0.05**2, far(x, c) - r**2)]

        on_disc = on_circles(goals[:, :2], [(center[:2], radius - 1e-12)], n)

        def designs(k: int, on_disc: Any = on_disc, n: int = n, s: float = place) -> np.ndarray:
            side = np.zeros((k, n))
            side[:, 0], side[:, 1] = np.linspace(-2, 2, k), np.sign(s) * (0.05 - 1e-12)
            return np.concatenate([side, on_disc(k)])

        yield Case(
            f"channel and an island of {radius} at {place}, L = {n}",
            "channels",
            lambda x, xp, c=goals: [far(x, c[0]), far(x, c[1])],
            np.full(n, -2.0),
            2,
            tuple(np.zeros(n)),
            bounded=True,
            designs=designs,
            g=outside,
            kept=4e-6 * radius**2,
        )


def balls() -> Iterator[Case]:
    """Goals around a ball that designs must stay in: projections of their hull; and around one
    that they must stay out of."""
    for n, M in ((3, 2), (10, 2), (3, 3), (10, 3), (10, 4)):
        goals = np.random.default_rng(20 + n + M).normal(size=(M, n))
        goals *= np.linspace(1.2, 2, M)[:, None] / np.linalg.norm(goals, axis=1, keepdims=True)

        def designs(k: int, c: np.ndarray = goals) -> np.ndarray:
            x = on_segments((0,), (1,))(k)
            M = len(c)
            t = np.hstack([x, 1 - x]) if M == 2 else None
            if t is None:
                rng = np.random.default_rng(7)
                t = np.concatenate([np.eye(M), rng.dirichlet(np.full(M, 0.6), k)])
            x = t @ c
            return x / np.maximum((1 + 1e-12) * np.linalg.norm(x, axis=1, keepdims=True), 1)

        yield Case(
            f"{M} goals around a ball of {n}",
            "balls",
            lambda x, xp, c=goals: [far(x, goal) for goal in c],
            np.full(n, -2.0),
            2,
            tuple(np.full(n, 0.1)),
            bounded=True,
            designs=designs,
            g=lambda x, xp: [(x**2).sum(-1) - 1],
            kept=4e-6,
        )
    for n in (3, 10):
        goals = np.zeros((2, n))
        goals[:, 0], goals[:, 1] = (-1.5, 1.5), 0.2
        start = np.full(n, 0.3)
        start[1] = -1.2
        yield Case(
            f"way around a ball of {n}",
            "balls",
            lambda x, xp, c=goals: [far(x, c[0]), far(x, c[1])],
            np.full(n, -2.0),
            2,
            tuple(start),
            bounded=True,
            designs=on_circles(goals[:, :2], [((0.0, 0.0), 1 + 1e-12)], n),
            g=lambda x, xp: [1 - (x**2).sum(-1)],
            kept=4e-6,
        )


def wells() -> Iterator[Case]:
    """A narrow well of one objective, in three dimensions, which the start does not see."""
    for width, bounded in ((0.3, True), (0.15, True), (0.15, False), (0.1, True)):
        place = np.array([-0.9, 0.8, -0.7])
        yield Case(
            f"well of {width} in 3 dimensions{', bounded' if bounded else ''}",
            "wells off the segment",
            lambda x, xp, p=place, w=width: [
                far(x, (0, 0, 0)) - 4 * xp.exp(-far(x, p) / w**2),
                far(x, (1, 0.5, 0)),
            ],
            np.full(3, -2.0),
            2,
            (0.3, 0.3, 0.3),
            bounded=bounded,
        )


def order_statistics() -> Iterator[Case]:
    """Weighted sums of sorted distances to four places: convex where weights grow, else not."""
    for seed, weights in (
        (31, (0.0, 0.1, 0.3, 0.6)),
        (32, (0.0, 0.0, 0.5, 0.5)),
        (33, (0.0, 0.5, 0.5, 0.0)),
        (34, (0.4, 0.1, 0.2, 0.3)),
    ):
        A = np.random.default_rng(seed).uniform(-1.5, 1.5, size=(2, 4, 2))
        yield Case(
            f"sorted distances {seed}",
            "CVaR and medians",
            lambda x, xp, A=A, w=weights: [
                (xp.sort(far(x[..., None, :], C), axis=-1) * np.array(w)).sum(-1) for C in A
            ],
            [-2, -2],
            2,
            bounded=True,
        )


def small_islands() -> Iterator[Case]:
    """Small balls far from each other, all that is feasible; goals are outside of them."""
    for name, n, radius, centers in (
        ("two discs of 0.01", 2, 0.01, ((1.0, 0.5), (-1.2, 0.3))),
        ("three discs of 0.05", 2, 0.05, ((1.2, 0.5), (-1.3, 0.8), (0.1, -1.5))),
        ("two balls of 0.05", 3, 0.05, ((0.9, -0.8, 0.0), (-1.1, 0.6, 0.0))),
    ):
        goals, places = np.zeros((2, n)), np.array(centers)
        goals[:, :2] = (1.0, 0.0), (-1.0, 0.2)

        def outside(x: Any, xp: Any, c: np.ndarray = places, r: float = radius) -> list[Any]:
            return [xp.stack([far(x, center) for center in c]).min(0) - r**2]

        yield Case(
            name,
            "small feasible sets",
            lambda x, xp, c=goals: [far(x, c[0]), far(x, c[1])],
            np.full(n, -2.0),
            2,
            bounded=True,
            designs=on_circles(goals[:, :2], [(c[:2], radius - 1e-12) for c in places], n),
            g=outside,
            kept=4e-6 * radius,
        )


def places() -> list[Case]:
    """All of them, one of each class after the other."""
    lists = [list(one()) for one in CLASSES]
    return [cases[n] for n in range(max(map(len, lists))) for cases in lists if n < len(cases)]


CLASSES = corners, shells, channels, balls, wells, order_statistics, small_islands
