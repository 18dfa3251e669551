"""Is a better design known? The one step that every answer is held against before it is called
converged.

A set that passes every local test may be that of one basin only. Fresh designs are therefore
compared with it, in this order, until one is better:

1. lines along which every variable is moved alone, from designs of the answer, and segments between
   the answer and the box. Where objectives and constraints are convex along all of them, a local
   answer is the answer, and the look ends with these, or with the next if nobody looked elsewhere
   before and the budget allows it. With exact derivatives and no small budget convex means also
   that no tangent plane at a design of the next stage lies above the value at another one, which
   sees basins that no line crosses; descents follow the designs whose planes do. Functions that a
   minimum of several is nowhere among these designs are descended alone;
2. designs all over the box, and the bottoms of wells that they hint at (with exact derivatives and
   few variables);
3. every variable moved alone to the lowest places along its range: in many variables a better basin
   is often a few such moves away, and random designs never meet it;
4. basin hopping from the answer, with exact derivatives and without constraints: a better basin is
   often next to this one, in a direction that no variable has. With values alone descents of each
   objective, and of their sum, from designs far apart: an end of the front may be a minimum among
   several;
5. a population that knows nothing of the answer, of the strength of NSGA-II with 20,000
   evaluations, and descents from its best.

Where kinks were not lifted descents stop at them, and small steps from the answer come after the
lines. Without bounds the box lies around the answer. Designs keep equality constraints by
projection.
"""

from contextlib import suppress
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..answer import BezierAtlas, ErrorEstimate, best_levels
from ..atlas import Settings, Survey, survey
from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..flows import dense_t
from ..kinks import has_kinks, keeps_kinks, unseen_arms
from ..normal import (
    Incumbents,
    Matrices,
    better_point,
    find_minimizers,
    probes_around,
    probes_within,
)
from ..normal import Schedule as NormalSchedule
from ..objectives import (
    BudgetSpentError,
    FeasibleSet,
    FlatObjectives,
    JaxEvaluator,
    Manifold,
    Problem,
    bridges,
)
from ..precision import double_precision
from .call import Call
from .schedule import SCHEDULE

Box = tuple[Float[np.ndarray, " n_variables"], Float[np.ndarray, " n_variables"]]
"""Lower and upper bounds to look between."""

Designs = Float[np.ndarray, "n n_variables"]
Rows = Float[np.ndarray, "n n_rows"]
Values = Float[np.ndarray, "n n_objectives"]


class Probed(NamedTuple):
    """What a look for better designs found.

    Attributes:
        rivals: feasible designs that are clearly better than the answer, the best first.
        n: how many designs were looked at.
        evaluations: what was spent by then.
        words: what that says for the answer, where no design is better.
        short: why they do not suffice, and what to do about it; empty where they do.
        lead: by how much the best of them is better than what an atlas answers in its place, in
            units of ranges, clear or not: so much the answers miss at least.
    """

    rivals: Designs
    n: int
    evaluations: Evaluations
    words: str
    short: str
    lead: float


def probe(
    problem: Problem,
    answer: BezierSimplex | BezierAtlas,
    feasible: FeasibleSet,
    box: Box,
    spent: Evaluations,
    call: Call,
    error: ErrorEstimate | None = None,
) -> Probed:
    """Looks for designs that are better than an answer, as the module says.

    Args:
        problem: with kinks, if it has any: values suffice.
        answer: a surface or an atlas of flat vectors.
        feasible: bounds and constraints on them.
        box: to look in.
        spent: before.
        call: its budget, time limit and seed.
        error: of the answer, as its run has measured it.
    """
    # Without bounds a run may have looked around its surface; an atlas always has.
    probed = error is not None and error.n_probes > 0
    looked = isinstance(answer, BezierAtlas) or (feasible.unbounded and probed)
    look = _Look(problem, feasible, box, spent, call)
    with suppress(BudgetSpentError):
        look.hold(answer, looked, None if error is None else error.front)
    words = f"no better point among {look.n} fresh probes"
    words += ", along which objectives are convex" if look.is_convex else ""
    return Probed(look.rivals, look.n, look.evaluations, words, look.shortage, look.lead)


