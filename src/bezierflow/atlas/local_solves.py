"""The point of the front above a chart point, from any start: sequential quadratic programming in a
trust region, with exact derivatives or with differences and a curvature that is learned."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from .program import Program
from .quadratic import Model, Step, positive
from .schedule import SCHEDULE

PARTS = ("z", "r", "mu", "active", "side")
"""What every search ends with."""


@dataclass
class Ends:
    """Where searches ended: points with rows, multipliers and the label that the last quadratic
    program suggests, and the curvature that was learned, if any."""

    z: np.ndarray
    r: np.ndarray
    mu: np.ndarray
    active: np.ndarray
    side: np.ndarray
    bend: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> "Ends":
        """Some of them."""
        z, r, mu, active, side = (getattr(self, name)[rows] for name in PARTS)
        return Ends(z, r, mu, active, side, None if self.bend is None else self.bend[rows])

    def put_better(self, rows: np.ndarray, other: "Ends", program: Program, a: np.ndarray) -> None:
        """Replaces those of some rows than which others are better."""
        better = program.merit(other.r, a[rows]) < program.merit(self.r[rows], a[rows])
        self.put(rows[better], other.take(better))

    def put(self, rows: np.ndarray, other: "Ends") -> None:
        """Replaces some of them."""
        for name in PARTS:
            getattr(self, name)[rows] = getattr(other, name)
        if self.bend is not None and other.bend is not None:
            self.bend[rows] = other.bend


def search(
    program: Program,
    a: Float[np.ndarray, "n n_objectives"],
    z: Float[np.ndarray, "n n_free"],
    bend: Float[np.ndarray, "n n_free n_free"] | None = None,
    *how: float,
) -> Ends:
    """Searches by quadratic programs, see `descend`; again with a higher price where they end with
    violations."""
    ends = descend(program, a, z, bend, *how)
    before = np.full(len(a), np.inf)
    for _ in range(SCHEDULE.dearer if program.has_hessians else 1):
        over = program.violation(ends.r)
        # Where a higher price has changed little there is nothing feasible nearby.
        todo = np.flatnonzero((over > 1) & (over < SCHEDULE.hopeful * before))
        if len(todo) == 0 or program.price >= SCHEDULE.most_price:
            break
        before = over
        if program.has_hessians:
            program.price *= 10
            again = descend(program, a[todo], z[todo], None, *how)
        else:
            # From where they ended, which is near; a price that multipliers do not reach will do.
            mu = np.abs(ends.mu[todo, program.n_objectives :]).sum(axis=1)
            program.price *= 10 if (mu > SCHEDULE.dear * program.price).any() else 1
            again = descend(program, a[todo], ends.z[todo], ends.take(todo).bend, *how[:1])
        ends.put_better(todo, again, program, a)
    return ends


def descend(
    program: Program,
    a: Float[np.ndarray, "n n_objectives"],
    z: Float[np.ndarray, "n n_free"],
    bend: Float[np.ndarray, "n n_free n_free"] | None = None,
    radius: float = SCHEDULE.first_radius,
    least: float = SCHEDULE.nothing,
    enough: float = -np.inf,
) -> Ends:
    """Local minimizers of the merit: quadratic programs in a trust region, with the exact curvature
    (its absolute value), or one that is learned from slopes along the way.

    Args:
        program: is asked.
        a: chart points.
        z: where to start, one for each.
        bend: where curvature is learned, a positive definite guess to begin with.
        radius: of the first trust region.
        least: a search ends before a step that promises less.
        enough: and after a step that gained less.
    """
    n, M, R = len(z), program.n_objectives, program.n_rows
    z = program.clip(z)
    curvature = Exact(program) if program.has_hessians else Learned(program, bend)
    r, J = curvature.begin(z)
    merit = program.merit(r, a)
    radii = np.full(n, radius)
    mu = np.concatenate([np.full((n, M), 1 / M), np.zeros((n, R - M))], axis=1)
    active, side = np.zeros((n, R), dtype=bool), np.zeros(z.shape, dtype=int)
    todo = np.flatnonzero(np.isfinite(merit))

    def steps(rows: np.ndarray, Q: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, ...]:
        """Those of the quadratic models within the radii, from what was active in the last."""
        parts, found = zip(rows.tolist(), Q, r, strict=True), []
        for i, bend, at in parts:
            model = Model(program, (a[i], z[i]), at, J[i], bend, float(radii[i]))
            nothing = Step(np.zeros(z.shape[1]), mu[i], active[i], side[i])
            found.append(model.solve(active[i], side[i]) or nothing)
        return tuple(map(np.array, zip(*found, strict=True)))

    for _ in range(SCHEDULE.search_steps):
        if len(todo) == 0:
            break
        Q = curvature.model(todo, mu[todo])
        d, mu[todo], active[todo], side[todo] = steps(todo, Q, r[todo])
        promise = merit[todo] - program.merit(_linear(r[todo], J[todo], d), a[todo])
        keep = promise >= least
        todo, d, promise, Q = todo[keep], d[keep], promise[keep], Q[keep]
        target = z[todo] + d
        if curvature.corrects:
            # Exactly on the bounds: a root at 0 tells 1e-13 from 0.
            held = _at_bounds(program, target, side[todo])
            target = np.where(held < 0, program.lower, np.where(held > 0, program.upper, target))
        trial, rows = program.step_to(target)
        after = program.merit(rows, a[todo])
        length = np.abs(d).max(axis=1)
        short = np.flatnonzero(after > merit[todo] - 0.1 * promise)
        if curvature.corrects and len(short):
            # Curved rows make a good step look bad (Maratos): once more, with their values there.
            those = todo[short]
            bent = rows[short] - np.einsum("nri,ni->nr", J[those], d[short])
            trial2, rows2 = program.step_to(z[those] + steps(those, Q[short], bent)[0])
            after2 = program.merit(rows2, a[those])
            use = after2 < after[short]
            rows[short[use]], trial[short[use]] = rows2[use], trial2[use]
            after[short] = np.minimum(after[short], after2)
        better = after < merit[todo] - 1e-10 * length
        on = better & (np.maximum(merit[todo] - after, promise) >= enough)
        moved, going = todo[better], todo[on]
        step = trial[on] - z[going]
        z[moved], r[moved], merit[moved] = trial[better], rows[better], after[better]
        if len(going):
            known = r[going], J[going], mu[going]
            r[going], J[going] = curvature.renew(going, z[going], step, *known)
        grown = np.where(length > 0.9 * radii[todo], 2.5 * radii[todo], radii[todo])
        radii[todo] = np.where(
            better,
            np.minimum(grown, SCHEDULE.largest_radius),
            0.3 * np.minimum(radii[todo], length),
        )
        todo = todo[on | ~better]
    nothing = np.flatnonzero(~active[:, :M].any(axis=1))
    active[nothing, (r[:, :M] - a).argmax(axis=1)[nothing]] = True
    learned = curvature.H if isinstance(curvature, Learned) else None
    return Ends(z, r, mu, active, _at_bounds(program, z, side), learned)


class Exact:
    """Slopes and Hessians of all rows."""

    corrects = False

    def __init__(self, program: Program):
        self.program, self.H = program, np.zeros((0, 0, 0, 0))

    def begin(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and slopes where searches start."""
        look = self.program.look(z)
        self.H = look.H.copy()
        return look.r.copy(), look.J.copy()

    def model(self, rows: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """Positive definite curvatures of the Lagrangians of some searches."""
        weights = mu + SCHEDULE.tie * (np.arange(mu.shape[1]) < self.program.n_objectives)
        if self.program.is_quadratic:
            weighted = np.tensordot(weights, self.H[0], axes=1)
        else:
            weighted = np.einsum("nr,nrij->nij", weights, self.H[rows])
        if self.program.is_convex:
            least = SCHEDULE.flattest * np.maximum(1e-3, np.abs(weighted).max(axis=(1, 2)))
            return weighted + least[:, None, None] * np.eye(weighted.shape[1])
        values, vectors = positive(weighted)
        return (vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2)

    def renew(
        self, rows: np.ndarray, z: np.ndarray, *before: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows and slopes of some searches after steps."""
        look = self.program.look(z)
        if not self.program.is_quadratic:
            self.H[rows] = look.H
        return look.r, look.J


class Learned:
    """Slopes, and a curvature of the Lagrangian that their changes teach: damped BFGS."""

    corrects = True

    def __init__(self, program: Program, bend: np.ndarray | None):
        self.program, self.H = program, np.zeros((0, 0, 0)) if bend is None else bend.copy()
        self.is_new = bend is None

    def begin(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and slopes where searches start, with a first guess of the curvature."""
        if self.is_new:
            self.H = np.tile(SCHEDULE.first_bend * np.eye(z.shape[1]), (len(z), 1, 1))
        return self.program.slopes(z)

    def model(self, rows: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """The curvatures of some searches as they were learned."""
        return self.H[rows]

    def renew(
        self,
        rows: np.ndarray,
        z: np.ndarray,
        step: np.ndarray,
        r: np.ndarray,
        J: np.ndarray,
        mu: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows and slopes of some searches after steps, whose change teaches."""
        r, new = self.program.slopes(z, r)
        H = self.H[rows]
        change = np.einsum("nr,nri->ni", mu, new - J)
        flat = np.einsum("nij,nj->ni", H, step)
        bent, seen = (step * flat).sum(axis=1), (step * change).sum(axis=1)
        # Powell's damping: what is learned stays positive definite.
        share = np.where(seen > 0.1 * bent, 1.0, 0.9 * bent / np.maximum(bent - seen, 1e-300))
        change = share[:, None] * change + (1 - share)[:, None] * flat
        seen = (step * change).sum(axis=1)
        size = np.linalg.norm(change, axis=1) < SCHEDULE.steep_bend * np.linalg.norm(step, axis=1)
        use = (bent > 1e-20) & (seen > 1e-18) & size
        old, at, much = (part[use] for part in (H, flat, change))
        H[use] = (
            old
            - at[:, :, None] * at[:, None] / bent[use, None, None]
            + much[:, :, None] * much[:, None] / seen[use, None, None]
        )
        values, vectors = np.linalg.eigh(H[use])
        values = np.clip(values, *SCHEDULE.bends)
        H[use] = (vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
        self.H[rows] = H
        return r, new


def _linear(r: np.ndarray, J: np.ndarray, d: np.ndarray) -> np.ndarray:
    return r + np.einsum("nri,ni->nr", J, d)


def _at_bounds(program: Program, z: np.ndarray, side: np.ndarray) -> np.ndarray:
    """The sides that are those of the box, not of a trust region."""
    end = np.where(side < 0, program.lower, program.upper)
    return np.where(np.abs(end - z) < 1e-6, side, 0)
