"""The one program behind every question, min_t max_k (A f(t) − c)_k subject to B f(t) ≤ d and t ∈
Δ^{M−1}, solved by SciPy from the best places of a sample.

"The cheapest with quality at least 8.3" has one row in A and one in B; an aspiration point or a
choice robust to a range of weights has several rows in A. SLSQP solves it in the epigraph form

    min τ   subject to   A f(t) − c ≤ τ,   B f(t) ≤ d,   t in the domain,

which is a simplex with its faces, or a patch of an atlas with its signs. Rows are scaled so that
goals and bounds are in units of the objectives' ranges.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .pareto_set import ParetoSet, Point, T
from .patches import ROUNDING

FTOL, SCREENING = 1e-16, 1e-10
"""SLSQP stops when τ changes by less: when rounding lets it go no farther; and before it is known
which start leads to the best end."""

MOST_STEPS, MOST_CALLS = 20, 3
"""Steps of a call of SLSQP at most, and calls from one start. Most starts need 4 to 8 steps; where
20 are not enough, a new call does better than more steps."""

MOST_PARTS = 6
"""Parts of a set, such as patches, that a search from one start goes through at most."""

BINDING = 1e-5
"""Constraints with more room than this have the multiplier 0."""

MOST_MINIMA, LOWEST = 6, 4
"""A search starts at so many of the lowest local minima of the grid; and at so many of its lowest
points, if there are several goals or bounds: where constraints meet, basins may be narrower than
steps of the grid."""

PENALTY = 10.0
"""What one unit of violation counts against one unit of the goal when points of the grid are
ranked."""

CLOSE = 1e-6
"""Violations below this do not keep an end from being refined, and ends whose goals differ by less
agree."""


class Program(NamedTuple):
    """Minimize max_k (A f − c)_k subject to B f ≤ d."""

    A: Float[np.ndarray, "n_goals n_values"]
    c: Float[np.ndarray, " n_goals"]
    B: Float[np.ndarray, "n_bounds n_values"]
    d: Float[np.ndarray, " n_bounds"]

    def goals(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, " n"]:
        """max_k (A f − c)_k for each row f."""
        return (values @ self.A.T - self.c).max(axis=1)

    def violations(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, " n"]:
        """max_j (B f − d)_j for each row f; 0 where all bounds hold."""
        return (values @ self.B.T - self.d).max(axis=1, initial=0.0)


class Epigraph:
    """A program around a point of the set as SciPy takes it: in z = (y, τ)."""

    def __init__(self, pareto_set: ParetoSet, program: Program, start: Point):
        self.around = pareto_set.around(start)
        self.rows = np.concatenate([program.A, program.B])
        self.limits = np.concatenate([program.c, program.d])
        values, _, room, _ = self.around.look(np.zeros(self.around.dimension))
        # Only goals contain τ; bounds and the domain do not.
        self.by_tau = np.where(np.arange(len(self.rows) + len(room)) < len(program.c), -1.0, 0.0)
        self.origin = np.append(np.zeros(self.around.dimension), program.goals(values[None]))
        self._last: tuple[bytes, tuple[np.ndarray, np.ndarray]] | None = None

    def t(self, z: Float[np.ndarray, " dimension_and_1"]) -> Point:
        """The point of the simplex below z."""
        return self.around.t(z[:-1])

    def __call__(self, z: Float[np.ndarray, " dimension_and_1"]) -> tuple[np.ndarray, np.ndarray]:
        """The excess of goals over τ, of bounds and of the domain, at most 0 where a constraint
        holds; its derivatives by z."""
        # SciPy asks for both one after the other, so the last ones are kept.
        if self._last is None or self._last[0] != z.tobytes():
            values, slopes, room, by_y = self.around.look(z[:-1])
            excess = np.concatenate([self.rows @ values - self.limits, room]) + z[-1] * self.by_tau
            along = np.concatenate([self.rows @ slopes, by_y])
            self._last = z.tobytes(), (excess, np.column_stack([along, self.by_tau]))
        return self._last[1]


def solve(pareto_set: ParetoSet, program: Program, start: Point, ftol: float = FTOL) -> Point:
    """The local solution that SLSQP reaches from a start, or where it gives up."""
    from scipy.optimize import minimize  # a third of a second that only questions need

    t, options = start, {"ftol": ftol, "maxiter": MOST_STEPS}
    # SLSQP sees one smooth part; where it ends at the part's border, the next one takes over.
    for _ in range(MOST_PARTS):
        epigraph = Epigraph(pareto_set, program, t)
        z, up = epigraph.origin, np.eye(len(epigraph.origin))[-1]
        room = {
            "type": "ineq",
            "fun": lambda z, epigraph=epigraph: -epigraph(z)[0],
            "jac": lambda z, epigraph=epigraph: -epigraph(z)[1],
        }
        for _ in range(MOST_CALLS):
            end = minimize(
                lambda z: z[-1],
                z,
                jac=lambda _, up=up: up,
                method="SLSQP",
                constraints=room,
                options=options,
            )
            z = end.x
            if end.nit < MOST_STEPS:
                break
        t = epigraph.t(z)
        if pareto_set.around(t).part == epigraph.around.part:
            break
    return t


def first_order(
    pareto_set: ParetoSet, program: Program, t: Point
) -> tuple[Float[np.ndarray, " n_values"], float]:
    """How well the first-order conditions hold at t, with the multipliers for which they hold best:
    nonnegative least squares for λ of goals, ν of bounds, and those of faces.

    Returns:
        Aᵀλ + Bᵀν, what each value counts for; and the residual, the largest of the entries of ∇L
        along the domain, Σλ − 1, the products of multipliers and the room of their constraints, and
        violations.
    """
    from scipy.optimize import lsq_linear

    epigraph = Epigraph(pareto_set, program, t)
    excess, slopes = epigraph(epigraph.origin)
    # Products of multipliers and room are rows of the same least-squares problem, so that a
    # constraint with room cannot explain a slope for free.
    binding = np.flatnonzero(excess >= -BINDING)
    conditions = np.concatenate([slopes[binding].T, np.diag(excess[binding])])
    target = np.zeros(len(conditions))
    target[slopes.shape[1] - 1] = -1.0  # the entry of τ: 1 − Σλ
    multipliers = np.zeros(len(excess))
    multipliers[binding] = lsq_linear(conditions, target, (0, np.inf), method="bvls").x
    residual = max(np.abs(conditions @ multipliers[binding] - target).max(), excess.max())
    return multipliers[: len(epigraph.rows)] @ epigraph.rows, float(residual)


class Found(NamedTuple):
    """The best end of a search: where and how low it is, what each value counts for there and the
    residual (`first_order`); from how many places the search started, and how many of these led to
    a point as good."""

    t: Point
    goal: float
    weights: Float[np.ndarray, " n_values"]
    residual: float
    starts: int
    agreed: int


def search(pareto_set: ParetoSet, program: Program, starts: T | None = None) -> Found:
    """The best of the local solutions from several starts, which are `good_starts` if not given;
    never worse than a start."""
    starts = good_starts(pareto_set, program) if starts is None else starts
    n, ends = len(starts), [solve(pareto_set, program, start, SCREENING) for start in starts]
    t = np.stack([*ends, *starts])
    best = t[_lowest(program, pareto_set.front(t), CLOSE)]
    # Screening stops early; only the best end is worth the last digits.
    if first_order(pareto_set, program, best)[1] > ROUNDING:
        t = np.stack([solve(pareto_set, program, best), *t])
    values = pareto_set.front(t)
    k = _lowest(program, values, ROUNDING)
    goals, violations = program.goals(values), program.violations(values)
    agrees = (goals <= goals[k] + CLOSE) & (violations <= violations[k] + CLOSE)
    agreed = int(agrees[-2 * n : -n].sum())
    return Found(t[k], float(goals[k]), *first_order(pareto_set, program, t[k]), n, agreed)


def good_starts(pareto_set: ParetoSet, program: Program) -> T:
    """The best point of the sample, and the local minima and the lowest points of goal and
    violation together."""
    rank = program.goals(pareto_set.sample_f) + PENALTY * program.violations(pareto_set.sample_f)
    lowest = np.argsort(rank)[:LOWEST] if len(program.c) + len(program.d) > 1 else []
    positions = [
        _lowest(program, pareto_set.sample_f, ROUNDING),
        *pareto_set.local_minima(rank)[:MOST_MINIMA],
        *lowest,
    ]
    return pareto_set.sample_t[list(dict.fromkeys(positions))]


def _lowest(program: Program, values: Float[np.ndarray, "n n_values"], allowed: float) -> int:
    """The first row with the lowest goal among those that violate bounds least; an allowed
    violation is none."""
    violations = program.violations(values)
    broken = np.where(violations > allowed, violations, 0.0)
    goals = np.nan_to_num(program.goals(values), nan=np.inf)
    goals = np.where(broken == broken.min(), goals, np.inf)
    return int(np.argmax(goals <= goals.min() + ROUNDING))
