"""The last digits of an answer: Newton's method on the first-order conditions, once it is known which constraints bind."""

import numpy as np

from .front_map import AbstractFrontMap, tangent_basis
from .minimax import Program

MOST_STEPS = 6
"""Newton's method doubles its digits with each step; from an answer of the interior-point method two or three do."""

TOL = 1e-12
"""Newton's method has arrived when no residual is larger."""

GOOD = 1e-8
"""Its end is accepted with a residual up to this."""


def refine(
    front: AbstractFrontMap, program: Program, t: np.ndarray, binding: np.ndarray, duals: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """The solution next to t with these constraints binding, all duals, and its residual; None where Newton's method finds none.

    Solves ∇L = 0, Σ λ_goals = 1 and 'every binding constraint holds with equality' for t, τ and the duals of what binds. It is
    what makes an answer found on a stand-in for the front an answer on the front itself.
    """
    directions = tangent_basis(len(t))
    n_goals, n_bounds = len(program.c), len(program.d)
    goals, limits, zeros = np.split(binding, [n_goals, n_goals + n_bounds])
    rows = np.concatenate([program.A[goals], program.B[limits]])
    every, size = np.zeros(len(duals)), len(t)
    duals, last = duals[binding], np.inf
    tau = float(program.goal(front.values(t[None]))[0])
    for _ in range(MOST_STEPS):
        values, jacobian, hessian = (part[0] for part in front.derivatives(t[None]))
        equations = np.concatenate(
            [(program.A @ values - program.c - tau)[goals], (program.B @ values - program.d)[limits], -t[zeros]]
        )  # fmt: skip
        J = np.zeros((len(duals), size))
        J[: len(rows), :-1] = rows @ jacobian
        J[: goals.sum(), -1] = -1.0
        J[len(rows) :, :-1] = -directions[zeros]
        slope = duals @ J
        slope[-1] += 1.0
        residual = float(np.abs(np.concatenate([slope, equations])).max(initial=0.0))
        if not np.isfinite(residual) or residual > 10 * last + 1e-6:
            return None
        last = residual
        if residual <= TOL:
            break
        W = np.zeros((size, size))
        W[:-1, :-1] = np.tensordot(duals[: len(rows)] @ rows, hessian, 1)
        matrix = np.block([[W, J.T], [J, np.zeros((len(J), len(J)))]])
        # Least squares, because constraints that bind together may say the same thing twice.
        step = np.linalg.lstsq(matrix, -np.concatenate([slope, equations]), rcond=1e-13)[0]
        t, tau, duals = t + directions @ step[: size - 1], tau + step[size - 1], duals + step[size:]
    if last > GOOD or t.min() < -TOL or duals.min(initial=0.0) < -GOOD:
        return None
    every[binding] = duals
    t = np.where(t < TOL, 0.0, t)
    return t / t.sum(), every, last
