"""Newton's method on active sets: nodes of a mesh from what is active at their neighbors.

With the label of a neighbor (which objectives are on the level, which constraints are active, which
variables are at a bound), one Newton step on the free variables alone predicts all signs; what has
a wrong sign is switched, and the next step is made with that. Where neighbors are near, two or
three steps do, each with one matrix of the free variables. A search by quadratic programs takes
the rest.
"""

import numpy as np
from jaxtyping import Float

from .labels import FLAT, TIE_OF_LABELS
from .local_solves import Ends
from .program import Program

MOST_STEPS = 12

SHORT = 1e-9
"""A step shorter than this, with a label that stays, is the last."""

WRONG = 1e-11
"""Signs below minus this are wrong."""


LONGEST = 2.0
"""A longer step, in units of the box, leads away."""

STALE_STEPS, SLOWEST, TELLING, FORGIVEN = 4, 0.1, 1e-6, 0.7
"""Newton steps at a node with the curvature of another, as long as these shorten at least by the
second number; those shorter than the third are rounding, and say nothing. Each look at fresh ones
multiplies the rate that was seen by the last, so that Hessians are shared again later."""


class Curvature:
    """Hessians of all rows at one design, used for others near it as long as that does.

    A Newton step with them costs slopes alone. It converges the faster the less Hessians change,
    at once where objectives are quadratic.

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
        return self.H is None or self.rate > SLOWEST

    def look(
        self, z: Float[np.ndarray, "n n_free"], fresh: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, slopes, and Hessians: of these designs if they shall be fresh, else one for all."""
        if fresh or self.H is None or self.renews:
            look = self.program.look(z)
            if len(z):
                self.H = look.H[-1]
            self.rate *= FORGIVEN
            return look.r, look.J, look.H
        r, J = self.program.slopes(z)
        return r, J, self.H[None]


def follow(
    program: Program, a: np.ndarray, begin: Ends, curvature: Curvature | None = None
) -> tuple[Ends, np.ndarray]:
    """Solutions above chart points from designs, multipliers and labels nearby, and which of them
    were found."""
    curvature = curvature or Curvature(program)
    z, mu, active, side = begin.z.copy(), begin.mu.copy(), begin.active.copy(), begin.side.copy()
    z = np.where(side < 0, program.lower, np.where(side > 0, program.upper, z))
    z = np.clip(z, program.lower, program.upper)
    r, done = begin.r.copy(), np.zeros(len(z), dtype=bool)
    tie = TIE_OF_LABELS * (np.arange(program.n_rows) < program.n_objectives)
    todo, length = np.arange(len(z)), np.full(len(z), np.inf)
    for iteration in range(MOST_STEPS):
        exact = iteration >= STALE_STEPS or curvature.renews
        r[todo], J, rows = curvature.look(z[todo], exact)
        before = length[todo]
        # Infinite where a label changed, or no step was possible.
        length[todo] = np.inf
        for k, i in enumerate(todo.tolist()):
            here = r[i], J[k], np.tensordot(mu[i] + tie, rows[min(k, len(rows) - 1)], axes=1)
            step = _step(program, a[i], z[i], here, active[i], side[i])
            if step is None:
                mu[i] = np.nan
                continue
            target, mu[i], new_active, new_side = step
            if (new_active == active[i]).all() and (new_side == side[i]).all():
                length[i] = np.abs(target - z[i]).max()
            z[i], active[i], side[i] = target, new_active, new_side
        now = length[todo]
        with np.errstate(invalid="ignore"):
            rate = now / before
        # Newton's error is the square of its last step, else a share of it.
        left = now**2 if exact else now * np.minimum(np.nan_to_num(rate, nan=1.0), 1.0)
        done[todo] |= left < SHORT
        seen = rate[(before > TELLING) & np.isfinite(before) & np.isfinite(now)]
        if len(seen) and not exact:
            curvature.rate = float(seen.max())
        lost = np.isnan(mu[todo]).any(axis=1) | ((now > LONGEST) & np.isfinite(now))
        todo = todo[~lost & (now >= SHORT)]
        if len(todo) == 0:
            break
    found = np.flatnonzero(done)
    r[found] = program.values(z[found])
    return Ends(z, r, mu, active, side), done


def _step(
    program: Program,
    a: np.ndarray,
    z: np.ndarray,
    here: tuple[np.ndarray, np.ndarray, np.ndarray],
    active: np.ndarray,
    side: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """One Newton step with a label: the design, the multipliers, and the label that its signs ask
    for; None where its equations have no solution. `here` are rows, slopes, and the Lagrangian's
    curvature."""
    M, end = program.n_objectives, program.n_objectives + program.n_inequalities
    r, J, H = here
    free, rows = np.flatnonzero(side == 0), np.flatnonzero(active)
    moved = np.where(side < 0, program.lower - z, np.where(side > 0, program.upper - z, 0.0))
    n, m = len(free), len(rows)
    tie = TIE_OF_LABELS * J[:M].sum(axis=0)
    level = (rows < M).astype(float)
    K = np.zeros((n + m + 1, n + m + 1))
    K[:n, :n] = H[np.ix_(free, free)]
    K[np.arange(n), np.arange(n)] += FLAT
    K[n : n + m, :n] = J[np.ix_(rows, free)]
    K[:n, n : n + m] = K[n : n + m, :n].T
    K[n : n + m, -1] = K[-1, n : n + m] = -level
    # The Lagrangian's slope along free variables, rows on their level, weights with sum 1.
    right = np.zeros(n + m + 1)
    right[:n] = -(tie + H @ moved)[free]
    wanted = np.where(rows < M, a[np.minimum(rows, M - 1)], 0.0)
    right[n : n + m] = wanted - r[rows] - J[rows] @ moved
    right[-1] = -1.0
    try:
        y = np.linalg.solve(K, right)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(y).all():
        return None
    d = moved.copy()
    d[free] = y[:n]
    mu = np.zeros(len(r))
    mu[rows] = y[n : n + m]
    s = y[-1]
    bound = J.T @ mu + H @ d + tie
    target = z + d
    new_side = side.copy()
    new_side[free] = np.where(
        target[free] < program.lower[free] - WRONG,
        -1,
        np.where(target[free] > program.upper[free] + WRONG, 1, 0),
    )
    new_side[((side < 0) & (bound < -WRONG)) | ((side > 0) & (bound > WRONG))] = 0
    over = r + J @ d
    over[:M] -= a + s
    new_active = np.where(active, mu > -WRONG, over > WRONG)
    new_active[end:] = True
    if not new_active[:M].any():
        new_active[int(np.argmax(r[:M] - a))] = True
    return np.clip(target, program.lower, program.upper), mu, new_active, new_side
