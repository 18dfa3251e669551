"""Newton's method with a given active set: solutions as smooth functions of the chart point,
whatever their signs are.

The equations are those of `active_sets.Model`: matrices have the free variables and the active rows
alone. A little beyond the place where a sign changes they still have a solution, which is what lets
that place be found.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

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
        slope: of y by c.
        ok: whether Newton's method converged to a minimum (up to signs).
        first: the rows where it began.
    """

    c: Float[np.ndarray, " n"]
    z: Float[np.ndarray, "n n_free"]
    mu: Float[np.ndarray, "n n_rows"]
    y: Float[np.ndarray, "n width"]
    slope: Float[np.ndarray, "n width"]
    ok: Bool[np.ndarray, " n"]
    first: Float[np.ndarray, "n n_rows"]


def hold(
    curvature: Curvature,
    active: Active,
    c: Float[np.ndarray, " n"],
    z: Float[np.ndarray, "n n_free"],
    mu: Float[np.ndarray, "n n_rows"],
) -> Held:
    """Solutions with this active set at coordinates of the chart, from designs and multipliers
    nearby."""
    program, n = curvature.program, len(c)
    z = np.where(active.side == 0, z, np.where(active.side < 0, program.lower, program.upper))
    mu, first = np.where(active.rows, mu, 0.0), np.zeros((n, program.n_rows))
    width = program.n_free + 1 + program.n_rows
    y, slope, ok = np.zeros((n, width)), np.zeros((n, width)), np.zeros(n, dtype=bool)
    todo, length = np.arange(n), np.full(n, np.inf)
    for iteration in range(SCHEDULE.held_steps):
        exact = iteration >= SCHEDULE.stale_steps or curvature.renews
        step = _Step(curvature, active, c[todo], z[todo], mu[todo], exact)
        if iteration == 0:
            first = step.r
        before, now = length[todo], step.length
        rate = np.where(np.isfinite(before), now / np.maximum(before, 1e-300), 1.0)
        # Newton's error is the square of its last step, else a share of it.
        left = now**2 if exact else np.minimum(rate, 1.0) * now
        close = (
            step.good
            & (left < SCHEDULE.close_step**2)
            & (exact | (now < SCHEDULE.stale_close))
            & step.is_last
        )
        if iteration and not exact:
            curvature.rate = float(rate[step.good & (before > SCHEDULE.telling)].max(initial=0.0))
        length[todo] = now
        z[todo[step.good]] += step.moved[step.good]
        mu[todo[step.good]] = step.mu[step.good]
        y[todo[close]], slope[todo[close]] = step.quantities(z[todo], close)
        ok[todo[close]] = True
        if n == 1 and close[0]:  # where an arc begins; along it a minimum stays one
            ok[0] = step.is_minimum
        todo = todo[step.good & ~close]
        if len(todo) == 0:
            break
    ok &= np.isfinite(y).all(axis=1) & np.isfinite(slope).all(axis=1)
    return Held(c, z, mu, y, slope, ok, first)


