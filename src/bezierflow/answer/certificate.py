"""Proved distances of a surface from the Pareto set of a smooth convex problem, for all t.

Let w: Δ → Δ be continuous with faces in faces, b the surface, ρ(t) = Σ w_m(t) ∇f_m(b(t)). If for a
matrix A and all x within r of b(t) the Hessian of Σ w_m(t) f_m is no farther from A⁻¹ than
|I − A H| ≤ q < 1, and |A ρ(t)| ≤ (1 − q) r, then x ↦ x − A Σ w_m ∇f_m(x) contracts that ball into
itself: it holds exactly one stationary point x*(w(t)), and

    |b(t) − x*(w(t))| ≤ |A ρ(t)| / (1 − q).

As w maps each face into itself it is onto (homotopic to the identity on every face): where the
objectives are convex, every Pareto point is an x*(w(t)), and the bound holds both ways.
`docs/reliability.md` has the statement with its proof. w is one polynomial, fitted to make the
distances small. The simplex is cut in halves until the control points of A ρ, whose gradients are
`Model`s, and intervals of the Hessians give a bound that is near what samples show.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb, inf
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr
from jaxtyping import Array

from ..bezier import BezierSimplex, design_matrix, elevate
from ..precision import double_precision
from ..simplex import (
    index_positions,
    largest_degree_within,
    lobatto_nodes,
    multi_indices,
    n_controls,
)
from .enclosures import EPS, Interval, Model, Unsupported, enclose, net_product, without_dead_code
from .schedule import SCHEDULE
from .shifts import without_shifts


@dataclass(frozen=True)
class Certificate:
    """A proved distance between a surface and the Pareto set. float() gives the bound.

    Attributes:
        bound: no b(t) is farther from the Pareto set, and no Pareto point farther from the surface:
            their Hausdorff distance is at most this. Each operation's rounding in double precision
            is allowed for.
        sampled: the largest distance that was seen between b(t) and the point of the set with which
            it is compared.
        strong_convexity: m: no objective is less curved where that is proved, and none was seen
            to be elsewhere.
        assumes: what the proof takes for granted, in words.
        diameter: of the surface's control points, to compare with.
    """

    bound: float
    sampled: float
    strong_convexity: float
    assumes: str
    diameter: float

    def __float__(self) -> float:
        return self.bound

    def __str__(self) -> str:
        return (
            f"proved:   within {self.bound:.3g} of the Pareto set at every t, both ways (diameter"
            f" {self.diameter:.3g})\n"
            f"sampled:  {self.sampled:.3g} at most\n"
            f"assumes:  {self.assumes}"
        )


NOTHING = "nothing but the objectives' formulas"

BOX = (
    "that only designs in the surface's box, widened by {:.2g}, count, or that the objectives are"
    " convex beyond it, too"
)

CONVEX = (
    "that the objectives are convex, which was seen at {} designs; without it the surface is near"
    " stationary points of weighted sums only"
)


def certify(
    objectives: Callable[[Array], Array],
    surface: BezierSimplex,
) -> Certificate:
    """The certificate of a surface, or a ValueError that says which hypothesis fails.

    Args:
        objectives: of a flat vector, minimized.
        surface: its values are flat vectors.
    """
    M, P = surface.n_objectives, np.asarray(surface.control_points, dtype=float)
    if M < 2:
        raise ValueError(f"objectives must be at least 2 to certify a surface, got {M}")
    if M * P.shape[1] ** 2 > SCHEDULE.most_hessian_numbers:
        raise ValueError(
            f"{P.shape[1]} variables are too many to certify: Hessians would have more than"
            f" {SCHEDULE.most_hessian_numbers:,} numbers"
        )
    # Infinite ends, overflow and NaN are answers here.
    with double_precision(), np.errstate(all="ignore"):
        problem = _Problem.of(objectives, P.mean(axis=0))
        diameter = float(np.linalg.norm(np.ptp(P, axis=0)))
        m, assumes, room = _convexity(problem, P, SCHEDULE.certificate_margin * diameter)
        try:
            pairing = _pair(problem, P, M, surface.degree)
            bound, sampled = _cut(problem, P, surface.degree, pairing, room)
        except np.linalg.LinAlgError:  # Hessians that are singular, or not finite
            bound, sampled = inf, inf
    if not np.isfinite(bound):
        raise ValueError(
            "the distance could not be bounded: second derivatives, the least of them"
            f" {m:.2g}, change too much near the surface, or its points, up to {sampled:.2g} from"
            " those they approximate, are too far from the Pareto set"
        )
    return Certificate(float(bound), float(sampled), m, assumes, diameter)


@dataclass(frozen=True)
class _Problem:
    """The objectives as formulas, and their gradients and Hessians at many points."""

    value: ClosedJaxpr
    gradient: ClosedJaxpr
    hessian: ClosedJaxpr
    derivatives: Callable

    @classmethod
    def of(cls, objectives: Callable[[Array], Array], x: np.ndarray) -> "_Problem":
        objectives = without_shifts(objectives, x)
        slopes = jax.jacfwd(lambda x: objectives(x))
        value, gradient, hessian = (
            without_dead_code(jax.make_jaxpr(f)(x))
            for f in (lambda x: objectives(x), slopes, jax.jacfwd(slopes))
        )
        many = jax.jit(jax.vmap(lambda x: (slopes(x), jax.jacfwd(slopes)(x))))
        problem = cls(value, gradient, hessian, lambda x: tuple(map(np.asarray, many(x))))
        try:
            point = Interval(x[None], x[None])
            problem.hessians(point)
            enclose(problem.gradient, [point])
        except Unsupported as error:
            raise ValueError(
                "objectives must be smooth formulas to be certified, of sums, products, powers,"
                f" exp, log, tanh, sin and the like; there is no rule for {error}"
            ) from error
        return problem

    def hessians(self, boxes: Interval) -> Interval:
        """Of all objectives in each box, NaN where one may not be defined."""
        value = _enclosed(self.value, boxes, derivative=False)
        found = _enclosed(self.hessian, boxes)
        shape = (len(boxes.low), *self.hessian.out_avals[0].shape)
        undefined = np.isnan(value.low).any(axis=1) | np.isnan(value.high).any(axis=1)
        low, high = (end.reshape(shape) for end in found.range)
        # Symmetric matrices lie in both triangles' intervals.
        low = np.maximum(low, np.swapaxes(low, 2, 3))
        high = np.minimum(high, np.swapaxes(high, 2, 3))
        low[undefined] = np.nan
        return Interval(low, high)


def _enclosed(traced: ClosedJaxpr, x: Interval | Model, derivative: bool = True) -> Any:
    """The enclosure of a formula with one output; of a constant one with its rounding."""
    (value,) = enclose(traced, [x], derivative)
    if not isinstance(value, np.ndarray):
        return value
    found = x.constant(value.reshape(-1))
    slack = value.size * EPS * np.abs(found.range[0]).max()
    if isinstance(found, Model):
        return replace(found, rest=found.rest + slack)
    return Interval(found.low - slack, found.high + slack)


def _least_curvatures(hessians: Interval) -> np.ndarray:
    """Lower bounds of the eigenvalues of each symmetric matrix in these intervals; −inf where there
    is none.

    Eigenvalues grow with the diagonal, so that its lower ends serve, and with the rest they change
    by no more than its norm.
    """
    low, high = hessians.range
    L = low.shape[-1]
    diagonal = np.eye(L, dtype=bool)
    middle, radius = np.where(diagonal, low, (low + high) / 2), np.where(diagonal, 0, high - low)
    known = np.asarray(np.isfinite(middle + radius).all(axis=(-2, -1), keepdims=True))
    middle, radius = np.where(known, middle, 0.0), np.where(known, radius, 0.0)
    sizes = np.abs(middle).sum(axis=-1).max(axis=-1)
    slack = radius.sum(axis=-1).max(axis=-1) / 2 + 4 * L * EPS * sizes
    return np.where(known[..., 0, 0], np.linalg.eigvalsh(middle)[..., 0] - slack, -inf)


def _convexity(problem: _Problem, P: np.ndarray, margin: float) -> tuple[float, str, float]:
    """A bound of all curvatures, what remains to be assumed, and how far from the surface Hessians
    may be asked for.

    Raises:
        ValueError: where an objective is seen not to be strongly convex.
    """
    endless = np.full(P.shape[1], inf)
    m = _least_in_box(problem, -endless, endless, 1)
    if m > 0:
        return m, NOTHING, inf
    low, high = P.min(axis=0) - margin, P.max(axis=0) + margin
    shares = np.random.default_rng(0).uniform(size=(SCHEDULE.certificate_probes, P.shape[1]))
    curvatures = np.linalg.eigvalsh(problem.derivatives(low + shares * (high - low))[1])
    least = curvatures.min(axis=(0, 2))
    if least.min() <= SCHEDULE.least_strong_convexity * curvatures.max():
        raise ValueError(
            f"objectives must be strongly convex to be certified, but objective {least.argmin()}"
            f" has the curvature {least.min():.3g} near the surface, beside"
            f" {curvatures.max():.3g} elsewhere"
        )
    m = _least_in_box(problem, low, high, SCHEDULE.certificate_boxes)
    if m > 0:
        return m, BOX.format(margin), margin
    return float(least.min()), CONVEX.format(len(shares)), margin


def _least_in_box(problem: _Problem, low: np.ndarray, high: np.ndarray, most: int) -> float:
    """A lower bound of all curvatures in a box, which is cut in halves where it is not above 0;
    −inf if that takes more boxes than allowed, or where a comparison has two outcomes."""
    boxes, m, seen = Interval(low[None], high[None]), inf, 0
    while len(boxes.low):
        seen += len(boxes.low)
        if seen > most:
            return -inf
        try:
            least = _least_curvatures(problem.hessians(boxes)).min(axis=1)
        except Unsupported:
            return -inf
        m, cut = min([m, *least[least > 0]]), least <= 0
        ends, rows = [boxes.low[cut], boxes.high[cut]], np.arange(cut.sum())
        widest = (ends[1] - ends[0]).argmax(axis=1)
        middle = (ends[0] + ends[1])[rows, widest] / 2
        lows, highs = np.tile(ends[0], (2, 1)), np.tile(ends[1], (2, 1))
        highs[rows, widest], lows[len(rows) + rows, widest] = middle, middle
        boxes = Interval(lows, highs)
    return float(m)


@dataclass(frozen=True)
class _Pairing:
    """Weights w(t) whose minimizers b(t) is compared with.

    Attributes:
        net: control points of w, with 0 where faces ask for it, of sum 1.
        degree: of w.
        sampled: the largest distance |b(t) − x*(w(t))| seen.
        rounding: how far off gradients over curvatures may be for rounding alone.
    """

    net: np.ndarray
    degree: int
    sampled: float
    rounding: float


def _pair(problem: _Problem, P: np.ndarray, M: int, surface_degree: int) -> _Pairing:
    """Weights of a degree from which on more of it makes no difference, or of the largest that is
    allowed."""
    more = SCHEDULE.certificate_raise
    found = _pair_in_degree(problem, P, M, surface_degree, surface_degree + more)
    while found.sampled > found.rounding:
        more = 2 * more
        if n_controls(M, surface_degree + more) > SCHEDULE.certificate_net:
            break
        tried = _pair_in_degree(problem, P, M, surface_degree, surface_degree + more)
        if not tried.sampled < SCHEDULE.certificate_gain * found.sampled:
            break
        found = tried
    return found


def _pair_in_degree(
    problem: _Problem, P: np.ndarray, M: int, surface_degree: int, degree: int
) -> _Pairing:
    """Weights that make Newton's corrections e(t) = H(w)⁻¹ Σ w_m ∇f_m(b(t)) short, which are the
    distances to first order (of quadratics exactly): by Gauss and Newton, from those that make the
    weighted gradient shortest. All steps but two weigh t by what is left, to lower the largest."""
    points = SCHEDULE.certificate_oversampling * n_controls(M, degree)
    t = lobatto_nodes(M, largest_degree_within(M, points)).t
    x, Z = design_matrix(t, surface_degree) @ P, design_matrix(t, degree)
    gradients, hessians = problem.derivatives(x)
    gram = gradients @ np.swapaxes(gradients, 1, 2)
    gram = gram + 1e-9 * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(M)
    shortest = np.maximum(np.linalg.solve(gram, np.ones((len(x), M, 1)))[..., 0], 0)
    shortest = shortest / shortest.sum(axis=1, keepdims=True)
    W = multi_indices(M, degree) / degree
    W = _changed(W, Z, np.broadcast_to(np.eye(M), (len(t), M, M)), Z @ W - shortest)
    best, importance = (inf, W), np.ones(len(t))
    for turn in range(SCHEDULE.certificate_newton):
        w = Z @ W
        H, misses = _newton(w, gradients, hessians)
        lengths = np.linalg.norm(misses, axis=1)
        best = min(best, (float(lengths.max()), W), key=lambda pair: pair[0])
        if turn > 0:
            importance = importance * np.sqrt(lengths / lengths.mean() + EPS)
        slopes = gradients - np.einsum("nmij,nj->nmi", hessians, misses)
        tangents = np.linalg.solve(H, np.swapaxes(slopes, 1, 2))
        W = _changed(W, Z, tangents * importance[:, None, None], misses * importance[:, None])
    w = np.maximum(Z @ best[1], 0)
    w, foot = w / w.sum(axis=1, keepdims=True), x
    for _ in range(SCHEDULE.certificate_newton):
        foot = foot - _newton(w, *problem.derivatives(foot))[1]
    gradients, hessians = problem.derivatives(foot)
    m = np.linalg.eigvalsh(_newton(w, gradients, hessians)[0])[:, 0].min()
    rounding = 16 * len(W) * EPS * (np.abs(gradients).max() / m + np.abs(P).max())
    return _Pairing(best[1], degree, float(np.linalg.norm(x - foot, axis=1).max()), float(rounding))


def _newton(
    w: np.ndarray, gradients: np.ndarray, hessians: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The Hessian of Σ w_m f_m at each point, and Newton's correction."""
    H = np.einsum("nm,nmij->nij", w, hessians)
    return H, np.linalg.solve(H, np.einsum("nm,nmi->ni", w, gradients)[..., None])[..., 0]


