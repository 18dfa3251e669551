"""The search for the atlas: regions of the chart one after the other, until patches cover it and answers at fresh points hold."""

import copy
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from .asking import Claims, ask_patch, ask_patches, centered, variables
from .exploration import choose_starts
from .labels import Solutions, newton, signs
from .local_solves import Answers, judge, solve
from .patches import Label
from .program import TIE, Program, nondominated
from .region import Region, spread

N_FIRST = 16
"""Chart points that are solved at the beginning."""

N_PROBES = 5000
"""Chart points at which the patches are asked in each round; that costs no evaluation."""

N_FILLED, N_VERIFIED = 40, 50
COVERED, CLOSED, VERIFIED = 0.9994, 0.99, 0.98
"""The shares of covered and of verified chart points at which a search ends, if they are reached in two rounds running."""

LEAST_SLACK = 2e-6
"""A chart point is covered if an answer's signs are at most this far below 0, or a hundredth of the root of the tolerance: an
answer whose sign is wrong by δ is off by about δ²."""

PATIENCE, NO_GAIN = 5, 5e-4
"""A search ends also if so many rounds gained less coverage than this."""

NEAR = 2e-3
"""Claims whose signs are further below 0 are not followed."""

N_SEAMS, BISECTIONS = 400, 14
"""Chart points at which the answer passes from one region to another, looked for in each round."""

CLOSE = 0.03
"""Nodes at most this far away, in chart coordinates, tell by their tangents whether a solution is on their branch."""

SAME_BRANCH = 1e-4
"""Regions of one label are the same where their quantities differ by less."""


class Round(NamedTuple):
    """What a round found before it mended it.

    Attributes:
        covered: the share of probes that a patch covers.
        closed: the same of points on seams.
        verified: the share of claims at fresh chart points that hold; not a number where none were verified.
    """

    covered: float
    closed: float
    verified: float

    @property
    def complete(self) -> bool:
        """Whether nothing worth another round was found."""
        return self.covered >= COVERED and self.closed >= CLOSED and self.verified >= VERIFIED


NOTHING_YET = Round(0.0, 0.0, float("nan"))
"""Before the first round."""


