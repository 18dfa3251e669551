"""The one program behind every question, min_t max_k (A f(t) − c)_k subject to B f(t) ≤ d over a domain, solved by SciPy.

"The cheapest with quality at least 8.3" has one row in A and one in B; an aspiration point or a choice robust to a range of
weights has several rows in A. SLSQP solves it in the epigraph form

    min τ   subject to   A f(t) − c ≤ τ,   B f(t) ≤ d,   G t ≤ 0,

where G t ≤ 0 are the faces of the domain. The front is in units of its ranges, so that all constraints count alike.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .domain import SimplexDomain
from .front_map import AbstractFrontMap

FTOL = 1e-16
"""SLSQP stops when τ changes by less: as accurate as it can be, since a start from a grid takes some ten steps in any case."""

MOST_STEPS = 20
"""Steps of one call of SLSQP at most; most take 4 to 8. Where it needs more, it starts afresh: what it has learned of the
curvature is then of little use."""

MOST_CALLS = 3
"""Calls of SLSQP from one start at most."""

BINDING = 1e-5
"""Constraints with more room than this, in units of ranges, have the multiplier 0."""


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
    """A program near a point of the domain as SciPy takes it: z = (y, τ) with t = start + directions y.

    SciPy asks for values and slopes one after the other; the front is evaluated once for both.
    """

    def __init__(self, front: AbstractFrontMap, domain: SimplexDomain, program: Program, start: Float[np.ndarray, " n_objectives"]):
        self.front, self.start, self.directions = front, start, domain.directions(start)
        self.rows, self.limits = np.concatenate([program.A, program.B]), np.concatenate([program.c, program.d])
        self.faces, self.n_goals = domain.faces, len(program.c)
        self._goals = np.where(np.arange(len(self.rows) + len(self.faces)) < self.n_goals, 1.0, 0.0)
        self._key = b""

    def t(self, y: Float[np.ndarray, " dimension"]) -> Float[np.ndarray, " n_objectives"]:
        """The point of the domain with these coordinates."""
        return self.start + self.directions @ y

    def lowest(self, y: Float[np.ndarray, " dimension"]) -> Float[np.ndarray, " dimension_and_1"]:
        """The lowest z above y: τ is the largest goal."""
        return np.append(y, self.excess(np.append(y, 0.0))[: self.n_goals].max())

    def excess(self, z: Float[np.ndarray, " dimension_and_1"]) -> Float[np.ndarray, " n_constraints"]:
        """Of goals over τ, of bounds, and of faces: at most 0 where the constraint holds."""
        values, _ = self._look(z[:-1])
        excess = np.concatenate([self.rows @ values - self.limits, self.faces @ self.t(z[:-1])])
        return excess - z[-1] * self._goals

    def slopes(self, z: Float[np.ndarray, " dimension_and_1"]) -> Float[np.ndarray, "n_constraints dimension_and_1"]:
        """The derivatives of the excess."""
        _, jacobian = self._look(z[:-1])
        along = np.concatenate([self.rows @ jacobian, self.faces]) @ self.directions
        return np.column_stack([along, -self._goals])

    def _look(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        key = y.tobytes()
        if key != self._key:
            values, jacobians = self.front.derivatives(self.t(y)[None])
            self._key, self._known = key, (values[0], jacobians[0])
        return self._known


def solve(
    front: AbstractFrontMap, domain: SimplexDomain, program: Program, start: Float[np.ndarray, " n_objectives"], ftol: float = FTOL
) -> Float[np.ndarray, " n_objectives"]:
    """The local solution that SLSQP reaches from a start; the start itself where it breaks down."""
    from scipy.optimize import minimize  # a third of a second that only questions need

    epigraph, dimension = Epigraph(front, domain, program, start), domain.n_objectives - 1
    z, slope = epigraph.lowest(np.zeros(dimension)), np.append(np.zeros(dimension), 1.0)
    for _ in range(MOST_CALLS):
        end = minimize(
            lambda z: z[-1],
            z,
            jac=lambda z: slope,
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda z: -epigraph.excess(z), "jac": lambda z: -epigraph.slopes(z)},
            options={"ftol": ftol, "maxiter": MOST_STEPS},
        )
        if not np.isfinite(end.x).all():
            return start
        z = end.x
        if end.nit < MOST_STEPS:
            break
    return domain.rounded(epigraph.t(z[:-1]))


class FirstOrder(NamedTuple):
    """How well the first-order conditions hold at a point.

    Attributes:
        weights: Aᵀλ + Bᵀν, what each value counts for with the multipliers λ of goals and ν of bounds.
        residual: the largest entry of ∇L along the domain, of Σλ − 1, of a multiplier times the room of its constraint, and of
            the violations.
    """

    weights: Float[np.ndarray, " n_values"]
    residual: float


def first_order(
    front: AbstractFrontMap, domain: SimplexDomain, program: Program, t: Float[np.ndarray, " n_objectives"]
) -> FirstOrder:
    """The multipliers with which the first-order conditions hold best at t, by least squares with nonnegative unknowns."""
    from scipy.optimize import lsq_linear

    epigraph = Epigraph(front, domain, program, t)
    z = epigraph.lowest(np.zeros(domain.n_objectives - 1))
    excess, slopes = epigraph.excess(z), epigraph.slopes(z)
    binding = np.flatnonzero(excess >= -BINDING)
    conditions = np.concatenate([slopes[binding].T, np.diag(excess[binding])])
    target = np.zeros(len(conditions))
    target[domain.n_objectives - 1] = -1.0  # of τ: 1 − Σλ = 0
    duals = lsq_linear(conditions, target, (0, np.inf), method="bvls").x
    counts = np.zeros(len(excess))
    counts[binding] = duals
    residual = max(np.abs(conditions @ duals - target).max(), excess.max())
    return FirstOrder(counts[: len(epigraph.rows)] @ epigraph.rows, float(residual))
