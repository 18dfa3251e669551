"""The surface of a search: the Pareto set of the posterior mean, with what held-out evaluations say
about it."""

import time
from dataclasses import dataclass, replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..answer import ErrorEstimate, Evaluated, Reason, Result, Solution, Stats
from ..atlas import AtlasFlow
from ..bezier import Raveling
from ..evaluations import Evaluations
from ..gaussian import Posterior, PosteriorMean, mean_path, means
from ..objectives import box_on_solver_side, feasible_set
from ..runs import Record
from ..solve import minimize
from .diagnosis import what_is_wrong
from .domain import Domain
from .evaluated import Ledger
from .held_out import HeldOut
from .model_sets import ModelSet, find_sets, nondominated, properly_nondominated, useful

SURFACE_TOL, MOST_EVALUATIONS = {2: 1e-4}, 30_000
"""How exactly the set of the mean is followed, in units of ranges, 1e-3 from three objectives on:
the mean itself is seldom known better; and at how many points of it at most."""

SLACK = 1e-3
"""Objectives on the surface may exceed the worst values of the properly nondominated set by this
share of their ranges."""

FEW_ROUNDS = 1
"""Of the flow where the evaluations themselves are in doubt: sets of constant objectives take it
long, and mean nothing."""

FAR_OFF, OVERCONFIDENT = 0.1, 3.0
"""A surface is suspect if held-out values miss their predictions by more than this share of the
ranges, or by more than so many of their predicted standard deviations, RMS."""

MADE_BY = ("seed", "noise", "budget", "worst")
"""The settings of a search that its solution names."""


@dataclass(frozen=True)
class Found:
    """What a search has, when its surface is asked for."""

    domain: Domain
    ledger: Ledger
    posterior: Posterior
    held_out: HeldOut
    worst: Float[np.ndarray, " n_objectives"]
    done: bool


class Within(eqx.Module):
    """Constraints that keep the set of the mean to where its trade-offs are proper and of use: no
    objective worse than its limit.

    Where the dominance cone is wider than usual the set ends earlier (see `model_sets.WIDER`); what
    lies beyond has a worse value of an objective than any proper point. Whatever dominates a point
    within the limits is within them too, so that the set within them is a part of the whole one.
    """

    mean: PosteriorMean
    limit: Float[Array | np.ndarray, " n_objectives"]
    span: Float[Array | np.ndarray, " n_objectives"]

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """At most 0 where objectives keep their limits."""
        return (jnp.asarray(self.mean.names.signs) * self.mean(x) - self.limit) / self.span


def make_solution(found: Found, settings: Record, raveling: Raveling | None = None) -> Solution:
    """The surface by the library's own flow, its error from held-out evaluations alone."""
    began = time.perf_counter()
    domain, names = found.domain, found.domain.names
    raveling = raveling or Raveling.of(np.zeros(domain.n_variables))
    low, high = domain.sides
    place = (
        low,
        high - low,
        np.asarray(found.held_out.calibration),
        tuple(int(i) for i in domain.free),
    )
    mean = PosteriorMean(found.posterior, *place, raveling, names)
    x, y = found.ledger.designs(good=True), found.ledger.values()
    unit, shift = np.asarray(found.posterior.scale), np.asarray(found.posterior.shift)
    worst = (found.worst - shift) / unit
    whole = _model_set(found.posterior, domain.to_cube(x), worst, settings["seed"])
    model_set = useful(whole, worst)
    reached = bool((model_set.f <= worst).all())
    limit = np.minimum(whole.f.max(axis=0) + SLACK * _ranges(whole), worst if reached else np.inf)
    within = Within(mean, limit * unit + shift, _ranges(model_set) * unit)
    wrong = what_is_wrong(x, y, names)
    solution = follow(within, domain, model_set, settings["seed"], FEW_ROUNDS if wrong else None)
    error = estimate(found.held_out, _ranges(model_set) * unit, len(x))
    return replace(
        solution,
        result=explain(
            found,
            solution.result,
            error,
            wrong if reached else [*wrong, _out_of_reach(found, whole)],
        ),
        stats=Stats(
            Evaluations(found.ledger.n_told, 0, 0),
            len(found.held_out.rounds),
            time.perf_counter() - began,
        ),
        history=_history(found.held_out),
        made_by={
            **solution.made_by,
            "method": "surrogate",
            **{name: settings[name] for name in MADE_BY},
        },
        known_error=error,
        evaluated=Evaluated(raveling.unravel(x), y, nondominated(names.signs * y)),
        surrogate=mean,
        paused=None,
    )


