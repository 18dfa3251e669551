"""Which norms may be 0 on the Pareto set: those that are about 0 at one of its designs, or whose
tip no design dominates."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..compilation import program
from .lifted import Lifted

MET = 1e-3
"""A norm that is below this share of its median at a place is 0 there."""

N_NEAREST, N_STEPS = 20, 3
"""So many places, those where a norm is least, are moved to its tip, by so many Gauss-Newton steps.
‖Ax − b‖ needs one."""

CLEARLY = 1e-3
"""A tip is left out where a place is better in every objective by this share of its range over the
places."""


class Places(NamedTuple):
    """Designs all over the set, roughly, and which of them obey all bounds and constraints: others
    dominate nothing."""

    x: Float[np.ndarray, "n n_variables"]
    feasible: Bool[np.ndarray, " n"]


def may_be_met(
    lifted: Lifted,
    is_norm: Bool[np.ndarray, " n_kinks"],
    usual: Float[np.ndarray, " n_kinks"],
    places: Places,
) -> Bool[np.ndarray, " n_kinks"]:
    """Which norms may be 0 on the set, by what is known at the places; `usual` are the medians of
    the kinks.

    A tip that is one point of the set is not left out, wherever the places are: no feasible design
    dominates it. Where the tip is a plane, its points nearest to the places are looked at. The
    objectives come with a variable for each kink.
    """
    f, parts = _look(lifted, jnp.asarray(places.x))
    e = _by_kink(parts)
    u = np.array([np.linalg.norm(terms, axis=1) for terms in e]).T
    met = is_norm & np.any(u <= MET * usual, axis=0)
    rivals = np.asarray(f)[places.feasible]
    for k in np.flatnonzero(is_norm & ~met):
        x = _tips(lifted, int(k), places.x[np.argsort(u[:, k])[:N_NEAREST]])
        f, parts = _look(lifted, jnp.asarray(x))
        reached = np.linalg.norm(_by_kink(parts)[k], axis=1) <= MET * usual[k]
        met[k] = bool((reached & ~_clearly_beaten(np.asarray(f), rivals)).any())
    return met


def _clearly_beaten(
    f: Float[np.ndarray, "n n_objectives"], rivals: Float[np.ndarray, "m n_objectives"]
) -> Bool[np.ndarray, " n"]:
    rivals = rivals[np.isfinite(rivals).all(axis=1)]
    if len(rivals) == 0:
        return np.zeros(len(f), dtype=bool)
    return (rivals[:, None] < f - CLEARLY * np.ptp(rivals, axis=0)).all(axis=2).any(axis=0)


def _tips(
    lifted: Lifted, k: int, x: Float[np.ndarray, "n n_variables"]
) -> Float[np.ndarray, "n n_variables"]:
    """Points near x where norm k is 0, up to rounding, where there are any."""
    for _ in range(N_STEPS):
        e = _by_kink(_look(lifted, jnp.asarray(x))[1])[k]
        slopes = _by_kink(_slopes(lifted, jnp.asarray(x)))[k]
        x = x - np.einsum("nik,nk->ni", np.linalg.pinv(slopes), e)
    return x


def _terms(lifted: Lifted, x: Array) -> tuple[Array, list[Array]]:
    """The objectives, and the parts of each operation with kinks."""
    f, kinks, _ = lifted.evaluate(jnp.concatenate([x, lifted.exact(x)]))
    return f, [each.parts for each in kinks]


@program
def _look(lifted: Lifted, x: Array) -> tuple[Array, list[Array]]:
    return jax.vmap(lambda x: _terms(lifted, x))(x)


@program
def _slopes(lifted: Lifted, x: Array) -> list[Array]:
    return jax.vmap(jax.jacfwd(lambda x: _terms(lifted, x)[1]))(x)


def _by_kink(parts: list[Array]) -> list[np.ndarray]:
    """For each kink its parts at n points, or their slopes, as arrays that begin with (n,
    n_parts)."""
    return [np.asarray(part)[:, :, k] for part in parts for k in range(part.shape[2])]
