"""How good an atlas is: its answers at chart points that no fit ever saw, against solutions there."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from .asking import centered
from .building import AtlasState
from .labels import signs

N_ON_SET, N_ANYWHERE = 150, 100
"""Fresh chart points: below points of the set, and anywhere a front can be."""

BEATEN = 1e-4
"""An answer is dominated if a point is known that is better in all objectives by this much of their ranges."""


@dataclass(frozen=True)
class AtlasError:
    """An atlas at fresh chart points.

    Attributes:
        distances: in x, from each answer to the solution that Newton's method finds from there; not a number where it finds none.
        front: the same in objectives, in units of their ranges.
        held: at which points a patch held.
        beaten: at which points a clearly better point is known.
        violation: the largest violation of a constraint at the answers, in units of the constraint's scale.
        diameter: of the set, in x.
    """

    distances: Float[np.ndarray, " n"]
    front: Float[np.ndarray, " n"]
    held: Bool[np.ndarray, " n"]
    beaten: Bool[np.ndarray, " n"]
    violation: float
    diameter: float

    @property
    def coverage(self) -> float:
        """The share of fresh chart points whose answer is a solution and not beaten."""
        return float(np.mean(self.held & np.isfinite(self.distances) & ~self.beaten))


def measure(state: AtlasState, seed: int) -> AtlasError:
    """Asks the atlas of a state at fresh chart points and follows each answer to the solution. Uncounted evaluations."""
    from scipy.spatial.distance import pdist

    atlas = state.atlas
    assert state.search is not None
    assert atlas is not None
    search, rng = state.search.copy(), np.random.default_rng([seed, 1])
    search.program.evaluator.budget, search.rng = None, rng
    points = atlas.points
    rows = rng.integers(len(points.f), size=N_ON_SET)
    jitter = 0.003 * rng.normal(size=(N_ON_SET, atlas.n_objectives))
    a = np.concatenate([centered(points.f[rows] + jitter), search.points(N_ANYWHERE)])
    claims, program = search.ask(a), search.program
    asked = np.flatnonzero(claims.number >= 0)
    distances, front = np.full(len(a), np.nan), np.full(len(a), np.nan)
    beaten = np.zeros(len(a), dtype=bool)
    answers = search.certify(a[asked], claims.y[asked], claims.number[asked], most=6)
    z = search.designs(claims.take(asked))
    r = program.values(z)
    right = answers.found.ok & (signs(program, answers.found).min(axis=1) > -1e-4)
    moved = program.apart(answers.found.z, z)
    M = program.n_objectives
    distances[asked] = np.where(right, moved, np.nan)
    front[asked] = np.where(right, np.abs(r[:, :M] - answers.found.r[:, :M]).max(axis=1), np.nan)
    beaten[asked] = program.known_merit(a[asked])[0] < answers.merit - BEATEN
    constraints = np.concatenate([r[:, M : M + program.n_inequalities], np.abs(r[:, M + program.n_inequalities :])], axis=1)
    x = atlas.units.x(points.z)
    sample = x[rng.permutation(len(x))[:500]]
    diameter = float(pdist(sample).max()) if len(sample) > 1 else 0.0
    return AtlasError(distances, front, claims.state == 2, beaten, float(constraints.max(initial=0.0)), diameter)
