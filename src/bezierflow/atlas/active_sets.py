"""The node solver: points of the front above chart points, by Newton's method on active sets.

Each step is a quadratic program, min s + ½ dᵀHd subject to linearized rows and bounds. What is
active in its solution is nearly what is active at a neighbor: with that label one system of the
free variables and the active rows gives step, multipliers and all signs; what has a wrong sign is
switched, and the system solved again. Where that does not settle, the program is solved from
nothing, by nonnegative least squares for its multipliers (Lawson and Hanson's least-distance
programming). Two to four steps make a node. Where rows are not convex a step may lead upwards;
such nodes are left to searches in a trust region.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from .local_solves import PARTS, Ends, search
from .program import Program
from .schedule import SCHEDULE


class Curvature:
    """Hessians of all rows at one design, used for others near it as long as that does.

    A Newton step with them costs slopes alone. It converges the faster the less Hessians change,
    at once where objectives are quadratic.

    Attributes:
        H: Hessians of the rows.
        rate: by which steps with them shortened last.
        constant: whether they were the same at every design.
    """

    def __init__(self, program: Program):
        self.program, self.rate, self.constant = program, 0.0, True
        self.H: np.ndarray | None = None

    @property
    def renews(self) -> bool:
        """Whether the next Hessians are those of their own designs."""
        return self.H is None or self.rate > SCHEDULE.slowest

    def look(
        self, z: Float[np.ndarray, "n n_free"], fresh: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, slopes, and Hessians: of these designs if they shall be fresh, else one for all."""
        if fresh or self.H is None or self.renews:
            look = self.program.look(z)
            if len(z):
                last = look.H[-1] if self.H is None else self.H
                change = np.abs(look.H - last).max(initial=0.0)
                self.constant &= bool(change <= SCHEDULE.constant * np.abs(last).max(initial=0.0))
                self.H = look.H[-1]
            self.rate *= SCHEDULE.forgiven
            return look.r, look.J, look.H
        r, J = self.program.slopes(z)
        return r, J, self.H[None]

    def learn(
        self, before: Float[np.ndarray, " n"], now: Float[np.ndarray, " n"]
    ) -> Float[np.ndarray, " n"]:
        """By which steps with Hessians of another design shortened, 1 at most."""
        with np.errstate(invalid="ignore"):
            rate = now / before
        seen = rate[(before > SCHEDULE.telling) & np.isfinite(before) & np.isfinite(now)]
        self.rate = float(seen.max()) if len(seen) else self.rate
        return np.minimum(np.nan_to_num(rate, nan=1.0), 1.0)


class Step(NamedTuple):
    """A step of designs with the multipliers and the label that it ends with."""

    d: Float[np.ndarray, " n_free"]
    mu: Float[np.ndarray, " n_rows"]
    active: Bool[np.ndarray, " n_rows"]
    side: Int[np.ndarray, " n_free"]


