"""The problem that a user gave, read once: checked, scaled, and turned to the solver's side."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float, PyTree

from ..arguments import read_reals
from ..bezier import BezierSimplex, Raveling
from ..names import Names, decode, encode
from .bridge import Bridge
from .calls import Calls, Workers
from .differences import Differences
from .evaluator import FlatObjectives, JaxEvaluator
from .feasible import FeasibleSet
from .forms import Form, read_function
from .limits import Bounds, feasible_set, raveling_of_bounds, read_bounds
from .schedule import SCHEDULE
from .solver_side import (
    Chosen,
    Transforms,
    box_on_solver_side,
    on_solver_side,
    own,
    read_names,
)

HALF_PRECISION = ("bfloat16", "float16")
"""Precisions with two or three digits."""


class Problem(NamedTuple):
    """The objectives, also as a function of a flat vector, and a flat surface to start at.

    Attributes:
        form: the objectives in a form that JAX can call.
        flat: the objectives as the solver minimizes them, of its own flat variables.
        start: where a run starts, of degree 0 where x0 is a point; on the solver's side.
        raveling: how x lies in a flat vector, and in which units.
        names: complete, with directions and transforms.
        feasible: bounds and constraints on the solver's side; None where x may lie anywhere.
        calls: of the function, where it runs on the host, and the most that may be made.
        doubt: why there may be no feasible point at all; empty where the start is one.
    """

    form: Form
    flat: FlatObjectives
    start: BezierSimplex
    raveling: Raveling
    names: Names
    feasible: FeasibleSet | None
    calls: Calls
    doubt: str = ""

    @property
    def objectives(self) -> Callable[[PyTree], PyTree]:
        """As functions of the user's x."""
        return self.form.of_x

    def lifted(self, flat: FlatObjectives, start: BezierSimplex) -> "Problem":
        """The same problem with other objectives of a flat vector, and their start."""
        return self._replace(flat=flat, start=start)

    @property
    def found(self) -> dict[str, object]:
        """What was found by looking at the problem, for `solution.made_by`."""
        scale = {} if self.raveling.scale is None else {"x_scale": list(self.raveling.scale)}
        return {"objectives": self.form.found, **scale}

    @property
    def gradient_noise(self) -> float:
        """The relative noise of values of which gradients are differences; 0 where gradients are
        exact."""
        bridge = self.form.flat
        if isinstance(bridge, Bridge) and bridge.order == 0:
            return bridge.differences.noise
        return 0.0

    def search_budget(self, budget: int | None) -> int | None:
        """What a search may count up to: a function that JAX has traced was called before, to
        compare the two, and its search counts by itself."""
        if budget is None or isinstance(self.form.flat, Bridge):
            return budget
        return budget - int(self.calls.total.objective)

    @property
    def note(self) -> str | None:
        """What a reader of the error estimate must know of units and derivatives."""
        notes, bridge = [], self.form.flat
        if self.raveling.scale:
            notes.append("distances are in the units made_by['x_scale'] of the variables")
        if isinstance(bridge, Bridge) and not self.form.is_exact:
            accuracy = bridge.differences.accuracy(0)
            notes.append(
                "Hessians are differences of the gradients given"
                if bridge.order
                else f"derivatives are finite differences, gradients known to about {accuracy:.0e}"
                " of their size"
            )
            if bridge.differences.noise > SCHEDULE.rough_noise:
                notes.append("values this noisy are what bf.Surrogate() is for, with bounds")
        return "; ".join(notes) or None


