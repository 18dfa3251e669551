"""Patches: one Bézier simplex for what is smooth in a part of the chart, trimmed by its own
signs."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ..bezier import design_matrix
from ..runs import kind


def frame(n: int) -> Float[np.ndarray, "dimension n"]:
    """Orthonormal rows that span the plane Σ a_m = 0."""
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
    """

    objectives: Bool[np.ndarray, " n_objectives"]
    constraints: Bool[np.ndarray, " n_constraints"]
    side: Int[np.ndarray, " n_free"]
    n_inequalities: int

    @property
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
        """Whether all objectives are active: the region is a piece of the front of full
        dimension."""
        return bool(self.objectives.all())

    @property
    def active(self) -> Bool[np.ndarray, " n_rows"]:
        """Which rows are active: objectives, then constraints."""
        return np.concatenate([self.objectives, self.constraints])

    def coordinates(
        self, a: Float[np.ndarray, "n n_objectives"]
    ) -> tuple[Float[np.ndarray, "n dimension"], Float[np.ndarray, " n"]]:
        """The coordinates c of chart points in this region, and the mean of their active
        entries."""
        part = a[:, self.objectives]
        return part @ frame(part.shape[1]).T, part.mean(axis=1)

    def chart(self, c: Float[np.ndarray, "n dimension"]) -> Float[np.ndarray, "n n_objectives"]:
        """The chart points with coordinates c whose inactive entries are 0."""
        a = np.zeros((len(c), len(self.objectives)))
        a[:, self.objectives] = c @ frame(self.dimension + 1)
        return a

    def conditions(
        self, box: tuple[np.ndarray, np.ndarray]
    ) -> tuple[Float[np.ndarray, "n_own width"], Float[np.ndarray, " n_own"]]:
        """S and o: wherever the region is, S y + o is at least 0. All signs but the slacks of
        inactive objectives.

        Free variables lie between their bounds (finite ones have a row each), and multipliers are
        at least 0.
        """
        L, M, end = len(self.side), len(self.objectives), len(self.objectives) + self.n_inequalities
        unit = np.eye(L + 1 + M + len(self.constraints))
        free, active = self.side == 0, self.active[:end]
        low, high = (
            np.flatnonzero(free & np.isfinite(box[0])),
            np.flatnonzero(free & np.isfinite(box[1])),
        )
        multipliers = np.concatenate([np.flatnonzero(~free), L + 1 + np.flatnonzero(active)])
        slacks = L + 1 + np.flatnonzero(~active & (np.arange(end) >= M))
        rows = np.concatenate([unit[low], -unit[high], unit[multipliers], -unit[slacks]])
        return rows, np.concatenate(
            [-box[0][low], box[1][high], np.zeros(len(multipliers) + len(slacks))]
        )

    def signs(
        self, y: Float[np.ndarray, "n width"], box: tuple[np.ndarray, np.ndarray]
    ) -> Float[np.ndarray, "n n_own"]:
        """What must be at least 0 wherever the region is, from its quantities y: see
        `conditions`."""
        S, offset = self.conditions(box)
        return y @ S.T + offset

    def slopes(
        self, dy: Float[np.ndarray, "width dimension"]
    ) -> Float[np.ndarray, "n_objectives dimension"]:
        """The slopes of `values` by the coordinates, from those of y."""
        L, M = len(self.side), len(self.objectives)
        df = dy[L + 1 : L + 1 + M].copy()
        df[self.objectives] = frame(self.dimension + 1).T + dy[L]
        return df

    def slacks(
        self, y: Float[np.ndarray, "n width"], a: Float[np.ndarray, "n n_objectives"]
    ) -> Float[np.ndarray, "n n_inactive"]:
        """a_m + s − f_m of the inactive objectives: at least 0 where the region's points are the
        answers at a."""
        L, M = len(self.side), len(self.objectives)
        _, mean = self.coordinates(a)
        level = y[:, L] - mean
        out = ~self.objectives
        return a[:, out] + level[:, None] - y[:, L + 1 : L + 1 + M][:, out]

    def values(
        self, y: Float[np.ndarray, "n width"], c: Float[np.ndarray, "n dimension"]
    ) -> Float[np.ndarray, "n n_objectives"]:
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

    def __call__(self, c: Float[np.ndarray, "n dimension"]) -> Float[np.ndarray, "n width"]:
        """Y at coordinates c."""
        return design_matrix(barycentric(self.corners, c), self.degree) @ self.control_points

    def inside(
        self, c: Float[np.ndarray, "n dimension"], slack: float = 0.0
    ) -> Bool[np.ndarray, " n"]:
        """Whether coordinates are in the domain."""
        return np.all(c @ self.domain[:, :-1].T <= self.domain[:, -1] + slack, axis=1)


def barycentric(
    corners: Float[np.ndarray, "n_corners dimension"], c: Float[np.ndarray, "n dimension"]
) -> Float[np.ndarray, "n n_corners"]:
    """The barycentric coordinates of c in the simplex with these corners."""
    sides = corners[1:] - corners[0]
    rest = np.linalg.solve(sides.T, (c - corners[0]).T).T if len(sides) else np.zeros((len(c), 0))
    return np.concatenate([1 - rest.sum(axis=1, keepdims=True), rest], axis=1)
