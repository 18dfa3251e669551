"""The units that variables are measured in, so that they count alike: the user's, or found by
looking at the objectives.

Distances, trust regions and the error estimate take all variables for equally large. Where one is
measured in thousands and another in thousandths, none of them means much. The curvature of the
objectives along an axis, 1/s², tells the length s over which that variable matters.
"""

import jax
import numpy as np
from jaxtyping import Float

from ..bezier import Raveling
from .functions import Form
from .jax_evaluator import JaxEvaluator

UNEQUAL = 100.0
"""Variables are scaled by themselves where the lengths over which they matter differ by more than
this factor."""

MOST_VARIABLES = 500
"""Beyond so many variables no Hessian is computed just for a look."""


def own_scale(
    form: Form, x: Float[np.ndarray, " n_variables"]
) -> Float[np.ndarray, " n_variables"] | None:
    """The length over which each variable matters to the objectives at x, relative to the others;
    None where they are alike.

    1/s_i² is the mean of |∂²f_m/∂x_i²| over the objectives m, each relative to its largest. A
    variable along which no objective bends has the geometric mean of the others. The lengths have
    the geometric mean 1, and are powers of two, so that scaling rounds nothing.
    """
    if len(x) < 2 or len(x) > MOST_VARIABLES:
        return None
    hessians = JaxEvaluator(form.flat, form.n_rows, len(x)).hessians(x[None]).hessians
    assert hessians is not None
    bent = np.abs(np.diagonal(hessians[0], axis1=1, axis2=2))
    most = bent.max(axis=1, keepdims=True)
    if not np.isfinite(bent).all() or not most.max() > 0:
        return None
    relative = np.mean(bent[most[:, 0] > 0] / most[most[:, 0] > 0], axis=0)
    known = relative > 0
    length = 1 / np.sqrt(np.where(known, relative, np.exp(np.log(relative[known]).mean())))
    if length.max() <= UNEQUAL * length.min():
        return None
    return 2.0 ** np.round(np.log2(length) - np.log2(length).mean())


def check_x_scale(x_scale: object, raveling: Raveling) -> Float[np.ndarray, " n_variables"]:
    """The user's units, a positive number, one for each variable or a tree like x, as a flat
    vector; or an error in one line."""
    L = raveling.n_variables
    try:
        leaves = [np.asarray(leaf, dtype=float) for leaf in jax.tree.leaves(x_scale)]
    except (TypeError, ValueError):
        leaves = []
    scale = np.concatenate([leaf.reshape(-1) for leaf in leaves]) if leaves else np.zeros(0)
    scale = np.full(L, scale[0]) if len(scale) == 1 else scale
    if scale.shape != (L,) or not (np.isfinite(scale).all() and (scale > 0).all()):
        raise ValueError(
            f"x_scale must be a positive number, or one for each of {L} variables, got {x_scale!r}"
        )
    return scale
