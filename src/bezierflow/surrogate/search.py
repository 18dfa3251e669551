"""`Search`: designs to evaluate next, asked for and told in any order, and the surface from what
was told."""

import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..answer import ErrorEstimate, Evaluated, Reason, Result, Solution, Stats
from ..arguments import or_none, read_count, read_nonnegative, read_seed
from ..bezier import Raveling
from ..evaluations import Evaluations
from ..gaussian import (
    NOISE,
    Fit,
    Posterior,
    PosteriorMean,
    above_zero,
    fit_posterior,
    mean_path,
    means,
    stds,
)
from ..metrics import nondominated
from ..names import Names
from ..objectives import Chosen, Transforms, read_chosen
from ..quiet import quiet
from ..runs import Record
from .acquisition import (
    Known,
    emptiest,
    find_sets,
    is_taken,
    properly_nondominated,
    propose,
    ranges,
    useful,
)
from .domain import Domain, Steps, Worst, read_domain, worst_values
from .feasibility import Gate, Gates, chance, shortfall
from .held_out import HeldOut, what_is_wrong
from .schedule import SCHEDULE
from .surface import Within, follow, missing


class Search:
    """Ask for designs, evaluate them wherever you like, tell the values: a surface from few
    evaluations.

    What `ask` returns depends on the settings, the evaluations told in the order told, the points
    pending, the number of points asked for so far, and `memory`; on nothing else. `Search.restore`
    with the same gives the same next points to the last bit.

    Args:
        bounds: lower and upper bounds of the designs, all finite, as in `minimize`.
        n_objectives: how many objectives each design has.
        seed: of everything random.
        budget: how many evaluations there will be, about; None where nobody knows.
        noise: whether repeated evaluations differ: "auto" (it is learned), "none" or "some".
        batch: how many evaluations there are between two looks at the error.
        tol: `done` when held-out error and calibrated uncertainty, in units of ranges, were below
            this for three batches.
        worst: the worst values that are of use, as in `Surrogate`.
        steps: in which variables can be set, likewise.
        nonnegative: objectives that cannot be negative, likewise.
        n_constraints: how many values come after the objectives, at most 0 where a design keeps
            the constraints.
        values: of each variable the values that it may have, empty for any; texts stand for their
            places, 0, 1, …, and have bounds of these.
        names: a `bezierflow.problems.Names`, or a dict of its lists.
        maximize: as in `minimize`. Values are told, and come back, with their own signs.
        transforms: as in `minimize`.

    Attributes:
        domain: the box of designs, with names.
        held_out: predictions recorded before their evaluation, and their errors.
    """

    def __init__(  # noqa: PLR0913
        self,
        bounds: object,
        n_objectives: int,
        *,
        seed: int = 0,
        budget: int | None = None,
        noise: str = "auto",
        batch: int = 4,
        tol: float = SCHEDULE.tol,
        worst: Worst = None,
        steps: Steps = None,
        nonnegative: Chosen = None,
        values: Sequence[Sequence[float | str]] | None = None,
        n_constraints: int | None = None,
        names: Names | Mapping[str, Sequence[str]] | None = None,
        maximize: Chosen = None,
        transforms: Transforms = None,
    ):
        if noise not in NOISE:
            raise ValueError(f"noise must be one of {', '.join(map(repr, NOISE))}, got {noise!r}")
        named = names, maximize, transforms
        self.domain: Domain = read_domain(bounds, n_objectives, *named, steps, values)
        self.seed, self.noise = read_seed(seed), noise
        self.budget = or_none(read_count, budget, "budget", 1)
        self.batch, self.tol = read_count(batch, "batch", 1), read_nonnegative(tol, "tol")
        self._worst = worst_values(worst, self.domain.names)
        own = self.domain.names.objectives
        self.nonnegative = read_chosen(nonnegative, own, "nonnegative")
        self.n_constraints = or_none(read_count, n_constraints, "n_constraints") or 0
        self.held_out = HeldOut()
        self._pending: dict[int, np.ndarray] = {}
        self._n_asked = 0  # the next point has this number
        self._x: list[np.ndarray] = []  # the points told, in the order told
        self._y: list[np.ndarray] = []  # their values, not a number where the evaluation failed
        self._fits: tuple[Fit, ...] | None = None  # of the last time it was asked
        self._fitted_on = -1  # checksum of the evaluations that these are a fit to
        self._fitted_in_full = 0  # how many there were at the last fit from several starts
        self._model: tuple[tuple[Fit, ...], Posterior, Gates] | None = None  # of all that was told

    @property
    def settings(self) -> Record:
        """What it takes to make the same search again, ready for JSON:
        `Search.restore(settings)`."""
        names, step = self.domain.names, self.domain.step
        return {
            "lower": self.domain.lower.tolist(),
            "upper": self.domain.upper.tolist(),
            "n_objectives": len(names.objectives),
            "names": names.to_dict(),
            "seed": self.seed,
            "budget": self.budget,
            "noise": self.noise,
            "batch": self.batch,
            "tol": self.tol,
            "worst": self.worst,
            "steps": {str(names.variables[i]): float(step[i]) for i in np.flatnonzero(step)}
            or None,
            "values": [list(own) for own in self.domain.values] or None,
            "n_constraints": self.n_constraints or None,
            "nonnegative": list(self.nonnegative) if any(self.nonnegative) else None,
        }

    @property
    def worst(self) -> list[float | None] | None:
        """The worst values of use, with their own signs, None where any value is; None where that
        is so for all objectives."""
        if not np.isfinite(self._worst).any():
            return None
        values = self.domain.names.signs * self._worst
        return [float(value) if np.isfinite(value) else None for value in values]

    @property
    def memory(self) -> Record:
        """What the search learned on its way, ready for JSON: the last fit, predictions, errors."""
        fits = [{"kind": one.kind, "theta": one.theta.tolist()} for one in self._fits or ()]
        fitted = {"fitted_on": self._fitted_on, "fitted_in_full": self._fitted_in_full}
        return {**fitted, "fits": fits or None, "held_out": self.held_out.to_dict()}

    @property
    def pending(self) -> dict[int, Float[np.ndarray, " n_variables"]]:
        """The points asked for and not told yet, by their numbers from 0 on."""
        return dict(self._pending)

    @classmethod
    def restore(
        cls,
        settings: Record,
        asked: Iterable[Sequence[Any]] = (),
        told: Iterable[Sequence[Any]] = (),
        memory: Record | None = None,
        changed: Iterable[int | str | None] = (),
    ) -> "Search":
        """A search as it was, from its journal.

        Args:
            settings: of the search that was interrupted.
            asked: the number and the design of each point that was asked for, told ones included;
                None in place of a design that is not wanted any more.
            told: in the order told: its number (None where nobody asked), the design, and the
                values (None where the evaluation failed).
            memory: of the search, at any moment after it was last asked.
            changed: numbers whose values were corrected, or taken back, since then.
        """
        given = dict(settings)
        box, names = (given.pop("lower"), given.pop("upper")), Names.from_dict(given.pop("names"))
        search = cls(box, given.pop("n_objectives"), names=names, **given)
        for number, x in asked:
            search._n_asked = max(search._n_asked, int(number) + 1)
            if x is not None:
                search._pending[int(number)] = search._design(x)
        if memory:
            search._fitted_on = int(memory["fitted_on"])
            search._fitted_in_full = int(memory.get("fitted_in_full", 0))
            search.held_out = HeldOut.from_dict(memory["held_out"])
            for number in changed:
                search.held_out.reopen(number)
            if memory["fits"] is not None:
                search._fits = tuple(
                    Fit(one["kind"], np.array(one["theta"], dtype=float)) for one in memory["fits"]
                )
        for number, x, y in told:
            # of those that memory has held-out errors of, no prediction is open
            search._note(number, search._design(x), search._values(y))
        return search

    @property
    def n_initial(self) -> int:
        """How many evenly spread points come first: 2 (L + 1)."""
        n = SCHEDULE.initial * (len(self.domain.free) + 1)
        return n if self.budget is None else min(n, self.budget)

    @property
    def done(self) -> bool:
        """Whether held-out error and calibrated uncertainty were within `tol` for three batches."""
        return self.held_out.calm(self.tol)

    @property
    def _least_points(self) -> int:
        """How many evaluations a surrogate needs at least."""
        return len(self.domain.free) + 2

    @property
    def evaluated(
        self,
    ) -> tuple[Float[np.ndarray, "n n_variables"], Float[np.ndarray, "n n_objectives"]]:
        """Designs and objectives of the evaluations that did not fail, in the order told."""
        return self._told[:2]

    @property
    def _told(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same, with the values of constraints."""
        M, x = len(self.domain.names.objectives), np.reshape(self._x, (-1, len(self.domain.lower)))
        y = np.reshape(self._y, (-1, M + self.n_constraints))
        good = np.isfinite(y).all(axis=1)
        return x[good], y[good, :M], y[good, M:]

    @quiet()
    def ask(self, n: int = 1) -> Float[np.ndarray, "n n_variables"]:
        """The next n designs to evaluate, one per row. Each is pending until it is told."""
        from scipy.stats import qmc

        n, first = read_count(n, "n", 1), self._n_asked
        spread = min(n, max(self.n_initial - len(self._x) - len(self._pending), 0))
        if len(self.evaluated[0]) < self._least_points:
            spread = n
        elif spread < n and first < SCHEDULE.patience * self.n_initial:
            # Of an objective that is mostly noise, spread points may show more than the surrogate.
            nugget = np.asarray(self.model()[1].nugget)
            if (nugget > SCHEDULE.mostly_noise).any():
                spread = max(spread, (n + first % 2) // 2)
        # Points of the sequence are taken by number, so that a restored search goes on with it.
        sobol = qmc.Sobol(len(self.domain.free), rng=np.random.default_rng(self.seed))
        u = sobol.random_base2((first + spread - 1).bit_length())[first : first + spread]
        if self.domain.is_discrete:
            # Points that steps make the same as others are moved to the emptiest places.
            rng, settable = np.random.default_rng([self.seed, first, 2]), self.domain.on_steps(u)
            u = u[:0]
            for one in settable:
                known = self._known(u)
                taken = is_taken(one[None], known)[0]
                u = np.vstack([u, emptiest(known, rng, self.domain) if taken else one])
        if spread < n:
            u = np.concatenate([u, self._proposed(n - spread, u)])
        x = self.domain.rounded(self.domain.from_cube(u))
        self._pending |= enumerate(x, first)
        self._n_asked += n
        return x

    def _known(self, also: np.ndarray, gates: Gates = ()) -> Known:
        """All points, with others that are asked for now."""
        cube, (x, _, g), L = self.domain.to_cube, self._told, len(self.domain.lower)
        failed = [x for x, y in zip(self._x, self._y, strict=True) if not np.isfinite(y).all()]
        pending = [self._pending[number] for number in sorted(self._pending)]
        in_flight = np.concatenate([cube(np.reshape(pending, (-1, L))), also])
        kept = np.all(g <= 0, axis=1) if self.n_constraints else None
        return Known(cube(x), in_flight, cube(np.reshape(failed, (-1, L))), gates, kept)

    def _proposed(self, n: int, also: np.ndarray) -> Float[np.ndarray, "n n_free"]:
        """Points that the acquisition functions choose, beside others that are asked for now;
        predictions of those on the surface are recorded."""
        (fits, posterior, gates), first = self.model(), self._n_asked + len(also)
        self._fits, self._fitted_on = fits, self._checksum
        if self._needs_full_fit:
            self._fitted_in_full = len(self._x)
        known, n_good = self._known(also, gates), len(self.evaluated[0])
        # One generator per ask, by the number of points asked for: nothing random must be restored.
        rng, numbers = np.random.default_rng([self.seed, self._n_asked]), range(first, first + n)
        worst, calibration = self._worst, self.held_out.calibration
        found = propose(posterior, known, numbers, worst, calibration, rng, self.domain)
        noise = np.asarray(posterior.scale) * np.sqrt(np.asarray(posterior.nugget))
        self.held_out.note_round(n_good, found.span, noise, found.uncertainty, self.batch)
        mean = self.domain.names.signs * means(posterior, found.u)
        mean = above_zero(mean, posterior, self.nonnegative)
        std = np.hypot(stds(posterior, found.u), noise)
        # Points that explore lie where predictions are worst, and would say nothing of the surface.
        for k in np.flatnonzero(found.on_surface):
            self.held_out.predict(first + int(k), mean[k], std[k])
        return found.u

    @property
    def _needs_full_fit(self) -> bool:
        """Whether the next fit is from several starts, since it is quick or was long ago."""
        n = len(self._x)
        return n <= SCHEDULE.few or n >= SCHEDULE.growth * self._fitted_in_full

    @property
    def _checksum(self) -> int:
        """Tells whether evaluations are those of the last fit; a corrected one is another."""
        _, y, g = self._told
        return zlib.crc32(np.reshape(self._x, -1).tobytes() + y.tobytes() + g.tobytes())

    def model(self) -> tuple[tuple[Fit, ...], Posterior, Gates]:
        """Hyperparameters, posterior and gates from what was told so far; hyperparameters of
        constraints come after those of objectives, and, where evaluations have failed, those of the
        process of success last."""
        # Fits start from that of the last `ask`, not from the last one made: looking at a solution
        # in between must not change the next points.
        if self._model is None:
            M, K, gates = len(self.domain.names.objectives), self.n_constraints, ()
            (x, y, g), former = self._told, self._fits or ()
            effort = "full" if self._needs_full_fit else "quick"
            effort = "none" if self._fitted_on == self._checksum else effort
            u, values = self.domain.to_cube(x), self.domain.names.signs * y
            fits, posterior = fit_posterior(u, values, self.noise, former[:M], effort)
            if K:
                own, limits = fit_posterior(u, -g, self.noise, former[M : M + K], effort)
                fits, gates = fits + own, (Gate.of_constraints(limits),)
            if len(x) < len(self._x):
                u = self.domain.to_cube(np.array(self._x))
                good = np.isfinite(self._y).all(axis=1, keepdims=True)
                values = np.where(good, 1.0, -1.0)
                # Short lengths would say nothing about what lies between evaluations; with long
                # ones a single failure would shut off half of the box.
                least, largest = (size * np.sqrt(u.shape[1]) for size in SCHEDULE.success_lengths)
                settings = "some", former[M + K :], effort, (least, largest)
                own, success = fit_posterior(u, values, *settings)
                fits, gates = fits + own, (*gates, Gate.of_success(success))
            self._model = fits, posterior, gates
        return self._model

    def tell(self, x: ArrayLike, y: Any, number: int | str | None = None) -> None:
        """Takes the values of one design (L,) with (M,), or of several, one per row, in any order;
        designs nobody asked for too.

        Values that are not finite, or None in their place, say that the evaluation failed: it is
        not asked for again. With the `number` of a point that was asked for, it is not pending any
        more, also where the design that was evaluated is another.
        """
        rows, values = ([x], [y]) if np.ndim(x) == 1 else (list(np.asarray(x, dtype=float)), y)
        values = [None] * len(rows) if values is None else list(values)
        if len(rows) != len(values):
            raise ValueError(
                f"y must have values for each of the {len(rows)} designs, got {len(values)}"
            )
        # All are checked before the first is taken.
        known = [
            (self._design(row), self._values(one)) for row, one in zip(rows, values, strict=True)
        ]
        for row, one in known:
            # Equal to the last bit: two pending points may differ by little.
            same = (k for k, asked in self._pending.items() if np.array_equal(asked, row))
            self._note(next(same, None) if number is None else number, row, one)

    def _note(self, number: Any, x: np.ndarray, y: np.ndarray) -> None:
        asked = self._pending.pop(number, None)
        # what was evaluated elsewhere says nothing about the prediction
        as_asked = asked is not None and np.array_equal(asked, x)
        self.held_out.tell(number, y[: len(self.domain.names.objectives)] if as_asked else None)
        self._x.append(x)
        self._y.append(y)
        self._model = None

    def _design(self, x: ArrayLike) -> Float[np.ndarray, " n_variables"]:
        row, L = np.array(x, dtype=float), len(self.domain.lower)
        if row.shape != (L,) or not np.isfinite(row).all():
            raise ValueError(f"x must have {L} finite numbers for each design, got {row.tolist()}")
        if (row < self.domain.lower).any() or (row > self.domain.upper).any():
            raise ValueError(f"x must lie within the bounds of the search, got {row.tolist()}")
        return row

    def _values(self, y: ArrayLike | None) -> Float[np.ndarray, " n_objectives"]:
        n = len(self.domain.names.objectives) + self.n_constraints
        row = np.full(n, np.nan) if y is None else np.array(y, dtype=float)
        if row.shape != (n,):
            raise ValueError(f"y must have {n} values for each design, got {row.tolist()}")
        return row

    @quiet()
    def solution(self, raveling: Raveling | None = None) -> Solution:
        """The Pareto set of the posterior mean by the library's own flow, with the held-out error
        of predictions and the evaluations it comes from.

        Args:
            raveling: the form of designs in the solution, where that is not the flat vector.
        """
        (x, y, g), began = self._told, time.perf_counter()
        if len(x) < self._least_points:
            raise ValueError(
                f"a surface needs {self._least_points} evaluations at least that did not fail, got"
                f" {len(x)}"
            )
        (_, posterior, gates), domain, names = self.model(), self.domain, self.domain.names
        raveling = raveling or Raveling.of(np.zeros(len(domain.lower)))
        calibration, free = np.asarray(self.held_out.calibration), tuple(map(int, domain.free))
        place = domain.low, domain.width, calibration, free
        mean = PosteriorMean(posterior, *place, raveling, names, domain.hot, self.nonnegative)
        unit, shift = np.asarray(posterior.scale), np.asarray(posterior.shift)
        worst, u = (self._worst - shift) / unit, domain.to_cube(x)
        kept = np.all(g <= 0, axis=1)
        starts = u[kept] if kept.any() else u
        starts = starts[properly_nondominated(means(posterior, starts))]
        # a generator of its own: a solution changes nothing in the search
        rng = np.random.default_rng([self.seed, 1])
        whole = find_sets(mean_path(posterior), starts, worst, rng, gates, domain)[0]
        wrong = what_is_wrong(x, y, names, self.nonnegative)
        if shortfall(gates, whole.u).min() > SCHEDULE.slack:
            gates, lost = (), "no design is expected to be feasible: the surface is that without"
            wrong.append(f"{lost} constraints and failures; give a larger budget, or relax them")
            whole = find_sets(mean_path(posterior), starts, worst, rng, gates, domain)[0]
        part = useful(whole, worst)
        reached, span = bool((part.f <= worst).all()), ranges(part.f) * unit
        # The ends of the set are on these limits, and solvers need room around their answers.
        limit = whole.f.max(axis=0) + SCHEDULE.slack * ranges(whole.f)
        limit = np.minimum(limit, worst if reached else np.inf)
        within = Within(mean, limit * unit + shift, span, gates)
        # One round where evaluations are suspect: sets of constant objectives take long, and mean
        # nothing.
        solution = follow(within, domain, part, self.seed, 1 if wrong else None)
        if not reached:
            wrong.append(self._out_of_reach(whole.f * unit + shift, ranges(whole.f) * unit))
        limited, doubts = self._limits(part.u, kept)
        wrong += doubts
        answers = domain.to_cube(solution.flat_designs(solution.spread(SCHEDULE.n_surface).t))
        share, below = missing(posterior, float(calibration), answers, worst, rng, gates, domain)
        error, rounds = self.held_out.estimate(span, len(x)), self.held_out.rounds
        error = replace(error, missing=share, missing_below=below)
        history = np.reshape([list(one) for one in rounds], (-1, 3)).astype(float).T
        made_by = {name: self.settings[name] for name in ("seed", "noise", "budget", "worst")}
        made_by |= limited
        # of the evaluations that keep the constraints
        best, rows = np.zeros(len(y), dtype=bool), np.flatnonzero(kept)
        best[rows[nondominated(names.signs * y[rows])]] = True
        n_told, seconds = len(self._x), time.perf_counter() - began
        # The flow's own error estimate is that of following the mean, however wrong the mean is:
        # it is replaced by that of held-out evaluations.
        return replace(
            solution,
            result=self._judged(solution.result, error, wrong, limited),
            stats=Stats(Evaluations(n_told, 0, 0), len(rounds), seconds),
            history=dict(zip(("evaluations", "error", "uncertainty"), history, strict=True)),
            made_by={**solution.made_by, "method": "surrogate", **made_by},
            known_error=error,
            evaluated=Evaluated(raveling.unravel(x), y, best),
            surrogate=mean,
            paused=None,  # going on with the flow would not make the mean any better
        )

    def _limits(
        self, u: Float[np.ndarray, "n n_free"], kept: np.ndarray
    ) -> tuple[dict[str, float], list[str]]:
        """Which shares of the surface lie along designs that are expected to fail, and along
        constraints, and the probability that its designs are feasible; and sentences where nothing
        feasible is known or expected."""
        found, wrong, gates = {"limited": 0.0}, [], self.model()[2]
        if not kept.any():
            wrong.append(
                f"none of {len(kept)} evaluations keeps the constraints: give a larger budget, or"
                " relax them"
            )
        for posterior, level, unit in gates:
            expected, of_failures = means(posterior, u), bool(np.any(level))
            above = ((expected - level) / unit).min(axis=1)
            share = float(np.mean(above < SCHEDULE.at_the_edge))
            found["limited" if of_failures else "constrained"] = share
            if of_failures and expected.max() < 0:
                wrong.append("evaluations are expected to fail on the whole surface")
        if gates:
            found["probability"] = float(chance(gates, u).mean())
        return found, wrong

    def _out_of_reach(self, f: np.ndarray, span: np.ndarray) -> str:
        """That no design is expected within the worst values of use, with what the nearest one of
        the set, with values f and ranges `span`, is expected to have."""
        names, worst = self.domain.names, self._worst
        limited = np.flatnonzero(np.isfinite(worst))
        excess = (f[:, limited] - worst[limited]) / span[limited]
        nearest = names.signs * f[int(np.argmin(excess.max(axis=1)))]
        has = ", ".join(
            f"{names.objectives[m]} {nearest[m]:.4g} (worst: {names.signs[m] * worst[m]:.4g})"
            for m in limited
        )
        return (
            f"no design is expected within worst, the nearest one has {has}: the surface is that"
            " without it; give worse values"
        )

    def _judged(
        self, flow: Result, error: ErrorEstimate, wrong: list[str], limited: Mapping[str, float]
    ) -> Result:
        """What the surface is worth: first what is wrong, then what held-out evaluations say, and
        which share of it ends where evaluations fail."""
        n_good, labels = len(self.evaluated[0]), self.domain.names.objective_labels
        n_failed, doubts = len(self._x) - n_good, list(wrong)
        notes = [f"{n_good} evaluations" + (f" ({n_failed} more failed)" if n_failed else "")]
        if error.by_objective is None:
            notes.append("no prediction has been put to the test yet, so the error is not known")
        else:
            off = ", ".join(
                f"{name} {value:.2g}"
                for name, value in zip(labels, error.by_objective, strict=True)
            )
            notes.append(
                f"the last {error.n_samples} on the surface were predicted, unseen, with RMS"
                f" errors of {off} ({error.rms:.2g} of the ranges)"
            )
        notes.append(
            f"{error.missing:.2%} of the front's hypervolume is expected to be missing, and less"
            f" than {error.missing_below:.2%} with a confidence of {SCHEDULE.confidence:.0%}"
        )
        if n_failed:
            share = f"{limited['limited']:.0%} of the front lies along designs"
            notes.append(f"{share} that are expected to fail")
        if self.n_constraints:
            share = f"{limited['constrained']:.0%} of the front lies along constraints"
            odds = f"{limited['probability']:.0%}"
            notes.append(f"{share}, and its designs keep them with a probability of {odds}")
        if error.rms > SCHEDULE.far_off:
            doubts.append(
                "predictions of evaluations on the surface are far off: give a larger budget or"
                " narrower bounds"
            )
        if self.held_out.calibration > SCHEDULE.overconfident:
            doubts.append(
                f"predictions miss by {self.held_out.calibration:.1f} standard deviations: the"
                " objectives may jump or have kinks"
            )
        if flow.doubtful:
            doubts.append(f"the surface of the surrogate is suspect ({flow.message})")
        result = Result(Reason.CONVERGED if self.done else Reason.ITERATION_LIMIT, "", tuple(notes))
        return result.doubted("; ".join(doubts)) if doubts else result
