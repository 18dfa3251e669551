"""What a person asks for, and the answer to it: objectives by name or number, bounds, points and
weights; t, design x, objective values f, and the confidence in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

import jax
import numpy as np
from jaxtyping import PyTree

from ..answer import Flag, Found, Solution, by_cause, share_bar, table
from ..arguments import read_doubles, read_number
from ..names import Names
from ..objectives import number_of

Bounds = Mapping[str | int, float | tuple[float | None, float | None]]
"""Bounds on objectives by name or number, `{"weight": 3.0, 1: (8.3, None)}`: (lowest, highest) with
None for no bound, or one number that they must not be worse than: at most that, or at least that
where an objective is maximized."""

Numbers = Mapping[str | int, float] | Sequence[float] | np.ndarray
"""A number for each objective: by name or number, or all of them in order."""


def objective_number(solution: Solution, objective: str | int, argument: str) -> int:
    """The number of an objective given by name or number."""
    return number_of(objective, solution.names.objectives, argument, "objective")


def bounds_array(
    solution: Solution, subject_to: Bounds, argument: str = "subject_to"
) -> np.ndarray:
    """The lowest and the highest value of each objective, infinite where nothing was said: (M,
    2)."""
    if not isinstance(subject_to, Mapping):
        raise TypeError(
            f"{argument} must map objectives to what they must not exceed, or to (lowest, highest),"
            f" as in {{'cost': 3.0, 'mass': (None, 2.0)}}, got {subject_to!r}"
        )
    bounds = np.tile([-np.inf, np.inf], (solution.n_objectives, 1))
    for objective, pair in subject_to.items():
        m, name = (
            objective_number(solution, objective, argument),
            f"{argument}[{objective!r}]",
        )
        if isinstance(pair, Real) and not isinstance(pair, bool | np.bool_):
            pair = (None, pair) if solution.names.signs[m] > 0 else (pair, None)
        if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise ValueError(
                f"{name} must be a number, or (lowest, highest) with None for no bound, got"
                f" {pair!r}"
            )
        wanted = "a pair of numbers, None for no bound"
        for side, limit in enumerate(pair):
            if limit is not None:
                bounds[m, side] = read_number(limit, name, wanted, lambda value: value == value)
        if not bounds[m, 0] <= bounds[m, 1]:
            raise ValueError(f"{name} must have its lowest value first, got {pair!r}")
    return bounds


def turned_bounds(bounds: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Bounds on f as bounds on f times signs, or back: where the sign is −1 the lowest value
    becomes the highest."""
    return np.where(signs[:, None] < 0, -bounds[:, ::-1], bounds)


def numbers(
    solution: Solution, given: Numbers, argument: str, default: float | np.ndarray | None = None
) -> np.ndarray:
    """One number for each objective, from a sequence, or from a mapping by name or number if there
    is a default."""
    if isinstance(given, Mapping):
        if default is None and len(given) != solution.n_objectives:
            raise ValueError(
                f"{argument} must name all {solution.n_objectives} objectives, got {list(given)}"
            )
        values = np.full(solution.n_objectives, np.nan if default is None else default)
        for objective, value in given.items():
            values[objective_number(solution, objective, argument)] = value
    else:
        values = read_doubles(given, argument, f"{solution.n_objectives} numbers, one an objective")
    if values.shape != (solution.n_objectives,) or not np.isfinite(values).all():
        raise ValueError(
            f"{argument} must hold {solution.n_objectives} finite numbers, one an objective, got"
            f" {given!r}"
        )
    return values


def nonnegative(
    solution: Solution, given: Numbers, argument: str, default: float | None = None
) -> np.ndarray:
    """Weights: none below 0, not all 0."""
    values = numbers(solution, given, argument, default)
    if (values < 0).any() or not (values > 0).any():
        raise ValueError(
            f"{argument} must hold numbers of at least 0, not all of them 0, got {given!r}"
        )
    return values


def in_words(values: np.ndarray) -> str:
    """A few numbers as a person writes them: (1, 0.5, 2.25)."""
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"


def bounds_in_words(names: Names, bounds: np.ndarray) -> str:
    """What bounds on the minimized objectives ask for: " with cost at most 3, noise at least 1", or
    nothing."""
    parts = [
        f"{name} at {word} {limit:.6g}"
        for name, limits in zip(names.objectives, turned_bounds(bounds, names.signs), strict=True)
        for word, limit in zip(("least", "most"), limits, strict=True)
        if np.isfinite(limit)
    ]
    return " with " + ", ".join(parts) if parts else ""


MOST_SHOWN = 8
"""So many variables are printed; a design may have thousands."""


