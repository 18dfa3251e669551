"""Patches: one Bézier simplex per region of the chart, trimmed by its own signs; and which of them
answers at a chart point: of those whose signs hold, the one with the least level s."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from ..bezier import design_matrix
from ..kinds import kind
from .schedule import SCHEDULE

Box = tuple[np.ndarray, np.ndarray]
"""Lower and upper bounds of the scaled variables."""

Chart = Float[np.ndarray, "n n_objectives"]
"""Chart points a, with Σ a_m = 0, or scaled objective values f; one per row."""

Coordinates = Float[np.ndarray, "n dimension"]
"""Coordinates c in the region of a patch, one point per row."""

Quantities = Float[np.ndarray, "n width"]
"""What a patch gives, see `Patch`; one point per row."""


def frame(n: int) -> Float[np.ndarray, "dimension n"]:
    """Orthonormal rows that span the plane Σ a_m = 0."""
    # Helmert's rows: files and the page have coordinates in this basis, so it must never change.
    rows = np.zeros((n - 1, n))
    for i in range(1, n):
        rows[i - 1, :i], rows[i - 1, i] = 1.0, -float(i)
        rows[i - 1] /= np.sqrt(i * (i + 1.0))
    return rows


@kind("answer.label/1")
@dataclass(frozen=True)
class Label:
    """What is active in a region of the chart.

    Attributes:
        objectives: which objectives lie on the level, f_m = a_m + s.
        constraints: which constraints hold with equality; equalities are among them.
        side: −1 for variables at their lower bound, 1 at the upper, 0 for free ones.
        n_inequalities: how many of the constraints are inequalities; they come first.
        trimmed: whether the signs say where the region ends; else its patches hold wherever they
            are defined.
    """

    objectives: Bool[np.ndarray, " n_objectives"]
    constraints: Bool[np.ndarray, " n_constraints"]
    side: Int[np.ndarray, " n_free"]
    n_inequalities: int
    trimmed: bool = True

    @cached_property
    def key(self) -> bytes:
        """Equal for equal labels."""
        return (
            self.objectives.tobytes()
            + self.constraints.tobytes()
            + self.side.astype(np.int8).tobytes()
        )

    @property
    def dimension(self) -> int:
        """How many coordinates the region has: one less than it has active objectives."""
        return int(self.objectives.sum()) - 1

    @property
    def full(self) -> bool:
        """Whether all objectives are active."""
        return bool(self.objectives.all())

    def coordinates(self, a: Chart) -> tuple[Coordinates, Float[np.ndarray, " n"]]:
        """The coordinates c of chart points in this region, and the mean of their active
        entries."""
        part = a[:, self.objectives]
        return part @ frame(part.shape[1]).T, part.mean(axis=1)

    def conditions(self, box: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns k, factors r and offsets o: wherever the region is, r y_k + o is at least 0. All
        signs but the slacks of inactive objectives.

        Free variables lie between their bounds (finite ones have a row each), and multipliers are
        at least 0.
        """
        nothing = np.zeros(0)
        if not self.trimmed:
            return nothing.astype(int), nothing, nothing
        L, M = len(self.side), len(self.objectives)
        free, end = self.side == 0, M + self.n_inequalities
        active = np.concatenate([self.objectives, self.constraints])[:end]
        low = np.flatnonzero(free & np.isfinite(box[0]))
        high = np.flatnonzero(free & np.isfinite(box[1]))
        # A variable at a bound has the bound's multiplier in the place of its value.
        multipliers = np.concatenate([np.flatnonzero(~free), L + 1 + np.flatnonzero(active)])
        slacks = L + 1 + np.flatnonzero(~active & (np.arange(end) >= M))
        parts = low, high, multipliers, slacks
        rest = np.zeros(len(multipliers) + len(slacks))
        return (
            np.concatenate(parts),
            np.repeat([1.0, -1.0, 1.0, -1.0], [len(part) for part in parts]),
            np.concatenate([-box[0][low], box[1][high], rest]),
        )

    def signs(self, y: Quantities, box: Box) -> Float[np.ndarray, "n n_own"]:
        """What of quantities is at least 0 wherever the region is, see `conditions`."""
        columns, factors, offsets = self.conditions(box)
        found = y[:, columns]
        found *= factors
        found += offsets
        return found

    def slopes(
        self, dy: Float[np.ndarray, "width dimension"]
    ) -> Float[np.ndarray, "n_objectives dimension"]:
        """The slopes of `values` by the coordinates, from those of y."""
        L, M = len(self.side), len(self.objectives)
        df = dy[L + 1 : L + 1 + M].copy()
        # Active objectives hold multipliers in y; their values are the level plus coordinates.
        df[self.objectives] = frame(self.dimension + 1).T + dy[L]
        return df

    def slacks(self, y: Quantities, a: Chart) -> Float[np.ndarray, "n n_inactive"]:
        """a_m + s − f_m of the inactive objectives: at least 0 where the region's points are the
        answers at a."""
        L, out = len(self.side), np.flatnonzero(~self.objectives)
        _, mean = self.coordinates(a)
        level = y[:, L] - mean
        return a[:, out] + level[:, None] - y[:, L + 1 + out]

    def values(self, y: Quantities, c: Coordinates) -> Chart:
        """The scaled objectives: those of the level where they are active."""
        L, M = len(self.side), len(self.objectives)
        f = y[:, L + 1 : L + 1 + M].copy()
        f[:, self.objectives] = c @ frame(self.dimension + 1) + y[:, L : L + 1]
        return f


