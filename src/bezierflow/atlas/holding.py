"""Newton's method with a given active set: solutions as smooth functions of the chart point,
whatever their signs are.

The equations are those of `active_sets.Model`: matrices have the free variables and the active rows
alone. A little beyond the place where a sign changes they still have a solution, which is what lets
that place be found.

Where rows are polynomials of degree 2 one factorization, at the solution where an arc begins,
serves all solutions along it: residuals are exact, and steps with it shorten quickly on short arcs.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import lu_factor, lu_solve

from ..answer import frame
from .active_sets import Curvature
from .program import Program
from .schedule import SCHEDULE


class Active(NamedTuple):
    """What is active on an arc: rows, and variables at bounds (−1 lower, 1 upper)."""

    rows: Bool[np.ndarray, " n_rows"]
    side: Int[np.ndarray, " n_free"]


class Held(NamedTuple):
    """Solutions with the same things active, one for each coordinate.

    Attributes:
        c: coordinates on the chart.
        z: scaled variables.
        mu: multipliers of the rows.
        y: quantities of a patch, see `Patch`.
        slope: of the first one's y by c.
        ok: whether Newton's method converged to a minimum (up to signs).
        first: the rows where it began.
        equations: that they solve.
    """

    c: Float[np.ndarray, " n"]
    z: Float[np.ndarray, "n n_free"]
    mu: Float[np.ndarray, "n n_rows"]
    y: Float[np.ndarray, "n width"]
    slope: Float[np.ndarray, "1 width"]
    ok: Bool[np.ndarray, " n"]
    first: Float[np.ndarray, "n n_rows"]
    equations: "Equations | None" = None


class Equations:
    """The conditions of optimality with an active set, signs left out, as a linear system.

    It is one for steps d of free variables, steps μ' of active rows' multipliers, and the level s:

        H(μ) d + Aᵀ μ' = −Aᵀ μ,    A d − s = c b − r,    Σ μ'_m = 1 − Σ μ_m

    Attributes:
        free: the variables that are.
        rows: the active ones.
        along: b, by which the chart point changes with c.
        curved: rows that are not linear.
        factor: of the matrix at a solution, where rows are of degree 2.
    """

    def __init__(self, curvature: Curvature, active: Active):
        program, M = curvature.program, curvature.program.n_objectives
        self.curvature, self.program, self.active = curvature, program, active
        self.free, self.rows = np.flatnonzero(active.side == 0), np.flatnonzero(active.rows)
        counts = self.rows < M
        self.counts = counts.astype(float)
        self.along = np.where(counts, frame(M)[0, np.minimum(self.rows, M - 1)], 0.0)
        self.curved = np.arange(program.n_rows)
        self.factor: tuple[np.ndarray, np.ndarray] | None = None
        self._center: tuple[np.ndarray, ...] | None = None

    def exact(self, iteration: int) -> bool:
        """Whether Hessians shall be those of their own designs in a step."""
        stale = iteration < SCHEDULE.stale_steps and not self.curvature.renews
        return self.program.is_quadratic or not stale

    def look(
        self, z: Float[np.ndarray, "n n_variables"], exact: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, slopes, and Hessians of curved rows as far as free variables meet them."""
        if not self.program.is_quadratic:
            r, J, H = self.curvature.look(z, exact)
            return r, J, H[:, :, self.free]
        if self._center is None:
            r, J, H = self.program.look(z[:1])
            self.curved = self.program.curved
            self._center = z[0].copy(), r, J, H[:, self.curved[:, None], self.free]
        center, r, J, H = self._center
        d = (z - center)[:, self.free]
        bent = self.bent(H, d)
        return self.rows_after(r, J, bent, d), J + bent, H

    def bent(self, H: np.ndarray, d: np.ndarray) -> Float[np.ndarray, "n n_rows n_variables"]:
        """By how much slopes change with steps of free variables."""
        bent = np.zeros((len(d), len(self.active.rows), len(self.active.side)))
        # One Hessian for all points is a product of matrices.
        one = len(H) == 1
        made = np.swapaxes(d @ H[0], 0, 1) if one else (d[:, None, None] @ H)[:, :, 0]
        bent[:, self.curved] = made
        return bent

    def rows_after(
        self, r: np.ndarray, J: np.ndarray, bent: np.ndarray, d: np.ndarray
    ) -> Float[np.ndarray, "n n_rows"]:
        """Rows after steps, to second order."""
        return r + ((J + 0.5 * bent)[:, :, self.free] @ d[:, :, None])[:, :, 0]

    def matrix(
        self, J: np.ndarray, H: np.ndarray, mu: np.ndarray
    ) -> Float[np.ndarray, "n size size"]:
        """Of the system, at each solution."""
        free, rows, n, m = self.free, self.rows, len(self.free), len(self.rows)
        weights, K = mu[:, self.curved], np.zeros((len(mu), n + m + 1, n + m + 1))
        if len(H) == 1:
            K[:, :n, :n] = np.tensordot(weights, H[0], axes=1)[:, :, free]
        else:
            K[:, :n, :n] = np.einsum("nr,nrij->nij", weights, H[:, :, :, free])
        K[:, np.arange(n), np.arange(n)] += SCHEDULE.flat
        K[:, n : n + m, :n] = J[:, rows][:, :, free]
        K[:, :n, n : n + m] = np.swapaxes(K[:, n : n + m, :n], 1, 2)
        K[:, n : n + m, -1] = K[:, -1, n : n + m] = -self.counts
        return K

    def residual(
        self, c: np.ndarray, r: np.ndarray, J: np.ndarray, mu: np.ndarray
    ) -> Float[np.ndarray, "n size"]:
        """The right-hand sides of the system."""
        A, own = J[:, self.rows][:, :, self.free], mu[:, self.rows]
        pull = -(own[:, None] @ A)[:, 0]
        gap = c[:, None] * self.along - r[:, self.rows]
        return np.concatenate([pull, gap, (own @ self.counts)[:, None] - 1.0], axis=1)

    def solve(
        self, right: np.ndarray, J: np.ndarray, H: np.ndarray, mu: np.ndarray
    ) -> Float[np.ndarray, "n size"]:
        """Solutions of the system, at one design with a factor that stays."""
        try:
            if self.program.is_quadratic and len(mu) == 1:
                self.factor = lu_factor(self.matrix(J, H, mu)[0], check_finite=False)
                return self.solve_nearby(right)
            return np.linalg.solve(self.matrix(J, H, mu), right[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            return np.full(right.shape, np.nan)

    def solve_nearby(self, right: np.ndarray) -> Float[np.ndarray, "n size"]:
        """The same with the factor that there is."""
        assert self.factor is not None
        return lu_solve(self.factor, right.T, check_finite=False).T

    def quantities(
        self, z: np.ndarray, s: np.ndarray, mu: np.ndarray, r: np.ndarray, J: np.ndarray
    ) -> Float[np.ndarray, "n width"]:
        """Those of a patch, at solutions."""
        side = self.active.side
        pull = (mu[:, None] @ J)[:, 0]
        at = np.where(side == 0, z, -side * pull), s[:, None], np.where(self.active.rows, mu, r)
        return np.concatenate(at, axis=1)

    def slope(self, J: np.ndarray, H: np.ndarray, mu: np.ndarray) -> Float[np.ndarray, "1 width"]:
        """How the quantities of a single solution change with c."""
        side, n = self.active.side, len(self.free)
        right = np.zeros((1, n + len(self.rows) + 1))
        right[0, n:-1] = self.along
        by_c = self.solve_nearby(right) if self.factor else self.solve(right, J, H, mu)
        by_z, by_mu = np.zeros((1, len(side))), np.zeros(mu.shape)
        by_z[:, self.free], by_mu[:, self.rows] = by_c[:, :n], by_c[:, n:-1]
        bent = self.bent(H, by_c[:, :n])
        price = (by_mu[:, None] @ J + mu[:, None] @ bent)[:, 0]
        by_r = (J @ by_z[:, :, None])[:, :, 0]
        along = np.where(side == 0, by_z, -side * price), np.where(self.active.rows, by_mu, by_r)
        return np.concatenate([along[0], by_c[:, -1:], along[1]], axis=1)


def hold(
    curvature: Curvature,
    active: Active,
    c: Float[np.ndarray, " n"],
    z: Float[np.ndarray, "n n_free"],
    mu: Float[np.ndarray, "n n_rows"],
    equations: Equations | None = None,
) -> Held:
    """Solutions with this active set at coordinates of the chart, from designs and multipliers
    nearby; with equations that were factored at a solution near all of them, if there are any."""
    program = curvature.program
    z = np.where(active.side == 0, z, np.where(active.side < 0, program.lower, program.upper))
    mu = np.where(active.rows, mu, 0.0)
    known = None
    if equations is not None and equations.factor is not None:
        known = _with_factor(equations, c, z.copy(), mu.copy())
    return known or _by_newton(equations or Equations(curvature, active), c, z, mu)


def _by_newton(equations: Equations, c: np.ndarray, z: np.ndarray, mu: np.ndarray) -> Held:
    """The same by Newton's method; Hessians are those of another design as long as that does."""
    curvature, free, rows, n = equations.curvature, equations.free, equations.rows, len(c)
    width = z.shape[1] + 1 + mu.shape[1]
    y, slope, ok = np.zeros((n, width)), np.zeros((1, width)), np.zeros(n, dtype=bool)
    todo, length, exact = np.arange(n), np.full(n, np.inf), equations.exact(0)
    first, J, H = equations.look(z, exact)
    r = first
    for iteration in range(1, 1 + SCHEDULE.held_steps):
        step = equations.solve(equations.residual(c[todo], r, J, mu[todo]), J, H, mu[todo])
        now = np.abs(step[:, : len(free)]).max(axis=1, initial=0.0)
        good = np.isfinite(step).all(axis=1) & (now < SCHEDULE.farthest)
        # Newton's error is the square of its last step, else a share of it.
        share = (
            now
            if exact
            else np.where(length[todo] < np.inf, curvature.learn(length[todo], now), 1.0)
        )
        size = np.minimum(1.0, SCHEDULE.longest_held / np.maximum(now, 1e-300))
        d = np.where(good, size, 0.0)[:, None] * np.nan_to_num(step[:, : len(free)])
        change, bent = step[:, len(free) : -1], equations.bent(H, d)
        length[todo] = now
        z[np.ix_(todo, free)] += d
        r, after = equations.rows_after(r, J, bent, d), J + bent
        if n == 1 and equations.factor is not None and now[0] < SCHEDULE.near_factor:
            mu[:, rows] += change
            found = _with_factor(equations, c, z, mu, (r, after, H))
            return found or Held(c, z, mu, y, slope, ok, first)
        close = good & (share * now < SCHEDULE.close_step**2)
        close &= exact | (now < SCHEDULE.stale_close)
        close &= _is_last(equations, J, H, bent, d, mu[todo], change)
        mu[np.ix_(todo[good], rows)] += change[good]
        done = todo[close]
        y[done] = equations.quantities(z[done], step[close, -1], mu[done], r[close], after[close])
        ok[done] = True
        todo = todo[good & ~close]
        if len(todo) == 0:
            break
        exact = equations.exact(iteration)
        r, J, H = equations.look(z[todo], exact)
    if n == 1 and ok[0]:  # where an arc begins; along it a minimum stays one
        slope, ok[0] = equations.slope(J, H, mu), _is_minimum(equations, J, H, mu)
    ok &= np.isfinite(y).all(axis=1) & np.isfinite(slope).all()
    return Held(c, z, mu, y, slope, ok, first)


def _with_factor(
    equations: Equations,
    c: np.ndarray,
    z: np.ndarray,
    mu: np.ndarray,
    at: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
) -> Held | None:
    """The same where rows are of degree 2, with the factor of a solution nearby, and what
    `equations.look` says if it is known; None where steps do not shorten."""
    free, rows, n = equations.free, equations.rows, len(c)
    first, J, H = at or equations.look(z, True)
    r, before = first, np.inf
    for _ in range(SCHEDULE.held_steps):
        step = equations.solve_nearby(equations.residual(c, r, J, mu))
        d, now = step[:, : len(free)], float(np.abs(step[:, : len(free)]).max(initial=0.0))
        if not now <= SCHEDULE.slow_factor * max(before, SCHEDULE.telling):
            return None
        bent = equations.bent(H, d)
        z[:, free] += d
        mu[:, rows] += step[:, len(free) : -1]
        r, J = equations.rows_after(r, J, bent, d), J + bent
        if now < SCHEDULE.stale_close and now * min(now / before, 1.0) < SCHEDULE.close_step**2:
            y, slope = equations.quantities(z, step[:, -1], mu, r, J), np.zeros((1, 0))
            ok = np.isfinite(y).all(axis=1)
            if n == 1:
                slope = equations.slope(J, H, mu)
                ok &= equations.program.is_convex or _is_minimum(equations, J, H, mu)
            return Held(c, z, mu, y, slope, ok, first, equations)
        before = now
    return None


def _is_last(
    equations: Equations,
    J: np.ndarray,
    H: np.ndarray,
    bent: np.ndarray,
    d: np.ndarray,
    mu: np.ndarray,
    change: np.ndarray,
) -> Bool[np.ndarray, " n"]:
    """Whether multipliers hardly change, and rows are linear along steps.

    Where slopes grow without bound they are not, however short a step is.
    """
    free = equations.free
    size = 1 + np.abs(mu[:, equations.rows] + change).max(axis=1)
    first, second = (
        np.abs(part[:, :, free] @ d[:, :, None]).max(axis=(1, 2)) for part in (J, bent)
    )
    steep = np.abs(H[:, :, :, free]).max(axis=(1, 2, 3), initial=0.0) > SCHEDULE.steep
    linear = np.where(steep, first < SCHEDULE.very_exact, second < SCHEDULE.exact)
    return linear & (np.abs(change).max(axis=1) / size < 100 * SCHEDULE.close_step)


def _is_minimum(equations: Equations, J: np.ndarray, H: np.ndarray, mu: np.ndarray) -> bool:
    """Whether a solution is a minimum among the designs of its active set: then the system has no
    more negative eigenvalues than active rows."""
    values = np.linalg.eigvalsh(equations.matrix(J, H, mu)[0])
    return bool((values < -SCHEDULE.zero).sum() <= len(equations.rows))


def independent(
    curvature: Curvature,
    active: Active,
    z: Float[np.ndarray, " n_free"],
    mu: Float[np.ndarray, " n_rows"],
) -> Active:
    """The active set without constraints that others of it imply at a design, such as one that was
    given twice: multipliers of all of them are not unique. Those with the largest stay."""
    M = curvature.program.n_objectives
    given = np.flatnonzero(active.rows[M:]) + M
    if len(given) < 2:
        return active
    slopes = curvature.look(z[None], False)[1][0][:, active.side == 0]
    rows, basis = active.rows.copy(), np.zeros((0, slopes.shape[1]))
    for row in given[np.argsort(-np.abs(mu[given]), kind="stable")].tolist():
        rest = slopes[row] - basis.T @ (basis @ slopes[row])
        length = np.linalg.norm(rest)
        rows[row] = length > SCHEDULE.dependent * np.linalg.norm(slopes[row])
        if rows[row]:
            basis = np.vstack([basis, rest / length])
    return active._replace(rows=rows)


def signs(
    program: Program, active: Active, y: Float[np.ndarray, "n width"]
) -> Float[np.ndarray, "n n_signs"]:
    """What must be at least 0: for each variable its distance to the lower bound or the bound's
    multiplier, the same for the upper one, then for each row its multiplier or slack; 1 where there
    is no such condition. Linear in the quantities, as far as they are finite."""
    L, M, end = program.n_free, program.n_objectives, program.n_objectives + program.n_inequalities
    side, z, rows = active.side, y[:, :L], y[:, L + 1 : L + 1 + end]
    low = np.where(side == 0, z - program.lower, np.where(side < 0, z, np.inf))
    high = np.where(side == 0, program.upper - z, np.where(side > 0, z, np.inf))
    slack = np.where(np.arange(end) < M, np.inf, -rows)
    found = np.concatenate([low, high, np.where(active.rows[:end], rows, slack)], axis=1)
    return np.where(np.isfinite(found), found, 1.0)


def sign_slopes(
    program: Program, active: Active, slope: Float[np.ndarray, "n width"]
) -> Float[np.ndarray, "n n_signs"]:
    """The slopes of the signs, from those of quantities; 0 where there is no such condition."""
    L, M, end = program.n_free, program.n_objectives, program.n_objectives + program.n_inequalities
    side, z, rows = active.side, slope[:, :L], slope[:, L + 1 : L + 1 + end]
    low, high = np.where(side <= 0, z, 0.0), np.where(side == 0, -z, np.where(side > 0, z, 0.0))
    slack = np.where(np.arange(end) < M, 0.0, -rows)
    return np.concatenate([low, high, np.where(active.rows[:end], rows, slack)], axis=1)


def switched(program: Program, active: Active, k: int) -> Active | None:
    """What is active after the sign number k has changed; None after the end of the front, where
    one objective counts no more."""
    L = program.n_free
    rows, side = active.rows.copy(), active.side.copy()
    if k >= 2 * L:
        if k - 2 * L < program.n_objectives:
            return None
        rows[k - 2 * L] ^= True
    else:
        side[k % L] = 0 if side[k % L] else (-1 if k < L else 1)
    return Active(rows, side)
