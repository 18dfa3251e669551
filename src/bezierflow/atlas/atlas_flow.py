"""The flow of sets of any shape: an atlas of trimmed Bézier simplices, within bounds and
constraints."""

from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar

import equinox as eqx
import numpy as np

from ..answer import BezierAtlas, ErrorEstimate, Flag, Reason, Result, by_cause
from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..flows import AbstractFlow, Estimate, Info, Run, corners
from ..names import Names
from ..objectives import FeasibleSet, FlatObjectives
from ..runs import kind
from .building import AtlasState, Settings, advance, begin
from .measuring import AtlasError, measure
from .schedule import SCHEDULE

ADVICE = {
    Flag.NOT_AT_TOLERANCE: (
        f"answers miss by more than {SCHEDULE.most_misses:.0f} times the tolerance: accept"
        " error.front, give a larger tol, or narrow the bounds to the part that matters"
    )
}
"""What to do about a flag, where an atlas differs from a surface."""


@kind("atlas.flow/1")
class AtlasFlow(AbstractFlow[AtlasState]):
    """Solves for nodes of the chart, and follows what is between them, until patches cover it. Its
    mathematics is in `bezierflow.atlas`.

    Attributes:
        feasible: bounds and constraints on flat vectors.
        box: finite bounds to look in, those of x where they are finite.
        why: why the answer is an atlas, for its message.
        tol: the largest miss at fresh chart points, in units of the objectives' ranges; None for
            what suits their number.
        budget: the most points that may be evaluated; None for no limit.
        n_auxiliary: how many of the last variables stand for kinks of the objectives.
        known: designs that somebody knows to be good, to begin with.
    """

    parametrization: ClassVar[str] = "chart"
    doing: ClassVar[str] = "an atlas"

    feasible: FeasibleSet
    box: tuple[np.ndarray, np.ndarray]
    why: str = eqx.field(static=True, default="")
    tol: float | None = eqx.field(static=True, default=None)
    budget: int | None = eqx.field(static=True, default=None)
    n_auxiliary: int = eqx.field(static=True, default=0)
    known: np.ndarray | None = None

    @property
    def settings(self) -> Settings:
        """As `bezierflow.atlas` takes them."""
        return Settings(self.feasible, self.box, self.tol, self.budget)

    def init(self, objectives: FlatObjectives, start: BezierSimplex, seed: int) -> AtlasState:
        """Before the first look around."""
        points = (
            corners(start) if self.known is None else np.concatenate([corners(start), self.known])
        )
        return begin(np.asarray(self.feasible.clip(points)), start.n_objectives, seed)

    def step(self, objectives: FlatObjectives, state: AtlasState) -> tuple[AtlasState, Info]:
        """The first points, or one round of the search."""
        state = advance(objectives, self.settings, state)
        assert state.search is not None
        return state, state.search.news_of_round()

    def share_done(self, info: Info) -> float | None:
        """The share of the chart whose answers were right at the last look."""
        return info["covered"] * info.get("verified", 1.0)

    def surface(self, state: AtlasState) -> Any:
        """The patches so far; the start where there are none."""
        x = state.start[: state.n_objectives, : state.start.shape[1] - self.n_auxiliary]
        return state.atlas or BezierSimplex(x, state.n_objectives, 1)

    def with_budget(self, state: AtlasState) -> AtlasState:
        """The state of a search within this flow's budget."""
        return state.with_budget(self.budget)

    def looks_where(self, other: AbstractFlow) -> bool:
        """Whether another flow looks in the same box among the same feasible points."""
        if not isinstance(other, AtlasFlow) or self.feasible != other.feasible:
            return False
        return np.array_equal(self.box, other.box)

    def is_convex(self, state: AtlasState) -> bool:
        """Whether the problem is proved to be convex, as the user gave it: then a point with the
        right multipliers is the best one anywhere."""
        search = state.search
        return search is not None and search.program.is_convex and not self.n_auxiliary

    def with_known(self, state: AtlasState) -> AtlasState:
        """The state of a search that goes on with the designs that are known now."""
        assert self.known is not None
        return state.with_known(np.asarray(self.feasible.clip(self.known)), self.budget)

    def named(self, objectives: FlatObjectives) -> dict[str, object]:
        """The objectives and the feasible set, whose functions a file cannot hold."""
        return {"objectives": objectives, "feasible": self.feasible}

    def measure(
        self, objectives: FlatObjectives, run: Run[AtlasState], seed: int, estimate: Estimate
    ) -> ErrorEstimate | None:
        """The answers at fresh chart points against the solutions that Newton's method finds from
        them."""
        state = run.state
        if state.search is None or state.atlas is None:
            return None
        found = measure(state, seed)
        if found.patches is None:
            return _estimate(found, run, found.tol)
        alone = _estimate(found.patches, run, found.tol)
        return replace(_estimate(found, run, self.tol or SCHEDULE.solved), patches=alone)

    def rivals(self, run: Run[AtlasState], seed: int) -> np.ndarray | None:
        """Designs that were met when answers were measured, where these are beaten so often that
        the front is not covered."""
        found = run.state.measured.get(seed)
        if found is None or not _uncovered(found) or len(found.better) == 0:
            return None
        return found.better[:, : found.better.shape[1] - self.n_auxiliary]

    def explain(
        self,
        objectives: FlatObjectives,
        run: Run[AtlasState],
        error: ErrorEstimate | None,
        names: Names,
    ) -> Result:
        """What was found, for a person; then why it is an atlas, what it is made of, and how its
        answers stood at fresh chart points."""
        atlas = run.state.atlas
        because = f" because {self.why}" if self.why else ""
        if atlas is None or error is None:
            return nothing_found(run, because)
        made = (
            f"an atlas of {describe_pieces(atlas)}{because}",
            *least_together(atlas, names),
            describe_check(error),
        )
        advice = "; ".join(ADVICE.get(flag, flag.value) for flag in by_cause(error.flags))
        measured = error.front is not None
        exact = f"objectives are exact to {error.front:.2g} of their ranges" if measured else ""
        details = (*((exact,) if exact else ()), *made)
        if run.stopped is not None:
            return Result(run.stopped, run.ending, details)
        wrong = {Flag.NOT_COVERED, Flag.VIOLATED}.intersection(error.flags)
        if wrong or not measured:
            return Result(Reason.SUSPECT, advice, details)
        if error.flags:
            claim = f"The front was found, but {exact}, less than asked for: {advice}"
            return Result(Reason.NOT_AT_TOLERANCE, claim, made)
        return Result(Reason.CONVERGED, f"The whole front was found; {exact}", made)

    def evaluations(self, state: AtlasState) -> Evaluations:
        """What the search has evaluated so far."""
        return state.evaluations

    def parts(self) -> dict[str, object]:
        """Tolerance, budget and bounds, as numbers and texts."""
        return {
            "flow": "AtlasFlow",
            "n_iterations": self.n_iterations,
            "tol": self.tol,
            "budget": self.budget,
            "feasible": str(self.feasible),
            "parametrization": self.parametrization,
        }


