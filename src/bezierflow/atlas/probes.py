"""What the patches found so far say anywhere on the chart, and the chart points to ask them at;
that costs no evaluation."""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from ..answer import Claims, ask_patches, centered, variables
from .program import TIE, Program, nondominated
from .region import Region

LEAST_SLACK = 2e-6
"""A chart point is covered if an answer's signs are at most this far below 0, or a hundredth of the
root of the tolerance, or ten tolerances as long as that is less than a third of the root: an answer
whose sign is wrong by δ is off by about δ²."""

NEAR = 2e-3
"""Claims whose signs are further below 0, and do not cover a point either, are not followed."""

BISECTIONS = 14
"""Of the way between two answers of different regions, to the seam between them."""


class Probes:
    """Regions of the chart, asked."""

    def __init__(self, program: Program, tol: float, seed: int):
        self.program, self.tol, self.box = program, tol, (program.lower, program.upper)
        self.slack = max(LEAST_SLACK, 0.01 * np.sqrt(tol), min(10 * tol, 0.3 * np.sqrt(tol)))
        self.near = max(NEAR, self.slack)
        self.regions: list[Region] = []
        self.rng = np.random.default_rng(seed)

    def ask(self, a: Float[np.ndarray, "n n_objectives"]) -> Claims:
        """What the patches say at chart points, with the number of each one's region in place of
        its own."""
        patches = [
            (number, patch)
            for number, region in enumerate(self.regions)
            for patch in region.patches
        ]
        claims = ask_patches([patch for _, patch in patches], a, self.box)
        numbers = np.array([number for number, _ in patches] + [-1])
        return replace(claims, number=numbers[claims.number])

    def undercut(
        self, a: Float[np.ndarray, "n n_objectives"], claims: Claims
    ) -> Bool[np.ndarray, " n"]:
        """Whether the archive knows a better point than the patches: then a part of a region, or a
        region, is missing."""
        known, _ = self.program.known_merit(a)
        return (claims.sign > -self.near) & (
            known
            < claims.y[:, self.program.n_free] - 2 * TIE * self.program.n_objectives - 5 * self.tol
        )

    # chart points

    def points(self, n: int) -> Float[np.ndarray, "n n_objectives"]:
        """Chart points: half of them anywhere a front can be, half near combinations of known
        nondominated points."""
        M, rng = self.program.n_objectives, self.rng
        corner = rng.uniform(0, 1.03, (n // 2, M))
        corner[np.arange(len(corner)), rng.integers(M, size=len(corner))] = 0
        f = self.program.known()
        f = f[nondominated(f)] if len(f) <= 1500 else f
        triples = rng.integers(len(f), size=(n - n // 2, 3))
        mixed = np.einsum("nk,nkm->nm", rng.dirichlet(np.ones(3), len(triples)), f[triples])
        mixed = mixed + 0.01 * rng.normal(size=mixed.shape)
        return centered(np.concatenate([corner, mixed]))

    def probes(self, n: int) -> Float[np.ndarray, "n_probes n_objectives"]:
        """Chart points of all kinds: anywhere, and at all distances around known points and
        nodes."""
        rng, f = self.rng, self.program.known()
        out = [f[rng.integers(len(f), size=n // 4)]]
        for region in self.regions:
            rows = np.flatnonzero(region.valid)
            if len(rows):
                rows = rng.choice(rows, max(2, n // 4 // len(self.regions)))
                out.append(region.label.values(region.y[rows], region.c[rows]))
        return np.concatenate([self.points(n // 2), self.around(np.concatenate(out))])

    def around(self, f: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_objectives"]:
        """Chart points at all distances around given values."""
        return centered(
            f + self.rng.normal(size=f.shape) * 10.0 ** self.rng.uniform(-3.3, -1, (len(f), 1))
        )

    def seams(self, n: int) -> Float[np.ndarray, "n_seams n_objectives"]:
        """Chart points at which the answer passes from one region to another. What is missing
        between two regions lies there."""
        from scipy.spatial import KDTree  # half a second that only atlases need

        a = self.probes(2 * n)
        number = self.ask(a).number
        near = np.asarray(KDTree(a).query(a, k=4)[1])[:, 1:]
        first, second = np.repeat(np.arange(len(a)), 3), near.ravel()
        differ = np.flatnonzero(number[first] != number[second])
        differ = self.rng.permutation(differ)[:n]
        one, other, side = a[first[differ]], a[second[differ]], number[first[differ]]
        for _ in range(BISECTIONS):
            middle = 0.5 * (one + other)
            same = (self.ask(middle).number == side)[:, None]
            one, other = np.where(same, middle, one), np.where(same, other, middle)
        return 0.5 * (one + other)

    def designs(self, claims: Claims) -> Float[np.ndarray, "n n_free"]:
        """The scaled variables of claims; the middle of the box where there is none."""
        z = np.full((len(claims.number), self.program.n_free), 0.5)
        for number in np.unique(claims.number[claims.number >= 0]):
            mine = claims.number == number
            z[mine] = variables(self.regions[number].label, claims.y[mine], self.box)
        return z