@kind("answer.patch/1")
@dataclass(frozen=True)
class Patch:
    """A region's quantities y, or a part of them, as a Bézier simplex over a simplex of the
    region's coordinates.

    y holds for each variable its value, or the multiplier of the bound that it is at; the level σ,
    the mean of the active objectives; for each row its multiplier if it is active, else its value.

    Attributes:
        label: of its region.
        corners: the simplex, one corner a row.
        degree: D.
        control_points: of y.
        domain: rows (n, o): the patch is n·c ≤ o for all of them.
        error: the largest distance at fresh points, in scaled objectives.
        region: the number of the region that it covers, or covers a part of.
    """

    label: Label
    corners: Float[np.ndarray, "n_corners dimension"]
    degree: int
    control_points: Float[np.ndarray, "n_controls width"]
    domain: Float[np.ndarray, "n_sides n_columns"]
    error: float
    region: int = 0

    def __call__(self, c: Coordinates) -> Quantities:
        """Y at coordinates c."""
        return design_matrix(barycentric(self.corners, c), self.degree) @ self.control_points

    def front(self, c: Coordinates) -> Chart:
        """The scaled objectives at coordinates c."""
        return self.label.values(self(c), c)

    def inside(self, c: Coordinates, slack: float = 0.0) -> Bool[np.ndarray, " n"]:
        """Whether coordinates are in the domain."""
        return np.all(c @ self.domain[:, :-1].T <= self.domain[:, -1] + slack, axis=1)


def barycentric(
    corners: Float[np.ndarray, "*#n n_corners dimension"], c: Coordinates
) -> Float[np.ndarray, "n n_corners"]:
    """The barycentric coordinates of c in the simplex with these corners, or in one each."""
    first = corners[..., 0, :]
    sides = np.swapaxes(corners[..., 1:, :] - first[..., None, :], -1, -2)
    rest = np.linalg.solve(sides, (c - first)[..., None])[..., 0]
    return np.concatenate([1 - rest.sum(axis=1, keepdims=True), rest], axis=1)


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
    y: Quantities
    sign: Float[np.ndarray, " n"]
    a: Chart


@dataclass(frozen=True)
class PatchGroup:
    """Patches that are evaluated together, and the chart points in their domains: of one degree,
    number of sides and active objectives, and of one label where signs are asked.

    Attributes:
        patches: themselves.
        numbers: theirs among all.
        place: the coordinates of all chart points in their region, with the means.
        which: of these patches, ascending, has
        rows: this chart point in its domain.
    """

    patches: list[Patch]
    numbers: Int[np.ndarray, " n_patches"]
    place: tuple[np.ndarray, np.ndarray]
    which: Int[np.ndarray, " n_pairs"]
    rows: Int[np.ndarray, " n_pairs"]

    def evaluate(
        self, a: Chart, box: Box, pairs: Int[np.ndarray, " k"], levels: bool = False
    ) -> tuple[Float[np.ndarray, "k width"], Float[np.ndarray, " k"]]:
        """Quantities with s, and least signs, of some pairs of a patch and a chart point; without
        the variables where levels are all that is asked and no signs need these."""
        label, (c, mean), rows = self.patches[0].label, self.place, self.rows[pairs]
        L = len(box[0])
        first = L if levels and not label.trimmed else 0
        # Each pair's own patch; these ascend.
        which = self.which[pairs]
        corners = np.array([patch.corners for patch in self.patches])[which]
        z = design_matrix(barycentric(corners, c[rows]), self.patches[0].degree)
        y = np.zeros((len(rows), self.patches[0].control_points.shape[1]))
        ends = np.searchsorted(which, np.arange(len(self.patches) + 1))
        for k in np.flatnonzero(ends[1:] > ends[:-1]):
            mine = slice(ends[k], ends[k + 1])
            y[mine, first:] = z[mine] @ self.patches[k].control_points[:, first:]
        # One negative sign is enough to rule a patch out, so only the least of them is kept.
        signs = label.signs(y, box), label.slacks(y, a[rows])
        least = np.minimum(*(part.min(axis=1, initial=np.inf) for part in signs))
        y[:, L] -= mean[rows]
        return y, least


