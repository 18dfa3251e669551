"""The answer: a surface on the Pareto set, with what is known about it."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import jax
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..arguments import read_doubles
from ..bezier import (
    BezierSimplex,
    Manifest,
    Raveling,
    write_archive,
)
from ..compilation import program
from ..names import Names, decode
from ..objectives import FeasibleSet, JaxEvaluator, Raveled, on_solver_side, raise_failures
from ..precision import double_precision, in_double_precision, is_traced
from ..quiet import quiet
from ..simplex import check_on_simplex
from .atlas import BezierAtlas
from .description import Description
from .error_estimate import ErrorEstimate
from .evaluated import Evaluated
from .front import FittedFront, fit_front
from .result import Result, Stats
from .solution_file import Fields, to_archive
from .spread import LARGEST_SPREAD, Points, coarse_t, spread_chart, spread_t
from .tables import columns, to_csv_text, to_frame, to_json_text, write_text
from .verdict import why_not_estimated
from .walking import lowest_total
from .weights_of_points import multipliers, t_for_aspiration, t_for_weights

if TYPE_CHECKING:
    import pandas

Numbers = Sequence[float] | np.ndarray

DEFAULT_POINTS = 100
"""How many points `X`, `F` and the tables have where nothing is said."""


@runtime_checkable
class Estimator(Protocol):
    """What estimates the error of a solution that came without one; `bezierflow.normal` has it."""

    def estimate(self, solution: "Solution") -> ErrorEstimate:
        """The error at held-out t, however long that takes."""
        ...

    def at(
        self, solution: "Solution", t: Float[np.ndarray, "n n_objectives"]
    ) -> Float[np.ndarray, " n"]:
        """The distance to the Pareto set at each t; not a number where there is none."""
        ...


@runtime_checkable
class StandIn(Protocol):
    """What stands for expensive objectives: their expected values, and how uncertain these are."""

    def std(self, x: PyTree, batch_axes: int = 0) -> Float[np.ndarray, "*batch n_objectives"]:
        """Standard deviations of the values at designs."""
        ...


@dataclass(frozen=True)
class Solution:
    """A multi-objective problem's answer: a surface on the Pareto set, and how good it is.

    Attributes:
        pareto_set: the surface b: Δ^{M−1} → X, or an atlas of such over one chart where the set is
            no simplex; its values have the shape of x0. What is called t below are then chart
            points, `pareto_set.chart(f)` of objective values. Its values are the solver's
            variables; where `names.transforms` has any, `design(t)` is what people see.
        objectives: the problem, or None for a solution from points, or from a file without it.
        names: names and units of objectives and variables, with directions and transforms. All
            objective values of a solution have the user's signs.
        result: why the run stopped, in a message a person can act on.
        stats: evaluations (objective, jacobian, hessian), iterations, seconds.
        history: what the flow recorded, iteration by iteration: a lifted one "movement" (RMS
            distance by which points moved) and "residual" (RMS distance by which the refit missed
            them), the normal flow "error" (held-out distance so far; not a number before there is
            one) and "degree", the weights flow "miss" (how far the surface of the degree below was
            from the minimizers at new nodes) and "degree", the atlas "covered" (share of chart
            points with an answer), "verified" (share of fresh answers that were right) and
            "regions", training on batches "loss" (what is minimized, mean over t) and the mean of
            each objective, "f1", "f2", ….
        made_by: the method, its parts and the seed.
        raveling: how x lies in a flat vector.
        known_error: the error estimate, where a run or a file brings it along; read `error`.
        known_front: the fitted front, likewise; read `fitted_front`.
        origin: what it takes to make the run again; None for a solution from a file, or where
            chance played no part.
        feasible: the bounds of the run, on flat vectors; None where there were none, and for a
            solution from a file.
        paused: what `minimize(objectives, solution)` goes on with where the run was stopped; not in
            files.
        evaluated: of a surrogate only: the evaluations that it comes from. `objectives` are then
            the surrogate's mean.
        surrogate: the processes in place of expensive objectives; None where the objectives
            themselves were minimized.
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
    surrogate: StandIn | None = field(default=None, repr=False)
    estimator: Estimator | None = field(default=None, repr=False)

    @property
    def n_objectives(self) -> int:
        """M."""
        return self.pareto_set.n_objectives

    @property
    def degree(self) -> int:
        """D."""
        return self.pareto_set.degree

    @property
    def gradient_equivalents(self) -> float:
        """What the run cost, in gradients of one objective: a value counts a third, a Hessian as
        many as there are variables."""
        spent, M = self.stats.evaluations, self.n_objectives
        return M * float(
            spent.objective / 3 + spent.jacobian + self.raveling.n_variables * spent.hessian
        )

    def design(self, t: Float[Array | np.ndarray, "*batch n_objectives"]) -> PyTree:
        """The design at t as people see it, shaped like x0: b(t), but for variables that the solver
        saw by their logarithms."""
        x = self.pareto_set(t)
        return self.seen(x, np.ndim(t) - 1) if any(self.names.transforms) else x

    def seen(self, x: PyTree, batch_axes: int = 0) -> PyTree:
        """Values of the Pareto set as people see them."""
        flat = self.raveling.ravel(x, batch_axes)
        return self.raveling.unravel(decode(flat, self.names.transforms))

    def flat_designs(
        self, t: Float[np.ndarray, "*batch n_objectives"]
    ) -> Float[np.ndarray, "*batch n_variables"]:
        """`design(t)` as flat vectors of L numbers."""
        flat = (
            self.pareto_set.flat(t)
            if isinstance(self.pareto_set, BezierAtlas)
            else self.flat_surface(t)
        )
        return np.asarray(decode(np.asarray(flat), self.names.transforms)) * self.raveling.units

    def front(
        self, t: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[Array | np.ndarray, "*batch n_objectives"]:
        """f(b(t)): the objective values at t, or those of the fitted front where a file came
        without the objectives."""
        if self.objectives is None:
            return (
                self.pareto_set.front(t)
                if isinstance(self.pareto_set, BezierAtlas)
                else self.fitted_front.surface(t)
            )
        x = self.design(t)
        if is_traced(x):
            return _values(self.objectives, x, np.ndim(t) - 1)
        values = in_double_precision(_values, self.objectives, x, np.ndim(t) - 1)
        raise_failures(self.objectives)
        return values

    def front_std(
        self, t: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[np.ndarray, "*batch n_objectives"]:
        """How uncertain `front(t)` is where expensive objectives have a surrogate: calibrated
        standard deviations, without noise.

        They are those of the processes, multiplied by what held-out evaluations call for.
        """
        if self.surrogate is None:
            raise ValueError(
                "front_std is for solutions of a surrogate (bf.Surrogate, bf.Study); here front(t)"
                " is exact"
            )
        return self.surrogate.std(self.design(t), np.ndim(t) - 1)

    @cached_property
    def fitted_front(self) -> FittedFront:
        """The front as a surface of its own, t ↦ f(b(t)), with its measured error. Made when first
        asked for."""
        self._simplex("a fitted front; pareto_set.front(a) has the front of its patches")
        return self.known_front or fit_front(
            lambda t: np.asarray(self.front(t)), self.n_objectives, self.degree
        )

    @cached_property
    def error(self) -> ErrorEstimate:
        """The estimated distance to the true Pareto set at held-out t: `float(error)` is its RMS.
        Made when first asked for.

        It needs gradients and Hessians of the objectives at a few hundred points, which `stats`
        does not count. Where these are too large or cannot be had, its numbers are not known and it
        has the flag NOT_ESTIMATED. It does not know bounds: where the surface reaches one, the
        estimate has the flag BOUNDS_IGNORED.
        """
        if self.known_error is not None:
            return self.known_error
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

    def error_at(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, " n"]:
        """The estimated distance of b(t) to the Pareto set at each t; NaN where there is none.

        It needs the objectives' gradients and Hessians at all t, and is no number anywhere where
        these are too large. `error` sums up the same at held-out t, with many variables too.
        """
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
        surface = self._simplex("one surface; pareto_set.flat(a) has its designs as flat vectors")
        with double_precision():
            points = np.asarray(self.raveling.ravel(surface.control_points, batch_axes=1))
        return BezierSimplex(points, self.n_objectives, self.degree)

    def _simplex(self, what: str) -> BezierSimplex:
        """The surface, or an error that says what an atlas has instead."""
        if isinstance(self.pareto_set, BezierAtlas):
            raise TypeError(
                f"this Pareto set is an atlas of {len(self.pareto_set.patches)} patches, which has"
                f" not {what}"
            )
        return self.pareto_set

    def multipliers(
        self, t: Float[Array | np.ndarray, "*batch n_objectives"]
    ) -> Float[np.ndarray, "*batch n_objectives"]:
        """The weights w for which b(t) is stationary, Σ w_m ∇f_m(b(t)) = 0: what t means where the
        parametrization is free.

        Maximized objectives count with a minus sign: no weight is below 0.
        """
        t = np.asarray(t, dtype=float)
        if isinstance(self.pareto_set, BezierAtlas):
            return self.pareto_set.weights(t)
        check_on_simplex(t, self.n_objectives)
        return multipliers(
            self.flat_objectives, self.flat_surface, t.reshape(-1, t.shape[-1])
        ).reshape(t.shape)

    @quiet()
    def at(self, *, weights: Numbers | None = None, aspiration: Numbers | None = None) -> PyTree:
        """The design for given weights, or for hoped-for objective values, whatever t means.

        Args:
            weights: the point of the set that minimizes Σ w_m f_m, where maximized objectives count
                with a minus sign.
            aspiration: the point whose objectives exceed these values least, or fall short of them
                most: it minimizes the largest of (f_m − a_m), or (a_m − f_m) where f_m is
                maximized, each in units of its range over the front.
        """
        if (weights is None) == (aspiration is None):
            raise ValueError("at needs one of weights=... and aspiration=...")
        return self.design(
            self._t_for_aspiration(aspiration) if weights is None else self._t_for_weights(weights)
        )

    def _t_for_weights(self, weights: object) -> Float[np.ndarray, " n_objectives"]:
        w = read_doubles(weights, "weights", f"{self.n_objectives} numbers of at least 0")
        if w.shape != (self.n_objectives,) or not (
            np.isfinite(w).all() and w.min() >= 0 and w.sum() > 0
        ):
            raise ValueError(
                f"weights must be {self.n_objectives} numbers of at least 0, not all 0, got"
                f" {np.asarray(weights).tolist()}"
            )
        if isinstance(self.pareto_set, BezierAtlas):
            return lowest_total(self.pareto_set.turned(self.names.signs), w / w.sum())
        return t_for_weights(self._minimized, self._front_slope, self.n_objectives, w / w.sum())

    def _t_for_aspiration(self, aspiration: object) -> Float[np.ndarray, " n_objectives"]:
        f = read_doubles(aspiration, "aspiration", f"{self.n_objectives} finite numbers")
        if f.shape != (self.n_objectives,) or not np.isfinite(f).all():
            raise ValueError(
                f"aspiration must be {self.n_objectives} finite numbers, got"
                f" {np.asarray(aspiration).tolist()}"
            )
        if isinstance(self.pareto_set, BezierAtlas):
            return self.pareto_set.chart(f)
        return t_for_aspiration(
            self._minimized, self._front_slope, self.n_objectives, self.names.signs * f
        )

    def _minimized(self, t: np.ndarray) -> np.ndarray:
        """The front with the sign of maximized objectives changed."""
        return self.names.signs * np.asarray(self.front(t))

    @quiet()
    def spread(self, n: int) -> Points:
        """Pareto points spread evenly over the front, n of them, corners among them; objectives
        count in units of their range.

        They are chosen on the fitted front, so that no objective is evaluated but at the points
        themselves.
        """
        least, most = self.n_objectives, LARGEST_SPREAD
        if not isinstance(n, int | np.integer) or not least <= n <= most:
            raise ValueError(
                f"n must be a whole number from {least} (the corners) to {most}, got {n!r}"
            )
        if isinstance(self.pareto_set, BezierAtlas):
            a = spread_chart(self.pareto_set, int(n))
            return Points(a, self.design(a), np.asarray(self.front(a)))
        t = spread_t(lambda t: np.asarray(self.fitted_front.surface(t)), self.n_objectives, int(n))
        return Points(t, self.design(t), np.asarray(self.front(t)))

    @cached_property
    def _points(self) -> Points:
        return self.spread(max(DEFAULT_POINTS, self.n_objectives))

    @property
    def X(self) -> PyTree:
        """100 designs spread evenly over the front, one a row: `spread(100).X`, under the name that
        pymoo has for it."""
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
        """Whether the run ended as planned: `result.success`, under SciPy's name."""
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

    def to_pandas(self, n: int = DEFAULT_POINTS) -> "pandas.DataFrame":
        """Points spread evenly over the front, n of them, as a data frame with variables,
        objectives and t. Needs pandas."""
        return to_frame(columns(self.spread(n), self.names, self.raveling.plain))

    def to_csv(self, path: str | PathLike[str] | None = None, n: int = DEFAULT_POINTS) -> str:
        """The same table as CSV text, also written to a file if a path is given. The file appears
        complete or not at all."""
        text = to_csv_text(columns(self.spread(n), self.names, self.raveling.plain))
        if path is not None:
            write_text(path, text)
        return text

    def to_json(self, path: str | PathLike[str] | None = None, n: int = DEFAULT_POINTS) -> str:
        """The same points as JSON text with "names", "X", "F" and "t", also written to a file if a
        path is given."""
        text = to_json_text(self.spread(n), self.names, self.raveling.plain)
        if path is not None:
            write_text(path, text)
        return text

    @property
    def set_text(self) -> str:
        """What the set is, in words."""
        found = self.pareto_set
        is_atlas = isinstance(found, BezierAtlas)
        kind = (
            f"an atlas of {len(found.patches)} patches"
            if is_atlas
            else f"a Bézier simplex of degree {self.degree}"
        )
        return f"{kind}, {self.n_objectives} objectives, {self.raveling.n_variables} variables"

    @cached_property
    def _description(self) -> Description:
        """What is printed. It evaluates the objectives at some dozens of points, and no
        derivatives."""
        atlas = self.pareto_set
        t = (
            spread_chart(atlas, 50)
            if isinstance(atlas, BezierAtlas)
            else coarse_t(self.n_objectives)
        )
        known = self.__dict__.get("error", self.known_error)
        return Description(
            self.result,
            self.set_text,
            self.names.axis_labels,
            np.asarray(self.front(t)),
            known,
            self.stats,
        )

    def __str__(self) -> str:
        return self._description.text()

    def _repr_html_(self) -> str:
        return self._description.html()

    def _front_slope(self, t: np.ndarray) -> np.ndarray:
        """∂g(b(t))/∂t_m of the minimized g, one column an m."""
        if self.objectives is None:
            return self.names.signs[:, None] * np.asarray(self.fitted_front.surface.jacobian(t))
        surface = self.flat_surface
        evaluator = JaxEvaluator(self.flat_objectives, self.n_objectives, surface.n_variables)
        return evaluator.jacobians(surface(t)[None]).gradients[0] @ np.asarray(surface.jacobian(t))

    def save(self, path: str | PathLike[str], *, estimate: bool = True) -> None:
        """Writes a file that is useful without the objectives' code: both surfaces, names, error,
        how it was made.

        It appears complete or not at all. With estimate=False the error is written if it is known
        already, and not estimated.
        """
        if os.path.splitext(os.fspath(path))[1].lower() != ".bez":
            raise ValueError(
                f"path must end in .bez for a solution, got {os.fspath(path)!r}; "
                "solution.pareto_set.save(path) writes the surface alone in other formats"
            )
        front = None if isinstance(self.pareto_set, BezierAtlas) else self.fitted_front
        error = (
            self.error
            if estimate
            else self.__dict__.get("error", self.known_error) or self._no_estimate()
        )
        write_archive(
            path,
            *to_archive(cast(Fields, {**vars(self), "known_error": error, "known_front": front})),
        )


@program
def _values(objectives: Callable, x: PyTree, batch_axes: int) -> Array:
    for _ in range(batch_axes):
        objectives = jax.vmap(objectives)
    return objectives(x)
