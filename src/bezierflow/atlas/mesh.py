"""A mesh of the chart: nodes of the front, and cells between them with one polynomial each.

Cells know no labels. Nodes are solutions at chart points, by searches that need no more than
values; a cell is an interval between neighbors for two objectives, a simplex of Delaunay's
triangulation for more. Beyond the rim of the front, chart points are answered on it by Pareto
points of some of the objectives alone: these have a chart and cells of their own. What a cell is
worth is seen by predicting a point of it, correcting the
prediction, and looking at what that gained: the miss. Cells that miss are cut. Where there are two
objectives with Hessians, curves are followed from node to node before that (`arcs`), and only what
these do not hold is cut. Whatever the archive knows that nothing covers is part of the answer as a
point.
"""

import copy
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ..answer import Label, Patch, ask_patches, best_levels, centered, frame
from ..bezier import design_matrix
from ..kinds import kind
from ..metrics import farthest_points
from ..objectives import BudgetSpentError
from ..simplex import grid
from .active_sets import solve_above
from .arc_cover import front_arcs, held
from .arcs import trace
from .cells import (
    Cells,
    chart_number,
    connected,
    constant,
    cubic,
    hull,
    lowest,
    quadratic,
    triangulated,
)
from .exploration import Population, evolve, first_look, first_units, normalize, spread_points
from .local_solves import Ends, descend, search
from .program import Program, nondominated
from .schedule import SCHEDULE, by_objectives, most_hessians

NODE = ("z", "raw", "mu", "active", "side", "bend", "miss", "width", "number")
"""What is known of each node."""


@kind("atlas.mesh_round/1")
class MeshRound(NamedTuple):
    """What a round ended with.

    Attributes:
        changes: how many nodes were new because the archive knew better.
        worst: the largest miss that is expected of a cell.
        covered: the share of the archive's front that cells cover.
    """

    changes: int
    worst: float
    covered: float