def in_domains(patches: Sequence[Patch], a: Chart) -> list[PatchGroup]:
    """The patches, those alike together, with the chart points in their domains."""
    groups: dict[tuple, list[int]] = {}
    for number, patch in enumerate(patches):
        label, sides = patch.label, (len(patch.domain), len(patch.control_points))
        signs = (label.key, label.n_inequalities) if label.trimmed else ()
        active = label.objectives.tobytes(), len(label.side), label.trimmed
        groups.setdefault((signs, active, patch.degree, sides), []).append(number)
    found = []
    for numbers in groups.values():
        mine = [patches[number] for number in numbers]
        place = mine[0].label.coordinates(a)
        domains = np.array([patch.domain for patch in mine])
        if place[0].shape[1] == 1:
            which, rows = _in_intervals(domains, place[0])
        else:
            inside = np.ones((len(domains), len(a)), dtype=bool)
            # One side after the other keeps tables small.
            for side in np.moveaxis(domains, 1, 0):
                # Corners are inside, whatever rounding says.
                inside &= side[:, :-1] @ place[0].T <= side[:, -1:] + SCHEDULE.rounding
            which, rows = np.nonzero(inside)
        found.append(PatchGroup(mine, np.array(numbers), place, which, rows))
    return found


def _in_intervals(
    domains: Float[np.ndarray, "n_patches n_sides 2"], c: Float[np.ndarray, "n 1"]
) -> tuple[Int[np.ndarray, " n_pairs"], Int[np.ndarray, " n_pairs"]]:
    """Which curves, of which a front may have thousands, have which coordinates inside, as
    pairs."""
    normal, offset = domains[:, :, 0], domains[:, :, 1] + SCHEDULE.rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        end = offset / normal
    low = np.where(normal < 0, end, -np.inf).max(axis=1)
    high = np.where(normal > 0, end, np.inf).min(axis=1)
    order = np.argsort(c[:, 0])
    ordered = c[order, 0]
    first = np.searchsorted(ordered, low)
    count = np.maximum(np.searchsorted(ordered, high, side="right") - first, 0)
    which = np.repeat(np.arange(len(domains)), count)
    before = np.cumsum(count) - count
    return which, order[np.arange(len(which)) + np.repeat(first - before, count)]


def ask_patches(patches: Iterable[Patch], a: Chart, box: Box) -> Claims:
    """The answers at chart points: of the patches whose signs hold the one with the least s, else
    the nearest to holding; the first of equals."""
    patches, n, L = list(patches), len(a), len(box[0])
    width = patches[0].control_points.shape[1] if patches else L + 1
    groups, levels, best = in_domains(patches, a), [], np.full(n, np.inf)
    for group in groups:
        # Levels s of patches that do not hold are behind those of all that do.
        level = np.zeros(len(group.rows))
        for part in _parts(np.arange(len(level))):
            y, least = group.evaluate(a, box, part, levels=True)
            nearly = y[:, L] + SCHEDULE.lead - SCHEDULE.doubt * least
            nearly = np.where(least > -SCHEDULE.nearly, nearly, SCHEDULE.nowhere - least)
            level[part] = np.where(least > -SCHEDULE.rounding, y[:, L], nearly)
        np.fmin.at(best, group.rows, level)
        levels.append(level)
    answering = np.full(n, len(patches))
    for group, level in zip(groups, levels, strict=True):
        good = level <= best[group.rows] + SCHEDULE.rounding
        good &= np.isfinite(level)
        np.minimum.at(answering, group.rows[good], group.numbers[group.which[good]])
    values, sign = np.zeros((n, width)), np.full(n, -np.inf)
    for group in groups:
        mine = np.flatnonzero(answering[group.rows] == group.numbers[group.which])
        for part in _parts(mine):
            rows = group.rows[part]
            values[rows], sign[rows] = group.evaluate(a, box, part)
    return Claims(np.where(answering < len(patches), answering, -1), values, sign, a.copy())


