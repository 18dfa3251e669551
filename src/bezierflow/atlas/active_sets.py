"""The node solver: points of the front above chart points, by Newton's method on active sets.

Each step is a quadratic program (`quadratic`), whose active set is nearly that of a neighbor. Two
to four steps make a node. Where rows are not convex a step may lead upwards; such nodes are left to
searches in a trust region.
"""

import numpy as np
from jaxtyping import Bool, Float

from .local_solves import PARTS, Ends, search
from .program import Program
from .quadratic import Model
from .schedule import SCHEDULE


class Curvature:
    """Hessians of all rows at one design, used for others near it as long as that does.

    A Newton step with them costs slopes alone. It converges the faster the less Hessians change.

    Attributes:
        H: Hessians of the rows.
        rate: by which steps with them shortened last.
    """

    def __init__(self, program: Program):
        self.program, self.rate = program, 0.0
        self.H: np.ndarray | None = None

    @property
    def renews(self) -> bool:
        """Whether the next Hessians are those of their own designs."""
        return self.H is None or self.rate > SCHEDULE.slowest

    def look(
        self, z: Float[np.ndarray, "n n_free"], fresh: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, slopes, and Hessians: of these designs if they shall be fresh, else one for all."""
        if self.program.is_quadratic:
            return self.program.look(z)
        if fresh or self.H is None or self.renews:
            look = self.program.look(z)
            if len(z):
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


def by_place(program: Program, z: Float[np.ndarray, "n n_free"]) -> Ends:
    """Designs to begin at whose place says what is active."""
    M, z = program.n_objectives, program.clip(z)
    r = program.values(z)
    active = r > -SCHEDULE.tight
    active[:, :M] = active[:, M + program.n_inequalities :] = True
    side = np.where(z == program.lower, -1, np.where(z == program.upper, 1, 0))
    mu = np.zeros(r.shape)
    mu[:, :M] = 1 / M
    return Ends(z, r, mu, active, side)


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
        now, new = _steps(program, a, ends, todo, J, H)
        length[todo] = now
        ways.update(new)
        # Newton's error is the square of its last step, else a share of it.
        done[todo] = (now**2 if exact else now * curvature.learn(before, now)) < SCHEDULE.short
        todo = todo[(now <= SCHEDULE.longest) & (now >= SCHEDULE.short)]
        last = len(todo) == 0 or iteration + 1 == SCHEDULE.stale_steps
        if last and not program.is_quadratic:
            # Hessians of another design see no saddle points of this one, nor how long its steps
            # are.
            todo, checks = np.union1d(todo, np.flatnonzero(done & ~fresh)), True
        if len(todo) == 0:
            break
    found = np.flatnonzero(done)
    ends.r[found] = program.values(ends.z[found])
    done[_left_saddles(program, a, ends, {i: ways[i] for i in found.tolist()})] = False
    return ends, done


def _steps(
    program: Program, a: np.ndarray, ends: Ends, rows: np.ndarray, J: np.ndarray, H: np.ndarray
) -> tuple[Float[np.ndarray, " n"], dict[int, np.ndarray]]:
    """`_step` for some of the searches, with slopes of each and a Hessian of each or of all."""
    made = [
        _step(program, a[i], ends, i, J[k], H[min(k, len(H) - 1)])
        for k, i in enumerate(rows.tolist())
    ]
    ways = dict(zip(rows.tolist(), (way for _, way in made), strict=True))
    return np.array([length for length, _ in made]), ways


def _step(
    program: Program, a: np.ndarray, ends: Ends, i: int, J: np.ndarray, H: np.ndarray
) -> tuple[float, Float[np.ndarray, " n_free"]]:
    """Makes one Newton step of a search; its length, and after a short one a direction in which
    objectives fall, zero at a minimum."""
    tie = SCHEDULE.tie_of_labels * (np.arange(program.n_rows) < program.n_objectives)
    model = Model(program, (a, ends.z[i]), ends.r[i], J, np.tensordot(ends.mu[i] + tie, H, axes=1))
    step = model.solve(ends.active[i], ends.side[i])
    if step is None:
        return np.inf, np.zeros(program.n_free)
    ends.z[i] = np.clip(ends.z[i] + step.d, program.lower, program.upper)
    ends.mu[i], ends.active[i], ends.side[i] = step.mu, step.active, step.side
    length = float(np.abs(step.d).max())
    if program.is_convex or length >= SCHEDULE.nudges[0]:
        return length, np.zeros(program.n_free)
    return length, model.falling(step)


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
