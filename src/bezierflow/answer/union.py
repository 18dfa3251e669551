"""Several sets as one: the union of the sets of problems that differ in the values of some
variables, as an atlas in the units of the union, of which each part is kept where no other is
better."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.polynomial.chebyshev import chebpts1, chebroots, chebtrim, chebvander

from ..bezier import Raveling, design_matrix
from ..simplex import grid, n_controls
from .atlas import BezierAtlas, Units
from .atlas_set import AtlasSet
from .pareto_set import ParetoSet, Values
from .patches import (
    Box,
    Chart,
    Label,
    Patch,
    ask_patches,
    barycentric,
    best_levels,
    centered,
)
from .pieces import dominated, places
from .schedule import SCHEDULE

Designs = Float[np.ndarray, "n n_variables"]


class Member(NamedTuple):
    """One set of a union, its objectives minimized.

    Attributes:
        set: over the variables that vary in it.
        x: all variables of the union; those that vary are not looked at.
        varying: the numbers of the variables that vary, in the order of the set's.
    """

    set: ParetoSet
    x: Float[np.ndarray, " n_variables"]
    varying: Int[np.ndarray, " n_varying"]


Keyed = tuple[Patch, tuple[int, ...]]
"""A patch, and a key that is equal for those of one region."""


class Single(NamedTuple):
    """Single designs of a union, and their minimized objectives."""

    x: Designs
    f: Values


class _Part(NamedTuple):
    """A smooth part of a member over parameters p.

    Attributes:
        key: equal for parts of one region.
        label: in the union's form.
        quantities: coordinates c and quantities y of the union at p.
        cells: simplices of p that the part is made of, by their corners; none where signs tell
            where it ends.
        places: points p all over such a part.
    """

    key: tuple[int, ...]
    label: Label
    quantities: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    cells: Sequence[np.ndarray]
    places: np.ndarray


def unite(
    members: Sequence[Member],
    single: Single,
    box: tuple[np.ndarray, np.ndarray],
    values: tuple[tuple[float | str, ...], ...],
    raveling: Raveling,
) -> tuple[BezierAtlas, float]:
    """The union of sets and of single designs, and the largest miss of its polynomials in units of
    the objectives' ranges.

    Args:
        members: the sets.
        single: designs beside them.
        box: bounds of all variables, infinite where there is none.
        values: of each variable the values that it may have, see `Units`.
        raveling: how x lies in a flat vector.
    """
    f = np.concatenate([single.f, *(one.set.sample_f for one in members)])
    size = np.ptp(f, axis=0)
    best = f[~dominated((f - f.min(axis=0)) / np.where(size > 0, size, 1.0))]
    ideal = best.min(axis=0)
    least = np.maximum(np.abs(ideal), 1.0) * SCHEDULE.rounding
    span = np.maximum(np.ptp(best, axis=0), least)
    units, blank = _form(members, ideal, span, box, values)
    fitted = [
        (patch, part.key)
        for number, one in enumerate(members)
        for part in _parts(number, one, units, blank)
        for patch in _fitted(part)
    ]
    error = max((patch.error for patch, _ in fitted), default=0.0)
    fitted += [(patch, (-1, k)) for k, patch in enumerate(_points(single, units, blank))]
    if len(ideal) == 2:
        fitted = _cut(fitted, units.box, SCHEDULE.union_beaten + 10 * error)
    regions = {key: number for number, key in enumerate(dict.fromkeys(key for _, key in fitted))}
    patches = tuple(replace(patch, region=regions[key]) for patch, key in fitted)
    atlas = BezierAtlas(patches, units, raveling, 1.0)
    return (atlas if len(ideal) == 2 else _best_of(atlas)), error


def _best_of(atlas: BezierAtlas) -> BezierAtlas:
    """The atlas without what others are better than everywhere."""
    kept, f = set(np.unique(atlas.points.patch).tolist()), atlas.points.f
    for number, patch in enumerate(atlas.patches):
        # A part of lower dimension may be an edge or a corner of what is known to be best.
        if number not in kept and not patch.label.full:
            own = patch.front(places(patch, SCHEDULE.union_samples))
            if (best_levels(f, centered(own))[0] > own.mean(axis=1) - SCHEDULE.beaten).any():
                kept.add(number)
    return replace(atlas, patches=tuple(atlas.patches[number] for number in sorted(kept)))


def _form(
    members: Sequence[Member],
    ideal: np.ndarray,
    span: np.ndarray,
    box: tuple[np.ndarray, np.ndarray],
    values: tuple[tuple[float | str, ...], ...],
) -> tuple[Units, Label]:
    """The units of the union, in which continuous variables have those of an atlas among the sets,
    and a label without anything active; the constraints of each set are among its own."""
    atlases = [(one, one.set.atlas) for one in members if isinstance(one.set, AtlasSet)]
    n = max((atlas.units.n_auxiliary for _, atlas in atlases), default=0)
    L, infinite = len(box[0]), np.full(n, np.inf)
    origin, unit = np.zeros(L + n), np.ones(L + n)
    n_inequalities = n_equalities = 0
    for one, atlas in atlases:
        own, label = atlas.units, atlas.patches[0].label
        mine = np.concatenate([one.varying, L + np.arange(own.n_auxiliary)])[own.free]
        origin[mine], unit[mine] = own.origin, own.unit
        n_inequalities = max(n_inequalities, label.n_inequalities)
        n_equalities = max(n_equalities, len(label.constraints) - label.n_inequalities)
    lower, upper = np.concatenate([box[0], -infinite]), np.concatenate([box[1], infinite])
    free, nothing = lower < upper, np.zeros(n_inequalities + n_equalities, dtype=bool)
    units = Units(ideal, span, lower, upper, origin[free], unit[free], n, values)
    inside = np.zeros(free.sum(), dtype=int)
    return units, Label(np.zeros(len(ideal), dtype=bool), nothing, inside, n_inequalities, False)


def _parts(number: int, one: Member, units: Units, blank: Label) -> Iterator[_Part]:
    """The smooth parts of a set: the patches of an atlas, or the faces of a simplex."""
    if isinstance(one.set, AtlasSet):
        for patch in one.set.atlas.patches:
            yield _of_patch(patch, one.set.atlas.units, number, one, units, blank)
        return
    for code in range(1, 2**one.set.n_objectives):
        yield _of_face(code, number, one, units, blank)


def _of_patch(
    patch: Patch, own: Units, number: int, one: Member, units: Units, blank: Label
) -> _Part:
    """A patch of an atlas with other units, variables and rows."""
    old, L, M = patch.label, len(own.free), len(own.ideal)
    # Its variables and constraints among those of the union.
    whole = np.concatenate([one.varying, len(one.x) + np.arange(own.n_auxiliary)])[own.free]
    columns, split = np.searchsorted(units.free, whole), old.n_inequalities
    after = blank.n_inequalities + np.arange(len(old.constraints) - split)
    mine = np.concatenate([np.arange(split), after]).astype(int)
    side, constraints = blank.side.copy(), blank.constraints.copy()
    side[columns], constraints[mine] = old.side, old.constraints
    # Curves and points end where their cells do, surfaces where their signs say so.
    trimmed = old.trimmed and old.dimension > 1
    label = Label(old.objectives, constraints, side, blank.n_inequalities, trimmed)
    start = np.pad(one.x, (0, units.n_auxiliary))[units.free]

    def quantities(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = patch(p)
        f = (own.ideal + own.span * old.values(y, p) - units.ideal) / units.span
        z = np.tile((start - units.origin) / units.unit, (len(p), 1))
        x = own.origin + own.unit * y[:, :L]
        scaled = (x - units.origin[columns]) / units.unit[columns]
        # A variable at a bound has a multiplier here, of which the sign alone counts.
        z[:, columns] = np.where(old.side == 0, scaled, y[:, :L])
        g = np.full((len(p), len(constraints)), -1.0)
        g[:, mine] = y[:, L + 1 + M :]
        return _quantities(label, z, f, y[:, L + 1 : L + 1 + M] * units.span / own.span, g)

    key = number, patch.region
    if trimmed:
        return _Part(key, label, quantities, [], places(patch, SCHEDULE.union_places))
    cell = places(patch, 2) if old.dimension == 1 else patch.corners
    return _Part(key, label, quantities, [cell], cell[:0])


def _of_face(code: int, number: int, one: Member, units: Units, blank: Label) -> _Part:
    """A face of a simplex, whose objectives are active: those of the bits of its code."""
    on = code // 2 ** np.arange(one.set.n_objectives) % 2 == 1
    label, k = replace(blank, objectives=on), int(on.sum())

    def quantities(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        t = np.zeros((len(p), len(on)))
        t[:, on] = np.maximum(np.column_stack([1 - p.sum(axis=1), p]), 0.0)
        t = t / t.sum(axis=1, keepdims=True)
        x = np.tile(one.x, (len(p), 1))
        x[:, one.varying] = one.set.designs(t)
        z = (np.pad(x, ((0, 0), (0, units.n_auxiliary)))[:, units.free] - units.origin) / units.unit
        f = (one.set.values(t) - units.ideal) / units.span
        g = np.full((len(p), len(label.constraints)), -1.0)
        return _quantities(label, z, f, one.set.weights(t) * units.span, g)

    cells = np.eye(k)[None, :, 1:]
    if k > 2:
        from scipy.spatial import Delaunay

        nodes = grid(k, SCHEDULE.union_cells)[:, 1:]
        cells = nodes[Delaunay(nodes).simplices]
        # Nodes of a side lie in one plane, of which rounding makes flat simplices.
        volumes = np.abs(np.linalg.det(cells[:, 1:] - cells[:, :1]))
        cells = cells[volumes > SCHEDULE.rounding]
    return _Part((number, code), label, quantities, list(cells), cells[0, :0])


def _points(single: Single, units: Units, blank: Label) -> list[Patch]:
    """Single designs as patches without dimension."""
    label = replace(blank, objectives=np.arange(len(units.ideal)) == 0)
    x = np.pad(single.x, ((0, 0), (0, units.n_auxiliary)))[:, units.free]
    f = (single.f - units.ideal) / units.span
    one, g = np.ones_like(f), np.full((len(f), len(label.constraints)), -1.0)
    y = _quantities(label, (x - units.origin) / units.unit, f, one, g)[1]
    return [Patch(label, np.zeros((1, 0)), 0, row[None], np.zeros((0, 1)), 0.0) for row in y]


def _quantities(
    label: Label, z: np.ndarray, f: Chart, mu: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates c, and y, from variables, objectives, multipliers and constraints."""
    active = np.where(label.objectives, mu, 0.0)
    total = active.sum(axis=1, keepdims=True)
    level = f[:, label.objectives].mean(axis=1, keepdims=True)
    rows = np.where(label.objectives, active / np.where(total > 0, total, 1.0), f)
    return label.coordinates(f)[0], np.concatenate([z, level, rows, g], axis=1)


