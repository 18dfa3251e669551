"""From a run to its bounds: the run's own samples, step sizes, λ_min and residuals, with what is
known of the objectives."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from jaxtyping import Float

from ..objectives import FlatObjectives
from .bounds import CurvatureBounds, SharperBounds, pull_of_one
from .gram import coherence, gram_root
from .region import (
    Curvature,
    Slopes,
    is_quadratic,
    known_curvature,
    known_slope,
    measured_curvature,
    measured_residuals,
    measured_slopes,
    own_residuals,
    residuals_by_slope,
    residuals_of_quadratics,
    slopes_of_quadratics,
)
from .smallest_eigenvalue import design_matrices, smallest_eigenvalues
from .trace import Trace

ROUNDING = 1e-12
"""Leverages of examples that differ from 1 by less are taken for 1, and Gram matrices relatively
this close to singular for singular: bounds are then infinite."""


@dataclass(frozen=True)
class RunBounds:
    """Bounds that hold for every twin of one run, whichever example is exchanged for whatever t.

    Attributes:
        sharper: from a Lipschitz constant.
        curvature: from curvature and residuals.
    """

    sharper: SharperBounds
    curvature: CurvatureBounds


def run_bounds(
    run: Trace,
    objectives: FlatObjectives,
    *,
    mu: float | None = None,
    curvature: tuple[float, float] | None = None,
) -> RunBounds:
    """The bounds of a run, proved where the constants of the objectives are known and estimates
    where they are measured.

    Known are those of quadratics (`Quadratic`, `ScaledMED`) and of `Fonseca`, and those that are
    given. Others are measured at the run's own samples and on a grid of t: a steep place between
    the points of the grid is not seen.

    Args:
        run: the run.
        objectives: of a flat vector.
        mu: a Lipschitz constant of every objective on all of R^L.
        curvature: (m, β) enclosing the eigenvalues of the Hessian of every objective on all of R^L.
    """
    mu = known_slope(objectives) if mu is None else mu
    known = known_curvature(objectives) if curvature is None else Curvature(*curvature, proved=True)
    if is_quadratic(objectives):
        residuals = residuals_of_quadratics(run, objectives)
    else:
        residuals = (
            measured_residuals(run, objectives) if mu is None else residuals_by_slope(run, mu)
        )
    proved = known is not None and (is_quadratic(objectives) or mu is not None)
    limits = known or measured_curvature(run, objectives)
    curved = _curvature_bounds(
        run, own_residuals(run, objectives), residuals, replace(limits, proved=proved)
    )
    if mu is not None:
        slopes = Slopes(mu, proved=True)
    elif is_quadratic(objectives):
        slopes = slopes_of_quadratics(run, objectives, limits.most, curved.farthest())
    else:
        slopes = measured_slopes(run, objectives)
    return RunBounds(_sharper_bounds(run, slopes), curved)


def _sharper_bounds(run: Trace, slopes: Slopes) -> SharperBounds:
    """λ'_k is bounded below over all twins by leaving each example out in turn: an example can only
    add to ZᵀZ."""
    smallest = smallest_eigenvalues(run.t, run.degree)
    without = np.array([_smallest_without_one(Z) for Z in design_matrices(run.t, run.degree)])
    return SharperBounds(
        slopes.mu,
        run.n_samples,
        run.step_sizes,
        smallest,
        np.minimum(without, smallest),
        slopes.proved,
    )


def _curvature_bounds(
    run: Trace,
    own: Float[np.ndarray, "K n_samples"],
    anywhere: Float[np.ndarray, " K"],
    curvature: Curvature,
) -> CurvatureBounds:
    M = run.t.shape[-1]
    white = design_matrices(run.t, run.degree) @ np.linalg.inv(gram_root(M, run.degree))
    values = np.linalg.eigvalsh(white.transpose(0, 2, 1) @ white)
    grown = _growth_by_residuals(run, own, anywhere, white)
    kappa, limits = np.sqrt(values[:, -1] / values[:, 0]), (curvature.least, curvature.most)
    return CurvatureBounds(run.step_sizes, limits, grown, kappa, M, run.degree, curvature.proved)


def _growth_by_residuals(
    run: Trace,
    own: Float[np.ndarray, "K n_samples"],
    anywhere: Float[np.ndarray, " K"],
    white: Float[np.ndarray, "K n_samples n_controls"],
) -> Float[np.ndarray, " K"]:
    """|φ_T(P^(k)) − φ_T'(P^(k))|_Γ at most, over all exchanges at iteration k.

    Taking example i out of a fit moves it by w_i r_i / (1 − h_i) exactly, with w_i = A⁻¹y_i and h_i
    = y_iᵀ w_i. Adding one then moves it by `pull_of_one` times a residual, at most sup_t |residual
    of the first fit| + √R |what taking out moved|.
    """
    R = coherence(run.t.shape[-1], run.degree)
    solved = white @ np.linalg.inv(white.transpose(0, 2, 1) @ white)
    left = 1 - np.sum(solved * white, axis=-1)
    moved = np.linalg.norm(solved, axis=-1) * own / np.where(left > ROUNDING, left, 1.0)
    taken = np.max(np.where(left > ROUNDING, moved, np.inf), axis=1)
    without = np.array([_smallest_without_one(Y) for Y in white])
    return run.step_sizes * (taken + pull_of_one(without, sqrt(R)) * (anywhere + sqrt(R) * taken))


def _smallest_without_one(design: Float[np.ndarray, "n_samples n_controls"]) -> float:
    """min_i λ_min(ZᵀZ − z_i z_iᵀ); 0 where it is lost in rounding, which is on the safe side."""
    gram = design.T @ design
    values = np.linalg.eigvalsh(gram - design[:, :, None] * design[:, None, :])
    smallest = float(values[:, 0].min())
    return smallest if smallest > ROUNDING * float(values.max()) else 0.0
