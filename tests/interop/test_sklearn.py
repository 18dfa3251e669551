"""A Bézier simplex among scikit-learn's regressors."""

import numpy as np
import pytest

import bezierflow as bf

pytest.importorskip("sklearn")

from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from bezierflow.interop.sklearn import BezierSimplexRegressor, OffSimplexWarning, on_simplex

RNG = np.random.default_rng(0)
SURFACE = bf.BezierSimplex(RNG.normal(size=(10, 2)), 3, 3)
T = RNG.dirichlet(np.ones(3), 80)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([BezierSimplexRegressor()])
def test_it_is_what_scikit_learn_calls_an_estimator(estimator, check):
    check(estimator)


def test_it_finds_the_surface_again():
    model = BezierSimplexRegressor(degree=3).fit(T, SURFACE(T))
    np.testing.assert_allclose(model.surface_.control_points, SURFACE.control_points, atol=1e-6)
    fresh = RNG.dirichlet(np.ones(3), 20)
    np.testing.assert_allclose(model.predict(fresh), SURFACE(fresh), atol=1e-6)
    assert model.score(fresh, SURFACE(fresh)) > 1 - 1e-9


def test_a_search_in_a_pipeline_finds_the_degree():
    noisy = SURFACE(T) + 1e-3 * RNG.normal(size=(80, 2))
    pipeline = make_pipeline(FunctionTransformer(), BezierSimplexRegressor())
    search = GridSearchCV(pipeline, {"beziersimplexregressor__degree": [1, 2, 3, 4]}, cv=5).fit(
        T, noisy
    )
    assert search.best_params_ == {"beziersimplexregressor__degree": 3}


def test_rows_off_the_simplex_are_moved_to_the_nearest_point():
    off = RNG.normal(size=(50, 4))
    with pytest.warns(OffSimplexWarning, match="rows off the simplex, by up to"):
        moved = on_simplex(off)
    np.testing.assert_allclose(moved.sum(axis=1), 1)
    assert moved.min() >= 0
    others = RNG.dirichlet(np.full(4, 0.3), 2000)
    nearest = np.linalg.norm(off[:, None] - others, axis=2).min(axis=1)
    assert (np.linalg.norm(off - moved, axis=1) <= nearest + 1e-12).all()
    np.testing.assert_allclose(on_simplex(T), T, atol=1e-15)