@kind("atlas.mesh/1")
class Mesh:
    """Nodes found so far, with what it takes to find more.

    Attributes:
        program: rows, counted, with the archive.
        tol: the largest miss of a cell at present, in units of the objectives' ranges.
        asked: the largest at the end,
        last: which becomes this while a budget lasts.
        noise: of values, in the same units.
        exact: whether nodes are solved for up to rounding.
        box: finite bounds to look in.
        z: designs of the nodes.
        raw: their rows in the user's units.
        mu: multipliers of their rows.
        active: which rows are active there.
        side: which variables are at a bound, see `Label`.
        bend: the curvature that was learned there, where there are no Hessians.
        miss: what predicting each node missed by when it was made; infinite where it was not
            predicted.
        width: the edge that it cut.
        number: of each node, in the order in which they were made.
        arcs: curves between nodes of two objectives, where there are Hessians.
        traced: cells, by their nodes, between which arcs were looked for, and nodes from which
            none starts.
        gaps: cells, and sides at the rim, by their nodes, in which there is no front.
        gap_ends: where on the chart gaps between two objectives were found, in the present units.
        checked: by how much cells were worse than they said, by what they are made of.
        population: that explores.
        history: of the rounds.
        still: how many explorations in a row changed nothing.
        refining: whether the next round cuts cells.
        goal: cells that miss by more are cut; it falls to `tol`.
        late: how often the archive was asked after cuts.
        before: the mesh as it was when its cells covered most, since nodes are exact.
    """

    def __init__(self, program: Program, tol: float, seed: int, box: tuple[np.ndarray, np.ndarray]):
        L, R = program.n_free, program.n_rows
        self.program, self.tol, self.box = program, tol, box
        self.asked, self.last, self.noise, self.exact = tol, tol, 0.0, False
        program.strict = True
        self.rng = np.random.default_rng(seed)
        self.z, self.raw, self.mu = np.zeros((0, L)), np.zeros((0, R)), np.zeros((0, R))
        self.active, self.side = np.zeros((0, R), dtype=bool), np.zeros((0, L), dtype=int)
        learned = 0 if program.has_hessians else L
        self.bend = np.zeros((0, learned, learned))
        self.miss, self.width = np.zeros(0), np.zeros(0)
        self.number, self.n_made = np.zeros(0, dtype=int), 0
        self.arcs: list[Patch] = []
        self.gaps: dict[tuple[int, ...], bool] = {}
        self.gap_ends = np.zeros((0, 2))
        self.traced: dict[tuple[int, ...], bool] = {}
        self.checked: dict[tuple[int, ...], float] = {}
        self.population: Population | None = None
        self.history: list[MeshRound] = []
        self.still, self.refining, self.goal = 0, False, max(tol, SCHEDULE.first_goal)
        self.late = 0
        self.before: Mesh | None = None

    def copy(self) -> "Mesh":
        """The same mesh, to go on with while this one stays as it is."""
        other = copy.copy(self)
        other.program, other.history = self.program.copy(), list(self.history)
        other.gaps, other.checked = dict(self.gaps), dict(self.checked)
        other.fitted = dict(self.fitted)
        other.arcs, other.traced = list(self.arcs), dict(self.traced)
        other.rng = copy.deepcopy(self.rng)
        return other

    def remember(self) -> None:
        """Keeps the mesh as it is now, to go back to."""
        self.before = None
        self.before = self.copy()

    def best(self, over: bool) -> "Mesh":
        """This mesh; the one to go back to where the budget was spent amid a round, or where cells
        cover less since."""
        before, evaluator = self.before, self.program.evaluator
        if before is None or not (over or self.share < before.share):
            return self
        best = before.copy()
        best.program.archives = list(self.program.archives)
        best.program.evaluator.evaluations = evaluator.evaluations
        return best

    @property
    def share(self) -> float:
        """Of the archive's front that cells covered at the end of the last round."""
        return self.history[-1].covered if self.history else 0.0

    def news_of_round(self) -> dict[str, float]:
        """What the last round found, for progress and history."""
        last = self.history[-1] if self.history else MeshRound(0, float("nan"), 0.0)
        return {**last._asdict(), "nodes": len(self.z)}

    # nodes

    @property
    def f(self) -> Float[np.ndarray, "n n_objectives"]:
        """The scaled objectives of the nodes."""
        program = self.program
        return (self.raw[:, : program.n_objectives] - program.ideal) / program.span

    @property
    def c(self) -> Float[np.ndarray, "n dimension"]:
        """The coordinates of the nodes' own chart points."""
        return self.on_chart(np.ones(self.program.n_objectives, dtype=bool))

    def add(self, ends: Ends, miss: np.ndarray, width: np.ndarray) -> Bool[np.ndarray, " n"]:
        """Takes ends of searches as nodes at their own chart points, where no node is as good;
        returns which were new."""
        program, M = self.program, self.program.n_objectives
        new = np.zeros(len(ends.z), dtype=bool)
        for i in np.flatnonzero(program.nearly_feasible(ends.r)):
            f, known = ends.r[i, :M], self.f
            same = np.flatnonzero(
                np.abs(centered(known) - centered(f[None])).max(axis=1, initial=0.0) < SCHEDULE.same
            )
            if (known[same].mean(axis=1) <= f.mean() + SCHEDULE.same).any():
                continue
            bend = self.bend[:0].reshape(self.bend.shape[1:]) if ends.bend is None else ends.bend[i]
            raw = ends.r[i] * program.scale + program.shift
            self.n_made += 1
            label = ends.active[i], ends.side[i]
            made = (ends.z[i], raw, ends.mu[i], *label, bend, miss[i], width[i], self.n_made)
            # A better node takes the place of one at the same chart point, so that the numbers of
            # rows stay as they are.
            place = same[0] if len(same) else len(self.z)
            for name, value in zip(NODE, made, strict=True):
                old = getattr(self, name)
                parts = old[:place], np.array([value]), old[place + 1 :]
                setattr(self, name, np.concatenate(parts))
            new[i] = True
        return new

    def drop(self, rows: np.ndarray) -> None:
        """Removes nodes."""
        for name in NODE:
            setattr(self, name, np.delete(getattr(self, name), rows, axis=0))

    @property
    def corners_of_chart(self) -> Float[np.ndarray, "n_objectives n_objectives"]:
        """Chart points that ask for the minimum of one objective each."""
        M = self.program.n_objectives
        return centered(np.where(np.eye(M) > 0, -SCHEDULE.far, SCHEDULE.far))

    # cells

    @cached_property
    def fitted(self) -> dict[tuple[int, ...], Patch]:
        """Patches of cells in the present units, by what these are made of."""
        return {}

    def faces(self) -> Iterator[Cells]:
        """The cells of all charts: of all objectives first, then of fewer and fewer."""
        M = self.program.n_objectives
        yield self.cells()
        for k in range(M - 1, 0, -1):
            for face in combinations(range(M), k):
                yield self.cells(np.isin(np.arange(M), face))

    def on_chart(
        self, objectives: Bool[np.ndarray, " n_objectives"]
    ) -> Float[np.ndarray, "n dimension"]:
        """The coordinates of the nodes on the chart of some of the objectives."""
        f = self.f[:, objectives]
        # Row by row: products of matrices round by how many rows there are.
        return np.einsum("nm,dm->nd", f, frame(f.shape[1]))

    def chart_points(
        self, objectives: Bool[np.ndarray, " n_objectives"], c: Float[np.ndarray, "n dimension"]
    ) -> Float[np.ndarray, "n n_objectives"]:
        """The chart points with these coordinates; objectives that do not count are given room."""
        a = np.full((len(c), len(objectives)), SCHEDULE.far)
        a[:, objectives] = c @ frame(c.shape[1] + 1)
        return centered(a)

    def cells(self, objectives: Bool[np.ndarray, " n_objectives"] | None = None) -> Cells:
        """Intervals between neighbors, or Delaunay's simplices; none where nodes span nothing. Of
        the nodes at which no other objectives count."""
        if objectives is None:
            objectives = np.ones(self.program.n_objectives, dtype=bool)
        own = np.flatnonzero(
            (self.mu[:, : len(objectives)][:, ~objectives] <= SCHEDULE.priced).all(axis=1)
        )
        c = self.on_chart(objectives)
        own = own[lowest(c[own], self.f[own][:, objectives].mean(axis=1))]
        nodes, beside = triangulated(c[own])
        nodes = own[nodes]
        corners = c[nodes]
        size = np.sqrt(((corners[:, :, None] - corners[:, None]) ** 2).sum(axis=-1))
        size = size.max(axis=(1, 2), initial=0.0)
        # A cell was made by the newest of its nodes, which cut the one before.
        made = self.number[nodes]
        newest = nodes[np.arange(len(nodes)), made.argmax(axis=1)] if len(nodes) else nodes[:, 0]
        with np.errstate(invalid="ignore"):
            miss = np.nan_to_num(
                self.miss[newest] * (size / self.width[newest]) ** 2, posinf=np.inf
            )
        corners = self.corners(nodes, chart_number(objectives))
        gap = np.array([key in self.gaps for key in corners], dtype=bool)
        if self.follows and objectives.all():
            gap |= self.were_gaps(np.sort(c[nodes][:, :, 0], axis=1))
        # How fast designs change: a neighbor in which they change much faster is across a jump.
        z = self.z[nodes]
        speed = (z.max(axis=1) - z.min(axis=1)).max(axis=1, initial=0.0) / np.maximum(size, 1e-12)
        across = np.full(beside.shape, -1)
        for k in range(nodes.shape[1] if len(nodes) else 0):
            other = beside[:, k]
            rows = np.flatnonzero(
                (other >= 0) & ~gap[other] & (speed[other] <= SCHEDULE.rise * speed + 0.1)
            )
            others = nodes[other[rows]]
            outside = ~(others[:, :, None] == nodes[rows][:, None]).any(axis=2)
            across[rows, k] = others[np.arange(len(rows)), outside.argmax(axis=1)]
        cells = Cells(objectives, nodes, miss, size, across, self.covered(nodes))
        seen = np.array([self.checked.get(key, np.nan) for key in self.keys(cells)])
        # What was seen at a few points of the cell itself says more than what its node promises.
        expected = np.where(np.isinf(miss), 0.0, SCHEDULE.trust * miss)
        miss = np.where(np.isnan(seen), miss, np.maximum(seen, expected))
        miss = np.where(cells.covered, 0.0, miss)
        return cells._replace(miss=np.where(gap, -1.0, miss))

    def were_gaps(self, ends: Float[np.ndarray, "n 2"]) -> Bool[np.ndarray, " n"]:
        """Which intervals are gaps whose ends have become a little better since: where constraints
        are steep that goes on for ever."""
        near = SCHEDULE.same_gap * np.ptp(self.gap_ends, axis=1)
        moved = np.abs(ends[:, None] - self.gap_ends).max(axis=2)
        return (moved < near).any(axis=1)

    def keys(self, cells: Cells) -> list[tuple[int, ...]]:
        """What the polynomial of each cell is made of."""
        numbers = np.append(self.number, -1)
        parts = numbers[np.concatenate([cells.nodes, cells.across], axis=1)].tolist()
        chart = chart_number(cells.objectives)
        return [(chart, *row) for row in parts]

    def corners(
        self, nodes: Int[np.ndarray, "n n_corners"], chart: int = 0
    ) -> list[tuple[int, ...]]:
        """What each cell of a chart lies between; of no chart, sides of the rim."""
        return [(chart, *row) for row in np.sort(self.number[nodes], axis=1).tolist()]

    def check(self) -> None:
        """Evaluates each new cell at points of its own, and remembers by how much it is worse there
        than it says."""
        for cells in self.faces():
            self.check_cells(cells)

    def check_cells(self, cells: Cells) -> None:
        """The same with those of one chart."""
        program, M = self.program, self.program.n_objectives
        keys = self.keys(cells)
        fresh = [k for k, key in enumerate(keys) if key not in self.checked]
        cells = cells.take(np.array(fresh, dtype=int))
        n = int(cells.objectives.sum())
        t = np.full((1, n), 1 / n)
        if n == 2:
            t = np.array([SCHEDULE.checked[::-1], SCHEDULE.checked])
        if program.n_inequalities:
            t = np.concatenate([t, SCHEDULE.often * np.eye(n) + (1 - SCHEDULE.often) / n])
        afforded = max(int(min(program.evaluator.left, 1e9)) // len(t), 0)
        cells = cells.take(np.flatnonzero((cells.miss >= 0) & ~cells.covered)[:afforded])
        if len(cells.nodes) == 0:
            return
        y = np.array([design_matrix(t, degree) @ q for degree, q in self.polynomials(cells)])
        c = np.einsum("km,nmi->nki", t, self.on_chart(cells.objectives)[cells.nodes])
        y = y.reshape(-1, y.shape[-1])
        c = c.reshape(len(y), n - 1)
        z = program.clip(y[:, : program.n_free])
        r = program.values(z)
        # All objectives: a design and a level may be off together, along the front.
        worst = np.abs(r[:, :M] - self.label(cells.objectives).values(y, c)).max(axis=1)
        worst = np.where(np.isfinite(worst), worst, np.inf)
        # What violates a constraint is no answer, however little it gains by that.
        end = M + program.n_inequalities
        over = (r[:, M:end] - program.margin) / program.limits
        allowed = (
            10 * SCHEDULE.feasible if self.follows else SCHEDULE.nearly_feasible
        )  # arcs are exact
        out = over.max(axis=1, initial=0.0) > allowed
        worst = np.where(out, np.maximum(worst, 2 * SCHEDULE.roughest), worst)
        worst = worst.reshape(len(cells.nodes), -1).max(axis=1)
        self.checked.update(zip(self.keys(cells), worst.tolist(), strict=True))

    def quantities(
        self, objectives: Bool[np.ndarray, " n_objectives"]
    ) -> Float[np.ndarray, "n width"]:
        """What cells interpolate: designs, levels, weights of the objectives that count and values
        of others, constraints."""
        program, M = self.program, self.program.n_objectives
        r = (self.raw - program.shift) / program.scale
        weights = np.maximum(self.mu[:, :M], 0.0)
        weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        level = r[:, :M][:, objectives].mean(axis=1, keepdims=True)
        rows = np.where(objectives, weights, r[:, :M])
        return np.concatenate([self.z, level, rows, r[:, M:]], axis=1)

    def polynomials(self, cells: Cells) -> list[tuple[int, np.ndarray]]:
        """The degree and the control points of each cell's quantities."""
        c, y = self.on_chart(cells.objectives), self.quantities(cells.objectives)
        make = {1: constant, 2: cubic}.get(int(cells.objectives.sum()), quadratic)
        parts = zip(cells.nodes, cells.across, strict=True)
        return [make(c, y, own, across) for own, across in parts]

    def patches(self) -> list[Patch]:
        """Arcs, where nothing is better, and other cells that hold."""
        made = self.cell_patches()
        first = 1 + max((patch.region for patch in made), default=-1)
        return made + front_arcs(self.arcs, self.f, self.bounds, self.tol, first)

    def cell_patches(self) -> list[Patch]:
        """Cells that hold and that no arc covers."""
        made: list[Patch] = []
        for cells in self.faces():
            looked = np.array([key in self.checked for key in self.keys(cells)], dtype=bool)
            usable = (cells.miss >= 0) & (cells.miss <= SCHEDULE.roughest)
            if self.follows:
                # The level of a front is Lipschitz on the chart with constant 1: where a polynomial
                # misses by more than the length of its cell, the cell's ends are better answers.
                usable &= cells.miss <= np.maximum(cells.size, self.tol)
            cells = cells.take(looked & usable & ~cells.covered)
            patches = self.as_patches(cells, cells.miss)
            region = connected(cells.nodes, [patch.label.key for patch in patches])
            first = 1 + max((patch.region for patch in made), default=-1)
            parts = zip(patches, region, strict=True)
            made += [replace(patch, region=first + k) for patch, k in parts]
        return made

    def known(self) -> tuple[Float[np.ndarray, "n n_free"], Float[np.ndarray, "n n_objectives"]]:
        """All designs that may be part of an answer, with their scaled objectives."""
        program = self.program
        z = np.concatenate([program.archive.z, self.z])
        return z, np.concatenate([program.known(), self.f])

    def as_patches(self, cells: Cells, errors: Float[np.ndarray, " n"]) -> list[Patch]:
        """Cells as patches with these errors: each holds in its simplex, whatever the signs are."""
        keys, c, (lower, upper) = self.keys(cells), self.on_chart(cells.objectives), self.bounds
        new = [k for k, key in enumerate(keys) if key not in self.fitted]
        fresh = cells.take(np.array(new, dtype=int))
        parts = zip(new, fresh.nodes, self.polynomials(fresh), strict=True)
        for k, own, (degree, control) in parts:
            z, corners = self.z[own], c[own]
            low, high = (z == lower).all(axis=0), (z == upper).all(axis=0)
            label = self.label(cells.objectives, np.where(low, -1, np.where(high, 1, 0)))
            inverse = np.linalg.inv(np.concatenate([corners, np.ones((len(own), 1))], axis=1))
            domain = np.concatenate([-inverse.T[:, :-1], inverse.T[:, -1:]], axis=1)
            self.fitted[keys[k]] = Patch(label, corners, degree, control, domain, 0.0)
        parts = zip(keys, errors.tolist(), strict=True)
        return [replace(self.fitted[key], error=miss) for key, miss in parts]

    def label(
        self,
        objectives: Bool[np.ndarray, " n_objectives"],
        side: Int[np.ndarray, " n_free"] | None = None,
    ) -> Label:
        """Of cells, with the variables that are at a bound on all of one."""
        program = self.program
        side = np.zeros(program.n_free, dtype=int) if side is None else side
        nothing = np.zeros(program.n_rows - program.n_objectives, dtype=bool)
        return Label(objectives, nothing, side, program.n_inequalities, trimmed=False)

    def lost(
        self, f: Float[np.ndarray, "n n_objectives"], patches: list[Patch], slack: float = 0.0
    ) -> Bool[np.ndarray, " n"]:
        """Which objective values no patch reaches, with its error."""
        claims = ask_patches(patches, centered(f), self.bounds)
        errors = np.array([patch.error for patch in patches] + [0.0])[claims.number]
        # Below 0, signs are how far an objective that a patch leaves out is above its level.
        level = claims.y[:, self.program.n_free] + errors - np.minimum(claims.sign, 0.0)
        return (claims.number < 0) | (level > f.mean(axis=1) + 5 * self.tol + slack)

    # the search

    def round(self) -> None:
        """One part of the search: an exploration with what it brings, or cuts of cells."""
        program, changes, most = self.program, 0, self.most
        if not self.refining:
            self.explore(SCHEDULE.explored * most)
            changes = self.first_nodes() if len(self.z) == 0 else 0
            changes += self.news(SCHEDULE.news * most)
            self.still = 0 if changes else self.still + 1
            spent = int(program.evaluator.evaluations.objective)
            # What explorations still improve is not worth cutting yet.
            self.refining = self.still > 0 or spent > SCHEDULE.explored_first * most
            self.look_closer()
        elif self.refine(SCHEDULE.cut_share * most) and not (
            changes := self.late_news(SCHEDULE.news * most)
        ):
            # Explorations between coarse and fine cuts find what finer cuts would be lost on.
            self.refining = (
                self.still >= SCHEDULE.still_rounds and self.goal > self.tol and not self.fine
            )
            self.goal = self.tol if self.fine else max(self.tol, SCHEDULE.fall * self.goal)
        program.tidy()
        if self.polished or self.exact:
            self.check()  # what nodes from the archive made anew is part of the answer, too
        self.note(changes)

    def note(self, changes: int) -> None:
        """Notes what a round ended with, keeps the mesh where it lost nothing by being made more
        exact, and makes it more exact where nothing else is left to do."""
        program = self.program
        cells = self.cells()
        front = program.known()
        front = front[
            np.linspace(0, len(front) - 1, min(len(front), SCHEDULE.compared)).astype(int)
        ]
        # What is exact enough to be asked for does not lose by being made more exact.
        slack = 5 * max(self.asked - self.tol, 0.0)
        made = self.cell_patches() + self.arcs
        lost = self.lost(front, made, slack) if len(front) else np.ones(1)
        worst = float(cells.miss[np.isfinite(cells.miss)].max(initial=0.0))
        self.history.append(MeshRound(changes, worst, 1 - float(lost.mean())))
        if self.before is not None and self.share >= self.before.share:
            self.remember()
        if self.settled and self.finishes:
            self.finish()

    @property
    def done(self) -> bool:
        """Whether explorations change nothing any more, and cells are cut as far as needed; or more
        was spent than cuts are worth."""
        evaluator = self.program.evaluator
        values, _, hessians = map(int, evaluator.evaluations)
        most = most_hessians(self.program.n_free)
        much = values > SCHEDULE.most_evaluations or hessians > most
        return (much and evaluator.left == np.inf) or (self.settled and not self.finishes)

    @property
    def settled(self) -> bool:
        """Whether explorations change nothing any more, and cells are cut to the tolerance."""
        return self.still >= SCHEDULE.still_rounds and not self.refining and self.fine

    @property
    def finishes(self) -> bool:
        """Whether nodes shall be more exact, and can be: for less than what is left of a budget
        they are solved for once more, and their cells are looked at. Without a budget values end at
        what is asked for."""
        left = self.program.evaluator.left
        cost = (SCHEDULE.cut * (self.program.n_free + 1) + 2) * len(self.z)
        allowed = left < np.inf or self.asked < self.tol or self.program.has_slopes
        return bool(2 * self.last < self.tol and allowed and cost < left)

    def finish(self) -> None:
        """Solves for all nodes once more, up to rounding, for a smaller tolerance from now on."""
        program, M = self.program, self.program.n_objectives
        if self.before is None:
            self.remember()
        self.tol, self.exact = max(SCHEDULE.fall * self.tol, self.last), True
        self.goal, self.refining = self.tol, True
        program.tie = min(program.tie, self.tol)
        program.margin = min(program.margin, SCHEDULE.margin * self.tol)
        counts = self.mu[:, :M] > SCHEDULE.priced
        own = centered(self.f + np.where(counts, 0.0, SCHEDULE.far))
        nodes = np.append(np.arange(len(self.z)), self.f.argmin(axis=0))
        ends = self.solve(np.concatenate([own, self.corners_of_chart]), self.z[nodes], 0.1, nodes)
        self.drop(nodes)
        self.add(ends, np.full(len(nodes), np.inf), np.ones(len(nodes)))
        self.rescale()
        self.clean()
        self.check()

    @property
    def fine(self) -> bool:
        """Whether no cell is left to cut, or there are as many as answers need to begin with that
        are polished."""
        if self.polished and len(self.z) >= SCHEDULE.most_nodes:
            return True
        return not any(
            np.any((cells.miss > self.tol) & (cells.size > self.finest)) for cells in self.faces()
        )

    @property
    def finest(self) -> float:
        """The size below which cells are not cut."""
        finest = by_objectives(SCHEDULE.finest, self.program.n_objectives)
        return SCHEDULE.finer * finest if self.program.has_hessians else finest

    def begin(self, start: Float[np.ndarray, "n n_free"]) -> None:
        """The first points, all over the box, and what they say of the units."""
        program = self.program
        n = int(np.clip(0.02 * self.most, *SCHEDULE.spread))
        z = np.concatenate([program.clip(start), spread_points(self.box, n, self.rng)])
        # What is known already costs nothing.
        new = program.evaluator.fresh(program.origin + z * program.unit)
        z = z[~new | (np.cumsum(new) <= program.evaluator.left)]
        if len(z) == 0:
            raise BudgetSpentError
        budget, program.evaluator.budget = program.evaluator.budget, None
        try:
            raw = first_look(program, z)
        except BudgetSpentError:  # the time is up: what was evaluated before must do
            z = z[~program.evaluator.fresh(program.origin + z * program.unit)]
            raw = first_look(program, z)
        finally:
            program.evaluator.budget = budget
        first_units(program, raw)
        finite = raw[np.isfinite(raw).all(axis=1)]
        self.noise = program.noise_of((finite - program.shift) / program.scale)
        least = SCHEDULE.most_noise * self.noise
        self.tol, self.asked, self.last = (
            max(tol, least) for tol in (self.tol, self.asked, self.last)
        )
        self.goal = max(self.tol, self.goal)
        # Arcs keep inequalities exactly.
        program.margin = (
            0.0 if self.follows else min(SCHEDULE.margin * self.tol, SCHEDULE.widest_margin)
        )
        program.keep(z, raw)
        self.population = Population(z, raw)

    def join(self, z: Float[np.ndarray, "n n_free"]) -> None:
        """Takes designs that are known to be good into the archive, and explores again."""
        budget, self.program.evaluator.budget = self.program.evaluator.budget, None
        self.program.values(self.program.clip(z))
        self.program.evaluator.budget = budget
        self.still, self.late, self.refining = 0, 0, False

    @property
    def most(self) -> int:
        """The evaluations that the search plans with."""
        budget = self.program.evaluator.budget
        left = int(self.program.evaluator.evaluations.objective) + self.program.evaluator.left
        return int(min(SCHEDULE.usual_budget if budget is None else budget, left))

    def explore(self, most: float) -> None:
        """A population run with a part of the evaluations, and units from what it found."""
        program, (low, high) = self.program, self.box
        fresh = low + (high - low) * self.rng.random((SCHEDULE.fresh, program.n_free))
        begin = np.concatenate([self.z, fresh])[: int(most / 4)]
        size = int(np.clip(most / 10, *SCHEDULE.populations))
        self.population = evolve(program, self.box, begin, self.rng, self.population, most, size)
        self.rescale()

    def rescale(self) -> None:
        """Units from the archive; curvatures are learned anew where these changed much."""
        program, old, ideal = self.program, self.program.span, self.program.ideal
        normalize(program)
        changed = np.abs([program.ideal - ideal, program.span - old]) / old
        if self.arcs and changed.max() < SCHEDULE.same_units:
            program.ideal, program.span = ideal, old
        else:
            self.arcs, self.traced = [], {}
        if (program.ideal != ideal).any() or (program.span != old).any():
            self.fitted, self.gap_ends = {}, self.gap_ends[:0]
        if np.abs(np.log(program.span / old)).max() > 0.2:
            self.bend = np.tile(0.1 * np.eye(self.bend.shape[1]), (len(self.z), 1, 1))
            self.mu = np.array(self.mu)
            self.mu[:, : program.n_objectives] *= program.span / old

    def look_closer(self) -> None:
        """Before cells are cut, smaller units for variables that vary little on the front, in a
        part of a wide box: what is short or near is said in these."""
        program, width = self.program, np.ptp(self.z, axis=0) if len(self.z) > 1 else np.ones(1)
        narrow = (width > SCHEDULE.narrowest) & (
            width < SCHEDULE.narrow
        )  # what varies less is one value
        exact = program.has_hessians and not program.n_auxiliary
        if not (exact and self.refining and narrow.any()):
            return
        factor = np.where(narrow, SCHEDULE.closer * width, 1.0)
        program.change_units(factor)
        self.z, self.box = self.z / factor, (self.box[0] / factor, self.box[1] / factor)
        self.population = self.population and self.population.scaled(factor)
        if program.n_rows > program.n_objectives and len(program.archive.z):
            self.scale_constraints()
        self.arcs, self.traced, self.fitted, self.checked = [], {}, {}, {}

    def first_nodes(self) -> int:
        """Nodes above an even grid of the simplex, from the best designs known."""
        program, M = self.program, self.program.n_objectives
        if program.n_rows > M and len(program.archive.z):
            self.scale_constraints()
        corner = self.corners_of_chart
        for _ in range(SCHEDULE.most_ends):
            before = program.span
            found = self.solve(corner, self.best_known(corner)[0], near=self.nearest(corner))
            self.add(found, np.full(M, np.inf), np.ones(M))
            self.rescale()
            if np.abs(np.log(program.span / before)).max() < 0.2:
                break
        self.news(SCHEDULE.news * self.most)
        afforded = (
            SCHEDULE.first_share * self.most / (1 if program.has_hessians else program.n_free + 1)
        )
        usual = int(by_objectives(SCHEDULE.first_nodes, M))
        most = SCHEDULE.first_followed if self.follows else usual
        steps = [k for k in range(1, most) if len(grid(M, k + 1)) <= afforded]
        t = grid(M, 1 + max(steps, default=1))
        a = centered((M - 1) * (1 / M - t))
        ends = self.solve(a, self.best_known(a)[0], near=self.nearest(a))
        new = self.add(ends, np.full(len(a), np.inf), np.ones(len(a)))
        self.rescale()
        self.clean()
        return int(new.sum())

    def nearest(self, a: Float[np.ndarray, "n n_objectives"]) -> Int[np.ndarray, " n"] | None:
        """The nodes that are best above chart points, whose labels may be tried there; None where
        they are not."""
        return best_levels(self.f, a)[1] if self.follows and len(self.z) else None

    def scale_constraints(self) -> None:
        """Scales of constraints from their slopes at designs of the archive: a violation then is
        about a distance, in units of the box."""
        program, M = self.program, self.program.n_objectives
        f = program.known()
        z = program.archive.z[farthest_points(f, min(SCHEDULE.slopes, len(f)))]
        steep = np.median(np.abs(program.slopes(z)[1][:, M:]).max(axis=2), axis=0)
        program.row_scale = program.row_scale * np.clip(steep, *SCHEDULE.scales)
        self.fitted = {}

    def best_known(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best design of the archive above each chart point, and its merit; the least
        infeasible one where none is feasible."""
        program = self.program
        if len(program.archive.z):
            merit, where = program.known_merit(a)
            return program.archive.z[where], merit
        assert self.population is not None
        return np.repeat(self.population.z[:1], len(a), axis=0), np.full(len(a), np.inf)

    def solve(
        self,
        a: Float[np.ndarray, "n n_objectives"],
        z: Float[np.ndarray, "n n_free"],
        radius: float = 0.3,
        near: Int[np.ndarray, " n"] | None = None,
    ) -> Ends:
        """Searches above chart points from designs, with the curvature of nodes beside them; else
        with one by differences where a rough search ends, if that is what it takes to be exact and
        the budget allows it."""
        if self.program.has_hessians:
            return self.solve_exactly(a, z, near)
        program, L = self.program, self.program.n_free
        tol = min(self.tol, SCHEDULE.loosest)
        if self.exact:
            tol = max(SCHEDULE.finished * tol, self.noise)
        bend = None if near is None else self.bend[near]
        affords = SCHEDULE.curved * self.most >= (L * L + 3 * L) / 2
        if near is None and affords and tol < SCHEDULE.loosest:
            rough = SCHEDULE.promised * SCHEDULE.loosest, SCHEDULE.gained * SCHEDULE.loosest
            first = descend(program, a, z, None, radius, *rough)
            z, bend = first.z, program.bends(first.z, first.r, first.mu)
        goals = SCHEDULE.promised * tol, SCHEDULE.gained * tol
        return search(program, a, z, bend, radius, *goals)

    def solve_exactly(
        self, a: np.ndarray, z: np.ndarray, near: Int[np.ndarray, " n"] | None = None
    ) -> Ends:
        """The same with Hessians, and what is active at neighbors."""
        program, n = self.program, len(a)
        if near is None:
            return solve_above(program, a, Ends(z, *_nothing(program, n)), labeled=False)[0]
        label = self.mu[near], self.active[near], self.side[near]
        return solve_above(program, a, Ends(z, np.zeros((n, program.n_rows)), *label))[0]

    def news(self, most: float) -> int:
        """Solves where the archive knows better: at the ends of the front, at nodes that it beats,
        at parts of its front that no cell reaches. Returns how many of these gained much."""
        program, M, changes = self.program, self.program.n_objectives, 0
        corner = self.corners_of_chart
        end = int(program.evaluator.evaluations.objective) + most
        while int(program.evaluator.evaluations.objective) < end:
            if not len(program.archive.z):
                break
            f, front = self.f, program.known()
            r = (self.raw - program.shift) / program.scale
            mine = [program.merit(r, np.tile(a, (len(r), 1))).min(initial=np.inf) for a in corner]
            merit, where = program.known_merit(corner)
            ends = np.flatnonzero(merit < np.array(mine) - self.tol)
            level, better = best_levels(front, centered(f))
            # What lies on a constraint is better than nodes that keep a margin, by its price.
            price = 2 * program.margin * np.abs(self.mu[:, M:]).sum(axis=1)
            beaten = np.flatnonzero(level < f.mean(axis=1) - 2 * self.tol - price)
            lost, strange = self.strangers(front)
            a = np.concatenate([corner[ends], centered(f[beaten]), centered(front[lost])])
            z = program.archive.z[np.concatenate([where[ends], better[beaten], lost])]
            if len(a) == 0:
                break
            self.drop(beaten)
            found = self.solve(a, z)
            gain = np.full(len(a), np.inf)
            gain[: len(ends)] = (np.array(mine) - merit)[ends]
            gain[len(ends) : len(ends) + len(beaten)] = (f.mean(axis=1) - level)[beaten]
            gain[len(gain) - len(lost) :] = strange
            new = self.add(found, np.full(len(a), np.inf), np.ones(len(a)))
            self.rescale()
            self.clean()
            changes += int((new & (gain > SCHEDULE.news_gain)).sum())
            if not new.any():
                break
        return changes

    def late_news(self, most: float) -> int:
        """The same after cuts, which show that cells are gaps; a few times."""
        self.late += 1
        return self.news(most) if self.follows and self.late <= SCHEDULE.most_late else 0

    def clean(self) -> Int[np.ndarray, " k"]:
        """Drops nodes that others dominate: where one objective is flat, solutions above chart
        points are only weakly optimal. Returns their numbers."""
        f = self.f
        # Where objectives are least they are flat: what is as good up to a tolerance may be better
        # in others by its root, and does not dominate. Nodes that are exact need next to none.
        slack, much = (
            SCHEDULE.exact_nodes
            if self.polished or self.exact
            else (self.tol, SCHEDULE.much * self.tol)
        )
        good = np.ones((len(f), len(f)), dtype=bool)
        better, as_good, clearly = np.zeros_like(good), good.copy(), np.zeros_like(good)
        for column in f.T:
            good &= column <= column[:, None] + slack
            better |= column < column[:, None] - much
            as_good &= column <= column[:, None]
            clearly |= column < column[:, None] - self.tol
        rows = np.flatnonzero(((good & better) | (as_good & clearly)).any(axis=1))
        numbers = self.number[rows]
        self.drop(rows)
        return numbers

    def strangers(
        self, front: Float[np.ndarray, "n n_objectives"]
    ) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """Some points of the archive's front that no cell reaches, far from each other, and
        infinity for those outside of all cells, 0 for others, whose cells are coarse."""
        cells = self.cells()
        held = cells.take(cells.miss >= 0)
        own = held.take(~held.covered)
        made = self.as_patches(own, np.zeros(len(own.nodes))) + self.arcs
        # Cells that nobody has looked at yet are coarse.
        slack = (
            SCHEDULE.coarse
            if np.isinf(held.miss).any()
            else 2 * (self.tol if self.arcs else self.goal)
        )
        lost = np.flatnonzero(nondominated(front) & self.lost(front, made, slack))
        if len(self.z) and len(lost):
            near = best_levels(self.f, front[lost])[0] < max(slack, 5 * self.tol)
            lost = lost[~near]
        if len(lost) > SCHEDULE.most_lost:
            lost = lost[
                farthest_points(front[lost], SCHEDULE.most_lost, front[lost].argmin(axis=0)[:1])
            ]
        inside = ask_patches(made, centered(front[lost]), self.bounds)
        return lost, np.where(inside.number < 0, np.inf, 0.0)

    def refine(self, most: float) -> bool:
        """Cuts the cells that miss most, as long as evaluations last; whether none is left."""
        evaluator, M = self.program.evaluator, self.program.n_objectives
        end, finest = int(evaluator.evaluations.objective) + most, self.finest
        if self.follows:
            self.trace(end)
        while int(evaluator.evaluations.objective) < end:
            followed = self.follow_rim() if M > 2 else False
            self.check()
            if self.polished and len(self.z) >= SCHEDULE.most_nodes:
                return True
            done = not followed
            for cells in self.faces():
                open_cells = np.flatnonzero((cells.miss > self.goal) & (cells.size > finest))
                if len(open_cells) == 0:
                    continue
                done = False
                urgent = np.minimum(cells.miss[open_cells], 1.0) * cells.size[open_cells]
                # A cut takes about two gradients, and the cells that it makes are to be checked.
                afforded = evaluator.left / (SCHEDULE.cut * (self.program.n_free + 1))
                most_cut = max(int(min(SCHEDULE.at_once, afforded)), 1)
                self.cut(cells.take(open_cells[np.argsort(-urgent)[:most_cut]]))
            if done:
                return True
        return False

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the scaled variables."""
        return self.program.lower, self.program.upper

    @property
    def polished(self) -> bool:
        """Whether answers are made exact when somebody asks, so that cells may be coarse."""
        return self.program.n_objectives > 2 and self.program.has_hessians

    @property
    def follows(self) -> bool:
        """Whether curves between nodes are followed from one active set to the next."""
        return self.program.n_objectives == 2 and self.program.has_hessians

    def covered(self, nodes: Int[np.ndarray, "n n_objectives"]) -> Bool[np.ndarray, " n"]:
        """Which cells arcs hold."""
        if not self.arcs or len(nodes) == 0 or nodes.shape[1] < 2:
            return np.zeros(len(nodes), dtype=bool)
        order = np.append(nodes[:, 0], nodes[-1, 1])
        level, slack = self.f[order].mean(axis=1), SCHEDULE.touching * self.tol
        return held(self.arcs, self.c[order], level, self.bounds, slack)

    def trace(self, end: float) -> None:
        """Follows curves from each node to the next, and backwards where they do not arrive, until
        so many evaluations were made."""
        evaluator, left = self.program.evaluator, SCHEDULE.most_traced
        while left:
            cells = self.cells()
            keys = self.corners(cells.nodes)
            open_cells = (cells.miss >= 0) & ~cells.covered
            todo = [k for k in np.flatnonzero(open_cells) if keys[k] not in self.traced]
            if not todo:
                return
            for k in todo[:left]:
                if int(evaluator.evaluations.objective) >= end:
                    return
                self.traced[keys[k]] = True
                if self.covered(cells.nodes[[k]])[0]:  # by an arc that went on
                    continue
                left -= 1
                one, other = cells.nodes[k].tolist()
                if self.c[one, 0] == self.c.min():  # towards the ends, which arcs find exactly
                    one, other = other, one
                if not self.leave(one, other):
                    self.leave(other, one)

    def leave(self, node: int, aim: int) -> bool:
        """Arcs from one node to another; whether they arrive there, as low as it is."""
        program, c, slack = self.program, self.c[:, 0], SCHEDULE.touching * self.tol
        alone = 0, int(self.number[node])
        if alone in self.traced:
            return False
        r = (self.raw[node] - program.shift) / program.scale
        known = self.z[node], r, self.mu[node], self.active[node], self.side[node]
        way = 1.0 if c[aim] > c[node] else -1.0
        last = bool(way * c[aim] >= (way * c).max())
        begin = Ends(*(part[None] for part in known))
        where = float(c[node]), float(c[aim])
        trail = trace(program, begin, where, self.tol, self.beats, last)
        if not trail.started:
            self.traced[alone] = True
        self.arcs += trail.patches
        if way * (c[aim] - trail.reached) > slack:
            level = trail.end.r[0, : program.n_objectives].mean()
            if trail.patches and not self.beats(trail.reached, level):
                far = int(self.number[aim])
                self.add(trail.end, np.full(1, np.inf), np.ones(1))
                self.traced[(0, *sorted([far, self.n_made]))] = True
            return False
        at = np.array([[c[aim]]])
        there = [arc(at)[0, program.n_free] for arc in trail.patches if arc.inside(at, slack)[0]]
        return bool(there) and bool(there[-1] < self.f[aim].mean() + slack)

    def beats(self, c: float, level: float) -> bool:
        """Whether the archive, or a node, is clearly better at a coordinate than a level."""
        a, slack = c * frame(2), SCHEDULE.touching * self.tol
        known = min(best_levels(part, a)[0][0] for part in (self.f, self.program.known()))
        return bool(known < level - slack)

    def cut(self, cells: Cells) -> None:
        """A node in the middle of the longest edge of each cell."""
        program, M, n = self.program, self.program.n_objectives, cells.nodes.shape[1]
        c = self.on_chart(cells.objectives)
        corners = c[cells.nodes]
        length = np.sqrt(((corners[:, :, None] - corners[:, None]) ** 2).sum(axis=-1))
        longest = length.reshape(len(corners), -1).argmax(axis=1)
        i, j = np.unravel_index(longest, (n, n))
        # An edge that two cells share is cut once.
        rows = np.arange(len(corners))
        edges = np.sort(np.stack([cells.nodes[rows, i], cells.nodes[rows, j]]), axis=0)
        once = np.sort(np.unique(edges, axis=1, return_index=True)[1])
        cells, i, j, length = cells.take(once), i[once], j[once], length[once]
        rows = np.arange(len(once))
        one, other = cells.nodes[rows, i], cells.nodes[rows, j]
        width = length[rows, i, j]
        t = np.zeros((len(rows), n))
        t[rows, i] = t[rows, j] = 0.5
        middle = 0.5 * (c[one] + c[other])
        a = self.chart_points(cells.objectives, middle)
        y = [
            (design_matrix(point[None], degree) @ control)[0]
            for point, (degree, control) in zip(t, self.polynomials(cells), strict=True)
        ]
        guess = program.clip(np.array(y)[:, : program.n_free])
        promised = program.merit(program.values(guess), a)
        z, merit = self.best_known(a)
        known = merit < promised - SCHEDULE.better_start
        ends = self.solve(a, np.where(known[:, None], z, guess), 0.1, one)
        value = program.merit(ends.r, a)
        apart = (
            np.abs(self.z[one] - self.z[other]).max(axis=1)
            > SCHEDULE.jump + SCHEDULE.steep_jump * width
        )
        apart &= ~(promised - value < self.goal)
        # On a jump the branches of both sides are followed.
        for side in (one, other):
            todo = np.flatnonzero(apart)
            if len(todo):
                again = self.solve(a[todo], self.z[side[todo]], 0.1, side[todo])
                ends.put_better(todo, again, program, a)
        z, merit = self.best_known(a)
        todo = np.flatnonzero(merit < program.merit(ends.r, a) - self.tol)
        if len(todo):
            ends.put_better(todo, self.solve(a[todo], z[todo]), program, a)
        value = program.merit(ends.r, a)
        miss = np.maximum(promised - value, 0.0)
        keys = self.corners(cells.nodes, chart_number(cells.objectives))
        new = self.add(ends, np.where(np.isfinite(miss), miss, np.inf), width)
        own = ends.r[:, :M][:, cells.objectives] @ frame(n).T
        away = np.linalg.norm(own - middle, axis=1)
        # Cells whose middle is the same point of the front as a node, or no point of it at all.
        made = self.n_made - np.cumsum(new[::-1])[::-1] + 1
        gone = self.clean()
        empty = np.flatnonzero(~new | (away > 0.25 * width) | np.isin(made, gone))
        for k in empty:
            self.gaps[keys[k]] = True
        if self.follows:
            ends = np.sort(np.concatenate([c[one], c[other]], axis=1)[empty], axis=1)
            self.gap_ends = np.concatenate([self.gap_ends, ends])

    def follow_rim(self) -> bool:
        """Looks for nodes beyond the largest sides of the rim; whether there was anything to do."""
        M = self.program.n_objectives
        sides, normals = hull(self.c)
        corners = self.c[sides]
        size = np.sqrt(((corners[:, :, None] - corners[:, None]) ** 2).sum(axis=-1))
        size = size.max(axis=(1, 2), initial=0.0)
        keys = self.corners(sides)
        todo = [k for k in np.argsort(-size) if size[k] > by_objectives(SCHEDULE.finest, M)]
        todo = np.array([k for k in todo if keys[k] not in self.gaps][: SCHEDULE.at_once // 2], int)
        if len(todo) == 0:
            return False
        sides, normals, middle = sides[todo], normals[todo], corners[todo].mean(axis=1)
        a = (middle + 0.5 * size[todo, None] * normals) @ frame(M)
        z, merit = self.best_known(a)
        mine = (self.f[sides] - a[:, None]).max(axis=2)
        near = sides[np.arange(len(sides)), mine.argmin(axis=1)]
        z = np.where((merit < mine.min(axis=1))[:, None], z, self.z[near])
        ends = self.solve(a, z, 0.1, near)
        keys = [keys[k] for k in todo]
        new = self.add(ends, np.full(len(a), np.inf), np.ones(len(a)))
        made = self.n_made - np.cumsum(new[::-1])[::-1] + 1
        # What another node dominates would come back for ever.
        new &= ~np.isin(made, self.clean())
        outside = ((centered(ends.r[:, :M]) @ frame(M).T - middle) * normals).sum(axis=1)
        for k in np.flatnonzero(~new | (outside < SCHEDULE.rim)):
            self.gaps[keys[k]] = True
        return True


def _nothing(program: Program, n: int) -> tuple[np.ndarray, ...]:
    """Rows, multipliers and labels of n searches before they begin."""
    R, L = program.n_rows, program.n_free
    rows = np.zeros((n, R))
    return rows, rows.copy(), np.zeros((n, R), dtype=bool), np.zeros((n, L), dtype=int)
