"""`minimize`: from objectives and a starting point to a surface that is the Pareto set."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import jax
import numpy as np
from jaxtyping import PyTree

from ..atlas import BezierAtlas
from ..bezier import BezierSimplex
from ..feasible import FeasibleSet, feasible_set
from ..methods import AbstractMethod
from ..precision import double_precision
from ..problems import Names
from ..quiet import quiet
from .auto_flow import AUTO_TOL
from .checks import center_of_bounds, check_n_iterations, check_objectives, check_tol, check_x0
from .contract import AbstractFlow
from .drive import Callback, shaped
from .lift import Flow, lift
from .normal_flow import NormalFlow
from .problem import Problem
from .raveling import Raveled, Raveling
from .result import Stats
from .routes import Ended, Routes
from .solution import Origin, Solution
from .solver_side import Chosen, Transforms, box_on_solver_side, encode_point, on_solver_side, read_names
from .weights_flow import WeightsFlow

LIFTED_TOL = 1e-8
"""The change of a surface, relative to its diameter, below which a lifted run without an iteration count of its own stops."""

LIFTED_DEGREE = 3
"""The degree of a lifted method where the user leaves it open: the paper's."""


@quiet()
def minimize(  # noqa: PLR0913
    objectives: Callable[[PyTree], Any],
    x0: PyTree = None,
    method: Literal["auto"] | AbstractMethod | AbstractFlow = "auto",
    *,
    bounds: Any = None,
    constraints: Any = None,
    maximize: Chosen = None,
    transforms: Transforms = None,
    degree: Literal["auto"] | int = "auto",
    max_degree: int | None = None,
    parametrization: Literal["free", "weights"] | None = None,
    n_iterations: int | None = None,
    tol: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    progress: bool = False,
) -> Solution:
    """Minimizes several objectives at once; the answer is a surface: a Bézier simplex on the Pareto set, or an atlas of them.

    Args:
        objectives: a JAX function x -> (M,), or a problem from `bezierflow.problems`.
        x0: where to start: an array, a pytree of arrays, or a surface (warm start). A point outside of the bounds is clipped
            to them, one that violates constraints is moved to where they hold. None stands for the center of the box, where
            every bound is finite.
        method: "auto"; a single-objective method, which is lifted; or a flow, made by `lift` or a `NormalFlow`.
        bounds: lower and upper bounds of x: `(lower, upper)`, each a number, an array or a pytree like x;
            `scipy.optimize.Bounds`; or a pair `(low, high)` for each variable, None for no bound (`feasible.feasible_set` has
            the details). Each point that a lifted method moves is clipped to them. With method="auto" the answer is a
            `BezierAtlas` where the set follows them. By default the problem's own `bounds`, if it has any; `(None, None)` for
            none.
        constraints: SciPy's `LinearConstraint` and `NonlinearConstraint` or functions g with g(x) ≤ 0, one or a list of them,
            for method="auto" and likewise. By default the problem's own; `[]` for none.
        maximize: the objectives to be maximized: a bool for each, or names or numbers (from 0) of them; True for all. Whatever is
            given and got, here and in every question, file, plot and page, has the objectives' own signs. By default the
            problem's own `maximize`.
        transforms: variables by name or number, each with "log10" or "log": the solver works with the logarithm of the variable,
            while x0, bounds, constraints, objectives and every answer have the variable itself. `solution.pareto_set` is the
            surface of the solver's variables; `solution.design(t)` has the design. By default the problem's own `transforms`.
        degree: the degree of the surface; "auto" leaves it to the method. A flow brings its own.
        max_degree: the largest degree "auto" may choose.
        parametrization: what t means, for method="auto": "free", the default, asks only that t on a face lies on the Pareto
            set of that face's objectives; "weights" asks for b(t) = argmin Σ t_m f_m. A lifted method has what its
            scalarization says.
        n_iterations: how many iterations at most. A lifted method without `tol` makes exactly that many.
        tol: for method="auto" the largest distance to the set, relative to its diameter, and for an atlas what its patches may
            miss in objectives, relative to their ranges; for a lifted method the change of the surface in an iteration, relative
            to its diameter, below which it stops.
        budget: the most points that method="auto" may evaluate; the error estimate at the end comes on top.
        seed: the same seed gives the same result, bit for bit.
        callback: called with an `Iteration` after each one; returns True to stop. Costs a trip to Python an iteration.
        progress: show a progress bar.
    """
    began = time.perf_counter()
    n_iterations = check_n_iterations(n_iterations)
    check_tol(tol)
    with double_precision():
        problem = _read(objectives, x0, bounds, constraints, maximize, transforms)
        if isinstance(method, str):
            flow = _automatic(method, parametrization, degree, max_degree, tol, budget)
        else:
            _refuse(max_degree=max_degree, budget=budget, parametrization=parametrization)
            flow = _given(method, degree, problem.start.degree, tol, n_iterations)
        flow = _within(flow, problem.feasible)
        ended = Routes(problem, flow, n_iterations, seed, callback, progress).solve()
        return _solution(problem, ended, seed, began)


