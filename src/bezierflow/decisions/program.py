"""The one program behind every question, min_t max_k (A f(t) − c)_k subject to B f(t) ≤ d and t ∈
Δ^{M−1}, solved by SciPy.

"The cheapest with quality at least 8.3" has one row in A and one in B; an aspiration point or a
choice robust to a range of weights has several rows in A. SLSQP solves it in the epigraph form

    min τ   subject to   A f(t) − c ≤ τ,   B f(t) ≤ d,   t in the domain,

which is a simplex with its faces, or a patch of an atlas with its signs. Rows are scaled so that
goals and bounds are in units of the objectives' ranges.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .terrain import AbstractTerrain

FTOL = 1e-16
"""SLSQP stops when τ changes by less: when rounding lets it go no farther."""

MOST_STEPS, MOST_CALLS = 20, 3
"""Steps of a call of SLSQP at most, and calls from one start. Most starts need 4 to 8 steps; where
20 are not enough, a new call does better than more steps."""

MOST_PARTS = 6
"""Parts of a domain, such as patches of an atlas, that a search from one start goes through at
most."""

BINDING = 1e-5
"""Constraints with more room than this have the multiplier 0."""


class Program(NamedTuple):
    """Minimize max_k (A f − c)_k subject to B f ≤ d."""

    A: Float[np.ndarray, "n_goals n_values"]
    c: Float[np.ndarray, " n_goals"]
    B: Float[np.ndarray, "n_bounds n_values"]
    d: Float[np.ndarray, " n_bounds"]

    def goals(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, " n"]:
        """max_k (A f − c)_k for each row f of values."""
        return (values @ self.A.T - self.c).max(axis=1)

    def violations(self, values: Float[np.ndarray, "n n_values"]) -> Float[np.ndarray, " n"]:
        """max_j (B f − d)_j for each row f of values; 0 where all bounds hold."""
        return (values @ self.B.T - self.d).max(axis=1, initial=0.0)


class Epigraph:
    """A program around a point of the domain as SciPy takes it: in z = (y, τ)."""

    def __init__(
        self, terrain: AbstractTerrain, program: Program, start: Float[np.ndarray, " n_objectives"]
    ):
        self.around = terrain.around(start)
        self.rows, self.limits = (
            np.concatenate([program.A, program.B]),
            np.concatenate([program.c, program.d]),
        )
        values, _, room, _ = self.around.look(np.zeros(self.around.dimension))
        self.by_tau = np.where(np.arange(len(self.rows) + len(room)) < len(program.c), -1.0, 0.0)
        self.origin = np.append(np.zeros(self.around.dimension), program.goals(values[None]))
        self._last: tuple[bytes, tuple[np.ndarray, np.ndarray]] | None = None

    def t(self, z: Float[np.ndarray, " dimension_and_1"]) -> Float[np.ndarray, " n_objectives"]:
        """The point of the domain below z."""
        return self.around.t(z[:-1])

    def __call__(self, z: Float[np.ndarray, " dimension_and_1"]) -> tuple[np.ndarray, np.ndarray]:
        """The excess of goals over τ, of bounds and of the domain, at most 0 where a constraint
        holds; its derivatives by z.

        SciPy asks for them one after the other, so the last ones are kept.
        """
        if self._last is None or self._last[0] != z.tobytes():
            values, slopes, room, by_y = self.around.look(z[:-1])
            excess = np.concatenate([self.rows @ values - self.limits, room]) + z[-1] * self.by_tau
            along = np.concatenate([self.rows @ slopes, by_y])
            self._last = z.tobytes(), (excess, np.column_stack([along, self.by_tau]))
        return self._last[1]


def solve(
    terrain: AbstractTerrain,
    program: Program,
    start: Float[np.ndarray, " n_objectives"],
    ftol: float = FTOL,
) -> Float[np.ndarray, " n_objectives"]:
    """The local solution that SLSQP reaches from a start, or where it gives up."""
    t = start
    for _ in range(MOST_PARTS):
        epigraph = Epigraph(terrain, program, t)
        t = terrain.rounded(epigraph.t(_solve_part(epigraph, ftol)))
        if not terrain.goes_on(epigraph.around, t):
            break
    return t


def _solve_part(epigraph: Epigraph, ftol: float) -> Float[np.ndarray, " dimension_and_1"]:
    from scipy.optimize import minimize  # a third of a second that only questions need

    room = {"type": "ineq", "fun": lambda z: -epigraph(z)[0], "jac": lambda z: -epigraph(z)[1]}
    z, up, options = (
        epigraph.origin,
        np.eye(len(epigraph.origin))[-1],
        {"ftol": ftol, "maxiter": MOST_STEPS},
    )
    for _ in range(MOST_CALLS):
        end = minimize(
            lambda z: z[-1], z, jac=lambda _: up, method="SLSQP", constraints=room, options=options
        )
        z = end.x
        if end.nit < MOST_STEPS:
            break
    return z


def first_order(
    terrain: AbstractTerrain, program: Program, t: Float[np.ndarray, " n_objectives"]
) -> tuple[Float[np.ndarray, " n_values"], float]:
    """How well the first-order conditions hold at t, with the multipliers for which they hold best.

    These are found by least squares with nonnegative unknowns: λ of goals, ν of bounds, and those
    of faces.

    Returns:
        Aᵀλ + Bᵀν, what each value counts for; and the residual, the largest of the entries of ∇L
        along the domain, Σλ − 1, the products of multipliers and the room of their constraints, and
        violations.
    """
    from scipy.optimize import lsq_linear

    epigraph = Epigraph(terrain, program, t)
    excess, slopes = epigraph(epigraph.origin)
    binding = np.flatnonzero(excess >= -BINDING)
    conditions = np.concatenate([slopes[binding].T, np.diag(excess[binding])])
    target = np.zeros(len(conditions))
    target[slopes.shape[1] - 1] = -1.0  # the entry of τ: 1 − Σλ
    multipliers = np.zeros(len(excess))
    multipliers[binding] = lsq_linear(conditions, target, (0, np.inf), method="bvls").x
    residual = max(np.abs(conditions @ multipliers[binding] - target).max(), excess.max())
    return multipliers[: len(epigraph.rows)] @ epigraph.rows, float(residual)
