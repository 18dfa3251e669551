"""One problem of the gallery: objectives that NumPy and JAX both evaluate, and where its truth
comes from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

Rows = Callable[[Any, Any], list[Any]]
"""(x, xp) -> the objectives of x[..., i], with xp either NumPy or jax.numpy."""


@dataclass(frozen=True)
class Case:
    """A problem.

    Attributes:
        name: unique.
        kind: what makes it difficult.
        f: its objectives.
        low, high: a box that holds the whole set; also the bounds where `bounded`.
        x0: the start; zeros by default.
        bounded: whether `minimize` is given the box.
        noise: relative noise of values; `minimize` then gets a NumPy function.
        designs: n -> that many designs of the exact set, where there is a closed form; else the
            truth is a dense sample.
        options: further arguments of `minimize`.
    """

    name: str
    kind: str
    f: Rows
    low: Any
    high: Any
    x0: Any = None
    bounded: bool = False
    noise: float = 0.0
    designs: Callable[[int], np.ndarray] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of where the truth is looked for."""
        low, high, _ = np.broadcast_arrays(
            *(np.asarray(side, float) for side in (self.low, self.high, self.x0 or self.low))
        )
        return low, high

    @property
    def n_variables(self) -> int:
        """L."""
        return len(self.box[0])

    def values(self, x: np.ndarray) -> np.ndarray:
        """Exact objectives of rows x (..., L), by NumPy alone; infinite where they are no
        numbers."""
        with np.errstate(all="ignore"):
            f = np.stack(np.broadcast_arrays(*self.f(x, np)), axis=-1)
        return np.where(np.isfinite(f).all(axis=-1, keepdims=True), f, np.inf)

    def objectives(self) -> Callable[[Any], Any]:
        """What `minimize` is given: a JAX function, or one of NumPy with noise that depends on x
        alone."""
        if self.noise:
            import bezierflow as bf

            return bf.Objectives(lambda x: self.noisy(np.asarray(x)), vectorized=True)
        import jax.numpy as jnp

        return lambda x: jnp.stack(self.f(x, jnp))

    def noisy(self, x: np.ndarray) -> np.ndarray:
        """Values times 1 + noise · u, u between −1 and 1 from the last digits of x."""
        f = self.values(x)
        digits = np.modf(1e9 * np.abs(np.sin(1e5 * (x.sum(axis=-1) + x[..., 0]))))[0][..., None]
        return f * (1 + self.noise * (2 * np.modf(digits * (1 + np.arange(f.shape[-1])))[0] - 1))