class _Step:
    """One Newton step at several coordinates, and how solutions change with them."""

    def __init__(
        self,
        curvature: Curvature,
        active: Active,
        c: np.ndarray,
        z: np.ndarray,
        mu: np.ndarray,
        exact: bool,
    ):
        program = curvature.program
        M, self.active, self.before = program.n_objectives, active, mu
        self.free, self.rows = np.flatnonzero(active.side == 0), np.flatnonzero(active.rows)
        free, rows, n, m = self.free, self.rows, len(self.free), len(self.rows)
        self.r, self.J, H = curvature.look(z, exact)
        # Columns of free variables alone: others do not move.
        self.by_row = H[:, :, :, free]
        shared = len(H) == 1
        self.H = (
            np.tensordot(mu, self.by_row[0], axes=1)
            if shared
            else np.einsum("nr,nrij->nij", mu, self.by_row)
        )
        A = self.J[:, rows][:, :, free]
        self.K = K = np.zeros((len(c), n + m + 1, n + m + 1))
        K[:, :n, :n] = self.H[:, free]
        K[:, np.arange(n), np.arange(n)] += SCHEDULE.flat
        K[:, n : n + m, :n], K[:, :n, n : n + m] = A, np.swapaxes(A, 1, 2)
        K[:, n : n + m, -1] = K[:, -1, n : n + m] = -1.0 * (rows < M)
        # Rows on their level, weights with sum 1; and what both change by along the chart.
        along = np.where(rows < M, frame(M)[0, np.minimum(rows, M - 1)], 0.0)
        right = np.zeros((len(c), n + m + 1, 2))
        right[:, n : n + m, 0] = c[:, None] * along - self.r[:, rows]
        right[:, -1, 0], right[:, n : n + m, 1] = -1.0, along
        try:
            step = np.linalg.solve(K, right)
        except np.linalg.LinAlgError:
            step = np.full(right.shape, np.nan)
        self.d, self.s, self.by_c = step[:, :n, 0], step[:, -1, 0], step[:, :, 1]
        self.length = np.abs(self.d).max(axis=1, initial=0.0)
        self.good = np.isfinite(step).all(axis=(1, 2)) & (self.length < SCHEDULE.farthest)
        size = np.minimum(1.0, SCHEDULE.longest_held / np.maximum(self.length, 1e-300))
        self.moved = np.zeros(z.shape)
        self.moved[:, free] = size[:, None] * self.d
        self.mu = np.zeros(mu.shape)
        self.mu[:, rows] = step[:, n : n + m, 0]

    @property
    def is_last(self) -> Bool[np.ndarray, " n"]:
        """Whether multipliers hardly change, and rows are linear along the step.

        Where slopes grow without bound they are not, however short it is.
        """
        change = np.abs(self.mu - self.before).max(axis=1) / (1 + np.abs(self.mu).max(axis=1))
        square, d = self.by_row[:, :, self.free], self.d
        second = (d[:, None] * (square @ d[:, None, :, None])[..., 0]).sum(axis=2)
        first = np.abs(np.einsum("nri,ni->nr", self.J[:, :, self.free], d)).max(axis=1)
        steep = np.abs(square).max(axis=(1, 2, 3), initial=0.0) > SCHEDULE.steep
        linear = np.where(
            steep, first < SCHEDULE.very_exact, np.abs(second).max(axis=1) < SCHEDULE.exact
        )
        return (change < 100 * SCHEDULE.close_step) & linear

    @property
    def is_minimum(self) -> bool:
        """Whether the first solution is a minimum among the designs of its active set: then the
        system has no more negative eigenvalues than active rows."""
        return bool((np.linalg.eigvalsh(self.K[0]) < -SCHEDULE.zero).sum() <= len(self.rows))

    def quantities(
        self, z: np.ndarray, some: Bool[np.ndarray, " n"]
    ) -> tuple[Float[np.ndarray, "k width"], Float[np.ndarray, "k width"]]:
        """The quantities of a patch after some of the steps, and their slopes."""
        side, rows, J, H = self.active.side, self.active.rows, self.J[some], self.H[some]
        n, m = len(self.free), len(self.rows)
        mu, moved, by_c = self.mu[some], self.moved[some], self.by_c[some]
        pull = np.einsum("nri,nr->ni", J, mu) + np.einsum("nij,nj->ni", H, self.d[some])
        r = self.r[some] + np.einsum("nri,ni->nr", J, moved)
        at = np.where(side == 0, z[some], -side * pull), self.s[some, None], np.where(rows, mu, r)
        by_mu, by_z = np.zeros(mu.shape), np.zeros(moved.shape)
        by_mu[:, self.rows], by_z[:, self.free] = by_c[:, n : n + m], by_c[:, :n]
        price = np.einsum("nri,nr->ni", J, by_mu) + np.einsum("nij,nj->ni", H, by_c[:, :n])
        by_r = np.einsum("nri,ni->nr", J, by_z)
        along = np.where(side == 0, by_z, -side * price), by_c[:, -1:], np.where(rows, by_mu, by_r)
        return np.concatenate(at, axis=1), np.concatenate(along, axis=1)


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
    multiplier, the same for the upper one, then for each row its multiplier or slack; infinite
    where there is no such condition."""
    L, M, end = program.n_free, program.n_objectives, program.n_objectives + program.n_inequalities
    side, z, rows = active.side, y[:, :L], y[:, L + 1 : L + 1 + end]
    low = np.where(side == 0, z - program.lower, np.where(side < 0, z, np.inf))
    high = np.where(side == 0, program.upper - z, np.where(side > 0, z, np.inf))
    slack = np.where(np.arange(end) < M, np.inf, -rows)
    return np.concatenate([low, high, np.where(active.rows[:end], rows, slack)], axis=1)


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