def _changed(W: np.ndarray, Z: np.ndarray, tangents: np.ndarray, misses: np.ndarray) -> np.ndarray:
    """Control points of weights, changed so that Σ_m tangents_m δw_m is about minus the misses.

    What control point d gives to m, the last entry of d above 0 loses, and only where d_m > 0: sums
    and faces are kept exactly.
    """
    M = W.shape[1]
    supports = [np.flatnonzero(d) for d in multi_indices(M, largest_degree_within(M, len(W)))]
    moves = [(d, m, support[-1]) for d, support in enumerate(supports) for m in support[:-1]]
    rows, to, off = np.array(moves).T
    design = Z[:, None, rows] * (tangents[..., to] - tangents[..., off])
    design = design.reshape(-1, len(rows))
    normal = design.T @ design
    ridge = SCHEDULE.certificate_ridge * np.trace(normal) / len(rows)
    change = np.linalg.solve(normal + ridge * np.eye(len(rows)), -design.T @ misses.reshape(-1))
    W = W.copy()
    np.add.at(W, (rows, to), change)
    np.add.at(W, (rows, off), -change)
    return W


@dataclass(frozen=True)
class _Cells:
    """Parts of the simplex.

    Attributes:
        corners: one row per corner.
        x: nets of the surface, control points along the last axis.
        w: nets of the weights.
        bound: of the distance, by the cell that each was cut from.
    """

    corners: np.ndarray
    x: np.ndarray
    w: np.ndarray
    bound: np.ndarray

    def __getitem__(self, rows: Any) -> "_Cells":
        return _Cells(self.corners[rows], self.x[rows], self.w[rows], self.bound[rows])

    def halves(self, degree: int, w_degree: int) -> "_Cells":
        """All cells cut in the middle of their longest edge."""
        M, parts = self.corners.shape[1], []
        edges = list(combinations(range(M), 2))
        sides = np.stack([self.corners[:, i] - self.corners[:, j] for i, j in edges])
        longest = np.argmax(np.linalg.norm(sides, axis=2), axis=0)
        for number, (i, j) in enumerate(edges):
            cells = self[longest == number]
            for kept, moved in ((i, j), (j, i)) if len(cells.bound) else ():
                corners = cells.corners.copy()
                corners[:, moved] = (corners[:, i] + corners[:, j]) / 2
                x, w = (
                    # one product of two matrices, not one per cell
                    (net.reshape(-1, net.shape[2]) @ _halving(M, d, kept, moved)).reshape(net.shape)
                    for net, d in ((cells.x, degree), (cells.w, w_degree))
                )
                parts.append((corners, x, w, cells.bound))
        corners, x, w, bound = (np.concatenate(part) for part in zip(*parts, strict=True))
        return _Cells(corners, x, w, bound)


