"""Problems with bounds and constraints, and points of their true fronts.

Sources: ZDT (Zitzler, Deb and Thiele, 2000), DTLZ (Deb, Thiele, Laumanns and Zitzler, 2005),
Kursawe (1991) with its absolute values smoothed, Viennet (1996), Binh and Korn (1997), Constr-Ex
(Deb, 2001), Osyczka and Kundu (1995), RE21, RE24, RE31, RE32, RE33 and RE37 (Tanabe and Ishibuchi,
2020; RE31 to RE33 with their constraints as constraints and their first two objectives; RE24 with
the sum of its violations as second objective, as it is there. RE22 and RE23 have discrete
variables).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import LinearConstraint, minimize

from bezierflow.precision import double_precision

PI = np.pi


@dataclass(frozen=True)
class Bounded:
    """Objectives in a box, with inequalities g(x) ≤ 0 and perhaps Σ x = 1, and how points of the
    true front are found."""

    name: str
    objectives: Callable[[Any], Any]
    n_objectives: int
    lower: np.ndarray
    upper: np.ndarray
    truth: Callable[[], np.ndarray] | None = None
    g: Callable[[Any], Any] | None = None
    sums_to_one: bool = False

    @property
    def constraints(self) -> list[Any]:
        """As `bezierflow.minimize` takes them."""
        linear = [LinearConstraint(np.ones(len(self.lower)), 1, 1)] if self.sums_to_one else []
        return linear + ([self.g] if self.g else [])

    def values(self, x: np.ndarray) -> np.ndarray:
        """The objectives of many designs."""
        with double_precision():
            return np.asarray(jax.jit(jax.vmap(self.objectives))(x))


def zdt(number: int, n: int) -> Bounded:
    """ZDT1 to 4 and 6; on the front all variables but the first are 0."""

    def objectives(x: Any) -> Any:
        rest = x[1:]
        if number == 4:
            g = 1 + 10 * (n - 1) + jnp.sum(rest**2 - 10 * jnp.cos(4 * PI * rest))
        elif number == 6:
            g = 1 + 9 * (jnp.sum(rest) / (n - 1)) ** 0.25
        else:
            g = 1 + 9 * jnp.sum(rest) / (n - 1)
        f = 1 - jnp.exp(-4 * x[0]) * jnp.sin(6 * PI * x[0]) ** 6 if number == 6 else x[0]
        root = jnp.sqrt(jnp.maximum(f, 1e-300) / g)
        h = {
            1: 1 - root,
            2: 1 - (f / g) ** 2,
            3: 1 - root - f / g * jnp.sin(10 * PI * f),
            4: 1 - root,
            6: 1 - (f / g) ** 2,
        }
        return jnp.array([f, g * h[number]])

    lower, upper = np.zeros(n), np.ones(n)
    if number == 4:
        lower[1:], upper[1:] = -5, 5
    problem = Bounded(f"ZDT{number}", objectives, 2, lower, upper)

    def truth() -> np.ndarray:
        x = np.zeros((20_001, n))
        x[:, 0] = np.linspace(0, 1, len(x))
        return thinned(problem.values(x))

    return Bounded(f"ZDT{number}", objectives, 2, lower, upper, truth)


def thinned(f: np.ndarray, n: int = 500) -> np.ndarray:
    """Some of the nondominated points."""
    import moocore

    f = f[np.asarray(moocore.is_nondominated(f), dtype=bool)]
    return f[np.random.default_rng(0).permutation(len(f))[:n]]


def dtlz(number: int, n: int) -> Bounded:
    """DTLZ1, 2, 5 and 7 with three objectives."""

    def objectives(x: Any) -> Any:
        if number == 1:
            g = 100 * (n - 2 + jnp.sum((x[2:] - 0.5) ** 2 - jnp.cos(20 * PI * (x[2:] - 0.5))))
            return 0.5 * (1 + g) * jnp.array([x[0] * x[1], x[0] * (1 - x[1]), 1 - x[0]])
        if number == 7:
            g = 1 + 9 / (n - 2) * jnp.sum(x[2:])
            h = 3 - jnp.sum(x[:2] / (1 + g) * (1 + jnp.sin(3 * PI * x[:2])))
            return jnp.array([x[0], x[1], (1 + g) * h])
        g = jnp.sum((x[2:] - 0.5) ** 2)
        a = x[0] * PI / 2
        b = x[1] * PI / 2 if number == 2 else PI / (4 * (1 + g)) * (1 + 2 * g * x[1])
        return (1 + g) * jnp.array([jnp.cos(a) * jnp.cos(b), jnp.cos(a) * jnp.sin(b), jnp.sin(a)])

    problem = Bounded(f"DTLZ{number}", objectives, 3, np.zeros(n), np.ones(n))

    def truth() -> np.ndarray:
        x = np.zeros((20_000, n)) if number == 7 else np.full((20_000, n), 0.5)
        x[:, :2] = np.random.default_rng(0).random((len(x), 2))
        return thinned(problem.values(x))

    return Bounded(
        problem.name, objectives, 3, problem.lower, problem.upper, None if number == 7 else truth
    )


def quadratics(n_objectives: int, n: int, seed: int) -> Bounded:
    """Strongly convex quadratics with condition 10 whose minimizers mostly lie outside of a box."""
    rng = np.random.default_rng(seed)
    A = []
    for _ in range(n_objectives):
        q, _ = np.linalg.qr(rng.normal(size=(n, n)))
        A.append(q @ np.diag(np.exp(rng.uniform(0, np.log(10), n))) @ q.T)
    H, centers = np.array(A), rng.normal(size=(n_objectives, n))
    lower, upper = np.full(n, -0.5), np.full(n, 0.6)

    def objectives(x: Any) -> Any:
        return 0.5 * jnp.einsum("mi,mij,mj->m", x - centers, H, x - centers)

    def truth() -> np.ndarray:
        w = np.concatenate([rng.dirichlet(np.ones(n_objectives), 150), np.eye(n_objectives)])
        for pair in combinations(range(n_objectives), 2):
            edge = np.zeros((20, n_objectives))
            edge[:, list(pair)] = rng.dirichlet([1, 1], 20)
            w = np.concatenate([w, edge])
        x = [
            box_minimizer(
                np.einsum("m,mij->ij", v, H), np.einsum("m,mij,mj->i", v, H, centers), lower, upper
            )
            for v in w
        ]
        return Bounded("", objectives, n_objectives, lower, upper).values(np.array(x))

    return Bounded(
        f"quadratics {n_objectives}, {n}, seed {seed}",
        objectives,
        n_objectives,
        lower,
        upper,
        truth,
    )


def box_minimizer(H: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The minimizer of ½ xᵀHx − bᵀx in a box: SciPy, then the free variables exactly."""
    options = {"ftol": 1e-15, "gtol": 1e-12}
    x = minimize(
        lambda x: (x @ H @ x / 2 - b @ x, H @ x - b),
        np.clip(0 * b, lower, upper),
        jac=True,
        bounds=list(zip(lower, upper, strict=True)),
        method="L-BFGS-B",
        options=options,
    ).x
    free = (x > lower + 1e-7) & (x < upper - 1e-7)
    x = np.where(free, x, np.where(x <= lower + 1e-7, lower, upper))
    if free.any():
        x[free] = np.linalg.solve(
            H[np.ix_(free, free)], b[free] - H[np.ix_(free, ~free)] @ x[~free]
        )
    return np.clip(x, lower, upper)


