import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.answer import Flag
from bezierflow.normal import Settings, Stage, advance, begin, estimate_error
from bezierflow.problems import Fonseca, Quadratic, ScaledMED, SkewMED, SkewMMD, Warped


def run(objectives, x0, **settings):
    settings = Settings(**settings)
    state = begin(objectives, np.asarray(x0, dtype=float), settings)
    while not state.done:
        state = advance(objectives, settings, state)
    return state


def farthest(problem, surface, n=300):
    """The largest distance of the surface from the exact set over its diameter, inside and on
    edges."""
    rng = np.random.default_rng(7)
    t = rng.dirichlet([1.0] * problem.n_objectives, size=n)
    t = np.concatenate(
        [t, np.where(rng.random(t.shape) < 0.5, 0, t) + 1e-300 * np.eye(problem.n_objectives)[:1]]
    )
    t = t / t.sum(axis=1, keepdims=True)
    x = np.asarray(surface(t))
    return problem.distance(x).max() / np.ptp(x, axis=0).max()


@pytest.mark.parametrize(
    ("problem", "error", "hessians", "jacobians"),
    [
        (ScaledMED(), 1e-7, 150, 500),
        (SkewMED(3), 1e-8, 60, 60),
        (SkewMED(5), 1e-8, 250, 120),
        (SkewMMD(3), 1e-7, 150, 500),
        (Fonseca(10), 1e-8, 60, 20),
        # half of the Hessians follow eight wells that probes hint at
        (Warped(ScaledMED()), 1e-6, 350, 900),
    ],
    ids=["scaled-MED", "skew-3MED", "skew-5MED", "skew-3MMD", "Fonseca", "warped"],
)
def test_reaches_the_set_within_its_budget(problem, error, hessians, jacobians):
    state = run(problem, np.zeros(problem.n_variables))
    assert farthest(problem, state.surface) < error
    spent = state.evaluations
    assert spent.objective - spent.jacobian >= state.n_probes > 1000
    assert spent.hessian <= hessians
    assert spent.jacobian - spent.hessian <= jacobians
    assert state.flags == ()
    assert state.error <= 1e-6


def random_quadratics(seed, n_objectives, n_variables, condition=10.0):
    rng = np.random.default_rng(seed)
    bases = [
        np.linalg.qr(rng.normal(size=(n_variables, n_variables)))[0] for _ in range(n_objectives)
    ]
    matrices = [basis @ np.diag(condition ** rng.random(n_variables)) @ basis.T for basis in bases]
    return Quadratic(matrices, rng.normal(size=(n_objectives, n_variables)))


@pytest.mark.slow("size2-1e-05-650-1200")
@pytest.mark.parametrize(
    ("size", "error", "hessians", "jacobians"),
    [
        ((3, 3), 1e-7, 300, 900),
        ((3, 10), 2e-6, 650, 1200),
        ((3, 50), 1e-5, 650, 1200),
        ((4, 5), 4e-5, 1300, 3200),
    ],
)
def test_quadratics_stay_within_their_budgets(size, error, hessians, jacobians):
    problem = random_quadratics(1, *size)
    state = run(problem, np.zeros(size[1]))
    assert farthest(problem, state.surface) < error
    assert state.evaluations.hessian <= hessians
    assert state.evaluations.jacobian - state.evaluations.hessian <= jacobians


@pytest.mark.slow("size2-0.001")
@pytest.mark.parametrize(("size", "error"), [((2, 2), 1e-6), ((3, 5), 1e-5), ((4, 5), 1e-3)])
def test_random_quadratics(size, error):
    for seed in (101, 102):
        problem = random_quadratics(seed, *size)
        state = run(problem, np.zeros(size[1]))
        assert farthest(problem, state.surface) < error
        estimate = estimate_error(problem, state.surface)
        assert farthest(problem, state.surface) * estimate.diameter < estimate.expected


def test_does_not_care_about_scales_and_offsets():
    problem = ScaledMED()

    def changed(x):
        return jnp.array([1e6, 1.0, 1e-6]) * problem(x) + jnp.array([1e6, -1e3, 5.0])

    plain, other = run(problem, np.zeros(3)), run(changed, np.zeros(3))
    assert farthest(problem, other.surface) < 1e-7
    assert other.evaluations.objective <= plain.evaluations.objective + 30


@pytest.mark.parametrize("budget", [0, 2, 20, 100])
def test_a_budget_is_respected_and_there_is_always_a_surface(budget):
    state = run(ScaledMED(), np.zeros(3), budget=budget)
    assert state.evaluations.objective <= budget
    assert Flag.BUDGET_SPENT in state.flags
    assert np.isfinite(state.surface.control_points).all()


