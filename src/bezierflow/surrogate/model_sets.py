"""Pareto sets of the surrogate and of paths drawn from it, as points: what the search looks at
between evaluations."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, PyTree

from ..compilation import compiled
from ..gaussian import Numbers, Paths
from ..precision import double_precision
from ..simplex import grid, largest_degree_within

WIDER = 0.01
"""The dominance cone is wider by this: z_m + WIDER Σ_{j≠m} z_j are minimized, z in units of the
ranges over the set. Where an objective improves by less than this share of what another one loses,
nothing is gained; surrogates have such tails by error."""

N_REGULAR, N_RANDOM = 70, 70
"""So many points of a set are looked for: at most one for each direction of a regular grid of
weights, and random directions, so that points between those of the grid come up from time to
time."""

LEAST_WEIGHT = 0.003
"""The least weight of an objective beside the largest: the ends of the set minimize one objective
alone but for this."""

N_ENDS = 8
"""Each end of the set is looked for from so many candidates, and from as many others the second
time: one objective alone has local minima, and where an end is missed, all on the way to it is
missed."""

N_CANDIDATES = 512
"""Random points of the cube, and points to start with, among which each direction finds its
start."""

N_ROUNDS = 2
"""How often: the second time the ends of all others are candidates too."""

N_STEPS, FIRST_STEP, LAST_STEP = 80, 0.06, 3e-4
"""Of Adam, in units of the cube; steps shrink exponentially, and their sum is about the length of
an edge."""

FIRST_WIDTH, LAST_WIDTH = 0.05, 5e-4
"""Of the smooth maximum, in units of the ranges; it narrows as the steps shrink."""


class ModelSet(NamedTuple):
    """Points of the Pareto set of one path: in the cube, and their scaled values."""

    u: Float[np.ndarray, "n n_free"]
    f: Float[np.ndarray, "n n_objectives"]


def widened(
    z: Float[np.ndarray, "*batch n_objectives"],
) -> Float[np.ndarray, "*batch n_objectives"]:
    """Objectives in units of their ranges, for the wider dominance cone."""
    return z + WIDER * (z.sum(axis=-1, keepdims=True) - z)


def nondominated(f: Float[np.ndarray, "n n_objectives"]) -> Bool[np.ndarray, " n"]:
    """Which points no other one dominates; of equal ones the first."""
    import moocore

    return np.asarray(
        moocore.is_nondominated(np.ascontiguousarray(f), keep_weakly=False), dtype=bool
    )


def properly_nondominated(f: Float[np.ndarray, "n n_objectives"]) -> Bool[np.ndarray, " n"]:
    """Which points no other one dominates for the wider cone, with units from the points
    themselves."""
    keep = nondominated(f)
    for _ in range(2):
        span = np.ptp(f[keep], axis=0)
        keep = nondominated(widened(f / np.where(span > 0, span, 1.0)))
    return keep


def find_sets(
    paths: Paths,
    starts: Float[np.ndarray, "n n_free"],
    worst: Float[np.ndarray, " n_objectives"],
    rng: np.random.Generator,
) -> list[ModelSet]:
    """The Pareto set on the cube of each path.

    Each direction w minimizes max_m w_m z_m from the best candidate, those of the ends from
    several: smooth maximum, Adam, clipped to the cube. That of equal weights finds points that are
    of use, if there are any.

    Args:
        paths: functions of which the sets are looked for.
        starts: points to begin with.
        worst: scaled values beyond which a point is of no use: directions are spread over what is
            of use.
        rng: of everything random.
    """
    n_paths, M, _ = np.shape(paths.height)
    L = starts.shape[1]
    starts = starts[-N_CANDIDATES // 2 :]
    candidates = np.concatenate([starts, rng.random((N_CANDIDATES - len(starts), L))])
    regular, random = (
        grid(M, largest_degree_within(M, N_REGULAR)),
        rng.dirichlet(np.ones(M), N_RANDOM),
    )
    middle, ends = np.full((1, M), 1 / M), np.repeat(np.eye(M), N_ENDS, axis=0)
    weights = np.maximum(np.concatenate([regular, random, middle, ends]), LEAST_WEIGHT)
    weights = weights / weights.max(axis=1, keepdims=True)
    u = np.broadcast_to(candidates, (n_paths, *candidates.shape))
    with double_precision():
        f = np.asarray(_values(paths, candidates))
        for k in range(N_ROUNDS):
            units = [_units(one, worst) for one in f]
            ideal, span = (np.stack(part) for part in zip(*units, strict=True))
            z = widened((f - ideal[:, None]) / span[:, None])
            best = [
                np.argmin(np.max(w * z, axis=2), axis=1)[:, None] for w in weights[: -len(ends)]
            ]
            best += [
                np.argsort(z[:, :N_CANDIDATES, m], axis=1)[:, k * N_ENDS : (k + 1) * N_ENDS]
                for m in range(M)
            ]
            begin = np.take_along_axis(u, np.concatenate(best, axis=1)[:, :, None], axis=1)
            found, values = (
                np.asarray(part) for part in _descend(paths, begin, weights, ideal, span)
            )
            u, f = np.concatenate([u, found], axis=1), np.concatenate([f, values], axis=1)
    return [_proper(points, values) for points, values in zip(u, f, strict=True)]


def useful(one: ModelSet, worst: Float[np.ndarray, " n_objectives"]) -> ModelSet:
    """The points with no value beyond `worst`; all of them where there is none."""
    keep = (one.f <= worst).all(axis=1)
    return ModelSet(one.u[keep], one.f[keep]) if keep.any() else one


def _units(
    f: Float[np.ndarray, "n n_objectives"], worst: Float[np.ndarray, " n_objectives"]
) -> tuple[np.ndarray, np.ndarray]:
    """Ideal point and ranges of the points that are not dominated; ranges end where values are of
    no use any more."""
    best = f[properly_nondominated(f)]
    ideal = best.min(axis=0)
    span = np.minimum(best.max(axis=0), np.where(worst > ideal, worst, np.inf)) - ideal
    return ideal, np.where(span > 0, span, np.maximum(f.std(axis=0), 1e-6))


def _proper(u: np.ndarray, f: np.ndarray) -> ModelSet:
    """The points found that are not dominated; candidates, too, where nothing found is better."""
    keep = np.flatnonzero(properly_nondominated(f))
    return ModelSet(u[keep], f[keep])


@compiled
def _values(paths: Paths, u: Numbers) -> Array:
    def of_path(height: Numbers, alpha: Numbers) -> Array:
        return jax.vmap(lambda one: paths(one, height, alpha))(u)

    return jax.vmap(of_path)(jnp.asarray(paths.height), jnp.asarray(paths.alpha))


@compiled
def _descend(
    paths: Paths, u: Numbers, weights: Numbers, ideal: Numbers, span: Numbers
) -> tuple[Array, Array]:
    """The best points on the way of each direction of each path, and their values."""
    adam = optax.adam(
        optax.exponential_decay(FIRST_STEP, N_STEPS, LAST_STEP / FIRST_STEP), b1=0.8, b2=0.95
    )

    def scaled(u: Array, w: Array, path: tuple[Array, ...]) -> Array:
        height, alpha, ideal, span = path
        z = (paths(u, height, alpha) - ideal) / span
        return w * (z + WIDER * (jnp.sum(z) - z))

    def one(u: Array, w: Array, path: tuple[Array, ...]) -> tuple[Array, Array]:
        def step(k: Array, carry: tuple[PyTree, ...]) -> tuple[PyTree, ...]:
            u, memory, best, best_u = carry
            width = FIRST_WIDTH * (LAST_WIDTH / FIRST_WIDTH) ** (k / N_STEPS)

            def smooth(u: Array) -> tuple[Array, Array]:
                z = scaled(u, w, path)
                return width * jax.nn.logsumexp(z / width), jnp.max(z)

            slope, level = jax.grad(smooth, has_aux=True)(u)
            best, best_u = jnp.minimum(level, best), jnp.where(level < best, u, best_u)
            slope = jnp.where(((u <= 0) & (slope > 0)) | ((u >= 1) & (slope < 0)), 0.0, slope)
            change, memory = adam.update(slope, memory)
            return jnp.clip(u + jnp.asarray(change), 0.0, 1.0), memory, best, best_u

        _, _, _, best = jax.lax.fori_loop(
            0, N_STEPS, step, (u, adam.init(u), jnp.asarray(jnp.inf), u)
        )
        return best, paths(best, *path[:2])

    each = tuple(map(jnp.asarray, (paths.height, paths.alpha, ideal, span)))
    return jax.vmap(jax.vmap(one, (0, 0, None)), (0, None, 0))(
        jnp.asarray(u), jnp.asarray(weights), each
    )
