"""The search for the atlas: regions of the chart one after the other, until patches cover it and
answers at fresh points hold."""

import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ..answer import Claims, Patch, ask_patch, ask_patches, centered
from ..runs import kind
from .labels import Solutions, newton, signs
from .leaves import spread
from .local_solves import Answers, descend, judge
from .program import TIE, Program
from .regions import Regions

LOST = 1e-3
"""Designs of the archive that are better than the patches by this much are part of the answer."""

N_FIRST = 16
"""Chart points that are solved at the beginning."""

N_PROBES = 5000
"""Chart points at which the patches are asked in each round; that costs no evaluation."""

N_FILLED, N_VERIFIED = 40, 50
UNCOVERED, OPEN, REFUTED = 6e-4, 0.01, 0.02
"""The shares of uncovered chart points, of uncovered ones on seams, and of claims that do not hold
at which a search ends, if they are reached in two rounds running; with tolerances above 1e-4 the
first is five, the second fifty tolerances, up to `MOST_OPEN`."""

MOST_OPEN = 0.02

PATIENCE, NO_GAIN = 5, 5e-4
"""A search ends also if so many rounds gained less coverage than this."""

N_SEAMS = 400
"""Chart points at which the answer passes from one region to another, looked for in each round."""


@kind("atlas.round/1")
class Round(NamedTuple):
    """What a round found before it mended it.

    Attributes:
        covered: the share of probes that a patch covers.
        closed: the same of points on seams.
        verified: the share of claims at fresh chart points that hold; not a number where none were
            verified.
    """

    covered: float
    closed: float
    verified: float

    def complete(self, tol: float) -> bool:
        """Whether nothing worth another round was found."""
        uncovered, open_seams = (
            max(UNCOVERED, min(5 * tol, MOST_OPEN)),
            max(OPEN, min(50 * tol, MOST_OPEN)),
        )
        return (
            self.covered >= 1 - uncovered
            and self.closed >= 1 - open_seams
            and self.verified >= 1 - REFUTED
        )


NOTHING_YET = Round(0.0, 0.0, float("nan"))
"""Before the first round."""

N_MENDED = 150
"""Chart points of all kinds, and as many around seams, that are verified after the last round,
beside `N_SEAMS` on them."""


