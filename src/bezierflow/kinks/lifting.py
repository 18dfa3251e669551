"""Which kinks of a function are given a variable, and whether the smooth problem has the same
solutions: seen at samples."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..compilation import program
from ..precision import ROUNDING, double_precision, on_host
from ..simplex import kronecker
from .interpreter import beyond_reach, count_kinks
from .lifted import AS_IT_IS, Lifted, Norm, Plan
from .schedule import SCHEDULE

Places = tuple[Float[np.ndarray, "n n_variables"], Bool[np.ndarray, " n"]]
"""Designs all over the set, roughly, and which of them obey all bounds and constraints: others
dominate nothing."""


class CannotLiftError(Exception):
    """Kinks that cannot be lifted, and why."""


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


class Samples(NamedTuple):
    """The kinks of a function at samples.

    Attributes:
        x: the samples.
        parts: by operation, each (n, n_parts, n_values).
        is_norm: which kinks are norms.
        met: which are norms that may be 0 on the set; all norms, where nothing is known of it.
        inert: which have no effect on slopes.
        u: the values of all kinks.
        slopes: those of the objectives, then of all parts, by all kinks.
    """

    x: Float[np.ndarray, "n n_variables"]
    parts: list[np.ndarray]
    is_norm: Bool[np.ndarray, " n_kinks"]
    met: Bool[np.ndarray, " n_kinks"]
    inert: Bool[np.ndarray, " n_kinks"]
    u: Float[np.ndarray, "n n_kinks"]
    slopes: Float[np.ndarray, "n n_outputs n_kinks"]


def find_kinks(objectives: Callable[[Array], Array], n_variables: int) -> int:
    """How many kinks the objectives have that may be lifted. They are traced and not evaluated.

    Raises:
        CannotLiftError: where there are only others, or too many.
    """
    return sum(n for _, n, _ in _look_for_kinks(objectives, n_variables)[0])


def _look_for_kinks(
    objectives: Callable[[Array], Array], n_variables: int
) -> tuple[list[tuple[int, int, bool]], list[str]]:
    """What `count_kinks` finds, and what may have kinks besides; see `find_kinks`."""
    with double_precision():
        sizes = count_kinks(objectives, n_variables)
        x = jax.ShapeDtypeStruct((n_variables,), np.float64)
        others = list(beyond_reach(jax.make_jaxpr(lambda x: objectives(x))(x)))
    n = sum(n for _, n, _ in sizes)
    if n == 0:
        _refuse_rest(_rest(others, 0))
    _refuse_many(n)
    return sizes, others


def has_kinks(objectives: Callable[[Array], Array], n_variables: int) -> bool:
    """Whether there are kinks, of any kind."""
    try:
        return find_kinks(objectives, n_variables) > 0
    except CannotLiftError:
        return True


def keeps_kinks(objectives: Callable[[Array], Array], n_variables: int) -> bool:
    """Whether there are kinks that cannot be lifted, beside norms."""
    try:
        others = _look_for_kinks(objectives, n_variables)[1]
    except CannotLiftError:
        return True
    return bool(set(others) - {"norm"})


def unseen_arms(
    objectives: Callable[[Array], Array],
    n_variables: int,
    x: Float[np.ndarray, "n n_variables"],
) -> list[Lifted]:
    """For each arm of a maximum or minimum that is the value at none of these designs, the
    objectives with this arm in place of it."""
    sizes = count_kinks(objectives, n_variables)
    as_it_is = Plan.of_all(sizes, lift=False)
    lifted = Lifted(objectives, n_variables, as_it_is)
    arms = [n_parts for n_parts, n, is_norm in sizes if not is_norm for _ in range(n)]
    if not arms:
        return []
    with double_precision():
        seen = on_host(_winners(lifted, jnp.asarray(x)))
    places = np.flatnonzero([not is_norm for _, n, is_norm in sizes for _ in range(n)])
    found = []
    for kink, n_parts, own in zip(places.tolist(), arms, seen.T, strict=True):
        for arm in np.setdiff1d(np.arange(n_parts), own).tolist():
            winners = np.full(len(as_it_is.winners), AS_IT_IS)
            winners[kink] = arm
            plan = replace(as_it_is, winners=tuple(winners.tolist()))
            found.append(Lifted(objectives, n_variables, plan))
    return found


@program
def _winners(lifted: Lifted, x: Array) -> Array:
    """The number of the arm that each maximum is, at designs."""

    def at(x: Array) -> Array:
        kinks = [each for each in lifted.evaluate(x)[1] if not each.is_norm]
        return jnp.concatenate([each.parts.argmax(axis=0) for each in kinks])

    return jax.vmap(at)(x)


def has_norms(objectives: Callable[[Array], Array], n_variables: int) -> bool:
    """Whether norms are among the kinks that may be lifted."""
    return any(is_norm for _, _, is_norm in count_kinks(objectives, n_variables))


def with_slopes(objectives: Callable[[Array], Array], n_variables: int) -> Lifted:
    """The same function, with slopes of norms at 0 that are finite."""
    plan = Plan.of_all(count_kinks(objectives, n_variables), lift=False)
    return Lifted(objectives, n_variables, plan)


def _refuse_rest(rest: tuple[str, ...]) -> None:
    if rest:
        raise CannotLiftError(
            f"those of {', '.join(rest)} have no finite number of smooth arms, or lie in a loop"
        )


def _refuse_many(n: int) -> None:
    if n > SCHEDULE.most_kinks:
        raise CannotLiftError(
            f"there are {n} of them, and at most {SCHEDULE.most_kinks} are lifted"
        )


def _rest(others: list[str], n_settled: int) -> tuple[str, ...]:
    """What may have kinks besides those that are lifted, some norms having been settled."""
    # the trace counts operations with norms, not norms: all of them are settled or none is
    settled = others.count("norm") <= n_settled
    return tuple(sorted(set(others) - ({"norm"} if settled else set())))


def lift_kinks(
    objectives: Callable[[Array], Array],
    box: tuple[np.ndarray, np.ndarray],
    whole: bool = False,
    places: Places | None = None,
) -> Lifting | None:
    """The objectives, a function of a flat vector in JAX, with their kinks lifted, or None where no
    kink is found.

    Args:
        objectives: the function.
        box: finite bounds, in which kinks are looked for.
        whole: whether x stays in the box, so that a kink that never switches there is smooth.
        places: designs all over the set, roughly, and which of them are feasible: a norm that is
            not 0 on the set by what they tell is not lifted.

    Raises:
        CannotLiftError: where the lifted problem would have other solutions, or be too large.
    """
    n_variables = len(box[0])
    sizes, others = _look_for_kinks(objectives, n_variables)
    if sum(n for _, n, _ in sizes) == 0:
        return None
    x = box[0] + kronecker(SCHEDULE.n_samples, n_variables) * (box[1] - box[0])
    with double_precision():
        everything = Lifted(objectives, n_variables, Plan.of_all(sizes, lift=True))
        samples = _sample(everything, sizes, x, places)
        plan = _plan(samples, whole)
        lifted = Lifted(objectives, n_variables, plan)
        # operations whose norms all have a variable, no effect on slopes, or no kink on the set
        fine = (np.array(plan.variables) != AS_IT_IS) | samples.inert | ~samples.met
        ends = np.cumsum([part.shape[2] for part in samples.parts])[:-1]
        n_settled = sum(bool(ok.all()) for ok in np.split(fine & samples.is_norm, ends))
        rest = _rest(others, n_settled)
        # no kink is left: a root that is none of the norms found may still hide one
        if lifted.n_auxiliary == 0:
            if samples.is_norm.any():
                _refuse_rest(rest)
            return None
        _refuse_many(lifted.n_auxiliary)
        u = samples.u[:, plan.firsts]
        # a norm counts by its value: slopes by its direction may have any sign
        plain = replace(lifted, plan=replace(plan, norms=()))
        changed = plain.plan != everything.plan
        slopes = np.asarray(_slopes(plain, samples.x, u)) if changed else samples.slopes
        _check_slopes(slopes, samples.parts)
    low, high, lower = u.min(axis=0), u.max(axis=0), np.full(lifted.n_auxiliary, -np.inf)
    norms = [norm.variable for norm in plan.norms]
    low[norms] = lower[norms] = 0.0
    # a kink with one value at all samples has no range to be measured in
    sides = np.ones(plan.n_directions)
    high = np.where(high > low, high, low + 1.0)
    return Lifting(lifted, (np.append(low, -sides), np.append(high, sides)), lower, rest)


def _sample(
    lifted: Lifted, sizes: list[tuple[int, int, bool]], x: np.ndarray, places: Places | None
) -> Samples:
    """The kinks at those of the samples where their arguments are finite."""
    norms = np.repeat([is_norm for _, _, is_norm in sizes], [n for _, n, _ in sizes])
    parts = list(map(np.asarray, _look(lifted, x)[1]))
    flat = np.concatenate([part.reshape(len(x), -1) for part in parts], axis=1)
    fine = np.isfinite(flat).all(axis=1)
    if not fine.any():
        raise CannotLiftError("the arguments of kinks are not finite at any sample")
    parts, x = [part[fine] for part in parts], x[fine]
    largest = np.concatenate([part.max(axis=1) for part in parts], axis=1)
    lengths = np.concatenate([np.linalg.norm(part, axis=1) for part in parts], axis=1)
    u = np.where(norms, lengths, largest)
    met = norms
    if places is not None and norms.any():
        met = _may_be_met(lifted, norms, np.median(u, axis=0), *places)
    # of arms e and −e the kink is |e|: only there is "near the kink" a place, u = 0
    opposite = [(part.sum(axis=1) == 0).all(axis=0) & (part.shape[1] == 2) for part in parts]
    near = np.where(norms | np.concatenate(opposite), SCHEDULE.tip * u, u)
    slopes, slopes_near = map(np.asarray, (_slopes(lifted, x, u), _slopes(lifted, x, near)))
    # Sample by sample: where a function grows fast, its slopes far from a kink say nothing about
    # those near it.
    sizes_of = [np.abs(np.where(np.isfinite(part), part, 0.0)) for part in (slopes, slopes_near)]
    rounding = SCHEDULE.falling * sizes_of[0].max(axis=(0, 2), keepdims=True, initial=0.0)
    vanishes = sizes_of[1] <= np.maximum(SCHEDULE.vanishing * sizes_of[0], rounding)
    inert = np.asarray(vanishes.all(axis=(0, 1)))
    return Samples(x, parts, norms, met, inert, u, slopes)


def _parts(lifted: Lifted, x: Array) -> tuple[Array, list[Array]]:
    f, kinks, _ = lifted.evaluate(jnp.concatenate([x, lifted.exact(x)]))
    return f, [each.parts for each in kinks]


@program
def _look(lifted: Lifted, x: Array | np.ndarray) -> tuple[Array, list[Array]]:
    """The objectives at points, and the parts of each operation with kinks."""
    return jax.vmap(lambda x: _parts(lifted, x))(x)


@program
def _slopes_of_parts(lifted: Lifted, x: Array | np.ndarray) -> list[Array]:
    return jax.vmap(jax.jacfwd(lambda x: _parts(lifted, x)[1]))(x)


@program
def _slopes(
    lifted: Lifted, x: Array | np.ndarray, u: Array | np.ndarray
) -> Float[Array, "n n_outputs n_auxiliary"]:
    """Slopes of the objectives and of all arms, which have to be nondecreasing in u."""

    def outputs(u: Array, x: Array) -> Array:
        f, kinks, _ = lifted.evaluate(jnp.concatenate([x, u]))
        return jnp.concatenate([f, *(each.parts.ravel() for each in kinks)])

    return jax.vmap(jax.jacfwd(outputs))(u, x)


def _plan(samples: Samples, whole: bool) -> Plan:
    """What becomes of each kink.

    Kinks without effect on slopes stay: those behind `stop_gradient`, and those that a square makes
    smooth. One that never switches is replaced by its largest arm where x stays in the box;
    elsewhere it stays if it cannot be lifted. A norm stays where its kink is not met.
    """
    u, parts, is_norm, inert = samples.u, samples.parts, samples.is_norm, samples.inert
    winners = np.concatenate([part.argmax(axis=1) for part in parts], axis=1)
    switches = (winners != winners[0]).any(axis=0) | is_norm
    stays = inert | (~switches & (whole | _falling(samples.slopes))) | (is_norm & ~samples.met)
    variables, factors = np.full(len(stays), AS_IT_IS), np.ones(len(stays))
    firsts: list[int] = []
    size = np.maximum(np.linalg.norm(u, axis=0), np.finfo(float).tiny)
    shapes = u / size  # equal for multiples of one kink
    for k in np.flatnonzero(~stays):
        same = [i for i in firsts if np.abs(shapes[:, i] - shapes[:, k]).max() < ROUNDING]
        if same:
            variables[k], factors[k] = variables[same[0]], size[k] / size[same[0]]
        else:
            variables[k] = len(firsts)
            firsts.append(int(k))
    winner = np.where(~switches & ~inert & whole, winners[0], AS_IT_IS)
    n_terms = np.repeat([part.shape[1] for part in parts], [part.shape[2] for part in parts])
    norms = [
        Norm(k, number, int(n_terms[k]), SCHEDULE.tip * float(np.median(u[:, k])))
        for number, k in enumerate(firsts)
        if is_norm[k]
    ]
    return Plan(
        tuple(variables.tolist()),
        tuple(factors.tolist()),
        tuple(winner.tolist()),
        tuple(_different_arms(parts, [k for k in firsts if not is_norm[k]])),
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
                # equal arms would be equal rows, and no factorization likes those
                rounding = ROUNDING * np.abs(arm).max()
                if not any(np.abs(arm - other).max() <= rounding for other in seen):
                    seen.append(arm)
                    numbers.append(n_arms + i * part.shape[2] + k)
        n_arms, n_kinks = n_arms + part.shape[1] * part.shape[2], n_kinks + part.shape[2]
    return sorted(numbers)


def _falling(slopes: Float[np.ndarray, "n n_outputs n_kinks"]) -> Bool[np.ndarray, " n_kinks"]:
    """For which kinks some output falls as the kink rises."""
    known = np.where(np.isfinite(slopes), slopes, 0.0)
    largest = np.abs(known).max(axis=(0, 2), keepdims=True, initial=0.0)
    least = -SCHEDULE.falling * np.maximum(largest, np.finfo(float).tiny)
    return np.any(known < least, axis=(0, 1))


def _check_slopes(
    slopes: Float[np.ndarray, "n n_outputs n_auxiliary"], parts: list[np.ndarray]
) -> None:
    """Raises unless the objectives, and all arms, are nondecreasing in each u."""
    if _falling(slopes).any():
        n_objectives = slopes.shape[1] - sum(part.shape[1] * part.shape[2] for part in parts)
        wrong = [m for m in range(n_objectives) if _falling(slopes[:, m : m + 1]).any()]
        who = f"objective {wrong[0] + 1}" if wrong else "another kink"
        raise CannotLiftError(
            f"{who} falls as an absolute value or a maximum in it rises, so that its kink points"
            " upwards and is no minimum"
        )


def _may_be_met(
    lifted: Lifted,
    is_norm: Bool[np.ndarray, " n_kinks"],
    usual: Float[np.ndarray, " n_kinks"],
    x: Float[np.ndarray, "n n_variables"],
    feasible: Bool[np.ndarray, " n"],
) -> Bool[np.ndarray, " n_kinks"]:
    """Which norms may be 0 on the Pareto set: those that are about 0 at one of the designs x, or
    whose tip no design dominates. `usual` are the medians of the kinks.

    A tip that is one point of the set is not left out, wherever the designs are: no feasible one
    dominates it. Where the tip is a plane, its points nearest to the designs are looked at. The
    objectives come with a variable for each kink.
    """
    f, parts = on_host(_look(lifted, x))
    u = np.array([np.linalg.norm(terms, axis=1) for terms in _by_kink(parts)]).T
    met = is_norm & np.any(u <= SCHEDULE.met * usual, axis=0)
    rivals = f[feasible & np.isfinite(f).all(axis=1)]
    margin = SCHEDULE.met * np.ptp(rivals, axis=0) if len(rivals) else 0.0
    for k in np.flatnonzero(is_norm & ~met):
        tip = x[np.argsort(u[:, k])[: SCHEDULE.n_nearest]]
        for _ in range(SCHEDULE.tip_steps):  # Gauss-Newton steps towards e = 0
            e = _by_kink(_look(lifted, tip)[1])[k]
            slopes = _by_kink(_slopes_of_parts(lifted, tip))[k]
            tip = tip - np.einsum("nik,nk->ni", np.linalg.pinv(slopes), e)
        f, parts = on_host(_look(lifted, tip))
        reached = np.linalg.norm(_by_kink(parts)[k], axis=1) <= SCHEDULE.met * usual[k]
        beaten = (rivals[:, None] < f - margin).all(axis=2).any(axis=0)
        met[k] = bool((reached & ~beaten).any())
    return met


def _by_kink(parts: list[np.ndarray] | list[Array]) -> list[np.ndarray]:
    """For each kink its parts at n points, or their slopes, as arrays that begin with (n,
    n_parts)."""
    return [np.asarray(part)[:, :, k] for part in parts for k in range(part.shape[2])]
