"""Problems whose constraints only an evaluation tells, at most 0 where they hold, in the form of
`problems.py`: objectives first.

Sources: CRE21 to CRE25 (Tanabe and Ishibuchi, 2020: two-bar truss, welded beam, disc brake, speed
reducer, gear train), OSY (Osyczka and Kundu, 1995).
"""

from typing import Any

import numpy as np


def cre21(x: Any, xp: Any) -> list[Any]:
    a, b, y = x
    long, short = xp.sqrt(16 + y**2), xp.sqrt(1 + y**2)
    volume, stress, other = a * long + b * short, 20 * long / (a * y), 80 * short / (y * b)
    return [volume, stress, volume - 0.1, stress / 1e5 - 1, other / 1e5 - 1]


def cre22(x: Any, xp: Any) -> list[Any]:
    h, width, t, b = x
    P, L, E, G = 6000.0, 14.0, 30e6, 12e6
    half = ((h + t) / 2) ** 2
    R, J = xp.sqrt(width**2 / 4 + half), 2 * np.sqrt(2) * h * width * (width**2 / 12 + half)
    first, second = P / (np.sqrt(2) * h * width), P * (L + width / 2) * R / J
    shear = xp.sqrt(first**2 + first * second * width / R + second**2)
    buckling = 4.013 * E * t * b**3 / 6 / L**2 * (1 - t / (2 * L) * np.sqrt(E / (4 * G)))
    return [
        1.10471 * h**2 * width + 0.04811 * t * b * (14 + width),
        4 * P * L**3 / (E * b * t**3),
        shear / 13600 - 1,
        6 * P * L / (b * t**2) / 30000 - 1,
        h - b,
        1 - buckling / P,
    ]


def cre23(x: Any, xp: Any) -> list[Any]:
    a, b, p, n = x
    d, c = b**2 - a**2, b**3 - a**3
    return [
        4.9e-5 * d * (n - 1),
        9.82e6 * d / (p * n * c),
        20 - (b - a),
        p / (3.14 * d) - 0.4,
        2.22e-3 * p * c / d**2 - 1,
        900 - 0.0266 * p * n * c / d,
    ]


def cre24(x: Any, xp: Any) -> list[Any]:
    a, b, n, c, d, e, f = x
    weight = 0.7854 * a * b**2 * (10 * n**2 / 3 + 14.933 * n - 43.0934)
    weight = weight - 1.508 * a * (e**2 + f**2) + 7.477 * (e**3 + f**3)
    weight = weight + 0.7854 * (c * e**2 + d * f**2)
    stress = xp.sqrt((745 * c / (b * n)) ** 2 + 1.69e7) / (0.1 * e**3)
    other = xp.sqrt((745 * d / (b * n)) ** 2 + 1.575e8) / (0.1 * f**3)
    return [
        weight,
        stress,
        27 / (a * b**2 * n) - 1,
        397.5 / (a * b**2 * n**2) - 1,
        1.93 * c**3 / (b * n * e**4) - 1,
        1.93 * d**3 / (b * n * f**4) - 1,
        b * n - 40,
        a / b - 12,
        5 - a / b,
        1.5 * e + 1.9 - c,
        1.1 * f + 1.9 - d,
        stress / 1300 - 1,
        other / 1100 - 1,
    ]


def cre25(x: Any, xp: Any) -> list[Any]:
    a, b, c, d = x
    off = xp.abs(6.931 - c * d / (a * b))
    largest = xp.maximum(xp.maximum(a, b), xp.maximum(c, d))
    return [off, largest, off / 6.931 - 0.5]


def osy(x: Any, xp: Any) -> list[Any]:
    a, b, c, d, e, f = x
    first = 25 * (a - 2) ** 2 + (b - 2) ** 2 + (c - 1) ** 2 + (d - 4) ** 2 + (e - 1) ** 2
    return [
        -first,
        a**2 + b**2 + c**2 + d**2 + e**2 + f**2,
        2 - a - b,
        a + b - 6,
        b - a - 2,
        a - 3 * b - 2,
        (c - 3) ** 2 + d - 4,
        4 - (e - 3) ** 2 - f,
    ]
