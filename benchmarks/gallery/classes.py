"""Classes of problems that a hostile trial was made of, each a small family with constants of its
own; closed forms wherever there is one."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .case import Case, far, on_segments


def fixed(point: Any) -> Callable[[int], np.ndarray]:
    """The set that is one design."""
    return lambda n: np.tile(np.asarray(point, float), (2, 1))


def arc(radius: float, first: float, last: float, n_variables: int = 2) -> Any:
    """Designs on a circle between two angles, other variables 0."""

    def designs(n: int) -> np.ndarray:
        angle, x = np.linspace(first, last, n), np.zeros((n, n_variables))
        x[:, 0], x[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
        return x

    return designs


def at(angle: float, radius: float = 1.0) -> tuple[float, float]:
    """A point of a circle."""
    return radius * float(np.cos(angle)), radius * float(np.sin(angle))


def along(*vertices: Any) -> Callable[[int], np.ndarray]:
    """Designs on a polygonal line."""
    v = np.array(vertices, float)

    def designs(n: int) -> np.ndarray:
        s = np.linspace(0, len(v) - 1, n)
        return np.stack([np.interp(s, np.arange(len(v)), column) for column in v.T], axis=1)

    return designs


def linear_programs() -> Iterator[Case]:
    """Linear objectives on polygons: vertices, some of which more constraints meet than are
    needed."""
    for slope in (0.2, 0.5, 0.9):
        yield Case(
            f"polygon {slope}",
            "linear programs",
            lambda x, xp: [x[..., 0], x[..., 1]],
            [0, 0],
            2,
            bounded=True,
            designs=along(
                (max(1 - 2 * slope, 0), min(2, 1 / slope)),
                (1 / (1 + slope), 1 / (1 + slope)),
                (min(2, 1 / slope), max(1 - 2 * slope, 0)),
            ),
            g=lambda x, xp, a=slope: [
                1 - x[..., 0] - a * x[..., 1],
                1 - a * x[..., 0] - x[..., 1],
            ],
        )
    for more in (1, 2):
        yield Case(
            f"degenerate vertex {more}",
            "linear programs",
            lambda x, xp: [x[..., 0] + 0.1 * x[..., 1], x[..., 1]],
            [0, 0],
            2,
            bounded=True,
            designs=along((1.5, 0), (0.5, 1), (more / (4 + 2 * more), 2)),
            g=lambda x, xp, k=more: [
                1.5 - (1 + j) * x[..., 0] - x[..., 1] + 0.5 * j for j in (0.0, *range(1, k + 2))
            ],
        )


def annuli() -> Iterator[Case]:
    """Distances to two points inside the hole of a thin annulus: an arc of its inner circle."""
    for width in (0.2, 0.02, 0.002):
        for first, last in ((0.3, 1.2), (2.0, 4.0)):
            c, d = at(first, 0.4), at(last, 0.5)
            yield Case(
                f"annulus {width} from {first}",
                "thin annuli",
                lambda x, xp, c=c, d=d: [far(x, c), far(x, d)],
                -1.5,
                1.5,
                at(0.5 * (first + last) + 0.4),
                bounded=True,
                designs=arc(1.0, first, last),
                g=lambda x, xp, w=width: [
                    1 - (x**2).sum(-1),
                    (x**2).sum(-1) - (1 + w) ** 2,
                ],
            )


def redundant() -> Iterator[Case]:
    """Half planes that nearly coincide, and opposed ones that leave a line."""
    for tilt in (1e-2, 1e-4, 1e-7):
        yield Case(
            f"nearly the same half plane {tilt:g}",
            "nearly redundant constraints",
            # from the point of the half plane nearest to 0 along its edge, then into it
            lambda x, xp: [far(x, (0, 0)), far(x, (0.3, 0.9))],
            [-1, -1],
            2,
            bounded=True,
            designs=along((0.5, 0.5), (0.25, 0.75), (0.3, 0.9)),
            g=lambda x, xp, a=tilt: [
                1 - x[..., 0] - x[..., 1],
                1 - (1 + a) * x[..., 0] - x[..., 1],
            ],
        )
    for place in (0.3, -0.7):
        yield Case(
            f"opposed inequalities {place}",
            "opposed inequalities",
            lambda x, xp: [far(x, (1, 0, 0)), far(x, (0, 1, 1))],
            -2,
            2,
            (place, 0.5, 0.2),
            bounded=True,
            designs=on_segments((place, 0, 0), (place, 1, 1)),
            g=lambda x, xp, p=place: [x[..., 0] - p, p - x[..., 0]],
        )


def small_pieces() -> Iterator[Case]:
    """A pit on the way whose bottom is a piece of the front of half a percent of the range."""
    for width in (0.01, 0.003):
        for place in (0.3, 0.62):
            yield Case(
                f"piece {width} at {place}",
                "small pieces",
                lambda x, xp, w=width, p=place: [
                    x[..., 0],
                    1 - x[..., 0] + x[..., 1] ** 2 - 2 * w * xp.exp(-(((x[..., 0] - p) / w) ** 2)),
                ],
                [0, -1],
                1,
                bounded=True,
                designs=along((0, 0), (1, 0)),
            )


def islands() -> Iterator[Case]:
    """Two wells of nearly the same depth: the one that the start is not in leads by 0.4 % or 2 % of
    the ranges."""
    for lead in (0.002, 0.01):
        for n, bounded in ((2, False), (2, True), (5, True), (12, True), (22, True)):
            low = float(np.real(np.roots([4, 0, -4, lead])).min())

            def rows(x: Any, xp: Any, a: float = lead) -> list[Any]:
                well = (x[..., 0] ** 2 - 1) ** 2 + a * x[..., 0] + (x[..., 2:] ** 2).sum(-1)
                return [well + x[..., 1] ** 2, well + (x[..., 1] - 1) ** 2]

            first, last = np.zeros(n), np.zeros(n)
            first[0] = last[0] = low
            last[1] = 1
            start = np.full(n, 0.3)
            start[0] = 1
            yield Case(
                f"island {lead:g}, L = {n}{', bounded' if bounded else ''}",
                "islands",
                rows,
                np.full(n, -2.0),
                2,
                tuple(start),
                bounded=bounded,
                designs=on_segments(first, last),
            )


def copies() -> Iterator[Case]:
    """Objectives that are increasing functions of others."""
    for name, copy in (
        ("cube", lambda d, xp: d**3 + d),
        ("exp", lambda d, xp: xp.exp(0.5 * d)),
        ("root", lambda d, xp: xp.sqrt(1 + d)),
    ):
        yield Case(
            f"monotone copy: {name}",
            "monotone copies",
            lambda x, xp, copy=copy: [
                far(x, (0, 0)),
                copy(far(x, (0, 0)), xp),
                far(x, (1, 0.5)),
            ],
            -2,
            2,
            (0.3, 0.4),
            designs=on_segments((0, 0), (1, 0.5)),
        )


def offsets() -> Iterator[Case]:
    """Ranges that are small beside the values."""
    for offset, scale in ((1e3, 1e-3), (1e6, 1e-3), (1e6, 1e-6)):
        yield Case(
            f"offset {offset:g}, range {scale:g}",
            "offsets",
            lambda x, xp, o=offset, s=scale: [o + s * far(x, (0, 0)), s * far(x, (1, 0.5)) - o],
            -2,
            2,
            (0.3, 0.4),
            designs=on_segments((0, 0), (1, 0.5)),
        )


def roots() -> Iterator[Case]:
    """√|x|: slopes that are infinite where an objective is least."""
    for place in (0.0, 0.3):
        for bounded in (False, True):
            yield Case(
                f"root of a distance from {place}{', bounded' if bounded else ''}",
                "roots",
                lambda x, xp, p=place: [
                    xp.sqrt(xp.abs(x[..., 0] - p)) + x[..., 1] ** 2,
                    far(x, (1, 0.5)),
                ],
                -2,
                2,
                (0.5, 0.2),
                bounded=bounded,
            )


def statistics() -> Iterator[Case]:
    """Means of the worst scenarios by sorting, and medians, against a distance."""
    for seed in (1, 2, 3):
        A = np.random.default_rng(seed).normal(size=(9, 2))

        def tail(x: Any, xp: Any, A: np.ndarray = A) -> list[Any]:
            losses = xp.sort(x @ A.T, axis=-1)
            return [losses[..., -3:].mean(-1) + 0.5 * (x**2).sum(-1), far(x, (0.8, -0.4))]

        def middle(x: Any, xp: Any, A: np.ndarray = A) -> list[Any]:
            away = xp.abs(x[..., None, :] - A).sum(-1)
            return [xp.sort(away, axis=-1)[..., 4], far(x, (0.8, -0.4))]

        for name, rows in (("CVaR", tail), ("median", middle)):
            yield Case(f"{name} {seed}", "CVaR and medians", rows, -3, 3, (0.1, 0.1), bounded=True)


def floors() -> Iterator[Case]:
    """Steps."""
    for height in (0.25, 0.05):
        yield Case(
            f"floors {height}",
            "floors",
            lambda x, xp, h=height: [
                h * xp.floor(far(x, (0, 0)) / h),
                far(x, (1, 0.5)),
            ],
            -1,
            2,
            (0.3, 0.4),
            bounded=True,
        )


def one_objective() -> Iterator[Case]:
    """Many local minima and one objective."""
    for n, center in ((2, 0.3), (4, -0.7), (8, 0.45)):

        def rastrigin(x: Any, xp: Any, c: float = center) -> list[Any]:
            y = x - c
            return [(y**2 - 0.5 * xp.cos(4 * np.pi * y) + 0.5).sum(-1)]

        def griewank(x: Any, xp: Any, c: float = center) -> list[Any]:
            y = 20 * (x - c)
            roots = np.sqrt(1 + np.arange(y.shape[-1]))
            return [1 + (y**2).sum(-1) / 400 - xp.prod(xp.cos(y / roots), axis=-1)]

        for name, rows in (("Rastrigin", rastrigin), ("Griewank", griewank)):
            yield Case(
                f"{name} of {n}",
                "one objective",
                rows,
                np.full(n, -2.0),
                2,
                bounded=True,
                designs=fixed(np.full(n, center)),
            )


def many_variables() -> Iterator[Case]:
    """Fronts behind multimodal functions of seven and more variables."""

    def on_axis(n: int, rest: np.ndarray) -> Callable[[int], np.ndarray]:
        def designs(k: int) -> np.ndarray:
            share = np.linspace(0, 1, k)[:, None] ** 2
            return np.hstack([share, np.tile(rest, (k, 1))])

        return designs

    for n in (8, 12, 22):

        def rippled(x: Any, xp: Any) -> list[Any]:
            y = x[..., 1:] - 0.7
            g = 1 + (10 * y**2 + 2 * (1 - xp.cos(9 * np.pi * y))).sum(-1)
            return [x[..., 0], g * (1 - xp.sqrt(x[..., 0] / g + 1e-12))]

        rest = np.full(n - 1, 0.7)
        yield Case(
            f"rippled valley of {n}",
            "multimodal boxes",
            rippled,
            np.zeros(n),
            1,
            bounded=True,
            designs=on_axis(n, rest),
        )
    for n in (7, 10, 15):

        def wells(x: Any, xp: Any, n: int = n) -> list[Any]:
            z = 1 - xp.exp(-10 * (x[..., 1:] - np.arange(1, n) / n) ** 2)
            g = 1 + (1.5 + 0.1 / n * z**2 - 1.5 * xp.cos(2 * np.pi * z)).sum(-1)
            return [x[..., 0], g - 0.85 * x[..., 0]]

        yield Case(
            f"wells of MW, L = {n}",
            "multimodal boxes",
            wells,
            np.zeros(n),
            1,
            bounded=True,
            designs=on_axis(n, np.arange(1, n) / n),
        )


def holes() -> Iterator[Case]:
    """A disc without values across the set."""
    for radius in (0.2, 0.05, 0.01):
        yield Case(
            f"disc without values {radius}",
            "discs without values",
            lambda x, xp, r=radius: [
                far(x, (0, 0)) + xp.where(far(x, (0.5, 0.25)) < r**2, xp.nan, 0.0),
                far(x, (1, 0.5)),
            ],
            -1,
            2,
            (0.1, 0.0),
        )


def kinked_wells() -> Iterator[Case]:
    """Kinks, and a second well that the start is not in; no bounds."""
    for tilt, place in ((0.2, 0.2), (-0.2, -0.1), (0.1, 0.0), (0.3, 0.5)):
        yield Case(
            f"kinks and wells {tilt} {place}",
            "kinks and wells",
            lambda x, xp, a=tilt, p=place: [
                (x[..., 0] ** 2 - 1) ** 2 + a * x[..., 0] + (x[..., 1] - 0.4) ** 2,
                xp.abs(x[..., 0] - p) + xp.abs(x[..., 1]),
            ],
            -3,
            3,
            (1.0 if tilt > 0 else -1.0, 0.4),
        )


def single_points() -> Iterator[Case]:
    """Objectives that do not conflict, flat bottoms that overlap, one feasible design."""
    yield Case(
        "same minimizer, other powers",
        "single points",
        lambda x, xp: [far(x, (0.4, 0.1)), far(x, (0.4, 0.1)) ** 2 + far(x, (0.4, 0.1))],
        -2,
        2,
        (1.0, 1.0),
        designs=fixed((0.4, 0.1)),
    )
    yield Case(
        "best at a common corner",
        "single points",
        lambda x, xp: [x[..., 0] + x[..., 1], x[..., 0] + 2 * x[..., 1] ** 2 + x[..., 1]],
        [0, 0],
        1,
        bounded=True,
        designs=fixed((0, 0)),
    )
    for place in (0.3, -0.8):
        yield Case(
            f"one feasible design {place}",
            "single points",
            lambda x, xp: [far(x, (1, 1)), far(x, (-1, -1))],
            [-2, -2],
            2,
            bounded=True,
            designs=fixed((place, place)),
            equal=lambda x, xp, p=place: [x[..., 0] - p, x[..., 0] * x[..., 1] - p * p],
        )


def manifolds() -> Iterator[Case]:
    """Linear objectives on a sphere, as an equality: an arc between their best points."""
    for n in (2, 3, 6):
        for first, last in ((0.2, 1.9), (2.5, 4.4)):
            c, d = np.zeros(n), np.zeros(n)
            c[:2], d[:2] = at(first), at(last)
            start = np.zeros(n)
            start[:2] = at(first + np.pi)
            yield Case(
                f"sphere in {n} dimensions from {first}",
                "equality manifolds",
                lambda x, xp, c=c, d=d: [-(x * c).sum(-1), -(x * d).sum(-1)],
                np.full(n, -1.5),
                1.5,
                tuple(start),
                bounded=True,
                designs=arc(1.0, first, last, n),
                equal=lambda x, xp: [(x**2).sum(-1) - 1],
            )


def classes() -> list[Case]:
    """All of them, one of each class after the other."""
    lists = [list(one()) for one in CLASSES]
    return [cases[n] for n in range(max(map(len, lists))) for cases in lists if n < len(cases)]


CLASSES = (
    linear_programs,
    annuli,
    redundant,
    small_pieces,
    islands,
    copies,
    offsets,
    roots,
    statistics,
    floors,
    one_objective,
    many_variables,
    holes,
    kinked_wells,
    single_points,
    manifolds,
)
