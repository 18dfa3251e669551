"""The small algebra of a node, on the host, from the inner products of its gradients alone."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import nnls

from .displacement import CRITICAL

INDEPENDENT = 300.0
"""Differences of gradient directions whose squared length is below this many roundings count as
dependent on the others."""


class Nodes(NamedTuple):
    """What the inner products of gradients tell about each of n nodes.

    Attributes:
        size: |g_m|, 1 where it is 0.
        multipliers: w, see `multipliers`.
        residual: |ρ|.
        curvature: w_m/|g_m|: ρ and H are these combinations of gradients and Hessians.
        absorbed: U, orthonormal rows that span the differences of gradient directions, as
            combinations of gradients.
        usable: whether all numbers are finite.
    """

    size: Float[np.ndarray, "n n_objectives"]
    multipliers: Float[np.ndarray, "n n_objectives"]
    residual: Float[np.ndarray, " n"]
    curvature: Float[np.ndarray, "n n_objectives"]
    absorbed: Float[np.ndarray, "n n_tangents n_objectives"]
    usable: Bool[np.ndarray, " n"]


def read_nodes(
    gram: Float[np.ndarray, "n n_objectives n_objectives"],
    faces: Bool[np.ndarray, "n n_objectives"],
    n_tangents: int,
    rounding: float,
    support: bool = False,
) -> Nodes:
    """Multipliers and absorbed directions of nodes; with `support` U is that of the multipliers'
    support (see `linearize`)."""
    usable = np.asarray(np.isfinite(gram).all(axis=(1, 2)))
    gram = np.where(usable[:, None, None], gram, np.eye(gram.shape[1]))
    size = np.sqrt(np.maximum(np.diagonal(gram, axis1=1, axis2=2), 0.0))
    size = np.where(size > 0, size, 1.0)
    gram = gram / (size[:, :, None] * size[:, None, :])
    w = (
        np.stack([find_multipliers(one, face) for one, face in zip(gram, faces, strict=True)])
        if len(gram)
        else np.zeros(size.shape)
    )
    residual = np.sqrt(np.maximum(np.einsum("ni,nij,nj->n", w, gram, w), 0.0))
    members = np.where((support & (residual > CRITICAL))[:, None], faces & (w > 0), faces)
    apart = (np.eye(gram.shape[1])[None] - w[:, None, :]) * members[:, :, None]
    values, vectors = np.linalg.eigh(apart @ gram @ np.swapaxes(apart, 1, 2))
    values, vectors = values[:, ::-1][:, :n_tangents], vectors[:, :, ::-1][:, :, :n_tangents]
    kept = values > INDEPENDENT * rounding
    mixing = np.where(kept, 1 / np.sqrt(np.maximum(values, 1e-300)), 0.0)[:, :, None] * np.swapaxes(
        vectors, 1, 2
    )
    return Nodes(size, w, residual, w / size, (mixing @ apart) / size[:, None, :], usable)


def find_multipliers(gram: np.ndarray, face: np.ndarray) -> np.ndarray:
    """The convex combination of unit vectors with this Gram matrix nearest to 0: min |Σ u_m ĝ_m|² +
    (1 − Σ u_m)² over u ≥ 0."""
    values, vectors = np.linalg.eigh(gram)
    factor = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    members = np.flatnonzero(face)
    system = np.vstack([factor[:, members], np.ones(len(members))])
    u = nnls(system, np.append(np.zeros(len(gram)), 1.0))[0]
    w = np.zeros(len(gram))
    w[members] = u / u.sum()
    return w
