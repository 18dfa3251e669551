"""Nodes of a region of the chart: places where its equations were solved, and how more of them are
found."""

import numpy as np
from jaxtyping import Bool, Float, Int

from ..answer import Label
from ..simplex import kronecker
from .labels import Solutions, newton, predict
from .program import Program

MARGIN = 0.25
"""A node may lie outside of its region by this share of each sign's scale: fits go a little beyond
the ends, but not to folds, which lie where multipliers grow without bound."""

FARTHEST_BEND = 0.5
"""By this share of their distance tangents may miss a solution that was extrapolated."""

CHART_SIDE = 1.05
"""Coordinates of the part of the chart that a front can lie in."""


class Nodes:
    """Solutions on one branch of one label: where it holds, and a little beyond."""

    def __init__(self, label: Label, program: Program, seed: int):
        L, R = program.n_free, program.n_rows
        self.label, self.d = label, label.dimension
        self.box = (program.lower, program.upper)
        self.c, self.y = np.zeros((0, self.d)), np.zeros((0, L + 1 + R))
        self.nodes: Solutions | None = None
        self.valid = np.zeros(0, dtype=bool)
        self.rng = np.random.default_rng(seed)

    def quantities(self, found: Solutions) -> Float[np.ndarray, "n width"]:
        """Y of solutions at chart points of this region."""
        level = found.s + found.a[:, self.label.objectives].mean(axis=1)
        rows = np.where(found.active, found.mu, found.r)
        return np.concatenate(
            [np.where(found.side == 0, found.z, found.bound), level[:, None], rows], axis=1
        )

    def own_signs(self, y: Float[np.ndarray, "n width"]) -> Float[np.ndarray, "n n_own"]:
        """What must be at least 0 in the region."""
        return self.label.signs(y, self.box)

    def near(
        self, y: Float[np.ndarray, "n width"], margin: float = MARGIN
    ) -> Bool[np.ndarray, " n"]:
        """Whether each sign is at most a margin below 0, in units of the largest it has in the
        region."""
        sign = self.own_signs(y)
        scale = np.full(sign.shape[1], 0.05)
        if self.valid.any():
            scale = np.maximum(scale, self.own_signs(self.y[self.valid]).max(axis=0))
        return np.all(sign > -margin * np.minimum(scale, 1.0), axis=1)

    def add(self, found: Solutions) -> Bool[np.ndarray, " n"]:
        """Takes solutions as nodes if they converged and lie in or near the region; returns which
        of them are valid."""
        c, _ = self.label.coordinates(found.a)
        y = self.quantities(found)
        keep = found.ok & np.isfinite(y).all(axis=1)
        keep[keep] &= self.near(y[keep])
        valid = keep.copy()
        valid[keep] = (self.own_signs(y[keep]) > -1e-9).all(axis=1)
        kept = found.take(keep)
        kept.a = self.label.chart(c[keep])
        kept.s = y[keep][:, len(self.label.side)]
        self.c, self.y = np.concatenate([self.c, c[keep]]), np.concatenate([self.y, y[keep]])
        self.valid = np.concatenate([self.valid, valid[keep]])
        self.nodes = kept if self.nodes is None else Solutions.join([self.nodes, kept])
        return valid

    def absorb(self, other: "Nodes") -> None:
        """Takes over the nodes of a region that turned out to be the same one."""
        assert self.nodes is not None
        assert other.nodes is not None
        self.c, self.y = np.concatenate([self.c, other.c]), np.concatenate([self.y, other.y])
        self.valid, self.nodes = (
            np.concatenate([self.valid, other.valid]),
            Solutions.join([self.nodes, other.nodes]),
        )

    def track(
        self, program: Program, c: Float[np.ndarray, "n dimension"], most: int = 6
    ) -> Solutions:
        """Solutions at c from the nearest nodes along their tangents; those that jumped to another
        branch are not ok."""
        assert self.nodes is not None
        return step_along(program, self.nodes.take(self.nearest(c)), self.label.chart(c), most)

    def nearest(self, c: Float[np.ndarray, "n dimension"]) -> Int[np.ndarray, " n"]:
        """The numbers of the nodes nearest to coordinates."""
        from scipy.spatial import KDTree  # half a second that only atlases need

        return np.asarray(KDTree(self.c).query(c)[1]) if self.d else np.zeros(len(c), dtype=int)

    def polish(
        self, program: Program, c: np.ndarray, y: Float[np.ndarray, "n width"], most: int = 4
    ) -> Solutions:
        """Solutions at c from predicted quantities; those far from the prediction are not ok."""
        found = newton(program, self.begin(program, c, y), most)
        spread = np.ptp(
            np.where(self.label.side == 0, self.y[:, : program.n_free], 0.0), axis=0
        ).max(initial=0.0)
        moved = np.where(self.label.side == 0, found.z - y[:, : program.n_free], 0.0)
        found.ok &= np.abs(moved).max(axis=1) < min(0.15 * spread, 0.05) + 1e-6
        return found

    def beyond(self, program: Program, c: np.ndarray, y: Float[np.ndarray, "n width"]) -> Solutions:
        """Solutions at c from extrapolated quantities; those that no tangent leads to are on
        another branch, and not ok."""
        assert self.nodes is not None
        found = self.polish(program, c, y, most=6)
        miss, moved = bend(self.nodes.take(self.nearest(c)), found)
        found.ok &= miss < FARTHEST_BEND * moved + 0.02
        return found

    def begin(self, program: Program, c: np.ndarray, y: np.ndarray) -> Solutions:
        """Predicted quantities as a start for Newton's method."""
        n, L, R = len(c), program.n_free, program.n_rows
        active = np.tile(self.label.active, (n, 1))
        side = np.tile(self.label.side, (n, 1))
        blank = np.zeros((n, L + 1 + R, program.n_objectives))
        z, rows = np.where(side == 0, y[:, :L], 0.0), y[:, L + 1 :]
        flags = np.zeros(n, dtype=bool)
        return Solutions(
            self.label.chart(c),
            z,
            y[:, L].copy(),
            np.where(active, rows, 0.0),
            active,
            side,
            np.zeros_like(z),
            rows.copy(),
            blank,
            flags,
            rows,
        )

    def grow(self, program: Program, first: float = 0.06, rounds: int = 7) -> None:
        """Nodes in a box that grows around the valid ones, until it finds no more."""
        if self.d == 0:
            return
        for k in range(rounds):
            known = self.c[self.valid]
            if len(known) == 0:
                return
            low, high = known.min(axis=0), known.max(axis=0)
            size = high - low
            wide = np.maximum(0.25 * size, first)
            n = {1: 5, 2: 12, 3: 20}.get(self.d, 24)
            shift = self.rng.random(self.d)
            u = (kronecker(n, self.d) + shift) % 1.0
            begin, end = np.maximum(low - wide, -CHART_SIDE), np.minimum(high + wide, CHART_SIDE)
            c = begin + u * (end - begin)
            if k > 2 and len(known) > 2 * self.d:
                c = c[((c < low) | (c > high)).any(axis=1)]
            c = c[self.likely(program, c)]
            if len(c) == 0:
                return
            valid = self.add(self.track(program, c))
            new = c[valid]
            if (
                k > 1
                and ((new > low - 0.03 * size - 1e-3) & (new < high + 0.03 * size + 1e-3)).all()
            ):
                return

    def likely(
        self, program: Program, c: Float[np.ndarray, "n dimension"]
    ) -> Bool[np.ndarray, " n"]:
        """Whether the tangent at the nearest node leads to a point not far outside."""
        assert self.nodes is not None
        begin = self.nodes.take(self.nearest(c))
        there = predict(begin, self.label.chart(c))
        M = program.n_objectives
        inside = (there.z > program.lower - 0.2) & (there.z < program.upper + 0.2)
        return np.all(there.mu[:, :M] > -0.2, axis=1) & np.all(inside, axis=1)


def step_along(
    program: Program, begin: Solutions, a: Float[np.ndarray, "n n_objectives"], most: int
) -> Solutions:
    """Solutions at other chart points along the tangents of given ones; not ok where tangents at
    both ends disagree."""
    found = newton(program, predict(begin, a), most)
    miss, moved = bend(begin, found)
    found.ok &= miss < np.minimum(0.35 * moved, 0.03) + 1e-6
    return found


def bend(
    begin: Solutions, end: Solutions
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """How far the tangents at two solutions lead past the other's variables, and how far apart
    these are."""
    L, change = begin.z.shape[1], end.a - begin.a
    forward = begin.z + np.einsum("nij,nj->ni", begin.tangent[:, :L], change)
    backward = end.z - np.einsum("nij,nj->ni", np.nan_to_num(end.tangent[:, :L]), change)
    miss = np.maximum(np.abs(forward - end.z).max(axis=1), np.abs(backward - begin.z).max(axis=1))
    return miss, np.abs(end.z - begin.z).max(axis=1)
