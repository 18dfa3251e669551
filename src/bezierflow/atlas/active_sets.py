"""Newton's method on active sets: nodes of a mesh from what is active at their neighbors.

With the label of a neighbor (which objectives are on the level, which constraints are active, which
variables are at a bound), one Newton step on the free variables alone predicts all signs; what has
a wrong sign is switched, and the next step is made with that. Where neighbors are near, two or
three steps do, each with one matrix of the free variables. A search by quadratic programs takes
the rest.
"""

import numpy as np

from .labels import FLAT, TIE_OF_LABELS
from .local_solves import Ends
from .program import Program

MOST_STEPS = 12

SHORT = 1e-9
"""A step shorter than this, with a label that stays, is the last."""

WRONG = 1e-11
"""Signs below minus this are wrong."""


def follow(program: Program, a: np.ndarray, begin: Ends) -> tuple[Ends, np.ndarray]:
    """Solutions above chart points from designs, multipliers and labels nearby, and which of them
    were found."""
    M = program.n_objectives
    z, mu, active, side = begin.z.copy(), begin.mu.copy(), begin.active.copy(), begin.side.copy()
    z = np.where(side < 0, program.lower, np.where(side > 0, program.upper, z))
    z = np.clip(z, program.lower, program.upper)
    r, done = begin.r.copy(), np.zeros(len(z), dtype=bool)
    todo = np.arange(len(z))
    for _ in range(MOST_STEPS):
        if len(todo) == 0:
            break
        look = program.look(z[todo])
        r[todo] = look.r
        weights = mu[todo] + TIE_OF_LABELS * (np.arange(program.n_rows) < M)
        H = np.einsum("nr,nrij->nij", weights, look.H)
        rest = []
        for k, i in enumerate(todo):
            here = look.r[k], look.J[k], H[k]
            step = _step(program, a[i], z[i], here, active[i], side[i])
            if step is None:
                continue
            target, mu[i], new_active, new_side = step
            same = (new_active == active[i]).all() and (new_side == side[i]).all()
            length = np.abs(target - z[i]).max()
            z[i], active[i], side[i] = target, new_active, new_side
            # Newton's error is the square of its last step.
            if same and length < np.sqrt(SHORT):
                done[i] = True
            if not (same and length < SHORT) and length < LONGEST:
                rest.append(i)
        todo = np.array(rest, dtype=int)
    found = np.flatnonzero(done)
    r[found] = program.values(z[found])
    return Ends(z, r, mu, active, side), done


LONGEST = 2.0
"""A longer step, in units of the box, leads away."""


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
