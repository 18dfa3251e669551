"""The problems, kind by kind: a few lines each, most of them members of small families."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import bezierflow as bf

from .case import Case, far, on_segments


def basins() -> Iterator[Case]:
    """Objectives with two or four wells of different depth."""
    for tilt in (0.05, 0.2, 0.5, -0.2, -0.5):
        yield Case(
            f"double-well tilt {tilt}",
            "basins",
            lambda x, xp, a=tilt: [
                (x[..., 0] ** 2 - 1) ** 2 + a * x[..., 0] + x[..., 1] ** 2,
                far(x, (0.5, 1.0)),
            ],
            -3,
            3,
            (0.8, 0.1),
        )
    for depth in (0.2, 0.6, 1.5):
        yield Case(
            f"four wells {depth}",
            "basins",
            lambda x, xp, d=depth: [
                ((x**2 - 1) ** 2).sum(-1) + d * x[..., 0] + 0.5 * d * x[..., 1],
                ((x**2 - 1) ** 2).sum(-1) - d * x[..., 0] + 0.3 * d * x[..., 1],
            ],
            -3,
            3,
            (0.9, 0.9),
        )
    for gap in (2.0, 4.0, 8.0):
        yield Case(
            f"twin bowls {gap}",
            "basins",
            lambda x, xp, g=gap: [
                xp.minimum(far(x, (0, 0)), far(x, (g, 0)) + 0.3),
                xp.minimum(far(x, (0, 1)) + 0.2, far(x, (g, 1))),
            ],
            -4,
            12,
            (0.2, 0.3),
        )
    yield Case(
        "six-hump camel and bowl",
        "basins",
        lambda x, xp: [
            (4 - 2.1 * x[..., 0] ** 2 + x[..., 0] ** 4 / 3) * x[..., 0] ** 2
            + x[..., 0] * x[..., 1]
            + 4 * (x[..., 1] ** 2 - 1) * x[..., 1] ** 2,
            far(x, (0.3, 0.2)),
        ],
        -2.2,
        2.2,
        (1.5, 0.5),
    )
    yield Case(
        "Himmelblau and bowl",
        "basins",
        lambda x, xp: [
            (x[..., 0] ** 2 + x[..., 1] - 11) ** 2 + (x[..., 0] + x[..., 1] ** 2 - 7) ** 2,
            far(x, (-1.0, -1.0)),
        ],
        -6,
        6,
        (1.0, 1.0),
    )


def wells() -> Iterator[Case]:
    """Two bowls, one of them with a hole off the segment between their minimizers."""
    for depth, width, where in [
        (1.0, 0.4, (0.5, 1.5)),
        (3.0, 0.4, (0.5, 1.5)),
        (3.0, 0.8, (-1.0, 2.0)),
        (6.0, 0.3, (2.0, -2.0)),
        (6.0, 0.6, (-2.5, -1.0)),
        (12.0, 0.5, (3.0, 2.0)),
        (12.0, 0.3, (-3.0, 0.0)),
        (0.4, 0.3, (0.5, 0.3)),
        (25.0, 0.5, (4.0, -3.0)),
    ]:
        yield Case(
            f"hole {depth} {width} {where}",
            "wells off the segment",
            lambda x, xp, d=depth, w=width, c=where: [
                far(x, (0, 0)) - d * xp.exp(-far(x, c) / w**2),
                far(x, (1, 0)),
            ],
            -6,
            6,
            (0.5, 0.0),
        )
    for depth in (2.0, 5.0):
        yield Case(
            f"hole in both {depth}",
            "wells off the segment",
            lambda x, xp, d=depth: [
                far(x, (0, 0)) - d * xp.exp(-4 * far(x, (0, 2))),
                far(x, (1, 0)) - d * xp.exp(-4 * far(x, (1, 2))),
            ],
            -5,
            5,
            (0.5, 0.0),
        )
    yield Case(
        "hole of three",
        "wells off the segment",
        lambda x, xp: [
            far(x, (0, 0)) - 5 * xp.exp(-4 * far(x, (-1.5, -1.5))),
            far(x, (1, 0)),
            far(x, (0, 1)),
        ],
        -4,
        4,
        (0.3, 0.3),
    )


def periodic() -> Iterator[Case]:
    """Bowls with ripples: many local minimizers, and fronts in pieces."""
    for amplitude, k in [(0.1, 2), (0.1, 6), (0.5, 2), (0.5, 4), (1.0, 3), (1.0, 8), (3.0, 5)]:
        yield Case(
            f"ripples {amplitude} {k}",
            "periodic",
            lambda x, xp, a=amplitude, k=k: [
                far(x, (0, 0)) + a * (1 - xp.cos(k * x)).sum(-1),
                far(x, (2, 1)) + a * (1 - xp.cos(k * (x - np.array([2.0, 1.0])))).sum(-1),
            ],
            -3,
            4,
            (0.7, 0.4),
        )
    for k in (2, 5, 9):
        yield Case(
            f"wave {k}",
            "periodic",
            lambda x, xp, k=k: [
                x[..., 0] ** 2 + (x[..., 1] - 0.3 * xp.sin(k * x[..., 0])) ** 2,
                (x[..., 0] - 1) ** 2 + (x[..., 1] - 0.3 * xp.sin(k * x[..., 0])) ** 2,
            ],
            -2,
            3,
            (0.5, 0.5),
            designs=lambda n, k=k: np.stack(
                [np.linspace(0, 1, n), 0.3 * np.sin(k * np.linspace(0, 1, n))], axis=1
            ),
        )
    yield Case(
        "ripples of three",
        "periodic",
        lambda x, xp: [
            far(x, c) + 0.2 * (1 - xp.cos(3 * (x - np.array(c)))).sum(-1)
            for c in ((0.0, 0.0), (2.0, 0.0), (0.0, 2.0))
        ],
        -3,
        4,
        (0.5, 0.5),
    )


def plateaus() -> Iterator[Case]:
    """Objectives that are flat on a region, or far away."""
    for radius in (0.3, 0.6):
        yield Case(
            f"flat discs {radius}",
            "plateaus",
            lambda x, xp, r=radius: [
                xp.maximum(far(x, (0, 0)) - r**2, 0.0) ** 2,
                xp.maximum(far(x, (2, 0)) - r**2, 0.0) ** 2,
            ],
            -3,
            4,
            (1.0, 0.5),
        )
    yield Case(
        "one flat disc",
        "plateaus",
        lambda x, xp: [xp.maximum(far(x, (0, 0)) - 1, 0.0), far(x, (3, 1))],
        -3,
        5,
        (2.0, 2.0),
    )
    for width in (0.3, 0.7, 2.0):
        yield Case(
            f"narrow pits {width}",
            "plateaus",
            lambda x, xp, w=width: [
                1 - xp.exp(-far(x, (0, 0)) / w),
                1 - xp.exp(-far(x, (1, 1)) / w),
            ],
            -4,
            5,
            (0.4, 0.7),
            designs=on_segments((0, 0), (1, 1)) if width >= 2 else None,
        )
    yield Case(
        "saturated bowls",
        "plateaus",
        lambda x, xp: [
            far(x, (0, 0)) / (1 + far(x, (0, 0))),
            far(x, (1, 0.5)) / (1 + far(x, (1, 0.5))),
        ],
        -4,
        5,
        (2.0, -1.0),
    )
    yield Case(
        "a variable without effect",
        "plateaus",
        lambda x, xp: [x[..., 0] ** 2 + 0 * x[..., 1], (x[..., 0] - 1) ** 2 + 0 * x[..., 1]],
        -3,
        3,
        (0.3, 0.4),
        designs=on_segments((0, 0), (1, 0)),
    )
    yield Case(
        "a variable for one",
        "plateaus",
        lambda x, xp: [
            x[..., 0] ** 2 + 0 * x[..., 1],
            (x[..., 0] - 1) ** 2 + (x[..., 1] - 0.5) ** 2,
        ],
        -3,
        3,
        (0.3, 0.4),
        designs=on_segments((0, 0.5), (1, 0.5)),
    )
    yield Case(
        "flat steps",
        "plateaus",
        lambda x, xp: [
            x[..., 0] - 0.95 * xp.sin(x[..., 0]) + x[..., 1] ** 2 + 0.02 * x[..., 0] ** 2,
            far(x, (6, 0.5)) / 10,
        ],
        -40,
        12,
        (1.0, 1.0),
    )


def valleys() -> Iterator[Case]:
    """Curved valleys with steep walls."""
    for k in (1, 10, 100, 1000, 10_000):
        yield Case(
            f"banana pair {k}",
            "valleys",
            lambda x, xp, k=k: [
                (1 - x[..., 0]) ** 2 + k * (x[..., 1] - x[..., 0] ** 2) ** 2,
                (1 + x[..., 0]) ** 2 + k * (x[..., 1] - x[..., 0] ** 2) ** 2,
            ],
            -2,
            2,
            (0.3, 1.2),
            designs=lambda n: np.stack([np.linspace(-1, 1, n), np.linspace(-1, 1, n) ** 2], axis=1),
        )
    for k in (1, 10, 100):
        yield Case(
            f"banana and bowl {k}",
            "valleys",
            lambda x, xp, k=k: [
                (1 - x[..., 0]) ** 2 + k * (x[..., 1] - x[..., 0] ** 2) ** 2,
                far(x, (-0.5, 0.5)),
            ],
            -2,
            2,
            (-1.0, 1.0),
        )
    for k in (10, 100):
        yield Case(
            f"crossing valleys {k}",
            "valleys",
            lambda x, xp, k=k: [
                x[..., 0] ** 2 + k * (x[..., 1] - 0.5) ** 2,
                k * (x[..., 0] - 1) ** 2 + x[..., 1] ** 2,
            ],
            -2,
            2,
            (0.0, 0.0),
        )
    yield Case(
        "helix",
        "valleys",
        lambda x, xp: [
            (x[..., 2] - s) ** 2
            + 30 * (x[..., 0] - xp.cos(2 * x[..., 2])) ** 2
            + 30 * (x[..., 1] - xp.sin(2 * x[..., 2])) ** 2
            for s in (-1, 1)
        ],
        -2,
        2,
        (0.5, 0.0, 0.2),
        designs=lambda n: np.stack(
            [
                np.cos(2 * np.linspace(-1, 1, n)),
                np.sin(2 * np.linspace(-1, 1, n)),
                np.linspace(-1, 1, n),
            ],
            1,
        ),
    )


def weighted_designs(matrices: np.ndarray, centers: np.ndarray) -> Any:
    """Minimizers of weighted sums of (x − c)ᵀA(x − c)/2, which are the whole set of convex
    quadratics."""

    def designs(n: int) -> np.ndarray:
        M = len(centers)
        if M == 2:  # small weights matter where conditions are bad
            small = np.concatenate([np.geomspace(1e-9, 0.5, n // 2 - 1), [0.0]])
            w = np.stack(
                [np.concatenate([small, 1 - small]), np.concatenate([1 - small, small])], axis=1
            )
        else:
            rng = np.random.default_rng(5)
            w = np.concatenate([np.eye(M), rng.dirichlet(np.full(M, 0.5), n)])
        A = np.einsum("nm,mij->nij", w, matrices)
        b = np.einsum("nm,mij,mj->ni", w, matrices, centers)
        return np.linalg.solve(A, b[..., None])[..., 0]

    return designs


def quadratics(name: str, kind: str, matrices: Any, centers: Any, x0: Any = None) -> Case:
    """Convex quadratics with their set in closed form."""
    A, c = np.asarray(matrices, float), np.asarray(centers, float)
    reach = np.abs(c).max() + 1

    def rows(x: Any, xp: Any) -> list[Any]:
        return [(((x - c[m]) @ A[m]) * (x - c[m])).sum(-1) / 2 for m in range(len(c))]

    low = np.full(c.shape[1], -reach)
    return Case(name, kind, rows, low, -low, x0, designs=weighted_designs(A, c))


def rotated(condition: float, n: int, seed: int) -> np.ndarray:
    """A matrix with eigenvalues from 1 to the condition, turned at random."""
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    return basis @ np.diag(np.geomspace(1, condition, n)) @ basis.T


def conditions() -> Iterator[Case]:
    """Quadratics of condition 1e3 to 1e6."""
    for exponent in (3, 4, 5, 6):
        k = 10.0**exponent
        same = rotated(k, 2, exponent)
        yield quadratics(
            f"same matrix 1e{exponent}", "condition", [same, same], [(1, 1), (-1, 0.5)]
        )
        yield quadratics(
            f"axes 1e{exponent}",
            "condition",
            [np.diag([1, k]), np.diag([1, k])],
            [(1, 1), (-1, 0.5)],
        )
        turned = [rotated(k, 3, 10 + exponent), rotated(k, 3, 20 + exponent)]
        yield quadratics(
            f"turned 1e{exponent}",
            "condition",
            turned,
            np.random.default_rng(exponent).normal(size=(2, 3)),
        )
    three = [rotated(1e3, 3, 31), rotated(1e3, 3, 31), rotated(1e3, 3, 31)]
    yield quadratics("three 1e3", "condition", three, [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
    yield quadratics("scales 1e6", "condition", [np.eye(2), 1e6 * np.eye(2)], [(1, 1), (-1, 0.5)])
    yield quadratics("scales 1e-9", "condition", [1e-9 * np.eye(2), np.eye(2)], [(1, 1), (-1, 0.5)])
    yield quadratics(
        "opposed 1e3", "condition", [np.diag([1, 1e3]), np.diag([1e3, 1])], [(1, 1), (-1, 0.5)]
    )
    yield quadratics(
        "ten variables 1e4", "condition", [rotated(1e4, 10, 7)] * 2, [np.ones(10), -np.ones(10)]
    )


def quartics() -> Iterator[Case]:
    """Minimizers at which the Hessian vanishes, or a part of it."""
    for power in (2, 3, 4):
        yield Case(
            f"norm to the {2 * power}",
            "quartic",
            lambda x, xp, p=power: [far(x, (0, 0)) ** p, far(x, (1, 1)) ** p],
            -2,
            3,
            (0.3, -0.2),
            designs=on_segments((0, 0), (1, 1)),
        )
    yield Case(
        "sum of fourth powers",
        "quartic",
        lambda x, xp: [((x - 1) ** 4).sum(-1), ((x + 1) ** 4).sum(-1)],
        -3,
        3,
        (0.3, -0.2),
        designs=on_segments((1, 1), (-1, -1)),
    )
    yield Case(
        "fourth power and parabola",
        "quartic",
        lambda x, xp: [far(x, (0, 0)) ** 2, far(x, (1, 1))],
        -2,
        3,
        (0.3, 0.9),
        designs=on_segments((0, 0), (1, 1)),
    )
    yield Case(
        "flat in one direction",
        "quartic",
        lambda x, xp: [
            x[..., 0] ** 4 + x[..., 1] ** 2,
            (x[..., 0] - 1) ** 2 + (x[..., 1] - 1) ** 2,
        ],
        -2,
        3,
        (0.5, 0.2),
    )
    yield Case(
        "flat in one direction, twice",
        "quartic",
        lambda x, xp: [
            x[..., 0] ** 4 + x[..., 1] ** 2,
            (x[..., 0] - 1) ** 2 + (x[..., 1] - 1) ** 4,
        ],
        -2,
        3,
        (0.5, 0.2),
    )
    yield Case(
        "three fourth powers",
        "quartic",
        lambda x, xp: [far(x, c) ** 2 for c in ((0, 0, 0), (1, 0, 0.5), (0, 1, 0))],
        -2,
        2,
        (0.5, 0.2, 0.1),
        designs=on_segments((0, 0, 0), (1, 0, 0.5), (0, 1, 0)),
    )
    yield Case(
        "Powell and bowl",
        "quartic",
        lambda x, xp: [
            (x[..., 0] + 2 * x[..., 1]) ** 2 + (x[..., 1] - x[..., 2]) ** 4 + x[..., 2] ** 2,
            far(x, (1, 1, 1)),
        ],
        -2,
        2,
        (0.5, 0.5, 0.2),
    )


def cusps() -> Iterator[Case]:
    """Norms and roots of norms: no gradient at the minimizer."""
    for power in (0.25, 0.5, 0.6, 0.75):
        yield Case(
            f"distance to the {2 * power}",
            "cusps",
            lambda x, xp, p=power: [far(x, (0, 0)) ** p, far(x, (1, 1)) ** p],
            -2,
            3,
            (0.3, -0.2),
            designs=on_segments((0, 0), (1, 1)),
        )
    for x0 in ((0.3, 0.4), (0.0, 0.0), (2.0, -1.0), (1.0, 1.0)):
        yield Case(
            f"distance and square from {x0}",
            "cusps",
            lambda x, xp: [far(x, (1, 1)) ** 0.5, far(x, (-1, -1))],
            -3,
            3,
            x0,
            designs=on_segments((1, 1), (-1, -1)),
        )
    yield Case(
        "three distances",
        "cusps",
        lambda x, xp: [far(x, c) ** 0.5 for c in ((0, 0), (1, 0), (0, 1))],
        -2,
        2,
        (0.3, 0.2),
        designs=on_segments((0, 0), (1, 0), (0, 1)),
    )
    yield Case(
        "logarithm of a square",
        "cusps",
        lambda x, xp: [xp.log(1e-6 + far(x, (0, 0))), xp.log(1e-6 + far(x, (1, 1)))],
        -2,
        3,
        (0.3, 0.2),
        designs=on_segments((0, 0), (1, 1)),
    )


def redundant() -> Iterator[Case]:
    """Objectives that agree, wholly or in part."""
    a, b, near = np.array([0.0, 0.0]), np.array([1.0, 0.5]), np.array([1.0, 0.501])
    segment, point = on_segments(a, b), lambda n: np.zeros((1, 2))
    sets = [
        ("two identical", lambda x, xp: [far(x, a), far(x, a)], point),
        ("two proportional", lambda x, xp: [far(x, a), 3 * far(x, a) + 2], point),
        ("same minimizer", lambda x, xp: [far(x, a), x[..., 0] ** 2 + 7 * x[..., 1] ** 2], point),
        (
            "same minimizer, same gradient",
            lambda x, xp: [far(x, a), far(x, a) ** 2 + far(x, a)],
            point,
        ),
        (
            "same minimizer of three",
            lambda x, xp: [far(x, a), x[..., 0] ** 2 + 7 * x[..., 1] ** 2, far(x, a) ** 2],
            point,
        ),
        ("third a copy", lambda x, xp: [far(x, a), far(x, b), far(x, b)], segment),
        ("third a sum", lambda x, xp: [far(x, a), far(x, b), far(x, a) + far(x, b)], segment),
        (
            "third on the segment",
            lambda x, xp: [far(x, a), far(x, b), far(x, (a + b) / 2)],
            segment,
        ),
        (
            "third nearly a copy",
            lambda x, xp: [far(x, a), far(x, b), far(x, near)],
            on_segments(a, b, near),
        ),
        (
            "nearly the same minimizer",
            lambda x, xp: [far(x, a), far(x, a + 1e-6)],
            on_segments(a, a + 1e-6),
        ),
        ("fourth power of the other", lambda x, xp: [far(x, a), far(x, a) ** 2], point),
    ]
    for name, f, designs in sets:
        yield Case(name, "redundant", f, -2, 3, (0.4, -0.3), designs=designs)


def many() -> Iterator[Case]:
    """More objectives than L + 1."""
    line = [0.0, 1.0, 0.3, 0.7]
    for count in (3, 4):
        yield Case(
            f"{count} points on a line",
            "M > L + 1",
            lambda x, xp, n=count: [far(x, (c,)) for c in line[:n]],
            -1,
            2,
            (0.4,),
            designs=lambda n: np.linspace(0, 1, n)[:, None],
        )
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    yield Case(
        "four corners of a square",
        "M > L + 1",
        lambda x, xp: [far(x, c) for c in square],
        -1,
        2,
        (0.4, 0.4),
        designs=on_segments(*square),
        options={"budget": 30_000},
    )
    yield Case(
        "four points, one inside",
        "M > L + 1",
        lambda x, xp: [far(x, c) for c in ((0, 0), (1, 0), (0, 1), (0.3, 0.3))],
        -1,
        2,
        (0.4, 0.4),
        designs=on_segments((0, 0), (1, 0), (0, 1)),
        options={"budget": 30_000},
    )
    yield Case(
        "three with a well in one variable",
        "M > L + 1",
        lambda x, xp: [
            (x[..., 0] ** 2 - 1) ** 2 + 0.3 * x[..., 0],
            far(x, (0.5,)),
            far(x, (-0.3,)),
        ],
        -2,
        2,
        (0.4,),
    )
    yield Case(
        "three in one variable, bounded",
        "M > L + 1",
        lambda x, xp: [far(x, (0.1,)), far(x, (2.0,)), xp.sin(6 * x[..., 0])],
        0,
        1,
        (0.4,),
        bounded=True,
    )


def one_variable() -> Iterator[Case]:
    """L = 1."""
    for name, f, box in [
        ("parabolas", lambda x, xp: [far(x, (0,)), far(x, (1,))], (-2, 3)),
        (
            "parabola and sine",
            lambda x, xp: [far(x, (0,)), xp.sin(3 * x[..., 0]) + 0.1 * x[..., 0] ** 2],
            (-6, 6),
        ),
        (
            "parabola and fast sine",
            lambda x, xp: [far(x, (0,)), xp.sin(9 * x[..., 0]) + 0.3 * far(x, (1,))],
            (-6, 6),
        ),
        (
            "double well and parabola",
            lambda x, xp: [(x[..., 0] ** 2 - 1) ** 2, far(x, (0.2,))],
            (-3, 3),
        ),
        ("quartic and parabola", lambda x, xp: [x[..., 0] ** 4, far(x, (1,))], (-3, 3)),
        (
            "exponentials",
            lambda x, xp: [xp.exp(x[..., 0]) + xp.exp(-3 * x[..., 0]), far(x, (2,))],
            (-3, 4),
        ),
        ("absolute value", lambda x, xp: [xp.abs(x[..., 0]), far(x, (1,))], (-3, 3)),
        ("two absolute values", lambda x, xp: [xp.abs(x[..., 0]), xp.abs(x[..., 0] - 1)], (-3, 3)),
        (
            "polynomials",
            lambda x, xp: [
                x[..., 0] ** 4 - 3 * x[..., 0] ** 2 + x[..., 0],
                x[..., 0] ** 2 / 2 - x[..., 0],
            ],
            (-3, 3),
        ),
    ]:
        yield Case(f"L = 1: {name}", "L = 1", f, *box, (0.6,))
    yield Case(
        "L = 1: bounded sine",
        "L = 1",
        lambda x, xp: [x[..., 0], xp.sin(10 * x[..., 0]) - 0.5 * x[..., 0]],
        0,
        1,
        (0.5,),
        bounded=True,
    )


def noisy() -> Iterator[Case]:
    """NumPy functions with relative noise."""
    curved = rotated(10, 2, 1), rotated(10, 2, 2)
    for noise in (1e-8, 1e-4):
        plain = quadratics("", "", [np.eye(2), np.eye(2)], [(1, 1), (-1, 0.5)])
        bent = quadratics("", "", curved, [(1, 1), (-1, 0.5)])
        sets = [
            ("bowls", plain.f, plain.designs, False),
            ("bent bowls", bent.f, bent.designs, False),
            (
                "offset bowls",
                lambda x, xp: [10 + far(x, (1, 1)), 10 + far(x, (-1, 0.5))],
                on_segments((1, 1), (-1, 0.5)),
                False,
            ),
            ("bounded bowls", bent.f, None, True),
            (
                "wave",
                lambda x, xp: [
                    1 + x[..., 0] ** 2 + (x[..., 1] - 0.3 * xp.sin(2 * x[..., 0])) ** 2,
                    1 + far(x, (1, 0)),
                ],
                None,
                False,
            ),
        ]
        for name, f, designs, bounded in sets:
            low, high = ((-0.5, 0.0), (0.8, 0.9)) if bounded else (-3, 3)
            yield Case(
                f"{name}, noise {noise:g}",
                "noise",
                f,
                low,
                high,
                (0.2, 0.3),
                bounded,
                noise,
                designs,
            )


def undefined() -> Iterator[Case]:
    """Objectives that are not a number somewhere."""
    yield Case(
        "logarithmic barriers",
        "NaN regions",
        lambda x, xp: [
            far(x, (0.2, 0.2)) - 0.1 * xp.log(x).sum(-1),
            far(x, (1, 2)) - 0.1 * xp.log(x).sum(-1),
        ],
        0,
        4,
        (0.5, 0.5),
    )
    yield Case(
        "minimizer at the edge of the domain",
        "NaN regions",
        lambda x, xp: [x[..., 0] * xp.log(x[..., 0]) + x[..., 1] ** 2, far(x, (1, 1))],
        (0, -1),
        3,
        (0.5, 0.5),
    )
    yield Case(
        "set cut by the domain",
        "NaN regions",
        lambda x, xp: [
            far(x, (-1, 0)) + 0 * xp.sqrt(x[..., 0]),
            far(x, (1, 1)) + 0 * xp.sqrt(x[..., 0]),
        ],
        0,
        3,
        (0.5, 0.5),
    )
    yield Case(
        "set cut by the domain, bounded",
        "NaN regions",
        lambda x, xp: [far(x, (-1, 0)) + xp.sqrt(x[..., 0]), far(x, (1, 1)) + xp.sqrt(x[..., 0])],
        (0, -3),
        3,
        (0.5, 0.5),
        bounded=True,
    )
    yield Case(
        "hole in the middle",
        "NaN regions",
        lambda x, xp: [
            far(x, (-1, 0)) + 0 * xp.sqrt(far(x, (0, 0)) - 0.09),
            far(x, (1, 0)) + 0 * xp.sqrt(far(x, (0, 0)) - 0.09),
        ],
        -3,
        3,
        (0.5, 0.5),
    )
    yield Case(
        "hole beside the set",
        "NaN regions",
        lambda x, xp: [
            far(x, (-1, 0)) + 0 * xp.sqrt(far(x, (0, 1)) - 0.49),
            far(x, (1, 0)) + 0 * xp.sqrt(far(x, (0, 1)) - 0.49),
        ],
        -3,
        3,
        (0.5, 0.0),
        designs=on_segments((-1, 0), (1, 0)),
    )
    yield Case(
        "roots",
        "NaN regions",
        lambda x, xp: [xp.sqrt(x[..., 0]) + far(x, (0.5, 0)), far(x, (1, 1)) - xp.sqrt(x[..., 1])],
        0,
        3,
        (0.5, 0.5),
    )
    yield Case(
        "reciprocals",
        "NaN regions",
        lambda x, xp: [
            1 / x[..., 0] + x[..., 0] + x[..., 1] ** 2,
            2 / x[..., 0] ** 2 + x[..., 0] ** 2 + (x[..., 1] - 1) ** 2,
        ],
        (0.01, -3),
        5,
        (0.7, 0.5),
    )
    yield Case(
        "start without a number",
        "NaN regions",
        lambda x, xp: [xp.log(x[..., 0]) ** 2 + x[..., 1] ** 2, far(x, (3, 1))],
        (0.001, -3),
        5,
        (-1.0, 0.5),
    )


def kinked() -> Iterator[Case]:
    """Absolute values and maxima."""
    sets = [
        (
            "lasso of two",
            lambda x, xp: [far(x, (1, 0.3)) + x[..., 0] * x[..., 1], xp.abs(x).sum(-1)],
            -3,
            3,
            2,
        ),
        ("lasso of three", lambda x, xp: [far(x, (1, 0.3, -0.6)), xp.abs(x).sum(-1)], -3, 3, 3),
        (
            "two sums",
            lambda x, xp: [xp.abs(x - 1).sum(-1), xp.abs(x + 1).sum(-1) + far(x, (0, 0))],
            -3,
            3,
            2,
        ),
        (
            "largest of two bowls",
            lambda x, xp: [xp.maximum(far(x, (0, 0)), far(x, (1, 0))), far(x, (0.5, 2))],
            -3,
            4,
            2,
        ),
        (
            "largest coordinate",
            lambda x, xp: [xp.max(xp.abs(x - 1), axis=-1), far(x, (-1, 0.5))],
            -3,
            3,
            2,
        ),
        (
            "largest of lines",
            lambda x, xp: [xp.maximum(x[..., 0], -2 * x[..., 0]) + x[..., 1] ** 2, far(x, (1, 1))],
            -3,
            3,
            2,
        ),
        (
            "quantile losses",
            lambda x, xp: [xp.maximum(0.9 * x, -0.1 * x).sum(-1) + far(x, 0) / 9, far(x, (1, -1))],
            -3,
            3,
            2,
        ),
        (
            "absolute value and bowl",
            lambda x, xp: [xp.abs(x[..., 0] - x[..., 1]) + far(x, (1, 1)), far(x, (-1, 0.5))],
            -3,
            3,
            2,
        ),
        (
            "hinge",
            lambda x, xp: [
                xp.maximum(1 - x[..., 0], 0.0) + xp.maximum(1 - x[..., 1], 0.0),
                far(x, (0, 0)),
            ],
            -3,
            3,
            2,
        ),
        (
            "upward kink",
            lambda x, xp: [far(x, (0, 0)) - 0.5 * xp.abs(x[..., 0] - 0.5), far(x, (1, 1))],
            -3,
            3,
            2,
        ),
        (
            "lower of two bowls",
            lambda x, xp: [xp.minimum(far(x, (0, 0)), far(x, (2, 2)) + 0.2), far(x, (1, -1))],
            -4,
            4,
            2,
        ),
        (
            "norm and bowl",
            lambda x, xp: [far(x, (0, 0)) ** 0.5 + 0.3 * xp.abs(x[..., 0]), far(x, (1, 1))],
            -3,
            3,
            2,
        ),
    ]
    for name, f, low, high, L in sets:
        yield Case(name, "kinks", f, [low] * L, high, [0.4, 0.7, 0.2][:L])


def bounded() -> Iterator[Case]:
    """Bounds that cut the set."""
    bowl = rotated(10, 2, 3), rotated(10, 2, 4)
    bent = quadratics("", "", bowl, [(1.5, 1), (-1, -0.5)])
    deep = quadratics(
        "", "", [rotated(20, 3, s) for s in (5, 6, 7)], [(1.5, 0, 0.5), (-1, 0.5, 0), (0, 1.2, -1)]
    )
    zdt1 = lambda x, xp: [
        x[..., 0],
        (1 + 9 * x[..., 1]) * (1 - xp.sqrt(x[..., 0] / (1 + 9 * x[..., 1]))),
    ]
    zdt2 = lambda x, xp: [
        x[..., 0],
        (1 + 9 * x[..., 1]) * (1 - (x[..., 0] / (1 + 9 * x[..., 1])) ** 2),
    ]
    on_axis = lambda n: np.stack([np.linspace(0, 1, n) ** 2, np.zeros(n)], axis=1)
    gaps = lambda x, xp: [
        x[..., 0],
        (1 + 9 * x[..., 1]) * (1 - xp.sqrt(x[..., 0] / (1 + 9 * x[..., 1])))
        - x[..., 0] * xp.sin(10 * np.pi * x[..., 0]),
    ]
    sets = [
        ("bowls cut", bent.f, (-0.5, -0.2), (0.7, 0.6), None),
        ("bowls cut at one side", bent.f, (-2, -2), (0.3, 2), None),
        ("bowls uncut", bent.f, (-3, -3), (3, 3), bent.designs),
        ("bowls all outside", bent.f, (2, 2), (3, 3), None),
        ("three bowls cut", deep.f, (-0.6, -0.5, -0.5), (0.8, 0.7, 0.2), None),
        ("convex front on an edge", zdt1, (0, 0), (1, 1), on_axis),
        ("concave front on an edge", zdt2, (0, 0), (1, 1), on_axis),
        ("front in pieces on an edge", gaps, (0, 0), (1, 1), None),
        (
            "ripples cut",
            lambda x, xp: [far(x, 0) + 0.5 * (1 - xp.cos(4 * x)).sum(-1), far(x, (2, 1))],
            (0.3, 0.1),
            (2.5, 0.8),
            None,
        ),
        (
            "hole in a box",
            lambda x, xp: [far(x, 0) - 4 * xp.exp(-9 * far(x, (-0.8, 0.8))), far(x, (1, 0))],
            (-1, -1),
            (1.5, 1),
            None,
        ),
        (
            "many wells in a box",
            lambda x, xp: [((x**2 - 1) ** 2).sum(-1) + 0.3 * x[..., 0], far(x, (0.2, 0.1))],
            (-1.5, -1.5),
            (1.5, 1.5),
            None,
        ),
        (
            "linear in a box",
            lambda x, xp: [x[..., 0] + 0.5 * x[..., 1], 1 - x[..., 0] + x[..., 1]],
            (0, 0),
            (1, 1),
            on_axis,
        ),
        (
            "bilinear in a box",
            lambda x, xp: [x[..., 0] * x[..., 1] + x[..., 0], (1 - x[..., 0]) * (1 + x[..., 1])],
            (0, 0),
            (1, 1),
            None,
        ),
        (
            "lasso in a box",
            lambda x, xp: [far(x, (1, 0.3)), xp.abs(x).sum(-1)],
            (-0.5, -0.5),
            (0.7, 0.2),
            None,
        ),
        (
            "far minimizers, small box",
            lambda x, xp: [far(x, (50, 3)), far(x, (-40, 60))],
            (0, 0),
            (1, 1),
            None,
        ),
        (
            "ring in a box",
            lambda x, xp: [(far(x, 0) - 1) ** 2 + 0.2 * x[..., 0], far(x, (0.5, 0.2))],
            (-1.5, -1.5),
            (1.5, 1.5),
            None,
        ),
    ]
    for name, f, low, high, designs in sets:
        yield Case(name, "bounds", f, low, high, None, True, designs=designs)


def stopped() -> Iterator[Case]:
    """Runs that end before their time: by their budget, by their callback or by their number of
    iterations."""
    bent = quadratics("", "", [rotated(10, 2, 1), rotated(10, 2, 2)], [(1, 1), (-1, 0.5)])
    for name, options in [
        ("budget 3", {"budget": 3}),
        ("budget 12", {"budget": 12}),
        ("budget 40", {"budget": 40}),
        ("callback 1", {"callback": lambda iteration: True}),
        ("callback 4", {"callback": lambda iteration: iteration.number == 4}),
        ("iterations 2", {"method": bf.NormalFlow(n_iterations=2)}),
    ]:
        yield Case(
            f"stopped by {name}",
            "stopped",
            bent.f,
            -2,
            2,
            (0.1, 0.9),
            designs=bent.designs,
            options=options,
        )
        if "method" not in options:
            yield Case(
                f"bounded, stopped by {name}",
                "stopped",
                bent.f,
                (-0.5, -0.2),
                (0.7, 0.6),
                None,
                True,
                options=options,
            )


KINDS = (
    basins,
    wells,
    periodic,
    plateaus,
    valleys,
    conditions,
    quartics,
    cusps,
    redundant,
    many,
    one_variable,
    noisy,
    undefined,
    kinked,
    bounded,
    stopped,
)


def problems() -> list[Case]:
    """All of them, one of each kind after the other, so that a part of the list has every kind."""
    lists = [list(kind()) for kind in KINDS]
    return [cases[n] for n in range(max(map(len, lists))) for cases in lists if n < len(cases)]
