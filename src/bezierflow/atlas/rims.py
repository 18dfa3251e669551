"""Where the nodes of a part of a region lie: the box and the rim around them, and the rays that
lead out of it."""

import numpy as np
from jaxtyping import Float

from ..answer import Patch
from .leaves import Box, Leaf, hull_of, spread
from .nodes import CHART_SIDE, Nodes

FARTHEST_RAY = 1.0
"""How far rays are followed from the rim of a leaf's nodes, in half widths of its box."""

RAY_POINTS = 60
"""At which the signs of a patch are looked at along a ray."""

NEARER = (0.3, 0.1, 0.03)
"""Shares of a ray along which no sign falls to 0, at which it is tried as well: a fold ends a
region without a sign."""

RIM_POINTS = 30
"""Of each facet of the hull of a leaf's nodes, at which its patch is asked whether the region goes
on."""

NARROWEST = 1e-3
"""Half the width of the box around the nodes of a leaf that was never cut, at least."""

OPEN_END = 1e-5
"""Where the signs of a patch are above this at the rim of its nodes, in units of the largest they
have, its region goes on."""


class Rims(Nodes):
    """Nodes of a region, leaf by leaf."""

    def ends(self, leaf: Leaf, patch: Patch, box: Box) -> Float[np.ndarray, "n dimension"]:
        """Where the signs of a patch fall to 0, and to a little less, on rays that leave its nodes
        where they still hold.

        Rays end where the leaf does: nodes there leave no gap between this leaf and the next.
        """
        begin, direction = self.rim_rays(leaf, box)
        goes_on = np.flatnonzero(
            (self.relative_sign(patch, box.back(begin)) > OPEN_END) & leaf.inside(box.back(begin))
        )
        goes_on = goes_on[spread(begin[goes_on], 2 + 2 * self.d)] if len(goes_on) else goes_on
        n, reach = len(goes_on), np.linspace(0.0, FARTHEST_RAY, RAY_POINTS)
        u = begin[goes_on, None] + reach[None, :, None] * direction[goes_on, None, :]
        c = box.back(u.reshape(-1, self.d))
        along = self.relative_sign(patch, c).reshape(n, RAY_POINTS)
        inside = (leaf.inside(c) & (np.abs(c) <= 1.02 * CHART_SIDE).all(axis=1)).reshape(
            n, RAY_POINTS
        )
        last = np.where(inside.all(axis=1), RAY_POINTS, inside.argmin(axis=1)) - 1
        endless = ~(along < 0).any(axis=1)
        stops = [np.where(endless, int(share * RAY_POINTS), -1) for share in NEARER]
        for level in (0.0, -0.05):
            first = np.where(
                (along < level).any(axis=1), (along < level).argmax(axis=1), RAY_POINTS - 1
            )
            stops.append(np.maximum(first - (level == 0.0), 0))
        chosen = {
            (ray, min(int(stop[ray]), int(last[ray])))
            for stop in stops
            for ray in range(n)
            if stop[ray] >= 0
        }
        rows = [ray * RAY_POINTS + k for ray, k in sorted(chosen) if last[ray] > 1]
        return c[np.array(rows, dtype=int)]

    def relative_sign(
        self, patch: Patch, c: Float[np.ndarray, "n dimension"]
    ) -> Float[np.ndarray, " n"]:
        """The least sign of a patch, each in units of the largest that the region has."""
        known = np.clip(self.own_signs(self.y[self.valid]).max(axis=0), 0.05, 1.0)
        return (self.own_signs(patch(c)) / known).min(axis=1)

    def rim_rays(
        self, leaf: Leaf, box: Box
    ) -> tuple[Float[np.ndarray, "n dimension"], Float[np.ndarray, "n dimension"]]:
        """Points of the box on the rim of a leaf's nodes, with directions that lead outward."""
        u = box(self.c[self.pool(leaf, box)])
        hull = hull_of(u) if self.d > 1 else None
        if hull is None:
            unit = np.concatenate([np.eye(self.d), -np.eye(self.d)])
            middle = 0.5 * (u.min(axis=0) + u.max(axis=0))
            return middle + unit * 0.5 * np.ptp(u, axis=0), unit
        outer = u[hull.vertices]
        away = outer - outer.mean(axis=0)
        away = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12)
        shares = self.rng.dirichlet(np.ones(self.d), RIM_POINTS)
        inner = np.einsum("kd,fdi->fki", shares, u[hull.simplices]).reshape(-1, self.d)
        return np.concatenate([outer, inner]), np.concatenate(
            [away, np.repeat(hull.equations[:, :-1], RIM_POINTS, axis=0)]
        )

    def frame(self, leaf: Leaf) -> Box | None:
        """A box around the valid nodes of a leaf, a little larger; None if there are none."""
        known = self.c[self.valid & leaf.inside(self.c)]
        if len(known) == 0:
            return None
        mean = known.mean(axis=0)
        axes = (
            np.linalg.eigh(np.cov(known.T).reshape(self.d, self.d))[1]
            if len(known) > self.d + 1
            else np.eye(self.d)
        )
        along = (known - mean) @ axes
        low, high = along.min(axis=0), along.max(axis=0)
        half = 0.5 * (high - low)
        half = np.maximum(half, max(0.02 * half.max(), NARROWEST * 0.5 ** (leaf.depth / self.d)))
        return Box(mean + axes @ (0.5 * (low + high)), axes / (1.12 * half))

    def candidates(
        self, leaf: Leaf, box: Box, n: int, inflate: float
    ) -> Float[np.ndarray, "n_found dimension"]:
        """Random points in the inflated hull of a leaf's valid nodes, denser to its rim."""
        u = box(self.c[self.valid & leaf.inside(self.c)])
        if self.d == 1:
            x = inflate * np.cos(np.pi * self.rng.random((n, 1))) / 1.12
        else:
            hull = hull_of(u)
            if hull is None:
                x = np.cos(np.pi * self.rng.random((n, self.d)))
            else:
                middle = u[hull.vertices].mean(axis=0)
                facets = hull.simplices[self.rng.integers(len(hull.simplices), size=n)]
                shares = self.rng.dirichlet(np.ones(self.d), n)
                rim = np.einsum("nk,nkd->nd", shares, u[facets])
                reach = inflate * np.sin(0.5 * np.pi * self.rng.random(n) ** (1 / self.d))
                x = middle + reach[:, None] * (rim - middle)
        c = box.back(x)
        c = c[(np.abs(c) <= 1.02 * CHART_SIDE).all(axis=1)]
        return c[leaf.inside(c, 0.05 * box.sizes.min())]

    def pool(self, leaf: Leaf, box: Box) -> np.ndarray:
        """The nodes that a leaf's patch is fitted to: those in its box and near the hull of its
        valid ones."""
        u = box(self.c)
        mask = (np.abs(u) <= 1.05).all(axis=1) & leaf.inside(self.c, 0.06 * box.sizes.min())
        known = u[self.valid & leaf.inside(self.c)]
        if self.d > 1 and len(known) >= self.d + 3:
            middle, hull = known.mean(axis=0), hull_of(known)
            if hull is not None:
                sides = hull.equations[:, :-1]
                mask &= np.all(
                    (u - middle) @ sides.T <= -1.25 * (middle @ sides.T + hull.equations[:, -1]),
                    axis=1,
                )
        return np.flatnonzero(mask)

    def domain(
        self, leaf: Leaf, box: Box, pool: np.ndarray
    ) -> Float[np.ndarray, "n_sides n_columns"]:
        """The half-spaces n·c ≤ o, as rows (n, o), that the patch of a leaf is asked in."""
        return np.array(
            [*(np.append(normal, offset) for normal, offset in leaf.cuts), *self.rim(box, pool)]
        )

    def rim(self, box: Box, pool: np.ndarray) -> list[np.ndarray]:
        """Half-spaces around nodes, a little wider: a patch is not asked beyond."""
        u, out = box(self.c[pool]), []
        hull = hull_of(u) if self.d > 1 else None
        if hull is not None:
            for row in hull.equations:
                normal = box.axes @ row[:-1]
                out.append(np.append(normal, normal @ box.center - row[-1] + 0.03))
        else:
            for i in range(self.d):
                normal = box.axes[:, i]
                out.append(np.append(normal, normal @ box.center + u[:, i].max() + 0.02))
                out.append(np.append(-normal, -normal @ box.center - u[:, i].min() + 0.02))
        return out
