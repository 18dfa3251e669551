"""The search for a mesh, in rounds: a population explores, nodes are solved for where the archive
knows better, curves between them are followed, and cells that miss are cut.

Where there are two objectives with Hessians, curves are followed from node to node before cells are
cut (`arcs`), and only what these do not hold is cut. Whatever the archive knows that nothing covers
is part of the answer as a point.
"""

import copy
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..answer import ask_patches, best_levels, centered, frame
from ..bezier import design_matrix
from ..kinds import kind
from ..metrics import farthest_points
from ..objectives import BudgetSpentError
from ..simplex import grid
from .active_sets import solve_above
from .arcs import trace
from .cells import Cells, chart_number, hull
from .exploration import Population, evolve, first_look, first_units, normalize, spread_points
from .local_solves import Ends, descend, search
from .mesh import Mesh
from .program import Program, nondominated
from .schedule import SCHEDULE, by_objectives, most_hessians


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


@kind("atlas.mesh_search/2")
class MeshSearch:
    """A mesh, with what it takes to go on.

    Attributes:
        mesh: nodes and cells so far.
        asked: the tolerance of the mesh at the end,
        last: which becomes this while a budget lasts.
        noise: of values, in the same units.
        box: finite bounds to look in.
        traced: cells, by their nodes, between which arcs were looked for, and nodes from which
            none starts.
        population: that explores.
        history: of the rounds.
        still: how many explorations in a row changed nothing.
        refining: whether the next round cuts cells.
        goal: cells that miss by more are cut; it falls to the tolerance.
        late: how often the archive was asked after cuts.
        violation: the least one, of all that was met, as long as nothing feasible is known.
        cost_of_cut: evaluations for the cut of a cell, the most that any took.
        before: the search as it was when its cells covered most, since nodes are exact.
    """

    def __init__(self, program: Program, tol: float, seed: int, box: tuple[np.ndarray, np.ndarray]):
        program.strict = True
        self.mesh, self.box = Mesh(program, tol), box
        self.asked, self.last, self.noise = tol, tol, 0.0
        self.rng = np.random.default_rng(seed)
        self.traced: dict[tuple[int, ...], bool] = {}
        self.population: Population | None = None
        self.history: list[MeshRound] = []
        self.still, self.refining, self.goal = 0, False, max(tol, SCHEDULE.first_goal)
        self.late, self.violation = 0, np.inf
        # A cut takes about two gradients, and the cells that it makes are to be checked.
        self.cost_of_cut = SCHEDULE.cut * (program.n_free + 1)
        self.before: MeshSearch | None = None

    @property
    def program(self) -> Program:
        """Rows, counted, with the archive."""
        return self.mesh.program

    def copy(self) -> "MeshSearch":
        """The same search, to go on with while this one stays as it is."""
        other = copy.copy(self)
        other.mesh, other.history = self.mesh.copy(self.program.copy()), list(self.history)
        other.traced, other.rng = dict(self.traced), copy.deepcopy(self.rng)
        return other

    def remember(self) -> None:
        """Keeps the search as it is now, to go back to."""
        self.before = None
        self.before = self.copy()

    def best(self, over: bool) -> "MeshSearch":
        """This search, or the one to go back to, where the budget was spent amid a round or cells
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
        return {**last._asdict(), "nodes": len(self.mesh.z)}

    def begin(self, start: Float[np.ndarray, "n n_free"]) -> None:
        """The first points, all over the box, and what they say of the units."""
        mesh, program = self.mesh, self.program
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
            if program.is_quadratic:
                program.look(z[:1])
        except BudgetSpentError:  # the time is up: what was evaluated before must do
            z = z[~program.evaluator.fresh(program.origin + z * program.unit)]
            raw = first_look(program, z)
        finally:
            program.evaluator.budget = budget
        first_units(program, raw)
        finite = raw[np.isfinite(raw).all(axis=1)]
        self.noise = program.noise_of((finite - program.shift) / program.scale)
        least = SCHEDULE.most_noise * self.noise
        mesh.tol, self.asked, self.last = (
            max(tol, least) for tol in (mesh.tol, self.asked, self.last)
        )
        self.goal = max(mesh.tol, self.goal)
        # Arcs keep inequalities exactly.
        program.margin = (
            0.0 if mesh.follows else min(SCHEDULE.margin * mesh.tol, SCHEDULE.widest_margin)
        )
        program.keep(z, raw)
        self.population = Population(z, raw)

    def join(self, z: Float[np.ndarray, "n n_free"]) -> None:
        """Takes designs that are known to be good into the archive, and explores again."""
        budget, self.program.evaluator.budget = self.program.evaluator.budget, None
        self.program.values(self.program.clip(z))
        self.program.evaluator.budget = budget
        self.still, self.late, self.refining = 0, 0, False

    def round(self) -> None:
        """One part of the search: an exploration with what it brings, or cuts of cells."""
        mesh, program = self.mesh, self.program
        if program.evaluator.left <= 0:
            raise BudgetSpentError  # without evaluations rounds would change nothing for ever
        changes = self.refine_round() if self.refining else self.explore_round()
        program.tidy()
        if mesh.polished or mesh.exact:
            mesh.check()  # what nodes from the archive made anew is part of the answer, too
        self.note(changes)

    def explore_round(self) -> int:
        """An exploration, and nodes where it found something; how many of these gained much."""
        program, most = self.program, self.most
        self.explore(SCHEDULE.explored * most)
        if len(program.archive.z):
            changes = self.first_nodes() if len(self.mesh.z) == 0 else 0
            changes += self.news(SCHEDULE.news * most)
        else:
            changes = self.become_feasible()
        self.still = 0 if changes else self.still + 1
        spent = int(program.evaluator.evaluations.objective)
        # What explorations still improve is not worth cutting yet.
        ready = self.still > 0 or spent > SCHEDULE.explored_first * most
        self.refining = ready and len(self.mesh.z) > 0
        self.look_closer()
        return changes

    def refine_round(self) -> int:
        """Cuts of cells, and nodes where these show that the archive knows better; how many of
        these gained much."""
        mesh, most = self.mesh, self.most
        if not self.refine(SCHEDULE.cut_share * most):
            return 0
        changes = self.late_news(SCHEDULE.news * most)
        if not changes:
            # Explorations between coarse and fine cuts find what finer cuts would be lost on.
            self.refining = (
                self.still >= SCHEDULE.still_rounds and self.goal > mesh.tol and not self.fine
            )
            self.goal = mesh.tol if self.fine else max(mesh.tol, SCHEDULE.fall * self.goal)
        return changes

    def note(self, changes: int) -> None:
        """Notes what a round ended with, keeps the mesh where it lost nothing by being made more
        exact, and makes it more exact where nothing else is left to do."""
        mesh, program = self.mesh, self.program
        cells = mesh.cells()
        front = program.known()
        front = front[
            np.linspace(0, len(front) - 1, min(len(front), SCHEDULE.compared)).astype(int)
        ]
        # What is exact enough to be asked for does not lose by being made more exact.
        slack = 5 * max(self.asked - mesh.tol, 0.0)
        made = mesh.cell_patches() + mesh.arcs
        lost = mesh.lost(front, made, slack) if len(front) else np.ones(1)
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
        going = self.refining or (len(self.mesh.z) == 0 and self.program.evaluator.left < np.inf)
        return self.still >= SCHEDULE.still_rounds and not going and self.fine

    @property
    def finishes(self) -> bool:
        """Whether nodes shall be more exact, and can be: for less than what is left of a budget
        they are solved for once more, and their cells are looked at. Without a budget values end at
        what is asked for."""
        mesh = self.mesh
        left = self.program.evaluator.left
        cost = (SCHEDULE.cut * (self.program.n_free + 1) + 2) * len(mesh.z)
        allowed = left < np.inf or self.asked < mesh.tol or self.program.has_slopes
        return bool(2 * self.last < mesh.tol and allowed and 0 < cost < left)

    def finish(self) -> None:
        """Solves for all nodes once more, up to rounding, for a smaller tolerance from now on."""
        mesh, program, M = self.mesh, self.program, self.program.n_objectives
        if self.before is None:
            self.remember()
        mesh.tol, mesh.exact = max(SCHEDULE.fall * mesh.tol, self.last), True
        self.goal, self.refining = mesh.tol, True
        program.tie = min(program.tie, mesh.tol)
        program.margin = min(program.margin, SCHEDULE.margin * mesh.tol)
        counts = mesh.mu[:, :M] > SCHEDULE.priced
        own = centered(mesh.f + np.where(counts, 0.0, SCHEDULE.far))
        nodes = np.append(np.arange(len(mesh.z)), mesh.f.argmin(axis=0))
        ends = self.solve(np.concatenate([own, mesh.corners_of_chart]), mesh.z[nodes], 0.1, nodes)
        mesh.drop(nodes)
        mesh.add(ends, np.full(len(nodes), np.inf), np.ones(len(nodes)))
        self.rescale()
        mesh.clean()
        mesh.check()

    @property
    def fine(self) -> bool:
        """Whether no cell is left to cut, or there are as many as answers need to begin with that
        are polished."""
        mesh = self.mesh
        if mesh.polished and len(mesh.z) >= SCHEDULE.most_nodes:
            return True
        return not any(
            np.any((cells.miss > mesh.tol) & (cells.size > self.finest)) for cells in mesh.faces()
        )

    @property
    def finest(self) -> float:
        """The size below which cells are not cut."""
        finest = by_objectives(SCHEDULE.finest, self.program.n_objectives)
        return SCHEDULE.finer * finest if self.program.has_hessians else finest

    @property
    def most(self) -> int:
        """The evaluations that the search plans with."""
        budget = self.program.evaluator.budget
        left = int(self.program.evaluator.evaluations.objective) + self.program.evaluator.left
        return int(min(SCHEDULE.usual_budget if budget is None else budget, left))

    def explore(self, most: float) -> None:
        """A population run with a part of the evaluations, and units from what it found; without
        generations where convexity is proved and something feasible is known."""
        program, (low, high) = self.program, self.box
        n = SCHEDULE.fresh if self.population else SCHEDULE.spread[1]
        fresh = low + (high - low) * self.rng.random((n, program.n_free))
        begin = np.concatenate([self.mesh.z, fresh])[: int(most / 4)]
        size = int(np.clip(most / 10, *SCHEDULE.populations))
        most = 0 if program.is_convex and len(program.archive.z) else most
        self.population = evolve(program, self.box, begin, self.rng, self.population, most, size)
        self.rescale()

    def rescale(self) -> None:
        """Units from the archive; curvatures are learned anew where these changed much."""
        mesh, program, old, ideal = self.mesh, self.program, self.program.span, self.program.ideal
        normalize(program)
        changed = np.abs([program.ideal - ideal, program.span - old]) / old
        if mesh.arcs and changed.max() < SCHEDULE.same_units:
            program.ideal, program.span = ideal, old
        else:
            mesh.arcs, self.traced = [], {}
        if (program.ideal != ideal).any() or (program.span != old).any():
            mesh.fitted, mesh.gap_ends = {}, mesh.gap_ends[:0]
        if np.abs(np.log(program.span / old)).max() > 0.2:
            mesh.bend = np.tile(0.1 * np.eye(mesh.bend.shape[1]), (len(mesh.z), 1, 1))
            mesh.mu = np.array(mesh.mu)
            mesh.mu[:, : program.n_objectives] *= program.span / old

    def look_closer(self) -> None:
        """Before cells are cut, smaller units for variables that vary little on the front, in a
        part of a wide box: what is short or near is said in these."""
        mesh, program = self.mesh, self.program
        width = np.ptp(mesh.z, axis=0) if len(mesh.z) > 1 else np.ones(1)
        # What varies less is one value.
        narrow = (width > SCHEDULE.narrowest) & (width < SCHEDULE.narrow)
        exact = program.has_hessians and not program.n_auxiliary
        if not (exact and self.refining and narrow.any()):
            return
        factor = np.where(narrow, SCHEDULE.closer * width, 1.0)
        program.change_units(factor)
        mesh.z, self.box = mesh.z / factor, (self.box[0] / factor, self.box[1] / factor)
        self.population = self.population and self.population.scaled(factor)
        if program.n_rows > program.n_objectives and len(program.archive.z):
            self.scale_constraints()
        mesh.arcs, self.traced, mesh.fitted, mesh.checked = [], {}, {}, {}

    def scale_constraints(self) -> None:
        """Scales of constraints from their slopes at designs of the archive: a violation then is
        about a distance, in units of the box."""
        program, M = self.program, self.program.n_objectives
        f = program.known()
        z = program.archive.z[farthest_points(f, min(SCHEDULE.slopes, len(f)))]
        steep = np.median(np.abs(program.slopes(z)[1][:, M:]).max(axis=2), axis=0)
        program.row_scale = program.row_scale * np.clip(steep, *SCHEDULE.scales)
        self.mesh.fitted = {}

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
        mesh = self.mesh
        if self.program.has_hessians:
            return self.solve_exactly(a, z, near)
        program, L = self.program, self.program.n_free
        tol = min(mesh.tol, SCHEDULE.loosest)
        if mesh.exact:
            tol = max(SCHEDULE.finished * tol, self.noise)
        bend = None if near is None else mesh.bend[near]
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
        mesh, program, n = self.mesh, self.program, len(a)
        if near is None:
            return solve_above(program, a, Ends(z, *_nothing(program, n)), labeled=False)[0]
        label = mesh.mu[near], mesh.active[near], mesh.side[near]
        return solve_above(program, a, Ends(z, np.zeros((n, program.n_rows)), *label))[0]

    def become_feasible(self) -> int:
        """Whether the exploration came nearer to what constraints allow. Where it did not, a search
        goes on from its least infeasible design; where that does not either, the next exploration
        begins anew."""
        program, group = self.program, self.population
        assert group is not None
        violation = float(program.violation((group.raw - program.shift) / program.scale).min())
        gained = violation < SCHEDULE.nearer * self.violation
        if not gained:
            found = self.solve(np.zeros((1, program.n_objectives)), group.z[:1])
            raw = np.concatenate([found.r * program.scale + program.shift, group.raw])
            self.population = group._replace(z=np.concatenate([found.z, group.z]), raw=raw)
            violation = min(violation, float(program.violation(found.r)[0]))
            gained = violation < SCHEDULE.nearer * self.violation
            if not gained and not len(program.archive.z):
                self.population = None
        self.violation = min(violation, self.violation)
        return int(gained)

    def first_nodes(self) -> int:
        """Nodes above an even grid of the simplex, from the best designs known."""
        mesh, program, M = self.mesh, self.program, self.program.n_objectives
        if program.n_rows > M and len(program.archive.z):
            self.scale_constraints()
        corner = mesh.corners_of_chart
        for _ in range(SCHEDULE.most_ends):
            before = program.span
            found = self.solve(corner, self.best_known(corner)[0], near=mesh.nearest(corner))
            mesh.add(found, np.full(M, np.inf), np.ones(M))
            self.rescale()
            if np.abs(np.log(program.span / before)).max() < 0.2:
                break
        self.news(SCHEDULE.news * self.most)
        afforded = (
            SCHEDULE.first_share * self.most / (1 if program.has_hessians else program.n_free + 1)
        )
        usual = int(by_objectives(SCHEDULE.first_nodes, M))
        most = SCHEDULE.first_followed if mesh.follows else usual
        steps = [k for k in range(1, most) if len(grid(M, k + 1)) <= afforded]
        t = grid(M, 1 + max(steps, default=1))
        a = centered((M - 1) * (1 / M - t))
        ends = self.solve(a, self.best_known(a)[0], near=mesh.nearest(a))
        new = mesh.add(ends, np.full(len(a), np.inf), np.ones(len(a)))
        self.rescale()
        mesh.clean()
        return int(new.sum())

    def news(self, most: float) -> int:
        """Solves where the archive knows better: at the ends of the front, at nodes that it beats,
        at parts of its front that no cell reaches. Returns how many of these gained much."""
        mesh, program, M, changes = self.mesh, self.program, self.program.n_objectives, 0
        corner = mesh.corners_of_chart
        end = int(program.evaluator.evaluations.objective) + most
        while int(program.evaluator.evaluations.objective) < end:
            if not len(program.archive.z):
                break
            f, front = mesh.f, program.known()
            r = (mesh.raw - program.shift) / program.scale
            mine = [program.merit(r, np.tile(a, (len(r), 1))).min(initial=np.inf) for a in corner]
            merit, where = program.known_merit(corner)
            ends = np.flatnonzero(merit < np.array(mine) - mesh.tol)
            level, better = best_levels(front, centered(f))
            # What lies on a constraint is better than nodes that keep a margin, by its price.
            price = 2 * program.margin * np.abs(mesh.mu[:, M:]).sum(axis=1)
            beaten = np.flatnonzero(level < f.mean(axis=1) - 2 * mesh.tol - price)
            lost, strange = self.strangers(front)
            a = np.concatenate([corner[ends], centered(f[beaten]), centered(front[lost])])
            z = program.archive.z[np.concatenate([where[ends], better[beaten], lost])]
            if len(a) == 0:
                break
            mesh.drop(beaten)
            found = self.solve(a, z)
            gain = np.full(len(a), np.inf)
            gain[: len(ends)] = (np.array(mine) - merit)[ends]
            gain[len(ends) : len(ends) + len(beaten)] = (f.mean(axis=1) - level)[beaten]
            gain[len(gain) - len(lost) :] = strange
            new = mesh.add(found, np.full(len(a), np.inf), np.ones(len(a)))
            self.rescale()
            mesh.clean()
            changes += int((new & (gain > SCHEDULE.news_gain)).sum())
            if not new.any():
                break
        return changes

    def late_news(self, most: float) -> int:
        """The same after cuts, which show that cells are gaps; a few times."""
        self.late += 1
        return self.news(most) if self.mesh.follows and self.late <= SCHEDULE.most_late else 0

    def strangers(
        self, front: Float[np.ndarray, "n n_objectives"]
    ) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """Some points of the archive's front that no cell reaches, far from each other, and
        infinity for those outside of all cells, 0 for others, whose cells are coarse."""
        mesh = self.mesh
        cells = mesh.cells()
        held = cells.take(cells.miss >= 0)
        own = held.take(~held.covered)
        made = mesh.as_patches(own, np.zeros(len(own.nodes))) + mesh.arcs
        # Cells that nobody has looked at yet are coarse.
        slack = (
            SCHEDULE.coarse
            if np.isinf(held.miss).any()
            else 2 * (mesh.tol if mesh.arcs else self.goal)
        )
        lost = np.flatnonzero(nondominated(front) & mesh.lost(front, made, slack))
        if len(mesh.z) and len(lost):
            near = best_levels(mesh.f, front[lost])[0] < max(slack, 5 * mesh.tol)
            lost = lost[~near]
        if len(lost) > SCHEDULE.most_lost:
            lost = lost[
                farthest_points(front[lost], SCHEDULE.most_lost, front[lost].argmin(axis=0)[:1])
            ]
        inside = ask_patches(made, centered(front[lost]), mesh.bounds)
        return lost, np.where(inside.number < 0, np.inf, 0.0)

    def refine(self, most: float) -> bool:
        """Cuts the cells that miss most, as long as evaluations last; whether none is left."""
        mesh = self.mesh
        evaluator, M = self.program.evaluator, self.program.n_objectives
        end, finest = int(evaluator.evaluations.objective) + most, self.finest
        if mesh.follows:
            self.trace(end)
        while int(evaluator.evaluations.objective) < end:
            followed = self.follow_rim() if M > 2 else False
            mesh.check()
            if mesh.polished and len(mesh.z) >= SCHEDULE.most_nodes:
                return True
            done = not followed
            for cells in mesh.faces():
                open_cells = np.flatnonzero((cells.miss > self.goal) & (cells.size > finest))
                if len(open_cells) == 0:
                    continue
                done = False
                urgent = np.minimum(cells.miss[open_cells], 1.0) * cells.size[open_cells]
                most_cut = max(int(min(SCHEDULE.at_once, evaluator.left / self.cost_of_cut)), 1)
                chosen = open_cells[np.argsort(-urgent)[:most_cut]]
                before = int(evaluator.evaluations.objective)
                self.cut(cells.take(chosen))
                spent = int(evaluator.evaluations.objective) - before
                self.cost_of_cut = max(self.cost_of_cut, spent / len(chosen))
            if done:
                return True
        return False

    def trace(self, end: float) -> None:
        """Follows curves from each node to the next, and backwards where they do not arrive, until
        so many evaluations were made."""
        mesh = self.mesh
        evaluator, left = self.program.evaluator, SCHEDULE.most_traced
        while left:
            cells = mesh.cells()
            keys = mesh.corners(cells.nodes)
            open_cells = (cells.miss >= 0) & ~cells.covered
            todo = [k for k in np.flatnonzero(open_cells) if keys[k] not in self.traced]
            if not todo:
                return
            for k in todo[:left]:
                if int(evaluator.evaluations.objective) >= end:
                    return
                self.traced[keys[k]] = True
                if mesh.covered(cells.nodes[[k]])[0]:  # by an arc that went on
                    continue
                left -= 1
                one, other = cells.nodes[k].tolist()
                if mesh.c[one, 0] == mesh.c.min():  # towards the ends, which arcs find exactly
                    one, other = other, one
                if not self.leave(one, other):
                    self.leave(other, one)

    def leave(self, node: int, aim: int) -> bool:
        """Arcs from one node to another; whether they arrive there, as low as it is."""
        mesh, program = self.mesh, self.program
        c, slack = mesh.c[:, 0], SCHEDULE.touching * mesh.tol
        alone = 0, int(mesh.number[node])
        if alone in self.traced:
            return False
        r = (mesh.raw[node] - program.shift) / program.scale
        known = mesh.z[node], r, mesh.mu[node], mesh.active[node], mesh.side[node]
        way = 1.0 if c[aim] > c[node] else -1.0
        last = bool(way * c[aim] >= (way * c).max())
        begin = Ends(*(part[None] for part in known))
        where = float(c[node]), float(c[aim])
        trail = trace(program, begin, where, mesh.tol, mesh.beats, last)
        if not trail.started:
            self.traced[alone] = True
        mesh.arcs += trail.patches
        if way * (c[aim] - trail.reached) > slack:
            level = trail.end.r[0, : program.n_objectives].mean()
            if trail.patches and not mesh.beats(trail.reached, level):
                far = int(mesh.number[aim])
                mesh.add(trail.end, np.full(1, np.inf), np.ones(1))
                self.traced[(0, *sorted([far, mesh.n_made]))] = True
            return False
        at = np.array([[c[aim]]])
        there = [arc(at)[0, program.n_free] for arc in trail.patches if arc.inside(at, slack)[0]]
        return bool(there) and bool(there[-1] < mesh.f[aim].mean() + slack)

    def cut(self, cells: Cells) -> None:
        """A node in the middle of the longest edge of each cell."""
        mesh, program = self.mesh, self.program
        M, n = program.n_objectives, cells.nodes.shape[1]
        c = mesh.on_chart(cells.objectives)
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
        a = mesh.chart_points(cells.objectives, middle)
        y = [
            (design_matrix(point[None], degree) @ control)[0]
            for point, (degree, control) in zip(t, mesh.polynomials(cells), strict=True)
        ]
        guess = program.clip(np.array(y)[:, : program.n_free])
        promised = program.merit(program.values(guess), a)
        z, merit = self.best_known(a)
        known = merit < promised - SCHEDULE.better_start
        ends = self.solve(a, np.where(known[:, None], z, guess), 0.1, one)
        value = program.merit(ends.r, a)
        apart = (
            np.abs(mesh.z[one] - mesh.z[other]).max(axis=1)
            > SCHEDULE.jump + SCHEDULE.steep_jump * width
        )
        apart &= ~(promised - value < self.goal)
        # On a jump the branches of both sides are followed.
        for side in (one, other):
            todo = np.flatnonzero(apart)
            if len(todo):
                again = self.solve(a[todo], mesh.z[side[todo]], 0.1, side[todo])
                ends.put_better(todo, again, program, a)
        z, merit = self.best_known(a)
        todo = np.flatnonzero(merit < program.merit(ends.r, a) - mesh.tol)
        if len(todo):
            ends.put_better(todo, self.solve(a[todo], z[todo]), program, a)
        value = program.merit(ends.r, a)
        miss = np.maximum(promised - value, 0.0)
        keys = mesh.corners(cells.nodes, chart_number(cells.objectives))
        new = mesh.add(ends, np.where(np.isfinite(miss), miss, np.inf), width)
        own = ends.r[:, :M][:, cells.objectives] @ frame(n).T
        away = np.linalg.norm(own - middle, axis=1)
        # Cells whose middle is the same point of the front as a node, or no point of it at all.
        made = mesh.n_made - np.cumsum(new[::-1])[::-1] + 1
        gone = mesh.clean()
        empty = np.flatnonzero(~new | (away > 0.25 * width) | np.isin(made, gone))
        for k in empty:
            mesh.gaps[keys[k]] = True
        if mesh.follows:
            ends = np.sort(np.concatenate([c[one], c[other]], axis=1)[empty], axis=1)
            mesh.gap_ends = np.concatenate([mesh.gap_ends, ends])

    def follow_rim(self) -> bool:
        """Looks for nodes beyond the largest sides of the rim; whether there was anything to do."""
        mesh = self.mesh
        M = self.program.n_objectives
        sides, normals = hull(mesh.c)
        corners = mesh.c[sides]
        size = np.sqrt(((corners[:, :, None] - corners[:, None]) ** 2).sum(axis=-1))
        size = size.max(axis=(1, 2), initial=0.0)
        keys = mesh.corners(sides)
        todo = [k for k in np.argsort(-size) if size[k] > by_objectives(SCHEDULE.finest, M)]
        todo = np.array([k for k in todo if keys[k] not in mesh.gaps][: SCHEDULE.at_once // 2], int)
        if len(todo) == 0:
            return False
        sides, normals, middle = sides[todo], normals[todo], corners[todo].mean(axis=1)
        a = (middle + 0.5 * size[todo, None] * normals) @ frame(M)
        z, merit = self.best_known(a)
        mine = (mesh.f[sides] - a[:, None]).max(axis=2)
        near = sides[np.arange(len(sides)), mine.argmin(axis=1)]
        z = np.where((merit < mine.min(axis=1))[:, None], z, mesh.z[near])
        ends = self.solve(a, z, 0.1, near)
        keys = [keys[k] for k in todo]
        new = mesh.add(ends, np.full(len(a), np.inf), np.ones(len(a)))
        made = mesh.n_made - np.cumsum(new[::-1])[::-1] + 1
        # What another node dominates would come back for ever.
        new &= ~np.isin(made, mesh.clean())
        outside = ((centered(ends.r[:, :M]) @ frame(M).T - middle) * normals).sum(axis=1)
        for k in np.flatnonzero(~new | (outside < SCHEDULE.rim)):
            mesh.gaps[keys[k]] = True
        return True


def _nothing(program: Program, n: int) -> tuple[np.ndarray, ...]:
    """Rows, multipliers and labels of n searches before they begin."""
    R, L = program.n_rows, program.n_free
    rows = np.zeros((n, R))
    return rows, rows.copy(), np.zeros((n, R), dtype=bool), np.zeros((n, L), dtype=int)
