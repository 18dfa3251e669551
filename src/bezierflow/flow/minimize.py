"""`minimize`: from objectives and a starting point to a surface that is the Pareto set."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import jax
import numpy as np
from jaxtyping import PyTree

from ..bezier import BezierSimplex
from ..methods import AbstractMethod, Evaluations
from ..normal import NormalFlow
from ..precision import double_precision
from ..problems import Names
from .checks import check_objectives, check_x0
from .lift import Flow, lift
from .lifted_run import run_lifted
from .normal_run import run_normal
from .origin import Origin
from .outcome import Callback, Outcome
from .raveling import Raveled, Raveling
from .reference import settle_reference
from .result import Stats
from .solution import Solution
from .weights_run import run_weights

AUTO_TOL = 1e-6
"""The largest distance to the set, relative to its diameter, that `method="auto"` is content with."""

LIFTED_DEGREE = 3
"""The degree of a lifted method where the user leaves it open: the paper's."""


def minimize(
    objectives: Callable[[PyTree], Any],
    x0: PyTree,
    method: Literal["auto"] | AbstractMethod | Flow | NormalFlow = "auto",
    *,
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
    """Minimizes several objectives at once; the answer is a surface, a Bézier simplex on the Pareto set.

    Args:
        objectives: a JAX function x -> (M,), or a problem from `bezierflow.problems`.
        x0: where to start: an array, a pytree of arrays, or a surface (warm start).
        method: "auto"; a single-objective method, which is lifted; or a flow, made by `lift` or a `NormalFlow`.
        degree: the degree of the surface; "auto" leaves it to the method. A flow brings its own.
        max_degree: the largest degree "auto" may choose.
        parametrization: what t means, for method="auto": "free", the default, asks only that t on a face lies on the Pareto
            set of that face's objectives; "weights" asks for b(t) = argmin Σ t_m f_m. A lifted method has what its
            scalarization says.
        n_iterations: how many iterations at most. A lifted method without `tol` makes exactly that many.
        tol: for method="auto" the largest distance to the set, relative to its diameter; for a lifted method the change of the
            surface in an iteration, relative to its diameter, below which it stops.
        budget: the most points that method="auto" may evaluate; the error estimate at the end comes on top.
        seed: the same seed gives the same result, bit for bit.
        callback: called with an `Iteration` after each one; returns True to stop. Costs a trip to Python an iteration.
        progress: show a progress bar.
    """
    began = time.perf_counter()
    with double_precision():
        x0 = check_x0(x0)
        x = jax.tree.map(lambda leaf: leaf[0], x0.control_points) if isinstance(x0, BezierSimplex) else x0
        n_objectives = check_objectives(objectives, x)
        if isinstance(x0, BezierSimplex) and x0.n_objectives != n_objectives:
            raise ValueError(f"x0 is a surface over {x0.n_objectives} objectives, but objectives returns {n_objectives}")
        if tol is not None and not tol >= 0:
            raise ValueError(f"tol must be at least 0, got {tol!r}")
        raveling = Raveling.of(x)
        names = getattr(objectives, "names", Names()).complete(n_objectives, raveling.n_variables)
        flat = objectives if raveling.is_vector else Raveled(objectives, raveling)
        flow = _choose_flow(method, degree, max_degree, parametrization, tol, budget, x0)
        watch: dict[str, Any] = {"n_iterations": n_iterations, "seed": seed, "callback": callback, "progress": progress}
        if isinstance(flow, Flow):
            flow = flow.for_objectives(n_objectives)
            surface = _initial_surface(x0, raveling, n_objectives, flow.degree)
            flow, spent = settle_reference(flow, flat, _starting_points(x0, raveling), n_objectives)
            outcome = run_lifted(flow, flat, surface, raveling, names, tol=tol, **watch)
            total = Evaluations(*map(sum, zip(outcome.evaluations, spent, strict=True)))
            outcome = replace(outcome, evaluations=total, origin=Origin(flow, surface.on_host(), seed))
        elif parametrization == "weights":
            outcome = run_weights(flow, flat, _starting_points(x0, raveling), n_objectives, raveling, **watch)
        else:
            outcome = run_normal(flow, flat, _starting_points(x0, raveling), raveling, **watch)
    return _solution(outcome, objectives, names, raveling, began)


def _choose_flow(
    method: Any,
    degree: Any,
    max_degree: int | None,
    parametrization: str | None,
    tol: float | None,
    budget: int | None,
    x0: PyTree,
) -> Flow | NormalFlow:
    """The flow to run: the user's own, their method lifted, or the normal flow."""
    if parametrization not in (None, "free", "weights"):
        raise ValueError(f'parametrization must be "free" or "weights", got {parametrization!r}')
    if isinstance(method, str):
        if method != "auto":
            raise ValueError(f'method must be "auto", a single-objective method such as Newton(), or a flow, got {method!r}')
        return NormalFlow(degree, max_degree, AUTO_TOL if tol is None else tol, budget)
    for name, value in (("max_degree", max_degree), ("budget", budget), ("parametrization", parametrization)):
        if value is not None:
            raise ValueError(f'{name}={value!r} goes with method="auto"; a method or flow of your own brings its settings along')
    if isinstance(method, Flow | NormalFlow):
        if degree not in ("auto", method.degree):
            raise ValueError(f"degree={degree!r} disagrees with the flow's own degree {method.degree}; give it to the flow")
        return method
    if degree == "auto":
        degree = max(LIFTED_DEGREE, x0.degree) if isinstance(x0, BezierSimplex) else LIFTED_DEGREE
    return lift(method, degree)


def _initial_surface(x0: PyTree, raveling: Raveling, n_objectives: int, degree: int) -> BezierSimplex:
    """P^(1): every control point x0, or the given surface, elevated to the flow's degree."""
    if not isinstance(x0, BezierSimplex):
        return BezierSimplex.constant(raveling.ravel(x0), n_objectives, degree)
    if x0.degree > degree:
        raise ValueError(f"x0 is a surface of degree {x0.degree}, above the flow's {degree}; choose degree={x0.degree}")
    elevated = x0.elevate(degree)
    return BezierSimplex(raveling.ravel(elevated.control_points, batch_axes=1), n_objectives, degree)


def _starting_points(x0: PyTree, raveling: Raveling) -> np.ndarray:
    """One point for all objectives, or the corners of a given surface, each for its own objective."""
    if not isinstance(x0, BezierSimplex):
        return np.asarray(raveling.ravel(x0))
    return np.stack([np.asarray(raveling.ravel(x0.vertex(m))) for m in range(x0.n_objectives)])


def _solution(outcome: Outcome, objectives: Callable, names: Names, raveling: Raveling, began: float) -> Solution:
    surface = outcome.surface
    return Solution(
        pareto_set=BezierSimplex(raveling.unravel(np.asarray(surface.control_points)), surface.n_objectives, surface.degree),
        objectives=objectives,
        names=names,
        result=outcome.result,
        stats=Stats(outcome.evaluations, outcome.iterations, time.perf_counter() - began),
        history=outcome.history,
        made_by=outcome.made_by,
        raveling=raveling,
        known_error=outcome.error,
        origin=outcome.origin,
    )
