"""From what `minimize` was given to a problem that flows can work on, or an error in one line."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree

from ..bezier import BezierSimplex, Raveling
from ..names import Names, decode
from ..problems import Problem as UserProblem
from .checks import center_of_bounds, check_declared, check_x0
from .constraints import feasible_set
from .feasible_set import FeasibleSet
from .functions import Form, domain_around, read_function
from .host import Objectives, Rows
from .problem import Problem
from .pymoo_problem import from_pymoo, is_pymoo
from .scales import check_x_scale, own_scale
from .solver_side import (
    Chosen,
    Transforms,
    box_on_solver_side,
    encode_point,
    on_solver_side,
    read_names,
    read_transforms,
)


class Given(NamedTuple):
    """What the user gave, as it is."""

    objectives: object
    x0: PyTree
    bounds: object
    constraints: object
    maximize: Chosen
    transforms: Transforms
    x_scale: object
    automatic: bool
    """Whether a flow of method="auto" will work on it: variables are scaled, and Hessians are
    needed."""


def as_host(objectives: Any, jac: Rows | None, hess: Rows | None, vectorized: bool) -> Any:
    """The objectives, with derivatives and the way they are called where the user says so."""
    if is_pymoo(objectives):
        objectives = from_pymoo(objectives)
    if isinstance(objectives, Objectives):
        jac, hess = jac or objectives.jac, hess or objectives.hess
        vectorized = vectorized or objectives.vectorized
        objectives = objectives.function
    if jac is None and hess is None and not vectorized:
        return objectives
    if isinstance(objectives, UserProblem):  # which keeps its names, bounds and directions
        part = Objectives(objectives.function, jac, hess, vectorized)
        return eqx.tree_at(lambda problem: problem.function, objectives, part)
    return Objectives(objectives, jac, hess, vectorized)


def read_problem(given: Given) -> Problem:
    """The problem as its solver sees it, checked. The start has degree 0 where x0 is a point."""
    objectives = given.objectives
    bounds, constraints = _own_or_given(objectives, given.bounds, given.constraints)
    x0 = None if given.x0 is None else check_x0(given.x0)
    x = _example(x0, bounds, getattr(objectives, "n_variables", None))
    raveling = Raveling.of(x)
    check_declared(objectives, "n_variables", raveling.n_variables, "x0")
    kinds = read_transforms(objectives, given.transforms, raveling.n_variables)
    if isinstance(x0, BezierSimplex):  # whose values are the solver's
        x = raveling.unravel(decode(np.asarray(raveling.ravel(x)), kinds))
    form, raveling = _scaled_form(given, x, raveling, bounds, any(kinds))
    check_declared(objectives, "n_objectives", form.n_rows, "objectives")
    names = read_names(
        objectives, given.maximize, given.transforms, form.n_rows, raveling.n_variables
    )
    feasible = box_on_solver_side(_feasible(bounds, constraints, raveling, names, x), names)
    if isinstance(x0, BezierSimplex):
        start = _flat_surface(x0, form.n_rows, raveling)
    else:
        point = encode_point(np.asarray(raveling.ravel(x)), names, "x0")
        if feasible is not None:
            point = feasible.repair(
                feasible.center() if x0 is None and feasible.has_finite_box else point
            )
        start = BezierSimplex(point[None], form.n_rows, 0)
    return Problem(form, on_solver_side(form.flat, names), start, raveling, names, feasible)


def _example(x0: PyTree, bounds: object, n_variables: int | None) -> PyTree:
    """One value of x: the point given, a value of the surface given, or the center of the
    box."""
    if x0 is None:
        return center_of_bounds(bounds, n_variables)
    if isinstance(x0, BezierSimplex):
        return jax.tree.map(lambda leaf: np.asarray(leaf[0]), x0.control_points)
    return x0


def _scaled_form(
    given: Given, x: PyTree, raveling: Raveling, bounds: object, has_logarithms: bool
) -> tuple[Form, Raveling]:
    """The objectives as a function of the flat vector, in the user's units or in those that suit
    them. Logarithms need none."""
    if given.x_scale is not None:
        if has_logarithms:
            raise ValueError("x_scale and transforms do not go together: leave one of them out")
        raveling = raveling.scaled(check_x_scale(given.x_scale, raveling))
    form = _form(given, x, raveling, bounds)
    if given.x_scale is not None or not given.automatic or has_logarithms:
        return form, raveling
    scale = own_scale(form, np.asarray(raveling.ravel(x)))
    if scale is None:
        return form, raveling
    raveling = raveling.scaled(scale)
    return _form(given, x, raveling, bounds), raveling


def _form(given: Given, x: PyTree, raveling: Raveling, bounds: object) -> Form:
    """The objectives as a function of the flat vector, looked at where x is, within the bounds."""
    point = np.asarray(raveling.ravel(x))
    if bounds is None:
        domain = domain_around(point, np.full(len(point), -np.inf), np.full(len(point), np.inf))
    else:
        box = feasible_set(bounds, None, raveling)
        domain = domain_around(np.asarray(box.clip(point)), box.lower, box.upper)
    return read_function(given.objectives, raveling, domain, "objectives", twice=given.automatic)


def _flat_surface(x0: BezierSimplex, n_objectives: int, raveling: Raveling) -> BezierSimplex:
    """The surface that a run starts at, with flat values."""
    if x0.n_objectives != n_objectives:
        raise ValueError(
            f"x0 is a surface over {x0.n_objectives} objectives, but objectives returns"
            f" {n_objectives}"
        )
    return BezierSimplex(
        np.asarray(raveling.ravel(x0.control_points, batch_axes=1)), n_objectives, x0.degree
    )


def _own_or_given(objectives: object, bounds: object, constraints: object) -> tuple[object, object]:
    """The bounds and constraints given, else those of the problem. A surface has a method `bounds`,
    which is something else."""
    own = getattr(objectives, "bounds", None)
    bounds = (None if callable(own) else own) if bounds is None else bounds
    return bounds, getattr(objectives, "constraints", None) if constraints is None else constraints


def _feasible(
    bounds: object, constraints: object, raveling: Raveling, names: Names, x: PyTree
) -> FeasibleSet | None:
    if bounds is None and constraints is None:
        return None
    feasible = feasible_set(
        bounds, constraints, raveling, names.variables, np.asarray(raveling.ravel(x))
    )
    return None if feasible.unbounded and not feasible.has_constraints else feasible
