"""A user's own function as a problem, also in two parts, and renaming any problem."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.names import Names
from bezierflow.problems import Composite, Problem, Quadratic, ScaledMED


def two_objectives(x):
    return jnp.array([jnp.sum(x**2), jnp.sum((x - 1) ** 2)])


def test_a_function_with_names():
    problem = Problem(
        two_objectives,
        objective_names=["cost", "mass"],
        variable_names=["a", "b"],
        variable_units=["m", ""],
    )
    assert (problem.n_objectives, problem.n_variables) == (2, 2)
    assert problem.names.variable_labels == ("a [m]", "b")
    np.testing.assert_allclose(problem(jnp.zeros(2)), [0, 2])


def test_sizes_may_be_left_open():
    problem = Problem(two_objectives)
    assert problem.n_objectives is None
    assert problem.n_variables is None
    assert problem.names.complete(2, 5) == Names.default(2, 5)
    assert problem.with_names(objectives=("a", "b")).n_objectives == 2


def test_pytrees_pass_through():
    problem = Problem(lambda x: jnp.stack([jnp.sum(x["a"]), x["b"]]), 2, 3)
    np.testing.assert_allclose(problem({"a": jnp.ones(2), "b": jnp.array(5.0)}), [2, 5])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"function": 3}, TypeError, "function must be callable"),
        (
            {"function": two_objectives, "n_objectives": 0},
            ValueError,
            "n_objectives must be a whole number of at least 1, got 0",
        ),
        (
            {"function": two_objectives, "n_objectives": 3, "objective_names": ("a",)},
            ValueError,
            "objectives must hold 3 texts",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_misuse_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        Problem(**arguments)


def test_renaming_leaves_the_original_alone():
    problem = Quadratic.random(2, 3)
    renamed = problem.with_names(objectives=("cost", "mass"), variable_units=("m", "m", "kg"))
    assert renamed.names == Names(
        ("cost", "mass"), ("x1", "x2", "x3"), ("", ""), ("m", "m", "kg")
    ).complete(2, 3)
    assert problem.names == Names.default(2, 3)
    x = np.ones(3)
    np.testing.assert_array_equal(renamed(x), problem(x))
    with pytest.raises(ValueError, match="objectives must hold 2 texts"):
        problem.with_names(objectives=("cost",))


def test_problems_are_pytrees_that_jit_takes():
    problem = Quadratic.random(2, 3)

    @eqx.filter_jit
    def value(problem, x, t):
        return problem(x), problem.pareto_map(t)

    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(problem))
    x, t = np.ones(3), np.array([0.25, 0.75])
    values, point = value(problem, x, t)
    np.testing.assert_allclose(values, problem(x), rtol=1e-5)
    np.testing.assert_allclose(point, problem.pareto_map(t), rtol=1e-5)


def test_equal_problems_are_equal_and_hash_alike():
    one, same, other = (Quadratic.random(2, 3, seed=seed) for seed in (0, 0, 1))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != same.with_names(objectives=("a", "b"))
    x = jnp.ones(3)
    np.testing.assert_allclose(jax.jit(one)(x), one(x), rtol=1e-6)


@pytest.mark.usefixtures("unchecked")
def test_precision_follows_the_point():
    problem = ScaledMED()
    assert problem(np.ones(3)).dtype == np.float64
    assert problem(jnp.ones(3)).dtype == jnp.float32
    assert problem([1, 2, 3]).dtype == np.float64


@pytest.mark.parametrize("x", [np.zeros(4), np.zeros((5, 3)), np.zeros(())])
@pytest.mark.usefixtures("unchecked")
def test_points_of_the_wrong_shape(x):
    with pytest.raises(ValueError, match="x must"):
        ScaledMED()(x)


def lasso(names=None):
    return Composite(
        smooth=lambda x: jnp.stack([jnp.sum((x - 1) ** 2), 0 * x[0]]),
        nonsmooth=lambda x: jnp.stack([0 * x[0], jnp.sum(jnp.abs(x))]),
        prox=lambda x, weights: jnp.sign(x) * jnp.maximum(jnp.abs(x) - weights[1], 0),
        names=names,
    )


def test_the_value_is_the_sum_of_both_parts():
    np.testing.assert_allclose(lasso()(jnp.array([1.0, -2.0])), [9, 3])


def test_names_tell_the_sizes_and_can_be_changed():
    assert lasso().n_objectives is None
    assert lasso(Names(objectives=("error", "norm"))).n_objectives == 2
    assert lasso().with_names(variables=("a", "b")).n_variables == 2


@pytest.mark.parametrize("part", ["smooth", "nonsmooth", "prox"])
@pytest.mark.usefixtures("unchecked")
def test_parts_must_be_functions(part):
    parts = {"smooth": len, "nonsmooth": len, "prox": len} | {part: 3}
    with pytest.raises(TypeError, match=f"^{part} must be a function, got 3"):
        Composite(**parts)