@dataclass(frozen=True)
class Confidence:
    """How sure an answer is, in three parts: the surface, the objective values on it, and the
    search over it.

    Attributes:
        source: "objectives" if f is computed by the problem's own objectives at x; "fitted front"
            if it is read from the front that was fitted to them, where a file came without their
            code; "surrogate" if it is what processes in place of expensive objectives expect.
        front_error: largest error of that fitted front seen at held-out t, for each objective; 0
            for the objectives themselves; of a surrogate the RMS error of its held-out predictions.
        set_error: estimated RMS distance of the surface to the true Pareto set, in units of x.
        set_bound: three times the largest distance seen: what the true largest one is expected to
            stay below.
        flags: what is wrong with the surface, if anything.
        starts: from how many places the search started.
        agreed: how many of them ended at this answer, or at one as good.
        residual: of the first-order conditions at the answer, in units of each objective's range;
            not a number where a nearest point of an atlas was asked for.
    """

    source: str
    front_error: np.ndarray
    set_error: float
    set_bound: float
    flags: tuple[Flag, ...]
    starts: int
    agreed: int
    residual: float

    @classmethod
    def of(cls, solution: Solution, found: Found) -> "Confidence":
        """What the solution knows about itself, with how a search went."""
        M, error = solution.n_objectives, solution.error
        if solution.surrogate is not None:
            source, off = "surrogate", np.asarray(error.by_objective or [np.nan] * M, dtype=float)
        elif solution.objectives is not None:
            source, off = "objectives", np.zeros(M)
        else:
            source, off = "fitted front", solution.set.front_error(error)
        search = found.starts, found.agreed, found.residual
        return cls(source, off, float(error.rms), float(error.expected), error.flags, *search)

    def __str__(self) -> str:
        if self.source == "surrogate":
            off = ", ".join(f"{value:.2g}" for value in self.front_error)
            text = (
                f"f expected by a surrogate, whose last predictions were off by {off} (RMS) before"
                " they saw the values"
            )
        else:
            off = np.array2string(self.front_error, precision=2)
            values = {
                "objectives": "f by the problem's own objectives",
                "fitted front": f"f read from the fitted front (largest error seen {off})",
            }[self.source]
            text = (
                f"{values}; x off the true Pareto set by about {self.set_error:.2g} (RMS), expected"
                f" below {self.set_bound:.2g} everywhere; {self.agreed} of {self.starts} searches"
                " agree"
            )
        return text + "".join(f"\n    caution: {flag.value}" for flag in by_cause(self.flags))


@dataclass(frozen=True)
class Relaxation:
    """A bound that no point of the front could obey: what was asked and what the nearest answer
    has."""

    objective: str
    asked: float
    got: float

    @property
    def by(self) -> float:
        """By how much the bound was relaxed, in the objective's unit."""
        return abs(self.got - self.asked)

    def __str__(self) -> str:
        side = "at most" if self.got > self.asked else "at least"
        return (
            f"{self.objective}: asked for {side} {self.asked:.6g}, nearest is {self.got:.6g} (gives"
            f" by {self.by:.3g})"
        )


@dataclass(frozen=True)
class Choice:
    """One point of the Pareto set as the answer to a question.

    Attributes:
        question: what was asked, in words.
        t: where on the simplex, or on the chart of an atlas.
        x: the design there, shaped like x0.
        f: its objective values.
        value: the quantity that the question asks for, at the answer: of `best` the objective
            itself, else what is minimized, in which maximized objectives count with a minus sign.
        confidence: how far the answer may be off, and how the search for it went.
        relaxed: bounds that could not be met, with the nearest that could; empty if all were.
        weights: what each objective counts for at the answer, by the multipliers of the question:
            at these prices no small move along the front lowers the total, in which maximized
            objectives count with a minus sign. In units of value for each unit of the objective.
        names: of objectives and variables.
    """

    question: str
    t: np.ndarray
    x: PyTree
    f: np.ndarray
    value: float
    confidence: Confidence
    relaxed: tuple[Relaxation, ...] = ()
    weights: np.ndarray | None = field(default=None, repr=False)
    names: Names = field(default_factory=Names, repr=False)

    @property
    def feasible(self) -> bool:
        """Whether every bound was met."""
        return not self.relaxed

    def _design(self) -> str:
        """The design with the names of its variables; the first few where there are many."""
        x = [one for leaf in jax.tree.leaves(self.x) for one in np.ravel(leaf).tolist()]
        labels = self.names.variable_labels or tuple(f"x{i + 1}" for i in range(len(x)))
        shown = [
            f"{label} = {value if isinstance(value, str) else f'{value:.6g}'}"
            for label, value in zip(labels[:MOST_SHOWN], x[:MOST_SHOWN], strict=True)
        ]
        return ", ".join(shown) + (
            f", … ({len(x)} variables; choice.x has all)" if len(x) > MOST_SHOWN else ""
        )

    def _repr_html_(self) -> str:
        """For a notebook: objectives, design and confidence, beside a bar with what of t each
        objective has."""
        rows = [("question", self.question)]
        rows += [
            (label, f"{value:.6g}")
            for label, value in zip(self.names.axis_labels, self.f, strict=True)
        ]
        rows += [
            ("design", self._design()),
            ("t", np.array2string(self.t, precision=6, suppress_small=True)),
        ]
        rows += [("relaxed", str(relaxation)) for relaxation in self.relaxed]
        rows.append(("confidence", str(self.confidence)))
        return table(rows, alarm=bool(self.relaxed)) + share_bar(self.t, self.names.objectives)

    def __str__(self) -> str:
        lines = [self.question]
        lines += [
            f"  {label} = {value:.6g}"
            for label, value in zip(self.names.objective_labels, self.f, strict=True)
        ]
        lines.append(f"  x: {self._design()}")
        lines.append(f"  t = {np.array2string(self.t, precision=6, suppress_small=True)}")
        lines += [f"  relaxed: {relaxation}" for relaxation in self.relaxed]
        lines.append(f"  confidence: {self.confidence}")
        return "\n".join(lines)
