"""Hessians that were computed, to be borrowed by points nearby.

What is borrowed of H_m is r_m H_m/|g_m|, with r_m the distance to the minimizer of f_m. For any
power of a norm it does not change along rays from there, and across the gradient, where it matters,
it is the same for every increasing function of f_m.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..objectives import Derivatives
from ..runs import kind

MOST_NUMBERS = 50_000_000
"""The Hessians kept hold at most this many numbers (400 MB); later ones are not kept."""

TOO_NEAR = 1e-6
"""Closer to a corner than this share of the diameter, a gradient may be rounding."""


@kind("normal.known_hessians/1")
@dataclass(frozen=True)
class KnownHessians:
    """Derivatives with Hessians at all points where a run computed them."""

    derivatives: Derivatives | None = None

    def add(self, found: Derivatives) -> "KnownHessians":
        """With these added, those points left out whose Hessians are not finite."""
        assert found.hessians is not None
        found = found.take(np.asarray(np.isfinite(found.hessians).all(axis=(1, 2, 3))))
        known = found if self.derivatives is None else self.derivatives.join(found)
        assert known.hessians is not None
        return self if known.hessians.size > MOST_NUMBERS else KnownHessians(known)

    def can_lend(self, corners: np.ndarray) -> bool:
        """Whether there is any Hessian to borrow, given the minimizers."""
        return self.derivatives is not None and bool(_usable(self.derivatives, corners).any())

    def lend(self, borrower: Derivatives, corners: np.ndarray) -> Derivatives:
        """The borrower's derivatives with Hessians after those of the nearest point that has
        some."""
        assert self.derivatives is not None
        lender = self.derivatives.take(_usable(self.derivatives, corners))
        assert lender.hessians is not None
        nearest = np.argmin(_apart(borrower.points, lender.points), axis=1)
        scale = _steepness(borrower, corners) / _steepness(lender, corners)[nearest]
        return replace(borrower, hessians=lender.hessians[nearest] * scale[:, :, None, None])


def _usable(derivatives: Derivatives, corners: np.ndarray) -> np.ndarray:
    """A point at a corner has no gradient of that corner's objective, and so nothing to lend."""
    clear = _apart(derivatives.points, corners) > TOO_NEAR * _apart(corners, corners).max()
    return np.asarray((clear & (np.linalg.norm(derivatives.gradients, axis=2) > 0)).all(axis=1))


def _steepness(derivatives: Derivatives, corners: np.ndarray) -> np.ndarray:
    """|g_m|/r_m, the unit that Hessians are borrowed in."""
    away = _apart(derivatives.points, corners)
    return np.linalg.norm(derivatives.gradients, axis=2) / np.where(away > 0, away, np.inf)


def _apart(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - others[None], axis=2)
