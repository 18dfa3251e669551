"""What patches say at chart points: of those whose signs hold the one with the least level."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from .patches import Label, Patch

ROUNDING = 1e-9
"""A sign above minus this is at least 0."""

SIGN = 1e-4
"""A patch whose signs are at most this far below 0 nearly holds: its answer violates its conditions
by no more."""

LEAD, DOUBT, NOWHERE = 1e-5, 10.0, 1e6
"""What is added to the level of a patch that does not hold when patches are compared: if it nearly
does, `LEAD` and `DOUBT` times what its signs are below 0, else `NOWHERE`. Neighbors miss each other
by their errors, some 1e-7, and leave slivers between them in which only a patch of another basin
holds strictly. Its level is higher, its answer may be far away, so that the lead is small: with
1e-3 and 100 another basin answered at 2 % of the points on seams of Viennet's front, where levels
differ by less."""

WORSE = 1e-3
"""An answer whose level is higher than that of a known point by more is worse than it. Levels of
patches may be off by this."""

LOWER = 1e-9
"""A patch answers instead of another if its level is lower by this much."""

TOLERANCES = {
    "rounding": ROUNDING,
    "lower": LOWER,
    "sign": SIGN,
    "lead": LEAD,
    "doubt": DOUBT,
    "nowhere": NOWHERE,
    "worse": WORSE,
}
"""All of them, for who asks by the same rule elsewhere."""

Box = tuple[np.ndarray, np.ndarray]
"""Lower and upper bounds of the scaled variables."""


@dataclass(frozen=True)
class Claims:
    """What patches say at chart points.

    Attributes:
        number: of the patch that answers, −1 for none.
        y: its quantities, with s in place of the level σ.
        sign: the least of its signs; −inf where there is none.
        a: where it was asked.
    """

    number: Int[np.ndarray, " n"]
    y: Float[np.ndarray, "n width"]
    sign: Float[np.ndarray, " n"]
    a: Float[np.ndarray, "n n_objectives"]

    def take(self, rows: np.ndarray) -> "Claims":
        """Some of them."""
        return Claims(self.number[rows], self.y[rows], self.sign[rows], self.a[rows])

    def put(self, rows: np.ndarray, other: "Claims") -> None:
        """Replaces some of them."""
        self.number[rows], self.y[rows], self.sign[rows], self.a[rows] = (
            other.number,
            other.y,
            other.sign,
            other.a,
        )


def ask_patches(
    patches: Iterable[Patch], a: Float[np.ndarray, "n n_objectives"], box: Box
) -> Claims:
    """The answers at chart points: of the patches whose signs hold the one with the least s, else
    the nearest to holding."""
    patches, n, L = list(patches), len(a), len(box[0])
    width = patches[0].control_points.shape[1] if patches else L + 1
    best, sign = np.full(n, np.inf), np.full(n, -np.inf)
    answering, values = np.full(n, -1), np.zeros((n, width))
    for number, patch in enumerate(patches):
        y, least, rows = ask_patch(patch, a, box)
        level = np.where(
            least > -ROUNDING,
            y[:, L],
            np.where(least > -SIGN, y[:, L] + LEAD - DOUBT * least, NOWHERE - least),
        )
        use = level < best[rows] - LOWER
        rows = rows[use]
        best[rows], answering[rows], values[rows], sign[rows] = (
            level[use],
            number,
            y[use],
            least[use],
        )
    return Claims(answering, values, sign, a.copy())


def ask_patch(
    patch: Patch, a: Float[np.ndarray, "n n_objectives"], box: Box, reach: float = 0.0
) -> tuple[Float[np.ndarray, "k width"], Float[np.ndarray, " k"], Int[np.ndarray, " k"]]:
    """A patch's quantities with s, its least sign, and which of the chart points these are: those
    in its domain."""
    label, L = patch.label, len(box[0])
    c, mean = label.coordinates(a)
    rows = np.flatnonzero(patch.inside(c, reach))
    y = patch(c[rows])
    sign = np.concatenate([label.signs(y, box), label.slacks(y, a[rows])], axis=1).min(axis=1)
    y[:, L] -= mean[rows]
    return y, sign, rows


def variables(
    label: Label, y: Float[np.ndarray, "n width"], box: Box
) -> Float[np.ndarray, "n n_free"]:
    """The scaled variables: free ones from the patch and within their bounds, the others at their
    bounds."""
    z = np.clip(y[:, : len(box[0])], *box)
    return np.where(label.side == 0, z, np.where(label.side > 0, box[1], box[0]))


def centered(f: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_objectives"]:
    """The chart points of objective values."""
    return f - f.mean(axis=1, keepdims=True)


def best_levels(
    f: Float[np.ndarray, "n_known n_objectives"],
    a: Float[np.ndarray, "n n_objectives"],
    tie: float = 0.0,
) -> tuple[Float[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """The least max(f − a) + tie Σ f of known points above each chart point, an upper bound of
    s*(a), and which point has it."""
    best, where = np.full(len(a), np.inf), np.zeros(len(a), dtype=int)
    total = tie * f.sum(axis=1)
    columns = np.ascontiguousarray(f.T)
    for start in range(0, len(a) if len(f) else 0, 64):
        levels = columns[0] - a[start : start + 64, :1]
        for m in range(1, len(columns)):  # several times as fast as the maximum along a short axis
            np.maximum(levels, columns[m] - a[start : start + 64, m, None], out=levels)
        levels += total
        where[start : start + 64] = rows = levels.argmin(axis=1)
        best[start : start + 64] = levels[np.arange(len(rows)), rows]
    return best, where