def _fitted(part: _Part) -> list[Patch]:
    """The patches of the union for a part of a set."""
    label, degrees = part.label, SCHEDULE.surface_degrees
    if label.dimension == 0:
        y = part.quantities(np.zeros((1, 0)))[1]
        return [Patch(label, np.zeros((1, 0)), 0, y, np.zeros((0, 1)), 0.0)]
    if label.dimension == 1:
        found = [_curve(part, c[:, 0], SCHEDULE.union_halvings) for c in part.cells if len(c)]
        return [patch for curve in found for patch in curve]
    if not label.trimmed:
        # Simplices with straight sides on the chart.
        shares, patches = grid(label.dimension + 1, SCHEDULE.union_grid), []
        for corners in part.cells:
            own = part.quantities(corners)[0]
            patches.append(_polynomial(label, own, *part.quantities(shares @ corners), degrees))
        return patches
    if len(part.places) <= part.places.shape[1]:
        return []
    from scipy.spatial import ConvexHull

    # Its signs trim it, within the convex hull of its places and a little beyond.
    c, y = part.quantities(part.places)
    low = c.min(axis=0)
    size = float((c - low).sum(axis=1).max())
    corners = np.concatenate([low[None], low + size * np.eye(len(low))])
    patch = _polynomial(label, corners, c, y, degrees)
    hull = ConvexHull(c).equations
    reach = SCHEDULE.union_margin * np.ptp(c, axis=0).max()
    domain = np.column_stack([hull[:, :-1], reach - hull[:, -1]])
    return [replace(patch, domain=np.unique(domain.round(12), axis=0))]


