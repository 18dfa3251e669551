"""Objectives with kinks through `minimize`: lasso paths, the worst customer, distances along
streets, against other solvers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import LinearConstraint
from scipy.optimize import minimize as scipy_minimize

import bezierflow as bf
from bezierflow.answer import Reason
from bezierflow.precision import double_precision

rng = np.random.default_rng(0)
A, NOISE = rng.normal(size=(12, 4)), rng.normal(size=12)
b = A @ np.array([1.0, -0.7, 0.0, 0.4]) + NOISE
CUSTOMERS, DEPOT = rng.random((5, 2)), np.array([1.3, 0.2])


def penalized(n_variables, n_objectives):
    """Misfit, |x|_1 and, for three objectives, |x|²/2."""
    X = A[:, :n_variables]

    def smooth(x):
        return jnp.stack([0.5 * jnp.sum((X @ x - b) ** 2), 0 * x[0], 0.5 * x @ x])[:n_objectives]

    def nonsmooth(x):
        return jnp.stack([0 * x[0], jnp.sum(jnp.abs(x)), 0 * x[0]])[:n_objectives]

    return bf.problems.Composite(
        smooth, nonsmooth, lambda x, w: jnp.sign(x) * jnp.maximum(jnp.abs(x) - w[1], 0)
    )


def coordinate_descent(X, w):
    """The minimizer of w_1 |Xx − b|²/2 + w_2 |x|_1 + w_3 |x|²/2."""
    H, g, x = w[0] * X.T @ X + w[2] * np.eye(X.shape[1]), w[0] * X.T @ b, np.zeros(X.shape[1])
    for _ in range(10000):
        before = x.copy()
        for i in range(len(x)):
            pull = g[i] - H[i] @ x + H[i, i] * x[i]
            x[i] = np.sign(pull) * max(abs(pull) - w[1], 0) / H[i, i]
        if np.abs(x - before).max() < 1e-15:
            return x
    raise AssertionError("coordinate descent did not converge")


def values(objectives, x):
    with double_precision():
        return np.asarray(jax.vmap(objectives)(jnp.asarray(x)))


def distances(solution, x):
    """How far the answers above the objectives of x are from them, in units of ranges."""
    f, atlas = values(solution.objectives, x), solution.pareto_set
    return np.abs((values(solution.objectives, atlas(atlas.t(f))) - f) / atlas.units.span).max(
        axis=1
    )


def held_out(n_objectives, n):
    """Weights from all over: misfits are some ten times larger than penalties."""
    return np.pad(
        np.random.default_rng(7).dirichlet(np.ones(n_objectives), n),
        ((0, 0), (0, 3 - n_objectives)),
    )


@pytest.fixture(scope="module")
def lasso():
    return bf.minimize(penalized(4, 2), np.zeros(4))


def test_the_lasso_path(lasso):
    assert lasso.result.reason is Reason.CONVERGED
    assert "4 kinks of the objectives were lifted" in lasso.result.message
    x = np.array([coordinate_descent(A, w) for w in held_out(2, 60)])
    assert len({tuple(np.sign(row)) for row in x}) > 3
    assert distances(lasso, x).max() < 1e-6
    for w in held_out(2, 3):
        np.testing.assert_allclose(lasso.at(weights=w[:2]), coordinate_descent(A, w), atol=1e-5)


@pytest.mark.slow
def test_groups_that_are_0_at_the_end_of_the_path_and_between_its_ends():
    """The second group has a prior: it leaves 0 at neither end, and passes it on the way from its
    fit to its prior."""

    def fit_and_groups(x):
        groups = jnp.linalg.norm(x[:2]) + jnp.linalg.norm(x[2:])
        return jnp.stack(
            [0.5 * jnp.sum((A @ x - b) ** 2), groups + 0.75 * jnp.sum((x[2:] - PRIOR) ** 2)]
        )

    solution = bf.minimize(fit_and_groups, np.full(4, 0.1))
    assert solution.result.reason is Reason.CONVERGED
    assert "2 kinks of the objectives were lifted" in solution.result.message
    x = proximal_gradient(held_out(2, 50))
    groups = np.abs(x.reshape(-1, 2, 2)).max(axis=2) > 0
    assert {(False, True), (True, False), (True, True)} == set(map(tuple, groups))
    assert distances(solution, x).max() < 1e-6
    one = x[~groups[:, 1]][0]
    answer = solution.pareto_set(solution.pareto_set.t(values(fit_and_groups, one[None])))[0]
    np.testing.assert_allclose(answer, one, atol=1e-5)
    assert np.abs(answer[one == 0]).max() < 1e-7


PRIOR = np.array([0.0, -0.9])


def proximal_gradient(w):
    """The minimizers of w_1 |Ax − b|²/2 + w_2 (|x_1:2| + |x_3:4| + 3|x_3:4 − PRIOR|²/4), one for
    each row of weights."""
    H, g, x = A.T @ A, A.T @ b, np.zeros((len(w), 4))
    ratio = (w[:, 1] / w[:, 0])[:, None]
    step = 1 / (np.linalg.eigvalsh(H)[-1] + 1.5 * ratio)
    for _ in range(100_000):
        pull = 1.5 * ratio * np.concatenate([0 * x[:, :2], x[:, 2:] - PRIOR], axis=1)
        y = (x - step * (x @ H - g + pull)).reshape(-1, 2, 2)
        size = np.linalg.norm(y, axis=2, keepdims=True)
        before, x = x, (y * np.maximum(1 - (step * ratio)[..., None] / size, 0)).reshape(-1, 4)
        if np.abs(x - before).max() < 1e-15:
            return x
    raise AssertionError("proximal gradient did not converge")


def test_solutions_speak_of_x_alone(lasso, tmp_path):
    atlas, points = lasso.pareto_set, lasso.spread(7)
    assert atlas.n_variables == 4
    assert points.X.shape == (7, 4)
    assert all(len(piece.side) == 4 for piece in atlas.pieces)
    x = np.array([coordinate_descent(A, w) for w in held_out(2, 50)])
    assert lasso.error.diameter < 2 * np.abs(x).sum(axis=1).max()
    np.testing.assert_allclose(atlas.front(points.t), points.F, atol=1e-5)
    np.testing.assert_allclose(lasso.at(aspiration=points.F[3]), points.X[3], atol=1e-5)
    lasso.save(tmp_path / "lasso.bez")
    loaded = bf.load(tmp_path / "lasso.bez")
    np.testing.assert_array_equal(loaded.pareto_set(points.t), points.X)
    best = bf.decisions.best(lasso, minimize=0, subject_to={1: (None, 1.0)})
    assert np.abs(best.x).sum() == pytest.approx(1, abs=1e-5)


def test_coefficients_are_exactly_zero_where_they_should_be(lasso):
    x = np.array([coordinate_descent(A, w) for w in held_out(2, 100)])
    atlas = lasso.pareto_set
    answers = atlas(atlas.t(values(lasso.objectives, x)))
    np.testing.assert_allclose(answers[x == 0], 0, atol=1e-12)


@pytest.mark.slow
def test_the_elastic_net():
    solution = bf.minimize(penalized(2, 3), np.zeros(2), tol=1e-5)
    x = np.array([coordinate_descent(A[:, :2], w) for w in held_out(3, 200)])
    assert solution.result.success
    assert distances(solution, x).max() < 1e-4


def to_customers(x):
    return jnp.sum((x - CUSTOMERS) ** 2, axis=1)


def locations(x):
    d = to_customers(x)
    return jnp.stack([jnp.max(d), jnp.mean(d), jnp.sum((x - DEPOT) ** 2)])


def by_epigraph(w):
    """The minimizer of the weighted sum: min w_1 u + … subject to all distances of at most u."""
    square = lambda xu: np.sum((xu[:2] - CUSTOMERS) ** 2, axis=1)
    total = lambda xu: w @ [xu[2], square(xu).mean(), np.sum((xu[:2] - DEPOT) ** 2)]
    inside = {"type": "ineq", "fun": lambda xu: xu[2] - square(xu)}
    start = np.append(CUSTOMERS.mean(axis=0), 2.0)
    return scipy_minimize(
        total, start, constraints=inside, method="SLSQP", options={"ftol": 1e-15, "maxiter": 300}
    ).x[:2]


@pytest.mark.slow
def test_the_worst_customer_without_being_told():
    solution = bf.minimize(locations, np.array([0.4, 0.6]))
    assert "1 kink of the objectives was lifted" in solution.result.message
    x = np.array([by_epigraph(w) for w in np.random.default_rng(1).dirichlet(np.ones(3), 40)])
    assert distances(solution, x).max() < 1e-4


@pytest.mark.slow
def test_bounds_and_constraints_hold_beside_kinks():
    points = np.array([[0.0, 0.0], [1.0, 0.6]])

    def streets(x):
        return jnp.sum(jnp.abs(x - points), axis=1) + 0.1 * jnp.sum((x - points) ** 2, axis=1)

    blocked = LinearConstraint([[1.0, 1.0]], -np.inf, 1.2)
    solution = bf.minimize(streets, np.array([0.3, 0.2]), bounds=(0.0, 0.8), constraints=blocked)
    front = solution.spread(40)
    assert solution.result.success
    assert front.X.min() >= 0
    assert front.X.max() <= 0.8
    assert front.X.sum(axis=1).max() <= 1.2 + 1e-7
    grid = np.stack(np.meshgrid(*[np.linspace(0, 0.8, 161)] * 2), axis=-1).reshape(-1, 2)
    f = values(streets, grid[grid.sum(axis=1) <= 1.2])
    assert not any(np.all(f < row - 1e-5, axis=1).any() for row in front.F)


def test_a_kink_that_points_upwards_is_refused():
    solution = bf.minimize(
        lambda x: jnp.stack([x[1] ** 2 - jnp.abs(x[0]), x @ x]),
        np.array([0.1, 0.1]),
        bounds=(-1.0, 1.0),
    )
    assert "could not be lifted: objective 1 falls" in solution.result.message


def test_a_run_that_ends_well_is_not_made_again():
    """|x + 5| has its kink far from the set of these."""
    solution = bf.minimize(
        lambda x: jnp.stack([x @ x + jnp.abs(x[0] + 5), jnp.sum((x - 1) ** 2)]), np.ones(2)
    )
    assert isinstance(solution.pareto_set, bf.BezierSimplex)
    assert solution.result.reason is Reason.CONVERGED
