"""Gradients by finite differences: this library's against SciPy's and numdifftools', in exactness
and in calls of the function.

    python -m benchmarks.differences

Three functions of four variables with known gradients (smooth, steep, in single precision or with
noise), 20 points each. The error is relative to the length of the gradient, the largest over all
points. numdifftools is left out where it is not installed.
"""

from collections.abc import Callable

import numpy as np
from scipy.differentiate import jacobian
from scipy.optimize import approx_fprime

from bezierflow.objectives import Differences

L = 4
POINTS = np.random.default_rng(0).uniform(0.5, 1.5, (20, L))


def smooth(x: np.ndarray) -> np.ndarray:
    return np.sin(x[..., 0]) * np.exp(0.3 * x[..., 1]) + x[..., 2] ** 3 / x[..., 3]


def slopes(x: np.ndarray) -> np.ndarray:
    e = np.exp(0.3 * x[..., 1])
    parts = [np.cos(x[..., 0]) * e, 0.3 * np.sin(x[..., 0]) * e]
    return np.stack(
        [*parts, 3 * x[..., 2] ** 2 / x[..., 3], -(x[..., 2] ** 3) / x[..., 3] ** 2], axis=-1
    )


def noisy(sigma: float) -> Callable[[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(1)
    return lambda x: smooth(x) * (1 + sigma * rng.standard_normal(np.shape(x)[:-1]))


def single(x: np.ndarray) -> np.ndarray:
    return smooth(x.astype(np.float32)).astype(np.float32).astype(float)


class Counted:
    def __init__(self, function: Callable[[np.ndarray], np.ndarray]):
        self.function, self.calls = function, 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.calls += int(np.prod(np.shape(x)[:-1]))
        return self.function(x)


def own(f: Counted, x: np.ndarray) -> np.ndarray:
    values = lambda points: f(points)[:, None]
    unbounded = np.full(L, np.inf)
    found = Differences.measured(values, x[0], np.ones(L), -unbounded, unbounded)
    return found.gradients(values, x)[:, 0]


def forward(f: Counted, x: np.ndarray) -> np.ndarray:
    return np.stack([approx_fprime(point, lambda y: float(f(y))) for point in x])


def adaptive(f: Counted, x: np.ndarray) -> np.ndarray:
    return np.stack([jacobian(lambda y: f(np.moveaxis(y, 0, -1)), point).df for point in x])


def extrapolated(f: Counted, x: np.ndarray) -> np.ndarray:
    import numdifftools

    return np.stack([numdifftools.Gradient(lambda y: float(f(y)))(point) for point in x])


def main() -> None:
    cases = {
        "float64": smooth,
        "float32": single,
        "noise 1e-8": noisy(1e-8),
        "noise 1e-4": noisy(1e-4),
    }
    ways = {
        "this library": own,
        "scipy forward": forward,
        "scipy.differentiate": adaptive,
        "numdifftools": extrapolated,
    }
    print(f"{'':22}" + "".join(f"{case:>24}" for case in cases))
    exact = slopes(POINTS)
    for name, way in ways.items():
        cells = []
        for function in cases.values():
            f = Counted(function)
            try:
                error = np.linalg.norm(way(f, POINTS) - exact, axis=1) / np.linalg.norm(
                    exact, axis=1
                )
            except ImportError:
                cells.append("not installed")
                continue
            cells.append(f"{error.max():.0e} ({f.calls / len(POINTS):.0f} calls)")
        print(f"{name:22}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