def portfolio(n_objectives: int, n: int = 8, seed: int = 0) -> Bounded:
    """Return against one or two measures of risk, Σx = 1 and x ≥ 0."""
    rng = np.random.default_rng(seed)
    covariances = []
    for _ in range(2):
        root = rng.normal(size=(n, n)) / np.sqrt(n)
        covariances.append(root @ root.T + 0.1 * np.diag(rng.uniform(0.2, 1, n)))
    mean = rng.uniform(0, 1, n)

    def objectives(x: Any) -> Any:
        return jnp.array([-(mean @ x), *(x @ S @ x for S in covariances[: n_objectives - 1])])

    return Bounded(
        f"portfolio, M = {n_objectives}",
        objectives,
        n_objectives,
        np.zeros(n),
        np.ones(n),
        sums_to_one=True,
    )


def kursawe() -> Bounded:
    """Three variables; √(u² + 1e-4) for |u|."""

    def objectives(x: Any) -> Any:
        r = jnp.sqrt(x[:-1] ** 2 + x[1:] ** 2 + 1e-4)
        return jnp.array(
            [jnp.sum(-10 * jnp.exp(-0.2 * r)), jnp.sum((x**2 + 1e-4) ** 0.4 + 5 * jnp.sin(x**3))]
        )

    return Bounded("Kursawe, smoothed", objectives, 2, np.full(3, -5.0), np.full(3, 5.0))


