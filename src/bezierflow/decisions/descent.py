"""From starting points to local solutions of questions, all at once, by sequential quadratic programming."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ..simplex import tangent_basis
from .front_map import AbstractFrontMap
from .minimax import FEASIBLE, End, Programs
from .questions import Place, Questions, every, only, some, where
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


class _Progress(NamedTuple):
    """How far each search is.

    Attributes:
        number: which search it is.
        share: of a step that it takes next.
        strayed: for how many steps it has found no better place.
        idle: for how many steps none promised anything.
        gain: what the step from its best place promised.
        least: the least residual so far.
        penalty: ρ of the model, which gives up bounds that cannot be met.
        price: what violation costs when a step is judged, hardly more than bounds turn out to be worth.
    """

    number: Int[np.ndarray, " n"]
    share: Float[np.ndarray, " n"]
    strayed: Int[np.ndarray, " n"]
    idle: Int[np.ndarray, " n"]
    gain: Float[np.ndarray, " n"]
    least: Float[np.ndarray, " n"]
    penalty: Float[np.ndarray, " n"]
    price: Float[np.ndarray, " n"]

    @classmethod
    def begin(cls, residual: Float[np.ndarray, " n"], trust: float) -> "_Progress":
        """At the start of searches, from places with these residuals; no step is taken where that is too large to be trusted."""
        n = len(residual)
        nothing, zeros = np.zeros(n, dtype=int), np.zeros(n)
        return cls(
            np.arange(n),
            np.where(residual <= trust, 1.0, 0.0),
            nothing,
            nothing,
            zeros,
            residual,
            np.full(n, PENALTIES[0]),
            zeros,
        )


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
    best = here = questions.look(starts, questions.equal_duals() if fresh else duals, expansions)  # type: ignore[arg-type]
    go = _Progress.begin(here.residual, trust)
    nearby = np.stack([end.t for end in known]) if known else None
    for step_number in range(MOST_STEPS + 1):
        go, done = _done(go, here, tol)
        joins = np.zeros_like(done) if nearby is None else np.abs(here.t - nearby[go.number]).max(axis=1) < JOINS
        done |= joins | (step_number == MOST_STEPS)
        if 2 * np.count_nonzero(done) >= len(done):  # while they are few, those that are done stay where they are
            last = here if every(here.residual[done] <= tol) else where(here.residual <= tol, here, best)
            for k in np.flatnonzero(done).tolist():
                ends[go.number[k]] = known[go.number[k]] if joins[k] else last.end(k)
            if every(done):
                break
            left, done = ~done, np.zeros(np.count_nonzero(~done), dtype=bool)
            questions, best, here, go = questions.only(left), only(best, left), only(here, left), only(go, left)
        v, counts = step(questions, here, go.penalty, fresh and not step_number)
        there = questions.look(_moved(here.t, go.share[:, None] * v), counts)
        go, better, back = _judge(questions, go, best, here, there, v)
        best = there if every(better) else where(better, there, best)
        next_place = where(back, best, there) if some(back) else there
        if some(done):
            here, go = where(done, here, next_place), go._replace(share=np.where(done, 0.0, go.share))
        else:
            here = next_place
    return ends


def _done(go: _Progress, here: Place, tol: float) -> tuple[_Progress, Bool[np.ndarray, " n"]]:
    """Which searches have arrived or can go no farther; where that leaves a bound broken, a larger penalty is tried first."""
    done = (here.residual <= tol) | (go.idle > 1) | (go.share < SHORTEST)
    breaks = here.violation > max(FEASIBLE, tol)
    if not some(breaks) or not some(done):
        return go, done
    broken = done & breaks & (go.penalty < PENALTIES[-1])
    penalty, share = np.where(broken, PENALTIES[-1], go.penalty), np.where(broken, 1.0, go.share)
    return go._replace(penalty=penalty, share=share, idle=np.where(broken, 0, go.idle)), done & ~broken


def _judge(
    questions: Questions, go: _Progress, best: Place, here: Place, there: Place, v: np.ndarray
) -> tuple[_Progress, Bool[np.ndarray, " n"], Bool[np.ndarray, " n"]]:
    """How to go on, and which searches came to a better place, and which have to go back to their best one.

    A few steps may lead uphill, since a curved valley is not followed downhill by straight steps; if that comes to nothing, the
    step from the best place is made shorter (Chamberlain, Powell, Lemarechal and Pedersen, "The watchdog technique for forcing
    convergence in algorithms for constrained optimization", Math. Programming Studies 16, 1982).
    """
    halved = there.residual <= go.least / 2  # which cannot happen again and again, as a place could be found better in turn
    if every(halved):
        nothing = np.zeros_like(go.idle)
        again = go._replace(share=np.ones_like(go.share), strayed=nothing, idle=nothing, least=there.residual)
        return again, halved, nothing > 0
    price, n_goals, n_rows = go.price, questions.n_goals, questions.n_rows
    ahead = here.excess[:, :n_rows] + (here.slopes[:, :n_rows, :-1] @ v[..., None])[..., 0]
    gain, gained = -ahead[:, :n_goals].max(axis=1), best.goal - there.goal
    if n_rows > n_goals:
        price = np.maximum(price, 2 * there.duals[:, n_goals:n_rows].sum(axis=1))
        gain += price * (here.violation - ahead[:, n_goals:].max(axis=1, initial=0.0))
        gained += price * (best.violation - there.violation)
    first = (go.strayed == 0) | (go.share < 1)
    promised = np.where(first, gain, go.gain)
    better = ((gained > 0) & (gained >= SUFFICIENT * go.share * promised)) | halved
    back = ~better & ((go.strayed >= MOST_STRAY) | (go.share < 1))
    share = np.where(back, SHORTER * go.share, 1.0)
    strayed, idle = np.where(better | back, 0, go.strayed + 1), np.where((gain <= IDLE) & ~halved, go.idle + 1, 0)
    least = np.minimum(go.least, there.residual)
    return _Progress(go.number, share, strayed, idle, promised, least, go.penalty, price), better, back


def _moved(t: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The points of the simplex so far along it."""
    t = t + v @ tangent_basis(t.shape[1]).T
    t[t < NOTHING] = 0.0
    return t / t.sum(axis=1, keepdims=True)
