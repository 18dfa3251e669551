"""A problem whose objectives have kinks as a smooth one with more variables and constraints, for
the atlas; and the design next to an atlas that solves it exactly."""

from contextlib import suppress
from typing import NamedTuple, cast

import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float

from ..answer import BezierAtlas, Solution
from ..atlas import settle
from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..flows import search_box
from ..kinks import (
    CannotLiftError,
    Lifted,
    Lifting,
    find_kinks,
    has_norms,
    lift_kinks,
    with_slopes,
)
from ..objectives import (
    BudgetSpentError,
    Constraint,
    FeasibleSet,
    FlatObjectives,
    JaxEvaluator,
    feasible_set,
)
from .schedule import SCHEDULE


class Kinked(NamedTuple):
    """A problem with its kinks lifted: variables (x, u), and a direction d for each norm.

    Attributes:
        objectives: F(x, u, d).
        start: the start, with the kinks there in place of u.
        feasible: the user's bounds and constraints on x, and the rows of the kinks.
        box: finite bounds to look in.
        why: what was lifted, for the message.
        evaluations: what it took to find the box.
        known: designs that are known to be good, likewise.
    """

    objectives: Lifted
    start: BezierSimplex
    feasible: FeasibleSet
    box: tuple[np.ndarray, np.ndarray]
    why: str
    evaluations: Evaluations
    known: Float[np.ndarray, "n n_all"]


def lift_problem(
    flat: FlatObjectives,
    start: BezierSimplex,
    feasible: FeasibleSet | None,
    budget: int | None = None,
    found: Float[np.ndarray, "n n_variables"] | None = None,
    good: Float[np.ndarray, "k n_variables"] | None = None,
) -> Kinked | None:
    """The problem with its kinks lifted; None where there are none. Raises `CannotLiftError` where
    they cannot be.

    A norm is lifted where it may be 0 on the set, held against the start, minimizers, designs that
    were found before, and those that are known to be good, around which the box lies, too.
    """
    feasible = feasible or feasible_set(None, None, start.n_variables)
    if find_kinks(flat, start.n_variables) == 0:
        return None
    # The slope of a norm at 0 is not a number; with a finite one the descent goes on.
    evaluator = JaxEvaluator(
        with_slopes(flat, start.n_variables), start.n_objectives, start.n_variables, budget
    )
    good = np.zeros((0, start.n_variables)) if good is None else good
    x = np.concatenate([np.asarray(start.control_points, dtype=float), good])
    known = x
    if not feasible.has_finite_box or has_norms(flat, start.n_variables):
        known = np.concatenate([known, minimizers(evaluator, start, feasible)])
    box = box_around(known, start, feasible)
    places = known if found is None else np.concatenate([known, found])
    obey = feasible.violation(places) <= 0
    lifting = lift_kinks(flat, box, feasible.has_finite_box, (places, obey))
    if lifting is None:
        return None
    lifted, n = lifting.lifted, lifting.lifted.plan.n_kinks
    # the start is feasible for the rows of the kinks: u are their exact values there
    u = np.asarray([lifted.exact(jnp.asarray(point)) for point in x])
    points = np.concatenate([x, u], axis=1)
    begin, good = np.split(points, [len(points) - len(good)])
    begin = BezierSimplex(begin, start.n_objectives, start.degree)
    both = np.concatenate([box[0], lifting.box[0]]), np.concatenate([box[1], lifting.box[1]])
    rest = f" (those of {', '.join(lifting.rest)} were not)" if lifting.rest else ""
    kinks, were = ("kinks", "were") if n > 1 else ("kink", "was")
    why = f"{n} {kinks} of the objectives {were} lifted{rest}"
    rows, spent = _with_rows(feasible, lifting), evaluator.evaluations
    return Kinked(lifted, begin, rows, both, why, spent, good)


def _with_rows(feasible: FeasibleSet, lifting: Lifting) -> FeasibleSet:
    """The feasible set of (x, u, d)."""
    lifted, n = lifting.lifted, lifting.lifted.n_auxiliary
    # `Partial` compares by its parts, so that a program is compiled once.
    own = [c.of(Partial(_of_x, c.function, lifted.n_variables)) for c in feasible.constraints]
    rows = Constraint(Partial(Lifted.rows, lifted), *lifted.plan.limits, ("kinks",))
    lower = np.append(feasible.lower, lifting.lower)
    upper = np.append(feasible.upper, np.full(n, np.inf))
    names = (*feasible.variables, *(f"kink {k + 1}" for k in range(n)))
    return FeasibleSet(lower, upper, (*own, rows), names)


