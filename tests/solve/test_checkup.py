"""`check`: what is wrong with a problem is found before a run, and a sound one is called sound."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf


def sound(x):
    return jnp.array([jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2)])


def test_a_sound_problem_is_called_sound():
    report = bf.check(sound, np.zeros(3))
    assert report.ok
    assert (report.n_objectives, report.n_variables, report.n_finite) == (2, 3, report.n_probes)
    np.testing.assert_allclose(report.values, [3.0, 3.0])
    assert report.gradient_error < 1e-6
    assert report.noise < 1e-14
    assert "one surface" in report.plan
    assert set(report.seconds) == {"value", "gradient", "hessian", "compilation"}
    assert str(report).startswith(
        "2 objectives, 3 variables: a function that JAX traces\nat x0: f1 = 3, f2 = 3\n"
    )


def test_a_wrong_gradient_is_named_with_both_numbers():
    @jax.custom_jvp
    def square(x):
        return jnp.sum(x**2)

    square.defjvp(
        lambda primals, tangents: (square(*primals), jnp.dot(3 * primals[0], tangents[0]))
    )
    report = bf.check(lambda x: jnp.array([square(x), jnp.sum((x - 1) ** 2)]), np.ones(2))
    assert not report.ok
    numbers = r"f1 is not .*: by x\d it is (\S+), where differences of values give (\S+), at x ="
    wrong, right = map(float, re.search(numbers, report.problems[0]).groups())
    assert wrong == pytest.approx(1.5 * right, rel=1e-4)


def test_numpy_functions_with_noise_a_constant_objective_and_holes():
    def noisy(x):
        return np.array(
            [float(np.sum(x**2)) + 1 + 1e-8 * np.sin(1e9 * x.sum()), 3.0, np.log(x[0] + 0.5)]
        )

    report = bf.check(noisy, np.full(2, 0.1), bounds=(-1.0, 1.0))
    assert 1e-10 < report.noise < 1e-6
    assert report.gradient_error is None
    assert any("f2 has the same value at all points" in text for text in report.problems)
    assert any("f3 is nan at x = " in text for text in report.remarks)
    assert any("relative noise" in text for text in report.remarks)
    assert "bounds" in report.plan


def test_kinks_are_lifted_or_named():
    assert (
        "lift 2 kinks"
        in bf.check(
            lambda x: jnp.array([jnp.sum(jnp.abs(x)), jnp.sum((x - 1) ** 2)]), np.full(2, 0.3)
        ).plan
    )
    step = lambda x: jnp.array(
        [jnp.where(x[0] > 0.3, 2 * x[0], x[0]) + x[1] ** 2, jnp.sum((x - 1) ** 2)]
    )
    report = bf.check(step, np.zeros(2))
    assert (
        any("the slope of f1 jumps at x1 = 0.3" in text for text in report.remarks)
        or "kinks" in report.plan
    )


def test_not_finite_at_the_start_is_a_problem():
    report = bf.check(lambda x: jnp.array([jnp.log(x[0]), x[0] ** 2]), np.array([-1.0]))
    assert "f1 is nan at x0" in report.problems[0]


@pytest.mark.usefixtures("unchecked")
def test_what_minimize_refuses_is_refused_with_the_same_line():
    for objectives, x0 in (
        (lambda x: jnp.array([x[5], x[0]]), np.zeros(3)),
        (sound, np.zeros(0)),
        (3, np.zeros(2)),
    ):
        with pytest.raises((TypeError, ValueError)) as checked:
            bf.check(objectives, x0)
        with pytest.raises((TypeError, ValueError)) as run:
            bf.minimize(objectives, x0)
        assert str(checked.value) == str(run.value)
    with pytest.raises(ValueError, match="index 5 is out of bounds"):
        bf.check(lambda x: jnp.array([x[5], x[0]]), np.zeros(3))
