"""The quadratic program of one step, min s + ½ dᵀHd subject to linearized rows and bounds.

What is active in its solution is nearly what is active at a neighbor, or was in the last step: with
that label one system of the free variables and the active rows gives step, multipliers and all
signs; what has a wrong sign is switched, and the system solved again. Where that does not settle,
the program is solved from nothing, by nonnegative least squares for its multipliers (Lawson and
Hanson's least-distance programming).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from .program import Program
from .schedule import SCHEDULE


class Step(NamedTuple):
    """A step of designs with the multipliers and the label that it ends with."""

    d: Float[np.ndarray, " n_free"]
    mu: Float[np.ndarray, " n_rows"]
    active: Bool[np.ndarray, " n_rows"]
    side: Int[np.ndarray, " n_free"]


class Model:
    """The program of a step with rows r + J d and the Lagrangian's curvature H. In a search steps
    keep within a radius, and the largest violation of linearized constraints has a price."""

    def __init__(
        self,
        program: Program,
        at: tuple[np.ndarray, np.ndarray],
        r: np.ndarray,
        J: np.ndarray,
        H: np.ndarray,
        radius: float = np.inf,
    ):
        """`at` are the chart point and the design."""
        M, (a, z), searches = program.n_objectives, at, np.isfinite(radius)
        # In one layout, so that a run which goes on from a file has the same bits.
        self.J, self.H = np.ascontiguousarray(J), np.ascontiguousarray(H)
        self.M, self.end = M, M + program.n_inequalities
        self.lower = np.maximum(program.lower - z, -radius)
        self.upper = np.minimum(program.upper - z, radius)
        self.over = np.concatenate([r[:M] - a, r[M:]])
        self.price = program.price if searches else np.inf
        tie = program.tie if searches else SCHEDULE.tie_of_labels
        self.tie = tie * J[:M].sum(axis=0)

    def solve(self, active: np.ndarray, side: np.ndarray) -> Step | None:
        """The program's solution from what is active nearby; None where there is none."""
        found = self.settle(active, side, SCHEDULE.most_labels)
        if found is None:
            cold = self.solve_cold()
            if cold is None:
                return None
            # At a vertex with more active than variables, signs of one label never are all right.
            found = self.settle(cold.active, cold.side, SCHEDULE.corrections) or cold
        return found

    def settle(self, active: np.ndarray, side: np.ndarray, most: int) -> Step | None:
        """The solution of a label, with what has a wrong sign switched until nothing has."""
        seen: set[bytes] = set()
        for _ in range(most):
            step = self.step(active, side)
            key = active.tobytes() + side.tobytes()
            if step is None or key in seen:
                return None
            seen.add(key)
            new_active, new_side = self.switched(step)
            if (new_active == active).all() and (new_side == side).all():
                # Else a violation is cheaper.
                return step if np.abs(step.mu[self.M :]).sum() <= self.price else None
            active, side = new_active, new_side
        return None

    def equations(self, free: np.ndarray, rows: np.ndarray) -> Float[np.ndarray, "n n"]:
        """The system of free variables, multipliers of active rows, and the level."""
        n, m = len(free), len(rows)
        K = np.zeros((n + m + 1, n + m + 1))
        K[:n, :n] = self.H[np.ix_(free, free)]
        K[np.arange(n), np.arange(n)] += SCHEDULE.flat
        K[np.arange(n, n + m), np.arange(n, n + m)] = -SCHEDULE.redundant
        K[n : n + m, :n] = self.J[np.ix_(rows, free)]
        K[:n, n : n + m] = K[n : n + m, :n].T
        K[n : n + m, -1] = K[-1, n : n + m] = -1.0 * (rows < self.M)
        return K

    def slopes(self, active: np.ndarray, side: np.ndarray) -> Float[np.ndarray, "n_free m"]:
        """How the design above a chart point changes with each entry of it, with this label."""
        free, rows = np.flatnonzero(side == 0), np.flatnonzero(active)
        n, own = len(free), np.flatnonzero(active[: self.M])
        right = np.zeros((n + len(rows) + 1, self.M))
        right[n + np.arange(len(own)), own] = 1.0
        out = np.zeros((len(side), self.M))
        # Rows may be redundant at a vertex, where designs do not move.
        out[free] = np.linalg.lstsq(self.equations(free, rows), right, rcond=None)[0][:n]
        return out

    def step(self, active: np.ndarray, side: np.ndarray) -> Step | None:
        """The solution with a label, whatever its signs are; None where there is none."""
        free, rows = np.flatnonzero(side == 0), np.flatnonzero(active)
        d = np.where(side < 0, self.lower, np.where(side > 0, self.upper, 0.0))
        n, m = len(free), len(rows)
        K = self.equations(free, rows)
        # The Lagrangian's slope along free variables, rows on their level, weights with sum 1.
        right = np.zeros(n + m + 1)
        right[:n] = -(self.tie + self.H @ d)[free]
        right[n : n + m] = -self.over[rows] - self.J[rows] @ d
        right[-1] = -1.0
        try:
            y = np.linalg.solve(K, right)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(y).all():
            return None
        d[free] = y[:n]
        mu = np.zeros(len(active))
        mu[rows] = y[n : n + m]
        return Step(d, mu, active, side)

    def switched(self, step: Step) -> tuple[np.ndarray, np.ndarray]:
        """The label with what has a wrong sign switched."""
        d, mu, active, side = step
        M, over = self.M, self.over + self.J @ d
        level = over[:M][active[:M]].max()
        over[:M] -= level
        pull = self.pull(step)
        out = np.where(
            d < self.lower - SCHEDULE.wrong, -1, np.where(d > self.upper + SCHEDULE.wrong, 1, 0)
        )
        new_side = np.where(side == 0, out, np.where(side * pull > SCHEDULE.wrong, 0, side))
        new_active = np.where(active, mu > -SCHEDULE.wrong, over > SCHEDULE.wrong)
        new_active[self.end :] = True
        if not new_active[:M].any():
            new_active[int(np.argmax(self.over[:M]))] = True
        return new_active, new_side

    def pull(self, step: Step) -> Float[np.ndarray, " n_free"]:
        """The slope of the Lagrangian after a step, which bounds hold against."""
        return self.J.T @ step.mu + self.H @ step.d + self.tie

    def falling(self, step: Step) -> Float[np.ndarray, " n_free"]:
        """A direction of negative curvature that bounds and active rows allow; zero at a minimum.

        Bounds that hold nothing forbid nothing.
        """
        free = np.flatnonzero((step.side == 0) | (np.abs(self.pull(step)) < SCHEDULE.unheld))
        rows = self.J[step.active][:, free]
        own = step.active[: self.M].sum()
        rows[:own] -= rows[:own].mean(axis=0)
        H = self.H[np.ix_(free, free)] + SCHEDULE.stiff * rows.T @ rows
        way = np.zeros(len(step.side))
        try:
            np.linalg.cholesky(H - SCHEDULE.negative * np.eye(len(free)))
        except np.linalg.LinAlgError:
            way[free] = np.linalg.eigh(H)[1][:, 0]
        return way

    def solve_cold(self) -> Step | None:
        """The solution from nothing, with curvatures that are positive; None where rows and bounds
        contradict each other.

        With P = RᵀR and v = R y + R⁻ᵀq the program min ½ yᵀPy + qᵀy, G y ≤ h, asks for the shortest
        v with G R⁻¹ v ≤ k. Its multipliers are proportional to nonnegative least squares of
        [−(G R⁻¹)ᵀ; −kᵀ] u ≈ e. Unknowns y are the step, the level, and the violation if it has a
        price.
        """
        from scipy.optimize import nnls

        M, end, L, R = self.M, self.end, len(self.lower), len(self.over)
        # The level may be as low as its curvature allows, so k is of that order.
        size = 1 / np.sqrt(SCHEDULE.level)
        price = [self.price] if np.isfinite(self.price) else []
        values, vectors = positive(self.H)
        n = L + 1 + len(price)
        root, unit = np.diag(np.r_[np.ones(L), size, size / np.array(price)]), np.eye(n)
        root[:L, :L] = vectors / np.sqrt(values)
        low, high = np.flatnonzero(np.isfinite(self.lower)), np.flatnonzero(np.isfinite(self.upper))
        rows = np.concatenate([self.J, -self.J[end:]])
        limited = np.zeros((len(rows), n))
        limited[:, :L], limited[:M, L], limited[M:, L + 1 :] = rows, -1.0, -1.0
        G = np.concatenate([limited, -unit[L + 1 :], -unit[low], unit[high]]) @ root
        over = np.concatenate([self.over[:M] - self.over[:M].max(), self.over[M:]])
        h = [-over, over[end:], np.zeros(len(price)), -self.lower[low], self.upper[high]]
        pull = root.T @ np.r_[self.tie, 1.0, price]
        k = np.concatenate(h) + G @ pull
        E = np.vstack([-G.T, -k / size])
        goal = np.eye(n + 1)[-1]
        if not np.isfinite(E).all():  # beside a pole
            return None
        try:
            u = nnls(E, goal)[0]
        except RuntimeError:  # too many iterations
            return None
        rest = E @ u - goal
        if abs(rest[-1]) < 1e-12:
            return None
        multiplier, v = -size * u / rest[-1], -size * rest[:-1] / rest[-1]
        d = (root @ (v - pull))[:L]
        mu = multiplier[:R].copy()
        mu[end:] -= multiplier[R : R + R - end]
        active = np.append(multiplier[:end] > SCHEDULE.priced, np.ones(R - end, dtype=bool))
        if not active[:M].any():
            return None
        side = np.zeros(L, dtype=int)
        own = multiplier[len(rows) + len(price) :]
        side[low[own[: len(low)] > SCHEDULE.priced]] = -1
        side[high[own[len(low) :] > SCHEDULE.priced]] = 1
        return Step(np.clip(d, self.lower, self.upper), mu, active, side)


def positive(
    H: Float[np.ndarray, "*n k k"],
) -> tuple[Float[np.ndarray, "*n k"], Float[np.ndarray, "*n k k"]]:
    """The absolute eigenvalues of curvatures, none much smaller than the largest, and their
    vectors."""
    values, vectors = np.linalg.eigh(H)
    values = np.abs(values)
    least = np.maximum(1e-3, values.max(axis=-1, keepdims=True, initial=0.0))
    return np.maximum(values, SCHEDULE.flattest * least), vectors
