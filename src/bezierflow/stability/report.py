"""A report a person can read: how much one sample matters to a solution, and what the run needs
more of."""

from dataclasses import asdict, dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..answer import Solution
from ..flows import Origin
from ..methods import GradientDescent
from ..precision import double_precision
from ..scalarizations import WeightedSum
from ..simplex import Uniform
from .bounds import Bound, PaperBounds
from .checks import check_count, check_gradients, check_probability, check_samples
from .empirical import TwinRuns, empirical_stability
from .error_parts import ErrorParts, error_parts
from .gap import GeneralizationGap, generalization_gap
from .losses import Distance
from .run_bounds import run_bounds
from .setting import Setting
from .smallest_eigenvalue import draws_for, smallest_eigenvalue_law
from .trace import trace
from .twins import Exchange

ENOUGH = 1e-6
"""An error this small, relative to the surface's diameter, needs nothing."""


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
        epsilon: ε of the paper's bound.
        bounds: bounds on sup_t |ℓ(P; t) − ℓ(P'; t)| by name: "paper", "sharper", "curvature", each
            proved or an estimate. For gradient descent with uniform samples only, as nothing is
            proved for others.
    """

    n_samples: int
    n_iterations: int
    degree: int
    diameter: float
    twins: TwinRuns
    gap: GeneralizationGap
    parts: ErrorParts
    loss: str
    epsilon: float
    bounds: dict[str, Bound]

    @property
    def needs(self) -> str:
        """What the run needs more of: "samples", "degree", "iterations", or "nothing"."""
        if self.parts.total <= ENOUGH * self.diameter:
            return "nothing"
        return "iterations" if self.parts.largest == "method" else self.parts.largest

    @property
    def advice(self) -> str:
        """What to do, in a sentence."""
        parts = self.parts
        rest = float(np.hypot(parts.degree, parts.method))
        more = (
            int(np.ceil(self.n_samples * (parts.samples / rest) ** 2))
            if rest > 0
            else 4 * self.n_samples
        )
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
                " sizes, or a method that settles at the best fit, such as bf.Newton()."
            ),
        }[self.needs]

    def moves(self) -> dict[str, float]:
        """How far one exchanged sample moved the surface: in the last iteration and in any, the
        mean and the largest."""
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
        return {
            "n_samples": self.n_samples,
            "n_iterations": self.n_iterations,
            "degree": self.degree,
            "diameter": self.diameter,
            "loss": self.loss,
            "one_sample_moves": self.moves(),
            "largest_change_of_loss": float(self.twins.sup_loss.max()),
            "gap": {**asdict(self.gap.expected), "risk": float(self.gap.risks.mean())},
            "error_parts": asdict(self.parts),
            "epsilon": self.epsilon,
            "bounds": {name: asdict(bound) for name, bound in self.bounds.items()},
            "needs": self.needs,
            "advice": self.advice,
        }

    def __str__(self) -> str:
        moved, gap = self.moves(), self.gap.expected
        what = "distance to x*" if self.loss == "distance" else "stationarity residual |∇f(b(t)|t)|"
        lines = [
            (
                f"Stability of a surface of degree {self.degree}, made of {self.n_samples} samples"
                f" in each of {self.n_iterations} iterations (its bounding box is"
                f" {self.diameter:.3g} across)"
            ),
            "",
            "Had one sample been different, the surface would have moved, at most over t, by",
            (
                f"  {moved['last_mean']:.2e} on average, {moved['last_max']:.2e} in the worst twin:"
                " a sample of the last iteration"
            ),
            (
                f"  {moved['anywhere_mean']:.2e} on average, {moved['anywhere_max']:.2e} in the"
                " worst twin: one of any iteration"
            ),
            "",
            *self._lines_of_parts(),
            "",
            (
                f"Generalization gap R_S - R of the {what}: {gap.estimate:.2e} (95 %: {gap.low:.2e}"
                f" to {gap.high:.2e}), R = {self.gap.risks.mean():.3e}"
            ),
        ]
        if self.bounds:
            lines += [
                "",
                (
                    "How much one sample can change the loss (observed"
                    f" {self.twins.sup_loss.max():.2e})"
                ),
            ]
            lines += [
                f"  {name:9} {'proved bound' if bound.proved else 'estimated bound'}"
                f" {bound.value:.2e}   if {bound.assumes}"
                for name, bound in self.bounds.items()
            ]
        return "\n".join([*lines, "", self.advice])

    def _lines_of_parts(self) -> list[str]:
        parts = self.parts
        about = "" if parts.exact else ", x* found by Newton's method"
        if parts.n_missing:
            about += f", {parts.n_missing} of {parts.n_held_out} held-out t without one"
        return [
            f"Where the error comes from (RMS distances{about})",
            f"  degree   {parts.degree:.3e}   no surface of degree {self.degree} can avoid it",
            f"  method   {parts.method:.3e}   the mean over runs against the best fit",
            f"  samples  {parts.samples:.3e}   from run to run",
        ]


def report(
    solution: Solution,
    *,
    epsilon: float = 0.05,
    n_twins: int = 24,
    n_runs: int = 8,
    mu: float | None = None,
    curvature: tuple[float, float] | None = None,
    seed: int = 0,
) -> Report:
    """How much the surface would move had one sample been different, and whether samples or degree
    are what the run needs.

    The run is made again many times: with one sample exchanged, and with other samples altogether.
    With 100 samples and 1000 iterations of three objectives that takes some twenty seconds on two
    cores.

    Args:
        solution: from `minimize`, with a lifted method.
        epsilon: the paper's bound is to hold with probability 1 − ε over the samples.
        n_twins: how many twins, half of them with a sample of the last iteration exchanged.
        n_runs: how many runs with other samples.
        mu: a Lipschitz constant of every objective on all of R^L. Without it, and without a
            built-in problem that has one, μ is measured on a grid, and bounds made of it are
            estimates.
        curvature: (m, β) enclosing the eigenvalues of the Hessian of every objective on all of R^L;
            likewise.
        seed: draws the exchanges and the other runs' samples.
    """
    check_probability(epsilon, "epsilon")
    check_count(n_twins, "n_twins", 2)
    check_count(n_runs, "n_runs", 2)
    if mu is not None and not 0 < mu < np.inf:
        raise ValueError(f"mu must be a finite number above 0, got {mu!r}")
    origin = _origin(solution)
    setting = Setting(
        origin.flow, solution.flat_objectives, origin.surface, solution.stats.iterations
    )
    check_samples(setting.n_samples, setting.n_objectives, setting.degree)
    with double_precision():
        check_gradients(setting.objectives, np.asarray(setting.surface.control_points)[0])
        own = jax.random.key(origin.seed)
        # The solution's own run, which all twins belong to, and others with keys folded in, so that
        # none has its samples.
        keys = jnp.concatenate(
            [own[None], jax.random.split(jax.random.fold_in(own, 1 + seed), n_runs)]
        )
        exchange = _exchange(setting, n_twins, seed)
        twins = empirical_stability(setting, exchange, keys=keys, runs=np.zeros(n_twins, dtype=int))
        gap = generalization_gap(setting, keys=keys, control_points=twins.ends)
        return Report(
            n_samples=setting.n_samples,
            n_iterations=setting.n_iterations,
            degree=setting.degree,
            diameter=float(
                np.linalg.norm(np.ptp(np.asarray(solution.flat_surface.control_points), axis=0))
            ),
            twins=twins,
            gap=gap,
            parts=error_parts(setting, twins.ends),
            loss="distance" if isinstance(setting.loss, Distance) else "stationarity",
            epsilon=epsilon,
            bounds=_bounds(setting, own, epsilon, mu, curvature),
        )


def _origin(solution: Solution) -> Origin:
    if not isinstance(solution, Solution):
        raise TypeError(
            f"solution must come from bezierflow.minimize, got {type(solution).__name__}"
        )
    if solution.origin is None:
        raise ValueError(
            "this solution does not say how to make its run again: it came from a file, or from a"
            " method without samples; call bf.minimize with a lifted method, such as"
            " bf.lift(bf.Newton(), degree=3, sampler=bf.Uniform(100))"
        )
    return solution.origin


def _exchange(setting: Setting, n_twins: int, seed: int) -> Exchange:
    """Half of the twins with a sample of the last iteration exchanged, the others with one of
    any."""
    K = setting.n_iterations
    anywhere = np.random.default_rng(seed).integers(1, K + 1, n_twins - n_twins // 2)
    k = np.concatenate([np.full(n_twins // 2, K), anywhere])
    return Exchange.random(k, setting.n_samples, setting.n_objectives, seed)


def _bounds(
    setting: Setting,
    key: Array,
    epsilon: float,
    mu: float | None,
    curvature: tuple[float, float] | None,
) -> dict[str, Bound]:
    """The bounds that there are for this flow: for the paper's own algorithm three, for others
    none."""
    flow, K = setting.flow, setting.n_iterations
    theirs = (
        isinstance(flow.method, GradientDescent)
        and isinstance(flow.scalarization, WeightedSum)
        and flow.bounds is None
    )
    if not (theirs and isinstance(setting.sampler, Uniform)):
        return {}
    own = run_bounds(trace(setting, key), setting.objectives, mu=mu, curvature=curvature)
    law = smallest_eigenvalue_law(
        setting.n_objectives, setting.degree, setting.n_samples, draws_for(epsilon / (K + 1))
    )
    eta, zeta = law.eta(epsilon, K), law.zeta(epsilon, K)
    paper = PaperBounds(own.sharper.mu, setting.n_samples, eta, zeta, own.sharper.proved)
    return {
        "paper": paper.stability(K),
        "sharper": own.sharper.stability(),
        "curvature": own.curvature.stability(),
    }
