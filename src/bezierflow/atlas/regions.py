"""Regions of the chart: solutions are taken into the region that they belong to, and regions that
agree are joined."""

from itertools import combinations

import numpy as np
from jaxtyping import Float

from ..answer import Label
from .exploration import choose_starts
from .labels import Solutions
from .local_solves import Answers, solve
from .probes import Probes
from .region import Region

CLOSE = 0.03
"""Nodes at most this far away, in chart coordinates, tell by their tangents whether a solution is
on their branch."""

AS_GOOD = 10.0
"""Answers whose objectives differ by less than this many tolerances are as good."""

SAME_BRANCH = 1e-4
"""Regions of one label are the same where their quantities differ by less."""


class Regions(Probes):
    """Regions that grow by solutions."""

    def solve_at(
        self,
        a: Float[np.ndarray, "n n_objectives"],
        guess: np.ndarray | None = None,
        starts: int = 2,
    ) -> Answers:
        """The best answers that searches from the archive and from guesses find, until the archive
        knows no better."""
        n = len(a)
        if n == 0:
            return solve(self.program, a, np.zeros((0, self.program.n_free)))
        z = choose_starts(self.program, a, starts)
        if guess is not None:
            z = np.concatenate([z, self.program.clip(guess)])
        k = len(z) // n
        answers = solve(self.program, np.tile(a, (k, 1)), z)
        merit = np.where(answers.good, answers.merit, answers.merit + 1e-7).reshape(k, n)
        best = answers.take(merit.argmin(axis=0) * n + np.arange(n))
        for _ in range(4):
            known, where = self.program.known_merit(a)
            rows = np.flatnonzero(known < best.merit - 1e-6)
            if len(rows) == 0:
                break
            again = solve(self.program, a[rows], self.program.archive.z[where[rows]])
            better = again.merit < best.merit[rows] - 1e-7
            if not better.any():
                break
            best.put(rows[better], again.take(better))
        return best

    def label_of(self, found: Solutions, row: int) -> Label:
        """What is active at a solution."""
        M = self.program.n_objectives
        active = found.active[row]
        return Label(
            active[:M].copy(),
            active[M:].copy(),
            found.side[row].copy(),
            self.program.n_inequalities,
        )

    def insert(self, answers: Answers) -> None:
        """Takes answers as nodes of the regions they belong to; what belongs to none starts one."""
        for row in np.flatnonzero(answers.good):
            one = answers.found.take(np.array([row]))
            one.ok[:] = True
            label = self.label_of(answers.found, int(row))
            region = self.home(label, one)
            if region is None and self.equalled(label, one):
                continue
            fresh = region is None
            if region is None:
                region = Region(label, self.program, seed=len(self.regions))
            before = len(region.c)
            region.add(one)
            if len(region.c) == before:
                continue
            region.valid[-1] = True
            if fresh:
                self.regions.append(region)
                region.grow(self.program)
            self.mark(region, region.c[before : before + 1])
            if fresh:
                self.follow(region)

    def mark(self, region: Region, c: np.ndarray, raise_degree: bool = False) -> None:
        """Leaves that hold these nodes are fitted again; where none does, the region begins anew
        with one leaf."""
        hit = [leaf for leaf in region.leaves if leaf.inside(c).any()]
        for leaf in hit:
            leaf.stale, leaf.raise_degree, leaf.extensions = (
                True,
                leaf.raise_degree or raise_degree,
                0,
            )
        if region.leaves and not hit:
            region.leaves = []

    def home(self, label: Label, one: Solutions) -> Region | None:
        """The region that a solution belongs to: the same label, and the same branch."""
        L = self.program.n_free
        for region in self.regions:
            if region.label.key != label.key:
                continue
            c, _ = label.coordinates(one.a)
            if region.d == 0:
                continue
            y = [patch(c)[0] for patch in region.patches if patch.inside(c)[0]]
            if y and np.abs(np.where(label.side == 0, y[0][:L] - one.z[0], 0.0)).max() < 1e-3:
                return region
            tracked = region.track(self.program, c)
            if tracked.ok[0] and np.abs(tracked.z[0] - one.z[0]).max() < 1e-5:
                return region
            if self.tangent_miss(region, c, one.z[0]) < 2e-3:
                return region
        return None

    def equalled(self, label: Label, one: Solutions) -> bool:
        """Whether a patch of the same label holds there with the same objectives: then the front
        needs no other design."""
        M = self.program.n_objectives
        c, _ = label.coordinates(one.a)
        f = np.where(label.objectives, one.a + one.s[:, None], one.r[:, :M])
        for region in (region for region in self.regions if region.label.key == label.key):
            known = (
                [patch(c) for patch in region.patches if patch.inside(c)[0]]
                if region.d
                else [region.y[:1]]
            )
            for y in (y for y in known if label.signs(y, self.box).min() > -self.slack):
                if np.abs(label.values(y, c) - f).max() < AS_GOOD * self.tol:
                    return True
        return False

    def tangent_miss(self, region: Region, c: np.ndarray, z: np.ndarray) -> float:
        """How far the tangents at the three nearest nodes lead past z."""
        assert region.nodes is not None
        away = np.linalg.norm(region.c - c, axis=1)
        order = np.argsort(away)[:3]
        order = order[away[order] < CLOSE]
        if len(order) == 0:
            return np.inf
        nodes = region.nodes.take(order)
        change = region.label.chart(c) - nodes.a
        there = nodes.z + np.einsum("nij,nj->ni", nodes.tangent[:, : len(z)], change)
        return float(np.abs(there - z).max(axis=1).min())

    def refit(self) -> None:
        """Fits what is stale, and follows regions to where their patches say that they go on."""
        for region in self.regions:
            self.follow(region)
        self.merge()

    def follow(self, region: Region) -> None:
        """Fits what is stale of a region, and goes on to where its patches say that it goes on."""
        if region.stale:
            region.fit(self.program, self.tol)
        while region.extend(self.program):
            region.fit(self.program, self.tol)

    def merge(self) -> None:
        """Joins regions of the same label whose patches agree: one of them, and what it lacks of
        the other."""
        L = self.program.n_free
        for one, other in combinations(
            sorted(self.regions, key=lambda region: -region.valid.sum()), 2
        ):
            if (
                one.label.key != other.label.key
                or one.d == 0
                or not (one.patches and other.patches)
            ):
                continue
            c, y = other.c[other.valid], other.y[other.valid]
            inside = np.array([patch.inside(c) for patch in one.patches])
            miss = np.array([np.abs(patch(c) - y)[:, : L + 1].max(axis=1) for patch in one.patches])
            both = inside.any(axis=0)
            if (
                both.any()
                and np.mean(np.where(inside, miss, np.inf).min(axis=0)[both] < SAME_BRANCH) > 0.9
            ):
                missing = ~both
                one.absorb(other)
                if missing.any():
                    self.mark(one, c[missing])
                self.regions.remove(other)
                self.merge()
                return
