"""Which kinks of a function are given a variable, and whether the smooth problem has the same
solutions: seen at samples."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..compilation import program
from ..precision import double_precision
from ..simplex import kronecker
from .interpreter import beyond_reach, count_kinks
from .lifted import AS_IT_IS, Lifted, Norm, Plan
from .tips import Places, may_be_met

N_SAMPLES = 256
"""Points of the box at which kinks are looked at."""

MOST_KINKS = 100
"""A problem with more is not lifted: each of them adds a variable and at least two rows to every
system of equations."""

FALLING = 1e-9
"""Slopes above minus this share of the largest count as nonnegative."""

NEAR_KINK, VANISHING = 1e-8, 1e-4
"""An absolute value is smooth in a function whose slope by it vanishes with it: at the first share
of it, below the second."""

TIP = 1e-8
"""The ε of a norm, as a share of its median at the samples: how far from 0 its terms are where they
should be 0."""

SAME = 1e-12
"""Kinks and arms that differ by less at all samples, relative to their size, are the same."""


class CannotLiftError(Exception):
    """Kinks that cannot be lifted, and why."""


class KinkRows(eqx.Module):
    """(x, u, d) -> the rows that hold where each u is at least its kink."""

    lifted: Lifted

    def __call__(self, xu: Float[Array, " n_all"]) -> Float[Array, " n_rows"]:
        """The rows."""
        return self.lifted.rows(xu)


class Lifting(NamedTuple):
    """A function with its kinks lifted.

    Attributes:
        lifted: F(x, u, d).
        box: the range of each u over the samples and of each d, to measure them in.
        lower: bounds of u and d: norms are at least 0.
        rest: operations of the function that may have further kinks, which were not lifted.
    """

    lifted: Lifted
    box: tuple[Float[np.ndarray, " n_auxiliary"], Float[np.ndarray, " n_auxiliary"]]
    lower: Float[np.ndarray, " n_auxiliary"]
    rest: tuple[str, ...]


class _Kinks(NamedTuple):
    """The kinks of a function at samples: parts by operation (n, n_parts, n_values), values and
    slopes by u in one array each."""

    x: Float[np.ndarray, "n n_variables"]
    parts: list[np.ndarray]
    is_norm: Bool[np.ndarray, " n_kinks"]
    met: Bool[np.ndarray, " n_kinks"]
    """Which are norms that may be 0 on the set; all norms, where nothing is known of it."""
    u: Float[np.ndarray, "n n_kinks"]
    slopes: Float[np.ndarray, "n n_outputs n_kinks"]
    slopes_near: Float[np.ndarray, "n n_outputs n_kinks"]
    """With absolute values and norms near 0."""

    @property
    def inert(self) -> Bool[np.ndarray, " n_kinks"]:
        """Which have no effect on slopes."""
        return _largest(self.slopes_near) <= VANISHING * _largest(self.slopes)


def find_kinks(objectives: Callable[[Array], Array], n_variables: int) -> int:
    """How many kinks the objectives have that may be lifted. They are traced and not evaluated.

    Raises:
        CannotLiftError: where there are only others, or too many.
    """
    with double_precision():
        n = sum(size.n for size in count_kinks(objectives, n_variables))
        rest = _rest(objectives, n_variables, 0)
    if n == 0:
        _refuse_rest(rest)
    _refuse_many(n)
    return n


def has_norms(objectives: Callable[[Array], Array], n_variables: int) -> bool:
    """Whether norms are among the kinks that may be lifted."""
    with double_precision():
        return any(size.is_norm for size in count_kinks(objectives, n_variables))


def with_slopes(objectives: Callable[[Array], Array], n_variables: int) -> Lifted:
    """The same function, with slopes of norms at 0 that are finite."""
    with double_precision():
        return Lifted(objectives, n_variables, Plan.nothing(count_kinks(objectives, n_variables)))


def _refuse_rest(rest: tuple[str, ...]) -> None:
    if rest:
        raise CannotLiftError(
            f"those of {', '.join(rest)} have no finite number of smooth arms, or lie in a loop"
        )


def _refuse_many(n: int) -> None:
    if n > MOST_KINKS:
        raise CannotLiftError(f"there are {n} of them, and at most {MOST_KINKS} are lifted")


def _rest(
    objectives: Callable[[Array], Array], n_variables: int, n_settled: int
) -> tuple[str, ...]:
    """What may have kinks besides those that are lifted, some norms having been settled."""
    names = beyond_reach(jax.make_jaxpr(lambda x: objectives(x))(jnp.zeros(n_variables)))
    settled = names.count("norm") <= n_settled
    return tuple(sorted(set(names) - ({"norm"} if settled else set())))


def lift_kinks(
    objectives: Callable[[Array], Array],
    box: tuple[np.ndarray, np.ndarray],
    whole: bool = False,
    places: Places | None = None,
) -> Lifting | None:
    """The objectives with their kinks lifted, or None where no kink is found.

    Args:
        objectives: a function of a flat vector, written in JAX.
        box: finite bounds, in which kinks are looked for.
        whole: whether x stays in the box, so that a kink that never switches there is smooth.
        places: designs all over the set, roughly: a norm that is not 0 on the set by what they tell
            is not lifted.

    Raises:
        CannotLiftError: where kinks are found but the lifted problem would have other solutions, or
            would be too large.
    """
    n_variables = len(box[0])
    if find_kinks(objectives, n_variables) == 0:
        return None
    x = box[0] + kronecker(N_SAMPLES, n_variables) * (box[1] - box[0])
    with double_precision():
        everything = Plan.everything(count_kinks(objectives, n_variables))
        kinks = _look(Lifted(objectives, n_variables, everything), x, places)
        lifted = Lifted(objectives, n_variables, _plan(kinks, whole))
        plan, rest = lifted.plan, _rest(objectives, n_variables, _n_settled(kinks, lifted.plan))
        if lifted.n_auxiliary == 0:
            if kinks.is_norm.any():
                _refuse_rest(rest)
            return None
        _refuse_many(lifted.n_auxiliary)
        u, plain = (
            kinks.u[:, plan.firsts],
            Lifted(objectives, n_variables, plan.without_directions()),
        )
        _check_slopes(
            plain, kinks.slopes if plain.plan == everything else _slopes_at(plain, kinks.x, u)
        )
    low, high, lower = u.min(axis=0), u.max(axis=0), np.full(lifted.n_auxiliary, -np.inf)
    norms = [norm.variable for norm in plan.norms]
    low[norms] = lower[norms] = 0.0
    sides = np.ones(plan.n_directions)
    return Lifting(
        lifted,
        (np.append(low, -sides), np.append(np.where(high > low, high, low + 1.0), sides)),
        lower,
        rest,
    )


def _n_settled(kinks: _Kinks, plan: Plan) -> int:
    """How many operations have norms all of which have a variable, no effect on slopes, or no kink
    on the set."""
    fine = (np.array(plan.variables) != AS_IT_IS) | kinks.inert | ~kinks.met
    ends = np.cumsum([part.shape[2] for part in kinks.parts])[:-1]
    return sum(
        bool(ok.all() and norm.all())
        for ok, norm in zip(np.split(fine, ends), np.split(kinks.is_norm, ends), strict=True)
    )


def _outputs(lifted: Lifted, x: Array, u: Array) -> Array:
    """The objectives and all arms, which have to be nondecreasing in u."""
    f, kinks, _ = lifted.evaluate(jnp.concatenate([x, u]))
    return jnp.concatenate([f, *(each.parts.ravel() for each in kinks)])


@program
def _slopes(lifted: Lifted, x: Array, u: Array) -> Float[Array, "n n_outputs n_auxiliary"]:
    return jax.vmap(jax.jacfwd(lambda x, u: _outputs(lifted, x, u), argnums=1))(x, u)


def _slopes_at(
    lifted: Lifted, x: np.ndarray, u: np.ndarray
) -> Float[np.ndarray, "n n_outputs n_auxiliary"]:
    return np.asarray(_slopes(lifted, jnp.asarray(x), jnp.asarray(u)))


@program
def _parts(lifted: Lifted, x: Array) -> list[Array]:
    def parts(x: Array) -> list[Array]:
        return [each.parts for each in lifted.evaluate(jnp.concatenate([x, lifted.exact(x)]))[1]]

    return jax.vmap(parts)(x)


def _look(lifted: Lifted, x: np.ndarray, places: Places | None) -> _Kinks:
    sizes = count_kinks(lifted.objectives, lifted.n_variables)
    norms = np.repeat([size.is_norm for size in sizes], [size.n for size in sizes])
    parts = [np.asarray(part) for part in _parts(lifted, jnp.asarray(x))]
    fine = np.isfinite(np.concatenate([part.reshape(len(x), -1) for part in parts], axis=1)).all(
        axis=1
    )
    if not fine.any():
        raise CannotLiftError("the arguments of kinks are not finite at any sample")
    parts, x = [part[fine] for part in parts], x[fine]
    u = _values(parts, norms)
    met = (
        norms
        if places is None or not norms.any()
        else may_be_met(lifted, norms, np.median(u, axis=0), places)
    )
    opposite = [(part.sum(axis=1) == 0).all(axis=0) & (part.shape[1] == 2) for part in parts]
    near = np.where(norms | np.concatenate(opposite), NEAR_KINK * u, u)
    return _Kinks(x, parts, norms, met, u, _slopes_at(lifted, x, u), _slopes_at(lifted, x, near))


def _values(
    parts: list[np.ndarray], is_norm: Bool[np.ndarray, " n_kinks"]
) -> Float[np.ndarray, "n n_kinks"]:
    largest = np.concatenate([part.max(axis=1) for part in parts], axis=1)
    return np.where(
        is_norm, np.concatenate([np.linalg.norm(part, axis=1) for part in parts], axis=1), largest
    )


def _plan(kinks: _Kinks, whole: bool) -> Plan:
    """What becomes of each kink.

    Kinks without effect on slopes stay: those behind `stop_gradient`, and those that a square makes
    smooth. One that never switches is replaced by its largest arm where x stays in the box;
    elsewhere it stays if it cannot be lifted. A norm stays where its kink is not met.
    """
    winners = np.concatenate([part.argmax(axis=1) for part in kinks.parts], axis=1)
    switches = (winners != winners[0]).any(axis=0) | kinks.is_norm
    inert = kinks.inert
    stays = inert | (~switches & (whole | _falling(kinks.slopes))) | (kinks.is_norm & ~kinks.met)
    variables, factors = np.full(len(stays), AS_IT_IS), np.ones(len(stays))
    firsts: list[int] = []
    size = np.maximum(np.linalg.norm(kinks.u, axis=0), np.finfo(float).tiny)
    shapes = kinks.u / size
    for k in np.flatnonzero(~stays):
        same = [i for i in firsts if np.abs(shapes[:, i] - shapes[:, k]).max() < SAME]
        if same:
            variables[k], factors[k] = variables[same[0]], size[k] / size[same[0]]
        else:
            variables[k] = len(firsts)
            firsts.append(int(k))
    winner = np.where(~switches & ~inert & whole, winners[0], AS_IT_IS)
    rows = _different_arms(kinks.parts, [k for k in firsts if not kinks.is_norm[k]])
    n_terms = np.repeat(
        [part.shape[1] for part in kinks.parts], [part.shape[2] for part in kinks.parts]
    )
    norms = [
        Norm(k, number, int(n_terms[k]), TIP * float(np.median(kinks.u[:, k])))
        for number, k in enumerate(firsts)
        if kinks.is_norm[k]
    ]
    return Plan(
        tuple(variables.tolist()),
        tuple(factors.tolist()),
        tuple(winner.tolist()),
        tuple(rows),
        tuple(norms),
    )


def _different_arms(arms: list[np.ndarray], kinks: list[int]) -> list[int]:
    """The numbers of the arms of some kinks, among all arms; of equal ones the first."""
    numbers, n_arms, n_kinks = [], 0, 0
    for part in arms:
        for k in range(part.shape[2]):
            seen: list[np.ndarray] = []
            for i in range(part.shape[1] if n_kinks + k in kinks else 0):
                arm = part[:, i, k]
                if not any(np.abs(arm - other).max() <= SAME * np.abs(arm).max() for other in seen):
                    seen.append(arm)
                    numbers.append(n_arms + i * part.shape[2] + k)
        n_arms, n_kinks = n_arms + part.shape[1] * part.shape[2], n_kinks + part.shape[2]
    return sorted(numbers)


def _largest(slopes: Float[np.ndarray, "n n_outputs n_kinks"]) -> Float[np.ndarray, " n_kinks"]:
    return np.abs(np.where(np.isfinite(slopes), slopes, 0.0)).max(axis=(0, 1))


def _falling(slopes: Float[np.ndarray, "n n_outputs n_kinks"]) -> Bool[np.ndarray, " n_kinks"]:
    """For which kinks some output falls as the kink rises."""
    known = np.where(np.isfinite(slopes), slopes, 0.0)
    largest = np.abs(known).max(axis=(0, 2), keepdims=True, initial=0.0)
    return np.any(known < -FALLING * np.maximum(largest, np.finfo(float).tiny), axis=(0, 1))


def _check_slopes(lifted: Lifted, slopes: Float[np.ndarray, "n n_outputs n_auxiliary"]) -> None:
    """Raises unless the objectives, and all arms, are nondecreasing in each u."""
    if _falling(slopes).any():
        with double_precision():
            M = jax.eval_shape(
                lifted.objectives, jax.ShapeDtypeStruct((lifted.n_variables,), np.float64)
            ).shape[0]
        wrong = [m for m in range(M) if _falling(slopes[:, m : m + 1]).any()]
        who = f"objective {wrong[0] + 1}" if wrong else "another kink"
        raise CannotLiftError(
            f"{who} falls as an absolute value or a maximum in it rises, so that its kink points"
            " upwards and is no minimum"
        )
