"""From starting points to local solutions of questions, all at once, by sequential quadratic programming."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ..simplex import tangent_basis
from .front_map import AbstractFrontMap
from .minimax import FEASIBLE, End, Programs
from .questions import Place, Questions, only
from .steps import step

MOST_STEPS = 30
"""Steps at most from one starting point; from a point of the grid it takes three or four, from the guide's end one."""

TOL = 2e-9
"""A search has arrived when no residual of the first-order conditions is larger, in units of ranges."""

NOTHING = 1e-10
"""A coordinate of t that is smaller is 0."""

IDLE = 1e-11
"""A step that promises less is none."""

SUFFICIENT = 1e-3
"""The share of what a step promises that it has to keep."""

SHORTER, SHORTEST = 0.25, 1e-3
"""By how much a step that broke its promise is shortened, and where that ends."""

MOST_STRAY = 2
"""So many steps in a row may lead to no better place."""

JOINS = 0.004
"""A search this close to where another one ended is in the same basin, where Newton's method knows only one way."""

PENALTIES = (30.0, 1e4)
"""ρ, and a larger one to try where the first leaves a bound broken: a bound may be worth that much near a corner."""


@dataclass(slots=True)
class _Search:
    """How far one search is. There are few of them, and a few plain numbers are faster to compare than arrays are.

    Attributes:
        number: which search it is.
        place: its best place is among these,
        row: as this one.
        goal: there.
        violation: there.
        least: the least residual so far.
        share: of a step that it takes next.
        over: whether it is; while they are few, those that are stay among the others.
        strayed: for how many steps it has found no better place.
        idle: for how many steps none promised anything.
        gain: what the step from its best place promised.
        penalty: ρ of the model, which gives up bounds that cannot be met.
        price: what violation costs when a step is judged, hardly more than bounds turn out to be worth.
    """

    number: int
    place: Place
    row: int
    goal: float
    violation: float
    least: float
    share: float = 1.0
    over: bool = False
    strayed: int = 0
    idle: int = 0
    gain: float = 0.0
    penalty: float = PENALTIES[0]
    price: float = 0.0

    def found(self, place: Place, row: int, goal: float, violation: float) -> None:
        """A better place."""
        self.place, self.row, self.goal, self.violation = place, row, goal, violation
        self.strayed = 0

    def arrived(self, residual: float, violation: float, tol: float) -> bool:
        """Whether it has, or can go no farther; where that leaves a bound broken, a larger penalty is tried first."""
        if residual > tol and self.idle <= 1 and self.share >= SHORTEST:
            return False
        if violation > max(FEASIBLE, tol) and self.penalty < PENALTIES[-1]:
            self.penalty, self.share, self.idle = PENALTIES[-1], 1.0, 0
            return False
        return True


def descend(
    front: AbstractFrontMap,
    programs: Programs,
    which: Int[np.ndarray, " n"],
    starts: Float[np.ndarray, "n n_objectives"],
    duals: Float[np.ndarray, "n n_constraints"] | None = None,
    tol: float = TOL,
    known: Sequence[End] = (),
    trust: float = np.inf,
    expansions: Float[np.ndarray, "n n_values width"] | None = None,
) -> list[End]:
    """A local solution from each start.

    Args:
        front: the front.
        programs: the questions.
        which: the number of the question that each start is for.
        starts: where to begin.
        duals: of goals, bounds and −t ≤ 0, as far as they are known.
        tol: the residual with which a search has arrived.
        known: an end for each start; a search that comes close to it has arrived there.
        trust: a start with a larger residual is an end as it is.
        expansions: of the front at the starts, if they are known.
    """
    if not len(starts):
        return []
    ends: list[End] = [None] * len(starts)  # type: ignore[list-item]
    questions, fresh = Questions(front, programs, which, starts.shape[1]), duals is None
    here = questions.look(starts, questions.equal_duals() if fresh else duals, expansions)  # type: ignore[arg-type]
    begun = zip(here.goal.tolist(), here.violation.tolist(), here.residual.tolist(), strict=True)
    searches = [_Search(k, here, k, *one, share=1.0 if one[2] <= trust else 0.0) for k, one in enumerate(begun)]
    nearby = np.stack([end.t for end in known]) if known else None
    for step_number in range(MOST_STEPS + 1):
        close = [] if nearby is None else np.abs(here.t - nearby[[one.number for one in searches]]).max(axis=1).tolist()
        for k, (search, residual, violation) in enumerate(
            zip(searches, here.residual.tolist(), here.violation.tolist(), strict=True)
        ):
            joins = bool(close) and close[k] < JOINS
            if not search.over and (search.arrived(residual, violation, tol) or joins or step_number == MOST_STEPS):
                place, row = (here, k) if residual <= tol else (search.place, search.row)
                ends[search.number] = known[search.number] if joins else place.end(row)
                search.over = True
        going = [k for k, search in enumerate(searches) if not search.over]
        if not going:
            break
        if 2 * len(going) <= len(searches):
            questions, here, searches = questions.only(going), only(here, going), [searches[k] for k in going]
        v, counts = step(questions, here, np.array([search.penalty for search in searches]), fresh and not step_number)
        shares = np.array([[search.share] for search in searches])
        there = questions.look(_moved(here.t, shares * v), counts)
        here = _judged(questions, searches, here, there, v)
    return ends


