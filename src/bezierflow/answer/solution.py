"""The answer: a Pareto set, with what is known about it."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..arguments import read_doubles, shown
from ..bezier import BezierSimplex, Manifest, Raveling, write_archive, write_atomically
from ..compilation import program
from ..names import Names, decode
from ..objectives import FeasibleSet, JaxEvaluator, Raveled, on_solver_side, raise_failures
from ..precision import double_precision, in_double_precision, is_traced
from ..quiet import quiet
from ..simplex import check_on_simplex, grid, largest_degree_within
from .atlas import Batch, BezierAtlas, Values
from .atlas_set import AtlasSet
from .certificate import Certificate, certify
from .description import as_text, columns, next_steps, summary_rows, to_csv_text, to_json_text
from .error import ErrorEstimate
from .files import to_archive
from .front import FittedFront, fit_front
from .notebook import picture, table
from .pareto_set import Found, ParetoSet, Points
from .program import Program, search
from .result import Evaluated, Result, Stats, why_not_estimated
from .schedule import SCHEDULE
from .surface_set import SurfaceSet

if TYPE_CHECKING:
    import pandas

Numbers = Sequence[float] | np.ndarray

DEFAULT_POINTS = 100
"""How many points `X`, `F` and the tables have where nothing is said."""


@dataclass(frozen=True)
class Solution:
    """A multi-objective problem's answer: a surface on the Pareto set, and how good it is.

    t is a point of the simplex Δ^{M−1}, whatever the set's shape: e_m is the minimizer of objective
    m, and a face is the Pareto set of its objectives.

    Attributes:
        pareto_set: the surface b: Δ^{M−1} → X, or an atlas of such where the set is no simplex; its
            values have the shape of x0. They are the solver's variables: where `names.transforms`
            has any, `design(t)` is what people see.
        objectives: the problem, or None for a solution from points, or from a file without it.
        names: of objectives and variables, with units, directions and transforms. All objective
            values of a solution have the user's signs.
        result: why the run stopped, in a message a person can act on.
        stats: evaluations (objective, jacobian, hessian), iterations, seconds.
        history: what the flow recorded, one row per iteration: a lifted one "movement" (RMS
            distance by which points moved) and "residual" (RMS distance by which the refit missed
            them), the normal flow "error" (held-out distance so far; NaN before there is one) and
            "degree", the weights flow "miss" (how far the surface of the degree below was from the
            minimizers at new nodes) and "degree", the atlas "covered" (share of chart points with
            an answer), "verified" (share of fresh answers that were right) and "regions" or, on a
            mesh, "nodes", "worst" (miss of a cell) and "changes" (nodes that the archive asked
            for), training on batches "loss" (what is minimized, mean over t) and the mean of each
            objective, "f1", "f2", ….
        made_by: the method, its parts and the seed.
        raveling: how x lies in a flat vector.
        known_error: the error estimate, where a run or a file brings it along; read `error`.
        known_front: the fitted front, likewise; read `fitted_front`.
        origin: what it takes to make the run again; None for a solution from a file, or where
            chance played no part.
        feasible: the bounds of the run, on flat vectors; None without bounds and from a file.
        paused: what `minimize(objectives, solution)` goes on with where the run was stopped; not in
            files.
        evaluated: of a surrogate only: the evaluations that it comes from. `objectives` are then
            the surrogate's mean.
        surrogate: the processes in place of expensive objectives, a `gaussian.PosteriorMean`; None
            where the objectives themselves were minimized.
        estimator: what estimates the error where no run or file brings it along, with
            `estimate(solution)` and, at single points, `at(solution, t)`: `NormalEstimator`.
    """

    pareto_set: BezierSimplex | BezierAtlas
    objectives: Callable[..., PyTree] | None
    names: Names
    result: Result
    stats: Stats
    history: dict[str, np.ndarray] = field(repr=False)
    made_by: Manifest = field(repr=False)
    raveling: Raveling = field(repr=False)
    known_error: ErrorEstimate | None = field(default=None, repr=False)
    known_front: FittedFront | None = field(default=None, repr=False)
    origin: Any = field(default=None, repr=False)
    feasible: FeasibleSet | None = field(default=None, repr=False)
    paused: Any = field(default=None, repr=False)
    evaluated: Evaluated | None = field(default=None, repr=False)
    surrogate: Any = field(default=None, repr=False)
    estimator: Any = field(default=None, repr=False)

    @property
    def n_objectives(self) -> int:
        """M."""
        return self.pareto_set.n_objectives

    @property
    def degree(self) -> int:
        """D."""
        return self.pareto_set.degree

    @cached_property
    def set(self) -> ParetoSet:
        """The Pareto set behind one interface, in the solver's variables and minimized objectives:
        what questions, plots and pages ask."""
        signs = self.names.signs
        if isinstance(self.pareto_set, BezierAtlas):
            exact = None if self.objectives is None else lambda t: signs * np.asarray(self.front(t))
            return AtlasSet(self.pareto_set, signs, exact)
        objectives = None if self.objectives is None else self.flat_objectives

        def fitted() -> FittedFront:
            front = self.known_front
            return front or fit_front(
                lambda t: np.asarray(self.front(t)), self.n_objectives, self.degree
            )

        return SurfaceSet(self.flat_surface, self.pareto_set, objectives, fitted, signs)

    @property
    def gradient_equivalents(self) -> float:
        """What the run cost, in gradients of one objective: a value counts a third, a Hessian as
        many as there are variables."""
        spent, M = self.stats.evaluations, self.n_objectives
        return M * float(
            spent.objective / 3 + spent.jacobian + self.raveling.n_variables * spent.hessian
        )

    def design(self, t: Batch) -> PyTree:
        """The design at t as people see it, shaped like x0: b(t), logarithms undone, texts where
        variables have them."""
        if isinstance(self.pareto_set, BezierAtlas):
            return self.pareto_set.shaped(self.flat_designs(t))
        x = self.pareto_set(t)
        return self.seen(x, np.ndim(t) - 1) if any(self.names.transforms) else x

    def _numbers(self, t: Batch) -> PyTree:
        """The design at t with numbers in place of texts: what `objectives` take."""
        if isinstance(self.pareto_set, BezierAtlas):
            return self.raveling.unravel(self.flat_designs(t))
        return self.design(t)

    def seen(self, x: PyTree, batch_axes: int = 0) -> PyTree:
        """Values of the Pareto set, with numbers in place of texts, as people see them."""
        flat = decode(self.raveling.ravel(x, batch_axes), self.names.transforms)
        if isinstance(self.pareto_set, BezierAtlas):
            return self.pareto_set.shaped(np.asarray(flat))
        return self.raveling.unravel(flat)

    def unseen(self, x: PyTree) -> PyTree:
        """A design as people see it with numbers in place of texts."""
        found = self.pareto_set
        return found.numbers(x) if isinstance(found, BezierAtlas) else x

    def flat_designs(self, t: Batch) -> Float[np.ndarray, "*batch n_variables"]:
        """`design(t)` as flat vectors of L numbers."""
        flat = decode(self.set.designs(self._rows(t)), self.names.transforms)
        return (np.asarray(flat) * self.raveling.units).reshape(*np.shape(t)[:-1], -1)

    def _rows(self, t: Batch | Numbers) -> Float[np.ndarray, "n n_objectives"]:
        """Points of the simplex, one per row."""
        check_on_simplex(np.asarray(t), self.n_objectives)
        return np.asarray(t, dtype=float).reshape(-1, self.n_objectives)

    def front(self, t: Batch) -> Batch:
        """f(b(t)): the objective values at t, or those of the fitted front where a file came
        without the objectives."""
        if self.objectives is None:
            return (self.names.signs * self.set.front(self._rows(t))).reshape(np.shape(t))
        return self._values_at(self._numbers(t), np.ndim(t) - 1)

    def _values_at(self, x: PyTree, batch_axes: int) -> Batch:
        """The objectives at designs with numbers in place of texts."""
        objectives: Any = self.objectives
        # Inside a JAX transformation of the user's, precision is the user's too.
        if is_traced(x):
            return _values(objectives, x, batch_axes)
        values = in_double_precision(_values, objectives, x, batch_axes)
        raise_failures(objectives)
        return values

    def front_std(self, t: Batch) -> Values:
        """How uncertain `front(t)` is where expensive objectives have a surrogate: standard
        deviations without noise, calibrated by held-out evaluations."""
        if self.surrogate is None:
            raise ValueError(
                "front_std is for solutions of a surrogate (bf.Surrogate, bf.Study); here front(t)"
                " is exact"
            )
        return self.surrogate.std(self._numbers(t), np.ndim(t) - 1)

    def weights(self, t: Batch) -> Values:
        """The multipliers w for which the design at t is stationary, Σ w_m ∇f_m = 0, at least 0 and
        with sum 1: maximized objectives count with a minus sign."""
        return self.set.weights(self._rows(t)).reshape(np.shape(t))

    def multipliers(self, t: Numbers) -> dict[str, float]:
        """What bounds and constraints cost at one t: by how much the weighted sum Σ w_m f_m with
        `weights(t)` would fall if each that is active gave way by one unit, largest first, by their
        names: `{"stress <= 250 MPa": 0.031, "width >= 2": 0.0}`."""
        if self.feasible is None or self.objectives is None:
            raise ValueError(
                "multipliers are those of the bounds and constraints of a run: this solution had"
                " none, or came from points or a file"
            )
        where = self._rows(t)
        if np.ndim(t) != 1:
            raise ValueError(f"t must be one point of the simplex, got shape {np.shape(t)}")
        x = self.set.designs(where)
        evaluator = JaxEvaluator(self.flat_objectives, self.n_objectives, x.shape[1])
        gradient = self.set.weights(where)[0] @ evaluator.jacobians(x).gradients[0]
        return self.feasible.multipliers(x[0], gradient)

    def t(self, f: Numbers) -> Values:
        """Where objective values lie on the simplex: `front(t(f))` = f for f on the front.

        For other f it is the point of the front that exceeds f least, or falls short of it most: it
        minimizes the largest of (f_m(t) − f_m), or (f_m − f_m(t)) where f_m is maximized, each in
        units of its range.
        """
        values = read_doubles(f, "f", f"values of {self.n_objectives} objectives, those last")
        if values.ndim == 0 or values.shape[-1] != self.n_objectives:
            raise ValueError(
                f"f must hold values of {self.n_objectives} objectives, got shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"f must hold finite numbers, got {values.tolist()}")
        rows = values.reshape(-1, self.n_objectives)
        return self.set.t(self.names.signs * rows).reshape(values.shape)

    @quiet()
    def at(
        self,
        *unnamed: object,
        weights: Numbers | None = None,
        aspiration: Numbers | None = None,
    ) -> PyTree:
        """The design for given weights, or for hoped-for objective values.

        Args:
            weights: the point of the set that minimizes Σ w_m f_m, where maximized objectives count
                with a minus sign.
            aspiration: the point whose objectives exceed these values least, or fall short of them
                most: `design(t(aspiration))`.
            *unnamed: refused, since numbers alone may mean either.
        """
        if unnamed:
            given = shown(unnamed[0])
            raise TypeError(
                f"at({given}) may mean two things: at(weights={given}) is the design that minimizes"
                f" the weighted sum, at(aspiration={given}) the one nearest to hoped-for values;"
                " design(t) is the one at a point t of the simplex"
            )
        if (weights is None) == (aspiration is None):
            raise ValueError("at needs one of weights=... and aspiration=...")
        M = self.n_objectives
        if weights is None:
            aim = read_doubles(aspiration, "aspiration", f"{M} finite numbers")
            if aim.shape != (M,) or not np.isfinite(aim).all():
                raise ValueError(f"aspiration must be {M} finite numbers, got {aim.tolist()}")
            return self.design(self.t(aim))
        w = read_doubles(weights, "weights", f"{M} numbers of at least 0")
        if w.shape != (M,) or not (np.isfinite(w).all() and w.min() >= 0 and w.sum() > 0):
            raise ValueError(
                f"weights must be {M} numbers of at least 0, not all 0, got"
                f" {np.asarray(weights).tolist()}"
            )
        # Goals are of order 1 where the largest term is measured in its range.
        unit = float(np.max(w * np.abs(self.set.scale)))
        total = Program((w / unit)[None], np.zeros(1), np.zeros((0, M)), np.zeros(0))
        return self.design(search(self.set, total).t)

    @cached_property
    def extremes(self) -> tuple[Found, ...]:
        """Where each minimized objective is least, and then where each is largest: the ideal and
        the nadir point of the front."""
        M = self.n_objectives
        rows = np.concatenate([np.eye(M), -np.eye(M)]) / np.abs(self.set.scale)
        zero, no_rows, none = np.zeros(1), rows[:0], np.zeros(0)
        return tuple(search(self.set, Program(row[None], zero, no_rows, none)) for row in rows)

    @cached_property
    def fitted_front(self) -> FittedFront:
        """The front of one surface as a surface of its own, with its measured error. Made when
        first asked for."""
        self._simplex("a fitted front; pareto_set.front(t) has the front of its patches")
        assert isinstance(self.set, SurfaceSet)
        return self.set.fitted_front

    @cached_property
    def error(self) -> ErrorEstimate:
        """The estimated distance to the true Pareto set at held-out t: `float(error)` is its RMS.
        Made when first asked for.

        It takes gradients and Hessians at a few hundred points, which `stats` does not count. Where
        these are too large or cannot be had, its numbers are not known and it has the flag
        NOT_ESTIMATED. It does not know bounds: a surface that reaches one has BOUNDS_IGNORED.
        """
        if self.known_error is not None:
            return self.known_error
        # Estimates may take longer than the run: large ones are left to `estimate_error`.
        if self.estimator is None or why_not_estimated(self.flat_objectives, self.flat_surface):
            return self._no_estimate()
        return self.estimate_error()

    def _no_estimate(self) -> ErrorEstimate:
        points = np.asarray(self.flat_surface.control_points)
        return ErrorEstimate.unknown(float(np.linalg.norm(np.ptp(points, axis=0))))

    @quiet()
    def estimate_error(self) -> ErrorEstimate:
        """The error estimate, however long it takes."""
        return self._no_estimate() if self.estimator is None else self.estimator.estimate(self)

    def certify(self) -> Certificate:
        """A proved distance to the Pareto set, for every t and both ways, where all objectives are
        smooth and strongly convex by their formulas, without bounds and constraints.

        `error` is measured at samples; this holds between them too. Takes seconds. Raises a
        ValueError or TypeError that says which hypothesis fails.
        """
        if self.feasible is not None:
            raise ValueError(
                "certify is for problems without bounds and constraints, and this run had some"
            )
        surface = self._simplex("a certificate; it is for one surface")
        f, units = self.flat_objectives, np.asarray(self.raveling.units, dtype=float)
        flat = self.flat_surface
        points = np.asarray(flat.control_points) * units
        return certify(
            lambda x: f(x / units),
            BezierSimplex(points, self.n_objectives, surface.degree),
        )

    def error_at(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, " n"]:
        """The estimated distance of b(t) to the Pareto set at each t; NaN where there is none, and
        everywhere where the Hessians that it takes are too large."""
        _ = self.flat_objectives  # raises where there are none
        return np.full(len(t), np.nan) if self.estimator is None else self.estimator.at(self, t)

    @property
    def flat_objectives(self) -> Callable[[Array], Array]:
        """What the solver minimizes: the objectives of its own flat variables, maximized ones with
        their sign changed."""
        if self.objectives is None:
            raise ValueError(
                "this solution came from points, or from a file without its objectives; load it"
                " with bf.load(path, objectives=f)"
            )
        flat = (
            self.objectives if self.raveling.is_vector else Raveled(self.objectives, self.raveling)
        )
        return on_solver_side(flat, self.names)

    @property
    def flat_surface(self) -> BezierSimplex:
        """The surface with flat vectors of L numbers for values."""
        surface = self._simplex("one surface; flat_designs(t) has its designs as flat vectors")
        with double_precision():
            points = np.asarray(self.raveling.ravel(surface.control_points, batch_axes=1))
        return BezierSimplex(points, self.n_objectives, self.degree)

    def _simplex(self, what: str) -> BezierSimplex:
        """The surface, or an error that says what an atlas has instead."""
        if isinstance(self.pareto_set, BezierAtlas):
            raise TypeError(
                f"this Pareto set is an atlas of {len(self.pareto_set.patches)} patches, which"
                f" does not have {what}"
            )
        return self.pareto_set

    @quiet()
    def spread(self, n: int) -> Points:
        """Pareto points spread evenly over the front, n of them, corners among them; objectives
        count in units of their range. Two objectives: sorted along the front.

        Chosen on the fitted front: objectives are evaluated at these points alone.
        """
        least, most = self.n_objectives, SCHEDULE.most_spread
        if not isinstance(n, int | np.integer) or not least <= n <= most:
            raise ValueError(
                f"n must be a whole number from {least} (the corners) to {most}, got {n!r}"
            )
        t = self.set.spread(int(n))
        x, found = self._numbers(t), self.pareto_set  # designs may be dear: solved for once
        F = np.asarray(self.front(t) if self.objectives is None else self._values_at(x, 1))
        if isinstance(found, BezierAtlas):
            x = found.shaped(np.asarray(self.raveling.ravel(x, 1)))
        return Points(t, x, F)

    @cached_property
    def _points(self) -> Points:
        return self.spread(max(DEFAULT_POINTS, self.n_objectives))

    @property
    def X(self) -> PyTree:
        """100 designs spread evenly over the front: `spread(100).X`, under pymoo's name."""
        return self._points.X

    @property
    def F(self) -> Float[np.ndarray, "n n_objectives"]:
        """Their objective values: `spread(100).F`."""
        return self._points.F

    @property
    def message(self) -> str:
        """Why the run stopped and what to do about it: `result.message`, under SciPy's name."""
        return self.result.message

    @property
    def success(self) -> bool:
        """Whether the answer can be used as it is: `result.success`, under SciPy's name."""
        return self.result.success

    @property
    def nfev(self) -> int:
        """How many points all objectives were evaluated at, without derivatives:
        `stats.evaluations.objective`."""
        return int(self.stats.evaluations.objective)

    @property
    def njev(self) -> int:
        """How many points the Jacobian was evaluated at: `stats.evaluations.jacobian`."""
        return int(self.stats.evaluations.jacobian)

    @property
    def nhev(self) -> int:
        """How many points the Hessians were evaluated at: `stats.evaluations.hessian`."""
        return int(self.stats.evaluations.hessian)

    @property
    def nit(self) -> int:
        """Iterations: `stats.iterations`."""
        return self.stats.iterations

    def _columns(self, n: int) -> dict[str, np.ndarray]:
        points = self.spread(n)
        return columns(points, self._designs(points), self.names)

    def _designs(self, points: Points) -> list[np.ndarray]:
        """The variables of points one by one, texts among them."""
        found = self.pareto_set
        if isinstance(found, BezierAtlas) and found.units.values:
            return found.units.seen(self.flat_designs(points.t))
        return list(np.asarray(self.raveling.plain.ravel(points.X, 1), dtype=float).T)

    def to_pandas(self, n: int = DEFAULT_POINTS) -> "pandas.DataFrame":
        """Points spread evenly over the front, n of them, as a data frame with variables,
        objectives and t. Needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "data frames need pandas: pip install 'bezierflow[interop]'"
            ) from error
        return pandas.DataFrame(self._columns(n))

    def to_csv(self, path: str | PathLike[str] | None = None, n: int = DEFAULT_POINTS) -> str:
        """The same table as CSV text, also written to a file if a path is given. The file appears
        complete or not at all."""
        text = to_csv_text(self._columns(n))
        if path is not None:
            write_atomically(path, text.encode())
        return text

    def to_json(self, path: str | PathLike[str] | None = None, n: int = DEFAULT_POINTS) -> str:
        """The same points as JSON text with "names", "X", "F" and "t", also written to a file if a
        path is given."""
        points = self.spread(n)
        text = to_json_text(points, self._designs(points), self.names)
        if path is not None:
            write_atomically(path, text.encode())
        return text

    @property
    def set_text(self) -> str:
        """What the set is, in words."""
        sizes = (self.n_objectives, "objective"), (self.raveling.n_variables, "variable")
        words = ", ".join(f"{n} {name}{'' if n == 1 else 's'}" for n, name in sizes)
        return f"{self.set.text}, {words}"

    def _summary(self) -> tuple[list[tuple[str, str]], np.ndarray]:
        """What is printed, and some dozens of points of the front. No derivative is evaluated."""
        # Most objectives are worst somewhere on the rim, of which a grid has more than the inside.
        t = grid(self.n_objectives, largest_degree_within(self.n_objectives, 60))
        F = np.asarray(self.front(t))
        known, labels = self.__dict__.get("error", self.known_error), self.names.axis_labels
        # what a surrogate's surface was made from is its mean, not the user's function
        kind = None if self.surrogate is not None else self.made_by.get("objectives")
        rows = summary_rows(self.result, self.set_text, labels, F, known, self.stats, kind)
        return [*rows, ("next", next_steps(self.result, F, self.paused is not None))], F

    def __str__(self) -> str:
        return as_text(self._summary()[0])

    def _repr_html_(self) -> str:
        rows, F = self._summary()
        return table(rows, alarm=self.result.doubtful) + picture(F, self.names.axis_labels)

    def save(self, path: str | PathLike[str], *, estimate: bool = True) -> None:
        """Writes a file that is useful without the objectives' code: both surfaces, names, error,
        how it was made.

        It appears complete or not at all. With estimate=False the error is written if it is known
        already, and not estimated.
        """
        if os.path.splitext(os.fspath(path))[1].lower() != ".bez":
            raise ValueError(
                f"path must end in .bez for a solution, got {os.fspath(path)!r};"
                " solution.pareto_set.save(path) writes the surface alone in other formats"
            )
        # A cached property that was computed lies in the instance's dictionary.
        known = self.__dict__.get("error", self.known_error)
        error = self.error if estimate else known or self._no_estimate()
        write_archive(path, *to_archive(vars(self), self.set.describe(), error))


@program
def _values(objectives: Callable, x: PyTree, batch_axes: int) -> Array:
    for _ in range(batch_axes):
        objectives = jax.vmap(objectives)
    return objectives(x)


def in_users_form(
    found: BezierSimplex | BezierAtlas,
    raveling: Raveling,
    signs: Float[np.ndarray, " n_objectives"] | None = None,
) -> tuple[BezierSimplex | BezierAtlas, Raveling]:
    """A set of flat designs with values of the user's shape, and how these lie in a flat vector.

    An atlas has its own front, which gets the user's signs, and its own units of variables.
    """
    if isinstance(found, BezierAtlas):
        units = found.units
        factor = np.concatenate([raveling.units, np.ones(units.n_auxiliary)])
        free = factor[units.free]
        units = replace(
            units,
            lower=units.lower * factor,
            upper=units.upper * factor,
            origin=units.origin * free,
            unit=units.unit * free,
        )
        shaped = replace(found, units=units, raveling=raveling.plain)
        return (shaped if signs is None else shaped.turned(signs)), raveling.plain
    points = raveling.unravel(found.control_points)
    return BezierSimplex(points, found.n_objectives, found.degree), raveling


def as_start(x0: PyTree) -> PyTree:
    """What a run starts at, given a point, a surface, an atlas or a solution: of an atlas, one of
    its designs."""
    found = x0.pareto_set if isinstance(x0, Solution) else x0
    if not isinstance(found, BezierAtlas):
        return found
    M = found.n_objectives
    rows = found.raveling.unravel(found.flat(np.full((1, M), 1 / M)))
    return BezierSimplex(rows, M, 0)
