"""Evaluations of a JAX function at batches of points: counted, within a budget, and compiled once
for blocks of a fixed size; and the multipliers of gradients."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Shaped

from ..compilation import program, quickly_compiled
from ..evaluations import Evaluations
from ..interrupts import BudgetSpentError, raise_if_interrupted, raise_if_late
from ..kinds import kind
from ..precision import double_precision
from .bridge import Bridge, Points, bridges, raise_failures
from .schedule import SCHEDULE

FlatObjectives = Callable[[Array], Array]
"""Objectives as flows see them: a JAX function of a flat vector, x (L,) -> (M,)."""


def all_variables(
    objectives: FlatObjectives, points: Float[np.ndarray, "n n_some"]
) -> Float[np.ndarray, "n n_all"] | None:
    """All variables of points, of objectives that call others with more variables or in other
    units and say so by a method `whole`; None where these are not known to the last bit before
    they are computed."""
    ask = getattr(objectives, "whole", None)
    return points if ask is None else ask(points)


@kind("objectives.derivatives/1")
@dataclass(frozen=True)
class Derivatives:
    """Values, gradients and, where asked for, Hessians of all objectives at n points."""

    points: Points
    values: Float[np.ndarray, "n n_objectives"]
    gradients: Float[np.ndarray, "n n_objectives n_variables"]
    hessians: Float[np.ndarray, "n n_objectives n_variables n_variables"] | None

    def take(self, rows: np.ndarray) -> "Derivatives":
        """Those at some of the points, given by their numbers or by a mask."""
        hessians = None if self.hessians is None else self.hessians[rows]
        return Derivatives(self.points[rows], self.values[rows], self.gradients[rows], hessians)

    def join(self, other: "Derivatives") -> "Derivatives":
        """Both together; with Hessians only if both have them."""
        both = None
        if self.hessians is not None and other.hessians is not None:
            both = np.concatenate([self.hessians, other.hessians])
        return Derivatives(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.gradients, other.gradients]),
            both,
        )


@kind("objectives.evaluator/1")
class JaxEvaluator:
    """Objectives x (L,) -> (M,) at batches of points, differentiated by JAX in double precision.

    It knows the evaluations made so far and the most that may be made. A point counts once for each
    of values, Jacobian and Hessian that was computed there, for all M objectives at once; the
    budget limits the points. A product of a Hessian with a vector counts as a Jacobian, which costs
    about as much. Differences count as what they are made of.

    An evaluator counts up, so it belongs into no state: a step opens one with the counts of its
    state and puts the new counts into the next state. Making one costs nothing: compiled programs
    are kept by the function (and by its arrays' shapes, where it is a pytree).
    """

    def __init__(
        self,
        objectives: FlatObjectives,
        n_objectives: int,
        n_variables: int,
        budget: int | None = None,
        spent: Evaluations | None = None,
    ):
        if budget is not None and budget < 0:
            raise ValueError(
                f"budget must be at least 0 evaluations, or None for no limit, got {budget}"
            )
        self.objectives, self.n_objectives, self.n_variables = objectives, n_objectives, n_variables
        self.budget, self.evaluations = budget, spent or Evaluations()
        self.block = block_size(n_objectives, n_variables, SCHEDULE.block_numbers)
        self.hessian_block = block_size(n_objectives, n_variables, SCHEDULE.hessian_numbers)

    @property
    def left(self) -> float:
        """How many values may still be computed."""
        return min(self._left)

    @property
    def _left(self) -> tuple[float, float]:
        """What the budget leaves, and what the limits of functions on the host do."""
        own = np.inf if self.budget is None else self.budget - int(self.evaluations.objective)
        calls = (bridge.calls.left for bridge in bridges(self.objectives))
        return own, min(calls, default=np.inf)

    def fresh(self, points: Points) -> Bool[np.ndarray, " n"]:
        """At which points a value would have to be computed: on the host, those not known yet."""
        parts, places = bridges(self.objectives), all_variables(self.objectives, points)
        if places is None or not parts:
            return np.ones(len(points), dtype=bool)
        return np.any([bridge.fresh(places) for bridge in parts], axis=0)

    @property
    def affordable(self) -> float:
        """At how many points Hessians may still be computed."""
        return self.left // self._cost(2)[0]

    def values(self, points: Points) -> Float[np.ndarray, "n n_objectives"]:
        """The objectives alone."""
        if len(points) == 0:  # a compiled block would call the host at a point of its own
            return np.zeros((0, self.n_objectives))
        return self._evaluate(_values, points)[1]

    def jacobians(self, points: Points) -> Derivatives:
        """Values and gradients."""
        return Derivatives(*self._evaluate(_jacobians, points, order=1), hessians=None)

    def hessians(self, points: Points) -> Derivatives:
        """Values, gradients and Hessians."""
        return Derivatives(*self._evaluate(_hessians, points, order=2))

    def products(
        self, points: Points, directions: Points
    ) -> Float[np.ndarray, "n n_objectives n_variables"]:
        """H_m(x) v for every objective m, at each point x with its own direction v."""
        directions = np.asarray(directions, dtype=float)
        return self._evaluate(_products, points, directions, order=2, counted=1)[1]

    def _evaluate(
        self,
        compute: Callable[..., tuple[Array, ...]],
        points: np.ndarray,
        *others: np.ndarray,
        order: int = 0,
        counted: int | None = None,
    ) -> list[np.ndarray]:
        """The points as float64, and what a compiled program returns there, after it was counted.

        The program needs derivatives up to an order; those up to `counted` count.
        """
        raise_if_interrupted()  # before the count, so that an interrupted run counts what it made
        points = np.asarray(points, dtype=float)
        cost = self._cost(order if counted is None else counted)
        # What is known to a function on the host is no call, but counts: whether it is known may
        # depend on the process that a run goes on in.
        calls = int(self.fresh(points).sum()) if order == 0 else len(points)
        if calls:
            raise_if_late()
        own_left, calls_left = self._left
        if len(points) * cost[0] > own_left or calls * cost[0] > calls_left:
            raise BudgetSpentError
        made = [int(old) + len(points) * n for old, n in zip(self.evaluations, cost, strict=True)]
        self.evaluations = Evaluations(*made)
        # Parts that run on the host are evaluated at all points at once, where these are known, so
        # that the program need only look them up.
        places = all_variables(self.objectives, points)
        if places is not None:
            for bridge in bridges(self.objectives):
                bridge.know(places, order)
        size = self.hessian_block if compute is _hessians else self.block
        found = in_blocks(partial(compute, self.objectives), size, points, *others)
        raise_failures(self.objectives)
        return [points, *found]

    def _cost(self, order: int) -> list[int]:
        """What derivatives up to this order count at a point; where there are parts of several
        kinds, the most of each."""
        parts = [bridge.prices(self.n_variables) for bridge in bridges(self.objectives)]
        # a function that is nothing but a bridge costs what the bridge does; any other adds its own
        innermost = self.objectives
        while hasattr(innermost, "objectives"):
            innermost = getattr(innermost, "objectives")  # noqa: B009
        if not isinstance(innermost, Bridge):
            parts.append(np.eye(3, dtype=int))
        return np.max([part[: order + 1].sum(axis=0) for part in parts], axis=0).tolist()


def count_objectives(objectives: FlatObjectives, n_variables: int) -> int:
    """M, seen by tracing the function; an error if it does not return a vector."""
    with double_precision():
        # A plain function: JAX asks what it traces for its name, which takes a problem milliseconds
        # to spell out.
        shape = jax.eval_shape(
            lambda x: objectives(x), jax.ShapeDtypeStruct((n_variables,), np.float64)
        ).shape
    if len(shape) != 1 or shape[0] < 1:
        raise ValueError(
            f"objectives must return one vector with a value for each objective, got shape {shape}"
        )
    return shape[0]


def block_size(n_objectives: int, n_variables: int, most_numbers: int) -> int:
    """How many points one compiled call takes, whose Hessians hold so many numbers at most."""
    most = most_numbers // (n_objectives * n_variables**2)
    return int(np.clip(most, 1, SCHEDULE.block))


def in_blocks(
    function: Callable[..., Sequence], size: int, *arrays: np.ndarray
) -> list[np.ndarray]:
    """The parts that `function` returns for the rows of all arrays, computed in blocks of `size`
    rows, in double precision.

    The last block is filled up with copies of its last row (with zeros if there are no rows at
    all), whose results are dropped.
    """
    n, parts = len(arrays[0]), []
    if n == 0:
        arrays = tuple(np.zeros((1, *array.shape[1:]), array.dtype) for array in arrays)
    with double_precision():
        for start in range(0, max(n, 1), size):
            rows = np.minimum(np.arange(start, start + size), max(n, 1) - 1)
            parts.append(function(*[array[rows] for array in arrays]))
    columns = zip(*parts, strict=True)
    return [np.concatenate([np.asarray(part) for part in column])[:n] for column in columns]


def replace_rows(
    array: Shaped[np.ndarray, "n ..."], rows: np.ndarray, values: np.ndarray | float
) -> np.ndarray:
    """A copy of the array with some of its rows replaced."""
    array = np.array(array)
    array[rows] = values
    return array


def find_multipliers(
    gram: Float[np.ndarray, "n n_objectives n_objectives"],
    faces: Bool[np.ndarray, "n n_objectives"],
) -> Float[np.ndarray, "n n_objectives"]:
    """The convex combinations w of unit vectors with these Gram matrices nearest to 0, with w_m = 0
    outside of the faces. Of gradient directions ĝ: a point is Pareto critical for the objectives J
    exactly if some w ∈ Δ_J has Σ w_m ĝ_m = 0.

    With w = u/Σu it is min |Σ u_m ĝ_m|² + (1 − Σ u_m)² over u ≥ 0, nonnegative least squares: for
    a given direction of u the best length leaves |ρ|²/(1 + |ρ|²), which grows with |ρ|.
    """
    from scipy.optimize import nnls  # a third of a second that pictures and files do without

    values, vectors = np.linalg.eigh(gram)
    factors = np.sqrt(np.maximum(values, 0.0))[:, :, None] * np.swapaxes(vectors, 1, 2)
    w, right = np.zeros(faces.shape), np.append(np.zeros(faces.shape[1]), 1.0)
    for row, factor, face in zip(w, factors, faces, strict=True):
        members = np.flatnonzero(face)
        u = nnls(np.vstack([factor[:, members], np.ones(len(members))]), right)[0]
        row[members] = u / u.sum()
    return w


def _value_and_gradients(objectives: FlatObjectives, x: Array) -> tuple[Array, Array]:
    value, pullback = jax.vjp(objectives, x)
    return value, jax.vmap(lambda row: pullback(row)[0])(jnp.eye(len(value), dtype=value.dtype))


@quickly_compiled
def _values(objectives: FlatObjectives, x: Array) -> tuple[Array]:
    return (jax.vmap(objectives)(x),)


@quickly_compiled
def _jacobians(objectives: FlatObjectives, x: Array) -> tuple[Array, Array]:
    return jax.vmap(partial(_value_and_gradients, objectives))(x)


@quickly_compiled
def _hessians(objectives: FlatObjectives, x: Array) -> tuple[Array, Array, Array]:
    def gradients_twice(point: Array) -> tuple[Array, tuple[Array, Array]]:
        value, gradients = _value_and_gradients(objectives, point)
        return gradients, (value, gradients)

    def everything(point: Array) -> tuple[Array, Array, Array]:
        hessians, (value, gradients) = jax.jacfwd(gradients_twice, has_aux=True)(point)
        return value, gradients, (hessians + jnp.swapaxes(hessians, -1, -2)) / 2

    return jax.vmap(everything)(x)


@program
def _products(objectives: FlatObjectives, x: Array, v: Array) -> tuple[Array]:
    def product(point: Array, direction: Array) -> Array:
        return jax.jvp(lambda y: _value_and_gradients(objectives, y)[1], (point,), (direction,))[1]

    return (jax.vmap(product)(x, v),)
