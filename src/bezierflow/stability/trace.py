"""A run of lifted gradient descent written down."""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Array, Float

from ..methods import GradientDescent
from ..scalarizations import WeightedSum
from .setting import Setting
from .twins import Exchange, run_many, samples_of_run


@dataclass(frozen=True)
class Trace:
    """Every P^(k) and every t of a run of Algorithm 2.

    Attributes:
        control_points: P^(1), …, P^(K+1).
        t: T_1, …, T_K.
        step_sizes: α^(1), …, α^(K).
        degree: D.
    """

    control_points: Float[np.ndarray, "K_and_one n_controls n_variables"]
    t: Float[np.ndarray, "K n_samples n_objectives"]
    step_sizes: Float[np.ndarray, " K"]
    degree: int

    @property
    def n_iterations(self) -> int:
        """K."""
        return len(self.t)

    @property
    def n_samples(self) -> int:
        """N."""
        return self.t.shape[1]

    def fitted(self) -> Float[np.ndarray, "K n_controls n_variables"]:
        """ĝ_k = (ZᵀZ)⁻¹ZᵀG = (P^(k) − P^(k+1))/α^(k): the control points of the fitted gradient
        field."""
        return -np.diff(self.control_points, axis=0) / self.step_sizes[:, None, None]


def trace(setting: Setting, key: Array) -> Trace:
    """The run from this key, written down. Call in double precision."""
    method, scalarization = setting.flow.method, setting.flow.scalarization
    if (
        not (isinstance(method, GradientDescent) and isinstance(scalarization, WeightedSum))
        or setting.flow.bounds is not None
    ):
        raise TypeError(
            "flow must lift GradientDescent on weighted sums without bounds, whose stability is"
            f" proved, got {type(method).__name__} on {type(scalarization).__name__}"
            f"{'' if setting.flow.bounds is None else ' with bounds'};"
            " empirical_stability measures any method"
        )
    k = np.arange(1, setting.n_iterations + 1)
    rule = method.step_size
    alphas = (
        np.array([float(rule(jax.numpy.asarray(i))) for i in k])
        if callable(rule)
        else np.full(len(k), float(rule))
    )
    P = run_many(setting, key[None], Exchange.none(1, setting.n_objectives), whole=True)[0]
    return Trace(np.asarray(P), np.asarray(samples_of_run(setting, key)), alphas, setting.degree)