def read_problem(  # noqa: PLR0913
    objectives: object,
    x0: PyTree = None,
    *,
    bounds: object = None,
    constraints: object = None,
    maximize: Chosen = None,
    transforms: Transforms = None,
    x_scale: object = None,
    automatic: bool = True,
    calls: Calls | None = None,
) -> Problem:
    """The problem as its solver sees it, or an error in one line.

    Args:
        objectives: what `read_objectives` made of them.
        x0: a point, a surface, or None for the center of the box.
        bounds: in the user's form; None for the problem's own, like the next three.
        constraints: likewise.
        maximize: likewise.
        transforms: likewise.
        x_scale: the units of the variables; None to find them where they are needed.
        automatic: whether a flow of method="auto" will work on it: variables are scaled, and
            Hessians are needed.
        calls: of a function on the host, reading it included.
    """
    calls = calls or Calls()
    bounds = own(objectives, "bounds") if bounds is None else bounds
    constraints = getattr(objectives, "constraints", None) if constraints is None else constraints
    x0 = None if x0 is None else _check_x0(x0)
    x, raveling = _example(x0, bounds, own(objectives, "n_variables"))
    _check_declared(objectives, "n_variables", raveling.n_variables, "x0")
    names = read_names(objectives, None, transforms, None, raveling.n_variables)
    box = read_bounds(bounds, raveling, names.variables)
    if x is None:
        x = raveling.unravel(_center(box, names.variables))
    elif isinstance(x0, BezierSimplex):  # whose values are the solver's
        x = raveling.unravel(decode(np.asarray(raveling.ravel(x)), names.transforms))
    if x_scale is not None and any(names.transforms):
        raise ValueError("x_scale and transforms do not go together: leave one of them out")
    # logarithms need no units
    finds_scale = automatic and x_scale is None and not any(names.transforms)
    form, raveling = _scaled_form(objectives, x, box, x_scale, automatic, finds_scale, calls)
    _check_declared(objectives, "n_objectives", form.n_rows, "objectives")
    # once more: only now it is known how many objectives there are
    names = read_names(objectives, maximize, transforms, form.n_rows, raveling.n_variables)
    point = np.asarray(raveling.ravel(x))
    within = _within(box, constraints, raveling, names, point, calls.workers)
    names = replace(names, constraints=() if within is None else within.inequality_texts)
    start, doubt = _start(x0, point, form.n_rows, raveling, names, within)
    flat = on_solver_side(form.flat, names)
    return Problem(form, flat, start, raveling, names, within, calls, doubt)


def _within(
    box: Bounds,
    constraints: object,
    raveling: Raveling,
    names: Names,
    point: Float[np.ndarray, " n_variables"],
    workers: Workers | None,
) -> FeasibleSet | None:
    """Bounds and constraints on the solver's side; None where there are none."""
    # Bounds are looked at before logarithms are taken, of which a lower bound of 0 is none.
    if constraints is None and box.is_everything:
        return None
    feasible = feasible_set(box, constraints, raveling, names.variables, point, workers)
    anywhere = feasible.unbounded and not feasible.has_constraints
    return None if anywhere else box_on_solver_side(feasible, names)


def _check_x0(x0: PyTree) -> PyTree:
    """x0 with float64 leaves, or an error in one line: x0 must be an array, a pytree of arrays, or
    a surface, all finite.

    A plain list of numbers is taken for a vector.
    """
    if isinstance(x0, BezierSimplex):
        _check_x0(x0.control_points)
        return x0
    plain = isinstance(x0, list | tuple) and len(x0) > 0
    if plain and all(isinstance(entry, int | float | np.number) for entry in x0):
        x0 = np.asarray(x0)  # [0, 0, 0] means a vector to everybody but JAX
    if not jax.tree.leaves(x0):
        raise ValueError("x0 must hold at least one number, got an empty pytree")

    def as_float(leaf: PyTree) -> np.ndarray:
        if str(getattr(leaf, "dtype", "")) in HALF_PRECISION:
            raise TypeError(
                f"x0 must be float32 or float64, got a leaf of {leaf.dtype}, which cannot tell"
                " points of a surface apart; cast x0 to float32, and to half precision inside the"
                " objectives if they are to be computed so"
            )
        return read_reals(leaf, "x0", "an array or a pytree of arrays of numbers")

    x0 = jax.tree.map(as_float, x0)
    if not sum(leaf.size for leaf in jax.tree.leaves(x0)):
        raise ValueError("x0 must hold at least one number, got arrays without any")
    return x0


