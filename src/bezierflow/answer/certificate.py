"""Proved distances of a surface from the Pareto set of strongly convex quadratics, for all t.

Let w: Δ → Δ and c: Δ → R^L be Bézier simplices, w continuous with faces in faces. Then ρ(t) =
Σ w_m(t) ∇f_m(c(t)) is one too, since gradients are affine, and no point of it is longer than its
longest control point. The minimizer x*(w(t)) is at most |ρ(t)|/m from c(t), m being the least
curvature, so

    |b(t) − x*(w(t))| ≤ |b(t) − c(t)| + |ρ(t)|/m   for all t.

Both terms are bounded by control points. As w maps each face into itself, it is onto (homotopic to
the identity on every face): every Pareto point is an x*(w(t)), and the bound holds both ways.
`docs/reliability.md` has the statement. w and c are piecewise, over cells of the simplex that are
cut until the bound is near what samples show; they interpolate weights and minimizers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from math import inf

import jax
import numpy as np
from jax.extend.core import Jaxpr, Var
from jaxtyping import Array, Float

from ..bezier import BezierSimplex, design_matrix
from ..precision import double_precision
from ..simplex import index_positions, lobatto_nodes, multi_indices, multinomials, n_controls
from .schedule import SCHEDULE


@dataclass(frozen=True)
class Certificate:
    """A proved distance between a surface and the Pareto set. float() gives the bound.

    Attributes:
        bound: no b(t) is farther from the Pareto set, and no Pareto point farther from the surface:
            their Hausdorff distance is at most this. Proved in exact arithmetic; `rounding` is an
            allowance for that of double precision, not a proof.
        sampled: the largest distance that was seen between b(t) and the point of the set with which
            it is compared.
        rounding: the part of the bound that allows for rounding.
        strong_convexity: m, the least eigenvalue of a Hessian of an objective.
        diameter: of the surface's control points, to compare with.
    """

    bound: float
    sampled: float
    rounding: float
    strong_convexity: float
    diameter: float

    def __float__(self) -> float:
        return self.bound

    def __str__(self) -> str:
        return (
            f"proved:   within {self.bound:.3g} of the Pareto set at every t, both ways (diameter"
            f" {self.diameter:.3g})\n"
            f"sampled:  {self.sampled:.3g} at most\n"
            f"assumes:  nothing but the objectives' formulas: quadratics of curvature"
            f" {self.strong_convexity:.3g} or more"
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
    M, L = surface.n_objectives, surface.n_variables
    P = np.asarray(surface.control_points, dtype=float)
    center = P.mean(axis=0)
    H, g = _quadratics(objectives, M, L, center)
    curvatures = np.linalg.eigvalsh(H)
    m = float(curvatures.min())
    if m <= SCHEDULE.least_strong_convexity * float(curvatures.max()):
        worst = int(np.argmin(curvatures.min(axis=1)))
        raise ValueError(
            f"objectives must be strongly convex to be certified, but objective {worst} has the"
            f" curvature {curvatures[worst].min():.3g}, beside {curvatures.max():.3g} elsewhere"
        )
    P, degree = P - center, surface.degree + SCHEDULE.certificate_raise
    size, local = n_controls(M, degree), lobatto_nodes(M, degree).t
    # Sums of `size` products, each off by an ulp or so of the largest gradient.
    gradients = float(np.abs(P @ H).max() + np.abs(g).max())
    rounding = 4 * size * np.finfo(float).eps * (gradients / m + float(np.abs(P).max()))
    bound, sampled, parts = inf, 0.0, 1
    while len(cells := _cells(M, parts)) * size**2 <= SCHEDULE.certificate_work:
        t = local @ cells  # cell by cell
        rows = t.reshape(-1, M)
        x = design_matrix(rows, surface.degree) @ P
        w = _weights(H, g, P, rows, surface.degree)
        sampled = float(np.linalg.norm(x - _minimizers(H, g, w), axis=1).max())
        found = _bound(H, g, cells, x.reshape(*t.shape[:2], L), w.reshape(t.shape), degree)
        bound, parts = min(bound, found), 2 * parts
        if bound <= SCHEDULE.certificate_excess * sampled + rounding:
            break
    if not np.isfinite(bound):
        raise ValueError(f"the surface has {len(P)} control points, too many to certify")
    diameter = float(np.linalg.norm(np.ptp(P, axis=0)))
    return Certificate(float(bound + rounding), sampled, float(rounding), m, diameter)


def _bound(H, g, cells, x, w, degree: int) -> float:
    """sup_t |b(t) − c(t)| + |ρ(t)|/m by the control points of each cell.

    Args:
        H: Hessians.
        g: gradients at 0.
        cells: their corners.
        x: b at the nodes of each cell.
        w: weights there; what is made of them is on the simplex, and continuous, since cells share
            the nodes of their faces.
        degree: of w and c.
    """
    M = cells.shape[-1]
    Z, indices = design_matrix(lobatto_nodes(M, degree).t, degree), multi_indices(M, degree)
    inverse = np.linalg.inv(Z)
    W = np.where(indices @ cells > 0, np.maximum(inverse @ w, 0), 0)
    W = W / W.sum(axis=2, keepdims=True)
    c = inverse @ _minimizers(H, g, Z @ W)
    rho = sum(_product(W[..., i], c @ H[i] + g[i], M, degree) for i in range(M))
    reach = np.linalg.norm(inverse @ x - c, axis=2).max(axis=1)
    residual = np.linalg.norm(rho, axis=2).max(axis=1)
    return float(np.max(reach + residual / np.linalg.eigvalsh(H).min()))


def _cells(M: int, parts: int) -> Float[np.ndarray, "n_cells corners n_objectives"]:
    """Δ^{M−1} cut into parts^{M−1} simplices that share whole faces, each edge into `parts`.

    With u_j = t_{j+1} + … + t_M the simplex is 1 ≥ u_1 ≥ … ≥ u_{M−1} ≥ 0, a union of simplices of
    Freudenthal's triangulation: from a corner of a cube along its axes in any order.
    """
    whole = np.stack(np.meshgrid(*[np.arange(parts)] * (M - 1), indexing="ij"), -1)
    found = []
    for order in permutations(range(M - 1)):
        steps = np.concatenate([np.zeros((1, M - 1)), np.cumsum(np.eye(M - 1)[list(order)], 0)])
        found.append(whole.reshape(-1, 1, M - 1) + steps)
    u = np.concatenate(found)
    u = u[(np.diff(u, axis=2) <= 0).all(axis=(1, 2))] / parts
    ends = np.ones((*u.shape[:2], 1))
    return -np.diff(np.concatenate([ends, u, 0 * ends], axis=2), axis=2)


def _quadratics(
    objectives: Callable[[Array], Array], M: int, L: int, center: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """H_m and g_m with ∇f_m(x) = H_m (x − center) + g_m, for functions that are quadratic."""
    with double_precision():
        traced = jax.make_jaxpr(objectives)(center)
        degree = _degrees(traced.jaxpr, [1])[0]
        if degree > 2:
            raise ValueError(
                "objectives must be quadratic by their formulas to be certified, built of sums,"
                " products and whole powers; these are "
                + ("no polynomials" if degree == inf else f"polynomials of degree {degree:.0f}")
            )
        H = np.asarray(jax.hessian(objectives)(center)).reshape(M, L, L)
        g = np.asarray(jax.jacobian(objectives)(center)).reshape(M, L)
    return (H + H.transpose(0, 2, 1)) / 2, g


LINEAR = {
    *("add", "sub", "add_any", "neg", "reshape", "broadcast_in_dim", "squeeze", "slice", "copy"),
    *("concatenate", "transpose", "reduce_sum", "expand_dims", "rev", "pad", "cumsum", "stack"),
}
"""Primitives whose degree is the largest of their inputs'."""

