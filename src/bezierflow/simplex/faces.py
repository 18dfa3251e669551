"""Faces of the simplex: Δ_J = {t ∈ Δ^{M−1} : t_m = 0 for m ∉ J}, for J ⊆ [M] (objectives are
numbered from 0)."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from operator import index

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..arguments import shown
from ..precision import in_double_precision
from .indices import multi_indices


def faces(n_objectives: int, size: int | None = None) -> Iterator[tuple[int, ...]]:
    """All non-empty J ⊆ {0, …, M−1}, small ones first; only those with `size` members if it is
    given."""
    sizes = range(1, n_objectives + 1) if size is None else (size,)
    for members in sizes:
        yield from combinations(range(n_objectives), members)


def check_face(face: Sequence[int], n_objectives: int) -> tuple[int, ...]:
    """The face as a sorted tuple, or a ValueError that says what is wrong with it."""
    try:
        members = tuple(sorted(index(m) for m in face))
    except TypeError:
        members = ()
    if (
        not members
        or len(set(members)) != len(members)
        or members[0] < 0
        or members[-1] >= n_objectives
    ):
        raise ValueError(
            f"face must hold distinct numbers from 0 to {n_objectives - 1}, at least one, got"
            f" {shown(face)}"
        )
    return members


def include(
    t: Float[Array | np.ndarray, "*batch members"], face: Sequence[int], n_objectives: int
) -> Float[Array | np.ndarray, "*batch n_objectives"]:
    """The inclusion Δ^{|J|−1} → Δ_J ⊆ Δ^{M−1}: coordinates go to their places in J, the others are
    0."""
    members = check_face(face, n_objectives)
    if t.shape[-1] != len(members):
        raise ValueError(
            f"t must have {len(members)} coordinates for the face {members}, got shape {t.shape}"
        )
    return in_double_precision(_include, t, members, n_objectives)


def _include(t: Array | np.ndarray, members: tuple[int, ...], n_objectives: int) -> Array:
    t = jnp.asarray(t)
    return jnp.zeros((*t.shape[:-1], n_objectives), t.dtype).at[..., jnp.array(members)].set(t)


def support(
    t: Float[Array | np.ndarray, "*batch n_objectives"],
) -> Bool[Array | np.ndarray, "*batch n_objectives"]:
    """Which objectives span the smallest face that holds t: J(t) = {m : t_m > 0}."""
    return t > 0


def controls_on_face(face: Sequence[int], n_objectives: int, degree: int) -> np.ndarray:
    """The rows of `multi_indices` that carry the face: d_m = 0 for m ∉ J. In order, they are the
    face's own N^{|J|}_D."""
    outside = np.setdiff1d(np.arange(n_objectives), check_face(face, n_objectives))
    return np.flatnonzero((multi_indices(n_objectives, degree)[:, outside] == 0).all(axis=1))