def _judged(questions: Questions, searches: list[_Search], here: Place, there: Place, v: np.ndarray) -> Place:
    """Where searches go on from: from there, or from their best place again.

    A few steps may lead uphill, since a curved valley is not followed downhill by straight steps; if that comes to nothing, the
    step from the best place is made shorter (Chamberlain, Powell, Lemarechal and Pedersen, "The watchdog technique for forcing
    convergence in algorithms for constrained optimization", Math. Programming Studies 16, 1982).
    """
    residuals, goals, violations = there.residual.tolist(), there.goal.tolist(), there.violation.tolist()
    # A residual that was halved is progress, too, and cannot come about again and again, as two places could be better in turn.
    halved = [residual <= search.least / 2 for search, residual in zip(searches, residuals, strict=True)]
    promises = None if all(halved) else _promises(questions, here, there, v)
    back = []
    for k, search in enumerate(searches):
        better, gain = halved[k], np.inf
        if promises is not None:
            gain, eased, worth = promises[k]
            search.price = max(search.price, worth)
            gain += search.price * eased
            gained = search.goal - goals[k] + search.price * (search.violation - violations[k])
            if search.strayed == 0 or search.share < 1:
                search.gain = gain
            better = better or (gained > 0 and gained >= SUFFICIENT * search.share * search.gain)
        search.idle = search.idle + 1 if gain <= IDLE and not halved[k] else 0
        search.least = min(search.least, residuals[k])
        if better:
            search.found(there, k, goals[k], violations[k])
        elif search.strayed >= MOST_STRAY or search.share < 1:
            search.strayed, search.share = 0, SHORTER * search.share
            back.append(k)
            continue
        else:
            search.strayed += 1
        search.share = 1.0
    return _with_best(there, searches, back) if back else there


def _promises(questions: Questions, here: Place, there: Place, v: np.ndarray) -> list[tuple[float, float, float]]:
    """For each step by how much it was to lower the goal and to ease the violation, and twice what bounds are worth after it."""
    n_goals, n_rows = questions.n_goals, questions.n_rows
    ahead = here.excess[:, :n_rows] + (here.slopes[:, :n_rows, :-1] @ v[..., None])[..., 0]
    gains = (-ahead[:, :n_goals].max(axis=1)).tolist()
    if n_rows == n_goals:
        return [(gain, 0.0, 0.0) for gain in gains]
    eased = (here.violation - ahead[:, n_goals:].max(axis=1, initial=0.0)).tolist()
    return list(zip(gains, eased, (2 * there.duals[:, n_goals:n_rows].sum(axis=1)).tolist(), strict=True))


def _with_best(places: Place, searches: list[_Search], which: list[int]) -> Place:
    """The places, but for some searches their best ones."""
    parts = [part.copy() for part in places]
    for k in which:
        for part, theirs in zip(parts, searches[k].place, strict=True):
            part[k] = theirs[searches[k].row]
    return Place(*parts)


def _moved(t: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The points of the simplex so far along it."""
    t = t + v @ tangent_basis(t.shape[1]).T
    t[t < NOTHING] = 0.0
    return t / t.sum(axis=1, keepdims=True)