def _uncovered(found: AtlasError) -> bool:
    """Whether too many answers do not hold."""
    few = found.coverage < SCHEDULE.well_covered
    return few or float(found.beaten.mean()) > SCHEDULE.most_beaten


def _estimate(found: AtlasError, run: Run[AtlasState], tol: float) -> ErrorEstimate:
    """What was measured, with what is wrong about it."""
    known = np.isfinite(found.distances)
    distances = found.distances[known]
    flags = [Flag.BUDGET_SPENT] if run.state.spent and run.stopped is None else []
    worst = float(found.front.max(initial=0.0))
    if _uncovered(found):
        flags.append(Flag.NOT_COVERED)
    if found.violation > SCHEDULE.violated:
        flags.append(Flag.VIOLATED)
    if worst > SCHEDULE.most_misses * tol:
        flags.append(Flag.NOT_AT_TOLERANCE)
    stated = max(SCHEDULE.stated * worst, SCHEDULE.least_stated)
    least = SCHEDULE.least_stated * found.diameter
    largest = (
        max(SCHEDULE.stated * float(distances.max(initial=0.0)), least)
        if len(distances)
        else float("nan")
    )
    return ErrorEstimate(
        rms=float(np.sqrt(np.mean(distances**2))) if len(distances) else float("nan"),
        max=largest,
        expected=3 * largest,
        diameter=found.diameter,
        n_samples=len(known),
        n_invalid=int((~known).sum()),
        residual=0.0,
        folded=0.0,
        gap=1.0,
        dominated=float(found.beaten.mean()),
        flags=tuple(flags),
        evaluations=len(known),
        front=min(stated, max(worst, 1.0)),
        coverage=found.coverage,
        violation=found.violation,
        n_probes=int(run.state.evaluations.objective),
    )


def nothing_found(run: Run[AtlasState], because: str) -> Result:
    """What to say where there is no atlas."""
    evaluations = int(run.state.evaluations.objective)
    nothing = (
        f"no part of the set was found with {evaluations} evaluations, and the start is"
        f" returned: give a larger budget. An atlas was looked for{because}"
    )
    stop = f"{run.ending}; " if run.stopped else ""
    return Result(run.stopped or Reason.SUSPECT, f"{stop}{nothing}")


def describe_pieces(atlas: BezierAtlas) -> str:
    """How many pieces of which dimension there are."""
    own = [piece for piece in atlas.pieces if not piece.face]
    words = {
        0: ("point", "points"),
        1: ("curve", "curves"),
        2: ("surface", "surfaces"),
        3: ("solid", "solids"),
    }
    counts = []
    for dimension in sorted({piece.dimension for piece in own}, reverse=True):
        n = sum(piece.dimension == dimension for piece in own)
        one, many = words.get(
            dimension, (f"piece of dimension {dimension}", f"pieces of dimension {dimension}")
        )
        counts.append(f"{n} {one if n == 1 else many}")
    return f"{', '.join(counts)} ({len(atlas.patches)} patches)"


def least_together(atlas: BezierAtlas, names: Names) -> list[str]:
    """Which objectives have a minimizer in common, in words, for each pair of more than two."""
    M, f = atlas.n_objectives, atlas.points.f
    pairs = combinations(range(M), 2) if M > 2 else ()
    return [
        f"{names.objectives[i]} and {names.objectives[j]} are least at one and the same design"
        for i, j in pairs
        if np.maximum(f[:, i], f[:, j]).min() < SCHEDULE.together
    ]


def describe_check(error: ErrorEstimate) -> str:
    """The estimate in words."""
    if error.front is None:
        return "its error could not be measured any more"
    beaten = (
        f", {error.dominated:.1%} of them better by more than {SCHEDULE.beaten:g} of their ranges"
        " elsewhere"
        if error.dominated > SCHEDULE.most_beaten
        else ""
    )
    violation = (
        f"; constraints hold to {error.violation:.1g} of their scale" if error.violation else ""
    )
    alone = (
        ""
        if error.patches is None
        else "; answers are solved for when asked, by Newton's method from patches that alone, as"
        f" in a file, are within {error.patches.front:.1g}"
    )
    return (
        f"of the answers at {error.n_samples} fresh chart points {error.coverage:.1%} hold{beaten};"
        f" designs are off by at most {error.max:.2g} on a set of diameter {error.diameter:.3g};"
        f" {error.n_probes} designs were looked at all over the box{violation}{alone}"
    )