def viennet() -> Bounded:
    """Three objectives of two variables."""

    def objectives(x: Any) -> Any:
        r = jnp.sum(x**2)
        second = (3 * x[0] - 2 * x[1] + 4) ** 2 / 8 + (x[0] - x[1] + 1) ** 2 / 27 + 15
        return jnp.array([0.5 * r + jnp.sin(r), second, 1 / (r + 1) - 1.1 * jnp.exp(-r)])

    return Bounded("Viennet", objectives, 3, np.full(2, -3.0), np.full(2, 3.0))


def binh_korn() -> Bounded:
    """Two discs."""

    def objectives(x: Any) -> Any:
        return jnp.array([4 * jnp.sum(x**2), jnp.sum((x - 5) ** 2)])

    def g(x: Any) -> Any:
        return jnp.array(
            [(x[0] - 5) ** 2 + x[1] ** 2 - 25, 7.7 - (x[0] - 8) ** 2 - (x[1] + 3) ** 2]
        )

    return Bounded("Binh-Korn", objectives, 2, np.zeros(2), np.array([5.0, 3.0]), g=g)


def constr_ex() -> Bounded:
    """Two linear constraints, one of which cuts the front."""

    def objectives(x: Any) -> Any:
        return jnp.array([x[0], (1 + x[1]) / x[0]])

    def g(x: Any) -> Any:
        return jnp.array([6 - (x[1] + 9 * x[0]), 1 + x[1] - 9 * x[0]])

    return Bounded("Constr-Ex", objectives, 2, np.array([0.1, 0.0]), np.array([1.0, 5.0]), g=g)


def osyczka_kundu() -> Bounded:
    """Six variables, six constraints, a front of several pieces."""

    def objectives(x: Any) -> Any:
        first = -(
            25 * (x[0] - 2) ** 2
            + (x[1] - 2) ** 2
            + (x[2] - 1) ** 2
            + (x[3] - 4) ** 2
            + (x[4] - 1) ** 2
        )
        return jnp.array([first, jnp.sum(x**2)])

    def g(x: Any) -> Any:
        rows = [
            2 - x[0] - x[1],
            x[0] + x[1] - 6,
            x[1] - x[0] - 2,
            x[0] - 3 * x[1] - 2,
            (x[2] - 3) ** 2 + x[3] - 4,
        ]
        return jnp.array([*rows, 4 - (x[4] - 3) ** 2 - x[5]])

    return Bounded(
        "Osyczka-Kundu",
        objectives,
        2,
        np.array([0, 0, 1, 0, 1, 0.0]),
        np.array([10, 10, 5, 6, 5, 10.0]),
        g=g,
    )


def re21() -> Bounded:
    """Four-bar truss: volume against displacement."""
    F, E, length, a, r2 = 10.0, 2e5, 200.0, 1.0, np.sqrt(2)

    def objectives(x: Any) -> Any:
        volume = length * (2 * x[0] + r2 * x[1] + jnp.sqrt(x[2]) + x[3])
        return jnp.array(
            [volume, F * length / E * (2 / x[0] + 2 * r2 / x[1] - 2 * r2 / x[2] + 2 / x[3])]
        )

    return Bounded(
        "RE21 four-bar truss", objectives, 2, np.array([a, r2 * a, r2 * a, a]), np.full(4, 3 * a)
    )


