"""`Search`: designs to evaluate next, asked for and told in any order, and the surface from what
was told."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..answer import Solution
from ..arguments import or_none, read_count, read_nonnegative, read_seed
from ..bezier import Raveling
from ..gaussian import NOISE, Fit, fit_from_dict, fit_to_dict, means, stds
from ..names import Names
from ..objectives import Chosen, Transforms
from ..quiet import quiet
from ..runs import Record
from .domain import Domain, Worst, read_domain, worst_values
from .evaluated import Ledger
from .held_out import HeldOut
from .model import Model, make_model
from .proposals import Known, Wanted, propose
from .surface import Found, make_solution

DEFAULT_TOL = 1e-3
"""The held-out error and uncertainty, in units of the objectives' ranges, at which a search has
nothing left to do."""

MOSTLY_NOISE, PATIENCE = 0.5, 3
"""As long as noise explains more than this share of the variance of some objective's values, every
second point is an evenly spread one, up to so many times the number of first points: after that it
is taken for noise indeed."""


class Search:
    """Ask for designs, evaluate them wherever you like, tell the values: a surface from few
    evaluations.

    What `ask` returns depends on the settings, the evaluations told in the order told, the points
    pending, the number of points asked for so far, and `memory`; on nothing else. `Search.restore`
    with the same gives the same next points to the last bit.

    Args:
        bounds: lower and upper bounds of the designs, all finite, as in `minimize`.
        n_objectives: how many values each design has.
        seed: of everything random.
        budget: how many evaluations there will be, about; None where nobody knows.
        noise: whether repeated evaluations differ: "auto" (it is learned), "none" or "some".
        batch: how many evaluations there are between two looks at the error.
        tol: `done` when held-out error and calibrated uncertainty, in units of ranges, were below
            this for three batches.
        worst: the worst values that are of use, {"cost": 100.0} or one for each objective with None
            for any: hypervolume is looked for among designs that are expected within them, and the
            surface ends there.
        names: a `bezierflow.problems.Names`, or a dict such as {"objectives": [...], "variables":
            [...]}.
        maximize: the objectives to be maximized, as in `minimize`. Values are told, and come back,
            with their own signs.
        transforms: variables by name or number with "log10" or "log", as in `minimize`.
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
        tol: float = DEFAULT_TOL,
        worst: Worst = None,
        names: Names | Mapping[str, Sequence[str]] | None = None,
        maximize: Chosen = None,
        transforms: Transforms = None,
    ):
        if noise not in NOISE:
            raise ValueError(f"noise must be one of {', '.join(map(repr, NOISE))}, got {noise!r}")
        self.domain: Domain = read_domain(bounds, n_objectives, names, maximize, transforms)
        self.seed, self.budget, self.noise = (
            read_seed(seed),
            or_none(read_count, budget, "budget", 1),
            noise,
        )
        self.batch, self.tol = read_count(batch, "batch", 1), read_nonnegative(tol, "tol")
        self._worst = worst_values(worst, self.domain.names)
        self.ledger = Ledger(self.domain.n_variables, self.domain.n_objectives)
        self.held_out = HeldOut()
        self._fits: tuple[Fit, ...] | None = None  # of the last time it was asked
        self._fitted_on = -1  # how many evaluations were told by then
        self._model: tuple[int, Model] | None = None  # of so many evaluations

    @property
    def settings(self) -> Record:
        """What it takes to make the same search again, ready for JSON:
        `Search.restore(settings)`."""
        box = {"lower": self.domain.lower.tolist(), "upper": self.domain.upper.tolist()}
        names = {"n_objectives": self.domain.n_objectives, "names": self.domain.names.to_dict()}
        numbers = {
            "seed": self.seed,
            "budget": self.budget,
            "noise": self.noise,
            "batch": self.batch,
            "tol": self.tol,
        }
        return {**box, **names, **numbers, "worst": self.worst}

    @property
    def worst(self) -> list[float | None] | None:
        """The worst values of use, with their own signs, None where any value is; None where that
        is so for all objectives."""
        values = [
            float(value) if np.isfinite(value) else None
            for value in self.domain.names.signs * self._worst
        ]
        return values if any(value is not None for value in values) else None

    @property
    def memory(self) -> Record:
        """What the search learned on its way and does not learn anew, ready for JSON: the last fit,
        predictions, their misses."""
        fits = None if self._fits is None else [fit_to_dict(one) for one in self._fits]
        counts = {"n_told": self.ledger.n_told, "fitted_on": self._fitted_on}
        return {**counts, "fits": fits, "held_out": self.held_out.to_dict()}

    @property
    def pending(self) -> dict[int, Float[np.ndarray, " n_variables"]]:
        """The points asked for and not told yet, by their numbers: 0 for the first point ever asked
        for."""
        return dict(self.ledger.pending)

    @classmethod
    def restore(
        cls,
        settings: Record,
        asked: Iterable[Sequence[Any]] = (),
        told: Iterable[Sequence[Any]] = (),
        memory: Record | None = None,
    ) -> "Search":
        """A search as it was, from its journal.

        Args:
            settings: of the search that was interrupted.
            asked: the number and the design of each point that was asked for, told ones included.
            told: in the order told: the number under which it was asked for (None where nobody
                asked), the design, and the values (None where the evaluation failed).
            memory: of the search, at any moment after it was last asked.
        """
        given = dict(settings)
        names = Names.from_dict(given.pop("names"))
        search = cls(
            (given.pop("lower"), given.pop("upper")),
            given.pop("n_objectives"),
            names=names,
            **given,
        )
        for number, x in asked:
            search.ledger.pending[int(number)] = search._design(x)
            search.ledger.n_asked = max(search.ledger.n_asked, int(number) + 1)
        known = 0
        if memory:
            known, search._fitted_on = int(memory["n_told"]), int(memory["fitted_on"])
            search._fits = (
                None if memory["fits"] is None else tuple(map(fit_from_dict, memory["fits"]))
            )
            search.held_out = HeldOut.from_dict(memory["held_out"])
        for k, (number, x, y) in enumerate(told):
            values = search._values(y)
            search.ledger.tell(number, search._design(x), values)
            if k >= known:
                search.held_out = search.held_out.told(number, values)
        return search

    @property
    def n_initial(self) -> int:
        """How many evenly spread points come first: 2 (L + 1)."""
        n = 2 * (len(self.domain.free) + 1)
        return n if self.budget is None else min(n, self.budget)

    @property
    def done(self) -> bool:
        """Whether held-out error and calibrated uncertainty were within `tol` for three batches."""
        return self.held_out.calm(self.tol)

    @quiet()
    def ask(self, n: int = 1) -> Float[np.ndarray, "n n_variables"]:
        """The next n designs to evaluate, one a row. Each is pending until it is told."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
        n = int(n)
        spread = min(n, max(self.n_initial - self.ledger.n_told - len(self.ledger.pending), 0))
        if self._n_good < self._least_points:
            spread = n
        elif (
            spread < n and self.ledger.n_asked < PATIENCE * self.n_initial and self._is_mostly_noise
        ):
            spread = max(spread, (n + self.ledger.n_asked % 2) // 2)
        u = self._spread(spread)
        if spread < n:
            u = np.concatenate(
                [
                    u,
                    self._informed(
                        n - spread, np.random.default_rng([self.seed, self.ledger.n_asked]), u
                    ),
                ]
            )
        x = self.domain.from_cube(u)
        self.ledger.ask(x)
        return x

    @property
    def _is_mostly_noise(self) -> bool:
        """Whether what is known of some objective is mostly noise: evenly spread points may show
        more than the surrogate does."""
        return bool((np.asarray(self.model().posterior.nugget) > MOSTLY_NOISE).any())

    @property
    def _n_good(self) -> int:
        return int(self.ledger.good.sum())

    @property
    def _least_points(self) -> int:
        """So many evaluations a surrogate needs at least."""
        return len(self.domain.free) + 2

    def _informed(
        self, n: int, rng: np.random.Generator, also: np.ndarray
    ) -> Float[np.ndarray, "n n_free"]:
        """Points that the surrogate proposes, with its predictions noted, beside others that are
        asked for now."""
        model, cube, first = self.model(), self.domain.to_cube, self.ledger.n_asked + len(also)
        self._fits, self._fitted_on = model.fits, self.ledger.n_told
        pending = np.concatenate([cube(self.ledger.in_flight()), also])
        known = Known(
            cube(self.ledger.designs(good=True)), pending, cube(self.ledger.designs(good=False))
        )
        wanted = Wanted(range(first, first + n), self._worst)
        proposal = propose(model.posterior, known, wanted, self.held_out.calibration, rng)
        signs, noise = self.domain.names.signs, model.posterior.noise
        mean, std = (
            signs * means(model.posterior, proposal.u),
            np.hypot(stds(model.posterior, proposal.u), noise),
        )
        self.held_out = self.held_out.noted(
            self._n_good, proposal.span, noise, proposal.uncertainty, self.batch
        )
        for k in np.flatnonzero(proposal.on_surface):
            self.held_out = self.held_out.predicted(first + int(k), mean[k], std[k])
        return proposal.u

    def model(self) -> Model:
        """The surrogate of what was told so far: a pure function of the evaluations and of the last
        fit that was asked with."""
        if self._model is None or self._model[0] != self.ledger.n_told:
            u, values = (
                self.domain.to_cube(self.ledger.designs(good=True)),
                self.domain.names.signs * self.ledger.values(),
            )
            fits = self._fits if self._fitted_on == self.ledger.n_told else None
            self._model = self.ledger.n_told, make_model(u, values, self.noise, self._fits, fits)
        return self._model[1]

    @quiet()
    def solution(self, raveling: Raveling | None = None) -> Solution:
        """The Pareto set of the surrogate, with the held-out error of its predictions and the
        evaluations it comes from.

        Args:
            raveling: the form of designs in the solution, where that is not the flat vector.
        """
        if self._n_good < self._least_points:
            raise ValueError(
                f"a surface needs {self._least_points} evaluations at least that did not fail, got"
                f" {self._n_good}"
            )
        found = Found(
            self.domain, self.ledger, self.model().posterior, self.held_out, self._worst, self.done
        )
        return make_solution(found, self.settings, raveling)

    def tell(self, x: ArrayLike, y: Any) -> None:
        """Notes the values of one design (L,) with (M,), or of several, one a row, in any order;
        designs nobody asked for too.

        Values with something that is not finite, or None in their place, say that the evaluation
            failed: it is not asked for
        again.
        """
        single = np.ndim(x) == 1
        rows, values = ([x], [y]) if single else (list(np.asarray(x, dtype=float)), y)
        values = (
            [None] * len(rows)
            if values is None
            else list(np.asarray(values) if isinstance(values, np.ndarray) else values)
        )
        if len(rows) != len(values):
            raise ValueError(
                f"y must have values for each of the {len(rows)} designs, got {len(values)}"
            )
        known = [
            (self._design(row), self._values(one)) for row, one in zip(rows, values, strict=True)
        ]
        for row, one in known:
            number = self.ledger.number_of(row)
            self.held_out = self.held_out.told(number, one)
            self.ledger.tell(number, row, one)

    def tell_failed(self, x: ArrayLike) -> None:
        """Notes that the evaluation of one or several designs failed."""
        self.tell(x, None)

    def _design(self, x: ArrayLike) -> Float[np.ndarray, " n_variables"]:
        row = np.array(x, dtype=float)
        if row.shape != (self.domain.n_variables,) or not np.isfinite(row).all():
            raise ValueError(
                f"x must have {self.domain.n_variables} finite numbers for each design, got"
                f" {row.tolist()}"
            )
        if (row < self.domain.lower).any() or (row > self.domain.upper).any():
            raise ValueError(f"x must lie within the bounds of the search, got {row.tolist()}")
        return row

    def _values(self, y: ArrayLike | None) -> Float[np.ndarray, " n_objectives"]:
        row = np.full(self.domain.n_objectives, np.nan) if y is None else np.array(y, dtype=float)
        if row.shape != (self.domain.n_objectives,):
            raise ValueError(
                f"y must have {self.domain.n_objectives} values for each design, got {row.tolist()}"
            )
        return row

    def _spread(self, n: int) -> Float[np.ndarray, "n n_free"]:
        """Points of a low-discrepancy sequence, from the number of points asked for on."""
        from scipy.stats import qmc

        first, last = self.ledger.n_asked, self.ledger.n_asked + n
        sequence = qmc.Sobol(len(self.domain.free), rng=np.random.default_rng(self.seed))
        return sequence.random_base2((last - 1).bit_length())[first:last]
