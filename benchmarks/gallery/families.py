"""Random families, on seeds that nothing was tuned on."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Case
from .problems import rotated

FIRST_SEED = 9000


def mixture(seed: int, n_objectives: int = 2) -> Case:
    """Sums of five Gaussian wells in a weak bowl."""
    rng = np.random.default_rng(seed)
    depth, center = (
        rng.uniform(0.3, 1.5, (n_objectives, 5)),
        rng.uniform(-2, 2, (n_objectives, 5, 2)),
    )
    width = rng.uniform(0.5, 1.2, (n_objectives, 5))

    def rows(x: Any, xp: Any) -> list[Any]:
        wells = [
            [
                depth[m, k] * xp.exp(-((x - center[m, k]) ** 2).sum(-1) / (2 * width[m, k] ** 2))
                for k in range(5)
            ]
            for m in range(n_objectives)
        ]
        return [0.02 * (x**2).sum(-1) - sum(wells[m]) for m in range(n_objectives)]

    return Case(f"mixture {seed}", "random mixtures", rows, [-5, -5], 5)


def quartic(seed: int, n_objectives: int = 2) -> Case:
    """Σ (B(x − c))⁴/4 and a random polynomial of degree 3 below it."""
    rng = np.random.default_rng(seed)
    B, center = rng.normal(size=(n_objectives, 2, 2)), rng.uniform(-1, 1, (n_objectives, 2))
    B = B + np.sign(np.linalg.det(B))[:, None, None] * np.eye(2)
    linear, square = rng.normal(size=(n_objectives, 2)), rng.normal(size=(n_objectives, 2, 2))
    cube = 0.5 * rng.normal(size=(n_objectives, 2))

    def rows(x: Any, xp: Any) -> list[Any]:
        out = []
        for m in range(n_objectives):
            y = (x - center[m]) @ B[m]
            low = (x * linear[m]).sum(-1) + ((x @ square[m]) * x).sum(-1) + (x**3 * cube[m]).sum(-1)
            out.append((y**4).sum(-1) / 4 + (x**4).sum(-1) / 20 + low)
        return out

    return Case(f"quartic {seed}", "random quartics", rows, [-20, -20], 20)


def warped(seed: int, n_objectives: int = 2) -> Case:
    """Quadratics of y = x + a sin(Bx), whose set is that of the quadratics bent, and possibly
    doubled."""
    rng = np.random.default_rng(seed)
    A = np.array([rotated(10 ** rng.uniform(0, 2), 2, seed + 7 * m) for m in range(n_objectives)])
    center, B = rng.normal(size=(n_objectives, 2)), rng.normal(size=(2, 2))
    strength = rng.uniform(0.1, 0.7)

    def rows(x: Any, xp: Any) -> list[Any]:
        y = x + strength * xp.sin(x @ B)
        return [
            (((y - center[m]) @ A[m]) * (y - center[m])).sum(-1) / 2 for m in range(n_objectives)
        ]

    return Case(f"warped {seed}", "random warped", rows, [-5, -5], 5)


def families(n: int) -> Iterator[Case]:
    """N seeds of each family; every fifth problem has three objectives."""
    for seed in range(FIRST_SEED, FIRST_SEED + n):
        for family in (mixture, quartic, warped):
            yield family(seed, 3 if seed % 5 == 4 else 2)
