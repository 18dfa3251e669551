"""`Search`: designs to evaluate next, asked for and told in any order, and the surface from what was told."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..gaussian import NOISE
from ..problems import Names
from .domain import Domain, read_domain
from .evaluated import Ledger

INITIAL_SHARE = 0.3
"""The share of the budget that goes to evenly spread points first, or 2 (L + 1) points where that is more."""


class Search:
    """Ask for designs, evaluate them wherever you like, tell the values: a surface from few evaluations.

    What `ask` returns depends on the settings, the evaluations told in the order told, the points pending, the number of points
    asked for so far, and `memory`; on nothing else. `Search.restore` with the same gives the same next points to the last bit.

    Args:
        bounds: lower and upper bounds of the designs, all finite, as in `minimize`.
        n_objectives: how many values each design has.
        seed: of everything random.
        budget: how many evaluations there will be, about; None where nobody knows. The first share of them is spread evenly.
        noise: whether repeated evaluations differ: "auto" (it is learned), "none" or "some".
        names: a `bezierflow.problems.Names`, or a dict such as {"objectives": [...], "variables": [...]}.
        maximize: the objectives to be maximized, as in `minimize`. Values are told, and come back, with their own signs.
        transforms: variables by name or number with "log10" or "log", as in `minimize`.
    """

    def __init__(
        self,
        bounds: Any,
        n_objectives: int,
        *,
        seed: int = 0,
        budget: int | None = None,
        noise: str = "auto",
        names: Names | Mapping[str, Sequence[str]] | None = None,
        maximize: Any = None,
        transforms: Any = None,
    ):
        if noise not in NOISE:
            raise ValueError(f"noise must be one of {', '.join(map(repr, NOISE))}, got {noise!r}")
        if budget is not None and not (budget >= 1 and budget % 1 == 0):
            raise ValueError(f"budget must be a whole number of at least 1, or None, got {budget!r}")
        self.domain: Domain = read_domain(bounds, n_objectives, names, maximize, transforms)
        self.seed, self.budget, self.noise = int(seed), budget, noise
        self.ledger = Ledger(self.domain.n_variables, self.domain.n_objectives)
        self._memory: dict[str, Any] = {}

    @property
    def settings(self) -> dict[str, Any]:
        """What it takes to make the same search again, ready for JSON: `Search.restore(settings)`."""
        box = {"lower": self.domain.lower.tolist(), "upper": self.domain.upper.tolist()}
        names = {"n_objectives": self.domain.n_objectives, "names": self.domain.names.to_dict()}
        return {**box, **names, "seed": self.seed, "budget": self.budget, "noise": self.noise}

    @property
    def memory(self) -> dict[str, Any]:
        """What the search learned on its way and does not learn anew, ready for JSON."""
        return self._memory

    @property
    def pending(self) -> dict[int, Float[np.ndarray, " n_variables"]]:
        """The points asked for and not told yet, by their numbers: 0 for the first point ever asked for."""
        return dict(self.ledger.pending)

    @classmethod
    def restore(
        cls,
        settings: Mapping[str, Any],
        asked: Iterable[tuple[int, ArrayLike]] = (),
        told: Iterable[tuple[int | None, ArrayLike, ArrayLike | None]] = (),
        memory: Mapping[str, Any] | None = None,
    ) -> "Search":
        """A search as it was, from its journal.

        Args:
            settings: of the search that was interrupted.
            asked: the number and the design of each point that was asked for, told ones included.
            told: in the order told: the number under which it was asked for (None where nobody asked), the design, and the
                values (None where the evaluation failed).
            memory: of the search, at any moment after it was last asked.
        """
        given = dict(settings)
        names = Names.from_dict(given.pop("names"))
        search = cls((given.pop("lower"), given.pop("upper")), given.pop("n_objectives"), names=names, **given)
        for number, x in asked:
            search.ledger.pending[int(number)] = search._design(x)
            search.ledger.n_asked = max(search.ledger.n_asked, int(number) + 1)
        for number, x, y in told:
            search.ledger.tell(number, search._design(x), search._values(y))
        search._memory = dict(memory or {})
        return search

    @property
    def n_initial(self) -> int:
        """How many evenly spread points come first."""
        n = 2 * (len(self.domain.free) + 1)
        return n if self.budget is None else min(max(n, int(np.ceil(INITIAL_SHARE * self.budget))), self.budget)

    def ask(self, n: int = 1) -> Float[np.ndarray, "n n_variables"]:
        """The next n designs to evaluate, one a row. Each is pending until it is told."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
        x = self.domain.from_cube(self._spread(int(n)))
        self.ledger.ask(x)
        return x

    def tell(self, x: ArrayLike, y: ArrayLike | None) -> None:
        """Notes the values of one design (L,) with (M,), or of several, one a row, in any order; designs nobody asked for too.

        A row of values with something that is not finite, or y=None, says that the evaluation failed: it is not asked for again.
        """
        rows = np.atleast_2d(np.asarray(x, dtype=float))
        values = (
            np.full((len(rows), self.domain.n_objectives), np.nan) if y is None else np.atleast_2d(np.asarray(y, dtype=float))
        )
        if len(rows) != len(values):
            raise ValueError(f"y must have a row of values for each of the {len(rows)} designs, got shape {np.shape(y)}")
        known = [(self._design(row), self._values(one)) for row, one in zip(rows, values, strict=True)]
        for row, one in known:
            self.ledger.tell(self.ledger.number_of(row), row, one)

    def tell_failed(self, x: ArrayLike) -> None:
        """Notes that the evaluation of one or several designs failed."""
        self.tell(x, None)

    def _design(self, x: ArrayLike) -> Float[np.ndarray, " n_variables"]:
        row = np.array(x, dtype=float)
        if row.shape != (self.domain.n_variables,) or not np.isfinite(row).all():
            raise ValueError(f"x must have {self.domain.n_variables} finite numbers for each design, got {row.tolist()}")
        if (row < self.domain.lower).any() or (row > self.domain.upper).any():
            raise ValueError(f"x must lie within the bounds of the search, got {row.tolist()}")
        return row

    def _values(self, y: ArrayLike | None) -> Float[np.ndarray, " n_objectives"]:
        row = np.full(self.domain.n_objectives, np.nan) if y is None else np.array(y, dtype=float)
        if row.shape != (self.domain.n_objectives,):
            raise ValueError(f"y must have {self.domain.n_objectives} values for each design, got {row.tolist()}")
        return row

    def _spread(self, n: int) -> Float[np.ndarray, "n n_free"]:
        """Points of a low-discrepancy sequence, from the number of points asked for on."""
        from scipy.stats import qmc

        first, last = self.ledger.n_asked, self.ledger.n_asked + n
        sequence = qmc.Sobol(len(self.domain.free), rng=np.random.default_rng(self.seed))
        return sequence.random_base2((last - 1).bit_length())[first:last]
