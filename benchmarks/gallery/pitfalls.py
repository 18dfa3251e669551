"""A second hostile trial: small problems, each with a trap of its own, in families of a few
constants. Truths are closed forms, linear programs of SciPy, or dense samples."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.optimize import linprog

from .case import Case, far, on_segments
from .classes import along, arc, at, fixed

GOALS = (0.0, 0.0), (1.0, 0.5)
"""Where two bowls are least."""


def bowls(x: Any, xp: Any) -> list[Any]:
    """Squared distances to the two goals."""
    return [far(x, goal) for goal in GOALS]


def programs() -> Iterator[Case]:
    """Linear programs in three to five variables, with vertices where more constraints meet than
    variables: each row is doubled with a sum of two."""
    for n, seed in ((3, 1), (3, 2), (4, 3), (5, 4)):
        rng = np.random.default_rng(seed)
        costs, A = rng.uniform(0.2, 1, (2, n)), rng.uniform(0.1, 1, (n, n))
        A = np.concatenate([A, A + np.roll(A, 1, axis=0)])
        b = np.concatenate([np.ones(n), 2 * np.ones(n)])
        vertices: list[np.ndarray] = []
        for share in np.linspace(0, 1, 401):
            w = np.clip([share, 1 - share], 1e-7, None)
            x = linprog(w @ costs, -A, -b, bounds=[(0, 3)] * n, method="highs-ds").x
            if not vertices or np.abs(x - vertices[-1]).max() > 1e-9:
                vertices.append(x)
        yield Case(
            f"program of {n} variables, seed {seed}",
            "linear programs",
            lambda x, xp, c=costs: [(x * row).sum(-1) for row in c],
            np.zeros(n),
            3,
            bounded=True,
            designs=along(*vertices),
            g=lambda x, xp, A=A, b=b: [k - (x * row).sum(-1) for row, k in zip(A, b, strict=True)],
        )


def touching() -> Iterator[Case]:
    """Inequalities that leave one point inside the box, and small discs alone in it."""
    half = float(np.sqrt(0.5))
    yield Case(
        "disc and half plane that touch",
        "small feasible sets",
        bowls,
        [-2, -2],
        2,
        (0.5, 0.5),
        bounded=True,
        designs=fixed((half, half)),
        g=lambda x, xp: [(x**2).sum(-1) - 1, 2 * half - x.sum(-1)],
    )
    yield Case(
        "two equalities that cross once",
        "small feasible sets",
        bowls,
        [-2, -2],
        2,
        (0.5, 0.5),
        bounded=True,
        designs=fixed((0.6, 0.6**3)),
        equal=lambda x, xp: [x[..., 1] - x[..., 0] ** 3, x[..., 0] + x[..., 1] - 0.6 - 0.6**3],
    )
    for name, point, g, equal in (
        ("disc of radius 0", (0.3, 0.2), lambda x, xp: [far(x, (0.3, 0.2))], None),
        (
            "two discs that touch",
            (0.6, 0.8),
            lambda x, xp: [far(x, (0, 0)) - 1, far(x, (1.8, 2.4)) - 4],
            None,
        ),
        (
            "two circles that touch",
            (1.0, 0.0),
            None,
            lambda x, xp: [far(x, (0, 0)) - 1, far(x, (2, 0)) - 1],
        ),
    ):
        yield Case(
            name,
            "small feasible sets",
            bowls,
            [-2, -2],
            2,
            (0.8, 0.1),
            bounded=True,
            designs=fixed(point),
            g=g,
            equal=equal,
            kept=1e-12,
        )
    for radius in (0.1, 0.03):
        for n in (2, 3):
            p = np.full(n, -1.1)
            c, d = np.zeros(n), np.zeros(n)
            c[:2], d[:2] = at(0.5), at(1.4)

            def designs(k: int, p: np.ndarray = p, r: float = radius) -> np.ndarray:
                return p + arc(r, 0.5, 1.4, len(p))(k)

            yield Case(
                f"disc of {radius} alone in {n} dimensions",
                "small feasible sets",
                lambda x, xp, p=p, c=c, d=d: [far(x, p + c), far(x, p + d)],
                np.full(n, -2.0),
                2,
                bounded=True,
                designs=designs,
                g=lambda x, xp, p=p, r=radius: [far(x, p) - r**2],
                # a millionth of the disc's diameter
                kept=4e-6 * radius**2,
            )


def doubled() -> Iterator[Case]:
    """Constraints said twice, implied ones, and in awkward units."""
    for name, scale in (("twice", 1.0), ("in small units", 1e-6), ("in large units", 1e3)):
        yield Case(
            f"equality {name}",
            "constraints said twice",
            lambda x, xp: [far(x, (0, 0, 0)), far(x, (2, 1, 0))],
            -3,
            3,
            (0.5, 0.5, 0.1),
            bounded=True,
            designs=on_segments((1 / 3, 1 / 3, 1 / 3), (4 / 3, 1 / 3, -2 / 3)),
            equal=lambda x, xp, s=scale: [
                s * (x.sum(-1) - 1),
                *([2 * x.sum(-1) - 2] if s == 1 else []),
            ],
            kept=1e-9 * scale,
        )
        yield Case(
            f"half plane {name}",
            "constraints said twice",
            bowls,
            -2,
            2,
            (-0.5, 1.0),
            bounded=True,
            designs=along((0.0, 0.7), (1.0, 0.7)),
            g=lambda x, xp, s=scale: [
                s * (0.7 - x[..., 1]),
                *([1.4 - 2 * x[..., 1]] if s == 1 else []),
            ],
            kept=1e-9 * scale,
        )


def sheets() -> Iterator[Case]:
    """Equalities with several components; the start is on a wrong one."""
    yield Case(
        "three sheets",
        "sheets of equalities",
        lambda x, xp: [far(x, (0.8, 0)), far(x, (0.8, 1))],
        -2,
        2,
        (-1.0, 0.3),
        bounded=True,
        designs=along((1, 0), (1, 1)),
        equal=lambda x, xp: [x[..., 0] * (x[..., 0] ** 2 - 1)],
    )
    for k in (5, 12):
        yield Case(
            f"many sheets {k}",
            "sheets of equalities",
            lambda x, xp: [far(x, (0.05, 0, 0)), far(x, (0.05, 1, 0.5))],
            -2,
            2,
            (float(np.pi) / k, 0.3, 0.1),
            bounded=True,
            designs=on_segments((0, 0, 0), (0, 1, 0.5)),
            equal=lambda x, xp, k=k: [xp.sin(k * x[..., 0])],
        )
    for k in (4, 9):
        s = np.linspace(-2, 2, 20_001)
        yield Case(
            f"curve that waves {k}",
            "sheets of equalities",
            lambda x, xp: [far(x, (-0.9, 0)), far(x, (0.9, 0.8))],
            [-2, -2],
            2,
            (-1.8, float(np.sin(-1.8 * k))),
            bounded=True,
            designs=lambda n, k=k, s=s: np.stack([s, np.sin(k * s)], axis=1),
            equal=lambda x, xp, k=k: [x[..., 1] - xp.sin(k * x[..., 0])],
            kept=1e-6 * (1 + 2 * k),  # of the scale that `FeasibleSet.contains` has for it
        )


def stripes() -> Iterator[Case]:
    """Feasible sets in many pieces, most of which hold a piece of the front."""
    for k, level in ((6, 0.0), (10, 0.7)):
        yield Case(
            f"feasible stripes {k} {level}",
            "feasible stripes",
            bowls,
            [-1, -1],
            2,
            bounded=True,
            g=lambda x, xp, k=k, a=level: [a - xp.sin(k * (x[..., 0] + 0.3 * x[..., 1]))],
        )
    for k in (8, 16):
        angle = np.linspace(0, np.pi / 2, 100_001)
        radius = np.sqrt(1 + 0.1 * np.cos(k * angle))
        curve = np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1)
        yield Case(
            f"TNK {k}",
            "feasible stripes",
            lambda x, xp: [x[..., 0], x[..., 1]],
            [1e-6, 1e-6],
            3.2,
            bounded=True,
            designs=lambda n, curve=curve: curve,
            g=lambda x, xp, k=k: [
                1 + 0.1 * xp.cos(k * xp.arctan2(x[..., 0], x[..., 1])) - (x**2).sum(-1),
                far(x, (0.5, 0.5)) - 0.5,
            ],
        )


def vanishing() -> Iterator[Case]:
    """Gradients that vanish where the run starts."""
    for n, start, bounded in ((2, 3.0, False), (4, 2.5, False), (6, 3.5, True)):
        yield Case(
            f"Fonseca of {n} from {start}",
            "vanishing gradients",
            lambda x, xp, n=n: [
                1 - xp.exp(-far(x, np.full(n, s / np.sqrt(n)))) for s in (-1.0, 1.0)
            ],
            np.full(n, -4.0),
            4,
            tuple(np.full(n, start)),
            bounded=bounded,
            designs=on_segments(np.full(n, -1 / np.sqrt(n)), np.full(n, 1 / np.sqrt(n))),
        )
    yield Case(
        "steep walls of tanh",
        "vanishing gradients",
        lambda x, xp: [xp.tanh(6 * far(x, goal)) for goal in GOALS],
        -2,
        2,
        (-1.0, 1.5),
        designs=on_segments(*GOALS),
    )


def envelopes() -> Iterator[Case]:
    """Minima over inner decisions: lower envelopes, with kinks that point upwards."""
    for n, seed in ((2, 1), (3, 2), (1, 3)):
        rng = np.random.default_rng(seed)
        place, cost = rng.uniform(-1.5, 1.5, (2, 6, n)), rng.uniform(0, 0.6, (2, 6))
        yield Case(
            f"envelope of six bowls in {n} dimensions",
            "nested minimizers",
            lambda x, xp, p=place, c=cost: [
                xp.stack([far(x, p[m, k]) + c[m, k] for k in range(6)], axis=-1).min(-1)
                for m in range(2)
            ],
            np.full(n, -2.0),
            2,
            bounded=True,
        )
    yield Case(
        "inner minimizer by a formula",
        "nested minimizers",
        # min over y in [-1, 1] of (y − x0)² + 0.5 |y|
        lambda x, xp: [
            (lambda y: (y - x[..., 0]) ** 2 + 0.5 * xp.abs(y))(
                xp.clip(xp.sign(x[..., 0]) * xp.maximum(xp.abs(x[..., 0]) - 0.25, 0), -1, 1)
            )
            + x[..., 1] ** 2,
            far(x, (1.5, 0.5)),
        ],
        -3,
        3,
        (0.7, 0.2),
    )


def breaks() -> Iterator[Case]:
    """Jumps up and down across the set, walls, and rounding."""
    for height in (0.3, -0.1, 0.01):
        yield Case(
            f"jump by {height}",
            "jumps and walls",
            lambda x, xp, h=height: [far(x, (0, 0)) + h * (x[..., 0] > 0.41), far(x, (1, 0.5))],
            [-1, -1],
            2,
            bounded=True,
        )
    for bounded in (True, False):
        yield Case(
            f"wall of a pole{'' if bounded else ', no bounds'}",
            "jumps and walls",
            lambda x, xp: [far(x, (0, 0)) + 0.001 / (x[..., 0] - 0.5) ** 2, far(x, (1, 0.5))],
            -2,
            2,
            (0.1, 0.1),
            bounded=bounded,
        )
    yield Case(
        "values rounded to 0.01",
        "jumps and walls",
        lambda x, xp: [xp.round(100 * far(x, goal)) / 100 for goal in GOALS],
        [-1, -1],
        2,
        bounded=True,
    )


def without_values() -> Iterator[Case]:
    """Discs and strips without values, within bounds and without."""
    for name, bounded, n in (("within bounds", True, 2), ("without bounds", False, 3)):
        for width in (0.1, 0.02):
            yield Case(
                f"strip without values {width} {name}",
                "discs without values",
                lambda x, xp, w=width, n=n: [
                    far(x, np.zeros(n)) + xp.where(xp.abs(x[..., 0] - 0.45) < w / 2, xp.nan, 0.0),
                    far(x, np.eye(n)[0]),
                ],
                np.full(n, -1.0),
                2,
                tuple(np.full(n, 0.1)),
                bounded=bounded,
                designs=on_segments(np.zeros(n), np.eye(n)[0]),
            )
    yield Case(
        "goal without values",
        "discs without values",
        lambda x, xp: [
            far(x, (0, 0)),
            far(x, (1, 0.5)) + xp.where(far(x, (1, 0.5)) < 0.1, xp.nan, 0.0),
        ],
        [-1, -1],
        2,
        bounded=True,
    )


def endless() -> Iterator[Case]:
    """Objectives whose best value is attained nowhere, in other forms than exp(−x)."""
    for name, f in (
        ("exp", lambda x, xp: xp.exp(-x)),
        ("reciprocal", lambda x, xp: 1 / (1 + xp.exp(x)) ** 0.5),
        ("softplus", lambda x, xp: xp.log1p(xp.exp(-2 * x))),
    ):
        yield Case(
            f"best value at infinity: {name}",
            "best value at infinity",
            lambda x, xp, f=f: [
                f(x[..., 0], xp) + x[..., 1] ** 2,
                x[..., 0] ** 2 / (1 + x[..., 0] ** 2) + x[..., 1] ** 2,
            ],
            [-2, -1],
            [1100, 2],
            (0.5, 0.5),
            designs=lambda n: np.stack([np.sinh(np.linspace(0, 7.6, n)), np.zeros(n)], axis=1),
        )


def small_numbers() -> Iterator[Case]:
    """Offsets, units and widths that differ by many orders."""
    for n, bounded in ((1, False), (2, True)):
        goal = np.eye(n)[0]
        yield Case(
            f"offset 1e6, range 1e-6, L = {n}{', bounded' if bounded else ''}",
            "offsets",
            lambda x, xp, g=goal: [1e6 + 1e-6 * far(x, 0 * g), -1e6 + 1e-6 * far(x, g)],
            np.full(n, -2.0),
            2,
            tuple(np.full(n, 0.3)),
            bounded=bounded,
            designs=on_segments(0 * goal, goal),
        )
    yield Case(
        "offset 1e4 and a kink",
        "offsets",
        lambda x, xp: [1e4 + xp.abs(x).sum(-1), far(x, (1, 0.5)) - 1e4],
        -2,
        2,
        (0.3, 0.4),
        designs=along((0, 0), (0.5, 0), (1, 0.5)),
    )
    for wide in (1e4, 1e7):
        scale = np.array([1 / wide, wide])
        yield Case(
            f"box from {1 / wide:g} to {wide:g}",
            "offsets",
            lambda x, xp, s=scale: [far(x / s, (0.1, 0.1)), far(x / s, (0.9, 1.4))],
            [0, 0],
            scale,
            bounded=True,
            # Towards the second goal, then along the bound that cuts it off.
            designs=lambda k, s=scale: (
                s * along((0.1, 0.1), (0.1 + 0.8 * 0.9 / 1.3, 1.0), (0.9, 1.0))(k)
            ),
        )


def roughly() -> Iterator[Case]:
    """Roots of several variables, CVaR and medians in three variables and objectives."""
    for n, power, bounded in ((2, 0.5, True), (3, 0.5, False), (2, 0.3, True)):
        yield Case(
            f"sum of |x|^{power} in {n} dimensions{', bounded' if bounded else ''}",
            "roots",
            lambda x, xp, n=n, p=power: [
                (xp.abs(x - 0.2) ** p).sum(-1),
                far(x, np.linspace(1, 0.5, n)),
            ],
            np.full(n, -2.0),
            2,
            tuple(np.full(n, 0.6)),
            bounded=bounded,
        )
    yield Case(
        "|x|^0.3 and |x|^0.6 against |x|^0.35",
        "roots",
        lambda x, xp: [
            xp.abs(x[..., 0] - 0.1) ** 0.3 + 2 * xp.abs(x[..., 1] + 0.3) ** 0.6,
            xp.abs(x[..., 0] - 0.9) ** 0.35 + far(x, (0.9, 0.4)),
        ],
        [-1, -1],
        2,
        (0.6, 0.1),
        bounded=True,
    )
    for seed in (11, 12):
        A, B = np.random.default_rng(seed).normal(size=(2, 12, 3))

        def tails(x: Any, xp: Any, A: np.ndarray = A, B: np.ndarray = B) -> list[Any]:
            return [
                xp.sort(x @ C.T, axis=-1)[..., -3:].mean(-1) + 0.3 * (x**2).sum(-1) for C in (A, B)
            ]

        yield Case(f"two CVaR {seed}", "CVaR and medians", tails, [-2, -2, -2], 2, bounded=True)
    A = np.random.default_rng(13).normal(size=(2, 5, 2))
    yield Case(
        "two medians",
        "CVaR and medians",
        lambda x, xp: [xp.sort(far(x[..., None, :], C), axis=-1)[..., 2] for C in A],
        [-2, -2],
        2,
        bounded=True,
    )


def more_copies() -> Iterator[Case]:
    """Increasing functions of other objectives, with other slopes at the ends."""
    for name, copy in (
        ("log", lambda d, xp: xp.log(1e-2 + d)),
        ("saturating", lambda d, xp: d / (0.05 + d)),
        ("square", lambda d, xp: d**2),
    ):
        for bounded in (False, True):
            yield Case(
                f"monotone copy: {name}{', bounded' if bounded else ''}",
                "monotone copies",
                lambda x, xp, copy=copy: [*bowls(x, xp), copy(far(x, (0, 0)), xp)],
                -2,
                2,
                (0.3, 0.4),
                bounded=bounded,
                designs=on_segments(*GOALS),
            )
    yield Case(
        "two copies of two",
        "monotone copies",
        lambda x, xp: [f for d in bowls(x, xp) for f in (d, xp.expm1(d))],
        -2,
        2,
        (0.3, 0.4),
        designs=on_segments(*GOALS),
    )


def one_number() -> Iterator[Case]:
    """One objective with many local minimizers, in other forms and without bounds."""

    def ackley(x: Any, xp: Any) -> list[Any]:
        y = 5 * (x - 0.3)
        return [
            20
            - 20 * xp.exp(-0.2 * xp.sqrt((y**2).mean(-1) + 1e-30))
            + np.e
            - xp.exp(xp.cos(2 * np.pi * y).mean(-1))
        ]

    def levy(x: Any, xp: Any) -> list[Any]:
        w = 1 + (5 * (x - 0.3)) / 4
        middle = (w[..., :-1] - 1) ** 2 * (1 + 10 * xp.sin(np.pi * w[..., :-1] + 1) ** 2)
        last = (w[..., -1] - 1) ** 2 * (1 + xp.sin(2 * np.pi * w[..., -1]) ** 2)
        return [xp.sin(np.pi * w[..., 0]) ** 2 + middle.sum(-1) + last]

    def schwefel(x: Any, xp: Any) -> list[Any]:
        y = 250 * x
        return [-(y * xp.sin(xp.sqrt(xp.abs(y)))).sum(-1)]

    def styblinski(x: Any, xp: Any) -> list[Any]:
        return [(x**4 - 4 * x**2 + 0.3 * x).sum(-1)]

    low = float(np.real(np.roots([4, 0, -8, 0.3])).min())
    for name, rows, n, best, bounded in (
        ("Ackley", ackley, 5, 0.3, True),
        ("Ackley", ackley, 2, 0.3, False),
        ("Levy", levy, 6, 0.3, True),
        ("Schwefel", schwefel, 4, 420.968746 / 250, True),
        ("Styblinski", styblinski, 6, low, True),
        ("Styblinski", styblinski, 3, low, False),
    ):
        yield Case(
            f"{name} of {n}{'' if bounded else ', no bounds'}",
            "one objective",
            rows,
            np.full(n, -2.0),
            2,
            None if bounded else tuple(np.full(n, 1.2)),
            bounded=bounded,
            designs=fixed(np.full(n, best)),
        )


def zdt_problems() -> Iterator[Case]:
    """Of Zitzler, Deb and Thiele (2000), in fewer variables."""

    def zdt(h: Callable[..., Any], g: Callable[..., Any], f1: Callable[..., Any]) -> Any:
        def rows(x: Any, xp: Any) -> list[Any]:
            f, level = f1(x[..., 0], xp), g(x[..., 1:], xp)
            return [f, level * h(f, level, xp)]

        return rows

    def on_first(n: int) -> Callable[[int], np.ndarray]:
        return lambda k: np.eye(n)[0] * np.linspace(0, 1, k)[:, None]

    def plain(y: Any, xp: Any) -> Any:
        return 1 + 9 * y.mean(-1)

    def rastrigin(y: Any, xp: Any) -> Any:
        y = 10 * y - 5
        return 1 + (y**2 - 10 * xp.cos(4 * np.pi * y) + 10).sum(-1)

    def waves(f: Any, g: Any, xp: Any) -> Any:
        return 1 - xp.sqrt(f / g + 1e-14) - f / g * xp.sin(10 * np.pi * f)

    def straight(f: Any, g: Any, xp: Any) -> Any:
        return 1 - f / g

    def bent(f: Any, g: Any, xp: Any) -> Any:
        return 1 - (f / g) ** 2

    def same(u: Any, xp: Any) -> Any:
        return u

    def packed(u: Any, xp: Any) -> Any:
        return 1 - xp.exp(-4 * u) * xp.sin(6 * np.pi * u) ** 6

    at_half = np.array([0.0, *np.full(4, 0.5)])
    for name, n, rows, designs in (
        ("ZDT3 of 6", 6, zdt(waves, plain, same), on_first(6)),
        (
            "ZDT4 of 5, straight",
            5,
            zdt(straight, rastrigin, same),
            lambda k: at_half + on_first(5)(k),
        ),
        ("ZDT6 of 4", 4, zdt(bent, plain, packed), on_first(4)),
    ):
        yield Case(name, "textbook", rows, np.zeros(n), 1, bounded=True, designs=designs)


def textbook() -> Iterator[Case]:
    """Multimodal problems of the literature."""
    yield Case(
        "Kursawe",
        "textbook",
        lambda x, xp: [
            sum(
                -10 * xp.exp(-0.2 * xp.sqrt(x[..., i] ** 2 + x[..., i + 1] ** 2 + 1e-30))
                for i in (0, 1)
            ),
            (xp.abs(x) ** 0.8 + 5 * xp.sin(x**3)).sum(-1),
        ],
        [-5, -5, -5],
        5,
        bounded=True,
    )
    a = 0.5 * np.sin(1) - 2 * np.cos(1) + np.sin(2) - 1.5 * np.cos(2)
    b = 1.5 * np.sin(1) - np.cos(1) + 2 * np.sin(2) - 0.5 * np.cos(2)

    def poloni(x: Any, xp: Any) -> list[Any]:
        y, z = x[..., 0], x[..., 1]
        c = 0.5 * xp.sin(y) - 2 * xp.cos(y) + xp.sin(z) - 1.5 * xp.cos(z)
        d = 1.5 * xp.sin(y) - xp.cos(y) + 2 * xp.sin(z) - 0.5 * xp.cos(z)
        return [1 + (a - c) ** 2 + (b - d) ** 2, (y + 3) ** 2 + (z + 1) ** 2]

    yield Case("Poloni", "textbook", poloni, [-np.pi, -np.pi], np.pi, bounded=True)

    def sphere_of_three(x: Any, xp: Any) -> list[Any]:
        u, v, g = np.pi / 2 * x[..., 0], np.pi / 2 * x[..., 1], 1 + far(x[..., 2:], 0.5)
        return [g * xp.cos(u) * xp.cos(v), g * xp.cos(u) * xp.sin(v), g * xp.sin(u)]

    def octant(k: int) -> np.ndarray:
        x = np.full((k + 40, 5), 0.5)
        x[:, :2] = np.concatenate(
            [np.random.default_rng(5).random((k, 2)), np.eye(2)[np.arange(40) % 2]]
        )
        edge = np.arange(40)
        x[k:, :2] = np.stack([(edge % 2) * 1.0, edge / 39], axis=1)
        return x

    yield Case(
        "DTLZ2 of 5", "textbook", sphere_of_three, np.zeros(5), 1, bounded=True, designs=octant
    )


def more_islands() -> Iterator[Case]:
    """Small leads in wells that need several variables at once, and in deceptive bowls."""
    for n, bounded in ((3, False), (6, True), (10, True)):
        middle = np.full(n, 0.8)
        centers = np.full((2, n), -1.2)
        centers[1, 0] = -0.2

        def rows(
            x: Any, xp: Any, n: int = n, c: np.ndarray = centers, middle: np.ndarray = middle
        ) -> list[Any]:
            # a broad bowl that both share, and a narrow one each that is better by a fifth
            broad, width = far(x, middle) / n, 0.15
            return [xp.minimum(0.2 + 0.2 * broad, far(x, p) / (n * width)) for p in c]

        yield Case(
            f"deceptive bowls of {n}{', bounded' if bounded else ''}",
            "islands",
            rows,
            np.full(n, -2.0),
            2,
            tuple(np.full(n, 0.9)),
            bounded=bounded,
            designs=along(centers[0], middle, centers[1], centers[0]),
        )
    for lead in (0.02, 0.004):
        yield Case(
            f"pit of {lead} beside the set",
            "islands",
            lambda x, xp, a=lead: [
                far(x, (0, 0)) - (1.766 + a) * xp.exp(-far(x, (0.5, 1.25)) / 0.05**2),
                far(x, (1, 0.5)),
            ],
            [-1, -1],
            2,
            bounded=True,
        )


def simplices() -> Iterator[Case]:
    """More objectives than variables, and dents that are narrow along the set."""
    for M in (4, 5):
        angle = 2 * np.pi * np.arange(M) / M
        goals = np.stack([np.cos(angle), np.sin(angle)], axis=1)

        def designs(n: int, goals: np.ndarray = goals) -> np.ndarray:
            return np.random.default_rng(4).dirichlet(np.full(len(goals), 0.3), n) @ goals

        yield Case(
            f"{M} goals on a circle",
            "M > L + 1",
            lambda x, xp, c=goals: [far(x, goal) for goal in c],
            -2,
            2,
            (0.1, 0.2),
            designs=designs,
        )
    for width in (0.05, 0.01):
        yield Case(
            f"dent along a curve of width {width}",
            "small pieces",
            lambda x, xp, w=width: [
                x[..., 0] ** 2 + (x[..., 1] - 0.05 * xp.exp(-(((x[..., 0] - 0.37) / w) ** 2))) ** 2,
                (x[..., 0] - 1) ** 2
                + (x[..., 1] - 0.05 * xp.exp(-(((x[..., 0] - 0.37) / w) ** 2))) ** 2,
            ],
            -2,
            2,
            (0.3, 0.3),
            designs=lambda n, w=width: np.stack(
                [s := np.linspace(0, 1, n), 0.05 * np.exp(-(((s - 0.37) / w) ** 2))], axis=1
            ),
        )


def noisy() -> Iterator[Case]:
    """Noise of values that are far from 0 compared with their ranges."""
    for noise, offset, bounded in ((1e-9, 10, False), (1e-6, 0, True), (1e-5, 1, False)):
        yield Case(
            f"bowls + {offset}, noise {noise:g}{', bounded' if bounded else ''}",
            "noise",
            lambda x, xp, o=offset: [f + o for f in bowls(x, xp)],
            -2,
            2,
            (0.3, 0.4),
            bounded=bounded,
            noise=noise,
            designs=on_segments(*GOALS),
        )


def no_conflict() -> Iterator[Case]:
    """Fronts that are one point, and flat bottoms that overlap."""
    yield Case(
        "flat bottoms that overlap",
        "single points",
        lambda x, xp: [
            (xp.maximum(xp.abs(x - c) - 0.7, 0) ** 2).sum(-1) for c in (np.zeros(2), np.ones(2))
        ],
        -2,
        2,
        (1.5, -1.0),
        designs=fixed((0.5, 0.5)),
    )
    yield Case(
        "three that agree",
        "single points",
        lambda x, xp: [far(x, (0.4, 0.1)), far(x, (0.4, 0.1)) ** 2, xp.exp(far(x, (0.4, 0.1)))],
        -2,
        2,
        (1.0, 1.0),
        designs=fixed((0.4, 0.1)),
    )
    yield Case(
        "agree among many wells",
        "single points",
        lambda x, xp: [
            (d := (x - 0.4) ** 2 - 0.5 * xp.cos(4 * np.pi * (x - 0.4)) + 0.5).sum(-1),
            (d**2 + d).sum(-1),
        ],
        -2,
        2,
        (1.4, -0.6),
        bounded=True,
        designs=fixed((0.4, 0.4)),
    )


def pitfalls() -> list[Case]:
    """All of them, one of each class after the other."""
    lists = [list(one()) for one in CLASSES]
    return [cases[n] for n in range(max(map(len, lists))) for cases in lists if n < len(cases)]


CLASSES = (
    programs,
    touching,
    doubled,
    sheets,
    stripes,
    vanishing,
    envelopes,
    breaks,
    without_values,
    endless,
    small_numbers,
    roughly,
    more_copies,
    one_number,
    zdt_problems,
    textbook,
    more_islands,
    simplices,
    noisy,
    no_conflict,
)