OF_THE_FIRST = {"div", "gather", "dynamic_slice", "convert_element_type"}
"""Those whose degree is that of the first input, where the others do not depend on x."""


def _degrees(jaxpr: Jaxpr, inputs: list[float]) -> list[float]:
    """The degree of each output as a polynomial in what has these degrees; infinite where it may
    be none."""
    known: dict = dict(zip(jaxpr.invars, inputs, strict=True))

    def degree(atom: object) -> float:
        return known.get(atom, 0) if isinstance(atom, Var) else 0

    for equation in jaxpr.eqns:
        found = [degree(atom) for atom in equation.invars]
        name, inner = equation.primitive.name, _inner(equation.params)
        if max(found, default=0) == 0:
            out = [0.0] * len(equation.outvars)
        elif inner is not None and len(inner.invars) == len(found):
            out = _degrees(inner, found)
        else:
            out = [_degree_of(name, found, equation.params)] * len(equation.outvars)
        known.update(zip(equation.outvars, out, strict=True))
    return [degree(atom) for atom in jaxpr.outvars]


def _inner(params: dict) -> Jaxpr | None:
    """The program that an equation calls, if any."""
    called = params.get("jaxpr") or params.get("call_jaxpr")
    return getattr(called, "jaxpr", called)


def _degree_of(name: str, found: list[float], params: dict) -> float:
    first, rest = found[0], max(found[1:], default=0)
    if name in LINEAR or (name == "select_n" and first == 0):
        return max(found)
    if name in ("mul", "dot_general"):
        return sum(found)
    power = {"square": 2, "integer_pow": params.get("y", -1)}.get(name, -1)
    if power >= 0:
        return power * first
    # To whole numbers it would be rounding.
    kept = np.issubdtype(params.get("new_dtype", float), np.floating)
    return first if name in OF_THE_FIRST and rest == 0 and kept else inf


