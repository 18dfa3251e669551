"""A problem whose objectives have kinks as a smooth one with more variables and constraints, for
the atlas."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..flows import search_box
from ..kinks import (
    KinkRows,
    Lifted,
    Lifting,
    Places,
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

MOST_STEPS = 200
"""Of the descent to each objective's minimizer that gives an unbounded problem its scale."""

NARROWEST = 0.1
"""The box of an unbounded variable is at least this share of the widest."""


class Kinked(NamedTuple):
    """A problem with its kinks lifted: variables (x, u), and a direction d for each norm.

    Attributes:
        objectives: F(x, u, d).
        start: the start, with the kinks there in place of u.
        feasible: the user's bounds and constraints on x, and the rows of the kinks.
        box: finite bounds to look in.
        why: what was lifted, for the message.
        evaluations: what it took to find the box.
    """

    objectives: Lifted
    start: BezierSimplex
    feasible: FeasibleSet
    box: tuple[np.ndarray, np.ndarray]
    why: str
    evaluations: Evaluations


class OfX(eqx.Module):
    """A constraint's function of x as one of (x, u)."""

    function: Callable[[Array], Array]
    n_variables: int = eqx.field(static=True)

    def __call__(self, xu: Float[Array, " n_all"]) -> Float[Array, " n_rows"]:
        """c(x)."""
        return self.function(xu[: self.n_variables])


def lift_problem(
    flat: FlatObjectives,
    start: BezierSimplex,
    feasible: FeasibleSet | None,
    budget: int | None = None,
    found: Float[np.ndarray, "n n_variables"] | None = None,
) -> Kinked | None:
    """The problem with its kinks lifted; None where there are none. Raises `CannotLiftError` where
    they cannot be.

    A norm is lifted where it may be 0 on the set, held against the start, minimizers, and designs
    that were found before.
    """
    feasible = feasible or feasible_set(None, None, start.n_variables)
    if find_kinks(flat, start.n_variables) == 0:
        return None
    evaluator = JaxEvaluator(
        with_slopes(flat, start.n_variables), start.n_objectives, start.n_variables, budget
    )
    known = np.asarray(start.control_points, dtype=float)
    if not feasible.has_finite_box or has_norms(flat, start.n_variables):
        known = np.concatenate([known, minimizers(evaluator, start, feasible)])
    box = settled_box(known, start, feasible)
    places = known if found is None else np.concatenate([known, found])
    lifting = lift_kinks(
        flat, box, feasible.has_finite_box, Places(places, feasible.violation(places) <= 0)
    )
    if lifting is None:
        return None
    lifted, n = lifting.lifted, lifting.lifted.plan.n_kinks
    x = np.asarray(start.control_points, dtype=float)
    u = np.asarray([lifted.exact(jnp.asarray(point)) for point in x])
    points = BezierSimplex(np.concatenate([x, u], axis=1), start.n_objectives, start.degree)
    both = np.concatenate([box[0], lifting.box[0]]), np.concatenate([box[1], lifting.box[1]])
    rest = f" (those of {', '.join(lifting.rest)} were not)" if lifting.rest else ""
    why = (
        f"{n} kink{'s' if n > 1 else ''} of the objectives {'were' if n > 1 else 'was'}"
        f" lifted{rest}: "
    )
    return Kinked(lifted, points, _with_rows(feasible, lifting), both, why, evaluator.evaluations)


def _with_rows(feasible: FeasibleSet, lifting: Lifting) -> FeasibleSet:
    """The feasible set of (x, u, d)."""
    lifted = lifting.lifted
    n = lifted.n_auxiliary
    own = [
        Constraint(OfX(c.function, lifted.n_variables), c.lower, c.upper, c.name)
        for c in feasible.constraints
    ]
    rows = Constraint(KinkRows(lifted), *lifted.plan.limits, "kinks")
    lower, upper = (
        np.append(feasible.lower, lifting.lower),
        np.append(feasible.upper, np.full(n, np.inf)),
    )
    names = (*feasible.variables, *(f"kink {k + 1}" for k in range(n)))
    return FeasibleSet(lower, upper, (*own, rows), names)


def minimizers(
    evaluator: JaxEvaluator, start: BezierSimplex, feasible: FeasibleSet
) -> Float[np.ndarray, "n n_variables"]:
    """About where each objective is least, where that is finite: the descent knows nothing of kinks
    or constraints."""
    ends = [
        _descend(evaluator, m, np.asarray(start.vertex(m), dtype=float), feasible)
        for m in range(start.n_objectives)
    ]
    return np.array([end for end in ends if np.isfinite(end).all()]).reshape(-1, start.n_variables)


def settled_box(
    known: Float[np.ndarray, "n n_variables"], start: BezierSimplex, feasible: FeasibleSet
) -> tuple[Float[np.ndarray, " n_variables"], Float[np.ndarray, " n_variables"]]:
    """A finite box to look in: the bounds, and where there are none three times as wide as what
    lies between the known points."""
    wide = search_box(feasible, start)
    if feasible.has_finite_box:
        return wide
    low, high = known.min(axis=0), known.max(axis=0)
    margin = np.maximum(high - low, NARROWEST * (high - low).max())
    if not margin.max() > 0:
        return wide
    lower = np.where(
        np.isfinite(feasible.lower), feasible.lower, np.minimum(low, feasible.upper) - margin
    )
    return lower, np.where(
        np.isfinite(feasible.upper), feasible.upper, np.maximum(high, feasible.lower) + margin
    )


def _descend(
    evaluator: JaxEvaluator, m: int, x: np.ndarray, feasible: FeasibleSet
) -> Float[np.ndarray, " n_variables"]:
    """About where objective m is least."""
    from scipy.optimize import minimize

    def look(x: np.ndarray) -> tuple[float, np.ndarray]:
        found = evaluator.jacobians(x[None])
        return float(found.values[0, m]), found.gradients[0, m]

    bounds = list(zip(feasible.lower, feasible.upper, strict=True))
    try:
        return minimize(
            look, x, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MOST_STEPS}
        ).x
    except BudgetSpentError:
        return x