def _example(x0: PyTree, bounds: object, n_variables: int | None) -> tuple[PyTree | None, Raveling]:
    """One value of x, None where only bounds are given, and its form."""
    if isinstance(x0, BezierSimplex):
        x0 = jax.tree.map(lambda leaf: np.asarray(leaf[0]), x0.control_points)
    if x0 is not None:
        return x0, Raveling.of(x0)
    if bounds is None:
        raise ValueError(
            "x0 must be given where there are no bounds: an array, a pytree of arrays, or a surface"
        )
    raveling = raveling_of_bounds(bounds, n_variables)
    if raveling is None:
        raise ValueError(
            f"x0 must be given, since bounds={bounds!r} do not tell how many variables there are"
        )
    return None, raveling


def _check_declared(objectives: object, what: str, found: int, argument: str) -> None:
    """Raises if a problem declares another number of variables or objectives than there are."""
    declared = getattr(objectives, what, None)
    if isinstance(declared, int) and declared != found:
        name, kind = type(objectives).__name__, what.removeprefix("n_")
        raise ValueError(f"{argument} must have {declared} {kind} for {name}, got {found}")


def _center(box: Bounds, variables: tuple[str, ...]) -> Float[np.ndarray, " n_variables"]:
    """Where a run starts without x0, or an error in one line."""
    finite = np.isfinite(box.upper - box.lower)
    if not finite.all():
        name = variables[int(np.argmin(finite))]
        raise ValueError(f"x0 must be given where a bound is infinite, here one of {name}")
    return feasible_set(box, None, box.raveling, variables).center()


def _scaled_form(
    objectives: object,
    x: PyTree,
    box: Bounds,
    x_scale: object,
    twice: bool,
    finds_scale: bool,
    calls: Calls,
) -> tuple[Form, Raveling]:
    """The objectives as a function of the flat vector, in the user's units or in those that suit
    them."""

    def read(raveling: Raveling, known: Differences | None = None) -> Form:
        sides = box.lower / raveling.units, box.upper / raveling.units
        point = np.clip(np.asarray(raveling.ravel(x)), *sides)
        return read_function(objectives, raveling, point, "objectives", sides, twice, calls, known)

    raveling = box.raveling
    if x_scale is not None:
        raveling = raveling.scaled(_read_x_scale(x_scale, raveling.n_variables))
    form = read(raveling)
    finds_scale &= _affords_scale(form, box, raveling.n_variables, calls)
    scale = own_scale(form, np.asarray(raveling.ravel(x))) if finds_scale else None
    if scale is None:
        return form, raveling
    differences = (
        form.flat.differences
        if isinstance(form.flat, Bridge)
        else Differences.around(scale, -scale, scale)
    )
    known = replace(differences, scale=differences.scale / scale)
    scaled = read(raveling.scaled(scale), known)
    if isinstance(form.flat, Bridge) and isinstance(scaled.flat, Bridge):
        x, f = form.flat.archive()
        scaled.flat.remember(x / scale, f)
    return scaled, raveling.scaled(scale)


def _affords_scale(form: Form, box: Bounds, L: int, calls: Calls) -> bool:
    """Whether the Hessian that tells the units of L variables is worth its price."""
    if form.is_exact:
        return True
    if isinstance(form.flat, Bridge) and form.flat.order == 0:
        # Searches from values alone take the units of the box.
        boxed = np.isfinite(box.lower).all() and np.isfinite(box.upper).all()
        if boxed and (calls.limit is not None or SCHEDULE.few_scaled < L):
            return False
    return calls.affords(L * L + L + 1, SCHEDULE.probes_share)


