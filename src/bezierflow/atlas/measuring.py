"""How good an atlas is: its answers at chart points that no fit ever saw, against solutions
there."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from ..answer import BezierAtlas, centered
from ..objectives import BudgetSpentError
from .active_sets import by_place, solve_above
from .building import AtlasState
from .local_solves import PARTS, Ends
from .mesh_search import MeshSearch
from .program import Program
from .schedule import SCHEDULE, most_hessians


@dataclass(frozen=True)
class AtlasError:
    """An atlas at fresh chart points.

    Attributes:
        distances: in x, from each answer to the solution.
        front: by how much the level of each answer is above that of the solution or the best point
            known, in units of the objectives' ranges.
        certified: which answers nothing known beats, up to what is left to the estimate.
        beaten: at which points the solution is clearly better in all objectives,
        better: and designs that are, in the solver's variables.
        violation: the largest violation of a constraint at the answers, in units of the
            constraint's scale.
        diameter: of the set, in x.
        tol: what patches were to miss fresh points by at most.
        patches: the same of the patches alone, where answers are polished.
    """

    distances: Float[np.ndarray, " n"]
    front: Float[np.ndarray, " n"]
    certified: Bool[np.ndarray, " n"]
    beaten: Bool[np.ndarray, " n"]
    better: Float[np.ndarray, "k n_variables"]
    violation: float
    diameter: float
    tol: float
    patches: "AtlasError | None" = None

    @property
    def coverage(self) -> float:
        """The share of answers that are certified."""
        return float(np.mean(self.certified))


def _diameter(atlas: BezierAtlas, rng: np.random.Generator) -> float:
    from scipy.spatial.distance import pdist

    x = atlas.units.x(atlas.points.z)
    sample = x[rng.permutation(len(x))[:500]]
    return float(pdist(sample).max()) if len(sample) > 1 else 0.0


def measure(state: AtlasState, seed: int) -> AtlasError:
    """Answers at fresh points, as many as can be paid for, against what searches find there.
    Uncounted evaluations, once for each seed.

    Raises `BudgetSpentError` where that are none.
    """
    if seed not in state.measured:
        state.measured[seed] = _measured(state, seed)
    return state.measured[seed]


def _measured(state: AtlasState, seed: int) -> AtlasError:
    atlas = state.atlas
    assert state.search is not None
    assert atlas is not None
    search, rng = state.search.copy(), np.random.default_rng([seed, 1])
    mesh = search.mesh
    mesh.program = mesh.program.for_answers(0.0 if mesh.polished else mesh.program.margin)
    program, M = mesh.program, mesh.program.n_objectives
    n = int(
        min(
            SCHEDULE.n_on_set,
            program.evaluator.left // (SCHEDULE.search_gradients * (program.n_free + 1)),
        )
    )
    if n < SCHEDULE.fewest:
        raise BudgetSpentError
    a = centered(atlas.points.f[rng.integers(len(atlas.points.f), size=n)])
    if atlas.polisher is not None:
        a = np.concatenate([a, atlas.place(rng.dirichlet(np.ones(M), SCHEDULE.n_anywhere))])
        a = rng.permutation(a)
    if program.has_hessians:
        # Where an objective is least it may be a root, whose errors are large there alone.
        ends = [(1 - share) * np.eye(M) + share / M for share in SCHEDULE.near_ends]
        a = np.concatenate([atlas.place(np.concatenate(ends)), a])
    mapped = atlas.mapped(a).z
    z, found = _both_solutions(search, atlas, a, mapped)
    n = len(found.z)
    a, mapped = a[:n], mapped[:n]
    level = fair_level(program, found.r, a, found.mu)
    known, where = program.known_merit(a)
    best = np.minimum(level, known)
    lowest, lower = found.z.copy(), np.flatnonzero(known < level)
    lowest[lower] = program.archive.z[where[lower]]
    diameter, exact = _diameter(atlas, rng), program.values(z)

    def against(z: np.ndarray, limit: float) -> AtlasError:
        r = program.values(z)
        gain, end = fair_level(program, r, a) - best, M + program.n_inequalities
        constraints = np.concatenate([r[:, M:end], np.abs(r[:, end:])], axis=1)
        # A solution that is as good elsewhere does not make the answer wrong.
        same = mesh.polished & (np.abs(gain) < SCHEDULE.same_level)
        beaten = gain > np.maximum(SCHEDULE.beaten, SCHEDULE.much_beaten * search.asked)
        # Patches alone may be off along the front, where their level is right.
        off = np.abs(r - exact)[:, :M].max(axis=1) if z is mapped and mesh.polished else gain
        return AtlasError(
            np.where(same, 0.0, program.apart(found.z, z)),
            np.maximum(off, 0.0),
            gain < limit,
            beaten,
            program.x(lowest[beaten]),
            float(constraints.max(initial=0.0)),
            diameter,
            search.asked,
        )

    if atlas.polisher is None:
        return against(z, SCHEDULE.roughest)
    return replace(against(z, SCHEDULE.beaten), patches=against(mapped, SCHEDULE.roughest))


def fair_level(
    program: Program, r: np.ndarray, a: np.ndarray, mu: np.ndarray | None = None
) -> Float[np.ndarray, " n"]:
    """The merit of rows, where violations that searches leave over cost what they bring, by the
    multipliers of the rows: nothing where none are given."""
    M, end = program.n_objectives, program.n_objectives + program.n_inequalities
    small = np.abs(r[:, M:]) <= SCHEDULE.nearly_feasible
    merit = program.merit(np.concatenate([r[:, :M], np.where(small, 0.0, r[:, M:])], axis=1), a)
    if mu is None:
        return merit
    # Where a constraint is steep in one direction and flat in another its scale says little.
    over = np.concatenate([np.maximum(r[:, M:end], 0.0), np.abs(r[:, end:])], axis=1)
    return merit + np.where(small, np.abs(mu[:, M:]) * over, 0.0).sum(axis=1)


def _both_solutions(
    search: MeshSearch, atlas: BezierAtlas, a: np.ndarray, mapped: np.ndarray
) -> tuple[np.ndarray, Ends]:
    """The answers above chart points, and what other searches find there; of some points only,
    where that many are beaten that more of them say nothing new, or so many take as much as a whole
    search."""
    if atlas.polisher is None:
        found = _other_solutions(search, a, mapped)
        return mapped[: len(found.z)], found
    program, z, parts, n = search.program, mapped[:0], list[Ends](), SCHEDULE.telling_points
    spent = int(program.evaluator.evaluations.hessian)
    for rows in (slice(k, k + n) for k in range(0, len(a), n)):
        z = np.concatenate([z, atlas.answers(a[rows]).z])
        parts.append(_other_solutions(search, a[rows], z[rows]))
        lead = fair_level(program, program.values(z[rows]), a[rows])
        lead -= fair_level(program, parts[-1].r, a[rows], parts[-1].mu)
        hessians = int(program.evaluator.evaluations.hessian) - spent
        much = hessians > most_hessians(program.n_free)
        if much or np.mean(lead > SCHEDULE.beaten) > SCHEDULE.many_beaten:
            break
    return z, _joined(parts)


def _joined(parts: Sequence[Ends]) -> Ends:
    return Ends(*(np.concatenate([getattr(part, name) for part in parts]) for name in PARTS))


def _other_solutions(search: MeshSearch, a: np.ndarray, z: np.ndarray) -> Ends:
    """Solutions above chart points from designs and the labels of nodes beside them; those of their
    own place where curves go far from node to node; where answers were solved for already, from
    these nodes themselves."""
    program, mesh = search.program, search.mesh
    near = (
        np.linalg.norm(centered(mesh.f)[None] - a[:, None], axis=2).argmin(axis=1)
        if len(mesh.z)
        else None
    )
    if mesh.polished and near is not None:
        z = mesh.z[near]
    parts: list[Ends] = []
    with suppress(BudgetSpentError):
        # Small parts, so that a budget that ends early leaves most of them.
        parts_of = SCHEDULE.measured_at_once if program.has_hessians else 2
        for rows in np.array_split(np.arange(len(a)), max(len(a) // parts_of, 1)):
            if mesh.follows:
                parts.append(solve_above(program, a[rows], by_place(program, z[rows]))[0])
                continue
            parts.append(search.solve(a[rows], z[rows], 0.1, None if near is None else near[rows]))
    if not parts:
        raise BudgetSpentError
    return _joined(parts)
