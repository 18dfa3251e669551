"""One problem of the gallery: objectives that NumPy and JAX both evaluate, and where its truth
comes from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

Rows = Callable[[Any, Any], list[Any]]
"""(x, xp) -> the objectives of x[..., i], with xp either NumPy or jax.numpy."""


def far(x: Any, center: Any) -> Any:
    """|x − c|²."""
    return ((x - np.asarray(center, float)) ** 2).sum(-1)


def on_segments(*centers: Any) -> Any:
    """Designs on the hull of up to three points, or of the first three."""
    c = np.atleast_2d(np.array(centers, float))

    def designs(n: int) -> np.ndarray:
        rng = np.random.default_rng(3)
        share = np.linspace(0, 1, n)[:, None]
        if len(c) == 2:
            return (1 - share) * c[0] + share * c[1]
        t = np.concatenate([np.eye(len(c)), rng.dirichlet(np.full(len(c), 0.7), n)])
        return t @ c

    return designs


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
        g, equal: rows that are at most 0, and rows that are 0,
        kept: up to this much, in their own units.
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
    g: Rows | None = None
    equal: Rows | None = None
    kept: float = 1e-6

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
        """Exact objectives of rows x (..., L), by NumPy alone; infinite where they are no numbers,
        or constraints do not hold."""
        with np.errstate(all="ignore"):
            f = np.stack(np.broadcast_arrays(*self.f(x, np)), axis=-1)
        good = np.isfinite(f).all(axis=-1)
        for rows, size in ((self.g, np.asarray), (self.equal, np.abs)):
            for row in rows(x, np) if rows else ():
                good &= size(row) <= self.kept
        return np.where(good[..., None], f, np.inf)

    @property
    def constraints(self) -> list[Any]:
        """As `minimize` takes them."""
        import jax.numpy as jnp
        from scipy.optimize import NonlinearConstraint

        g, equal = self.g, self.equal
        found: list[Any] = []
        if g is not None:
            found.append(lambda x: jnp.stack(g(x, jnp)))
        if equal is not None:
            found.append(NonlinearConstraint(lambda x: jnp.stack(equal(x, jnp)), 0, 0))
        return found

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
