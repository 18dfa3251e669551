"""A mesh of the chart: nodes of the front, and cells between them with one polynomial each.

Cells know no labels. Nodes are solutions at chart points, by searches that need no more than
values; a cell is an interval between neighbors for two objectives, a simplex of Delaunay's
triangulation for more. Beyond the rim of the front, chart points are answered on it by Pareto
points of some of the objectives alone: these have a chart and cells of their own. What a cell is
worth is seen by predicting points of it and evaluating them: the miss. Where there are two
objectives with Hessians, curves between nodes hold most of the chart (`arcs`), and cells the rest.
"""

import copy
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float, Int

from ..answer import Label, Patch, ask_patches, best_levels, centered, frame
from ..bezier import design_matrix
from ..kinds import kind
from .arc_cover import front_arcs, held
from .cells import Cells, chart_number, connected, constant, cubic, lowest, quadratic, triangulated
from .local_solves import Ends
from .program import Program
from .schedule import SCHEDULE

NODE = ("z", "raw", "mu", "active", "side", "bend", "miss", "width", "number")
"""What is known of each node."""


@kind("atlas.mesh/2")
class Mesh:
    """Nodes, and what lies between them.

    Attributes:
        program: rows, counted, with the archive.
        tol: the largest miss of a cell at present, in units of the objectives' ranges.
        exact: whether nodes are solved for up to rounding.
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
        n_made: how many there were.
        arcs: curves between nodes of two objectives, where there are Hessians.
        gaps: cells, and sides at the rim, by their nodes, in which there is no front.
        gap_ends: where on the chart gaps between two objectives were found, in the present units.
        checked: by how much cells were worse than they said, by what they are made of.
    """

    def __init__(self, program: Program, tol: float):
        L, R = program.n_free, program.n_rows
        self.program, self.tol, self.exact = program, tol, False
        self.z, self.raw, self.mu = np.zeros((0, L)), np.zeros((0, R)), np.zeros((0, R))
        self.active, self.side = np.zeros((0, R), dtype=bool), np.zeros((0, L), dtype=int)
        learned = 0 if program.has_hessians else L
        self.bend = np.zeros((0, learned, learned))
        self.miss, self.width = np.zeros(0), np.zeros(0)
        self.number, self.n_made = np.zeros(0, dtype=int), 0
        self.arcs: list[Patch] = []
        self.gaps: dict[tuple[int, ...], bool] = {}
        self.gap_ends = np.zeros((0, 2))
        self.checked: dict[tuple[int, ...], float] = {}

    def copy(self, program: Program) -> "Mesh":
        """The same mesh with a program of its own."""
        other = copy.copy(self)
        other.program, other.arcs = program, list(self.arcs)
        other.gaps, other.checked = dict(self.gaps), dict(self.checked)
        other.fitted = dict(self.fitted)
        return other

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

    @property
    def corners_of_chart(self) -> Float[np.ndarray, "n_objectives n_objectives"]:
        """Chart points that ask for the minimum of one objective each."""
        M = self.program.n_objectives
        return centered(np.where(np.eye(M) > 0, -SCHEDULE.far, SCHEDULE.far))

    def nearest(self, a: Float[np.ndarray, "n n_objectives"]) -> Int[np.ndarray, " n"] | None:
        """The nodes that are best above chart points, whose labels may be tried there; None where
        they are not."""
        return best_levels(self.f, a)[1] if self.follows and len(self.z) else None

    def beats(self, c: float, level: float) -> bool:
        """Whether the archive, or a node, is clearly better at a coordinate than a level."""
        a, slack = c * frame(2), SCHEDULE.touching * self.tol
        known = min(best_levels(part, a)[0][0] for part in (self.f, self.program.known()))
        return bool(known < level - slack)

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

    def covered(self, nodes: Int[np.ndarray, "n n_objectives"]) -> Bool[np.ndarray, " n"]:
        """Which cells arcs hold."""
        if not self.arcs or len(nodes) == 0 or nodes.shape[1] < 2:
            return np.zeros(len(nodes), dtype=bool)
        order = np.append(nodes[:, 0], nodes[-1, 1])
        level, slack = self.f[order].mean(axis=1), SCHEDULE.touching * self.tol
        return held(self.arcs, self.c[order], level, self.bounds, slack)

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
        if program.n_inequalities:  # nodes keep a margin: a violation is largest in the middle
            t = np.concatenate([t, SCHEDULE.often * np.eye(n) + (1 - SCHEDULE.often) / n])
        elif n == 2:
            t = np.array([SCHEDULE.checked[::-1], SCHEDULE.checked])
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
        # What violates a constraint is no answer, however little it gains by that, and what is off
        # by more than the room that is left may violate it beside.
        end, first = M + program.n_inequalities, program.n_free + 1
        own = r[:, M:end]
        unknown = np.zeros(1) if self.follows else np.abs(own - y[:, first:][:, M:end])
        over = (own + unknown - program.margin) / program.limits
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