def _read_x_scale(x_scale: object, n_variables: int) -> Float[np.ndarray, " n_variables"]:
    """The user's units, a positive number, one for each variable or a tree like x, as a flat
    vector; or an error in one line."""
    try:
        leaves = [np.ravel(np.asarray(leaf, dtype=float)) for leaf in jax.tree.leaves(x_scale)]
    except (TypeError, ValueError):
        leaves = []
    scale = np.concatenate([np.zeros(0), *leaves])
    scale = np.full(n_variables, scale[0]) if len(scale) == 1 else scale
    if scale.shape != (n_variables,) or not (np.isfinite(scale).all() and (scale > 0).all()):
        raise ValueError(
            f"x_scale must be a positive number, or one for each of {n_variables} variables, got"
            f" {x_scale!r}"
        )
    return scale


def own_scale(
    form: Form, x: Float[np.ndarray, " n_variables"]
) -> Float[np.ndarray, " n_variables"] | None:
    """The length over which each variable matters to the objectives at x, relative to the others;
    None where they are alike.

    Distances, trust regions and the error estimate take all variables for equally large. Where one
    is measured in thousands and another in thousandths, none of them means much. The curvature of
    the objectives along an axis, 1/s², tells the length s over which that variable matters: 1/s_i²
    is the mean of |∂²f_m/∂x_i²| over the objectives m, each relative to its largest. A variable
    along which no objective bends (by more than ε⁴ of that) has the geometric mean of the others.
    The lengths have the geometric mean 1, and are powers of two, so that scaling rounds nothing.
    """
    if len(x) < 2 or len(x) > SCHEDULE.most_scaled:
        return None
    hessians = JaxEvaluator(form.flat, form.n_rows, len(x)).hessians(x[None]).hessians
    assert hessians is not None
    bent = np.abs(np.diagonal(hessians[0], axis1=1, axis2=2))
    most = bent.max(axis=1, keepdims=True)
    if not np.isfinite(bent).all() or not most.max() > 0:
        return None
    relative = np.mean(bent[most[:, 0] > 0] / most[most[:, 0] > 0], axis=0)
    # The tail of an exponential bends by 1e-170, which tells no length.
    known = relative > np.finfo(float).eps ** 4
    length = 1 / np.sqrt(np.where(known, relative, np.exp(np.log(relative[known]).mean())))
    if length.max() <= SCHEDULE.unequal * length.min():
        return None
    return 2.0 ** np.round(np.log2(length) - np.log2(length).mean())


def _start(
    x0: PyTree,
    point: Float[np.ndarray, " n_variables"],
    n_objectives: int,
    raveling: Raveling,
    names: Names,
    feasible: FeasibleSet | None,
) -> tuple[BezierSimplex, str]:
    """Where a run starts, with flat values on the solver's side: a surface as it is, a point moved
    to where it is feasible. And why no such place was found, where a search all over a box may
    still find one."""
    if isinstance(x0, BezierSimplex):
        if x0.n_objectives != n_objectives:
            raise ValueError(
                f"x0 is a surface over {x0.n_objectives} objectives, but objectives returns"
                f" {n_objectives}"
            )
        flat = np.asarray(raveling.ravel(x0.control_points, batch_axes=1))
        return BezierSimplex(flat, n_objectives, x0.degree), ""
    x, point = point, encode(point, names.transforms)
    if not np.isfinite(point).all():
        i = int(np.argmin(np.isfinite(point)))
        raise ValueError(
            f"x0 must have a positive {names.variables[i]}, whose logarithm is taken, got {x[i]}"
        )
    doubt = ""
    if feasible is not None:
        from_center = x0 is None and feasible.has_finite_box
        point = feasible.center() if from_center else point
        try:
            point = feasible.repair(point)
        except ValueError as error:
            if feasible.n_equalities or not feasible.has_finite_box:
                raise
            point, doubt = np.asarray(feasible.clip(point)), str(error)
    return BezierSimplex(point[None], n_objectives, 0), doubt


def is_single(x0: object) -> bool:
    """Whether all numbers of x0 are arrays of float32."""
    leaves = jax.tree.leaves(x0.control_points if isinstance(x0, BezierSimplex) else x0)
    return bool(leaves) and all(str(getattr(leaf, "dtype", "")) == "float32" for leaf in leaves)
