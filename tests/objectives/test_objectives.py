"""`bf.Objectives`: derivatives and vectorization go with the function, into every verb."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf

A = np.array([[2.0, 0.3], [0.3, 1.0]])


def in_numpy(x):
    return np.array([np.sum((x - 1) ** 2), x @ A @ x])


def jac(x):
    return np.array([2 * (x - 1), 2 * A @ x])


def hess(x):
    return np.array([2 * np.eye(2), 2 * A])


def batches(function):
    return lambda x: np.stack([function(row) for row in x])


PARTS = {
    "jac": (in_numpy, {"jac": jac}, "a NumPy function with jac; Hessians by finite differences"),
    "jac and hess": (in_numpy, {"jac": jac, "hess": hess}, "a NumPy function with jac and hess"),
    "vectorized": (batches(in_numpy), {"vectorized": True}, "a NumPy function, differentiated"),
    "all": (
        batches(in_numpy),
        {"jac": batches(jac), "hess": batches(hess), "vectorized": True},
        "a NumPy function with jac and hess",
    ),
    "lists": (
        [lambda x: in_numpy(x)[0], lambda x: in_numpy(x)[1]],
        {"jac": [lambda x: jac(x)[0], lambda x: jac(x)[1]]},
        "a NumPy function with jac; Hessians by finite differences",
    ),
}


@pytest.fixture(scope="module")
def exact():
    return bf.minimize(lambda x: jnp.array([jnp.sum((x - 1) ** 2), x @ A @ x]), np.zeros(2))


@pytest.mark.parametrize(("function", "parts", "words"), PARTS.values(), ids=PARTS)
def test_parts_given_with_the_function_are_used(exact, function, parts, words):
    solution = bf.minimize(bf.Objectives(function, **parts), np.zeros(2))
    assert solution.made_by["objectives"].startswith(words)
    t = bf.simplex.grid(2, 20)
    np.testing.assert_allclose(solution.front(t), exact.front(t), atol=1e-4)


@pytest.mark.parametrize(("function", "parts", "words"), PARTS.values(), ids=PARTS)
def test_check_takes_them_too(function, parts, words):
    report = bf.check(bf.Objectives(function, **parts), np.zeros(2))
    assert report.form.startswith(words)
    exact = "jac" in parts or "differentiated" in words
    assert (report.gradient_error is not None) == exact
    assert report.ok


def test_a_function_alone_passes_through_as_it_is():
    def in_jax(x):
        return jnp.array([jnp.sum((x - 1) ** 2), x @ jnp.asarray(A) @ x])

    solution = bf.minimize(bf.Objectives(in_jax), np.zeros(2))
    assert solution.objectives is in_jax
    assert solution.made_by["objectives"] == "a function that JAX traces"
    assert bf.check(bf.Objectives(in_jax), np.zeros(2)).form == "a function that JAX traces"


@pytest.mark.parametrize("outside", [True, False], ids=["around a problem", "inside of a problem"])
def test_a_problem_keeps_its_names_bounds_and_directions(outside):
    own = {"objective_names": ("near", "low"), "bounds": (-2, 2), "maximize": ("low",)}
    falling = lambda x: in_numpy(x) * [1, -1]
    slopes = lambda x: jac(x) * np.array([[1], [-1]])
    if outside:
        given = bf.Objectives(bf.problems.Problem(falling, 2, 2, **own), jac=slopes)
    else:
        given = bf.problems.Problem(bf.Objectives(falling, jac=slopes), 2, 2, **own)
    solution = bf.minimize(given)
    assert solution.names.objectives == ("near", "low")
    assert solution.names.directions == ("minimize", "maximize")
    assert solution.feasible is not None
    assert solution.made_by["objectives"].startswith("a NumPy function with jac")
    assert solution.result.success


@pytest.mark.slow
def test_a_surrogate_calls_them_with_batches_where_they_are_vectorized():
    seen = []

    def watched(x):
        seen.append(np.ndim(x))
        return batches(in_numpy)(x)

    for given in (
        bf.Objectives(watched, vectorized=True),
        bf.problems.Problem(bf.Objectives(watched, vectorized=True), 2, 2),
    ):
        solution = bf.minimize(given, method=bf.Surrogate(), bounds=([-2, -2], [2, 2]), budget=8)
        assert len(solution.evaluated.F) == 8
    assert set(seen) == {2}