def _curve(part: _Part, ends: Float[np.ndarray, " 2"], halvings: int) -> list[Patch]:
    """A curve from one parameter to another, in halves where one polynomial does not hold it."""
    shares = (1 - np.cos(np.pi * np.linspace(0, 1, SCHEDULE.union_samples))) / 2
    c, y = part.quantities((ends[0] + (ends[1] - ends[0]) * shares)[:, None])
    corners = c[[0, -1]]
    if not corners[0, 0] < corners[1, 0]:
        return []
    patch = _polynomial(part.label, corners, c, y, SCHEDULE.union_degrees)
    if patch.error > SCHEDULE.union_tol and halvings:
        middle = float(ends.mean())
        first, second = np.array([ends[0], middle]), np.array([middle, ends[1]])
        return [*_curve(part, first, halvings - 1), *_curve(part, second, halvings - 1)]
    return [patch]


def _polynomial(
    label: Label, corners: np.ndarray, c: np.ndarray, y: np.ndarray, degrees: Sequence[int]
) -> Patch:
    """The polynomial on a simplex of the lowest degree that fits every second point and the others
    too; else the one that misses these least."""
    inside, L, k = barycentric(corners, c), len(label.side), len(corners)
    # Multipliers and constraints have signs alone.
    counted = np.concatenate([np.arange(L + 1), L + 1 + np.flatnonzero(~label.objectives)])
    # In the domain no barycentric coordinate is negative.
    offset = barycentric(corners, np.zeros((1, k - 1)))[0]
    sides = np.column_stack([(offset - barycentric(corners, np.eye(k - 1))).T, offset])
    # Of unit length, so that rounding is in units of the chart.
    sides = sides / np.linalg.norm(sides[:, :-1], axis=1, keepdims=True)
    sides[:, -1] += SCHEDULE.rounding
    best = None
    for degree in degrees:
        if 2 * n_controls(k, degree) > len(c) and best is not None:
            break
        basis = design_matrix(inside, degree)
        points = np.linalg.lstsq(basis[::2], y[::2], rcond=None)[0]
        miss = float(np.abs(basis[1::2] @ points - y[1::2])[:, counted].max(initial=0.0))
        if best is None or miss < best.error:
            best = Patch(label, corners, degree, points, sides, miss)
        if best.error <= SCHEDULE.union_tol:
            break
    assert best is not None
    return best


