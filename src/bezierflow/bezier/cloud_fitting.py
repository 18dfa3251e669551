"""Between clouds of points and surfaces: foot points, extreme points, fits with unknown t."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Num, PyTree

from ..arguments import read_count, read_nonnegative, read_positive
from ..precision import ROUNDING
from ..simplex import grid, n_controls, nearest, nearest_from, nearest_of_grid, raised_positions
from .model import BezierSimplex
from .nets import design_matrix, differentiate, partial_derivatives
from .raveling import pack
from .schedule import SCHEDULE


class SurfaceMap:
    """A surface into R^L as a `SmoothMap`: b(t) and its first two derivatives, by one product each.

    Args:
        control_points: its net, (n_controls, L).
        n_objectives: M.
        degree: D.
    """

    def __init__(
        self, control_points: Float[np.ndarray, "n_controls width"], n_objectives: int, degree: int
    ):
        slopes = differentiate(control_points, n_objectives, degree)
        bends = differentiate(slopes, n_objectives, max(degree - 1, 0))
        self._nets, self._degree = (control_points, slopes, bends), degree

    def __call__(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n width"]:
        """b(t)."""
        return design_matrix(t, self._degree) @ self._nets[0]

    def derivatives(
        self, t: Float[np.ndarray, "n n_objectives"]
    ) -> tuple[
        Float[np.ndarray, "n width"],
        Float[np.ndarray, "n n_objectives width"],
        Float[np.ndarray, "n n_objectives n_objectives width"],
    ]:
        """b(t), ∂_m b and ∂_m ∂_k b."""
        point, slopes, bends = (
            design_matrix(t, max(self._degree - k, 0)) @ net for k, net in enumerate(self._nets)
        )
        return point, slopes.transpose(1, 0, 2), bends.transpose(2, 0, 1, 3)


def project(
    surface: BezierSimplex, x: PyTree
) -> tuple[Float[np.ndarray, "n n_objectives"], Float[np.ndarray, " n"]]:
    """Foot points: for each x the nearest point of the surface, argmin_t ‖b(t) − x‖, and distances.

    A foot point satisfies the first-order conditions to rounding; that no other part of the surface
    is nearer is as certain as the grid of `simplex.nearest` is fine, enough for surfaces without
    narrow folds.

    Args:
        surface: The surface.
        x: One value per row: an array (N, L), or a pytree built like the surface's values with a
            leading axis N.

    Returns:
        t of shape (N, M), and ‖b(t) − x‖ of shape (N,), the norm taken over all leaves.
    """
    points, raveling = pack(surface.control_points, "control_points")
    rows, found = pack(x)
    if found != raveling:
        raise ValueError(f"x must be built like the surface's values ({raveling}), got {found}")
    n_objectives = surface.n_objectives
    feet = nearest(SurfaceMap(points, n_objectives, surface.degree), rows, n_objectives)
    return feet.t, feet.distances


def extreme_points(x: Float[np.ndarray, "n width"], count: int) -> Float[np.ndarray, "count width"]:
    """`count` points of a cloud that span a simplex of (locally) largest volume. Deterministic.

    There the corners of a surface through the cloud must lie. Grown by the point farthest from the
    hull of those chosen; then each in turn is exchanged for the point farthest from the hull of the
    others, until none moves. Each exchange enlarges the volume, so this ends.
    """
    if count > len(x):
        raise ValueError(
            f"x must have at least {count} points to find {count} extreme ones among, got {len(x)}"
        )
    chosen = [int(np.argmax(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))]
    while len(chosen) < count:
        chosen.append(int(np.argmax(_separation(x, chosen))))
    moved = count > 1
    while moved:
        moved = False
        for place in range(count):
            separation = _separation(x, chosen[:place] + chosen[place + 1 :])
            if separation.max() > (1 + SCHEDULE.clear_gain) * separation[chosen[place]]:
                chosen[place], moved = int(np.argmax(separation)), True
    return x[chosen]


def _separation(x: np.ndarray, chosen: list[int]) -> np.ndarray:
    """How far each point is from the affine hull of the chosen ones."""
    origin, *others = chosen
    apart = x - x[origin]
    if others:
        directions = np.linalg.qr((x[others] - x[origin]).T)[0]
        apart = apart - (apart @ directions) @ directions.T
    distances = np.linalg.norm(apart, axis=1)
    span = np.linalg.norm(x - x[origin], axis=1).max()
    if distances.max() > SCHEDULE.clear_gain * span:
        return distances
    # The hull is everything: how far each point is from the nearest of the chosen ones.
    return np.min(np.linalg.norm(x[:, None] - x[chosen], axis=2), axis=1)


@dataclass(frozen=True)
class FitOptions:
    """What a fit with unknown t minimizes, and when it ends.

    Attributes:
        tautness: What is minimized is (mean squared distance) · (stretch of the control
            net)^tautness: a surface twice as wide must bring the points closer to be worth it.
            Points on a surface are still met exactly; amid noise the surface ends some tenths of
            the noise inside the cloud. 0 leaves the sum of squares as it is.
        tol: The fit ends when three iterations in a row lower what is minimized by less than this
            fraction.
        max_iterations: The fit ends after so many at the latest.
    """

    tautness: float = 0.3
    tol: float = 1e-4
    max_iterations: int = 500

    def __post_init__(self):
        read_nonnegative(self.tautness, "tautness")
        read_positive(self.tol, "tol")
        read_count(self.max_iterations, "max_iterations", 1)


@dataclass(frozen=True)
class PointsFit:
    """How a fit with unknown t went.

    Attributes:
        t: Where each point's foot lies on the simplex, (N, M).
        residuals: The root mean square distance from the points to the surface, per iteration.
        converged: Whether the fit ended by itself.
        reason: Why it ended, in words.
        overhang: How far the surface reaches beyond the points, over their diameter, where nothing
            says where its edges lie.
    """

    t: np.ndarray
    residuals: np.ndarray
    converged: bool
    reason: str
    overhang: float = 0.0

    @property
    def n_iterations(self) -> int:
        """How many surfaces were tried."""
        return len(self.residuals)

    @property
    def residual_rms(self) -> float:
        """The root mean square distance from the points to the surface."""
        return float(self.residuals[-1])


class _Cloud(NamedTuple):
    """Points about the origin, of radius 1, and the kind of surface, with its free rows."""

    x: Float[np.ndarray, "n width"]
    n_objectives: int
    degree: int
    free: Int[np.ndarray, " n_free"]
    springs: Float[np.ndarray, "n_controls n_controls"]

    def stretch(self, points: Float[np.ndarray, "n_controls width"]) -> float:
        """tr(PᵀKP), above 0."""
        return float(np.sum(points * (self.springs @ points))) + np.finfo(float).tiny


def fit_cloud(
    rows: Float[np.ndarray, "n width"],
    start: Float[np.ndarray, "n_controls width"],
    held: Int[np.ndarray, " n_held"],
    n_objectives: int,
    degree: int,
    options: FitOptions,
) -> tuple[Float[np.ndarray, "n_controls width"], PointsFit]:
    """Control points closest to the rows, from a start; those at the places `held` stay.

    One iteration finds foot points on the trial surface, keeps the surface if it is better, and
    refits: between alternation and Gauss–Newton, see `_refit`.
    """
    n_free = len(start) - len(held)
    if len(rows) < n_free:
        raise ValueError(
            f"{len(rows)} points cannot determine {n_free} free control points"
            f" (n_objectives={n_objectives}, degree={degree}); give at least {n_free} points, a"
            " lower degree, or frozen control points"
        )
    center = rows.mean(axis=0)
    scale = float(np.sqrt(np.max(np.sum((rows - center) ** 2, axis=1)))) or 1.0
    free, springs = np.delete(np.arange(len(start)), held), stiffness(n_objectives, degree)
    cloud = _Cloud((rows - center) / scale, n_objectives, degree, free, springs)
    points = trial = (start - center) / scale
    t = np.full((len(rows), n_objectives), 1 / n_objectives)
    squared = merit = np.inf
    damping, quiet, history = SCHEDULE.damping_decrease, 0, []
    while (
        len(history) < options.max_iterations
        and quiet < SCHEDULE.quiet
        and squared > ROUNDING**2  # of the cloud's radius: the points lie on the surface
    ):
        surface, near = SurfaceMap(trial, n_objectives, degree), t
        if len(history) % SCHEDULE.search_every == 0:
            on_grid = nearest_of_grid(surface, cloud.x, n_objectives)
            at_grid, at_t = (np.sum((surface(s) - cloud.x) ** 2, axis=1) for s in (on_grid, t))
            near = np.where((at_grid < at_t)[:, None], on_grid, t)
        feet, squares = nearest_from(surface, cloud.x, near, SCHEDULE.inner_steps)
        trial_squared = float(squares.mean())
        trial_merit = trial_squared * cloud.stretch(trial) ** options.tautness
        better, notable = trial_merit < merit, trial_merit < (1 - options.tol) * merit
        # A failure counts as quiet only where it comes from the alternation itself, which cannot
        # fail by going too far.
        quiet = quiet + 1 if not notable and (better or damping >= 1) else 0
        if better:  # on toward Gauss–Newton
            points, t, squared, merit = trial, feet, trial_squared, trial_merit
            damping = max(damping / SCHEDULE.damping_decrease, SCHEDULE.smallest_damping)
        else:  # back toward the alternation
            damping = min(damping * SCHEDULE.damping_increase, 1.0)
        pull = options.tautness * squared / cloud.stretch(points)
        trial = _refit(cloud, points, t, damping, pull)
        history.append(squared)
    found = start.copy()
    found[free] = points[free] * scale + center
    ending = _ending(squared, quiet, options)
    return found, PointsFit(t, scale * np.sqrt(history), *ending)


def _ending(squared: float, quiet: int, options: FitOptions) -> tuple[bool, str]:
    """Whether the fit converged, and why it ended."""
    if squared <= ROUNDING**2:
        return True, "converged: every point lies on the surface to rounding"
    if quiet >= SCHEDULE.quiet:
        return True, (
            f"converged: {SCHEDULE.quiet} iterations in a row brought an improvement of less than"
            f" tol={options.tol:g}"
        )
    return False, (
        f"stopped at max_iterations={options.max_iterations} while still improving; raise it, or"
        f" tol={options.tol:g}"
    )


def overhang(
    points: Float[np.ndarray, "n_controls width"],
    t: Float[np.ndarray, "n n_objectives"],
    degree: int,
) -> float:
    """How far a surface reaches beyond its foot points, at most: from each place of a facet t_m = 0
    to the outermost of the foot points beside it.

    Those beside it are the 2√n next ones by t without t_m: of points on a grid that has its edges
    some lie on them.
    """
    from scipy.spatial import KDTree

    (n, M), farthest = t.shape, 0.0
    if M == 1 or degree == 0:
        return farthest
    # a facet of a curve is one place, and all points are beside it
    rim, k = grid(M - 1, SCHEDULE.rim_steps), n if M == 2 else min(n, int(np.ceil(2 * np.sqrt(n))))
    for m in range(M):
        others = np.delete(t, m, axis=1)
        along = others / np.maximum(others.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        beside = np.asarray(KDTree(along).query(rim, k=k)[1]).reshape(len(rim), k)
        ends = np.insert(rim, m, 0.0, axis=1)
        inward = t[beside, m].min(axis=1)[:, None] * (np.eye(M)[m] - ends)
        apart = (design_matrix(ends + inward, degree) - design_matrix(ends, degree)) @ points
        farthest = max(farthest, float(np.linalg.norm(apart, axis=1).max()))
    return farthest


@lru_cache(maxsize=64)
def stiffness(n_objectives: int, degree: int) -> Float[np.ndarray, "n_controls n_controls"]:
    """K of the net's stretch tr(PᵀKP) = Σ ‖p_{d+e_m} − p_{d+e_k}‖² over d ∈ N^M_{D−1} and m < k."""
    matrix = np.zeros((n_controls(n_objectives, degree),) * 2)
    if degree > 0:
        positions = raised_positions(n_objectives, degree)
        cell = n_objectives * np.eye(n_objectives) - 1
        np.add.at(matrix, (positions[:, :, None], positions[:, None, :]), cell)
    return matrix


