"""scikit-learn: a Bézier simplex as a regressor, for pipelines and searches over the degree."""

import warnings

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..bezier import BezierSimplex, fit
from . import require

_base = require("sklearn.base", "scikit-learn")
_validation = require("sklearn.utils.validation", "scikit-learn")

OFF = 1e-6
"""Rows that are farther from the simplex than this are moved with a warning."""


class OffSimplexWarning(UserWarning):
    """Rows of T were not on the simplex and were moved there."""


class BezierSimplexRegressor(_base.RegressorMixin, _base.BaseEstimator):
    """Least squares with a Bézier simplex: `fit(T, X)` with T on the simplex, one point per row,
    and `predict(T)`.

    Rows of T should hold numbers of at least 0 with sum 1. Other rows are moved to the nearest
    point of the simplex, with an `OffSimplexWarning` where that is farther than rounding. A matrix
    with one column is the simplex of one point, where every surface is constant.

    Args:
        degree: of the surface.
        ridge: the penalty on control points, as in `bezierflow.fit`. The default changes nothing
            that one can see, and gives a surface also where there are fewer samples than control
            points.

    Attributes:
        surface_: the fitted `BezierSimplex`.
        n_features_in_: the number of columns of T, M.
    """

    def __init__(self, degree: int = 3, ridge: float = 1e-9):
        self.degree = degree
        self.ridge = ridge

    def fit(self, X: ArrayLike, y: ArrayLike) -> "BezierSimplexRegressor":
        """Fits the surface to values y at the points X of the simplex; scikit-learn calls them
        so."""
        t, values = _validation.validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=np.float64
        )
        if not isinstance(self.degree, int | np.integer) or self.degree < 0:
            raise ValueError(f"degree must be a whole number of at least 0, got {self.degree!r}")
        self._is_vector = values.ndim == 1
        rows = (values[:, None] if self._is_vector else values).astype(float)
        self.surface_: BezierSimplex = fit(on_simplex(t), rows, int(self.degree), ridge=self.ridge)
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The surface at the points X of the simplex."""
        _validation.check_is_fitted(self)
        t = on_simplex(_validation.validate_data(self, X, reset=False, dtype=np.float64))
        values = np.asarray(self.surface_(t))
        return values[:, 0] if self._is_vector else values

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        # scikit-learn's checks give points anywhere in space, of which only projections count
        tags.regressor_tags.poor_score = True
        return tags


def on_simplex(t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_objectives"]:
    """The nearest point of the simplex to each row.

    It is max(t − τ, 0) with the τ for which that sums to 1 (Held, Wolfe and Crowder, Math. Program.
    6, 1974).
    """
    descending = -np.sort(-t, axis=1)
    count = np.arange(1, t.shape[1] + 1)
    excess = (np.cumsum(descending, axis=1) - 1) / count
    last = np.sum(descending > excess, axis=1) - 1
    moved = np.maximum(t - excess[np.arange(len(t)), last][:, None], 0)
    moved /= moved.sum(axis=1, keepdims=True)
    farthest = float(np.abs(moved - t).max())
    if farthest > OFF:
        warnings.warn(
            f"rows off the simplex, by up to {farthest:.2g}, were moved to it",
            OffSimplexWarning,
            stacklevel=3,
        )
    return moved
