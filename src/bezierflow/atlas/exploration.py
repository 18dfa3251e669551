"""The first look: points over the whole box, a population that moves towards the front, and the
ends of the front."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..kinds import kind
from .local_solves import descend
from .program import Archive, Program, nondominated
from .schedule import SCHEDULE


def look_over(
    program: Program,
    box: tuple[np.ndarray, np.ndarray],
    start: Float[np.ndarray, "n n_free"],
    seed: int,
) -> np.random.Generator:
    """Evenly spread points and a population run: the archive then holds its nondominated points.
    Returns where samples go on."""
    rng = np.random.default_rng(seed)
    z = np.concatenate([program.clip(start), spread_points(box, SCHEDULE.n_spread, rng)])
    first_units(program, first_look(program, z))
    evolve(program, box, z, rng)
    normalize(program)
    return rng


def spread_points(
    box: tuple[np.ndarray, np.ndarray], n: int, rng: np.random.Generator
) -> Float[np.ndarray, "n n_free"]:
    """Evenly spread points of a box."""
    from scipy.stats import qmc  # half a second that only atlases need

    low, high = box
    return low + (high - low) * qmc.Sobol(len(low), rng=rng).random(n)


def first_look(program: Program, z: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_rows"]:
    """The rows in the user's units; nothing is known of their scales yet.

    Rows of norms are 0 where norms are exact; they get their scales where these are not.
    """
    raw, M = program.values(z) * program.scale + program.shift, program.n_objectives
    if program.turns:
        raw[:, M:] = (program.step_to(z)[1] * program.scale + program.shift)[:, M:]
    return raw


def first_units(program: Program, raw: Float[np.ndarray, "n n_rows"]) -> None:
    """Scales from the values at hand."""
    M = program.n_objectives
    finite = raw[np.isfinite(raw).all(axis=1)]
    if len(finite) == 0:
        raise ValueError(
            "objectives or constraints are not finite at any of the first points in the bounds;"
            " narrow the bounds"
        )
    low, high = np.percentile(finite[:, :M], [2, 98], axis=0)
    program.ideal, program.span = (
        low,
        np.where(high > low, high - low, np.maximum(np.abs(low), 1e-300)),
    )
    sizes = np.percentile(np.abs(finite[:, M:]), 80, axis=0)
    program.row_scale = np.where(sizes > 0, sizes, 1.0)
    program.archive = Archive(np.zeros((0, program.n_free)), np.zeros((0, M)))


def normalize(program: Program) -> None:
    """Units from the front of the archive; only its nondominated points are kept."""
    if len(program.archive.f) < 2:
        return
    keep = nondominated(program.archive.f)
    z, f = program.archive.z[keep], program.archive.f[keep]
    low, high = f.min(axis=0), f.max(axis=0)
    least = (
        program.span / SCHEDULE.slowly
        if len(f) < SCHEDULE.few
        else 1e-9 * np.maximum(np.abs(high), np.abs(low)) + 1e-300
    )
    program.archive = Archive(z, f)
    program.ideal = low
    program.span = np.maximum(high - low, least)


@kind("atlas.population/1")
class Population(NamedTuple):
    """Designs that a population run goes on from, with their rows in the user's units.

    Where there are constraints, a second group lives as if there were none: infeasible ground
    between parts of the front stops the first group, and the second one walks across.
    """

    z: Float[np.ndarray, "n n_free"]
    raw: Float[np.ndarray, "n n_rows"]
    free: "Population | None" = None

    def scaled(self, factor: Float[np.ndarray, " n_free"]) -> "Population":
        """The same in units of the variables that are multiplied by a factor."""
        return Population(self.z / factor, self.raw, self.free and self.free.scaled(factor))


def evolve(
    program: Program,
    box: tuple[np.ndarray, np.ndarray],
    z: Float[np.ndarray, "n n_free"],
    rng: np.random.Generator,
    before: Population | None = None,
    most: float = np.inf,
    size: int = SCHEDULE.population,
) -> Population:
    """A population run: differential evolution, crossings and mutations; what is dominated or
    crowded dies. Every feasible point goes into the archive.

    Args:
        program: is asked.
        box: finite bounds.
        z: points to begin with.
        rng: of the children.
        before: an earlier run that goes on with these points.
        most: evaluations; the run ends sooner where generations do not gain anything.
        size: of a group.
    """
    low, high = box
    born = Population(z, program.values(z) * program.scale + program.shift)
    groups = [born if before is None else before]
    if program.n_rows > program.n_objectives:
        groups.append(groups[0].free or groups[0])
    groups = _next_generation(program, groups, born, size)
    test = rng.uniform(0, 1, (32, program.n_objectives))
    test -= test.mean(axis=1, keepdims=True)
    history: list[float] = []
    made, n = len(z), size // len(groups)
    longest = SCHEDULE.generations[1] if most == np.inf else SCHEDULE.generations[2]
    while len(history) < longest and made + n * len(groups) <= most:
        children = np.concatenate([_children(group.z, low, high, rng, n) for group in groups])
        children = program.onto(children)
        made += len(children)
        rows = program.values(children) * program.scale + program.shift
        groups = _next_generation(program, groups, Population(children, rows), size)
        program.tidy()
        history.append(_level(program, (groups[0].raw - program.shift) / program.scale, test))
        if len(history) > SCHEDULE.generations[0] and history[-11] - history[-1] < SCHEDULE.still:
            break
    return groups[0]._replace(free=groups[1] if len(groups) > 1 else None)


def _next_generation(
    program: Program, groups: list[Population], born: Population, size: int
) -> list[Population]:
    """Who survives of each group and of all that were born; the second group is free of
    constraints."""
    out = []
    for k, group in enumerate(groups):
        z, raw = np.concatenate([group.z, born.z]), np.concatenate([group.raw, born.raw])
        out.append(_survivors(program, Population(z, raw), size, k > 0))
    return out


def _level(program: Program, r: np.ndarray, test: np.ndarray) -> float:
    """The mean over chart points of the least merit of the population."""
    merits = [program.merit(r, np.broadcast_to(a, (len(r), len(a)))).min() for a in test]
    return float(np.mean(np.minimum(merits, 1e6)))


def _children(
    z: np.ndarray, low: np.ndarray, high: np.ndarray, rng: np.random.Generator, size: int
) -> Float[np.ndarray, "n n_free"]:
    """A quarter by differences of others, the rest by crossings of two; about one variable of each
    mutates. Designs are in order of fitness: of two at random the better one is a parent."""
    n, L = z.shape
    if n < 4:
        z = np.concatenate([z, low + (high - low) * rng.random((4 - n, L))])
        n = 4

    def parents(k: int) -> np.ndarray:
        return z[np.minimum(rng.integers(n, size=k), rng.integers(n, size=k))]

    k = size // 4
    parent = parents(size)
    pick = rng.random((k, n)).argpartition(3, axis=1)[:, :3]
    reach = rng.choice([0.3, 0.6, 1.0], (k, 1))
    moved = z[pick[:, 0]] + reach * (z[pick[:, 1]] - z[pick[:, 2]])
    crossed = rng.random((k, L)) < rng.choice([0.1, 0.9], (k, 1))
    # Simulated binary crossing (Deb and Agrawal 1995): each variable lies near that of one of two
    # parents, as far from it as these are apart.
    one, two, u = parent[k:], parents(size - k), rng.random((size - k, L))
    beta = np.where(u < 0.5, 2 * u, 1 / (2 - 2 * u)) ** (1 / 16) * rng.choice([-1, 1], u.shape)
    bred = (rng.random((size - k, 1)) < 0.9) & (rng.random(u.shape) < 0.5)
    child = np.concatenate(
        [
            np.where(crossed, moved, parent[:k]),
            np.where(bred, 0.5 * (one + two) + 0.5 * beta * (one - two), one),
        ]
    )
    u = rng.random((size, L))
    # Some mutations are small, others lead to any basin along a variable.
    power = rng.choice([1 / 21, 1.0], (size, 1))
    jump = np.where(u < 0.5, (2 * u) ** power - 1, 1 - (2 - 2 * u) ** power) * (high - low)
    child = child + np.where(rng.random((size, L)) < 1 / L, jump, 0.0)
    outside = (child < low) | (child > high)
    return np.where(
        outside, np.clip(parent + (child - parent) * rng.random((size, L)), low, high), child
    )


def _survivors(program: Program, group: Population, size: int, free: bool) -> Population:
    """The best of different ones, the best first: least violation (unless the group is free of
    constraints), then rank, then the least crowded of a rank."""
    import moocore

    M, end = program.n_objectives, program.n_objectives + program.n_inequalities
    once = np.sort(np.unique(group.raw, axis=0, return_index=True)[1])
    z, raw = group.z[once], group.raw[once]
    r = (raw - program.shift) / program.scale
    violation = np.maximum(r[:, M:end], 0).sum(axis=1) + np.maximum(
        np.abs(r[:, end:]) - 1e-3, 0
    ).sum(axis=1)
    finite = np.all(np.isfinite(r), axis=1)
    violation = np.where(finite, 0.0 if free else violation, np.inf)
    f = np.where(finite[:, None], r[:, :M], 1e30)
    rank = moocore.pareto_rank(np.ascontiguousarray(f))
    crowding = np.zeros(len(f))
    for k in np.unique(rank):
        crowding[rank == k] = _crowding(f[rank == k])
    best = np.lexsort((-crowding, rank, violation))[:size]
    return Population(z[best], raw[best])


def _crowding(f: np.ndarray) -> Float[np.ndarray, " n"]:
    """The sum over objectives of the distance between a point's two neighbors; infinite at the
    ends."""
    crowding = np.zeros(len(f))
    for column in f.T:
        order = np.argsort(column, kind="stable")
        gap = np.full(len(f), np.inf)
        gap[1:-1] = (column[order[2:]] - column[order[:-2]]) / max(np.ptp(column), 1e-300)
        crowding[order] += gap
    return crowding


def find_ends(
    program: Program, box: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> None:
    """Minimizers of each objective, and points between, by local searches from the archive and from
    random points."""
    M = program.n_objectives
    corner = np.where(np.eye(M) > 0, -SCHEDULE.far, SCHEDULE.far)
    a = np.concatenate([corner, np.where(np.eye(M) > 0, 0.3, -0.3), np.zeros((1, M))])
    a -= a.mean(axis=1, keepdims=True)
    low, high = box
    fresh = low + (high - low) * rng.random((len(a), program.n_free))
    if len(program.archive.z):
        descend(program, np.tile(a, (3, 1)), choose_starts(program, a, 3))
    descend(program, a, fresh)


def choose_starts(
    program: Program, a: Float[np.ndarray, "n n_objectives"], k: int
) -> Float[np.ndarray, "k_n n_free"]:
    """K points of the archive for each chart point, first all first ones: of least merit, apart
    from each other."""
    f, z = program.known(), program.archive.z
    tie = 1e-5 * f.sum(axis=1)
    out = np.empty((k, len(a), program.n_free))
    for i, point in enumerate(a):
        order = np.argsort((f - point).max(axis=1) + tie)[: max(200, k)]
        chosen = [int(order[0])]
        for j in order[1:]:
            if len(chosen) == k:
                break
            if np.abs(z[chosen] - z[j]).max(axis=1).min() > 0.08:
                chosen.append(int(j))
        chosen += [int(order[min(m, len(order) - 1)]) for m in range(len(chosen), k)]
        out[:, i] = z[chosen]
    return out.reshape(-1, program.n_free)