def re24() -> Bounded:
    """Hatch cover: weight against the sum of four violations, which has kinks."""

    def room(x: Any) -> Any:
        bending, shear = 4500 / (x[0] * x[1]), 1800 / x[1]
        deflection, buckling = 56.2e4 / (7e5 * x[0] * x[1] ** 2), 7e5 * x[0] ** 2 / 100
        return 1 - jnp.array([bending / 700, shear / 450, deflection / 1.5, bending / buckling])

    def objectives(x: Any) -> Any:
        return jnp.array([x[0] + 120 * x[1], jnp.sum(jnp.maximum(-room(x), 0))])

    lower, upper = np.full(2, 0.5), np.array([4.0, 50.0])
    problem = Bounded("RE24 hatch cover", objectives, 2, lower, upper)

    def truth() -> np.ndarray:
        def along(weight: float, first: np.ndarray) -> np.ndarray:
            second = (weight - first) / 120
            values = problem.values(np.column_stack([first, second]))
            return np.where((second >= lower[1]) & (second <= upper[1]), values[:, 1], np.inf)

        weights = 60.5 + (481.6 - 60.5) * np.linspace(0, 1, 121)[1:-1] ** 2
        return np.array(
            [
                [weight, least(lambda x, weight=weight: along(weight, x), lower[0], upper[0])]
                for weight in weights
            ]
        )

    return Bounded(problem.name, objectives, 2, lower, upper, truth)


