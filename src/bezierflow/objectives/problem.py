"""The problem that a user gave, read once: checked, scaled, and turned to the solver's side.

A solver minimizes g(z) = s · f(x(z)), with s = −1 for each maximized objective and x(z) as
`Names.transforms` says: maximized objectives change their sign, variables may be logarithms. What
people give and get is f and x; `Names` has the signs and transforms, so that files, plots and pages
that carry names have them too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..arguments import read_reals
from ..bezier import BezierSimplex, Raveling
from ..names import KINDS, Names, decode, encode
from .bridge import Bridge, Calls
from .differences import Differences
from .evaluator import FlatObjectives, JaxEvaluator
from .feasible import FeasibleSet
from .forms import Form, read_function
from .limits import Bounds, feasible_set, raveling_of_bounds, read_bounds
from .schedule import SCHEDULE

Chosen = bool | str | int | Sequence[bool] | Sequence[str | int] | np.ndarray | None
"""Objectives that are maximized: a bool for each, or names or numbers of them; one bool for all."""

Transforms = Mapping[str | int, str] | None
"""Variables by name or number, each with "log10" or "log"."""

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
            accuracy = bridge.differences.accuracy
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
    x0, x, raveling = _read_x0(x0, bounds, own(objectives, "n_variables"))
    _check_declared(objectives, "n_variables", raveling.n_variables, "x0")
    names = read_names(objectives, None, transforms, None, raveling.n_variables)
    box = read_bounds(bounds, raveling, names.variables)
    if x is None:
        x = raveling.unravel(_center(box, names.variables))
    elif isinstance(x0, BezierSimplex):  # whose values are the solver's
        x = raveling.unravel(decode(np.asarray(raveling.ravel(x)), names.transforms))
    form, raveling = _scaled_form(objectives, x, box, x_scale, names, automatic, calls)
    _check_declared(objectives, "n_objectives", form.n_rows, "objectives")
    # once more: only now it is known how many objectives there are
    names = read_names(objectives, maximize, transforms, form.n_rows, raveling.n_variables)
    point = np.asarray(raveling.ravel(x))
    within = feasible_set(box, constraints, raveling, names.variables, point, calls.workers)
    anywhere = within.unbounded and not within.has_constraints
    # bounds are looked at before logarithms are taken, of which a lower bound of 0 is none
    within = None if anywhere else box_on_solver_side(within, names)
    names = replace(names, constraints=() if within is None else within.inequality_texts)
    start, doubt = _start(x0, point, form.n_rows, raveling, names, within)
    flat = on_solver_side(form.flat, names)
    return Problem(form, flat, start, raveling, names, within, calls, doubt)


def _read_x0(
    x0: PyTree, bounds: object, n_variables: int | None
) -> tuple[PyTree, PyTree | None, Raveling]:
    """A start x0 with float64 leaves, one value of x there (None where only bounds are given), and
    its form; or an error in one line: x0 must be an array, a pytree of arrays, or a surface, all
    finite.

    A plain list of numbers is taken for a vector.
    """
    if isinstance(x0, BezierSimplex):
        _floats(x0.control_points)
        x = jax.tree.map(lambda leaf: np.asarray(leaf[0]), x0.control_points)
        return x0, x, Raveling.of(x)
    if x0 is not None:
        plain = isinstance(x0, list | tuple) and len(x0) > 0
        if plain and all(isinstance(entry, int | float | np.number) for entry in x0):
            x0 = np.asarray(x0)  # [0, 0, 0] means a vector to everybody but JAX
        x0 = _floats(x0)
        return x0, x0, Raveling.of(x0)
    if bounds is None:
        raise ValueError(
            "x0 must be given where there are no bounds: an array, a pytree of arrays, or a surface"
        )
    raveling = raveling_of_bounds(bounds, n_variables)
    if raveling is None:
        raise ValueError(
            f"x0 must be given, since bounds={bounds!r} do not tell how many variables there are"
        )
    return None, None, raveling


def _floats(x0: PyTree) -> PyTree:
    """A pytree of numbers with float64 leaves, or an error in one line."""
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
    names: Names,
    automatic: bool,
    calls: Calls,
) -> tuple[Form, Raveling]:
    """The objectives as a function of the flat vector, in the user's units or in those that suit
    them."""

    def read(raveling: Raveling, known: Differences | None = None) -> Form:
        sides = box.lower / raveling.units, box.upper / raveling.units
        point = np.clip(np.asarray(raveling.ravel(x)), *sides)
        return read_function(
            objectives, raveling, point, "objectives", sides, automatic, calls, known
        )

    raveling = box.raveling
    if x_scale is not None:
        if any(names.transforms):
            raise ValueError("x_scale and transforms do not go together: leave one of them out")
        raveling = raveling.scaled(_read_x_scale(x_scale, raveling.n_variables))
    form = read(raveling)
    # logarithms need no units
    finds_scale = automatic and x_scale is None and not any(names.transforms)
    finds_scale = finds_scale and _affords_scale(form, box, raveling.n_variables, calls)
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


class SolverObjectives(eqx.Module):
    """z ↦ s · f(x(z)) for objectives f, or the rows of a constraint, of a flat vector."""

    objectives: Callable[[Array], Array]
    signs: Float[np.ndarray, " n_objectives"]
    transforms: tuple[str, ...] = eqx.field(static=True)

    def whole(
        self, points: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_variables"] | None:
        """Where f is evaluated for these z; None where that is not known to the last bit."""
        # NumPy and a compiled program may round 10^z differently
        return None if any(self.transforms) else points

    def __call__(self, z: Float[Array, " n_variables"]) -> Float[Array, " n_objectives"]:
        """All of these are minimized."""
        return jnp.asarray(self.signs) * self.objectives(jnp.asarray(decode(z, self.transforms)))


def on_solver_side(objectives: FlatObjectives, names: Names) -> FlatObjectives:
    """Objectives of a flat vector as a solver minimizes them."""
    if is_plain(names):
        return objectives
    return SolverObjectives(objectives, names.signs, names.transforms)


def is_plain(names: Names) -> bool:
    """Whether a solver sees what people see."""
    return not any(names.transforms) and bool((names.signs > 0).all())


def box_on_solver_side(feasible: FeasibleSet, names: Names) -> FeasibleSet:
    """Bounds and constraints on x as those on z. A lower bound of 0 is none for a logarithm."""
    kinds = names.transforms
    if not any(kinds):
        return feasible
    logarithms = np.array([bool(kind) for kind in kinds])
    wrong = logarithms & (feasible.upper <= 0)
    if wrong.any():
        name = names.variables[int(np.argmax(wrong))]
        raise ValueError(f"bounds must allow positive values of {name}, whose logarithm is taken")
    # log 0 = −∞ is no bound; a negative one has no logarithm
    positive = np.where(logarithms, np.maximum(feasible.lower, 0.0), feasible.lower)
    rows = tuple(
        c.of(SolverObjectives(c.function, np.ones(len(c.lower)), kinds))
        for c in feasible.constraints
    )
    sides = encode(positive, kinds), encode(feasible.upper, kinds)
    return FeasibleSet(*sides, rows, names.solver_variables)


def point_in_words(
    z: Float[np.ndarray, " n_variables"], names: Names, units: np.ndarray | float = 1.0
) -> str:
    """A point of the solver, whose variables have units of their own, as people see it."""
    x = np.asarray(decode(np.asarray(z), names.transforms)) * units
    return np.array2string(x, precision=6, separator=", ")


def own(objectives: object, name: str) -> Any:
    """What a problem says about itself; a method of that name is something else."""
    found = getattr(objectives, name, None)
    return None if callable(found) else found


def read_names(
    objectives: object,
    maximize: Chosen,
    transforms: Transforms,
    n_objectives: int | None,
    n_variables: int,
) -> Names:
    """The names of a problem, complete, with directions and transforms: those given, else the
    problem's own.

    Where it is not known yet how many objectives there are, those of variables are complete.
    """
    names = own(objectives, "names")
    names = names if isinstance(names, Names) else Names()
    names = names.complete(n_objectives or names.n_objectives or 1, n_variables)
    maximize = own(objectives, "maximize") if maximize is None else maximize
    transforms = own(objectives, "transforms") if transforms is None else transforms
    # directions come with a number of objectives alone, since they are checked against it
    if maximize is not None and n_objectives is not None:
        chosen = read_chosen(maximize, names.objectives, "maximize")
        directions = np.where(chosen, "maximize", "minimize").tolist()
        names = replace(names, directions=tuple(directions))
    if transforms is not None:
        names = replace(names, transforms=_transforms(transforms, names.variables))
    if hasattr(objectives, "prox") and not is_plain(names):
        raise ValueError(
            "maximize and transforms do not go with objectives that have a prox, which is that of"
            " the objectives as they are; write the problem as one to be minimized in its own"
            " variables"
        )
    return names


def read_chosen(given: Chosen, names: tuple[str, ...], argument: str) -> tuple[bool, ...]:
    """Which objectives were chosen, by names, numbers, or a bool for each or all of them."""
    if isinstance(given, bool | np.bool_):
        listed = [given] * len(names)
    elif isinstance(given, str | int | np.integer):
        listed = [given]
    elif isinstance(given, Sequence | np.ndarray):
        listed = list(given.tolist() if isinstance(given, np.ndarray) else given)
    elif given is None:
        listed = []
    else:
        raise TypeError(
            f"{argument} must be a bool for each objective, or names or numbers of objectives, got"
            f" {given!r}"
        )
    if listed and all(isinstance(flag, bool | np.bool_) for flag in listed):
        if len(listed) != len(names):
            raise ValueError(
                f"{argument} must hold a bool for each of the {len(names)} objectives, got"
                f" {given!r}"
            )
        return tuple(map(bool, listed))
    chosen = {number_of(one, names, argument, "objective") for one in listed}
    return tuple(m in chosen for m in range(len(names)))


def _transforms(given: Transforms, names: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(given, Mapping):
        raise TypeError(
            "transforms must map variables to 'log10' or 'log', as in {'rate': 'log10'}, got"
            f" {given!r}"
        )
    found = {number_of(key, names, "transforms", "variable"): kind for key, kind in given.items()}
    for kind in found.values():
        if kind not in KINDS:
            raise ValueError(f"transforms must each be 'log10' or 'log', got {kind!r}")
    return tuple(found.get(i, "") for i in range(len(names)))


def number_of(one: object, names: tuple[str, ...], argument: str, kind: str) -> int:
    """The number of an objective or a variable given by name or number."""
    if isinstance(one, str):
        if one not in names:
            raise ValueError(
                f"{argument}: {one!r} is no {kind}; there are {', '.join(map(repr, names))}"
            )
        return names.index(one)
    # True is an int to Python, and would be the number 1
    if isinstance(one, bool) or not isinstance(one, int | np.integer) or not 0 <= one < len(names):
        raise ValueError(
            f"{argument} must give each {kind} by name, or by its number from 0 to"
            f" {len(names) - 1}, got {one!r}"
        )
    return int(one)