def _refit(
    cloud: _Cloud,
    points: Float[np.ndarray, "n_controls width"],
    t: Float[np.ndarray, "n n_objectives"],
    damping: float,
    pull: float,
) -> Float[np.ndarray, "n_controls width"]:
    """P − H⁻¹ (Zᵀ(ZP − X)/N + KP), H = (1/N) Σ_i z_i z_iᵀ ⊗ (I − (1 − λ) T_i) + K ⊗ I.

    T_i is the tangent projector at t_i. With damping λ = 1 that is the least-squares refit of the
    alternation, which holds each t_i fast; with λ = 0 it is Gauss–Newton for the distance to the
    surface, as the t_i follow at no cost. In between, motion along the surface has the weight λ. K
    is the stiffness times `pull`, the tension of the net. With Q the change in units of its λ = 1
    part, ZᵀZ/N + K = RRᵀ and P's change = R⁻ᵀQ, H is I − (1 − λ) Σ_i y_i y_iᵀ ⊗ T_i for the rows
    y_i of ZR⁻ᵀ/√N. It is only ever applied: conjugate gradients take one step for λ = 1 and tens
    near 0.
    """
    # a tenth of a second that only this fit needs
    from scipy.sparse.linalg import LinearOperator, cg

    design, free, n = design_matrix(t, cloud.degree), cloud.free, len(t)
    residual = design @ points - cloud.x
    S, C = _tangent_frames(partial_derivatives(points, t, cloud.degree), residual, t)
    gradient = (design.T @ residual / n + pull * (cloud.springs @ points))[free]
    tension = pull * cloud.springs[np.ix_(free, free)]
    tension = tension + SCHEDULE.anchor / len(points) * np.eye(len(free))
    root = np.linalg.cholesky(design.T[free] @ design[:, free] / n + tension)
    y = np.linalg.solve(root, design.T[free] / np.sqrt(n)).T

    def hessian(flat: Num[np.ndarray, " size"]) -> Float[np.ndarray, " size"]:
        Q = flat.reshape(gradient.shape)
        along = np.einsum("nml,nm->nl", S, np.einsum("nml,nl->nm", C, y @ Q))
        return (Q - (1 - damping) * (y.T @ along)).ravel()

    size = (gradient.size, gradient.size)
    operator = LinearOperator(size, hessian, dtype=float)  # pyright: ignore[reportCallIssue]
    downhill = np.linalg.solve(root, gradient).ravel()
    change, _ = cg(operator, downhill, rtol=SCHEDULE.gradient_tol, maxiter=SCHEDULE.most_gradients)
    moved = points.copy()
    moved[free] -= np.linalg.solve(root.T, change.reshape(gradient.shape))
    return moved


