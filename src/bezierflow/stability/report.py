"""A report a person can read: how much one sample matters to a solution, and what the run needs."""

from dataclasses import asdict, dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..answer import Solution
from ..arguments import read_count
from ..bezier import design_matrix
from ..compilation import compiled
from ..methods import Newton
from ..precision import double_precision
from ..scalarizations import Scalarized
from .gap import GeneralizationGap, generalization_gap
from .schedule import SCHEDULE
from .statistics import check_samples
from .twins import (
    Distance,
    Exchange,
    Setting,
    TwinRuns,
    check_gradients,
    empirical_stability,
    held_out_points,
)


@dataclass(frozen=True)
class ErrorParts:
    """Where the error comes from: E|b(t) − x*(t)|² over t and runs is degree² + method² + samples².

    All are RMS distances in units of x.

    Attributes:
        degree: what no surface of this degree can avoid: the distance of x* from its best fit, over
            held-out t.
        method: the distance of the mean surface over runs from that best fit: iterations still to
            make, and that a method may settle elsewhere than at the best fit.
        samples: the distance of a run's surface from the mean surface, due to the samples it drew.
        n_missing: at how many of the held-out t no minimizer x*(t) was found; they are left out.
        n_held_out: how many there were.
        exact: whether x* is the problem's own Pareto map; else Newton's method found it from b(t).
    """

    degree: float
    method: float
    samples: float
    n_missing: int
    n_held_out: int
    exact: bool

    @property
    def total(self) -> float:
        """Root of the sum of squares."""
        return float(np.sqrt(self.degree**2 + self.method**2 + self.samples**2))

    @property
    def largest(self) -> str:
        """The name of the largest part."""
        return max(("degree", "method", "samples"), key=lambda name: getattr(self, name))


def error_parts(
    setting: Setting, control_points: Float[np.ndarray, "n_runs n_controls n_variables"]
) -> ErrorParts:
    """Splits the error of runs that differ in their samples alone. Call in double precision.

    Args:
        setting: what the runs share.
        control_points: P^(K+1) of two runs or more.
    """
    t = held_out_points(setting.n_objectives)
    Z, n_runs = design_matrix(t, setting.degree), len(control_points)
    mean, loss = control_points.mean(axis=0), setting.loss
    start = Z @ mean
    if isinstance(loss, Distance):
        x, found = np.asarray(loss.problem.pareto_map(t)), np.ones(len(t), dtype=bool)
    else:
        x, last_step = map(np.asarray, _minimizers(setting, jnp.asarray(t), jnp.asarray(start)))
        size = np.linalg.norm(np.ptp(start, axis=0))
        found = np.isfinite(x).all(axis=1) & (last_step <= SCHEDULE.negligible * size)
        # A minimizer farther away than the surface is large is another one than the surface is
        # about.
        away = np.linalg.norm(np.where(found[:, None], x, np.inf) - start, axis=1)
        found &= away < max(size, SCHEDULE.negligible)
    if found.sum() < 2 * Z.shape[1]:
        raise ValueError(
            f"x*(t) was found at {found.sum()} of {len(t)} held-out t only, too few to tell where"
            " the error comes from; objectives must be smooth and have isolated minimizers near"
            " the surface"
        )
    Z, x = Z[found], x[found]
    best = np.linalg.lstsq(Z, x)[0]
    spread = _mean_square(Z @ (control_points - mean)) * n_runs / (n_runs - 1)
    # The mean over finitely many runs is itself off by its share of the spread.
    bias = _mean_square(Z @ (mean - best)) - spread / n_runs
    return ErrorParts(
        degree=float(np.sqrt(_mean_square(x - Z @ best))),
        method=float(np.sqrt(max(bias, 0.0))),
        samples=float(np.sqrt(spread)),
        n_missing=int(len(t) - found.sum()),
        n_held_out=len(t),
        exact=isinstance(loss, Distance),
    )


def _mean_square(displacement: np.ndarray) -> float:
    return float(np.mean(np.sum(displacement**2, axis=-1)))