def _cut(fitted: list[Keyed], box: Box, slack: float) -> list[Keyed]:
    """Curves and points of two objectives without what others beat by more than the slack.

    Along a curve f1 grows and f2 falls. So it can begin or cease to be the best only where it
    crosses another curve, or has the f1 or f2 of an end of a curve or of a point: these places are
    solved for, because the best part of a curve may be shorter than the steps of any sample.
    """
    alone, curves = ([one for one in fitted if one[0].label.dimension == d] for d in (0, 1))
    arcs, L = [patch for patch, _ in curves], len(box[0])
    points = np.concatenate([patch.front(patch.corners) for patch, _ in [*alone, *curves]])
    ends = points[len(alone) :].reshape(-1, 2, 2)

    def good(f: Chart) -> Bool[np.ndarray, " n"]:
        a = centered(f)
        level, claims = best_levels(points, a)[0], ask_patches(arcs, a, box)
        level = np.where(claims.number >= 0, np.minimum(level, claims.y[:, L]), level)
        return level > f.mean(axis=1) - slack

    best = good(points)
    out = [alone[k] for k in np.flatnonzero(best[: len(alone)])]
    # What a beaten point beats, others beat too; and a curve is no better than its ideal point.
    near = [curves[k] for k in np.flatnonzero(good(np.diagonal(ends, axis1=1, axis2=2)))]
    for arc, key in near:
        c = _breaks(arc, [other for other, _ in near], points[best])
        on = np.pad(good(arc.front((c[1:, None] + c[:-1, None]) / 2)), 1)
        for start, stop in c[on[1:] != on[:-1]].reshape(-1, 2):
            domain = np.array([[1.0, stop + SCHEDULE.rounding], [-1.0, SCHEDULE.rounding - start]])
            out.append((replace(arc, domain=domain), key))
    return out


def _breaks(arc: Patch, others: Sequence[Patch], points: Chart) -> Float[np.ndarray, " n_breaks"]:
    """The ends of a curve, and where it crosses others or has an objective's value of a point, in
    ascending order."""
    L, ends = len(arc.label.side), arc.corners[:, 0]

    def over(c: np.ndarray) -> np.ndarray:
        return (arc.front(c)[:, None] - points).reshape(len(c), -1)

    breaks = [ends, _zeros(over, ends, arc.degree)]
    for other in others:
        low = max(arc.corners[0, 0], other.corners[0, 0])
        high = min(arc.corners[1, 0], other.corners[1, 0])
        if other is not arc and low < high:

            def above(c: np.ndarray, other: Patch = other) -> np.ndarray:
                return (arc(c) - other(c))[:, L, None]

            breaks.append(_zeros(above, np.array([low, high]), max(arc.degree, other.degree)))
    return np.unique(np.concatenate(breaks))


def _zeros(
    polynomials: Callable[[np.ndarray], np.ndarray], ends: Float[np.ndarray, " 2"], degree: int
) -> Float[np.ndarray, " n"]:
    """All places between two ends where one of several polynomials of a coordinate is 0."""
    middle, half, x = ends.mean(), np.ptp(ends) / 2, chebpts1(degree + 1)
    series = np.linalg.solve(chebvander(x, degree), polynomials((middle + half * x)[:, None]))
    # Chebyshev polynomials are at most 1: one whose first term outweighs all others has no zero.
    series = series[:, np.abs(series[0]) <= np.abs(series[1:]).sum(axis=0)]
    found = [chebroots(chebtrim(one, SCHEDULE.union_leading)) for one in series.T]
    roots = np.concatenate([np.zeros(0), *found])
    roots = roots[np.isreal(roots)].real
    return middle + half * roots[np.abs(roots) < 1]
