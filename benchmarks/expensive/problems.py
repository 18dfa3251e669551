"""Problems whose evaluations are counted: formulas for NumPy and JAX alike, on boxes, all
objectives minimized.

Sources: ZDT1 (Zitzler, Deb and Thiele, 2000), DTLZ2 (Deb, Thiele, Laumanns and Zitzler, 2005),
Fonseca and Fleming (1995), Branin-Currin (Belakaria, Deshwal and Doppa, 2019), RE21, RE33, RE37
(Tanabe and Ishibuchi, 2020), vehicle safety (Liao et al., 2008, as in Tanabe and Ishibuchi). RE33
has the sum of its violations as third objective, as it is there.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .constrained import cre21, cre22, cre23, cre24, cre25, osy

FRONTS = Path(__file__).parent / "fronts"


def zdt1(x: Any, xp: Any) -> list[Any]:
    g = 1 + 9 * sum(x[1:]) / (len(x) - 1)
    return [x[0], g - xp.sqrt(xp.maximum(x[0], 1e-300) * g)]


def dtlz2(x: Any, xp: Any) -> list[Any]:
    g = 1 + sum((one - 0.5) ** 2 for one in x[2:])
    a, b = x[0] * np.pi / 2, x[1] * np.pi / 2
    return [g * xp.cos(a) * xp.cos(b), g * xp.cos(a) * xp.sin(b), g * xp.sin(a)]


def fonseca(x: Any, xp: Any) -> list[Any]:
    c = len(x) ** -0.5
    return [
        1 - xp.exp(-sum((one - c) ** 2 for one in x)),
        1 - xp.exp(-sum((one + c) ** 2 for one in x)),
    ]


def branin_currin(x: Any, xp: Any) -> list[Any]:
    a, b = 15 * x[0] - 5, 15 * x[1]
    branin = (
        (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2
        + 10 * (1 - 1 / (8 * np.pi)) * xp.cos(a)
        + 10
    )
    u = x[0]
    top, bottom = 2300 * u**3 + 1900 * u**2 + 2092 * u + 60, 100 * u**3 + 500 * u**2 + 4 * u + 20
    return [branin, (1 - xp.exp(-0.5 / xp.maximum(x[1], 1e-9))) * top / bottom]


def re21(x: Any, xp: Any) -> list[Any]:
    a, b, c, d = x
    r = np.sqrt(2)
    return [200 * (2 * a + r * b + xp.sqrt(c) + d), 0.01 * (2 / a + 2 * r / b - 2 * r / c + 2 / d)]


def re33(x: Any, xp: Any) -> list[Any]:
    a, b, p, n = x
    d, c = b**2 - a**2, b**3 - a**3
    room = (
        b - a - 20,
        0.4 - p / (3.14 * d),
        1 - 2.22e-3 * p * c / d**2,
        2.66e-2 * p * n * c / d - 900,
    )
    return [
        4.9e-5 * d * (n - 1),
        9.82e6 * d / (p * n * c),
        sum(xp.maximum(-one, 0.0) for one in room),
    ]


def re37(x: Any, xp: Any) -> list[Any]:
    a, h, o, p = x
    first = (
        0.692 + 0.477 * a - 0.687 * h - 0.080 * o - 0.0650 * p - 0.167 * a * a - 0.0129 * h * a + 0.0796 * h * h
        - 0.0634 * o * a - 0.0257 * o * h + 0.0877 * o * o - 0.0521 * p * a + 0.00156 * p * h + 0.00198 * p * o + 0.0184 * p * p
    )  # fmt: skip
    second = (
        0.153 - 0.322 * a + 0.396 * h + 0.424 * o + 0.0226 * p + 0.175 * a * a + 0.0185 * h * a - 0.0701 * h * h
        - 0.251 * o * a + 0.179 * o * h + 0.0150 * o * o + 0.0134 * p * a + 0.0296 * p * h + 0.0752 * p * o + 0.0192 * p * p
    )  # fmt: skip
    third = (
        0.370 - 0.205 * a + 0.0307 * h + 0.108 * o + 1.019 * p - 0.135 * a * a + 0.0141 * h * a + 0.0998 * h * h
        + 0.208 * o * a - 0.0301 * o * h - 0.226 * o * o + 0.353 * p * a - 0.0497 * p * o - 0.423 * p * p + 0.202 * h * a * a
        - 0.281 * o * a * a - 0.342 * h * h * a - 0.245 * h * h * o + 0.281 * o * o * h - 0.184 * p * p * a - 0.281 * h * a * o
    )  # fmt: skip
    return [first, second, third]


def vehicle_safety(x: Any, xp: Any) -> list[Any]:
    a, b, c, d, e = x
    mass = 1640.2823 + 2.3573285 * a + 2.3220035 * b + 4.5688768 * c + 7.7213633 * d + 4.4559504 * e
    crash = (
        6.5856 + 1.15 * a - 1.0427 * b + 0.9738 * c + 0.8364 * d - 0.3695 * a * d + 0.0861 * a * e + 0.3628 * b * d
        - 0.1106 * a * a - 0.3437 * c * c + 0.1764 * d * d
    )  # fmt: skip
    toe = (
        -0.0551 + 0.0181 * a + 0.1024 * b + 0.0421 * c - 0.0073 * a * b + 0.024 * b * c - 0.0118 * b * d - 0.0204 * c * d
        - 0.008 * c * e - 0.0241 * b * b + 0.0109 * d * d
    )  # fmt: skip
    return [mass, crash, toe]


@dataclass(frozen=True)
class Expensive:
    """A problem, with points of its true front and its hypervolume from a file (`references.py`
    makes it).

    The formula has the values of constraints after the objectives; `whole` are the numbers of
    variables that are whole numbers.
    """

    name: str
    formula: Callable[[Any, Any], list[Any]]
    n_objectives: int
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    n_constraints: int = 0
    whole: tuple[int, ...] = ()

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.lower, dtype=float), np.array(self.upper, dtype=float)

    @property
    def n_variables(self) -> int:
        return len(self.lower)

    def rows(self, x: np.ndarray) -> np.ndarray:
        """What an evaluation of each of many designs tells, exact: objectives and constraints."""
        return np.stack(self.formula(np.asarray(x, dtype=float).T, np), axis=1)

    def values(self, x: np.ndarray) -> np.ndarray:
        """The objectives of those of many designs that keep the constraints, exact."""
        rows, M = self.rows(x), self.n_objectives
        return rows[(rows[:, M:] <= 0).all(axis=1), :M]

    def settable(self, x: np.ndarray) -> np.ndarray:
        """Designs with whole numbers where these are needed."""
        x = np.array(x, dtype=float)
        x[:, self.whole] = np.round(x[:, self.whole])
        return x

    @cached_property
    def reference(self) -> dict[str, Any]:
        """Ideal, nadir, hypervolume of the true front beyond the nadir by a tenth of the ranges,
        and `front`, points of it."""
        data = json.loads((FRONTS / f"{self.name}.json").read_text())
        return {key: np.array(value) for key, value in data.items()}

    @property
    def span(self) -> np.ndarray:
        return self.reference["nadir"] - self.reference["ideal"]

    @property
    def worst(self) -> np.ndarray:
        """The reference point of hypervolumes."""
        return self.reference["nadir"] + 0.1 * self.span

    def noisy(self, noise: float, seed: int) -> Callable[[np.ndarray], np.ndarray]:
        """What evaluations tell, objectives with normal noise, its deviation a share of the ranges
        over the true front."""
        rng = np.random.default_rng([seed, 999])

        def evaluate(x: np.ndarray) -> np.ndarray:
            y, M = self.rows(x), self.n_objectives
            if noise:
                y[:, :M] += noise * self.span * rng.standard_normal((len(y), M))
            return y

        return evaluate


def _unit(n: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return (0.0,) * n, (1.0,) * n


PROBLEMS = {
    problem.name: problem
    for problem in (
        Expensive("zdt1", zdt1, 2, *_unit(6)),
        Expensive("branin-currin", branin_currin, 2, *_unit(2)),
        Expensive("fonseca", fonseca, 2, (-2.0,) * 4, (2.0,) * 4),
        Expensive("re21", re21, 2, (1.0, 2**0.5, 2**0.5, 1.0), (3.0,) * 4),
        Expensive("dtlz2", dtlz2, 3, *_unit(6)),
        Expensive("re37", re37, 3, *_unit(4)),
        Expensive("vehicle-safety", vehicle_safety, 3, (1.0,) * 5, (3.0,) * 5),
        Expensive("re33", re33, 3, (55.0, 75.0, 1000.0, 11.0), (80.0, 110.0, 3000.0, 20.0)),
        Expensive("cre21", cre21, 2, (1e-5, 1e-5, 1.0), (100.0, 100.0, 3.0), 3),
        Expensive("cre22", cre22, 2, (0.125, 0.1, 0.1, 0.125), (5.0, 10.0, 10.0, 5.0), 4),
        Expensive("cre23", cre23, 2, (55.0, 75.0, 1000.0, 11.0), (80.0, 110.0, 3000.0, 20.0), 4),
        Expensive(
            "cre24",
            cre24,
            2,
            (2.6, 0.7, 17.0, 7.3, 7.3, 2.9, 5.0),
            (3.6, 0.8, 28.0, 8.3, 8.3, 3.9, 5.5),
            11,
            (2,),
        ),
        Expensive("cre25", cre25, 2, (12.0,) * 4, (60.0,) * 4, 1, (0, 1, 2, 3)),
        Expensive(
            "osy", osy, 2, (0.0, 0.0, 1.0, 0.0, 1.0, 0.0), (10.0, 10.0, 5.0, 6.0, 5.0, 10.0), 6
        ),
    )
}
