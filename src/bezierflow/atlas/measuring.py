"""How good an atlas is: its answers at chart points that no fit ever saw, against solutions
there."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from ..answer import BezierAtlas, Claims, centered
from ..objectives import BudgetSpentError
from .building import AtlasState
from .labels import Solutions, signs
from .local_solves import Ends
from .mesh import ROUGHEST, Mesh
from .regions import AS_GOOD
from .search import Search

N_ON_SET, N_ANYWHERE, N_ON_SEAMS, N_AT_ENDS = 200, 100, 400, 50
"""Fresh chart points: below points of the set, anywhere a front can be, where one region ends and
another begins, and at all distances around the ends of the front, where slopes may be infinite.
Most are on seams: errors are largest in small spots there, of which a hundred points saw a sixth in
one of a hundred problems."""

BEATEN = 1e-4
"""An answer is beaten if a point is known that is better in all objectives by this much of their
ranges."""

FEW, STEPS_OF_SEARCH, MUCH = 5, 3, 10.0
"""A mesh is measured at no fewer points than the first; a search takes about so many gradients as
the second says; and answers that miss by this many tolerances are beaten."""

MEASURED_AT_ONCE = 50
"""Points of a mesh that are solved for at a time, with Hessians."""

CLOSE, FARTHEST = 1e-4, 0.01
"""An answer that is not certified counts as covered if it is this close to the solution, or as good
in the sense of `AS_GOOD` and not farther than the second number, in units of the objectives'
ranges."""


@dataclass(frozen=True)
class AtlasError:
    """An atlas at fresh chart points.

    Attributes:
        distances: in x, from each answer to the solution; not a number where only a better point,
            but no solution was found.
        front: in objectives, in units of their ranges, from each answer to the solution or the best
            point known; of an answer that is as good as the solution, by how much it is worse.
        certified: at which points a patch held, and Newton's method from its answer ended at a
            solution that nothing known beats.
        beaten: at which points the solution is clearly better in all objectives.
        violation: the largest violation of a constraint at the answers, in units of the
            constraint's scale.
        diameter: of the set, in x.
        tol: what patches were to miss fresh points by at most.
    """

    distances: Float[np.ndarray, " n"]
    front: Float[np.ndarray, " n"]
    certified: Bool[np.ndarray, " n"]
    beaten: Bool[np.ndarray, " n"]
    violation: float
    diameter: float
    tol: float

    @property
    def coverage(self) -> float:
        """The share of fresh chart points whose answer is certified, or at least close to the
        solution."""
        return float(
            np.mean(
                self.certified
                | (
                    np.isfinite(self.distances)
                    & (self.front < max(CLOSE, min(AS_GOOD * self.tol, FARTHEST)))
                )
            )
        )


def measure(state: AtlasState, seed: int) -> AtlasError:
    """Asks the atlas of a state at fresh chart points and compares with solutions there. Uncounted
    evaluations.

    Newton's method leads from an answer to the solution; where it does not, a search from
    everything known does. At a gap of the front two points may be equally good, and where the front
    is steep points far apart are nearly so: an answer whose level is that of the solution is as
    good if the solution does not dominate it. What counts then is by how much any objective of the
    atlas exceeds the solution's at the solution's own chart point.
    """
    atlas = state.atlas
    assert state.search is not None
    assert atlas is not None
    if isinstance(state.search, Mesh):
        return _measure_mesh(state.search, atlas, seed)
    search, rng = state.search.copy(), np.random.default_rng([seed, 1])
    search.program.evaluator.budget, search.rng = None, rng
    program, points = search.program, atlas.points
    rows = rng.integers(len(points.f), size=N_ON_SET)
    jitter = 0.003 * rng.normal(size=(N_ON_SET, atlas.n_objectives))
    ends = np.resize(points.f.argmin(axis=0), N_AT_ENDS)
    fresh = [
        centered(points.f[rows] + jitter),
        search.points(N_ANYWHERE),
        search.seams(N_ON_SEAMS),
        search.around(points.f[ends]),
    ]
    a = np.concatenate(fresh)
    claims = search.ask(a)
    z = atlas.scaled(a)
    r = program.values(z)
    certified, solution, known = _solutions(search, a, claims, z)
    distances = program.apart(solution.z, z)
    M, end = program.n_objectives, program.n_objectives + program.n_inequalities
    front = np.abs(r[:, :M] - solution.r[:, :M]).max(axis=1)
    excess = (r[:, :M] - a).max(axis=1) - solution.s
    beaten = excess > BEATEN
    apart = np.flatnonzero(
        (front > AS_GOOD * search.tol)
        & _as_good(r[:, :M], solution.r[:, :M], excess, AS_GOOD * search.tol)
    )
    if len(apart):
        z_there = atlas.scaled(centered(solution.r[apart, :M]))
        there = (program.values(z_there)[:, :M] - solution.r[apart, :M]).max(axis=1)
        front[apart] = np.minimum(front[apart], np.maximum(excess[apart], there))
        distances[apart] = np.minimum(distances[apart], program.apart(solution.z[apart], z_there))
    constraints = np.concatenate([r[:, M:end], np.abs(r[:, end:])], axis=1)
    return AtlasError(
        np.where(known, distances, np.nan),
        front,
        certified,
        beaten,
        float(constraints.max(initial=0.0)),
        _diameter(atlas, rng),
        search.tol,
    )


def _diameter(atlas: BezierAtlas, rng: np.random.Generator) -> float:
    from scipy.spatial.distance import pdist

    x = atlas.units.x(atlas.points.z)
    sample = x[rng.permutation(len(x))[:500]]
    return float(pdist(sample).max()) if len(sample) > 1 else 0.0


def _measure_mesh(mesh: Mesh, atlas: BezierAtlas, seed: int) -> AtlasError:
    """Fresh points of the set, as many as can be paid for, against what searches from them find.

    Raises `BudgetSpentError` where that are none.
    """
    mesh, rng = mesh.copy(), np.random.default_rng([seed, 1])
    program, M = mesh.program, mesh.program.n_objectives
    program.evaluator.budget = None
    n = int(min(N_ON_SET, program.evaluator.left // (STEPS_OF_SEARCH * (program.n_free + 1))))
    if n < FEW:
        raise BudgetSpentError
    f = atlas.points.f[rng.integers(len(atlas.points.f), size=n)]
    a = centered(f)
    z = atlas.scaled(a)
    r = program.values(z)
    near = (
        np.linalg.norm(centered(mesh.f)[None] - a[:, None], axis=2).argmin(axis=1)
        if len(mesh.z)
        else None
    )
    parts: list[Ends] = []
    with suppress(BudgetSpentError):
        # Small parts, so that a budget that ends early leaves most of them.
        parts_of = MEASURED_AT_ONCE if program.has_hessians else 2
        for rows in np.array_split(np.arange(n), max(n // parts_of, 1)):
            parts.append(mesh.solve(a[rows], z[rows], 0.1, None if near is None else near[rows]))
    n = sum(len(part.z) for part in parts)
    if n == 0:
        raise BudgetSpentError
    a, z, r = a[:n], z[:n], r[:n]
    found, rows = (np.concatenate([getattr(part, name) for part in parts]) for name in ("z", "r"))
    level = program.known_merit(a)[0]
    gain = program.merit(r, a) - np.minimum(program.merit(rows, a), level)
    end = M + program.n_inequalities
    constraints = np.concatenate([r[:, M:end], np.abs(r[:, end:])], axis=1)
    violation = float(constraints.max(initial=0.0))
    return AtlasError(
        program.apart(found, z),
        np.maximum(gain, 0.0),
        gain < ROUGHEST,
        gain > np.maximum(BEATEN, MUCH * mesh.tol),
        violation,
        _diameter(atlas, rng),
        mesh.tol,
    )


def _as_good(
    f: np.ndarray, solution: np.ndarray, excess: np.ndarray, tol: float
) -> Bool[np.ndarray, " n"]:
    """Which answers have the level of the solution and are not dominated by it."""
    worse = np.all(solution <= f + tol, axis=1) & np.any(solution < f - BEATEN, axis=1)
    return (excess <= tol) & ~worse


def _solutions(
    search: Search, a: np.ndarray, claims: Claims, z: np.ndarray
) -> tuple[Bool[np.ndarray, " n"], Solutions, Bool[np.ndarray, " n"]]:
    """Which claims are certified; the best points known above chart points; and which of these are
    solutions."""
    program = search.program
    asked = np.flatnonzero(claims.number >= 0)
    if len(asked) == 0:  # single points alone
        searched = search.solve_at(a, z)
        return np.zeros(len(a), dtype=bool), searched.found, searched.good
    answers = search.certify(a[asked], claims.y[asked], claims.number[asked], most=6)
    right = answers.found.ok & (signs(program, answers.found).min(axis=1) > -1e-4)
    right &= (claims.sign[asked] > -search.slack) & (
        program.known_merit(a[asked])[0] > answers.merit - BEATEN
    )
    certified = np.zeros(len(a), dtype=bool)
    certified[asked] = right
    rest = np.flatnonzero(~certified)
    searched = search.solve_at(a[rest], z[rest])
    order = np.argsort(np.concatenate([asked[right], rest]), kind="stable")
    solved = np.concatenate([np.ones(right.sum(), dtype=bool), searched.good])
    return (
        certified,
        Solutions.join([answers.found.take(right), searched.found]).take(order),
        solved[order],
    )
