"""`scipy.optimize.minimize` as a method."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from .method import AbstractMethod, Evaluations, Objective


class SciPy(AbstractMethod):
    """A method from `scipy.optimize.minimize`: `SciPy("L-BFGS-B", n_steps=20)`. Runs in Python, point by point.

    One application of A is up to `n_steps` iterations of SciPy's method, started afresh at each point. Gradients (and
    Hessians, for the methods that take them) come from JAX. Slower than a compiled method; choose it for a method that only
    SciPy has, or to check another one.

    Args:
        method: SciPy's name for the method.
        n_steps: SciPy's `maxiter` for one application.
        options: further options for SciPy, such as `{"gtol": 1e-10}`.
    """

    runs_on_host: ClassVar[bool] = True
    method: str = eqx.field(static=True)
    n_steps: int = eqx.field(static=True)
    options: dict[str, Any] = eqx.field(static=True)

    def __init__(self, method: str = "L-BFGS-B", n_steps: int = 20, options: dict[str, Any] | None = None):
        if n_steps < 1:
            raise ValueError(f"n_steps must be at least 1, got {n_steps}")
        self.method, self.n_steps, self.options = method, int(n_steps), dict(options or {})

    def init(self, x: Float[Array, " n_variables"]) -> np.ndarray:
        """No evaluations yet: how many values, gradients and Hessians the last application took."""
        return np.zeros(3, dtype=int)

    def step(self, objective: Objective, x: Float[Array, " n_variables"], state: Any) -> tuple[Any, Any]:
        """Up to `n_steps` iterations of SciPy's method from x, and what they evaluated."""
        from scipy.optimize import minimize

        name = self.method.lower()
        derivatives: dict[str, Any] = {}
        if name not in {"nelder-mead", "powell", "cobyla", "cobyqa"}:
            derivatives["jac"] = lambda y: np.asarray(_gradient(objective, y))
        if name in {"newton-cg", "dogleg", "trust-ncg", "trust-krylov", "trust-exact"}:
            derivatives["hess"] = lambda y: np.asarray(_hessian(objective, y))
        found = minimize(
            lambda y: float(_value(objective, y)),
            np.asarray(x),
            method=self.method,
            options={"maxiter": self.n_steps, **self.options},
            **derivatives,
        )
        counts = [int(found.get(key, 0) or 0) for key in ("nfev", "njev", "nhev")]
        return np.asarray(found.x), np.array(counts)

    def evaluations(self, state: Any) -> Evaluations:
        """What SciPy counted."""
        return Evaluations(*state)


# One compilation a kind of objective: t is an array leaf of it, so a new t is not a new program.
@eqx.filter_jit
def _value(objective: Objective, x: np.ndarray) -> Array:
    return objective(x)  # type: ignore[arg-type]


@eqx.filter_jit
def _gradient(objective: Objective, x: np.ndarray) -> Array:
    return jax.grad(objective)(x)


@eqx.filter_jit
def _hessian(objective: Objective, x: np.ndarray) -> Array:
    return jax.hessian(objective)(x)
