"""The Bézier simplex: a map from the simplex Δ^{M−1} into R^L, or into any pytree of arrays, given
by control points."""

from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree
from numpy.typing import ArrayLike

from ..arguments import read_count, read_doubles
from ..precision import in_double_precision, is_double, is_traced, on_host
from ..simplex import check_face, check_on_simplex, controls_on_face, n_controls
from . import nets
from .basis import combine
from .net import Net
from .net_files import save_net
from .numpy_nets import design_matrix, elevate


class BezierSimplex(eqx.Module):
    """The surface b(t|P) = Σ_{d ∈ N^M_D} (D choose d) t^d p_d, an immutable pytree (Section 2.3,
    equation 1).

    Call it with any batch of t, coordinates last. Values may be vectors or any pytree: each leaf of
    the control points carries one leading axis, with a row for each multi-index in the canonical
    order.
    """

    control_points: PyTree
    n_objectives: int = eqx.field(static=True)
    degree: int = eqx.field(static=True)

    def __init__(self, control_points: PyTree, n_objectives: int, degree: int):
        n_objectives, degree = (
            read_count(n_objectives, "n_objectives", 1),
            read_count(degree, "degree"),
        )
        size = n_controls(n_objectives, degree)
        leaves = jax.tree.map(_as_array, control_points)
        for leaf in jax.tree.leaves(leaves):
            if leaf.ndim < 1 or leaf.shape[0] != size:
                raise ValueError(
                    f"control_points must have {size} rows for n_objectives={n_objectives} and"
                    f" degree={degree}, got a leaf of shape {leaf.shape}"
                )
        if not jax.tree.leaves(leaves):
            raise ValueError("control_points must hold at least one array, got an empty pytree")
        self.control_points, self.n_objectives, self.degree = leaves, n_objectives, degree

    @classmethod
    def constant(cls, x: PyTree, n_objectives: int, degree: int) -> "BezierSimplex":
        """The surface that is x everywhere: every control point is x."""
        points = in_double_precision(
            _repeat, jax.tree.map(_as_array, x), n_controls(n_objectives, degree)
        )
        return cls(points, n_objectives, degree)

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
        t = self._check_on_simplex(t)
        if self._is_small_and_on_host(t):
            return _evaluate_on_host(self.control_points, np.asarray(t), self.degree)
        return in_double_precision(_evaluate, self.control_points, t, self.degree)

    def derivative(self, t: Float[Array | np.ndarray, "*batch n_objectives"]) -> PyTree:
        """∂b/∂t_m of b as a polynomial in all of R^M: leaves (*batch, *value, M). Only differences
        matter on the simplex."""
        t = self._check_on_simplex(t)
        return in_double_precision(
            _derivative, self.control_points, t, self.n_objectives, self.degree
        )

    def jacobian(self, t: Float[Array | np.ndarray, "*batch n_objectives"]) -> PyTree:
        """The derivative along the simplex: leaves (*batch, *value, M); `jacobian @ v` for any v
        with Σ v_m = 0.

        It is `derivative` projected onto those directions, D b(t) (I − 11ᵀ/M), and so sums to 0
        over its last axis.
        """
        return jax.tree.map(
            lambda leaf: leaf - leaf.mean(axis=-1, keepdims=True), self.derivative(t)
        )

    def elevate(self, degree: int) -> "BezierSimplex":
        """The same map, written exactly in a higher degree."""
        degree = read_count(
            degree,
            "degree",
            self.degree,
            LARGEST_ELEVATION,
            "elevation keeps the map, in a higher degree",
        )
        if degree - self.degree > COMPILED_STEPS and not is_traced(self):
            points = _on_matrices(
                lambda leaf: _elevated_on_host(leaf, self, degree), self.control_points
            )
        else:
            points = in_double_precision(
                _elevate, self.control_points, self.n_objectives, self.degree, degree
            )
        return BezierSimplex(points, self.n_objectives, degree)

    def restrict(self, face: Sequence[int]) -> "BezierSimplex":
        """The surface over the face Δ_J: a Bézier simplex of |J| objectives, with the control
        points of that face."""
        members = check_face(face, self.n_objectives)
        rows = controls_on_face(members, self.n_objectives, self.degree)
        return BezierSimplex(
            jax.tree.map(lambda leaf: leaf[rows], self.control_points), len(members), self.degree
        )

    def subdivide(
        self, vertices: Float[Array | np.ndarray, "n_corners n_objectives"]
    ) -> "BezierSimplex":
        """The same map over the sub-simplex with these corners (de Casteljau): s ↦ b(sᵀ vertices),
        of the same degree."""
        vertices = self._check_on_simplex(vertices, "vertices")
        if vertices.ndim != 2:
            raise ValueError(
                "vertices must be a matrix with one point of the simplex a row, got shape"
                f" {vertices.shape}"
            )
        points = in_double_precision(
            _subdivide, self.control_points, vertices, self.n_objectives, self.degree
        )
        return BezierSimplex(points, len(vertices), self.degree)

    def split(self, t: Float[Array | np.ndarray, " n_objectives"]) -> tuple["BezierSimplex", ...]:
        """The M surfaces over the sub-simplices that t and the facets span: corner m of the m-th is
        t instead of e_m."""
        t = np.asarray(self._check_on_simplex(t))
        corners = [
            np.where(np.arange(self.n_objectives)[:, None] == m, t, np.eye(self.n_objectives))
            for m in range(len(t))
        ]
        return tuple(self.subdivide(corner) for corner in corners)

    def bounds(self) -> tuple[PyTree, PyTree]:
        """A box around the whole surface, lower and upper: by the convex-hull property that of the
        control points."""
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
        """The same surface with NumPy control points, which hold float64 whatever JAX's global
        precision is."""
        return BezierSimplex(on_host(self.control_points), self.n_objectives, self.degree)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a file that `bezierflow.load` reads back exactly; it appears complete or not at
        all. The ending is the format.

        * `.bez` holds any surface, every number exactly.
        * `.bsf` (a pytorch-bsf model), `.json`, `.csv`, `.tsv` (its tables keyed by multi-index)
          hold surfaces into R^L.
        """
        if is_traced(self):
            raise TypeError(
                "the surface is being traced by jax (jit, grad or vmap) and has no numbers to"
                " save yet"
            )
        save_net(Net(on_host(self.control_points), self.n_objectives, self.degree), path)

    def _is_small_and_on_host(self, t: Array | np.ndarray) -> bool:
        """Whether NumPy answers sooner: few points of a NumPy surface in double precision, with
        nothing to compile for."""
        leaves = jax.tree.leaves(self.control_points)
        return (
            t.size * self.n_controls <= HOST_SIZE
            and not is_traced(t)
            and all(isinstance(leaf, np.ndarray) and leaf.dtype == np.float64 for leaf in leaves)
            and (isinstance(t, np.ndarray) or not is_double())
        )

    def _check_on_simplex(self, t: ArrayLike, name: str = "t") -> Array | np.ndarray:
        t = (
            t
            if isinstance(t, jax.Array | np.ndarray)
            else read_doubles(t, name, "points of the simplex, coordinates last")
        )
        if t.ndim < 1 or t.shape[-1] != self.n_objectives:
            raise ValueError(
                f"{name} must have {self.n_objectives} coordinates along its last axis, got shape"
                f" {t.shape}"
            )
        if not is_traced(t):
            check_on_simplex(np.asarray(t), self.n_objectives, name)
        return t


LARGEST_ELEVATION = 200
"""The highest degree to elevate to: each degree on the way is a step of its own."""

COMPILED_STEPS = 32
"""More steps of an elevation are made by NumPy: a program of them would take long to compile."""

HOST_SIZE = 100_000
"""Coordinates of t times control points up to which NumPy is used: a millisecond, where a new shape
of t compiles for 300."""


def _on_matrices(function: Callable[..., Array | np.ndarray], control_points: PyTree) -> PyTree:
    """`function` of each leaf as a matrix with one control point a row; the last axis of its result
    is shaped like a value."""
    return jax.tree.map(partial(_on_matrix, function), control_points)


def _on_matrix(
    function: Callable[..., Array | np.ndarray], leaf: Array | np.ndarray
) -> Array | np.ndarray:
    result = function(leaf.reshape(len(leaf), -1))
    return result.reshape((*result.shape[:-1], *leaf.shape[1:]))


def _evaluate_on_host(control_points: PyTree, t: np.ndarray, degree: int) -> PyTree:
    design = design_matrix(t.reshape(-1, t.shape[-1]), degree)
    return _on_matrices(
        lambda matrix: (design @ matrix).reshape((*t.shape[:-1], matrix.shape[1])), control_points
    )


def _elevated_on_host(leaf: Array | np.ndarray, surface: BezierSimplex, degree: int) -> np.ndarray:
    matrix = np.asarray(leaf)
    return elevate(matrix.astype(float), surface.n_objectives, surface.degree, degree).astype(
        matrix.dtype
    )


def _repeat(x: PyTree, size: int) -> PyTree:
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (size, *leaf.shape)), x)


def _as_array(leaf: PyTree) -> PyTree:
    """What is an array stays as it is, an abstract one too; numbers become arrays."""
    return (
        leaf
        if hasattr(leaf, "shape") and hasattr(leaf, "dtype")
        else read_doubles(leaf, "control_points", "arrays of numbers")
    )


@partial(jax.jit, static_argnums=2)
def _evaluate(control_points: PyTree, t: Array, degree: int) -> PyTree:
    def value(matrix: Array) -> Array:
        dtype = jnp.result_type(matrix.dtype, t.dtype)
        return combine(t.astype(dtype), matrix.astype(dtype), degree)

    return _on_matrices(value, control_points)


@partial(jax.jit, static_argnums=(2, 3))
def _derivative(control_points: PyTree, t: Array, n_objectives: int, degree: int) -> PyTree:
    partials = _on_matrices(
        lambda matrix: nets.differentiate(matrix, n_objectives, degree), control_points
    )

    def leaf_derivative(leaf: Array) -> Array:
        return jnp.stack([_evaluate(net, t, max(degree - 1, 0)) for net in leaf], axis=-1)

    return jax.tree.map(leaf_derivative, partials)


@partial(jax.jit, static_argnums=(1, 2, 3))
def _elevate(control_points: PyTree, n_objectives: int, degree: int, target: int) -> PyTree:
    return _on_matrices(
        lambda matrix: nets.elevate(matrix, n_objectives, degree, target), control_points
    )


@partial(jax.jit, static_argnums=(2, 3))
def _subdivide(control_points: PyTree, vertices: Array, n_objectives: int, degree: int) -> PyTree:
    return _on_matrices(
        lambda matrix: nets.subdivide(matrix, vertices, n_objectives, degree), control_points
    )