@compiled
def _minimizers(setting: Setting, t: Array, x: Array) -> tuple[Array, Array]:
    """Where Newton's method leads from x on f(·|t), and how long its last step was."""

    def follow(t: Array, x: Array) -> tuple[Array, Array]:
        objective = Scalarized(setting.objectives, setting.flow.scalarization, t)

        def step(_: Array, x_and_length: tuple[Array, Array]) -> tuple[Array, Array]:
            x = x_and_length[0]
            moved = Newton().step(objective, x, jnp.asarray(1))[0]
            return moved, jnp.linalg.norm(moved - x)

        return jax.lax.fori_loop(0, SCHEDULE.newton_steps, step, (x, jnp.asarray(jnp.inf)))

    return jax.vmap(follow)(t, x)


@dataclass(frozen=True)
class Report:
    """How stable a solution is. Print it.

    Attributes:
        n_samples: N.
        n_iterations: K.
        degree: D.
        diameter: of the control points' bounding box, to compare distances with.
        twins: the run against twins with one sample exchanged; the first half in the last
            iteration, the others anywhere.
        gap: the generalization gap over runs with other samples.
        parts: where the error comes from.
        loss: "distance" to the exact Pareto map, or "stationarity" residual.
    """

    n_samples: int
    n_iterations: int
    degree: int
    diameter: float
    twins: TwinRuns
    gap: GeneralizationGap
    parts: ErrorParts
    loss: str

    @property
    def needs(self) -> str:
        """What the run needs more of: "samples", "degree", "iterations", or "nothing"."""
        if self.parts.total <= SCHEDULE.negligible * self.diameter:
            return "nothing"
        return "iterations" if self.parts.largest == "method" else self.parts.largest

    @property
    def advice(self) -> str:
        """What to do, in a sentence."""
        parts, more = self.parts, 4 * self.n_samples
        rest = float(np.hypot(parts.degree, parts.method))
        if rest > 0:  # it falls like 1/√N: as many samples as make it the size of the rest
            more = int(np.ceil(self.n_samples * (parts.samples / rest) ** 2))
        return {
            "nothing": "The error is negligible; nothing more is needed.",
            "samples": (
                f"The samples are the largest part of the error: about {more:,} of them an"
                " iteration would bring it down to what remains without (it falls like 1/√N), or"
                " nodes that are not drawn at random (bf.Fixed)."
            ),
            "degree": (
                f"No surface of degree {self.degree} comes closer than {parts.degree:.3g}: a higher"
                " degree is what this run needs; more samples or iterations would not help much."
            ),
            "iterations": (
                "The flow itself is the largest part of the error: more iterations, other step"
                " sizes, unbiased draws (bf.Leverage) if it is at rest, or a method that settles at"
                " the best fit, such as bf.Newton()."
            ),
        }[self.needs]

    def moves(self) -> dict[str, float]:
        """How far one exchanged sample moved the surface, in the last iteration and in any."""
        half = len(self.twins.sup_move) // 2
        last, anywhere = self.twins.sup_move[:half], self.twins.sup_move[half:]
        return {
            "last_mean": float(last.mean()),
            "last_max": float(last.max()),
            "anywhere_mean": float(anywhere.mean()),
            "anywhere_max": float(anywhere.max()),
        }

    def figures(self) -> dict[str, object]:
        """The report as plain numbers, for a JSON file."""
        sizes = ("n_samples", "n_iterations", "degree", "diameter", "loss")
        return {
            **{name: getattr(self, name) for name in sizes},
            "one_sample_moves": self.moves(),
            "largest_change_of_loss": float(self.twins.sup_loss.max()),
            "gap": {**asdict(self.gap.expected), "risk": float(self.gap.risks.mean())},
            "error_parts": asdict(self.parts),
            "needs": self.needs,
            "advice": self.advice,
        }

    def __str__(self) -> str:
        moved, gap, parts = self.moves(), self.gap.expected, self.parts
        what = "distance to x*" if self.loss == "distance" else "stationarity residual |∇f(b(t)|t)|"
        about = "" if parts.exact else ", x* found by Newton's method"
        if parts.n_missing:
            about += f", {parts.n_missing} of {parts.n_held_out} held-out t without one"
        lines = [
            f"Stability of a surface of degree {self.degree}, made of {self.n_samples} samples in"
            f" each of {self.n_iterations} iterations (its bounding box is {self.diameter:.3g}"
            " across)",
            "",
            "Had one sample been different, the surface would have moved, at most over t, by",
            f"  {moved['last_mean']:.2e} on average, {moved['last_max']:.2e} in the worst twin: a"
            " sample of the last iteration",
            f"  {moved['anywhere_mean']:.2e} on average, {moved['anywhere_max']:.2e} in the worst"
            " twin: one of any iteration",
            "",
            f"Where the error comes from (RMS distances{about})",
            f"  degree   {parts.degree:.3e}   no surface of degree {self.degree} can avoid it",
            f"  method   {parts.method:.3e}   the mean over runs against the best fit",
            f"  samples  {parts.samples:.3e}   from run to run",
            "",
            f"Generalization gap R_S - R of the {what}: {gap.estimate:.2e} (95 %: {gap.low:.2e} to"
            f" {gap.high:.2e}), R = {self.gap.risks.mean():.3e}",
        ]
        return "\n".join([*lines, "", self.advice])