def _solution(problem: Problem, ended: Ended, seed: int, began: float) -> Solution:
    flow = ended.flow
    return Solution(
        pareto_set=_with_signs(shaped(ended.surface, problem.raveling), problem.names),
        objectives=problem.objectives,
        names=problem.names,
        result=ended.result,
        stats=Stats(ended.evaluations, ended.run.iterations, time.perf_counter() - began),
        history=ended.run.history,
        made_by={**flow.parts(), "n_iterations": ended.n_iterations, "seed": seed},
        raveling=problem.raveling,
        known_error=ended.error,
        origin=Origin(flow, ended.start.on_host(), seed) if isinstance(flow, Flow) else None,
        feasible=problem.feasible,
    )


def _with_signs(surface: BezierSimplex | BezierAtlas, names: Names) -> BezierSimplex | BezierAtlas:
    """The same set; an atlas, which has its front, with the user's signs."""
    return surface.turned(names.signs) if isinstance(surface, BezierAtlas) else surface


def _read(
    objectives: Callable[[PyTree], Any], x0: PyTree, bounds: Any, constraints: Any, maximize: Chosen, transforms: Transforms
) -> Problem:
    """The problem as its solver sees it, or an error in one line. The start has degree 0 where x0 is a point."""
    bounds, constraints = _own_or_given(objectives, bounds, constraints)
    at_center = x0 is None
    x0 = center_of_bounds(bounds, getattr(objectives, "n_variables", None)) if x0 is None else check_x0(x0)
    x = jax.tree.map(lambda leaf: leaf[0], x0.control_points) if isinstance(x0, BezierSimplex) else x0
    n_objectives = check_objectives(objectives, x)
    raveling = Raveling.of(x)
    flat = objectives if raveling.is_vector else Raveled(objectives, raveling)
    names = read_names(objectives, maximize, transforms, n_objectives, raveling.n_variables)
    flat, feasible = on_solver_side(flat, names), box_on_solver_side(_feasible(bounds, constraints, raveling, names), names)
    if not isinstance(x0, BezierSimplex):
        point = encode_point(np.asarray(raveling.ravel(x0)), names, "x0")
        point = feasible.center() if at_center and feasible is not None and feasible.has_finite_box else point
        point = point if feasible is None else feasible.repair(point)
        start = BezierSimplex(point[None], n_objectives, 0)
    elif x0.n_objectives == n_objectives:
        start = BezierSimplex(np.asarray(raveling.ravel(x0.control_points, batch_axes=1)), n_objectives, x0.degree)
    else:
        raise ValueError(f"x0 is a surface over {x0.n_objectives} objectives, but objectives returns {n_objectives}")
    return Problem(objectives, flat, start, raveling, names, feasible)


def _own_or_given(objectives: Callable[[PyTree], Any], bounds: Any, constraints: Any) -> tuple[Any, Any]:
    """The bounds and constraints given, else those of the problem. A surface has a method `bounds`, which is something else."""
    own = getattr(objectives, "bounds", None)
    bounds = (None if callable(own) else own) if bounds is None else bounds
    return bounds, getattr(objectives, "constraints", None) if constraints is None else constraints


def _feasible(bounds: Any, constraints: Any, raveling: Raveling, names: Names) -> FeasibleSet | None:
    if bounds is None and constraints is None:
        return None
    feasible = feasible_set(bounds, constraints, raveling, names.variables)
    return None if feasible.unbounded and not feasible.has_constraints else feasible


def _within(flow: AbstractFlow, feasible: FeasibleSet | None) -> AbstractFlow:
    """A lifted flow that keeps to the bounds, or why it cannot; any other is checked at its end."""
    if feasible is None or not isinstance(flow, Flow):
        return flow
    if feasible.has_constraints:
        raise ValueError(
            "constraints do not go with a lifted method, since a projection onto them is not defined for every method; "
            "give bounds alone, or add a penalty for the constraints to the objectives"
        )
    return replace(flow, bounds=feasible)


def _automatic(
    method: str,
    parametrization: str | None,
    degree: int | str,
    max_degree: int | None,
    tol: float | None,
    budget: int | None,
) -> AbstractFlow:
    """The flow of method="auto"."""
    if method != "auto":
        raise ValueError(f'method must be "auto", a single-objective method such as Newton(), or a flow, got {method!r}')
    kinds = {None: NormalFlow, "free": NormalFlow, "weights": WeightsFlow}
    if parametrization not in kinds:
        raise ValueError(f'parametrization must be "free" or "weights", got {parametrization!r}')
    return kinds[parametrization](degree, max_degree, AUTO_TOL if tol is None else tol, budget)


def _given(method: Any, degree: Any, start_degree: int, tol: float | None, n_iterations: int | None) -> AbstractFlow:
    """The user's own flow, or their method lifted."""
    if not isinstance(method, AbstractFlow):
        method = lift(method, max(LIFTED_DEGREE, start_degree) if degree == "auto" else degree)
    elif degree != "auto" and degree != getattr(method, "degree", None):
        raise ValueError(f"degree={degree!r} disagrees with the flow's own; give it to the flow")
    if isinstance(method, Flow):
        return replace(method, tol=tol if tol is not None else LIFTED_TOL if n_iterations is None else 0.0)
    _refuse(tol=tol)
    return method


def _refuse(**settings: Any) -> None:
    for name, value in settings.items():
        if value is not None:
            raise ValueError(f'{name}={value!r} goes with method="auto"; a method or flow of your own brings its settings along')
