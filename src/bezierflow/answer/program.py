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

from .pareto_set import Found, ParetoSet, Point, T
from .schedule import SCHEDULE


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

    def __init__(self, pareto_set: ParetoSet, program: Program, start: Point, exact: bool = False):
        self.around = pareto_set.around(start, exact)
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


def solve(
    pareto_set: ParetoSet,
    program: Program,
    start: Point,
    ftol: float = SCHEDULE.ftol,
    exact: bool = False,
) -> Point:
    """The local solution that SLSQP reaches from a start, or where it gives up."""
    from scipy.optimize import minimize  # a third of a second that only questions need

    t, options = start, {"ftol": ftol, "maxiter": SCHEDULE.most_steps}
    # SLSQP sees one smooth part; where it ends at the part's border, the next one takes over.
    for _ in range(SCHEDULE.most_parts):
        epigraph = Epigraph(pareto_set, program, t, exact)
        z, up = epigraph.origin, np.eye(len(epigraph.origin))[-1]
        room = {
            "type": "ineq",
            "fun": lambda z, epigraph=epigraph: -epigraph(z)[0],
            "jac": lambda z, epigraph=epigraph: -epigraph(z)[1],
        }
        for _ in range(SCHEDULE.most_calls):
            end = minimize(
                lambda z: z[-1],
                z,
                jac=lambda _, up=up: up,
                method="SLSQP",
                constraints=room,
                options=options,
            )
            z = end.x
            if end.nit < SCHEDULE.most_steps:
                break
        before, t = t, epigraph.t(z)
        # Beyond the rim of a front answers stay as they are, which looks like an end of the search.
        moves = exact and bool(np.abs(t - before).max() > SCHEDULE.close)
        if pareto_set.around(t, exact).part == epigraph.around.part and not moves:
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

    epigraph = Epigraph(pareto_set, program, t, exact=True)
    excess, slopes = epigraph(epigraph.origin)
    # Products of multipliers and room are rows of the same least-squares problem, so that a
    # constraint with room cannot explain a slope for free.
    binding = np.flatnonzero(excess >= -SCHEDULE.binding)
    conditions = np.concatenate([slopes[binding].T, np.diag(excess[binding])])
    target = np.zeros(len(conditions))
    target[slopes.shape[1] - 1] = -1.0  # the entry of τ: 1 − Σλ
    multipliers = np.zeros(len(excess))
    multipliers[binding] = lsq_linear(conditions, target, (0, np.inf), method="bvls").x
    residual = max(np.abs(conditions @ multipliers[binding] - target).max(), excess.max())
    return multipliers[: len(epigraph.rows)] @ epigraph.rows, float(residual)


def search(pareto_set: ParetoSet, program: Program, starts: T | None = None) -> Found:
    """The best of the local solutions from several starts, which are `good_starts` if not given;
    never worse than a start."""
    starts = good_starts(pareto_set, program) if starts is None else starts
    n, ends = (
        len(starts),
        [solve(pareto_set, program, start, SCHEDULE.screening) for start in starts],
    )
    t = np.stack([*ends, *starts])
    best = t[_lowest(program, pareto_set.front(t), SCHEDULE.close)]
    # Screening stops early; only the best end is worth the last digits.
    if first_order(pareto_set, program, best)[1] > SCHEDULE.rounding:
        beside = pareto_set.sample_t[np.argsort(_rank(pareto_set, program))]
        beside = beside[np.abs(beside - best).max(axis=1) > SCHEDULE.close]
        # On an edge between patches SLSQP may stall, and does not from beside it.
        for start in (best, *beside[: SCHEDULE.restarts]):
            end = solve(pareto_set, program, start, exact=True)
            over = float(program.violations(pareto_set.front(end[None]))[0])
            if SCHEDULE.rounding < over < SCHEDULE.close:
                # SLSQP gives up where answers have errors of its steps: with a margin bounds hold.
                inside = program._replace(d=program.d - 2 * over)
                end = solve(pareto_set, inside, end, exact=True)
            t = np.stack([end, *t])
            if first_order(pareto_set, program, end)[1] <= SCHEDULE.close:
                break
    values = pareto_set.front(t)
    k = _lowest(program, values, SCHEDULE.rounding)
    goals, violations = program.goals(values), program.violations(values)
    agrees = (goals <= goals[k] + SCHEDULE.close) & (violations <= violations[k] + SCHEDULE.close)
    agreed = int(agrees[-2 * n : -n].sum())
    return Found(t[k], float(goals[k]), *first_order(pareto_set, program, t[k]), n, agreed)


def good_starts(pareto_set: ParetoSet, program: Program) -> T:
    """The best point of the sample, and the local minima and the lowest points of goal and
    violation together."""
    rank = _rank(pareto_set, program)
    lowest = (
        np.argsort(rank)[: SCHEDULE.lowest_starts] if len(program.c) + len(program.d) > 1 else []
    )
    positions = [
        _lowest(program, pareto_set.sample_f, SCHEDULE.rounding),
        *pareto_set.local_minima(rank)[: SCHEDULE.most_starts],
        *lowest,
    ]
    return pareto_set.sample_t[list(dict.fromkeys(positions))]


def _rank(pareto_set: ParetoSet, program: Program) -> Float[np.ndarray, " n"]:
    """Goals of the sample, with a price for violations."""
    values = pareto_set.sample_f
    return program.goals(values) + SCHEDULE.penalty * program.violations(values)


def _lowest(program: Program, values: Float[np.ndarray, "n n_values"], allowed: float) -> int:
    """The first row with the lowest goal among those that violate bounds least; an allowed
    violation is none."""
    violations = program.violations(values)
    broken = np.where(violations > allowed, violations, 0.0)
    goals = np.nan_to_num(program.goals(values), nan=np.inf)
    goals = np.where(broken == broken.min(), goals, np.inf)
    return int(np.argmax(goals <= goals.min() + SCHEDULE.rounding))
