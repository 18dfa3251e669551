"""What kind of function this is: found by looking at it once, or said in one line."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.bezier import Raveling
from bezierflow.objectives import Bridge, Objectives, read_function
from bezierflow.precision import double_precision

X = np.array([0.3, 0.4])
VALUES = np.array([0.3**2 + math.sin(0.4), 0.7])


@jax.custom_vjp
def square(x):
    return x**2


square.defvjp(lambda x: (square(x), x), lambda x, g: (2 * g * x,))


def halves(x):
    return jax.lax.while_loop(lambda y: y > 1e-3, lambda y: y / 2, x)


def branching(x):
    return jnp.array([x[0] ** 2 + jnp.sin(x[1]), x[0] + x[1]]) if x[0] > 0 else jnp.zeros(2)


def called_back(x):
    return jax.pure_callback(
        lambda x: np.float64(np.asarray(x) ** 2), jax.ShapeDtypeStruct((), x.dtype), x
    )


FORMS = {
    "jax": (
        lambda x: jnp.array([x[0] ** 2 + jnp.sin(x[1]), x[0] + x[1]]),
        "a function that JAX traces",
        2,
    ),
    "jax list": (
        lambda x: [x[0] ** 2 + jnp.sin(x[1]), x[0] + x[1]],
        "a function that JAX traces",
        2,
    ),
    "list of jax": (
        [lambda x: x[0] ** 2 + jnp.sin(x[1]), lambda x: x[0] + x[1]],
        "a function that JAX traces",
        2,
    ),
    "numpy": (
        lambda x: np.array([x[0] ** 2 + np.sin(x[1]), x[0] + x[1]]),
        "a NumPy function, differentiated exactly by JAX",
        2,
    ),
    "math": (
        lambda x: [x[0] ** 2 + math.sin(x[1]), x[0] + x[1]],
        "a NumPy function, differentiated exactly by JAX",
        2,
    ),
    "list of numpy": (
        [lambda x: x[0] ** 2 + np.sin(x[1]), lambda x: x.sum()],
        "a NumPy function, differentiated exactly by JAX",
        2,
    ),
    "vectorized": (
        Objectives(
            lambda x: np.stack([x[:, 0] ** 2 + np.sin(x[:, 1]), x.sum(axis=1)], axis=1),
            vectorized=True,
        ),
        "a NumPy function, differentiated exactly by JAX",
        2,
    ),
    "list of vectorized": (
        Objectives(
            [lambda x: x[:, 0] ** 2 + np.sin(x[:, 1]), lambda x: x.sum(axis=1)], vectorized=True
        ),
        "a NumPy function, differentiated exactly by JAX",
        2,
    ),
    "jac and hess": (
        Objectives(
            lambda x: np.array([x[0] ** 2 + np.sin(x[1]), x[0] + x[1]]),
            jac=lambda x: np.array([[2 * x[0], np.cos(x[1])], [1.0, 1.0]]),
            hess=[lambda x: np.diag([2.0, -np.sin(x[1])]), lambda x: np.zeros((2, 2))],
        ),
        "a NumPy function with jac and hess",
        2,
    ),
    "float": (
        lambda x: np.array([float(x[0]) ** 2 + np.sin(x[1]), x[0] + x[1]]),
        "makes a Python number of a value that depends on x; derivatives by finite",
        0,
    ),
    "vectorized float": (
        Objectives(
            lambda x: np.array([[float(a) ** 2 + np.sin(b), a + b] for a, b in x]), vectorized=True
        ),
        "makes a Python number of a value that depends on x; derivatives by finite",
        0,
    ),
    "branching": (branching, "branches on a value that depends on x", 0),
    "gradients": (
        lambda x: jnp.array([square(x[0]) + jnp.sin(x[1]), x[0] + x[1]]),
        "a function that JAX traces and its gradients; Hess",
        1,
    ),
    "forwards": (
        lambda x: jnp.array([x[0] ** 2 + jnp.sin(x[1]) + 0 * halves(x[0]), x[0] + x[1]]),
        "a function that JAX traces, differentiated forwards",
        2,
    ),
    "callback": (
        lambda x: jnp.array([called_back(x[0]) + jnp.sin(x[1]), x[0] + x[1]]),
        "a function that JAX traces; derivatives",
        0,
    ),
}


def read(function, x=X, name="objectives"):
    raveling = Raveling.of(x)
    return read_function(function, raveling, np.asarray(raveling.ravel(x), dtype=float), name)


@pytest.mark.parametrize("case", FORMS.values(), ids=FORMS)
def test_every_form_has_values_and_two_derivatives(case):
    function, words, order = case
    form = read(function)
    assert words in form.found
    assert form.is_exact == (order == 2)
    if isinstance(form.flat, Bridge):
        assert form.flat.order == order
    with double_precision():
        np.testing.assert_allclose(form.flat(X), VALUES, atol=1e-15)
        np.testing.assert_allclose(form.of_x(X), VALUES, atol=1e-15)
        np.testing.assert_allclose(
            jax.jit(jax.jacrev(form.flat))(X), [[0.6, math.cos(0.4)], [1, 1]], atol=1e-9
        )
        expected = [[[2, 0], [0, -math.sin(0.4)]], [[0, 0], [0, 0]]]
        np.testing.assert_allclose(
            jax.jit(jax.jacfwd(jax.jacrev(form.flat)))(X), expected, atol=1e-5
        )


@pytest.mark.parametrize("function", [FORMS["gradients"][0], FORMS["jax"][0]])
def test_a_method_that_needs_gradients_alone_gets_the_function_itself(function):
    form = read_function(function, Raveling.of(X), X, "objectives", twice=False)
    assert form.flat is function


def test_trees_and_units():
    tree = {"a": np.array(30.0), "b": np.array([0.04])}
    raveling = Raveling.of(tree).scaled(np.array([100.0, 0.1]))
    host = read_function(
        lambda x: [(x["a"] / 100) ** 2 + math.sin(10 * x["b"][0]), 0.7],
        raveling,
        X,
        "objectives",
    )
    with double_precision():
        np.testing.assert_allclose(host.flat(X), VALUES, atol=1e-15)
        np.testing.assert_allclose(host.of_x(tree), VALUES, atol=1e-15)
        np.testing.assert_allclose(jax.jacrev(host.flat)(X)[0], [0.6, math.cos(0.4)], atol=1e-9)


def test_torch_functions_and_modules_are_differentiated_by_torch():
    torch = pytest.importorskip("torch")

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.line = torch.nn.Linear(2, 1, bias=False)
            torch.nn.init.ones_(self.line.weight)

        def forward(self, x):
            return torch.stack([x[0] ** 2 + torch.sin(x[1]), self.line(x)[0]])

    functions = [lambda x: torch.stack([x[0] ** 2 + torch.sin(x[1]), x.sum()]), Module()]
    functions.append([lambda x: x[0] ** 2 + torch.sin(x[1]), lambda x: torch.sum(x)])
    functions.append(lambda x: [x[0] ** 2 + torch.sin(x[1]), torch.sum(x) if x[0] > 0 else x[0]])
    for function in functions:
        form = read(function)
        assert form.found == "a torch function, differentiated by torch"
        with double_precision():
            np.testing.assert_allclose(jax.vmap(form.flat)(X[None]), VALUES[None], atol=1e-15)
            np.testing.assert_allclose(
                jax.hessian(form.flat)(X)[0], [[2, 0], [0, -math.sin(0.4)]], atol=1e-14
            )


def test_failures_of_arithmetic_are_not_numbers_and_others_are_raised():
    form = read(lambda x: [math.sqrt(x[0]), 1 / float(x[1])])
    assert isinstance(form.flat, Bridge)
    found = form.flat.rows(0, np.array([[-1.0, 1.0], [1.0, 0.0], [4.0, 2.0]]))
    np.testing.assert_array_equal(found, [[np.nan, np.nan], [np.nan, np.nan], [2.0, 0.5]])
    form = read(lambda x: [math.sqrt(x[0]), {True: 1.0}[bool(x[1] < 0.9)]])
    with pytest.raises(KeyError):
        form.flat.rows(0, np.array([[1.0, 1.0]]))


MISTAKES = {
    "scalar": (
        lambda x: np.sum(np.asarray(x) ** 2),
        ValueError,
        "got a scalar; a single objective needs no Pareto set",
    ),
    "matrix": (
        lambda x: np.outer(np.asarray(x), x),
        ValueError,
        r"shape \(M,\) .* got shape \(2, 2\)",
    ),
    "dictionary": (lambda x: {"a": x[0]}, TypeError, "as one array or a list, got dict"),
    "fails everywhere": (
        lambda x: x @ np.ones(5),
        TypeError,
        r"objectives failed for x of shape \(2,\)",
    ),
    "no function": (3.0, TypeError, "objectives must be a function"),
    "jac of a wrong shape": (
        Objectives(lambda x: x, jac=lambda x: np.ones((3, 2))),
        ValueError,
        r"jac must return .*\(2, 2\)",
    ),
    "not vectorized": (
        Objectives(lambda x: x[0], vectorized=True),
        ValueError,
        r"must return shape \(n, M\)",
    ),
}


@pytest.mark.parametrize("case", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_readable_line(case):
    function, error, words = case
    with pytest.raises(error, match=words) as caught:
        read(function)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("unchecked")
def test_hess_goes_with_jac():
    with pytest.raises(ValueError, match="hess goes with jac"):
        Objectives(lambda x: x, hess=lambda x: x)
    with pytest.raises(TypeError, match="jac must be a function"):
        Objectives(lambda x: x, jac=True)
