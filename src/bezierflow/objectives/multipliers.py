"""Multipliers of a face: the convex combination of gradient directions nearest to 0.

A point is Pareto critical for the objectives J exactly if some w ∈ Δ_J has Σ w_m ĝ_m = 0.
"""

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import nnls


def find_multipliers(
    gram: Float[np.ndarray, "n n_objectives n_objectives"],
    faces: Bool[np.ndarray, "n n_objectives"],
) -> Float[np.ndarray, "n n_objectives"]:
    """The convex combinations w of unit vectors with these Gram matrices nearest to 0, with w_m = 0
    outside of the faces.

    With w = u/Σu it is min |Σ u_m ĝ_m|² + (1 − Σ u_m)² over u ≥ 0, nonnegative least squares: for
    a given direction of u the best length leaves |ρ|²/(1 + |ρ|²), which grows with |ρ|.
    """
    values, vectors = np.linalg.eigh(gram)
    factors = np.sqrt(np.maximum(values, 0.0))[:, :, None] * np.swapaxes(vectors, 1, 2)
    w, right = np.zeros(faces.shape), np.append(np.zeros(faces.shape[1]), 1.0)
    for row, factor, face in zip(w, factors, faces, strict=True):
        members = np.flatnonzero(face)
        u = nnls(np.vstack([factor[:, members], np.ones(len(members))]), right)[0]
        row[members] = u / u.sum()
    return w
