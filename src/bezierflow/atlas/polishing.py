"""Exact answers from coarse ones: the point of the front above a chart point, by the node solver
from the design that patches have there."""

import numpy as np
from jaxtyping import Bool, Float, Int

from ..answer import Exact, ExactAround, centered
from ..objectives import FeasibleSet, FlatObjectives
from .active_sets import by_place, solve_above
from .local_solves import Ends
from .program import Archive, Program, nondominated
from .quadratic import Model
from .schedule import SCHEDULE


class Polish:
    """Solutions above chart points, with the functions of the problem.

    They are never worse than what was evaluated before: where an archived design is better, or
    nearly as good elsewhere, the search starts once more from there. One that violates a constraint
    gives way to the best archived design.

    Attributes:
        program: rows with their derivatives, in the units of an atlas.
        archive: the nondominated designs that were evaluated.
    """

    def __init__(self, program: Program):
        self.program = program.for_answers()
        z, f = program.archive
        best = nondominated(f)
        self.archive = Archive(z[best], f[best])

    def __call__(
        self, a: Float[np.ndarray, "n n_objectives"], z: Float[np.ndarray, "n n_free"]
    ) -> Exact:
        """The solutions above chart points that a search from designs ends at."""
        ends, _ = self.solve(a, z)
        M = self.program.n_objectives
        weights = np.maximum(ends.mu[:, :M], 0.0)
        weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, 1.0)
        return Exact(ends.z, ends.r[:, :M], weights / weights.sum(axis=1, keepdims=True))

    def around(
        self, a: Float[np.ndarray, " n_objectives"], z: Float[np.ndarray, " n_free"]
    ) -> ExactAround:
        """One solution, and how design and objectives change with the chart point."""
        program, (ends, _) = self.program, self.solve(a[None], z[None])
        at = program.look(ends.z)
        H = np.tensordot(ends.mu[0], at.H[0], axes=1)
        model = Model(program, (a, ends.z[0]), at.r[0], at.J[0], H)
        M, by_a = program.n_objectives, model.slopes(ends.active[0], ends.side[0])
        return ExactAround(ends.z[0], at.r[0, :M], by_a, at.J[0, :M] @ by_a)

    def solve(self, a: np.ndarray, z: np.ndarray) -> tuple[Ends, Bool[np.ndarray, " n"]]:
        """The best points with their labels, and which of them are solutions."""
        program = self.program
        # Nothing that is met on the way is kept.
        program.archive = self.archive
        ends, solved = self.search_from(a, z)
        rest, known = self.rivals(a, ends)
        if len(rest):
            other, good = self.search_from(a[rest], self.archive.z[known])
            lower = program.merit(other.r, a[rest]) < program.merit(ends.r[rest], a[rest])
            ends.put_better(rest, other, program, a)
            solved[rest] = np.where(lower, good, solved[rest])
        program.archive = self.archive
        # A search may end where constraints do not hold; what was evaluated keeps them.
        broken = np.flatnonzero(~program.nearly_feasible(ends.r))
        if len(broken) and len(self.archive.f):
            z = self.archive.z[program.known_merit(a[broken])[1]]
            ends.z[broken], ends.r[broken], solved[broken] = z, program.values(z), False
        return ends, solved

    def search_from(self, a: np.ndarray, z: np.ndarray) -> tuple[Ends, Bool[np.ndarray, " n"]]:
        """Solutions from designs whose place says what is active."""
        return solve_above(self.program, a, by_place(self.program, z))

    def rivals(
        self, a: np.ndarray, ends: Ends
    ) -> tuple[Int[np.ndarray, " k"], Int[np.ndarray, " k"]]:
        """The chart points at which an archived design is better than the end of a search, or is
        elsewhere and nearly as good, and the best of these."""
        program, M = self.program, self.program.n_objectives
        f = (self.archive.f - program.ideal) / program.span
        rows, known = [], []
        for block in (
            np.array_split(np.arange(len(a)), -(-len(a) // SCHEDULE.compared_at_once))
            if len(f)
            else ()
        ):
            levels = (f[None] - a[block, None]).max(axis=2)
            levels -= (ends.r[block, :M] - a[block]).max(axis=1, keepdims=True)
            i, k = np.nonzero(levels < SCHEDULE.nearly)
            apart = np.abs(self.archive.z[k] - ends.z[block[i]]).max(axis=1) > SCHEDULE.elsewhere
            use = apart | (levels[i, k] < -SCHEDULE.no_lead)
            i, k = i[use], k[use]
            order = np.argsort(levels[i, k])
            first = order[np.unique(i[order], return_index=True)[1]]
            rows.append(block[i[first]])
            known.append(k[first])
        nothing = np.zeros(0, dtype=int)
        return np.concatenate([nothing, *rows]), np.concatenate([nothing, *known])


def settle(
    objectives: FlatObjectives,
    feasible: FeasibleSet,
    box: tuple[np.ndarray, np.ndarray],
    scales: tuple[Float[np.ndarray, " n_objectives"], Float[np.ndarray, " n_objectives"]],
    x: Float[np.ndarray, " n_variables"],
) -> Float[np.ndarray, " n_variables"] | None:
    """The solution above the chart point of x that a search from x ends at, up to rounding; None
    where it ends at none.

    Args:
        objectives: of a flat vector, all to be minimized.
        feasible: bounds and constraints on it.
        box: finite bounds that give the variables their units.
        scales: ideal point and ranges of the objectives.
        x: a design near the set, with any values for auxiliary variables.
    """
    program = Program(objectives, len(scales[0]), feasible, box)
    program.ideal, program.span = scales
    z = program.clip((x[None, program.free] - program.origin) / program.unit)
    r, J = program.slopes(z)
    slopes = np.linalg.norm(J[0, program.n_objectives :], axis=1)
    program.row_scale = np.where(slopes > 0, slopes, 1.0)
    ends, solved = Polish(program).solve(centered(r[:, : program.n_objectives]), z)
    return program.x(ends.z)[0] if solved[0] else None
