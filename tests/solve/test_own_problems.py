"""What people hand over: functions in NumPy, lists, torch and pymoo problems, constraints in NumPy,
variables of any scale."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

import bezierflow as bf
from bezierflow.solve import Call

A = np.array([[2.0, 0.3], [0.3, 1.0]])
WISHES = [[0.5, 0.5], [0.2, 1.0], [1.0, 0.3]]


def in_jax(x):
    return jnp.array(
        [jnp.sum((x - 1) ** 2) + 0.1 * jnp.sin(x[0]), x @ jnp.asarray(A) @ x + x[1] ** 4]
    )


def in_numpy(x):
    return np.array([np.sum((x - 1) ** 2) + 0.1 * np.sin(x[0]), x @ A @ x + x[1] ** 4])


def jac(x):
    return np.array([2 * (x - 1) + [0.1 * np.cos(x[0]), 0], 2 * A @ x + [0, 4 * x[1] ** 3]])


def designs(solution):
    return np.stack([solution.at(aspiration=wish) for wish in WISHES])


@pytest.fixture(scope="module")
def reference():
    return designs(bf.minimize(in_jax, np.zeros(2)))


def through_float(x):
    """Not traced."""
    return np.array([float(value) for value in in_numpy(x)])


TRACED = {
    "NumPy": in_numpy,
    "vectorized": bf.Objectives(lambda x: np.stack([in_numpy(row) for row in x]), vectorized=True),
}
BY_DIFFERENCES = {
    "through float": through_float,
    "NumPy with jac": bf.Objectives(in_numpy, jac=jac),
    "a list of functions": [lambda x: in_jax(x)[0], lambda x: in_numpy(np.asarray(x))[1]],
    "vectorized through float": bf.Objectives(
        lambda x: np.stack([through_float(row) for row in x]), vectorized=True
    ),
}


@pytest.mark.parametrize("objectives", TRACED.values(), ids=TRACED)
def test_the_same_surface_from_traced_code(objectives, reference):
    solution = bf.minimize(objectives, np.zeros(2))
    assert solution.result.success
    assert "differentiated exactly by JAX" in solution.made_by["objectives"]
    assert "differences" not in solution.result.message
    np.testing.assert_allclose(designs(solution), reference, atol=1e-9)


@pytest.mark.slow("a list of functions")
@pytest.mark.parametrize("objectives", BY_DIFFERENCES.values(), ids=BY_DIFFERENCES)
def test_the_same_surface_from_every_form(objectives, reference):
    solution = bf.minimize(objectives, np.zeros(2))
    assert solution.result.success
    assert "by finite differences" in solution.made_by["objectives"]
    given = objectives is BY_DIFFERENCES["NumPy with jac"]
    of_what = "Hessians are differences of the gradients given"
    words = of_what if given else "derivatives are finite differences"
    assert words in solution.result.message
    np.testing.assert_allclose(designs(solution), reference, atol=1e-7)
    assert solution.front(np.array([0.5, 0.5])).shape == (2,)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [1e-8, 1e-6])
def test_noise_is_seen_and_its_result_says_what_is_possible(sigma, reference):
    rng = np.random.default_rng(0)
    solution = bf.minimize(
        lambda x: in_numpy(x) * (1 + sigma * rng.standard_normal(2)), np.zeros(2)
    )
    assert solution.result.success
    off = np.linalg.norm(designs(solution) - reference, axis=1).max()
    assert off < 3 * solution.error.max < 100 * sigma ** (2 / 3)


def test_torch(reference):
    torch = pytest.importorskip("torch")
    solution = bf.minimize(
        lambda x: torch.stack(
            [
                torch.sum((x - 1) ** 2) + 0.1 * torch.sin(x[0]),
                x @ torch.as_tensor(A) @ x + x[1] ** 4,
            ]
        ),
        np.zeros(2),
    )
    np.testing.assert_allclose(designs(solution), reference, atol=1e-7)


def test_a_pymoo_problem_brings_its_bounds_and_constraints():
    pymoo = pytest.importorskip("pymoo.core.problem")

    class Disc(pymoo.ElementwiseProblem):
        def __init__(self):
            super().__init__(
                n_var=2, n_obj=2, n_ieq_constr=1, xl=np.array([-2.0, -2.0]), xu=np.array([2.0, 2.0])
            )

        def _evaluate(self, x, out, *args, **kwargs):
            out["F"] = [100 * (x[0] ** 2 + x[1] ** 2), (x[0] - 1) ** 2 + x[1] ** 2]
            out["G"] = [2 * (x[0] - 0.1) * (x[0] - 0.9) / 0.18]

    solution = bf.minimize(Disc())
    X = np.asarray(solution.spread(9).X)
    assert solution.result.success
    np.testing.assert_allclose([X.min(axis=0), X.max(axis=0)], [[0.1, 0], [0.9, 0]], atol=1e-6)


@pytest.mark.slow
def test_constraints_in_numpy():
    """The set bends around a disc; its inside is forbidden."""
    center = np.array([0.5, 0.6])

    def outside(x):
        return 0.04 - np.sum((np.asarray(x) - center) ** 2)

    def squares(x):
        return np.array([np.sum(np.square(x)), np.sum((np.asarray(x) - 1) ** 2)])

    constraint = NonlinearConstraint(outside, -np.inf, 0, jac=lambda x: -2 * (x - center))
    solution = bf.minimize(squares, np.zeros(2), bounds=(-1, 2), constraints=constraint, tol=1e-4)
    exact = bf.minimize(
        lambda x: jnp.array([x @ x, (x - 1) @ (x - 1)]),
        np.zeros(2),
        bounds=(-1, 2),
        constraints=lambda x: 0.04 - jnp.sum((x - center) ** 2),
        tol=1e-4,
    )
    for wish in ([0.5, 0.5], [0.7, 0.3], [1.0, 0.2]):
        np.testing.assert_allclose(
            solution.at(aspiration=wish), exact.at(aspiration=wish), atol=1e-3
        )
        assert outside(solution.at(aspiration=wish)) < 1e-3


@pytest.mark.parametrize(
    "method", [bf.GradientDescent(0.1), bf.SciPy("L-BFGS-B", n_steps=5)], ids=["descent", "scipy"]
)
def test_lifted_methods_take_numpy(method):
    squares = lambda x: np.array([float(np.sum(np.square(x))), np.sum((np.asarray(x) - 1) ** 2)])
    solution = bf.minimize(squares, np.zeros(2), bf.lift(method, degree=1, n_iterations=60))
    np.testing.assert_allclose(solution.pareto_set(np.eye(2)), [[0, 0], [1, 1]], atol=1e-5)
    assert solution.stats.evaluations.jacobian == 0  # differences are values
    assert solution.stats.evaluations.objective > 0


def test_an_error_inside_of_a_lifted_run_is_the_users_own():
    def fails(x):
        if x[0] > 0.5:
            raise LookupError("no mesh for this x")
        return np.array([np.sum(np.square(x)), np.sum((np.asarray(x) - 1) ** 2)])

    with pytest.raises(LookupError, match="no mesh for this x"):
        bf.minimize(
            fails, np.zeros(2), bf.lift(bf.GradientDescent(0.1), degree=1, n_iterations=100)
        )


def test_an_error_of_the_objectives_is_raised_by_whoever_asks():
    """It was kept inside of the compiled program; values that are not numbers in its place would
    say nothing."""
    broken = []

    def fails(x):
        if broken:
            raise LookupError("no mesh for this x")
        return np.array([float(np.sum(np.square(x))), np.sum((np.asarray(x) - 1) ** 2)])

    solution = bf.minimize(
        fails, np.zeros(2), bf.lift(bf.GradientDescent(0.1), degree=1, n_iterations=5)
    )
    broken.append(True)
    with pytest.raises(LookupError, match="no mesh for this x"):
        solution.front(np.array([0.123, 0.877]))
    broken.clear()
    assert np.isfinite(solution.front(np.array([0.123, 0.877]))).all()


@pytest.mark.slow("1000.0", "1000000.0")
@pytest.mark.parametrize("k", [1e3, 1e6, 1e9])
def test_variables_of_any_scale_give_the_same_surface(k):
    def scaled(k):
        return lambda x: jnp.array(
            [
                (x[0] / k - 1) ** 2 + (k * x[1]) ** 2,
                (x[0] / k) ** 2 + (k * x[1] - 1) ** 2 + (x[0] / k) ** 4,
            ]
        )

    plain = bf.minimize(scaled(1.0), np.array([0.1, 0.1]))
    assert "x_scale" not in plain.made_by
    solution = bf.minimize(scaled(k), np.array([0.1 * k, 0.1 / k]))
    assert solution.result.success
    assert "units made_by['x_scale']" in solution.result.message
    np.testing.assert_allclose(designs(solution) * [1 / k, k], designs(plain), atol=1e-6)
    assert 0.1 < solution.error.diameter < 10
    given = bf.minimize(scaled(k), np.array([0.1 * k, 0.1 / k]), bf.NormalFlow(x_scale=[k, 1 / k]))
    np.testing.assert_allclose(designs(given) * [1 / k, k], designs(plain), atol=1e-6)


def test_the_tail_of_an_exponential_tells_no_unit():
    """At the center of the box f2 bends along x0 by 1e-170, and by 2 along x1."""
    pit = lambda x: jnp.array([x[0], 1 - x[0] + x[1] ** 2 - jnp.exp(-(((x[0] - 0.3) / 0.01) ** 2))])
    problem = Call(pit, np.array([0.5, 0.0]), method=bf.NormalFlow()).read_problem()
    assert problem.raveling.units.tolist() == [1.0, 1.0]


def test_a_scaled_solution_survives_its_file(tmp_path):
    f = lambda x: jnp.array(
        [(x[0] / 1e4 - 1) ** 2 + x[1] ** 2, (x[0] / 1e4) ** 2 + (x[1] - 1) ** 2]
    )
    solution = bf.minimize(f, np.zeros(2))
    assert solution.made_by["x_scale"][0] > 100 * solution.made_by["x_scale"][1]
    solution.save(tmp_path / "a.bez")
    for loaded in (bf.load(tmp_path / "a.bez"), bf.load(tmp_path / "a.bez", objectives=f)):
        np.testing.assert_allclose(
            loaded.at(aspiration=[0.5, 0.5]), solution.at(aspiration=[0.5, 0.5]), rtol=1e-6
        )
        assert loaded.error.rms == solution.error.rms


@pytest.mark.parametrize("x_scale", [0, [1, -1], [1, 2, 3], "large"])
def test_a_wrong_scale_is_one_readable_line(x_scale):
    with pytest.raises(ValueError, match="x_scale must be a positive number"):
        bf.minimize(in_jax, np.zeros(2), bf.NormalFlow(x_scale=x_scale))