def solve_above(
    program: Program, a: np.ndarray, begin: Ends, labeled: bool = True
) -> tuple[Ends, Bool[np.ndarray, " n"]]:
    """The points of the front above chart points that Newton's method on active sets finds from
    designs with labels, and which of them are solutions.

    Where it ends higher than it began, and from designs without labels, a search by quadratic
    programs in a trust region comes first.
    """
    curvature, rest = Curvature(program), np.arange(len(a))
    ends, solved = begin.take(rest), np.zeros(len(a), dtype=bool)
    if labeled:
        found, good = follow(program, a, begin, curvature)
        good &= _as_low(program, a, found.r, program.values(begin.z))
        good &= program.nearly_feasible(found.r)
        ends, solved, rest = found, good, np.flatnonzero(~good)
    start = begin.z.copy()
    for _ in range(SCHEDULE.most_saddles):
        # From beside a saddle point, else from where Newton's method began.
        lower = program.merit(ends.r[rest], a[rest]) < program.merit(
            program.values(start[rest]), a[rest]
        )
        start[rest[lower]] = ends.z[rest[lower]]
        saddles = [rest[:0]]
        for part in np.array_split(rest, -(-len(rest) // SCHEDULE.at_once)) if len(rest) else ():
            found = search(program, a[part], start[part])
            exact, good = follow(program, a[part], found, curvature)
            lower = ~_as_low(program, a[part], found.r, exact.r)
            good &= _as_low(program, a[part], exact.r, found.r)
            good &= program.nearly_feasible(exact.r)
            better = good | (lower & program.nearly_feasible(exact.r))
            found.put(np.flatnonzero(better), exact.take(better))
            ends.put(part, found)
            solved[part] = good
            saddles.append(part[better & ~good])
        rest = np.concatenate(saddles)
        if len(rest) == 0:
            break
    return ends, solved


def _as_low(program: Program, a: np.ndarray, r: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which rows are no higher than others above chart points, with the tie-break of equations."""
    level, before = (program.merit(rows, a, SCHEDULE.tie_of_labels) for rows in (r, other))
    return level <= before + 1e-9


def follow(
    program: Program, a: np.ndarray, begin: Ends, curvature: Curvature | None = None
) -> tuple[Ends, Bool[np.ndarray, " n"]]:
    """Solutions above chart points from designs, multipliers and labels nearby, and which of them
    were found; for a saddle point, a design beside it."""
    curvature = curvature or Curvature(program)
    ends = Ends(*(getattr(begin, name).copy() for name in PARTS))
    ends.z = np.clip(ends.z, program.lower, program.upper)
    n = len(ends.z)
    done, fresh, ways, checks = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), {}, False
    todo, length = np.arange(n), np.full(n, np.inf)
    for iteration in range(SCHEDULE.newton_steps):
        exact = iteration >= SCHEDULE.stale_steps or curvature.renews or checks
        ends.r[todo], J, H = curvature.look(ends.z[todo], exact)
        before, fresh[todo] = length[todo], exact
        for k, i in enumerate(todo.tolist()):
            length[i], ways[i] = _step(program, a[i], ends, i, J[k], H[min(k, len(H) - 1)])
        now = length[todo]
        # Newton's error is the square of its last step, else a share of it.
        done[todo] = (now**2 if exact else now * curvature.learn(before, now)) < SCHEDULE.short
        todo = todo[(now <= SCHEDULE.longest) & (now >= SCHEDULE.short)]
        if len(todo) == 0 and not curvature.constant:
            # Hessians of another design see no saddle points of this one.
            todo, checks = np.flatnonzero(done & ~fresh), True
        if len(todo) == 0:
            break
    found = np.flatnonzero(done)
    ends.r[found] = program.values(ends.z[found])
    done[_left_saddles(program, a, ends, {i: ways[i] for i in found.tolist()})] = False
    return ends, done


def _step(
    program: Program, a: np.ndarray, ends: Ends, i: int, J: np.ndarray, H: np.ndarray
) -> tuple[float, Float[np.ndarray, " n_free"]]:
    """Makes one Newton step of a search; its length, and after a short one a direction in which
    objectives fall, zero at a minimum."""
    tie = SCHEDULE.tie_of_labels * (np.arange(program.n_rows) < program.n_objectives)
    model = Model(program, a, ends.z[i], ends.r[i], J, np.tensordot(ends.mu[i] + tie, H, axes=1))
    step = model.solve(ends.active[i], ends.side[i])
    if step is None:
        return np.inf, np.zeros(program.n_free)
    ends.z[i] = np.clip(ends.z[i] + step.d, program.lower, program.upper)
    ends.mu[i], ends.active[i], ends.side[i] = step.mu, step.active, step.side
    length = float(np.abs(step.d).max())
    return length, model.falling(step) if length < SCHEDULE.nudges[0] else np.zeros(program.n_free)


def _left_saddles(
    program: Program, a: np.ndarray, ends: Ends, ways: dict[int, np.ndarray]
) -> list[int]:
    """Moves ends that are saddle points to the lowest of some designs beside them, in the
    directions in which objectives fall; returns which these are.

    Along such a way active rows come apart; they are brought together again.
    """
    saddles = [i for i, way in ways.items() if way.any()]
    if not saddles:
        return saddles
    M, sizes = program.n_objectives, np.concatenate([SCHEDULE.nudges, np.negative(SCHEDULE.nudges)])
    z, way, n, k = ends.z[saddles], np.array([ways[i] for i in saddles]), len(saddles), len(sizes)
    J, L = program.slopes(z)[1], z.shape[1]
    beside = program.clip((z[:, None] + sizes[:, None] * way[:, None]).reshape(-1, L))
    over = program.values(beside).reshape(n, k, -1)
    over[:, :, :M] -= a[saddles][:, None]
    back = np.zeros((n, k, L))
    for j, i in enumerate(saddles):
        mu, active, free = ends.mu[i, :M], ends.active[i], ends.side[i] == 0
        level = over[j, :, :M] @ mu / mu.sum()
        off = over[j][:, active] - np.outer(level, np.flatnonzero(active) < M)
        back[j][:, free] = -np.linalg.lstsq(J[j][active][:, free], off.T, rcond=1e-9)[0].T
    again = program.clip(beside + back.reshape(-1, L))
    beside = np.concatenate([part.reshape(n, k, L) for part in (beside, again)], axis=1)
    rows = program.values(beside.reshape(-1, L))
    best = program.merit(rows, np.repeat(a[saddles], 2 * k, axis=0)).reshape(n, -1).argmin(axis=1)
    first = np.arange(n)
    ends.z[saddles] = beside[first, best]
    ends.r[saddles] = rows.reshape(n, 2 * k, -1)[first, best]
    return saddles


class Model:
    """The quadratic program of one step, with rows r + J d and the Lagrangian's curvature H."""

    def __init__(
        self,
        program: Program,
        a: np.ndarray,
        z: np.ndarray,
        r: np.ndarray,
        J: np.ndarray,
        H: np.ndarray,
    ):
        M = program.n_objectives
        self.M, self.end, self.J, self.H = M, M + program.n_inequalities, J, H
        self.lower, self.upper = program.lower - z, program.upper - z
        self.over = np.concatenate([r[:M] - a, r[M:]])
        self.tie = SCHEDULE.tie_of_labels * J[:M].sum(axis=0)

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
                return step
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
        [−(G R⁻¹)ᵀ; −kᵀ] u ≈ e.
        """
        from scipy.optimize import nnls

        M, end, L, R = self.M, self.end, len(self.lower), len(self.over)
        values, vectors = np.linalg.eigh(self.H)
        values = np.abs(values)
        values = np.maximum(values, SCHEDULE.flattest * max(1e-3, values.max(initial=0.0)))
        root = np.zeros((L + 1, L + 1))
        root[:L, :L], root[L, L] = vectors / np.sqrt(values), 1 / np.sqrt(SCHEDULE.level)
        low, high = np.flatnonzero(np.isfinite(self.lower)), np.flatnonzero(np.isfinite(self.upper))
        rows = np.concatenate([self.J, -self.J[end:]])
        on_level = np.where(np.arange(len(rows)) < M, -1.0, 0.0)
        unit = np.eye(L + 1)
        G = np.concatenate([np.column_stack([rows, on_level]), -unit[low], unit[high]]) @ root
        h = np.concatenate([-self.over, self.over[end:], -self.lower[low], self.upper[high]])
        pull = root.T @ np.append(self.tie, 1.0)
        k = h + G @ pull
        # The level may be as low as its curvature allows, so k is of that order.
        size = 1 / np.sqrt(SCHEDULE.level)
        E = np.vstack([-G.T, -k / size])
        goal = np.eye(L + 2)[-1]
        if not np.isfinite(E).all():  # beside a pole
            return None
        try:
            u = nnls(E, goal)[0]
        except RuntimeError:  # too many iterations
            return None
        rest = E @ u - goal
        if abs(rest[-1]) < 1e-12:
            return None
        price, v = -size * u / rest[-1], -size * rest[:-1] / rest[-1]
        d = (root @ (v - pull))[:L]
        mu = price[:R].copy()
        mu[end:] -= price[R : R + R - end]
        active = np.append(price[:end] > SCHEDULE.priced, np.ones(R - end, dtype=bool))
        if not active[:M].any():
            return None
        side = np.zeros(L, dtype=int)
        own = price[len(rows) :]
        side[low[own[: len(low)] > SCHEDULE.priced]] = -1
        side[high[own[len(low) :] > SCHEDULE.priced]] = 1
        return Step(np.clip(d, self.lower, self.upper), mu, active, side)
