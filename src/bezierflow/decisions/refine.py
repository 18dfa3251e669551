"""The last digits of answers: Newton's method on the first-order conditions, once it is known which constraints bind."""

import numpy as np
from jaxtyping import Bool, Float, Int

from ..simplex import tangent_basis
from .front_map import AbstractFrontMap
from .minimax import End, Programs

MOST_STEPS = 10
"""Newton's method doubles its digits with each step: from a point of the grid three or four do, from the guide's end one."""

LONGEST = 0.2
"""No step is longer: what is that far away has other neighbors on the grid."""

NOISE = 1e-10
"""A dual this little below 0, or a constraint broken by no more, is rounding."""

TOL = 1e-10
"""Newton's method has arrived when no residual is larger, in units of ranges."""

GOOD = 1e-8
"""Its end is accepted with a residual up to this."""

TWICE = 1e-13
"""Keeps the system solvable where constraints that bind together say the same thing twice."""

BENT = 1e-2
"""Where the Lagrangian bends upward by more than this along all that binds, no other point nearby is as good."""


def refine(
    front: AbstractFrontMap,
    programs: Programs,
    which: Int[np.ndarray, " n"],
    t: Float[np.ndarray, "n n_objectives"],
    binding: Bool[np.ndarray, "n n_constraints"],
    duals: Float[np.ndarray, "n n_constraints"],
) -> list[End | None]:
    """The minimizer next to each t; None where Newton's method finds none.

    Solves ∇L = 0, Σ λ_goals = 1 and 'every binding constraint holds with equality' for t, τ and the duals of what binds, for
    all t at once. What binds is corrected on the way: a constraint with a negative dual is let go, one that is broken binds
    (Hintermüller, Ito and Kunisch, "The primal-dual active set strategy as a semismooth Newton method", SIAM J. Optim. 13,
    2002). It is what makes an answer found on a stand-in for the front an answer on the front itself.

    Args:
        front: the front.
        programs: the questions.
        which: the number of the question that each t is for.
        t: where to begin.
        binding: a guess which goals, bounds and −t ≤ 0 bind.
        duals: a guess of their duals.
    """
    rows, limits = programs.rows(which)
    n, n_rows, n_goals, size = len(t), rows.shape[1], programs.c.shape[1], t.shape[1]
    directions = tangent_basis(size)
    J = np.zeros((n, n_rows + size, size))
    J[:, :n_goals, -1] = -1.0
    J[:, n_rows:, :-1] = -directions
    last, tau = np.full(n, np.inf), np.zeros(n)
    levels, matrix = np.zeros((n, n_rows)), np.zeros((n, 0, 0))
    moving = np.ones(n, dtype=bool)
    for step in range(MOST_STEPS + 1):
        values, jacobian, hessian = front.derivatives(t)
        levels = (rows @ values[..., None])[..., 0] - limits
        J[:, :n_rows, :-1] = rows @ jacobian
        if step == 0:
            tau = levels[:, :n_goals].max(axis=1)
        excess = np.concatenate([levels[:, :n_goals] - tau[:, None], levels[:, n_goals:], -t], axis=1)
        if step:
            corrected = np.where(binding, duals > -NOISE, excess > NOISE)
            last[(corrected != binding).any(axis=1)] = np.inf
            binding = corrected
        duals, held = np.where(binding, duals, 0.0), J * binding[..., None]
        slope = (duals[:, None] @ held)[:, 0]
        slope[:, -1] += 1.0
        right = np.concatenate([slope, excess * binding], axis=1)
        residual = np.abs(right).max(axis=1)
        moving &= residual <= 10 * last + 1e-6
        last = residual
        W = ((duals[:, None, :n_rows] @ rows) @ hessian.reshape(n, hessian.shape[1], -1)).reshape(n, size - 1, size - 1)
        matrix = _system(W, held, binding)
        if step == MOST_STEPS or not (moving & (residual > TOL)).any():
            break
        moves = _moves(matrix, right, size - 1)
        moves = np.where(moving[:, None], moves, 0.0)
        t, tau, duals = t + moves[:, : size - 1] @ directions.T, tau + moves[:, size - 1], duals + moves[:, size:]
    goal, violation = levels[:, :n_goals].max(axis=1), levels[:, n_goals:].max(axis=1, initial=0.0)
    good = moving & (last <= GOOD) & (t.min(axis=1) >= -NOISE) & (duals.min(axis=1) >= -GOOD) & (goal <= tau + GOOD)
    bends = np.full(n, -np.inf)
    if good.any():  # as many negative eigenvalues as constraints: the others are those of the Lagrangian along what binds
        bends[good] = np.linalg.eigvalsh(matrix[good])[:, n_rows + size]
    t = np.where(t < TOL, 0.0, t)
    t = t / t.sum(axis=1, keepdims=True)
    return [
        End(t[k], float(goal[k]), float(violation[k]), duals[k], binding[k], float(last[k]), bool(bends[k] > BENT))
        if bends[k] > -GOOD
        else None
        for k in range(n)
    ]


def _moves(matrix: np.ndarray, right: np.ndarray, k: int) -> np.ndarray:
    """Newton's moves of (v, τ, duals); where one would follow a downward bend, of the front bent upward instead."""
    moves = _solve(matrix, -right)
    W, v = matrix[:, :k, :k], moves[:, :k]
    down = np.einsum("ni,nij,nj->n", v, W, v) < 0
    if down.any():
        sizes, axes = np.linalg.eigh(W[down])
        matrix = matrix[down]
        matrix[:, :k, :k] = (axes * np.abs(sizes)[:, None]) @ np.swapaxes(axes, 1, 2)
        moves[down] = _solve(matrix, -right[down])
    longest = np.abs(moves[:, :k]).max(axis=1, keepdims=True)
    return moves * np.minimum(1.0, LONGEST / np.maximum(longest, LONGEST))


def _system(W: np.ndarray, held: np.ndarray, binding: np.ndarray) -> np.ndarray:
    """The matrix of Newton's step for (v, τ, duals); the duals of what does not bind stay 0."""
    n, n_constraints, size = held.shape
    matrix = np.zeros((n, size + n_constraints, size + n_constraints))
    matrix[:, : size - 1, : size - 1] = W
    matrix[:, size:, :size] = held
    matrix[:, :size, size:] = np.swapaxes(held, 1, 2)
    diagonal = np.arange(size, size + n_constraints)
    matrix[:, diagonal, diagonal] = np.where(binding, -TWICE, -1.0)
    return matrix


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:  # a front that is flat along what binds has no single answer: let the others move on
        single = np.asarray(np.linalg.det(matrix) != 0)
        moves = np.empty_like(right)
        moves[single] = np.linalg.solve(matrix[single], right[single][..., None])[..., 0]
        for k in np.flatnonzero(~single):
            moves[k] = np.linalg.lstsq(matrix[k], right[k], rcond=1e-13)[0]
        return moves