def lines_for(n_variables: int, thrift: int) -> tuple[int, int, int]:
    """How many lines along variables and how many segments are looked at, and at how many places
    of each."""
    k = SCHEDULE.places // thrift
    along = int(np.clip(n_variables, SCHEDULE.least_lines, SCHEDULE.most_moves // k))
    return along, SCHEDULE.segments, k


def kept_for_probes(problem: Problem, budget: int) -> int:
    """What no search may use of a budget, so that convexity can be looked at."""
    along, segments, k = lines_for(problem.start.n_variables, SCHEDULE.thrift)
    return min((along + segments) * k, int(SCHEDULE.kept_for_probes * budget))


class Standard:
    """What a design has to beat: an answer, its points, and units of its objectives.

    Attributes:
        x, f: points of the answer and their objectives.
        width: of these in each variable, in which they are moved.
        units: the range of each objective over them; of one that is one value all over them, a
            small share of how it varies elsewhere.
        clear: a lead below this is none,
        least: and nothing below that is looked for.
        has_holes: whether an objective has no value at a point of a surface.
    """

    def __init__(self, problem: Problem, answer: BezierSimplex | BezierAtlas, stated: float | None):
        self.problem, self.answer, self.has_holes = problem, answer, False
        # Answers of an atlas of curves are as exact as it says.
        of_curves = isinstance(answer, BezierAtlas) and answer.n_objectives == 2
        least = 3 * stated if of_curves and stated is not None else SCHEDULE.clear
        self.least = float(np.clip(least, SCHEDULE.clear_on_curves, SCHEDULE.clear))
        if isinstance(answer, BezierAtlas):
            units, points = answer.units, answer.points
            self.x, self.f = units.x(points.z), units.ideal + points.f * units.span
        else:
            t, rng = dense_t(answer.n_objectives), np.random.default_rng(0)
            n, left = len(t), min((one.calls.left for one in bridges(problem.flat)), default=None)
            # Calls of a function on the host are few, and their points farther apart.
            if left is not None or answer.n_variables > SCHEDULE.most_variables:
                n = int(min(n, SCHEDULE.few_points, np.inf if left is None else left // 3))
            t = np.concatenate([np.eye(answer.n_objectives), rng.permutation(t)[:n]])
            self.x, self.f = self._ask(t)
            self.fresh = self._ask(rng.dirichlet(np.full(answer.n_objectives, 0.5), n // 4 + 1))[1]
        self.units, self.clear = np.ones(answer.n_objectives), self.least
        width = np.ptp(self.x, axis=0)
        self.width = np.maximum(width, SCHEDULE.narrowest * width.max())

    def _ask(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[Designs, Values]:
        """Points of a surface, which cost nothing of the budget."""
        with double_precision():
            x = np.asarray(self.answer(t))
        f = JaxEvaluator(self.problem.flat, t.shape[1], x.shape[1]).values(x)
        self.has_holes = self.has_holes or not np.isfinite(f).all()
        return x, f

    def settle(self, elsewhere: Rows) -> None:
        """Units, and what is clear, where objectives have these values elsewhere."""
        own, elsewhere = self.f, elsewhere[np.isfinite(elsewhere).all(axis=1)]
        varies = np.median(np.abs(elsewhere - own[0]), axis=0) if len(elsewhere) else np.abs(own[0])
        small = np.maximum(SCHEDULE.clear * varies, np.finfo(float).tiny)
        span = np.ptp(own, axis=0)
        self.units = np.where(span > SCHEDULE.negligible * varies, span, small)
        noise = max((part.differences.noise for part in bridges(self.problem.flat)), default=0.0)
        rounding = np.abs(own).max(axis=0) * max(noise, np.finfo(float).eps) / self.units
        clear = [self.least, SCHEDULE.clearly_apart * float(rounding.max())]
        if isinstance(self.answer, BezierSimplex):
            # A surface goes on between the points that it is looked at, as it leads them itself.
            clear.append(2 * float(self.lead(self.fresh).max(initial=0.0)))
        self.clear = max(clear)

    def lead(self, f: Rows) -> Float[np.ndarray, " n"]:
        """By how much each row is better than what the answer has in its place, in the objective
        in which it is most; in units of ranges. Not above 0 for what the answer dominates."""
        lead, usable = np.full(len(f), -np.inf), np.flatnonzero(np.isfinite(f).all(axis=1))
        if not len(usable):
            return lead
        f = f[usable]
        if isinstance(self.answer, BezierAtlas):
            units = self.answer.units
            scaled = (f - units.ideal) / units.span
            excess = self.answer.excess(scaled, SCHEDULE.most_solved)
            lead[usable] = (excess * np.abs(units.span) / self.units).max(axis=1)
            return lead
        lead[usable] = best_levels(self.f / self.units, f / self.units)[0]
        return lead


class _Look:
    """One look for better designs, stage after stage.

    Attributes:
        rivals: what is clearly better, so far.
        lead: of the best of all that an atlas was held against.
        n: how many designs were looked at.
        evaluations: what was spent by now.
        is_convex: whether nothing bends downwards along all lines, once they were looked at, nor
            lies below a tangent plane.
        spread: designs all over the box, with their objectives, once they were looked at.
        compared: the objectives of designs that were held against the answer.
        searched: whether a population was spent on other basins.
        why_none: why there was none, where that is neither for the time nor the budget.
        standard: what designs have to beat.
    """

    standard: Standard

    def __init__(
        self, problem: Problem, feasible: FeasibleSet, box: Box, spent: Evaluations, call: Call
    ):
        self.problem, self.call = problem, call
        self.box, self.M, self.L = box, problem.start.n_objectives, len(box[0])
        self.flat, self.feasible, self.place = problem.flat, feasible, None
        if feasible.n_equalities:
            self.place = Manifold(feasible)
            self.flat = OnManifold(problem.flat, self.place)
            self.feasible = self.place.rest()
        self.budget = getattr(call.method, "budget", None)
        self.n, self.evaluations, self.rivals = 0, spent, np.zeros((0, self.L))
        self.lead = 0.0
        self.is_convex, self.searched, self.why_none = False, False, ""
        self.spread: tuple[Float[np.ndarray, "n_boxes n n_variables"], Values] | None = None
        self.compared: set[bytes] = set()
        self.rng = np.random.default_rng([call.seed, 7])
        along, segments, k = lines_for(self.L, 1)
        dear = (along + segments) * k > SCHEDULE.kept_for_probes * (self.budget or np.inf)
        # Lines are looked at with fewer calls of a function on the host, or of a small budget.
        self.thrift = SCHEDULE.thrift if dear or bridges(self.flat) else 1

    def hold(self, answer: BezierSimplex | BezierAtlas, looked: bool, stated: float | None) -> None:
        """Goes through the stages until one says enough."""
        self.standard = Standard(self.problem, answer, stated)
        if self.standard.has_holes:  # whatever lies beside one would be better than what is left
            self.why_none = "a part of it has no values"
            return
        first = self.along_lines, partial(self.beside_tangents, looked)
        first = *first, self.below_ends, self.beside_kinks, self.on_arms
        hops = self.by_hops if self.problem.form.is_exact else self.by_differences
        rest = self.all_over, self.along_variables, hops, self.by_population
        for k, stage in enumerate((*first, *rest)):
            enough = self.is_convex and k >= len(first) + (not looked)
            if len(self.rivals) or enough or self.call.late:
                return
            stage()

    def designs(self) -> Float[np.ndarray, "n_boxes n n_variables"]:
        """All over the box, or over nested ones around the answer where there are no bounds: more
        of them where JAX computes values."""
        (low, high), n = self.box, SCHEDULE.fewest_designs
        if self.is_exact:
            most = min(SCHEDULE.population_values * self.L, SCHEDULE.most_spread)
            n = max(n, int(min(most, SCHEDULE.kept_for_probes * (self.budget or np.inf))))
        if not self.feasible.unbounded:
            return probes_within(low, high, n)[None]
        # The box is that many times as wide as the answer.
        size = float(np.linalg.norm(high - low)) / (1 + 2 * SCHEDULE.around)
        return probes_around(self.standard.x.mean(axis=0), size, n)

    @property
    def is_exact(self) -> bool:
        """Whether derivatives are, of objectives as they are given."""
        return self.problem.form.is_exact and self.place is None

    def values(self, x: Designs) -> tuple[Values, Rows]:
        """Objectives, infinite where a design is not feasible or has no values; and all rows whose
        bends tell whether there may be several basins."""
        evaluator = JaxEvaluator(self.flat, self.M, self.L, self.budget, self.evaluations)
        rows = f = evaluator.values(x)
        self.evaluations, self.n = evaluator.evaluations, self.n + len(x)
        if self.feasible.has_constraints:
            # Of convex constraints the positive parts are convex.
            g = self.feasible.violations(x)[:, 2 * self.L :]
            broken = (g > 0).any(axis=1, keepdims=True)
            f, rows = np.where(broken, np.inf, f), np.hstack([f, g])
        return np.where(np.isfinite(f).all(axis=1, keepdims=True), f, np.inf), rows

    def compare(self, x: Designs, f: Rows) -> None:
        """Keeps those that are clearly better than the answer; what was compared before was not."""
        fresh = np.array([row.tobytes() not in self.compared for row in f], dtype=bool)
        x, f = x[fresh], f[fresh]
        self.compared.update(row.tobytes() for row in f)
        lead = self.standard.lead(f)
        if isinstance(self.standard.answer, BezierAtlas):
            self.lead = max(self.lead, float(lead.max(initial=0.0)))
        best = np.argsort(-lead)[: SCHEDULE.known_designs]
        rivals = x[best[lead[best] > self.standard.clear]]
        if len(rivals):
            self.rivals = rivals if self.place is None else self.place.project(rivals)

    def below_ends(self) -> None:
        """Ends of the answer moved by smaller and smaller steps for as long as their own objective
        falls, where there are kinks: slopes may have no end at one, so that a design which is exact
        as such says little of values."""
        if self.thrift > 1 or bridges(self.flat) or not has_kinks(self.problem.flat, self.L):
            return
        standard, ends, most = self.standard, np.arange(self.M), SCHEDULE.steps_tried
        x, axes = standard.x[standard.f.argmin(axis=0)], np.eye(self.L)
        f, reach = self.values(x)[0], np.full(self.M, SCHEDULE.stride)
        for _ in range(SCHEDULE.steps_below):
            some = axes if most >= self.L else axes[self.rng.permutation(self.L)[:most]]
            ways = standard.width * np.concatenate([some, -some, self.rng.normal(size=some.shape)])
            trials = np.asarray(self.feasible.clip(x[:, None] + reach[:, None, None] * ways))
            there = self.values(trials.reshape(-1, self.L))[0].reshape(self.M, -1, self.M)
            best = there[ends, :, ends].argmin(axis=1)
            lower = there[ends, best, ends] < f[ends, ends]
            x = np.where(lower[:, None], trials[ends, best], x)
            f = np.where(lower[:, None], there[ends, best], f)
            reach = np.where(lower, reach, reach / 2)
        self.compare(x, f)

    def beside_kinks(self) -> None:
        """Points of the answer moved by small steps at random for as long as that gains in all
        objectives, and its ends in their own, where there are kinks that were not lifted:
        derivatives say little there."""
        if self.thrift > 1 or bridges(self.flat) or not keeps_kinks(self.problem.flat, self.L):
            return
        standard, ends = self.standard, np.repeat(np.arange(self.M), SCHEDULE.from_ends)
        rows = np.linspace(0, len(standard.x) - 1, SCHEDULE.walkers).astype(int)
        x = standard.x[np.concatenate([rows, standard.f.argmin(axis=0)[ends]])]
        f, n = self.values(x)[0], len(x)
        goals = f.copy()
        # Beyond an end of the front one objective counts.
        goals[len(rows) :][np.arange(self.M) != ends[:, None]] = np.inf
        width, reach = standard.width, np.full(n, SCHEDULE.stride)
        for _ in range(SCHEDULE.strides):
            steps = self.rng.normal(size=(n, SCHEDULE.steps_tried, self.L))
            # of all lengths below its reach, since a kink is a narrow way
            steps *= (reach[:, None] * 10 ** -self.rng.uniform(0, 2, steps.shape[:2]))[..., None]
            trials = np.asarray(self.feasible.clip(x[:, None] + width * steps))
            there = self.values(trials.reshape(-1, self.L))[0].reshape(n, -1, self.M)
            with np.errstate(
                invalid="ignore"
            ):  # where nothing is feasible, infinite goals say nothing
                levels = ((there - goals[:, None]) / standard.units).max(axis=2)
            best, rows = np.where(np.isnan(levels), np.inf, levels).argmin(axis=1), np.arange(n)
            better = levels[rows, best] < ((f - goals) / standard.units).max(axis=1)
            x = np.where(better[:, None], trials[rows, best], x)
            f = np.where(better[:, None], there[rows, best], f)
            reach = np.where(better, 1.2, 0.5) * reach
        self.compare(x, f)

    def along_lines(self) -> None:
        """Evenly spaced points on lines from designs of the answer: across the box with one
        variable moved alone, and towards designs of the box."""
        low, high = self.box
        along, segments, k = lines_for(self.L, self.thrift)
        start = self.standard.x[self.rng.integers(len(self.standard.x), size=along + segments)]
        ends = low + (high - low) * self.rng.random((along + segments, self.L))
        # Some segments are short, where bends of a small scale show.
        ends = start + self.rng.choice(SCHEDULE.lengths, (len(start), 1)) * (ends - start)
        lines, moved = np.arange(along), np.resize(self.rng.permutation(self.L), along)
        ends[lines] = start[lines]
        start[lines, moved], ends[lines, moved] = low[moved], high[moved]
        if self.place is not None:
            # Between points that keep linear equalities and bounds all points do: none is moved. At
            # bounds projections come nearer only step by step.
            for _ in range(SCHEDULE.ends_projected):
                start, ends = self.place.project(start), self.place.project(ends)
        x = start[:, None] + np.linspace(0, 1, k)[:, None] * (ends - start)[:, None]
        f, rows = self.values(x.reshape(-1, self.L))
        self.standard.settle(f)
        self.compare(x.reshape(-1, self.L), f)
        self.is_convex = self.bends_nowhere(rows.reshape(len(start), k, -1))

    def bends_nowhere(self, rows: Float[np.ndarray, "n k n_rows"]) -> bool:
        """Whether no row bends downwards along evenly spaced points, by more than rounding."""
        with np.errstate(invalid="ignore"):
            second = rows[:, 2:] - 2 * rows[:, 1:-1] + rows[:, :-2]
            size, span = (
                np.abs(rows).max(axis=1, keepdims=True),
                np.ptp(rows, axis=1, keepdims=True),
            )
        noise = max((part.differences.noise for part in bridges(self.flat)), default=0.0)
        # An offset must not hide bends: rounding counts by values, all else by their range.
        noise = 4 * max(noise, np.finfo(float).eps) * size + SCHEDULE.rounding * span
        return bool((second >= -SCHEDULE.clearly_apart * noise).all())

    def beside_tangents(self, looked: bool) -> None:
        """Where lines look convex, whether tangent planes at designs all over the box lie below the
        values at the others; and the minimizers that descents find from those where they do not,
        the worst first."""
        rows = _Bends(self.flat, self.feasible) if self.feasible.n_inequalities else self.flat
        n_rows = self.M + self.feasible.n_inequalities
        if not self.is_convex or bridges(rows) or self.thrift > 1 or self.place is not None:
            return
        if not self.problem.form.is_exact:
            return
        few = self.L * n_rows * SCHEDULE.most_population_values > SCHEDULE.most_numbers
        boxes = self.designs()
        x = boxes.reshape(-1, self.L)
        thin = len(x) * (SCHEDULE.apart_if_looked if few or looked else 1)
        some = slice(None, None, max(thin // SCHEDULE.fewest_designs, 1))
        evaluator = JaxEvaluator(rows, n_rows, self.L, self.budget, self.evaluations)
        found, others = evaluator.jacobians(x[some]), np.ones(len(x), dtype=bool)
        others[some] = False
        values = np.empty((len(x), n_rows))
        values[some], values[others] = found.values, evaluator.values(x[others])
        self.evaluations, self.n = evaluator.evaluations, self.n + len(x)
        broken = (values[:, self.M :] > 0).any(axis=1, keepdims=True)
        f = np.where(broken, np.inf, values[:, : self.M])
        f = np.where(np.isfinite(f).all(axis=1, keepdims=True), f, np.inf)
        self.spread = boxes, f
        self.compare(x, f)
        worst = above_tangents(x, values, found.gradients, some)
        self.is_convex = not worst.any()
        if self.is_convex or len(self.rivals):
            return
        start = x[np.argsort(-worst)[: NormalSchedule().wells]]
        weights = np.vstack([np.eye(self.M), np.ones(self.M)]) / self.standard.units
        weights, start = np.tile(weights, (len(start), 1)), np.repeat(start, self.M + 1, axis=0)
        self.look(np.asarray(self.feasible.clip(self.descended(weights, start))))

    def descended(self, weights: Float[np.ndarray, "n n_objectives"], start: Designs) -> Designs:
        """Where descents of weighted sums end, which know of no bounds."""
        evaluator = JaxEvaluator(self.flat, self.M, self.L, self.budget, self.evaluations)
        ends = find_minimizers(Matrices(evaluator, start), weights, start).x
        self.evaluations = evaluator.evaluations
        return np.asarray(ends)

    def all_over(self) -> None:
        """Designs all over the box, or over nested ones around the answer without bounds; those
        beside them that keep constraints; and the bottoms of wells that they hint at."""
        boxes, f = self.everywhere()
        x, standard = boxes.reshape(-1, self.L), self.standard
        if self.is_exact and self.feasible.n_inequalities:
            self.look(self.inside(x[self.feasible.violation(x) > 0]))
        own = isinstance(standard.answer, BezierSimplex) and self.feasible.unbounded
        if len(self.rivals) or not self.is_exact or own:
            return  # a surface without bounds has followed wells around it by itself
        spread = np.linspace(0, len(standard.x) - 1, SCHEDULE.compared_points).astype(int)
        rows = np.concatenate([standard.f.argmin(axis=0), spread])
        incumbents = Incumbents(standard.x[rows], standard.f[rows], standard.units)
        evaluator = JaxEvaluator(self.flat, self.M, self.L, self.budget, self.evaluations)
        diameter = float(np.linalg.norm(np.ptp(incumbents.x, axis=0)))
        curvature = Matrices(evaluator, incumbents.x[: self.M], diameter)

        def gain(x: Designs, f: Rows) -> np.ndarray:
            lead = standard.lead(np.where((self.feasible.violation(x) > 0)[:, None], np.inf, f))
            # Between the points of a surface that are known others seem to be ahead of it.
            return np.where(lead > standard.clear, lead, 0.0)

        found = better_point(
            curvature,
            boxes,
            f.reshape(*boxes.shape[:2], -1),
            incumbents,
            gain,
            self.L,
            self.inside,
        )
        self.evaluations = evaluator.evaluations
        if found is not None:
            self.rivals = found[None]

    def everywhere(self) -> tuple[Float[np.ndarray, "n_boxes n_each n_variables"], Values]:
        """Designs all over the box, with their objectives."""
        if self.spread is None:
            boxes = self.designs()[:, :: 1 if self.is_exact else self.thrift]
            self.spread = boxes, self.look(boxes.reshape(-1, self.L))[0]
        return self.spread

    def on_arms(self) -> None:
        """Descents of each function that a minimum of several is at no design of the box: its
        formula tells of a basin that nothing leads to."""
        if not self.is_exact or self.thrift > 1 or bridges(self.flat):
            return
        x = self.designs().reshape(-1, self.L)
        weights = np.vstack([np.eye(self.M), np.ones(self.M)]) / self.standard.units
        for arm in unseen_arms(self.problem.flat, self.L, x)[: SCHEDULE.most_arms]:
            own = self.everywhere()[1]
            evaluator = JaxEvaluator(arm, self.M, self.L, self.budget, self.evaluations)
            f = evaluator.values(x)
            usable = np.asarray(np.isfinite(f) & np.isfinite(own))
            # An arm of a maximum would lie below it, and is no better where it is the largest.
            if not usable.any() or np.any((f < own) & usable):
                self.evaluations = evaluator.evaluations
                continue
            sums = np.where(usable.all(axis=1, keepdims=True), f, np.inf) @ weights.T
            start = x[sums.argmin(axis=0)]
            ends = find_minimizers(Matrices(evaluator, start), weights, start).x
            self.evaluations = evaluator.evaluations
            self.look(self.inside(ends))

    def inside(self, x: Designs) -> Designs:
        """Designs beside these that keep bounds and constraints."""
        x = np.asarray(self.feasible.clip(x))
        if not self.feasible.n_inequalities or bridges(self.feasible) or not len(x):
            return x
        return Manifold(self.feasible).project(x, inside=True)

    def along_variables(self) -> None:
        """Designs of the answer with one variable moved to the lowest place elsewhere in its range,
        and with all such moves that help together; again from there."""
        standard, (low, high), k = self.standard, self.box, SCHEDULE.places // self.thrift
        spread = np.linspace(0, len(standard.f) - 1, SCHEDULE.moved_designs).astype(int)
        rows = np.concatenate([standard.f.argmin(axis=0), spread])
        x, goals, n = standard.x[rows], standard.f[rows], len(rows)
        most = max(SCHEDULE.most_moves // (n * k), 1)
        moved = np.arange(self.L) if most >= self.L else self.rng.permutation(self.L)[:most]
        low, width = low[moved][:, None], (high - low)[moved][:, None] / k
        for _ in range(SCHEDULE.rounds_of_moves):
            offset = self.rng.random() + np.arange(k)
            places = np.tile(low + width * offset, (n, 1, 1))
            levels = self.levels(x, goals, moved, places)
            # Around where a design lies there is no other basin.
            near = np.abs(places - x[:, moved, None]) < SCHEDULE.own_basin * width
            levels = np.where(near, np.inf, levels)
            for share in SCHEDULE.finer:
                best = np.take_along_axis(places, levels.argmin(axis=2)[..., None], axis=2)
                finer = best + share * width * np.linspace(-1, 1, k // 4)
                finer = np.clip(finer, low, low + k * width)
                more = self.levels(x, goals, moved, finer)
                places, levels = np.dstack([places, finer]), np.dstack([levels, more])
            best = np.take_along_axis(places, levels.argmin(axis=2)[..., None], axis=2)[..., 0]
            order = levels.min(axis=2).argsort(axis=1)
            # with the best move alone, the best two, and so on
            trials = np.repeat(x[:, None], len(moved), axis=1)
            for j in range(len(moved)):
                trials[np.arange(n), j:, moved[order[:, j]]] = np.take_along_axis(
                    best, order[:, [j]], axis=1
                )
            f = self.look(trials.reshape(-1, self.L))[0].reshape(n, len(moved), self.M)
            level = ((f - goals[:, None]) / standard.units).max(axis=2)
            j = level.argmin(axis=1)
            better = level[np.arange(n), j] < 0
            if not better.any():
                return
            x = np.where(better[:, None], trials[np.arange(n), j], x)
            goals = np.where(better[:, None], f[np.arange(n), j], goals)

    def levels(
        self,
        x: Designs,
        goals: Rows,
        moved: np.ndarray,
        places: Float[np.ndarray, "n n_moved k"],
    ) -> Float[np.ndarray, "n n_moved k"]:
        """By how much designs exceed goals at most, with each variable at each place."""
        trials = np.tile(x[:, None, None], (1, *places.shape[1:], 1))
        trials[:, np.arange(len(moved)), :, moved] = places.transpose(1, 0, 2)
        f = self.look(trials.reshape(-1, self.L))[0].reshape(*places.shape, self.M)
        return ((f - goals[:, None, None]) / self.standard.units).max(axis=3)

    def look(self, x: Designs) -> tuple[Values, Rows]:
        """Values, and what they say of rivals."""
        f, rows = self.values(x)
        if not len(self.rivals):
            self.compare(x, f)
        return f, rows

    def by_hops(self) -> None:
        """Basin hopping: descents of weighted sums from beside their best designs, near and far,
        and again from what is lower. Where wells are many and their bottoms form a wider one, a
        better one is next to each, in a direction that no variable has."""
        few = self.L * self.L * self.M * SCHEDULE.hops > SCHEDULE.most_numbers
        usable = self.problem.form.is_exact and self.place is None and self.thrift == 1
        if few or not usable or self.feasible.has_constraints:
            return
        standard, (low, high), n = self.standard, self.box, self.M + 1
        weights = np.vstack([np.eye(self.M), np.zeros(self.M)]) + SCHEDULE.of_others
        weights /= weights.sum(axis=1, keepdims=True)
        each = np.repeat(weights / standard.units, SCHEDULE.hops, axis=0)
        sums = (standard.f / standard.units) @ weights.T
        x, f = standard.x[sums.argmin(axis=0)], standard.f[sums.argmin(axis=0)]
        best, in_vain = sums.min(axis=0), 0
        ends = self.descended(weights / standard.units, x)
        if np.mean((ends < low) | (ends > high)) > SCHEDULE.most_outside:
            return  # there are no bottoms of wells in the box
        shortest, longest = np.log(SCHEDULE.hop_lengths)
        for _ in range(SCHEDULE.rounds_of_hops):
            size = self.rng.uniform(shortest, longest, (n, SCHEDULE.hops, 1))
            way = self.rng.normal(size=(n, SCHEDULE.hops, self.L))
            start = np.clip(x[:, None] + np.exp(size) * way * (high - low), low, high)
            ends = self.descended(each, start.reshape(-1, self.L))
            ends = np.asarray(self.feasible.clip(ends))
            found = self.values(ends)[0]
            level = np.where(np.isfinite(found), each * found, np.inf).sum(axis=1)
            k = level.reshape(n, -1).argmin(axis=1) + SCHEDULE.hops * np.arange(n)
            lower = level[k] < best - standard.clear
            in_vain = 0 if lower.any() else in_vain + 1
            wells = np.round((ends - low) / (SCHEDULE.one_well * (high - low)))
            seen_once = np.mean(np.unique(wells, axis=0, return_counts=True)[1] == 1)
            # Where descents end in the same few wells there are no others.
            enough = 1 if seen_once < SCHEDULE.few_wells else SCHEDULE.hops_in_vain
            if in_vain >= enough or self.call.late:
                break
            x, f = np.where(lower[:, None], ends[k], x), np.where(lower[:, None], found[k], f)
            best = np.where(lower, level[k], best)
        self.compare(x, f)

    def by_differences(self) -> None:
        """Descents by differences of each objective alone, and of the sum of all, each from the
        lowest of some of the designs all over the box."""
        from scipy.optimize import minimize

        noise = max((part.differences.noise for part in bridges(self.flat)), default=0.0)
        if self.feasible.has_constraints or self.place is not None or noise > SCHEDULE.quiet_noise:
            return
        evaluator = JaxEvaluator(self.flat, self.M, self.L, self.budget, self.evaluations)
        if evaluator.left < 2 * self.population:
            return  # a population knows less of slopes, and more of the box
        (low, high), (boxes, f) = self.box, self.everywhere()
        x, most = boxes.reshape(-1, self.L), self.n + self.population
        step = max(np.sqrt(noise), SCHEDULE.difference) * (high - low)
        own = list(zip(self.feasible.lower, self.feasible.upper, strict=True))
        weights = np.vstack([np.eye(self.M), np.ones(self.M)]) / self.standard.units
        parts = np.array_split(self.rng.permutation(len(x)), SCHEDULE.starts_by_values)
        for rows, w in ((rows, w) for rows in parts for w in weights):

            def descend(z: np.ndarray, w: np.ndarray = w) -> tuple[float, np.ndarray]:
                back = np.where(z + step > high, -step, step)
                sums = self.values(np.vstack([z, z + np.diag(back)]))[0] @ w
                sums = np.where(np.isfinite(sums), sums, np.finfo(np.float32).max)
                return sums[0], (sums[1:] - sums[0]) / back

            if self.n > most or self.call.late or len(self.rivals):
                return
            start = x[rows[np.argmin(np.where(np.isfinite(f[rows]), f[rows], np.inf) @ w)]]
            options = {"maxiter": SCHEDULE.steps_by_values}
            end = minimize(descend, start, jac=True, method="L-BFGS-B", bounds=own, options=options)
            self.look(np.asarray(self.feasible.clip(end.x[None])))

    def by_population(self) -> None:
        """A population that begins all over the box, until it is spent or is better somewhere."""
        if self.feasible.unbounded and SCHEDULE.most_variables < self.L:
            self.why_none = f"no search finds its way elsewhere among {self.L} variables"
            return
        n, settings = self.population, Settings(self.feasible, self.box, budget=self.budget)

        def goes_on(found: Survey) -> bool:
            made = int(found.evaluations.objective - self.evaluations.objective)
            self.compare(found.x, found.f)
            return made < n and not (len(self.rivals) or self.call.late)

        start = self.feasible.clip(np.asarray(self.problem.start.control_points, dtype=float))
        seed = int(self.rng.integers(2**31))
        found = survey(
            self.flat, self.M, settings, np.asarray(start), seed, self.evaluations, goes_on
        )
        self.compare(found.x, found.f)
        self.n += int(found.evaluations.objective - self.evaluations.objective)
        self.evaluations, self.searched = found.evaluations, not (found.spent or self.call.late)

    @property
    def population(self) -> int:
        """What a population may evaluate."""
        return min(SCHEDULE.population_values * self.L, SCHEDULE.most_population_values)

    @property
    def shortage(self) -> str:
        """Why other basins were not looked for, and what to do about it; empty where they were, or
        need not be."""
        if self.is_convex or self.searched or len(self.rivals):
            return ""
        if self.call.late:
            return "the time limit ended a search elsewhere; give a larger time_limit for that"
        return self.why_none or (
            f"a search elsewhere, which takes more than {self.population} evaluations, was not"
            " within the budget; give a larger one for that"
        )


class _Bends(eqx.Module):
    """What is convex where a problem is: objectives, and the positive parts of inequalities."""

    objectives: FlatObjectives
    feasible: FeasibleSet

    def __call__(self, x: Float[Array, " n_variables"]) -> Array:
        g = self.feasible.inequalities(x)
        return jnp.concatenate([self.objectives(x), jnp.maximum(g, 0)])


def above_tangents(
    x: Designs, values: Rows, gradients: Float[np.ndarray, "k n_rows n_variables"], some: slice
) -> Float[np.ndarray, " n"]:
    """By how many of its relations to others each design shows that a row is not convex: its
    tangent plane, where gradients of some designs are known, lies above their values by more than
    rounding, or theirs above its own."""
    counts = np.zeros(len(x))
    for f, g in zip(values.T, gradients.swapaxes(0, 1), strict=True):
        good, flat = np.isfinite(f), np.isfinite(g).all(axis=1)
        planes = np.arange(len(x))[some][flat & good[some]]
        counts += ~good  # where there are no values a row is not convex on the box
        counts[some] += ~flat
        others, g = np.flatnonzero(good), g[flat & good[some]]
        span = np.ptp(f[others]) if len(others) else 0.0
        at, few = (
            f[planes] - (g * x[planes]).sum(axis=1),
            slice(None, None, SCHEDULE.apart_for_tangents),
        )
        for one, other, axis in ((slice(None), few, 1), (few, slice(None), 0)):
            there = others[other]
            ahead = g[one] @ x[there].T
            size = np.abs(f[there]) + np.abs(ahead) + np.abs(at[one, None])
            noise = SCHEDULE.clearly_apart * np.finfo(float).eps * size + SCHEDULE.rounding * span
            above = at[one, None] + ahead - f[there] > noise
            counts[there if axis == 0 else planes[one]] += above.sum(axis=axis)
    return counts


def only_point(feasible: FeasibleSet, box: Box) -> Float[np.ndarray, " n_variables"] | None:
    """The one feasible point, where Newton's method ends there from all over the box; else None.

    Designs are moved where constraints leave no room between them: as many are equalities as there
    are variables, or none of the designs keeps all.
    """
    low, high = box
    pinned = feasible.n_equalities >= np.count_nonzero(low < high)
    if not pinned and (bridges(feasible) or not feasible.n_inequalities):
        return None
    x = probes_within(low, high, SCHEDULE.fewest_designs)[:: SCHEDULE.thrift]
    if not pinned and (feasible.violation(x) <= 0).any():
        return None
    for _ in range(2):  # where constraints touch each step halves the way
        x = Manifold(feasible).project(x, inside=True)
    x = x[feasible.violation(x) <= SCHEDULE.keeps * (1 + np.abs(x).max(initial=0.0))]
    apart = SCHEDULE.negligible * (1 + np.abs(x).max(initial=0.0))
    return x[0] if len(x) and np.ptp(x, axis=0).max() <= apart else None


class OnManifold(eqx.Module):
    """Objectives at the projection of x."""

    objectives: FlatObjectives
    manifold: Manifold

    def __call__(self, x: Float[Array, " n_variables"]) -> Array:
        """F at the point of the set next to x."""
        return self.objectives(self.manifold(x))

    def whole(self, points: Designs) -> None:
        """A function on the host must not be evaluated at points that are not projected yet."""
        return
