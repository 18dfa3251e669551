"""Banded quadratics of any number of variables, whose Pareto set is known: f_m(x) = ½ (x − c_m)ᵀ
A_m (x − c_m)."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import solveh_banded

WIDTH = 2
"""Diagonals below the main one."""

COUPLING = 0.5
"""Entries off the diagonal are about this over the band's width, in units of the diagonal."""


class Banded(eqx.Module):
    """The objectives. Arrays are leaves, so that one compiled program serves every problem of a
    size."""

    bands: Float[Array | np.ndarray, "n_objectives n_bands n_variables"]
    centers: Float[Array | np.ndarray, "n_objectives n_variables"]

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_objectives"]:
        """All M values, in one pass over the bands."""
        away = x - jnp.asarray(self.centers)
        total = jnp.asarray(self.bands)[:, 0] * away * away / 2
        for k in range(1, self.bands.shape[1]):
            total = total.at[:, :-k].add(
                jnp.asarray(self.bands)[:, k, :-k] * away[:, :-k] * away[:, k:]
            )
        return jnp.sum(total, axis=1)

    def applied(
        self,
        weights: Float[np.ndarray, " n_objectives"],
        points: Float[np.ndarray, "n_objectives n_variables"],
    ) -> np.ndarray:
        """Σ w_m A_m points[m]."""
        bands, total = np.asarray(self.bands, dtype=float), 0.0
        for weight, band, v in zip(weights, bands, points, strict=True):
            product = band[0] * v
            for k in range(1, len(band)):
                product[:-k] += band[k, :-k] * v[k:]
                product[k:] += band[k, :-k] * v[:-k]
            total = total + weight * product
        return np.asarray(total)

    def minimizer(
        self, weights: Float[np.ndarray, " n_objectives"]
    ) -> Float[np.ndarray, " n_variables"]:
        """Of Σ w_m f_m, by a banded solver."""
        band = np.einsum("m,mkl->kl", weights, np.asarray(self.bands, dtype=float))
        return solveh_banded(
            band, self.applied(weights, np.asarray(self.centers, dtype=float)), lower=True
        )

    def distance(
        self, x: Float[np.ndarray, " n_variables"], weights: Float[np.ndarray, " n_objectives"]
    ) -> float:
        """From x to the Pareto set, by Gauss–Newton steps on the weights of the nearest point from
        those given."""
        w = np.array(weights, dtype=float)
        best = np.linalg.norm(x - self.minimizer(w))
        for _ in range(8):
            tangents, here = self._tangents(w)
            share = np.linalg.lstsq(tangents, x - here, rcond=None)[0]
            change = share - w * share.sum()
            room = np.min(np.where(change < 0, -w / np.minimum(change, -1e-300), np.inf))
            step, moved = min(1.0, room), False
            for _ in range(6):
                trial = np.maximum(w + step * change, 0.0)
                trial /= trial.sum()
                found = np.linalg.norm(x - self.minimizer(trial))
                if found < best * (1 - 1e-9):
                    best, w, moved = found, trial, True
                    break
                step /= 3
            if not moved:
                break
        return float(best)

    def _tangents(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∂x/∂w_m = −(Σ w A)⁻¹ A_m (x − c_m), as columns, and x."""
        x = self.minimizer(w)
        band = np.einsum("m,mkl->kl", w, np.asarray(self.bands, dtype=float))
        slopes = [
            self.applied(np.eye(len(w))[m], x - np.asarray(self.centers, dtype=float))
            for m in range(len(w))
        ]
        return -solveh_banded(band, np.stack(slopes, axis=1), lower=True), x


def banded(
    n_objectives: int,
    n_variables: int,
    condition: float = 10.0,
    seed: int = 0,
    dtype: str = "float64",
) -> Banded:
    """Random ones: diagonals between 1 and the condition number, uniform in their logarithm, and
    normal centers."""
    rng = np.random.default_rng(seed)
    shape = (n_objectives, n_variables)
    bands = np.zeros((n_objectives, WIDTH + 1, n_variables), dtype=dtype)
    bands[:, 0] = diagonal = np.exp(rng.uniform(0, np.log(condition), shape))
    for k in range(1, WIDTH + 1):
        size = (
            np.clip(rng.normal(size=(n_objectives, n_variables - k)), -1.8, 1.8)
            * COUPLING
            / (2 * WIDTH)
        )
        bands[:, k, : n_variables - k] = size * np.sqrt(diagonal[:, :-k] * diagonal[:, k:])
    return Banded(bands, rng.normal(size=shape).astype(dtype))


def on_device(problem: Banded) -> Banded:
    """The same with its arrays on the default device."""
    return jax.tree.map(jnp.asarray, problem)