def _parts(pairs: Int[np.ndarray, " n"]) -> list[Int[np.ndarray, " k"]]:
    """Pairs of a patch and a chart point, so many at once that tables stay small."""
    return np.array_split(pairs, 1 + len(pairs) // SCHEDULE.at_once)


def ask_patch(
    patch: Patch, a: Chart, box: Box
) -> tuple[Float[np.ndarray, "k width"], Float[np.ndarray, " k"], Int[np.ndarray, " k"]]:
    """A patch's quantities with s, its least sign, and which of the chart points these are: those
    in its domain."""
    (group,) = in_domains([patch], a)
    return *group.evaluate(a, box, np.arange(len(group.rows))), group.rows


def variables(label: Label, y: Quantities, box: Box) -> Float[np.ndarray, "n n_free"]:
    """The scaled variables: free ones from the patch and within their bounds, the others at their
    bounds."""
    z = np.clip(y[:, : len(box[0])], *box)
    return np.where(label.side == 0, z, np.where(label.side > 0, box[1], box[0]))


def centered(f: Chart) -> Chart:
    """The chart points of objective values."""
    return f - f.mean(axis=1, keepdims=True)


def best_levels(
    f: Float[np.ndarray, "n_known n_objectives"], a: Chart, tie: float = 0.0
) -> tuple[Float[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """The least max(f − a) + tie Σ f of known points above each chart point, an upper bound of
    s*(a), and which point has it."""
    extra = tie * f.sum(axis=1) if tie else np.zeros(len(f))
    if f.shape[1] == 2 and len(f):
        where = _best_of_pairs(f, a, extra)
        return (f[where] - a).max(axis=1) + extra[where], where
    best, where = np.full(len(a), np.inf), np.zeros(len(a), dtype=int)
    columns = np.ascontiguousarray(f.T)
    # Blocks of 64 chart points keep the table of levels in the processor's cache.
    for start in range(0, len(a) if len(f) else 0, 64):
        levels = columns[0] - a[start : start + 64, :1]
        for m in range(1, len(columns)):  # several times as fast as the maximum along a short axis
            np.maximum(levels, columns[m] - a[start : start + 64, m, None], out=levels)
        levels += extra
        where[start : start + 64] = rows = levels.argmin(axis=1)
        best[start : start + 64] = levels[np.arange(len(rows)), rows]
    return best, where


def _best_of_pairs(
    f: Float[np.ndarray, "n_known 2"],
    a: Float[np.ndarray, "n 2"],
    extra: Float[np.ndarray, " n_known"],
) -> Int[np.ndarray, " n"]:
    """The same of two objectives, in about as many steps as there are points: max(f − a) is
    f_2 − a_2 for those with f_1 − f_2 ≤ a_1 − a_2, and f_1 − a_1 for others, so that one of each
    has the least."""
    finite = np.flatnonzero(np.isfinite(f).all(axis=1))
    if len(finite) == 0:
        return np.zeros(len(a), dtype=int)
    order = finite[np.argsort(f[finite, 0] - f[finite, 1], kind="stable")]
    left = order[_running_least((f[:, 1] + extra)[order])]
    right = order[::-1][_running_least((f[:, 0] + extra)[order[::-1]])][::-1]
    place = np.searchsorted(f[order, 0] - f[order, 1], a[:, 0] - a[:, 1], side="right")
    both = np.stack([left[np.maximum(place - 1, 0)], right[np.minimum(place, len(order) - 1)]])
    level = (f[both] - a).max(axis=2) + extra[both]
    return both[level.argmin(axis=0), np.arange(len(a))]


def _running_least(values: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Which value is the least up to each place."""
    before = np.append(np.inf, np.minimum.accumulate(values)[:-1])
    return np.maximum.accumulate(np.where(values < before, np.arange(len(values)), 0))
