"""`scipy.optimize.minimize` as a method."""

from collections.abc import Callable, Mapping
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..arguments import read_count, shown
from ..compilation import program
from ..evaluations import Evaluations
from ..kinds import kind
from .method import AbstractMethod, Objective

Counts = Int[Array | np.ndarray, "3"]
"""How many values, gradients and Hessians were evaluated."""

WITHOUT_GRADIENT = frozenset({"nelder-mead", "powell", "cobyla", "cobyqa"})
"""SciPy's methods that take no gradient, and warn when they are given one."""

WITH_HESSIAN = frozenset({"newton-cg", "dogleg", "trust-ncg", "trust-krylov", "trust-exact"})
"""SciPy's methods for smooth unconstrained problems that take a Hessian."""


KNOWN = WITHOUT_GRADIENT | WITH_HESSIAN | {"cg", "bfgs", "l-bfgs-b", "tnc", "slsqp", "trust-constr"}
"""All of them, in lower case."""


@kind("method.scipy/1")
class SciPy(AbstractMethod):
    """A method from `scipy.optimize.minimize`: `SciPy("L-BFGS-B", n_steps=20)`.

    One application of A is up to `n_steps` iterations of SciPy's method, started afresh at each
    point. Gradients (and Hessians, for the methods that take them) come from JAX. It runs in
    Python, point by point, and so is slower than a compiled method; choose it for a method that
    only SciPy has, or to check another one.

    Args:
        method: SciPy's name for the method.
        n_steps: SciPy's `maxiter` for one application.
        options: further options for SciPy, such as `{"gtol": 1e-10}`.
    """

    runs_on_host: ClassVar[bool] = True
    method: str = eqx.field(static=True)
    n_steps: int = eqx.field(static=True)
    options: dict[str, object] = eqx.field(static=True)

    def __init__(
        self,
        method: str = "L-BFGS-B",
        n_steps: int = 20,
        options: Mapping[str, object] | None = None,
    ):
        if not isinstance(method, str) or method.lower() not in KNOWN:
            raise ValueError(
                f"method must be a method of scipy.optimize.minimize ({', '.join(sorted(KNOWN))}),"
                f" got {shown(method)}"
            )
        self.method, self.n_steps = method, read_count(n_steps, "n_steps", 1)
        self.options = dict(options or {})

    def init(self, x: Float[Array, "..."]) -> Counts:
        """What the last application evaluated: nothing yet."""
        return np.zeros(3, dtype=int)

    def step(
        self, objective: Objective, x: Float[Array, " n_variables"], state: Counts
    ) -> tuple[Float[Array, " n_variables"], Counts]:
        """Up to `n_steps` iterations of SciPy's method from x, and what they evaluated."""
        from scipy.optimize import minimize

        def derivative(order: int) -> Callable[[np.ndarray], np.ndarray]:
            return lambda y: np.asarray(_derivative(objective, jnp.asarray(y), order))

        name = self.method.lower()
        derivatives = {} if name in WITHOUT_GRADIENT else {"jac": derivative(1)}
        if name in WITH_HESSIAN:
            derivatives["hess"] = derivative(2)
        found = minimize(
            lambda y: float(_derivative(objective, jnp.asarray(y), 0)),
            np.asarray(x),
            method=self.method,
            options={"maxiter": self.n_steps, **self.options},
            **derivatives,
        )
        counts = [int(found.get(key, 0) or 0) for key in ("nfev", "njev", "nhev")]
        return jnp.asarray(found.x), np.array(counts)

    def evaluations(self, state: Counts) -> Evaluations:
        """What SciPy counted."""
        return Evaluations(*map(int, state))


# One compilation per kind of objective and order: t is an array leaf of the objective, so that a
# new t does not compile a new program.
@program
def _derivative(objective: Objective, x: Float[Array, " n_variables"], order: int) -> Array:
    """f(x), ∇f(x) or ∇²f(x)."""
    return (objective, jax.grad(objective), jax.hessian(objective))[order](x)