def _out_of_reach(found: Found, whole: ModelSet) -> str:
    """That no design is expected within the worst values of use, in words, with what the nearest
    one is expected to have."""
    names, scale = found.domain.names, np.asarray(found.posterior.scale)
    f = whole.f * scale + np.asarray(found.posterior.shift)
    limited = np.flatnonzero(np.isfinite(found.worst))
    excess = (f[:, limited] - found.worst[limited]) / (_ranges(whole) * scale)[limited]
    nearest = names.signs * f[int(np.argmin(excess.max(axis=1)))]
    has = ", ".join(
        f"{names.objectives[m]} {nearest[m]:.4g} (worst: {names.signs[m] * found.worst[m]:.4g})"
        for m in limited
    )
    return (
        f"no design is expected within worst, the nearest one has {has}: the surface is that"
        " without it; give worse values"
    )


def follow(
    within: Within, domain: Domain, model_set: ModelSet, seed: int, rounds: int | None
) -> Solution:
    """The atlas of the mean within the bounds, where no objective is worse than its limit."""
    mean, span, names = within.mean, _ranges(model_set), domain.names
    raveling = mean.raveling
    middle = int(np.argmin(((model_set.f - model_set.f.min(axis=0)) / span).max(axis=1)))
    start = domain.from_cube(model_set.u)[middle]
    sides = (raveling.unravel(domain.lower), raveling.unravel(domain.upper))
    inside = box_on_solver_side(
        feasible_set(sides, [within], raveling, names.variables, start), names
    )
    tol = SURFACE_TOL.get(domain.n_objectives, 1e-3)
    flow = AtlasFlow(
        inside,
        (np.asarray(inside.lower), np.asarray(inside.upper)),
        tol=tol,
        budget=MOST_EVALUATIONS,
        n_iterations=rounds,
    )
    given = {"bounds": sides, "constraints": [within], "seed": seed}
    return minimize(mean, raveling.unravel(start), flow, **given)


def _ranges(model_set: ModelSet) -> Float[np.ndarray, " n_objectives"]:
    """Of the objectives over a set, in units of the scaled values; 1 for one that does not vary."""
    span = np.ptp(model_set.f, axis=0)
    return np.where(span > 0, span, 1.0)


def _model_set(
    posterior: Posterior, u: Float[np.ndarray, "n n_free"], worst: np.ndarray, seed: int
) -> ModelSet:
    """Points of the properly nondominated set of the mean."""
    rng = np.random.default_rng([seed, 1])
    starts = u[properly_nondominated(means(posterior, u))]
    return find_sets(mean_path(posterior), starts, worst, rng)[0]


def _history(held_out: HeldOut) -> dict[str, np.ndarray]:
    rows = np.reshape([list(round) for round in held_out.rounds], (-1, 3)).astype(float)
    return dict(zip(("evaluations", "error", "uncertainty"), rows.T, strict=True))


def estimate(held_out: HeldOut, span: Float[np.ndarray, " n_objectives"], n: int) -> ErrorEstimate:
    """The error of predictions that were made before their evaluations, in units of the objectives'
    ranges over the surface."""
    errors = held_out.errors
    if errors is None:
        return ErrorEstimate.unknown(1.0)
    relative = errors / span
    largest = float(np.abs(relative).max())
    nan = float("nan")
    return ErrorEstimate(
        rms=float(np.sqrt(np.mean(relative**2))),
        max=largest,
        bound=3 * largest,
        diameter=1.0,
        n_samples=len(errors),
        n_invalid=0,
        residual=nan,
        folded=nan,
        gap=nan,
        dominated=nan,
        flags=(),
        evaluations=n,
        by_objective=tuple(np.sqrt(np.mean(errors**2, axis=0)).tolist()),
    )


def explain(found: Found, flow: Result, error: ErrorEstimate, wrong: list[str]) -> Result:
    """What the surface is worth, in words: first what is wrong, then what held-out evaluations say,
    then how it was found."""
    names, n_failed = found.domain.names, int((~found.ledger.good).sum())
    failed = f" ({n_failed} more failed)" if n_failed else ""
    parts = [f"{int(found.ledger.good.sum())} evaluations{failed}"]
    if error.by_objective is None:
        parts.append("no prediction has been put to the test yet, so the error is not known")
    else:
        off = ", ".join(
            f"{name} {value:.2g}"
            for name, value in zip(names.objective_labels, error.by_objective, strict=True)
        )
        share = f"{error.rms:.2g} of the ranges"
        parts.append(
            f"the last {error.n_samples} on the surface were predicted, unseen, with RMS errors of"
            f" {off} ({share})"
        )
    calibration = found.held_out.calibration
    doubts = list(wrong)
    if error.rms > FAR_OFF:
        doubts.append(
            "predictions of evaluations on the surface are far off: give a larger budget or"
            " narrower bounds"
        )
    if calibration > OVERCONFIDENT:
        doubts.append(
            f"predictions miss by {calibration:.1f} standard deviations: the objectives may jump or"
            " have kinks"
        )
    if flow.doubtful:
        doubts.append(f"the surface of the surrogate is in doubt ({flow.message})")
    message = "; ".join(parts)
    if doubts:
        return Result(Reason.SUSPECT, f"{'; '.join(doubts)}. For what it is worth: {message}")
    return Result(Reason.CONVERGED if found.done else Reason.ITERATION_LIMIT, message)
