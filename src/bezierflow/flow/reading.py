"""From what `minimize` was given to a problem that flows can work on, or an error in one line."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from ..atlas import BezierAtlas
from ..bezier import BezierSimplex, Raveling
from ..feasible import FeasibleSet, feasible_set
from ..forms import Form, HostFunction, domain_around, from_pymoo, is_pymoo, read_function
from ..problems import Names
from .checks import center_of_bounds, check_declared, check_x0
from .problem import Problem
from .scales import check_x_scale, own_scale
from .solution import Solution


class Given(NamedTuple):
    """What the user gave, as it is."""

    objectives: Any
    x0: PyTree
    bounds: Any
    constraints: Any
    x_scale: Any
    automatic: bool
    """Whether a flow of method="auto" will work on it: variables are scaled, and Hessians are needed."""


def as_host(objectives: Any, jac: Any, hess: Any, vectorized: bool) -> Any:
    """The objectives, with derivatives and the way they are called where the user says so."""
    if is_pymoo(objectives):
        objectives = from_pymoo(objectives)
    if jac is None and hess is None and not vectorized:
        return objectives
    return HostFunction(objectives, jac, hess, vectorized)


def read_problem(given: Given) -> Problem:
    """The problem, checked. The start has degree 0 where x0 is a point."""
    objectives = given.objectives
    bounds, constraints = _own_or_given(objectives, given.bounds, given.constraints)
    x0 = _start_of(given.x0)
    x0 = center_of_bounds(bounds, getattr(objectives, "n_variables", None)) if x0 is None else check_x0(x0)
    x = jax.tree.map(lambda leaf: leaf[0], x0.control_points) if isinstance(x0, BezierSimplex) else x0
    raveling = Raveling.of(x)
    check_declared(objectives, "n_variables", raveling.n_variables, "x0")
    if given.x_scale is not None:
        raveling = raveling.scaled(check_x_scale(given.x_scale, raveling))
    form = _form(given, x, raveling, bounds)
    scale = own_scale(form, np.asarray(raveling.ravel(x))) if given.x_scale is None and given.automatic else None
    if scale is not None:
        raveling = raveling.scaled(scale)
        form = _form(given, x, raveling, bounds)
    check_declared(objectives, "n_objectives", form.n_rows, "objectives")
    names = getattr(objectives, "names", None)
    names = (names if isinstance(names, Names) else Names()).complete(form.n_rows, raveling.n_variables)
    feasible = _feasible(bounds, constraints, raveling, names, x)
    return Problem(form, _start(x0, form.n_rows, raveling, feasible), raveling, names, feasible)


def _start_of(x0: PyTree) -> PyTree:
    """The surface of a solution; of an atlas the design in the middle of its chart; anything else as it is."""
    x0 = x0.pareto_set if isinstance(x0, Solution) else x0
    return x0(np.zeros(x0.n_objectives)) if isinstance(x0, BezierAtlas) else x0


def _form(given: Given, x: PyTree, raveling: Raveling, bounds: Any) -> Form:
    """The objectives as a function of the flat vector, looked at where x is, within the bounds."""
    box = feasible_set(bounds, None, raveling)
    point = np.asarray(box.clip(np.asarray(raveling.ravel(x))))
    domain = domain_around(point, box.lower, box.upper)
    return read_function(given.objectives, raveling, domain, "objectives", twice=given.automatic)


def _start(x0: PyTree, n_objectives: int, raveling: Raveling, feasible: FeasibleSet | None) -> BezierSimplex:
    """Where a run starts, with flat values: a feasible point near x0, or the surface that it is."""
    if not isinstance(x0, BezierSimplex):
        point = np.asarray(raveling.ravel(x0))
        return BezierSimplex((point if feasible is None else feasible.repair(point))[None], n_objectives, 0)
    if x0.n_objectives != n_objectives:
        raise ValueError(f"x0 is a surface over {x0.n_objectives} objectives, but objectives returns {n_objectives}")
    return BezierSimplex(np.asarray(raveling.ravel(x0.control_points, batch_axes=1)), n_objectives, x0.degree)


def _own_or_given(objectives: Any, bounds: Any, constraints: Any) -> tuple[Any, Any]:
    """The bounds and constraints given, else those of the problem. A surface has a method `bounds`, which is something else."""
    own = getattr(objectives, "bounds", None)
    bounds = (None if callable(own) else own) if bounds is None else bounds
    return bounds, getattr(objectives, "constraints", None) if constraints is None else constraints


def _feasible(bounds: Any, constraints: Any, raveling: Raveling, names: Names, x: PyTree) -> FeasibleSet | None:
    if bounds is None and constraints is None:
        return None
    feasible = feasible_set(bounds, constraints, raveling, names.variables, np.asarray(raveling.ravel(x)))
    return None if feasible.unbounded and not feasible.has_constraints else feasible
