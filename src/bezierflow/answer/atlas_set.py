"""An atlas as a Pareto set: moving on its patches, and the nearest points for simple goals."""

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
from jaxtyping import Float, Int

from ..bezier import BezierSimplex, Manifest, describe_surface, partial_derivatives
from ..metrics import farthest_points
from ..names import Names
from .atlas import BezierAtlas, ExactAround
from .error import ErrorEstimate
from .files import describe_atlas
from .pareto_set import Around, Arrays, Found, ParetoSet, Point, T, Values
from .patches import ask_patch, barycentric, frame, in_domains, variables
from .pieces import Piece
from .schedule import SCHEDULE

MOST_NAMED = 6
"""So many variables or constraints are named in the words for a piece."""


class AroundPatch(Around):
    """The patch that answers at t, with coordinates c + y."""

    def __init__(self, atlas: BezierAtlas, t: Point):
        claims, L, box = atlas.ask(atlas.place(t)), len(atlas.units.free), atlas.units.box
        self.atlas, self.part = atlas, int(claims.number[0])
        groups = in_domains(atlas.patches, claims.a)
        # A patch of higher dimension whose face the answer is goes on from there in more
        # directions.
        for number in sorted(int(k) for group in groups for k in group.numbers[group.which]):
            patch = atlas.patches[number]
            if patch.label.dimension > atlas.patches[self.part].label.dimension:
                y, sign, rows = ask_patch(patch, claims.a, box)
                meets = len(rows) and abs(float(y[0, L] - claims.y[0, L])) < SCHEDULE.lead
                if meets and float(sign[0]) > -SCHEDULE.nearly:
                    self.part = number
        self.patch = atlas.patches[self.part]
        self.label = self.patch.label
        self.c = self.label.coordinates(claims.a)[0][0]
        self.dimension = len(self.c)
        # The slopes of barycentric coordinates by c, which are constant: for the chain rule.
        sides = self.patch.corners[1:] - self.patch.corners[0]
        rest = np.linalg.inv(sides.T) if self.dimension else np.zeros((0, 0))
        self._by_c = np.concatenate([-rest.sum(axis=0, keepdims=True), rest])
        self._conditions = self.label.conditions(box)

    def _quantities(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The coordinates, the patch's quantities there, and their slopes."""
        c, patch = (self.c + y)[None], self.patch
        inside = barycentric(patch.corners, c)
        derivative = partial_derivatives(patch.control_points, inside, patch.degree)
        return c, patch(c), derivative[0].T @ self._by_c

    def t(self, y: Float[np.ndarray, " dimension"]) -> Point:
        """Where the point of the patch at y is; beyond the ends of the front, its end."""
        f = self.patch.front((self.c + y)[None])
        return self.atlas.t(self.atlas.units.ideal + f * self.atlas.units.span)[0]

    def look(
        self, y: Float[np.ndarray, " dimension"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The front of the patch, and its signs and domain."""
        c, quantities, slopes = self._quantities(y)
        units = self.atlas.units
        f = units.ideal + units.span * self.label.values(quantities, c)[0]
        df = units.span[:, None] * self.label.slopes(slopes)
        columns, factors, offsets = self._conditions
        normals, ends = self.patch.domain[:, :-1], self.patch.domain[:, -1]
        own = factors * quantities[0, columns] + offsets
        room = np.concatenate([-own, normals @ c[0] - ends])
        return f, df, room, np.concatenate([-factors[:, None] * slopes[columns], normals])

    def design(
        self, y: Float[np.ndarray, " dimension"]
    ) -> tuple[Float[np.ndarray, " n_variables"], np.ndarray]:
        """The design in the user's units, with its slopes."""
        _, quantities, by_c = self._quantities(y)
        units = self.atlas.units
        # Variables at bounds hold multipliers in y, and do not move.
        slopes = np.zeros((len(units.lower), self.dimension))
        per_unit = np.where(self.label.side == 0, units.unit, 0.0)
        slopes[units.free] = per_unit[:, None] * by_c[: len(units.free)]
        x = units.x(variables(self.label, quantities, units.box))[0]
        return x, slopes[: units.n_variables]


class AroundExact(Around):
    """The answers around t with all their kinks, each solved for."""

    part = 0

    def __init__(self, atlas: BezierAtlas, t: Point):
        self.atlas, self.a = atlas, atlas.place(t)[0]
        self.dimension = len(self.a) - 1
        self._last: tuple[bytes, ExactAround] | None = None

    def _answer(self, y: np.ndarray) -> tuple[np.ndarray, ExactAround]:
        a = self.a + y @ frame(len(self.a))
        # SciPy asks for values and slopes one after the other.
        if self._last is None or self._last[0] != a.tobytes():
            start = self.atlas.mapped(a[None]).z[0] if self._last is None else self._last[1].z
            self._last = a.tobytes(), self.atlas.polisher.around(a, start)
        return a, self._last[1]

    def t(self, y: Float[np.ndarray, " dimension"]) -> Point:
        """The point of the simplex at y."""
        units = self.atlas.units
        return self.atlas.t((units.ideal + units.span * self._answer(y)[1].f)[None])[0]

    def look(
        self, y: Float[np.ndarray, " dimension"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The front, and the faces of the simplex."""
        a, answer = self._answer(y)
        units, M, rows = self.atlas.units, len(self.a), frame(len(self.a))
        width = self.atlas.stretch * (M - 1)
        f = units.ideal + units.span * answer.f
        df = units.span[:, None] * (answer.f_by_a @ rows.T)
        room = np.concatenate(
            [a / width - 1 / M, y - SCHEDULE.exact_radius, -y - SCHEDULE.exact_radius]
        )
        sides = np.eye(self.dimension)
        return f, df, room, np.concatenate([rows.T / width, sides, -sides])

    def design(
        self, y: Float[np.ndarray, " dimension"]
    ) -> tuple[Float[np.ndarray, " n_variables"], np.ndarray]:
        """The design in the user's units, with its slopes."""
        answer, units = self._answer(y)[1], self.atlas.units
        slopes = np.zeros((len(units.lower), self.dimension))
        slopes[units.free] = units.unit[:, None] * (answer.z_by_a @ frame(len(self.a)).T)
        return units.x(answer.z[None])[0], slopes[: units.n_variables]


Moving = AroundPatch | AroundExact
"""Answers around one of them, with their designs."""

Image = Callable[[Moving, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""A vector and its slopes at coordinates around a point of a patch."""


class AtlasSet(ParetoSet):
    """An atlas with its own front.

    Args:
        whole: the atlas, with the user's signs.
        signs: −1 for each objective that is maximized.
        exact: the minimized objectives at t, where the problem's code is known; else the patches'
            own front.
    """

    trimmed = True

    def __init__(self, whole: BezierAtlas, signs: Point, exact: Callable[[T], np.ndarray] | None):
        self.whole, self.atlas, self._exact = whole, whole.turned(signs), exact
        self.n_objectives, self.n_variables = whole.n_objectives, whole.n_variables
        self.text = f"an atlas of {len(whole.patches)} patches"

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Those of the atlas."""
        return self.atlas.pieces

    def piece_points(self, number: int) -> T:
        """Sample points of its patches, in order along a curve."""
        piece, points = self.pieces[number], self.atlas.points
        mine = np.flatnonzero(np.isin(points.patch, piece.patches))
        if piece.dimension == 1:
            mine = mine[np.argsort(points.c[mine, 0])]
        return self.sample_t[mine]

    def piece_text(self, number: int, names: Names) -> str:
        """What is chosen and active, in words: "material = steel, width, depth = min, load = max,
        stress <= 250 MPa"."""
        piece, chosen, variables = (
            self.pieces[number],
            self.choice_text(number, names),
            names.variables,
        )
        words = [chosen] if chosen else []
        # Variables behind those of the user stand for kinks: they have no names, nor sides here.
        free = self.atlas.units.free[: len(piece.side)]
        for sign, word in ((-1, "min"), (1, "max")):
            there = [variables[int(k)] for k in free[piece.side == sign]]
            if there:
                more = " …" if len(there) > MOST_NAMED else ""
                words.append(f"{', '.join(there[:MOST_NAMED])}{more} = {word}")
        texts = dict(enumerate(names.constraints))  # none in older files, none for kinks
        rows = np.flatnonzero(piece.constraints)[:MOST_NAMED].tolist()
        words += [texts.get(k, f"constraint row {k + 1}") for k in rows]
        return ", ".join(words) or "inside"

    def choice_text(self, number: int, names: Names) -> str:
        """Each variable that is not continuous with its value: "material = steel, n_bolts = 8"."""
        values, words = self.atlas.units.values, []
        for i, value in self.pieces[number].choice:
            text = values[i][int(value)] if isinstance(values[i][0], str) else f"{value:g}"
            words.append(f"{names.variables[i]} = {text}")
        return ", ".join(words)

    def owners(self, t: T) -> Int[np.ndarray, " n"]:
        """The number of the piece of the patch that answers; −1 where that is not part of the
        set."""
        owner = np.full(len(self.atlas.patches), -1)
        for number, piece in enumerate(self.atlas.pieces):
            owner[list(piece.patches)] = number
        return owner[self.atlas.ask(self.atlas.place(t)).number]

    @cached_property
    def sample_t(self) -> T:
        """Points of all patches."""
        return self.atlas.t(self.sample_f)

    @cached_property
    def sample_f(self) -> Values:
        """Their objectives."""
        return self.atlas.units.ideal + self.atlas.units.span * self.atlas.points.f

    @cached_property
    def scale(self) -> Point:
        """The range of each objective over the front."""
        return self.atlas.units.span

    @cached_property
    def neighbors(self) -> Int[np.ndarray, "n k"]:
        """The points nearest to each in units of ranges."""
        from scipy.spatial import KDTree

        f = self.atlas.points.f
        k = min(SCHEDULE.neighbors + 1, len(f))
        return np.asarray(KDTree(f).query(f, k=k)[1]).reshape(len(f), k)

    def designs(self, t: T) -> Float[np.ndarray, "n n_variables"]:
        """Those of the patches."""
        return self.atlas.flat(t)

    def front(self, t: T) -> Values:
        """That of the patches."""
        return self.atlas.front(t)

    def values(self, t: T) -> Values:
        """By the objectives where they are known, else by the patches."""
        return self.atlas.front(t) if self._exact is None else self._exact(t)

    def weights(self, t: T) -> Values:
        """The multipliers that the patches have."""
        return self.atlas.weights(t)

    def prices(self, t: Point) -> tuple[Point, bool]:
        """The multipliers are the front's normal; there is one where all objectives are active."""
        prices = self.atlas.weights(t)
        traded = prices * self.scale > SCHEDULE.rounding
        return prices / np.sum(prices * self.scale), bool(np.all(traded))

    def t(self, f: Values) -> T:
        """By the chart, which has a point below any objective values."""
        return self.atlas.t(f)

    def nearest_design(self, x: Float[np.ndarray, " n_variables"], diameter: float) -> Found:
        """From the nearest points of several patches, along patches."""
        known = self.atlas.units.x(self.atlas.points.z) - x
        found = self._nearest(lambda around, y: around.design(y), x, known)
        return found._replace(goal=float(np.linalg.norm(self.atlas.flat(found.t) - x)))

    def nearest_values(self, f: Point) -> Found:
        """Likewise for objectives."""

        def image(around: Moving, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            values, slopes, _, _ = around.look(y)
            return values / self.scale, slopes / self.scale[:, None]

        known = (self.sample_f - f) / self.scale
        found = self._nearest(image, f / self.scale, known)
        off = (self.atlas.front(found.t) - f) / self.scale
        return found._replace(goal=float(np.linalg.norm(off)))

    def _nearest(
        self, image: Image, target: np.ndarray, known: Float[np.ndarray, "n width"]
    ) -> Found:
        """Where an image is nearest to a target, searched from several patches; `known` are the
        differences at the sample."""
        squares = np.sum(known**2, axis=1)
        # Goals of SLSQP should be of order 1.
        size = float(squares.max()) or 1.0

        def goal(around: Moving, y: np.ndarray) -> tuple[float, np.ndarray]:
            point, slopes = image(around, y)
            miss = point - target
            return float(miss @ miss) / size, 2 * miss @ slopes / size

        # The best known point of each patch is a start: two basins are rarely on one patch.
        order = np.argsort(squares)
        _, first = np.unique(self.atlas.points.patch[order], return_index=True)
        starts = self.sample_t[order[np.sort(first)[: SCHEDULE.most_starts]]]
        ends = [self._descend(goal, start) for start in starts]
        value, t = min(ends, key=lambda end: end[0])
        agreed = sum(end[0] <= value + SCHEDULE.rounding for end in ends)
        # The patches' own error is left out at the end.
        t = t if self.atlas.polisher is None else self._descend(goal, t, True)[1]
        return Found(t, value, np.zeros(0), np.nan, len(ends), agreed)

    def _descend(
        self, goal: Callable[..., tuple[float, np.ndarray]], t: Point, exact: bool = False
    ) -> tuple[float, Point]:
        """Where a goal, given with its slope, stops falling from patch to patch: its value and
        where that is."""
        from scipy.optimize import minimize

        best, around = (np.inf, t), self.around(t, exact)
        # A patch may end before the goal stops falling: the search then goes on from its border.
        for _ in range(SCHEDULE.most_parts):
            y = np.zeros(around.dimension)
            if around.dimension:
                inside = {
                    "type": "ineq",
                    "fun": lambda y, around=around: -around.look(y)[2],
                    "jac": lambda y, around=around: -around.look(y)[3],
                }
                here = partial(goal, around)
                options = {"ftol": SCHEDULE.ftol}
                y = minimize(
                    here, y, jac=True, constraints=inside, method="SLSQP", options=options
                ).x
            t, value = around.t(y), goal(around, y)[0]
            best = (value, t) if value < best[0] else best
            before, around = around.part, self.around(t, exact)
            if around.part == before:
                break
        return best

    def around(self, t: Point, exact: bool = False) -> Moving:
        """The patch that answers at t, or the answers themselves."""
        solves = exact and self.atlas.polisher is not None and self.n_objectives > 1
        return AroundExact(self.atlas, t) if solves else AroundPatch(self.atlas, t)

    def spread(self, n: int) -> T:
        """Equal lengths of arc for two objectives; for more, always the point of the sample
        farthest from all that were chosen, beginning with the best of each objective."""
        f, t = self.atlas.points.f, self.sample_t
        if self.n_objectives == 2 and len(f) > 1:
            order = np.argsort(-t[:, 0], kind="stable")
            first = self._spread_along(t[order, 0], f[order], n)
            if first is not None:
                return np.column_stack([first, 1 - first])
        # Where the set has fewer points than n, they are repeated.
        t = t[np.resize(farthest_points(f, n, np.unique(f.argmin(axis=0))), n)]
        return t[np.argsort(-t[:, 0], kind="stable")] if self.n_objectives == 2 else t

    def _spread_along(
        self, first: Float[np.ndarray, " k"], f: Float[np.ndarray, "k 2"], n: int
    ) -> Float[np.ndarray, " n"] | None:
        """Numbers t_1 at equal distances along curves through points of the front in order, whose
        own t_1 are given; None where there are more curves than numbers."""
        middle = (first[1:] + first[:-1]) / 2
        between = self.atlas.mapped(self.atlas.place(np.stack([middle, 1 - middle], axis=1))).f
        steps = np.linalg.norm(np.diff(f, axis=0), axis=1)
        nearest = np.minimum(*(np.linalg.norm(between - end, axis=1) for end in (f[1:], f[:-1])))
        # Between the ends of a gap answers are one of its ends.
        gap = (nearest < SCHEDULE.gap * steps) & (steps > 0)
        if n - 1 <= gap.sum():
            return None
        # A gap is as wide as two points are apart, so that a lone point gets one of its own.
        steps[gap] = steps[~gap].sum() / (n - 1 - gap.sum()) or 1.0
        along = np.append(0.0, np.cumsum(steps))
        place = np.linspace(0, along[-1], n)
        k = np.clip(np.searchsorted(along, place, side="right") - 1, 0, len(steps) - 1)
        share = (place - along[k]) / np.maximum(steps[k], np.finfo(float).tiny)
        share = np.where(gap[k], np.round(share), np.clip(share, 0.0, 1.0))
        return first[k] + share * (first[k + 1] - first[k])

    def front_error(self, error: ErrorEstimate) -> Point:
        """The largest error of answers at fresh points, times the ranges."""
        return float(error.front or 0.0) * np.abs(self.scale)

    def describe(self) -> tuple[Manifest, Arrays]:
        """The atlas, which has its front in its patches, and one design, whose form all have."""
        M = self.n_objectives
        description, arrays = describe_atlas(self.whole, "atlas")
        # Numbers in place of texts.
        design = self.whole.raveling.unravel(self.whole.flat(np.full((1, M), 1 / M)))
        example, example_arrays = describe_surface(BezierSimplex(design, M, 0), "example")
        return {"atlas": description, "example": example}, {**arrays, **example_arrays}