def _tangent_frames(
    slopes: Float[np.ndarray, "n n_objectives width"],
    residual: Float[np.ndarray, "n width"],
    t: Float[np.ndarray, "n n_objectives"],
) -> tuple[Float[np.ndarray, "n n_objectives width"], Float[np.ndarray, "n n_objectives width"]]:
    """Frames S and C of the surface's tangent space at each t: SᵀC is the projector onto it.

    Where t lies on the boundary and the point pulls it outward, of the tangent space of that face
    alone: t cannot leave it. The directions sum to 0 and leave coordinates alone that are 0 and
    would fall: those whose slope exceeds the mean over t.
    """
    gradient = np.einsum("nml,nl->nm", slopes, residual)
    level = np.sum(gradient * t, axis=1, keepdims=True)
    free = ((t > 0) | (gradient < level)).astype(float)
    within = (
        np.eye(t.shape[1]) * free[:, None]
        - free[:, :, None] * (free / free.sum(axis=1, keepdims=True))[:, None, :]
    )
    frame = within @ slopes
    gram = frame @ frame.swapaxes(1, 2)
    # What makes the Gram matrix invertible: anything off the tangent space, and a trace along it
    # where slopes vanish.
    scale = np.trace(gram, axis1=1, axis2=2)[:, None, None] + 1e-200
    return frame, np.linalg.solve(gram + scale * (np.eye(t.shape[1]) - (1 - 1e-13) * within), frame)
