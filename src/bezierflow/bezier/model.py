"""The Bézier simplex: a map from Δ^{M−1} into R^L, or any pytree of arrays, by control points."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..arguments import read_count, read_doubles
from ..kinds import kind
from ..precision import in_double_precision, is_double, is_traced, on_host
from ..simplex import check_face, check_on_simplex, controls_on_face, n_controls
from .archives import Manifest, file_at_fault
from .files import Net, file_format, restore_net
from .nets import (
    combine,
    design_matrix,
    differentiate,
    elevate,
    partial_derivatives,
    subdivide,
)
from .schedule import SCHEDULE


@kind("bezier.simplex/1")
class BezierSimplex(eqx.Module):
    """The surface b(t|P) = Σ_{d ∈ N^M_D} (D choose d) t^d p_d, an immutable pytree (equation 1).

    Call it with any batch of t, coordinates last. Values may be vectors or any pytree: each leaf of
    the control points carries one leading axis, with a row for each multi-index in the canonical
    order (Section 2.3).
    """

    control_points: PyTree
    n_objectives: int = eqx.field(static=True)
    degree: int = eqx.field(static=True)

    def __init__(self, control_points: PyTree, n_objectives: int, degree: int):
        self.n_objectives = read_count(n_objectives, "n_objectives", 1)
        self.degree = read_count(degree, "degree")
        self.control_points = jax.tree.map(_as_array, control_points)
        leaves = jax.tree.leaves(self.control_points)
        for leaf in leaves:
            if leaf.ndim < 1 or leaf.shape[0] != self.n_controls:
                raise ValueError(
                    f"control_points must have {self.n_controls} rows for"
                    f" n_objectives={self.n_objectives} and degree={self.degree}, got a leaf of"
                    f" shape {leaf.shape}"
                )
        if not leaves:
            raise ValueError("control_points must hold at least one array, got an empty pytree")

    @classmethod
    def constant(cls, x: PyTree, n_objectives: int, degree: int) -> "BezierSimplex":
        """The surface that is x everywhere: every control point is x."""
        size, x = n_controls(n_objectives, degree), jax.tree.map(_as_array, x)
        rows = in_double_precision(
            partial(jax.tree.map, lambda leaf: jnp.broadcast_to(leaf, (size, *leaf.shape))), x
        )
        return cls(rows, n_objectives, degree)

    @property
    def n_controls(self) -> int:
        """How many control points there are: C(D + M − 1, M − 1)."""
        return n_controls(self.n_objectives, self.degree)

    @property
    def n_variables(self) -> int:
        """L: how many numbers one value of the surface holds, over all leaves."""
        return sum(leaf.size // leaf.shape[0] for leaf in jax.tree.leaves(self.control_points))

    def __call__(self, t: Float[Array | np.ndarray, "*batch n_objectives"]) -> PyTree:
        """b(t|P); each leaf of the value has the batch axes of t in front.

        Numbers that are no point of the simplex are refused; inside a `jit`, `grad` or `vmap` they
        are not known and b is the polynomial that it is.
        """
        t = check_on_simplex(t, self.n_objectives)
        if self._is_for_host(t):
            Z = design_matrix(np.asarray(t).reshape(-1, self.n_objectives), self.degree)
            return _on_matrices(
                lambda P: (Z @ P).reshape((*t.shape[:-1], P.shape[1])), self.control_points
            )
        return in_double_precision(_evaluate, self.control_points, t, self.degree)

    def _is_for_host(self, t: Array | np.ndarray) -> bool:
        """Whether NumPy answers before JAX has compiled: few points of a NumPy surface in double
        precision."""
        leaves = jax.tree.leaves(self.control_points)
        return (
            t.size * self.n_controls <= SCHEDULE.host_size
            and not is_traced(t)
            and all(isinstance(leaf, np.ndarray) and leaf.dtype == np.float64 for leaf in leaves)
            and (isinstance(t, np.ndarray) or not is_double())
        )

    def derivative(self, t: Float[Array | np.ndarray, "*batch n_objectives"]) -> PyTree:
        """∂b/∂t_m of b as a polynomial in all of R^M: leaves (*batch, *value, M).

        Only differences of them have a meaning on the simplex.
        """
        M, degree = self.n_objectives, self.degree
        t = check_on_simplex(t, M)
        if self._is_for_host(t):
            rows = np.asarray(t, dtype=float).reshape(-1, M)

            def at_rows(leaf: np.ndarray) -> np.ndarray:
                slopes = partial_derivatives(leaf.reshape(len(leaf), -1), rows, degree)
                shape = (*t.shape[:-1], *leaf.shape[1:], M)
                return slopes.swapaxes(1, 2).reshape(shape)

            return jax.tree.map(at_rows, self.control_points)
        return in_double_precision(_derivative, self.control_points, t, M, degree)

    def jacobian(self, t: Float[Array | np.ndarray, "*batch n_objectives"]) -> PyTree:
        """The derivative along the simplex, for `jacobian @ v` with Σ v_m = 0: (*batch, *value, M).

        It is `derivative` projected onto those directions, D b(t) (I − 11ᵀ/M), and so sums to 0
        over its last axis.
        """
        return jax.tree.map(
            lambda leaf: leaf - leaf.mean(axis=-1, keepdims=True), self.derivative(t)
        )

    def elevate(self, degree: int) -> "BezierSimplex":
        """The same map, written exactly in a higher degree."""
        own, M = self.degree, self.n_objectives
        advice = "elevation keeps the map, in a higher degree"
        degree = read_count(degree, "degree", own, SCHEDULE.largest_elevation, advice)
        # in NumPy unless it is traced: a program of many steps would take long to compile
        points = self.control_points if is_traced(self) else on_host(self.control_points)
        points = _on_matrices(lambda P: elevate(P, M, own, degree), points)
        return BezierSimplex(points, M, degree)

    def restrict(self, face: Sequence[int]) -> "BezierSimplex":
        """The surface over the face Δ_J: a Bézier simplex of |J| objectives, with its controls."""
        members = check_face(face, self.n_objectives)
        rows = controls_on_face(members, self.n_objectives, self.degree)
        points = jax.tree.map(lambda leaf: leaf[rows], self.control_points)
        return BezierSimplex(points, len(members), self.degree)

    def subdivide(
        self, vertices: Float[Array | np.ndarray, "n_corners n_objectives"]
    ) -> "BezierSimplex":
        """The same map over the sub-simplex with these corners, s ↦ b(sᵀ vertices)."""
        vertices = check_on_simplex(vertices, self.n_objectives, "vertices")
        if vertices.ndim != 2:
            raise ValueError(
                "vertices must be a matrix with one point of the simplex per row, got shape"
                f" {vertices.shape}"
            )
        M, D = self.n_objectives, self.degree
        points = _on_matrices(
            lambda P: in_double_precision(subdivide, P, vertices, M, D), self.control_points
        )
        return BezierSimplex(points, len(vertices), self.degree)

    def bounds(self) -> tuple[PyTree, PyTree]:
        """A box around the whole surface, lower and upper: by the convex-hull property."""
        return (
            jax.tree.map(lambda leaf: leaf.min(axis=0), self.control_points),
            jax.tree.map(lambda leaf: leaf.max(axis=0), self.control_points),
        )

    def vertex(self, m: int) -> PyTree:
        """b(e_m), which is the control point with index D e_m."""
        m = read_count(m, "m", 0, self.n_objectives - 1, "m is an objective's number")
        row = controls_on_face((m,), self.n_objectives, self.degree)[0]
        return jax.tree.map(lambda leaf: leaf[row], self.control_points)

    def on_host(self) -> "BezierSimplex":
        """The same surface with NumPy control points: float64 whatever JAX's precision is."""
        return BezierSimplex(on_host(self.control_points), self.n_objectives, self.degree)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a file that `bezierflow.load` reads back exactly; the ending is the format.

        The file appears complete or not at all.

        `.bez` holds any surface, every number exactly. `.bsf` (a pytorch-bsf model), `.json`,
        `.csv` and `.tsv` (its tables keyed by multi-index) hold surfaces into R^L.
        """
        if is_traced(self):
            raise TypeError(
                "the surface is being traced by jax (jit, grad or vmap) and has no numbers to"
                " save yet"
            )
        write, _ = file_format(path)
        write(Net(on_host(self.control_points), self.n_objectives, self.degree), path)


def _as_array(leaf: PyTree) -> PyTree:
    """What is an array stays as it is, an abstract one too; numbers become arrays."""
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return leaf
    return read_doubles(leaf, "control_points", "arrays of numbers")


def _on_matrices(function: Callable, control_points: PyTree) -> PyTree:
    """`function` of each leaf as a matrix of control points; values get their shape back."""

    def on_leaf(leaf: Array | np.ndarray) -> Array | np.ndarray:
        result = function(leaf.reshape(len(leaf), -1))
        return result.reshape((*result.shape[:-1], *leaf.shape[1:]))

    return jax.tree.map(on_leaf, control_points)


@partial(jax.jit, static_argnums=2)
def _evaluate(control_points: PyTree, t: Array, degree: int) -> PyTree:
    def value(P: Array) -> Array:
        dtype = jnp.result_type(P.dtype, t.dtype)
        return combine(t.astype(dtype), P.astype(dtype), degree)

    return _on_matrices(value, control_points)


@partial(jax.jit, static_argnums=(2, 3))
def _derivative(control_points: PyTree, t: Array, n_objectives: int, degree: int) -> PyTree:
    slopes = _on_matrices(lambda P: differentiate(P, n_objectives, degree), control_points)
    return jax.tree.map(
        lambda partials: jnp.stack(
            [_evaluate(P, t, max(degree - 1, 0)) for P in partials], axis=-1
        ),
        slopes,
    )


def load_surface(path: str | PathLike[str]) -> BezierSimplex:
    """The surface in a file that `BezierSimplex.save` or pytorch-bsf wrote, with NumPy arrays.

    Raises:
        OSError: If there is no such file, or it cannot be opened.
        ValueError: Whatever is wrong with its content, its path first.
    """
    _, read = file_format(path)
    with file_at_fault(path):
        return BezierSimplex(*read(path))


def restore_surface(description: Manifest, arrays: Mapping[str, np.ndarray]) -> BezierSimplex:
    """The surface that `describe_surface` described."""
    return BezierSimplex(*restore_net(description, arrays))