def _minimizers(H: np.ndarray, g: np.ndarray, w: np.ndarray) -> np.ndarray:
    """x*(w) of each row of weights."""
    return -np.linalg.solve(np.tensordot(w, H, 1), (w @ g)[..., None])[..., 0]


def _weights(H: np.ndarray, g: np.ndarray, P: np.ndarray, t: np.ndarray, degree: int) -> np.ndarray:
    """Smooth weights w(t) of minimizers near b(t), with w_m = 0 where t_m = 0: only how tight the
    bound is depends on them.

    Those of the nearest points, less their values on the faces, carried into the inside: w_m(t) −
    (1 − t_m) w_m(t') with t' = t without t_m.
    """
    w = _nearest(H, g, design_matrix(t, degree) @ P)
    for i in range(t.shape[1]):
        rest = 1 - t[:, i]
        without = np.where(np.arange(t.shape[1]) == i, 0, t)
        total = without.sum(axis=1, keepdims=True)
        face = np.where(total > 0, without / np.where(total > 0, total, 1), 1 / t.shape[1])
        w[:, i] -= rest * _nearest(H, g, design_matrix(face, degree) @ P)[:, i]
    return w / w.sum(axis=1, keepdims=True)


def _nearest(H: np.ndarray, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Weights of sum 1, of any sign, whose minimizers are about nearest to x: by Gauss and Newton,
    from those that make the weighted gradient shortest."""
    M = len(H)
    gradients = np.einsum("mij,nj->nmi", H, x) + g
    gram = gradients @ np.swapaxes(gradients, 1, 2)
    gram = gram + 1e-12 * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(M)
    w = np.linalg.solve(gram, np.ones((len(x), M, 1)))[..., 0]
    w = np.maximum(w / w.sum(axis=1, keepdims=True), 0)
    w = w / w.sum(axis=1, keepdims=True)
    foot = _minimizers(H, g, w)
    for _ in range(SCHEDULE.certificate_newton):
        gradients = np.einsum("mij,nj->nmi", H, foot) + g
        slopes = -np.linalg.solve(np.tensordot(w, H, 1), np.swapaxes(gradients, 1, 2))
        tangents = slopes - slopes.mean(axis=2, keepdims=True)  # along directions of sum 0
        tried = w + np.einsum("nmi,ni->nm", np.linalg.pinv(tangents, rcond=1e-8), x - foot)
        there = _minimizers(H, g, tried)
        nearer = np.linalg.norm(x - there, axis=1) < np.linalg.norm(x - foot, axis=1)
        w = np.where(nearer[:, None], tried, w)
        foot = np.where(nearer[:, None], there, foot)
    return w


def _product(
    one: Float[np.ndarray, "n_cells n_controls"],
    other: Float[np.ndarray, "n_cells n_controls width"],
    M: int,
    degree: int,
) -> Float[np.ndarray, "n_cells n_controls_twice width"]:
    """The control points of products of Bézier simplices of this degree."""
    indices, coefficients = multi_indices(M, degree), multinomials(M, degree)
    left, right = one * coefficients, other * coefficients[:, None]
    total = np.zeros((len(one), n_controls(M, 2 * degree), other.shape[2]))
    for d, index in enumerate(indices):
        total[:, index_positions(index + indices)] += left[:, d, None, None] * right
    return total / multinomials(M, 2 * degree)[:, None]
