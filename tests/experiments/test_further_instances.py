import numpy as np
import pytest
from experiments.birthwt import load, orthogonal_polynomials

from bezierflow.precision import double_precision
from bezierflow.problems import by_name
from experiments import dtlz, group_lasso, two_objectives


def test_birthwt_is_as_grpreg_describes_it():
    data = load()
    assert data.X.shape == (189, 16)
    assert np.bincount(data.group).tolist() == [3, 3, 2, 1, 2, 1, 1, 3]
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose((data.X**2).mean(axis=0), 1)
    np.testing.assert_allclose(data.X[:, :3].T @ data.X[:, :3] / 189, np.eye(3), atol=1e-12)


def test_orthogonal_polynomials_follow_the_powers():
    x = np.random.default_rng(0).normal(size=50)
    q = orthogonal_polynomials(x, 3)
    np.testing.assert_allclose(q.T @ q, np.eye(3), atol=1e-12)
    assert (q.T @ np.column_stack([x, x**2, x**3])).diagonal().min() > 0


def test_the_prox_solves_its_problem():
    """At y = prox(x) no small change lowers |y − x|²/2 + w·g(y)."""
    data = load()
    problem = group_lasso.group_lasso_problem(data, group_lasso.VARIANTS["perturbed"](data))
    rng = np.random.default_rng(1)
    x, weights = rng.normal(size=16), np.array([0.1, 0.8, 0.3])
    with double_precision():
        y = np.asarray(problem.prox(x, weights))

        def value(z):
            return 0.5 * np.sum((z - x) ** 2) + float(weights @ problem.nonsmooth(z))

        assert all(value(y) <= value(y + 1e-4 * step) for step in rng.normal(size=(50, 16)))


def test_group_lasso_surface_approaches_the_converged_solver():
    data = load()
    mixing = group_lasso.VARIANTS["perturbed"](data)
    t = group_lasso.held_out_weights()[:5]
    exact, residual = group_lasso.converged(data, mixing, t, n_iterations=2000)
    assert residual < 1e-10
    surface = group_lasso.surface_of_degree(data, mixing, 3, n_iterations=100)
    excess = group_lasso.excess(data, mixing, surface, t, exact)
    assert (excess > -1e-12).all()
    assert excess.max() < 0.05
    stepped = group_lasso.excess(
        data,
        mixing,
        lambda t: group_lasso.proximal_step(data, mixing, t, np.asarray(surface(t))),
        t,
        exact,
    )
    assert (stepped <= excess + 1e-12).all()


def test_hypervolume_of_a_staircase_by_hand():
    values, reference = np.array([[1.0, 3.0], [2.0, 1.0]]), np.array([4.0, 4.0])
    with double_precision():
        assert float(two_objectives.uncrowded_hypervolume(values, reference)) == pytest.approx(
            3 * 1 + 2 * 2
        )
        dominated = np.array([*values, [3.0, 2.0]])
        # It adds no volume and costs its height of 1 above the staircase, over two neighbors.
        assert float(two_objectives.uncrowded_hypervolume(dominated, reference)) == pytest.approx(
            7 - 0.5
        )


@pytest.mark.parametrize("name", list(two_objectives.CURVE_METHODS))
def test_curves_come_close_to_a_convex_problem(name, monkeypatch):
    monkeypatch.setattr(two_objectives, "BUDGET", 2000)
    problem = by_name("quadratic-2-3")
    curve = two_objectives.CURVE_METHODS[name][1](problem, 0)
    assert curve.evaluations <= 2000
    assert problem.distance(curve.at(np.linspace(0, 1, 50))).mean() < 0.05


@pytest.mark.parametrize("name", list(dtlz.INSTANCES))
def test_points_of_the_dtlz_sets_do_not_dominate_each_other(name):
    instance = dtlz.INSTANCES[name]
    f = dtlz._front(instance, instance.pareto_set(np.random.default_rng(0).uniform(size=(200, 2))))
    dominated = (f[:, None] <= f - 1e-9).all(axis=2).any(axis=0)
    assert not dominated.any()
    random = dtlz._front(instance, np.random.default_rng(1).uniform(size=(200, 7)))
    assert not (random[:, None] <= f - 1e-9).all(axis=2).any()
