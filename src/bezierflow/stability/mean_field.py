"""Where Algorithm 2 goes: the zero P_N of its mean field, and whether it is proved to get there.

With fresh t in every iteration and step sizes of Robbins and Monro, Algorithm 2 follows the mean
field h(P) = E[(ZᵀΩZ)⁻¹ZᵀΩG(P)]. The theorem and its proof are in `docs/convergence.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import e
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier import BezierSimplex, design_matrix
from ..compilation import compiled
from ..flows import Flow
from ..objectives import FlatObjectives
from ..precision import double_precision
from ..problems import Fonseca, Quadratic, ScaledMED
from ..scalarizations import Scalarized, WeightedSum
from ..simplex import Fixed, Leverage, Uniform, n_controls
from .schedule import SCHEDULE
from .statistics import Interval, check_samples, gram_root, mean_interval
from .twins import Setting, check_gradients, check_papers

Numbers = Array | np.ndarray


@dataclass(frozen=True)
class MeanField:
    """The zero of the mean field of Algorithm 2, and what the theorem on convergence says.

    Attributes:
        zero: the surface with control points P_N, from Monte Carlo.
        zero_error: how far that is from P_N, as an RMS distance over t and draws, by its own
            scatter.
        kappa: E κ_N, κ_N = σ_max(Y)/σ_min(Y) with Y = Ω^{1/2}ZΓ^{−1/2}.
        monotonicity: a, with ⟨h(P) − h(P'), P − P'⟩_Γ ≥ a |P − P'|_Γ² for all P and P', from E κ_N
            and the curvature; NaN where that is not known.
        at_zero: the largest such a near P_N alone, from Monte Carlo; for quadratics everywhere.
        unbiased: whether h is the Galerkin field itself, as with `Leverage`: then P_N does not
            depend on N, and a = m.
        why_not: the hypotheses of the theorem that fail or are not known; empty where it holds.
    """

    zero: BezierSimplex
    zero_error: float
    kappa: Interval
    monotonicity: float
    at_zero: float
    unbiased: bool
    why_not: tuple[str, ...]

    @property
    def converges(self) -> bool:
        """Whether the theorem says that Algorithm 2 converges to P_N, almost surely and in L².
        Where it rests on E κ_N < (β + m)/(β − m), that is known by Monte Carlo, with 95 %."""
        return not self.why_not

    def __str__(self) -> str:
        to = "the Galerkin surface" if self.unbiased else "P_N"
        if self.converges:
            return f"Algorithm 2 converges to {to}: the mean field is monotone, a = " + (
                f"{self.monotonicity:.3g} (near its zero {self.at_zero:.3g})"
            )
        return f"no theorem says that it converges to {to}: {'; '.join(self.why_not)}"


def mean_field(
    flow: Flow,
    objectives: FlatObjectives,
    x0: Float[np.ndarray, " n_variables"] | Sequence[float],
    *,
    curvature: tuple[float, float] | None = None,
    n_draws: int = 1000,
    seed: int = 0,
) -> MeanField:
    """The zero of the mean field of Algorithm 2, E κ_N, and whether convergence is proved.

    Args:
        flow: `lift(GradientDescent(...), degree, sampler)` with a sampler that draws t.
        objectives: a problem, or a function of a flat vector, twice differentiable; where f(·|t) is
            strongly convex there is one zero.
        x0: where the search for the zero starts.
        curvature: (m, β) enclosing the eigenvalues of the Hessian of every objective on all of R^L.
            Built-in quadratics bring theirs.
        n_draws: how many draws of N points stand for their law.
        seed: the same seed gives the same figures.
    """
    start = np.asarray(x0, dtype=float)
    with double_precision():
        check_gradients(objectives, start)
        M = jax.eval_shape(objectives, start).shape[0]
        if M < 2:
            raise ValueError(f"objectives must be at least 2 for a flow over t, got {M}")
        surface = BezierSimplex.constant(start, M, flow.degree)
        flow = Setting(flow, objectives, surface, 1).flow
        # Below so many points `lift` refits otherwise, which would be all that is said.
        check_samples(
            getattr(flow.sampler, "n_samples", n_controls(M, flow.degree)), M, flow.degree
        )
        check_papers(flow)
        if isinstance(flow.sampler, Fixed):
            raise ValueError(
                "sampler must draw t at random; with the same nodes in every iteration there is no"
                " mean to take, and Theorem 1 of docs/convergence.md holds"
            )
        # T, Z, (ZᵀΩZ)⁻¹ZᵀΩ and κ_N of each draw
        keys = jax.random.split(jax.random.key(seed), n_draws)
        t, weights = map(np.asarray, _samples(flow, M, keys))
        Z = design_matrix(t.reshape(-1, M), flow.degree).reshape(*t.shape[:2], -1)
        gram = gram_root(M, flow.degree)
        inverse = np.linalg.inv(gram)
        Y = np.sqrt(weights)[..., None] * (Z @ inverse)
        U, sizes, V = np.linalg.svd(Y, full_matrices=False)
        fits = inverse @ np.swapaxes(V, 1, 2) @ (np.swapaxes(U, 1, 2) / sizes[..., None])
        fits, kappa = fits * np.sqrt(weights)[:, None, :], sizes[:, 0] / sizes[:, -1]
        P, slope, scatter = _zero(objectives, t, Z, fits, np.asarray(surface.control_points))
        root = np.kron(gram, np.eye(len(start)))
        moved = np.linalg.norm(root @ np.linalg.solve(slope, scatter.T), axis=0)
        inner = root @ slope @ np.linalg.inv(root)
        limits = known_curvature(objectives) if curvature is None else curvature
        mean_kappa, sampler = mean_interval(kappa), flow.sampler
        unbiased = type(sampler) is Leverage and not sampler.independent
        unbiased = unbiased and sampler.n_samples >= n_controls(M, flow.degree)
        a = float("nan")
        if limits is not None:
            m, beta = limits
            a = m if unbiased else (beta + m) / 2 - (beta - m) / 2 * mean_kappa.high
        return MeanField(
            zero=BezierSimplex(P, M, flow.degree),
            zero_error=float(np.sqrt(np.mean(moved**2) / n_draws)),
            kappa=mean_kappa,
            monotonicity=float(a),
            at_zero=float(np.linalg.eigvalsh((inner + inner.T) / 2)[0]),
            unbiased=unbiased,
            why_not=_why_not(flow, M, limits, float(a), mean_kappa, unbiased),
        )


def _why_not(
    flow: Flow,
    n_objectives: int,
    curvature: tuple[float, float] | None,
    a: float,
    kappa: Interval,
    unbiased: bool,
) -> tuple[str, ...]:
    sampler = flow.sampler
    least = flow.degree * (n_controls(n_objectives, flow.degree) + 1)
    assert sampler is not None  # settled
    missing = []
    if curvature is None:
        missing.append("the curvature of the objectives is not known: give curvature=(m, beta)")
    elif curvature[0] <= 0:
        missing.append(f"objectives must be strongly convex, m = {curvature[0]:.3g}")
    elif a <= 0:
        m, beta = curvature
        missing.append(
            f"E κ_N = {kappa} is not surely below (β + m)/(β − m) = {(beta + m) / (beta - m):.3g}:"
            f" draw more than N = {sampler.n_samples} points, or take bf.Leverage"
        )
    if type(sampler) not in (Uniform, Leverage):
        missing.append(f"nothing is proved about the moments of {type(sampler).__name__}")
    elif not unbiased and sampler.n_samples <= least:
        missing.append(
            f"N = {sampler.n_samples} is not above D (n_c + 1) = {least}, from where on E κ_N² is"
            " known to be finite"
        )
    rule = check_papers(flow).step_size
    if callable(rule):
        early, late = (float(rule(jnp.asarray(k))) for k in (1e6, 1e9))
        power = -np.log(late / early) / np.log(1e3) if late > 0 else np.inf
    else:
        power = 0.0
    if not 0.5 < power < 1 + SCHEDULE.power_tolerance:
        missing.append(
            "step sizes must satisfy Σα = ∞ and Σα² < ∞, as 1/k does; these fall like"
            f" k^-{power:.2g} from k = 1e6 to 1e9"
        )
    return tuple(missing)


@compiled
def _samples(flow: Flow, n_objectives: int, keys: Array) -> tuple[Array, Array]:
    return jax.lax.map(lambda key: flow.draw(key, jnp.asarray(0), n_objectives, key), keys)


def _zero(
    objectives: FlatObjectives, t: np.ndarray, Z: np.ndarray, fits: np.ndarray, P: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P_N by Newton's method, the derivative of h there, and the field of each draw.

    Steps are halved until |h| falls. One step is exact for quadratics.
    """
    flat = P
    field, slope = map(np.asarray, _field(objectives, t, Z, fits, flat))
    for _ in range(SCHEDULE.newton_steps):
        step = np.linalg.solve(slope, field.mean(axis=0)).reshape(flat.shape)
        # before the search along it: at the zero |h| is rounding, which need not fall
        if np.linalg.norm(step) <= SCHEDULE.negligible**2 * (1 + np.linalg.norm(flat)):
            return flat, slope, field
        size, now = 1.0, np.linalg.norm(field.mean(axis=0))
        while size > SCHEDULE.negligible:
            tried = _field(objectives, t, Z, fits, flat - size * step)
            if np.linalg.norm(tried[0].mean(axis=0)) <= now:
                break
            size /= 2
        else:
            break
        flat, (field, slope) = flat - size * step, map(np.asarray, tried)
    raise ValueError(
        f"no zero of the mean field was found from x0 = {P[0].tolist()}; weighted sums must be"
        " strongly convex, or x0 nearer to the Pareto set"
    )


@compiled
def _field(
    objectives: FlatObjectives, t: Numbers, Z: Numbers, fits: Numbers, P: Numbers
) -> tuple[Float[Array, "n_draws size"], Float[Array, "size size"]]:
    """(ZᵀΩZ)⁻¹ZᵀΩG(P) of each draw, flat, and the derivative of their mean with respect to P."""

    def gradient(t: Array, x: Array) -> Array:
        return Scalarized(objectives, WeightedSum(), t).gradient(x)

    def of_draw(slope: Array, draw: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        t, Z, fit = draw
        hessians = jax.vmap(jax.jacfwd(gradient, 1))(t, Z @ P)
        slope = slope + jnp.einsum("in,nj,nkl->ikjl", fit, Z, hessians)
        return slope, (fit @ jax.vmap(gradient)(t, Z @ P)).reshape(-1)

    draws = jnp.asarray(t), jnp.asarray(Z), jnp.asarray(fits)
    slope, field = jax.lax.scan(of_draw, jnp.zeros((*P.shape, *P.shape)), draws)
    return field, slope.reshape(P.size, P.size) / len(t)


def known_curvature(objectives: Any) -> tuple[float, float] | None:
    """(m, β) of a built-in problem on all of R^L, in closed form; None where there is none.

    The extreme eigenvalues of Σ t_m H_m lie between the least and the largest over all H_m.
    Quadratics have constant H_m. For 1 − exp(−r²) the eigenvalues are exp(−r²)(2 − 4r²) and 2
    exp(−r²): between −4 e^{−3/2} and 2.
    """
    if is_quadratic(objectives):
        with double_precision():
            hessians = jax.hessian(objectives)(jnp.zeros(objectives.n_variables))
        values = np.linalg.eigvalsh(np.asarray(hessians))
        return float(values.min()), float(values.max())
    return (-4 * e**-1.5, 2.0) if type(objectives) is Fonseca else None


def is_quadratic(objectives: FlatObjectives) -> bool:
    """Whether these are built-in quadratics. A subclass may be anything: only exact types count."""
    return type(objectives) in (Quadratic, ScaledMED)