@kind("atlas.search/1")
class Search(Regions):
    """Regions found so far, with what it takes to find more."""

    def __init__(self, program: Program, tol: float, seed: int):
        super().__init__(program, tol, seed)
        self.history: list[Round] = []

    def copy(self) -> "Search":
        """The same search, to go on with while this one stays as it is."""
        other = copy.copy(self)
        other.program, other.history = self.program.copy(), list(self.history)
        other.regions, other.rng = copy.deepcopy(self.regions), copy.deepcopy(self.rng)
        return other

    def news_of_round(self) -> dict[str, float]:
        """What the last round found, for progress and history."""
        last = self.history[-1] if self.history else NOTHING_YET
        return {**last._asdict(), "regions": len(self.regions)}

    def known(self) -> tuple[Float[np.ndarray, "n n_free"], Float[np.ndarray, "n n_objectives"]]:
        """All designs that may be part of an answer, with their scaled objectives."""
        return self.program.archive.z, self.program.known()

    def lost(
        self, f: Float[np.ndarray, "n n_objectives"], patches: list[Patch]
    ) -> Bool[np.ndarray, " n"]:
        """Which objective values no patch comes close to."""
        claims = ask_patches(patches, centered(f), self.box)
        level = claims.y[:, self.program.n_free]
        return (claims.sign < -self.near) | (level > f.mean(axis=1) + LOST)

    def patches(self) -> list[Patch]:
        """Those of all regions, with their numbers."""
        return [
            replace(patch, region=number)
            for number, region in enumerate(self.regions)
            for patch in region.patches
        ]

    def certify(
        self, a: np.ndarray, y: np.ndarray, regions: Int[np.ndarray, " n"], most: int
    ) -> Answers:
        """The claims of regions at chart points after a few Newton steps; good where all signs and
        the archive agree."""
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

    def verify(
        self, a: Float[np.ndarray, "n n_objectives"]
    ) -> tuple[Bool[np.ndarray, " n"], Claims, Bool[np.ndarray, " n"]]:
        """Whether the claims at chart points hold; and which of those that do not are only
        inaccurate (they become nodes)."""
        claims, M = self.ask(a), self.program.n_objectives
        ok, inaccurate = np.zeros(len(a), dtype=bool), np.zeros(len(a), dtype=bool)
        rows = np.flatnonzero(claims.sign > -self.near)
        if len(rows) == 0:
            return ok, claims, inaccurate
        answers = self.certify(a[rows], claims.y[rows], claims.number[rows], most=3)
        found = answers.found
        free = found.side == 0
        moved = np.abs(np.where(free, found.z - claims.y[rows][:, : self.program.n_free], 0.0)).max(
            axis=1
        )
        right = found.ok & (moved < 0.05) & (signs(self.program, found).min(axis=1) > -3e-6)
        right &= self.program.known_merit(a[rows])[0] > answers.merit - 2e-6
        miss = np.abs(found.first[:, :M] - found.r[:, :M]).max(axis=1)
        allowed = np.maximum(5 * self.tol, 3 * self.expected(claims, a, rows))
        ok[rows] = right & (miss < allowed)
        doubtful = np.flatnonzero(~right & (claims.sign[rows] > -self.slack))
        ok[rows[doubtful]] = ~self.improvable(claims.take(rows[doubtful]), allowed[doubtful])
        wrong = ~found.ok | (moved >= 0.05) | (signs(self.program, found).min(axis=1) < -1e-3)
        self.refute(claims, a, rows[wrong & ~ok[rows]])
        inaccurate[rows] = right & ~ok[rows]
        for i in np.flatnonzero(inaccurate[rows]):
            region = self.regions[claims.number[rows[i]]]
            before = len(region.c)
            region.add(found.take(np.array([i])))
            self.mark(region, region.c[before:], raise_degree=True)
        return ok, claims, inaccurate

    def improvable(self, claims: Claims, by: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Whether a search from each claim's design, or the archive, finds a clearly lower level,
        or the design misses the claim.

        Where designs are no smooth function of the chart, Newton's method leads elsewhere from a
        design that is as good.
        """
        z, a, L = self.designs(claims), claims.a, self.program.n_free
        merit = self.program.merit(self.program.values(z), a)
        ends = descend(self.program, a, z)
        best = np.minimum(self.program.merit(ends.r, a), self.program.known_merit(a)[0])
        return (best < merit - by) | (
            merit > claims.y[:, L] + 2 * TIE * self.program.n_objectives + by
        )

    def expected(self, claims: Claims, a: np.ndarray, rows: np.ndarray) -> Float[np.ndarray, " n"]:
        """The known error of patches that cannot be improved, 0 for others."""
        errors = np.zeros(len(rows))
        for i, row in enumerate(rows):
            region = self.regions[claims.number[row]]
            c, _ = region.label.coordinates(a[row : row + 1])
            known = [
                leaf.patch.error
                for leaf in region.leaves
                if leaf.patch and leaf.hopeless and leaf.inside(c)[0]
            ]
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
        """Solutions at chart points without a good answer: from the nearest regions' labels, else
        by searches."""
        done = self.try_labels(a)
        rest = np.flatnonzero(~done)
        if len(rest):
            self.insert(self.solve_at(a[rest], self.designs(claims.take(rest))))

    def try_labels(
        self, a: Float[np.ndarray, "n n_objectives"], most: int = 3
    ) -> Bool[np.ndarray, " n"]:
        """Newton on the labels of the nearest regions at each chart point; what holds is
        inserted."""
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

    def begin(self) -> None:
        """The regions of the first chart points."""
        if len(self.program.archive.f) == 0:
            return
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
            a = np.concatenate(
                [a[self.rng.permutation(len(a))[:N_VERIFIED]], self.around(seams[:N_VERIFIED])]
            )
            ok, claims, inaccurate = self.verify(a)
            verified = float(ok.mean())
            rows = np.flatnonzero(~ok & ~inaccurate)
            if len(rows):
                self.fill(a[rows], claims.take(rows))
            self.refit()
        self.program.tidy()
        self.history.append(Round(covered, closed, verified))

    def mend(self) -> bool:
        """Verifies as many claims as an error estimate does, most of them on seams, and mends what
        does not hold.

        Rounds end when 98 % of the answers hold. What is left are slivers between patches, which
        few points of a round meet. Returns whether there was anything to mend.
        """
        seams = self.seams(N_SEAMS)
        a = np.concatenate([self.probes(N_MENDED), self.around(seams[:N_MENDED]), seams])
        ok, claims, inaccurate = self.verify(a)
        rows = np.flatnonzero(~ok & ~inaccurate)
        if len(rows):
            self.fill(a[rows], claims.take(rows))
        self.refit()
        return bool((~ok).any())

    @property
    def done(self) -> bool:
        """Whether patches covered the chart and were right at fresh points in two rounds running,
        or no round helps any more."""
        last = self.history[-2:]
        finished = len(last) == 2 and all(round.complete(self.tol) for round in last)
        return finished or self.stalled

    @property
    def stalled(self) -> bool:
        """Whether the last rounds covered no more than those before."""
        covered = [round.covered + round.closed for round in self.history]
        return (
            len(covered) > 2 * PATIENCE
            and max(covered[-PATIENCE:]) < max(covered[:-PATIENCE]) + NO_GAIN
        )