def test_a_fixed_degree_is_kept():
    problem = ScaledMED()
    state = run(problem, np.zeros(3), degree=3)
    assert state.surface.degree == 3
    assert farthest(problem, state.surface) < 2e-3
    assert run(SkewMED(3), np.zeros(3), degree=4).surface.degree == 4


def test_the_same_call_gives_the_same_result():
    first, second = (run(ScaledMED(), np.zeros(3)).surface.control_points for _ in range(2))
    assert np.array_equal(first, second)


def test_one_objective_is_a_point():
    state = run(lambda x: jnp.sum((x - 2) ** 2)[None], np.zeros(2))
    np.testing.assert_allclose(state.surface.control_points, [[2, 2]], atol=1e-8)


def test_objectives_that_agree_have_a_single_point():
    state = run(lambda x: jnp.stack([jnp.sum(x**2), 3 * jnp.sum(x**2) + 1]), np.ones(2))
    np.testing.assert_allclose(state.surface.control_points, 0, atol=1e-8)
    assert state.stage is Stage.DONE


def test_ties_are_broken_by_the_others_and_flagged():
    # f_1 does not see x_2: of its minimizers the one nearest to the other's is wanted.
    state = run(lambda x: jnp.stack([x[0] ** 2, jnp.sum((x - 1) ** 2)]), np.array([3.0, -2.0]))
    assert Flag.MINIMIZER_NOT_UNIQUE in state.flags
    np.testing.assert_allclose(state.surface.control_points[0], [0, 1], atol=1e-5)


def test_an_unbounded_objective_is_flagged():
    state = run(lambda x: jnp.stack([jnp.sum(x), jnp.sum(x**2)]), np.zeros(2), budget=500)
    assert Flag.NOT_CONVERGED in state.flags


@pytest.mark.parametrize(
    "settings", [{"degree": 0}, {"degree": "high"}, {"tol": 0.0}, {"max_degree": 0}]
)
@pytest.mark.usefixtures("unchecked")
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises((TypeError, ValueError), match=next(iter(settings))):
        Settings(**settings)


def test_objectives_must_return_a_vector():
    with pytest.raises(ValueError, match="objectives"):
        begin(lambda x: jnp.sum(x), np.zeros(2), Settings())


def test_the_same_state_stepped_twice_gives_the_same_state_and_the_same_counts():
    problem, settings = ScaledMED(), Settings()
    state = begin(problem, np.zeros(3), settings)
    while not state.done:
        once, again = (advance(problem, settings, state) for _ in range(2))
        assert once.evaluations == again.evaluations
        assert once.stage is again.stage
        np.testing.assert_array_equal(once.surface.control_points, again.surface.control_points)
        before = state.evaluations
        state = once
        assert before.objective <= state.evaluations.objective


def mirrored(seed, n_variables=2):
    """A strongly convex g with a quartic part and its mirror image g(1 − x): the set is S-shaped
    and close to its chord."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n_variables, n_variables)))[0]
    matrix = jnp.asarray(basis @ np.diag(10 ** rng.random(n_variables)) @ basis.T)
    quartic = jnp.asarray(rng.uniform(0.01, 0.5, n_variables))

    def g(y):
        return y @ matrix @ y / 2 + jnp.sum(quartic * y**4)

    return lambda x: jnp.stack([g(x), g(1 - x)])


def s_shaped(x):
    def g(y):
        return y[0] ** 2 + y[1] ** 2 + 0.05 * y[0] ** 4

    return jnp.stack([g(x), g(1 - x)])


@pytest.mark.parametrize(
    ("objectives", "n_variables"),
    [(s_shaped, 2), (mirrored(0), 2), (mirrored(7, 3), 3)],
    ids=["slight", "random", "in space"],
)
def test_a_set_that_is_odd_about_the_middle_of_its_chord_is_followed(objectives, n_variables):
    state = run(objectives, np.zeros(n_variables))
    assert estimate_error(objectives, state.surface, tol=1e-6).flags == ()


def test_a_fixed_degree_gives_the_best_surface_of_that_degree():
    errors = [
        estimate_error(s_shaped, run(s_shaped, np.zeros(2), degree=degree).surface).relative
        for degree in (1, 3, 8)
    ]
    assert errors[0] > 1e-3
    assert errors[1] < 1e-4
    assert errors[2] < 1e-7