def report(
    solution: Solution,
    *,
    n_twins: int = 24,
    n_runs: int = 8,
    seed: int = 0,
) -> Report:
    """How much the surface would move had one sample been different, and what the run needs.

    The run is made again many times: with one sample exchanged, and with other samples altogether.
    With 100 samples and 1000 iterations of three objectives that takes some twenty seconds on two
    cores.

    Args:
        solution: from `minimize`, with a lifted method.
        n_twins: how many twins, half of them with a sample of the last iteration exchanged.
        n_runs: how many runs with other samples.
        seed: draws the exchanges and the other runs' samples.
    """
    read_count(n_twins, "n_twins", 2)
    read_count(n_runs, "n_runs", 2)
    if not isinstance(solution, Solution):
        raise TypeError(
            f"solution must come from bezierflow.minimize, got {type(solution).__name__}"
        )
    origin = solution.origin
    if origin is None:
        raise ValueError(
            "this solution does not say how to make its run again: it came from a file, or from a"
            " method without samples; call bf.minimize with a lifted method, such as"
            " bf.lift(bf.Newton(), degree=3, sampler=bf.Uniform(100))"
        )
    K = solution.stats.iterations
    setting = Setting(origin.flow, solution.flat_objectives, origin.surface, K)
    N, M, degree = setting.n_samples, setting.n_objectives, setting.degree
    check_samples(N, M, degree)
    # Half of the twins have a sample of the last iteration exchanged, the others one of any.
    anywhere = np.random.default_rng(seed).integers(1, K + 1, n_twins - n_twins // 2)
    exchange = Exchange.random(np.append(np.full(n_twins // 2, K), anywhere), N, M, seed)
    with double_precision():
        check_gradients(setting.objectives, np.asarray(setting.surface.control_points)[0])
        own = jax.random.key(origin.seed)
        # The solution's own run, which all twins belong to, and others with keys folded in, so that
        # none has its samples.
        others = jax.random.split(jax.random.fold_in(own, 1 + seed), n_runs)
        keys = jnp.concatenate([own[None], others])
        twins = empirical_stability(setting, exchange, keys=keys, runs=np.zeros(n_twins, dtype=int))
        box = np.ptp(np.asarray(solution.flat_surface.control_points), axis=0)
        return Report(
            n_samples=N,
            n_iterations=K,
            degree=degree,
            diameter=float(np.linalg.norm(box)),
            twins=twins,
            gap=generalization_gap(setting, keys=keys, control_points=twins.ends),
            parts=error_parts(setting, twins.ends),
            loss="distance" if isinstance(setting.loss, Distance) else "stationarity",
        )