class Search:
    """Regions found so far, with what it takes to find more."""

    def __init__(self, program: Program, tol: float, seed: int):
        self.program, self.tol, self.box = program, tol, (program.lower, program.upper)
        self.slack = max(LEAST_SLACK, 0.01 * np.sqrt(tol))
        self.regions: list[Region] = []
        self.rng = np.random.default_rng(seed)
        self.history: list[Round] = []

    def copy(self) -> "Search":
        """The same search, to go on with while this one stays as it is."""
        other = copy.copy(self)
        other.program, other.history = self.program.copy(), list(self.history)
        other.regions, other.rng = copy.deepcopy(self.regions), copy.deepcopy(self.rng)
        return other

    # asking --------------------------------------------------------------------------------------------------------------

    def ask(self, a: Float[np.ndarray, "n n_objectives"]) -> Claims:
        """What the patches say at chart points, with the number of each one's region in place of its own."""
        patches = [(number, patch) for number, region in enumerate(self.regions) for patch in region.patches]
        claims = ask_patches([patch for _, patch in patches], a, self.box)
        numbers = np.array([number for number, _ in patches] + [-1])
        return replace(claims, number=numbers[claims.number])

    def undercut(self, a: Float[np.ndarray, "n n_objectives"], claims: Claims) -> Bool[np.ndarray, " n"]:
        """Whether the archive knows a better point than the patches: then a part of a region, or a region, is missing."""
        known, _ = self.program.known_merit(a)
        return (claims.sign > -NEAR) & (
            known < claims.y[:, self.program.n_free] - 2 * TIE * self.program.n_objectives - 5 * self.tol
        )

    # chart points --------------------------------------------------------------------------------------------------------

    def points(self, n: int) -> Float[np.ndarray, "n n_objectives"]:
        """Chart points: half of them anywhere a front can be, half near combinations of known nondominated points."""
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
        """Chart points of all kinds: anywhere, and at all distances around known points and nodes."""
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
        return centered(f + self.rng.normal(size=f.shape) * 10.0 ** self.rng.uniform(-3.3, -1, (len(f), 1)))

    def seams(self, n: int) -> Float[np.ndarray, "n_seams n_objectives"]:
        """Chart points at which the answer passes from one region to another. What is missing between two regions lies there."""
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

    # solving -------------------------------------------------------------------------------------------------------------

    def solve_at(self, a: Float[np.ndarray, "n n_objectives"], guess: np.ndarray | None = None, starts: int = 2) -> Answers:
        """The best answers that searches from the archive and from guesses find, until the archive knows no better."""
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
        return Label(active[:M].copy(), active[M:].copy(), found.side[row].copy(), self.program.n_inequalities)

    def insert(self, answers: Answers) -> None:
        """Takes answers as nodes of the regions they belong to; what belongs to none starts one."""
        for row in np.flatnonzero(answers.good):
            one = answers.found.take(np.array([row]))
            one.ok[:] = True
            label = self.label_of(answers.found, int(row))
            region = self.home(label, one)
            if region is not None and region.d == 0:
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

    def mark(self, region: Region, c: np.ndarray, raise_degree: bool = False) -> None:
        """Leaves that hold these nodes are fitted again; where none does, the region begins anew with one leaf."""
        hit = [leaf for leaf in region.leaves if leaf.inside(c).any()]
        for leaf in hit:
            leaf.stale, leaf.raise_degree, leaf.extensions = True, leaf.raise_degree or raise_degree, 0
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
                if np.abs(np.where(label.side == 0, region.y[0, :L] - one.z[0], 0.0)).max() < 1e-4:
                    return region
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
            if region.stale:
                region.fit(self.program, self.tol)
            while region.extend(self.program):
                region.fit(self.program, self.tol)
        self.merge()

    def merge(self) -> None:
        """Joins regions of the same label whose patches agree: one of them, and what it lacks of the other."""
        L = self.program.n_free
        for one, other in combinations(sorted(self.regions, key=lambda region: -region.valid.sum()), 2):
            if one.label.key != other.label.key or one.d == 0 or not (one.patches and other.patches):
                continue
            c, y = other.c[other.valid], other.y[other.valid]
            inside = np.array([patch.inside(c) for patch in one.patches])
            miss = np.array([np.abs(patch(c) - y)[:, : L + 1].max(axis=1) for patch in one.patches])
            both = inside.any(axis=0)
            if both.any() and np.mean(np.where(inside, miss, np.inf).min(axis=0)[both] < SAME_BRANCH) > 0.9:
                missing = ~both
                one.absorb(other)
                if missing.any():
                    self.mark(one, c[missing])
                self.regions.remove(other)
                self.merge()
                return

    # checking ------------------------------------------------------------------------------------------------------------

    def certify(self, a: np.ndarray, y: np.ndarray, regions: Int[np.ndarray, " n"], most: int) -> Answers:
        """The claims of regions at chart points after a few Newton steps; good where all signs and the archive agree."""
        begin = []
        for i, number in enumerate(regions):
            region = self.regions[number]
            c, mean = region.label.coordinates(a[i : i + 1])
            row = y[i : i + 1].copy()
            row[:, self.program.n_free] += mean
            begin.append(region.begin(self.program, c, row))
        found = newton(self.program, Solutions.join(begin), most)
        M, active = self.program.n_objectives, found.active[:, : self.program.n_objectives]
        mean = np.where(active, a, 0.0).sum(axis=1) / active.sum(axis=1)
        found.s, found.a = found.s - mean, a
        found.r[:, :M] = np.where(active, a + found.s[:, None], found.r[:, :M])
        answers = judge(self.program, found)
        known, _ = self.program.known_merit(a)
        answers.good &= known > answers.merit - 2e-6
        return answers

    def verify(self, a: Float[np.ndarray, "n n_objectives"]) -> tuple[Bool[np.ndarray, " n"], Claims, Bool[np.ndarray, " n"]]:
        """Whether the claims at chart points hold; and which of those that do not are only inaccurate (they become nodes)."""
        claims, M = self.ask(a), self.program.n_objectives
        ok, inaccurate = np.zeros(len(a), dtype=bool), np.zeros(len(a), dtype=bool)
        rows = np.flatnonzero(claims.sign > -NEAR)
        if len(rows) == 0:
            return ok, claims, inaccurate
        answers = self.certify(a[rows], claims.y[rows], claims.number[rows], most=3)
        found = answers.found
        free = found.side == 0
        moved = np.abs(np.where(free, found.z - claims.y[rows][:, : self.program.n_free], 0.0)).max(axis=1)
        right = found.ok & (moved < 0.05) & (signs(self.program, found).min(axis=1) > -3e-6)
        right &= self.program.known_merit(a[rows])[0] > answers.merit - 2e-6
        miss = np.abs(found.first[:, :M] - found.r[:, :M]).max(axis=1)
        ok[rows] = right & (miss < np.maximum(5 * self.tol, 3 * self.expected(claims, a, rows)))
        self.refute(claims, a, rows[~found.ok | (moved >= 0.05) | (signs(self.program, found).min(axis=1) < -1e-3)])
        inaccurate[rows] = right & ~ok[rows]
        for i in np.flatnonzero(inaccurate[rows]):
            region = self.regions[claims.number[rows[i]]]
            before = len(region.c)
            region.add(found.take(np.array([i])))
            self.mark(region, region.c[before:], raise_degree=True)
        return ok, claims, inaccurate

    def expected(self, claims: Claims, a: np.ndarray, rows: np.ndarray) -> Float[np.ndarray, " n"]:
        """The known error of patches that cannot be improved, 0 for others."""
        errors = np.zeros(len(rows))
        for i, row in enumerate(rows):
            region = self.regions[claims.number[row]]
            c, _ = region.label.coordinates(a[row : row + 1])
            known = [leaf.patch.error for leaf in region.leaves if leaf.patch and leaf.hopeless and leaf.inside(c)[0]]
            errors[i] = max(known, default=0.0)
        return errors

    def refute(self, claims: Claims, a: np.ndarray, rows: np.ndarray) -> None:
        """Notes that regions claimed solutions at chart points where there are none."""
        for row in rows:
            region = self.regions[claims.number[row]]
            c, _ = region.label.coordinates(a[row : row + 1])
            for leaf in region.leaves if region.d else []:
                if leaf.patch is not None and leaf.inside(c)[0] and leaf.patch.inside(c)[0]:
                    leaf.refuted.append(c[0])
                    leaf.stale = True

    def fill(self, a: Float[np.ndarray, "n n_objectives"], claims: Claims) -> None:
        """Solutions at chart points without a good answer: from the nearest regions' labels, else by searches."""
        done = self.try_labels(a)
        rest = np.flatnonzero(~done)
        if len(rest):
            self.insert(self.solve_at(a[rest], self.designs(claims.take(rest))))

    def designs(self, claims: Claims) -> Float[np.ndarray, "n n_free"]:
        """The scaled variables of claims; the middle of the box where there is none."""
        z = np.full((len(claims.number), self.program.n_free), 0.5)
        for number in np.unique(claims.number[claims.number >= 0]):
            mine = claims.number == number
            z[mine] = variables(self.regions[number].label, claims.y[mine], self.box)
        return z

    def try_labels(self, a: Float[np.ndarray, "n n_objectives"], most: int = 3) -> Bool[np.ndarray, " n"]:
        """Newton on the labels of the nearest regions at each chart point; what holds is inserted."""
        L, done = self.program.n_free, np.zeros(len(a), dtype=bool)
        sign = np.full((len(self.regions), len(a)), -np.inf)
        y = np.zeros((len(self.regions), len(a), L + 1 + self.program.n_rows))
        for number, region in enumerate(self.regions):
            for patch in region.patches:
                values, worst, rows = ask_patch(patch, a, region.box, reach=1.0)
                better = worst > sign[number, rows]
                sign[number, rows[better]], y[number, rows[better]] = worst[better], values[better]
        order = np.argsort(-sign, axis=0)[:most]
        points, numbers = np.meshgrid(np.arange(len(a)), np.arange(len(order)))
        regions = order[numbers.ravel(), points.ravel()]
        points = points.ravel()
        use = sign[regions, points] > -0.05
        regions, points = regions[use], points[use]
        if len(points) == 0:
            return done
        answers = self.certify(a[points], y[regions, points], regions, most=5)
        for i in range(len(a)):
            mine = np.flatnonzero((points == i) & answers.good)
            if len(mine):
                done[i] = True
                self.insert(answers.take(mine[[int(answers.merit[mine].argmin())]]))
        return done

    # rounds --------------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """The regions of the first chart points."""
        self.insert(self.solve_at(self.points(N_FIRST)))
        self.refit()

    def close(self, a: Float[np.ndarray, "n n_objectives"]) -> int:
        """Fills some of the chart points that no patch covers; returns how many there were."""
        claims = self.ask(a)
        uncovered = np.flatnonzero((claims.sign < -self.slack) | self.undercut(a, claims))
        if len(uncovered):
            rows = uncovered[spread(a[uncovered], N_FILLED)]
            self.fill(a[rows], claims.take(rows))
            self.refit()
        return len(uncovered)

    def round(self, number: int) -> None:
        """One round: uncovered chart points are filled, claims at fresh ones verified."""
        a = self.probes(N_PROBES)
        covered, verified = 1 - self.close(a) / len(a), np.nan
        seams = self.seams(N_SEAMS)
        closed = 1 - self.close(seams) / max(len(seams), 1)
        if covered > 0.9 or number % 4 == 3:
            a = self.probes(4 * N_VERIFIED)
            a = np.concatenate([a[self.rng.permutation(len(a))[:N_VERIFIED]], self.around(seams[:N_VERIFIED])])
            ok, claims, inaccurate = self.verify(a)
            verified = float(ok.mean())
            rows = np.flatnonzero(~ok & ~inaccurate)
            if len(rows):
                self.fill(a[rows], claims.take(rows))
            self.refit()
        self.program.tidy()
        self.history.append(Round(covered, closed, verified))

    @property
    def done(self) -> bool:
        """Whether patches covered the chart and were right at fresh points in two rounds running, or no round helps any more."""
        last = self.history[-2:]
        finished = len(last) == 2 and all(round.complete for round in last)
        return finished or self.stalled

    @property
    def stalled(self) -> bool:
        """Whether the last rounds covered no more than those before."""
        covered = [round.covered + round.closed for round in self.history]
        return len(covered) > 2 * PATIENCE and max(covered[-PATIENCE:]) < max(covered[:-PATIENCE]) + NO_GAIN