@lru_cache(maxsize=64)
def _halving(M: int, degree: int, kept: int, moved: int) -> np.ndarray:
    """From a net to that over the half in which a corner moves to the middle of an edge: column d
    is Σ_a (d_moved choose a) 2^−d_moved times the control point d + a (e_kept − e_moved)."""
    indices, shift = multi_indices(M, degree), np.zeros(M, dtype=int)
    shift[kept], shift[moved] = 1, -1
    matrix = np.zeros((len(indices), len(indices)))
    for column, index in enumerate(indices):
        steps = np.arange(index[moved] + 1)
        rows = index_positions(index + steps[:, None] * shift)
        matrix[rows, column] = [comb(index[moved], a) / 2.0 ** index[moved] for a in steps]
    return matrix


def _cut(
    problem: _Problem, P: np.ndarray, surface_degree: int, pairing: _Pairing, room: float
) -> tuple[float, float]:
    """A bound of sup_t |b(t) − x*(w(t))|, over cells that are cut where it is above what samples
    show, and the largest sample."""
    M, (_, L) = pairing.net.shape[1], P.shape
    degree = max(surface_degree, SCHEDULE.certificate_degree)
    x = elevate(P, M, surface_degree, degree).T[None]
    cells = _Cells(np.eye(M)[None], x, pairing.net.T[None], np.full(1, inf))
    sampled, settled, work = pairing.sampled, 0.0, n_controls(M, degree) * len(pairing.net) * L * M
    allowed = min(SCHEDULE.certificate_cells, SCHEDULE.certificate_work // work)
    batch = max(1, SCHEDULE.certificate_batch // work)
    while len(cells.bound):
        allowed -= len(cells.bound)
        starts = range(0, len(cells.bound), batch)
        found = [_distances(problem, cells[i : i + batch], degree, pairing, room) for i in starts]
        bound, seen = np.concatenate(found, axis=1)
        bound, sampled = np.minimum(cells.bound, bound), max(sampled, float(seen.max()))
        cut = bound > SCHEDULE.certificate_excess * sampled + pairing.rounding
        if allowed < 2 * cut.sum():
            settled = max(settled, float(bound.max()))
            break
        settled = max([settled, *bound[~cut]])
        cells = replace(cells, bound=bound)[cut]
        if len(cells.bound):
            cells = cells.halves(degree, pairing.degree)
    return settled, sampled


def _distances(
    problem: _Problem, cells: _Cells, degree: int, pairing: _Pairing, room: float
) -> np.ndarray:
    """|A ρ|/(1 − q) of each cell, infinite where the ball is not seen to be mapped into itself, and
    what the distances at its corners are at least."""
    (n, L, K), M = cells.x.shape, cells.w.shape[1]
    found = np.stack([np.full(n, inf), np.zeros(n)])
    A, q = _preconditioner(problem, cells, degree, pairing.degree, np.zeros(n))
    rows = np.flatnonzero(q < SCHEDULE.certificate_contraction)
    if len(rows) < n:
        if len(rows):
            found[:, rows] = _distances(problem, cells[rows], degree, pairing, room)
        return found
    x = Model(cells.x, np.full((n, L), 64 * EPS * np.abs(cells.x).max()), M, degree)
    slopes = _enclosed(problem.gradient, x)
    G = slopes.net.reshape(n, M, L, K)
    rho = net_product(np.swapaxes(G, 1, 2), cells.w[:, None], M, degree, pairing.degree)
    corrections = net_product(A, rho[:, None], M, 1, degree + pairing.degree)
    largest = np.abs(A).max(axis=3)
    # Weights below 0 are taken for 0 and all divided by their sum, which adds so much of gradients.
    rest = slopes.rest.reshape(n, M, L).max(axis=1) + _missing(cells.w)[:, None] * np.abs(G).max(
        axis=(1, 3)
    )
    rest = rest + 8 * (corrections.shape[2] + L) * EPS * np.abs(G).max(axis=(1, 2, 3))[:, None]
    off = np.linalg.norm((largest @ rest[..., None])[..., 0], axis=1)
    reach = np.linalg.norm(corrections, axis=1).max(axis=1) + off
    radius = np.minimum(2 * reach, room)
    q = _preconditioner(problem, cells, degree, pairing.degree, radius, A)[1]
    holds = (q < 1) & (reach <= (1 - q) * radius)
    ends = index_positions((degree + pairing.degree + 1) * np.eye(M, dtype=int))
    corners = np.maximum(np.linalg.norm(corrections[..., ends], axis=1).max(axis=1) - off, 0)
    found[0, holds] = (reach / (1 - q))[holds]
    found[1, holds] = (corners / (1 + q))[holds]
    return found


def _missing(w: np.ndarray) -> np.ndarray:
    """What negative weights of each cell may take off the sum of the others."""
    return np.maximum(-w.min(axis=2), 0).sum(axis=1)


def _preconditioner(
    problem: _Problem,
    cells: _Cells,
    degree: int,
    w_degree: int,
    radius: np.ndarray,
    A: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """A(t), linear on each cell, the inverse Hessian at its corners unless it is given, and q ≥
    |I − A(t) H| in the norm of Frobenius, for all t and all Hessians within the radius of b(t).

    Surface and weights are taken for linear, with what they differ by; so q falls with the square
    of a cell's size. Where an objective may not be defined q is NaN.
    """
    (n, L, _), M = cells.x.shape, cells.w.shape[1]
    x, x_rest = _linear(cells.x, M, degree)
    w, w_rest = _linear(cells.w, M, w_degree)
    near = Model(x, x_rest + 64 * EPS * np.abs(x).max() + radius[:, None], M, 1)
    value = _enclosed(problem.value, near, derivative=False)
    hessians = _enclosed(problem.hessian, near)
    H, H_rest = hessians.net.reshape(n, M, L, L, M), hessians.rest.reshape(n, M, L, L)
    total = net_product(np.moveaxis(H, 1, 3), w[:, None, None], M, 1, 1)
    sizes = np.abs(H).max(axis=4)
    # Of weights of sum 1; those below 0 that are taken for 0 change them by twice what is missing.
    rest = H_rest.max(axis=1) + np.einsum("nm,nmij->nij", w_rest, sizes)
    rest = rest + (2 * _missing(cells.w)[:, None, None] + 64 * L * EPS) * sizes.max(axis=1)
    if A is None:
        corners = index_positions(2 * np.eye(M, dtype=int))
        ends = np.moveaxis(total[..., corners], 3, 1)
        # any matrix will do where there is no Hessian
        sound = np.isfinite(ends).all(axis=(2, 3), keepdims=True)
        A = np.moveaxis(np.linalg.pinv(np.where(sound, ends, np.eye(L))), 1, 3)
    product = net_product(A[:, :, None], np.swapaxes(total, 1, 2)[:, None], M, 1, 2)
    off = np.linalg.norm(np.eye(L)[..., None] - product, axis=(1, 2)).max(axis=1)
    q = off + np.linalg.norm(np.abs(A).max(axis=3) @ rest, axis=(1, 2))
    return A, np.where(np.isnan(value.rest).any(axis=1), np.nan, q)


def _linear(net: np.ndarray, M: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """The linear maps through the corners of nets, and how far those are from them."""
    corners = net[..., index_positions(degree * np.eye(M, dtype=int))]
    flat = corners @ (multi_indices(M, degree) / degree).T
    return corners, np.abs(net - flat).max(axis=2)
