"""What patches say at chart points: of those whose signs hold the one with the least level."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from .patches import Label, Patch

ROUNDING = 1e-9
"""A sign above minus this is at least 0."""

SIGN = 2e-6
"""Where no patch holds strictly, one whose signs are at most this far below 0 does: patches leave slivers between them."""

NEAR = 2e-3
"""One whose signs are at most this far below 0 nearly does."""

LOWER = 1e-9
"""A patch answers instead of another that holds too if its level is lower by this much."""

TOLERANCES = {"rounding": ROUNDING, "lower": LOWER, "sign": SIGN, "near": NEAR}
"""All of them, for who asks by the same rule elsewhere."""

Box = tuple[np.ndarray, np.ndarray]
"""Lower and upper bounds of the scaled variables."""


@dataclass(frozen=True)
class Claims:
    """What patches say at chart points.

    Attributes:
        number: of the patch that answers, −1 for none.
        y: its quantities, with s in place of the level σ.
        state: 2 where it holds, 1 where it nearly does, 0 where it is only the best there is.
        a: where it was asked.
    """

    number: Int[np.ndarray, " n"]
    y: Float[np.ndarray, "n width"]
    state: Int[np.ndarray, " n"]
    a: Float[np.ndarray, "n n_objectives"]

    def take(self, rows: np.ndarray) -> "Claims":
        """Some of them."""
        return Claims(self.number[rows], self.y[rows], self.state[rows], self.a[rows])


def ask_patches(patches: Iterable[Patch], a: Float[np.ndarray, "n n_objectives"], box: Box) -> Claims:
    """The answers at chart points: of the patches whose signs hold the one with the least s, else the nearest to holding."""
    patches, n, L = list(patches), len(a), len(box[0])
    width = patches[0].control_points.shape[1] if patches else L + 1
    best, near = np.full(n, np.inf), np.full(n, -np.inf)
    answering, values, state = np.full(n, -1), np.zeros((n, width)), np.zeros(n, dtype=int)
    for number, patch in enumerate(patches):
        y, sign, rows = ask_patch(patch, a, box)
        holds = (sign > -ROUNDING) & (y[:, L] < best[rows] - LOWER)
        nearly = ~np.isfinite(best[rows]) & ~holds & (sign > near[rows])
        best[rows[holds]], near[rows[nearly]] = y[holds, L], sign[nearly]
        use = holds | nearly
        answering[rows[use]], values[rows[use]] = number, y[use]
        state[rows[use]] = np.where(sign[use] > -SIGN, 2, np.where(sign[use] > -NEAR, 1, 0))
    return Claims(answering, values, state, a)


def ask_patch(
    patch: Patch, a: Float[np.ndarray, "n n_objectives"], box: Box, reach: float = 0.0
) -> tuple[Float[np.ndarray, "k width"], Float[np.ndarray, " k"], Int[np.ndarray, " k"]]:
    """A patch's quantities with s, its least sign, and which of the chart points these are: those in its domain."""
    label, L = patch.label, len(box[0])
    c, mean = label.coordinates(a)
    rows = np.flatnonzero(patch.inside(c, reach))
    y = patch(c[rows])
    sign = np.concatenate([label.signs(y, box), label.slacks(y, a[rows])], axis=1).min(axis=1)
    y[:, L] -= mean[rows]
    return y, sign, rows


def variables(label: Label, y: Float[np.ndarray, "n width"], box: Box) -> Float[np.ndarray, "n n_free"]:
    """The scaled variables: free ones from the patch and within their bounds, the others at their bounds."""
    z = np.clip(y[:, : len(box[0])], *box)
    return np.where(label.side == 0, z, np.where(label.side > 0, box[1], box[0]))


def centered(f: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_objectives"]:
    """The chart points of objective values."""
    return f - f.mean(axis=1, keepdims=True)