def least(f: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """The least value of a function of one variable, with or without kinks: grids around the best
    point, each finer."""
    for _ in range(8):
        x = np.linspace(low, high, 201)
        values = f(x)
        best, step = int(np.argmin(values)), (high - low) / 200
        low, high = max(low, x[best] - 2 * step), min(high, x[best] + 2 * step)
    return float(values.min())


def re31() -> Bounded:
    """Two-bar truss: volume against the stress of one bar; limits for both and for the stress of
    the other."""

    def objectives(x: Any) -> Any:
        volume = x[0] * jnp.sqrt(16 + x[2] ** 2) + x[1] * jnp.sqrt(1 + x[2] ** 2)
        return jnp.array([volume, 20 * jnp.sqrt(16 + x[2] ** 2) / (x[0] * x[2])])

    def g(x: Any) -> Any:
        volume, stress = objectives(x)
        return jnp.array(
            [volume - 0.1, stress / 1e5 - 1, 80 * jnp.sqrt(1 + x[2] ** 2) / (x[2] * x[1]) / 1e5 - 1]
        )

    def truth() -> np.ndarray:
        def volume(stress: float, depth: np.ndarray) -> np.ndarray:
            long, short = np.sqrt(16 + depth**2), np.sqrt(1 + depth**2)
            return (
                20 * long / (stress * depth) * long
                + np.maximum(80 * short / (1e5 * depth), 1e-5) * short
            )

        rows = [
            [least(lambda depth, s=s: volume(s, depth), 1.0, 3.0), s]
            for s in np.geomspace(8500, 1e5, 200)
        ]
        return np.array([row for row in rows if row[0] <= 0.1])

    lower, upper = np.array([1e-5, 1e-5, 1.0]), np.array([100.0, 100.0, 3.0])
    return Bounded("RE31 two-bar truss", objectives, 2, lower, upper, truth, g=g)


def re32() -> Bounded:
    """Welded beam: cost against deflection, four constraints."""
    P, L, E, G = 6000.0, 14.0, 30e6, 12e6

    def objectives(x: Any) -> Any:
        return jnp.array(
            [
                1.10471 * x[0] ** 2 * x[1] + 0.04811 * x[2] * x[3] * (14 + x[1]),
                4 * P * L**3 / (E * x[3] * x[2] ** 3),
            ]
        )

    def g(x: Any) -> Any:
        h, width, t, b = x
        half = ((h + t) / 2) ** 2
        R, J = jnp.sqrt(width**2 / 4 + half), 2 * np.sqrt(2) * h * width * (width**2 / 12 + half)
        first, second = P / (np.sqrt(2) * h * width), P * (L + width / 2) * R / J
        shear = jnp.sqrt(first**2 + first * second * width / R + second**2)
        buckling = 4.013 * E * t * b**3 / 6 / L**2 * (1 - t / (2 * L) * np.sqrt(E / (4 * G)))
        return jnp.array(
            [shear / 13600 - 1, 6 * P * L / (b * t**2) / 30000 - 1, h - b, 1 - buckling / P]
        )

    return Bounded(
        "RE32 welded beam",
        objectives,
        2,
        np.array([0.125, 0.1, 0.1, 0.125]),
        np.array([5, 10, 10, 5.0]),
        g=g,
    )


def re33() -> Bounded:
    """Disc brake: mass against stopping time, four constraints."""

    def objectives(x: Any) -> Any:
        a, b, p, n = x
        return jnp.array(
            [4.9e-5 * (b**2 - a**2) * (n - 1), 9.82e6 * (b**2 - a**2) / (p * n * (b**3 - a**3))]
        )

    def g(x: Any) -> Any:
        a, b, p, n = x
        d, c = b**2 - a**2, b**3 - a**3
        return jnp.array(
            [
                20 - (b - a),
                p / (3.14 * d) - 0.4,
                2.22e-3 * p * c / d**2 - 1.0,
                900 - 0.0266 * p * n * c / d,
            ]
        )

    return Bounded(
        "RE33 disc brake",
        objectives,
        2,
        np.array([55, 75, 1000, 11.0]),
        np.array([80, 110, 3000, 20.0]),
        g=g,
    )


def re37() -> Bounded:
    """Rocket injector: response surfaces of three objectives."""

    def objectives(x: Any) -> Any:
        a, h, o, t = x
        f1 = (
            0.692
            + 0.477 * a
            - 0.687 * h
            - 0.080 * o
            - 0.0650 * t
            - 0.167 * a * a
            - 0.0129 * h * a
            + 0.0796 * h * h
        )
        f1 += (
            -0.0634 * o * a
            - 0.0257 * o * h
            + 0.0877 * o * o
            - 0.0521 * t * a
            + 0.00156 * t * h
            + 0.00198 * t * o
            + 0.0184 * t * t
        )
        f2 = (
            0.153
            - 0.322 * a
            + 0.396 * h
            + 0.424 * o
            + 0.0226 * t
            + 0.175 * a * a
            + 0.0185 * h * a
            - 0.0701 * h * h
        )
        f2 += (
            -0.251 * o * a
            + 0.179 * o * h
            + 0.0150 * o * o
            + 0.0134 * t * a
            + 0.0296 * t * h
            + 0.0752 * t * o
            + 0.0192 * t * t
        )
        f3 = (
            0.370
            - 0.205 * a
            + 0.0307 * h
            + 0.108 * o
            + 1.019 * t
            - 0.135 * a * a
            + 0.0141 * h * a
            + 0.0998 * h * h
        )
        f3 += (
            0.208 * o * a
            - 0.0301 * o * h
            - 0.226 * o * o
            + 0.353 * t * a
            - 0.0497 * t * o
            - 0.423 * t * t
            + 0.202 * h * a * a
        )
        f3 += (
            -0.281 * o * a * a
            - 0.342 * h * h * a
            - 0.245 * h * h * o
            + 0.281 * o * o * h
            - 0.184 * t * t * a
            - 0.281 * h * a * o
        )
        return jnp.array([f1, f2, f3])

    return Bounded("RE37 rocket injector", objectives, 3, np.zeros(4), np.ones(4))


NAMED: tuple[Bounded, ...] = (
    *(
        zdt(1, 30),
        zdt(2, 30),
        zdt(3, 30),
        zdt(4, 10),
        zdt(6, 10),
        kursawe(),
        binh_korn(),
        constr_ex(),
        osyczka_kundu(),
    ),
    *(re21(), re24(), re31(), re32(), re33(), portfolio(2)),
    *(portfolio(3), re37(), dtlz(1, 7), dtlz(2, 7), dtlz(5, 7), dtlz(7, 4), viennet()),
)