def _of_x(function, n_variables: int, xu: Float[Array, " n_all"]) -> Array:
    """A constraint's function of x as one of (x, u, d)."""
    return function(xu[:n_variables])


def minimizers(
    evaluator: JaxEvaluator, start: BezierSimplex, feasible: FeasibleSet
) -> Float[np.ndarray, "n n_variables"]:
    """About where each objective is least, where that is finite: the descent knows nothing of kinks
    or constraints."""
    from scipy.optimize import minimize

    bounds, ends = list(zip(feasible.lower, feasible.upper, strict=True)), []
    for m in range(start.n_objectives):

        def look(x: np.ndarray, m: int = m) -> tuple[float, np.ndarray]:
            found = evaluator.jacobians(x[None])
            return float(found.values[0, m]), found.gradients[0, m]

        x, options = np.asarray(start.vertex(m), dtype=float), {"maxiter": SCHEDULE.descent_steps}
        with suppress(BudgetSpentError):  # then its start must do
            x = minimize(look, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
        ends.append(x)
    return np.array([end for end in ends if np.isfinite(end).all()]).reshape(-1, start.n_variables)


def box_around(
    x: Float[np.ndarray, "n n_variables"],
    start: BezierSimplex,
    feasible: FeasibleSet,
    widths: float = 1.0,
) -> tuple[Float[np.ndarray, " n_variables"], Float[np.ndarray, " n_variables"]]:
    """A finite box to look in: the bounds, and where there are none what lies between points and so
    many widths of it beyond, on each side."""
    low, high = x.min(axis=0), x.max(axis=0)
    margin = widths * np.maximum(high - low, SCHEDULE.narrowest * (high - low).max())
    if feasible.has_finite_box or not np.isfinite(x).all() or not margin.max() > 0:
        return search_box(feasible, start)
    lower, upper = feasible.lower, feasible.upper
    return (
        np.where(np.isfinite(lower), lower, np.minimum(low, upper) - margin),
        np.where(np.isfinite(upper), upper, np.maximum(high, lower) + margin),
    )


def settle_on_atlas(
    solution: Solution, x: Float[np.ndarray, " n_variables"]
) -> Float[np.ndarray, " n_variables"] | None:
    """The Pareto point next to a design near an atlas, up to rounding; None where a search from
    there ends at none.

    It is the solution above the chart point of f(x): no objective is above its value at x by more
    than x is below the front. Bounds and constraints hold. Flat vectors of the solver's variables.
    """
    atlas = cast(BezierAtlas, solution.pareto_set).turned(solution.names.signs)
    n, units, feasible = atlas.n_variables, atlas.units, solution.feasible
    if feasible is None:  # of a file, which has bounds alone
        if units.n_auxiliary == 0 and len(atlas.patches[0].label.constraints):
            raise ValueError(
                "this solution has constraints, and files do not keep their code: polish before"
                " saving"
            )
        feasible = feasible_set((units.lower[:n], units.upper[:n]), None, n)
    scale = np.ones(len(x)) if feasible.scale is None else np.array(feasible.scale)
    if units.discrete:  # these keep their values
        held = np.isin(np.arange(n), list(units.discrete))
        low, high = (np.where(held, x / scale, side) for side in (feasible.lower, feasible.upper))
        rest = feasible.constraints, feasible.variables, feasible.scale
        feasible = FeasibleSet(low, high, *rest)
    objectives = Partial(_in_units, solution.flat_objectives, scale)
    scales = units.ideal, units.span
    if units.n_auxiliary:
        start = BezierSimplex(np.tile(x / scale, (atlas.n_objectives, 1)), atlas.n_objectives, 1)
        try:
            kinked = lift_problem(
                objectives, start, feasible, found=units.x(atlas.points.z) / scale
            )
        except CannotLiftError:
            return None
        if kinked is not None:
            begin = np.append(x / scale, np.zeros(kinked.objectives.n_auxiliary))
            found = settle(kinked.objectives, kinked.feasible, kinked.box, scales, begin)
            return None if found is None else scale * found[: len(x)]
    low, high = units.searched
    found = settle(objectives, feasible, (low / scale, high / scale), scales, x / scale)
    return None if found is None else scale * found


def _in_units(
    objectives: FlatObjectives, units: Array | np.ndarray, x: Float[Array, " n_variables"]
) -> Array:
    """Objectives as a function of variables in units of their own."""
    return objectives(x * jnp.asarray(units))
