"""Faults under load: threads, JAX's debugging settings, many functions in one process."""

import dataclasses
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import bezierflow as bf
from bezierflow import compilation
from bezierflow.quiet import one_blas_thread
from bezierflow.simplex import grid
from solved import distances_to_points


def f(x):
    return jnp.array([jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2) + 0.1 * jnp.sum((x + 1) ** 4)])


def run():
    solution = bf.minimize(f, np.zeros(3))
    return (
        np.asarray(solution.pareto_set.control_points).tobytes()
        + bf.decisions.knee(solution).t.tobytes()
    )


@pytest.fixture(scope="module")
def alone():
    return run()


def test_threads_at_once_give_the_bits_of_one_alone(alone):
    found = [b""] * 3

    def work(number):
        found[number] = run()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 3


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("jax_debug_nans", True),
        ("jax_debug_infs", True),
        ("jax_numpy_dtype_promotion", "strict"),
        ("jax_numpy_rank_promotion", "raise"),
        ("jax_transfer_guard", "disallow"),
        ("jax_enable_x64", True),
    ],
)
def test_settings_of_the_users_do_not_break_a_run_and_stay(alone, setting, value):
    before = getattr(jax.config, setting)
    jax.config.update(setting, value)
    try:
        assert run() == alone
        lifted = bf.minimize(f, np.zeros(3), bf.lift(bf.Newton(), degree=2, n_iterations=2))
        assert np.isfinite(lifted.error.rms)
        assert getattr(jax.config, setting) == value
    finally:
        jax.config.update(setting, before)


def test_linear_algebra_has_one_thread_inside_and_as_many_as_before_outside():
    n_threads = lambda: [
        pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"
    ]
    before = n_threads()
    with one_blas_thread():
        assert set(n_threads()) == {1}
        with one_blas_thread():
            assert set(n_threads()) == {1}
        thread = threading.Thread(target=one_blas_thread()(n_threads))
        thread.start()
        thread.join()
        assert set(n_threads()) == {1}
    assert n_threads() == before


def test_programs_of_old_functions_are_forgotten(monkeypatch):
    @compilation.program
    def twice(function, x):
        return 2 * function(x)

    monkeypatch.setattr(compilation, "MOST_KEPT", 3)
    inner = compilation._PROGRAMS[-1]
    sizes = []
    for k in range(10):
        assert float(twice(lambda x, k=k: x + k, jnp.ones(()))) == 2 * (1 + k)
        compilation.forget_programs()
        sizes.append(inner._cache_size())
    assert 0 < max(sizes) <= 3
    compilation._PROGRAMS.pop()


@pytest.mark.parametrize("n_objectives", [2, 3])
@pytest.mark.parametrize("least", [1e-2, 1e-5])
def test_the_claimed_error_of_a_fitted_front_is_honest_for_logarithms(n_objectives, least):
    """The design at t is t itself, so that the front is a logarithm of t."""
    front = lambda t: np.log(t + least)
    fitted = dataclasses.replace(
        distances_to_points(n_objectives, n_objectives),
        pareto_set=bf.BezierSimplex(np.eye(n_objectives), n_objectives, 1).elevate(3),
        objectives=lambda x: jnp.log(x + least),
        known_front=None,
    ).fitted_front
    t = grid(n_objectives, {2: 1000, 3: 60}[n_objectives])
    t = np.concatenate(
        [t**power / np.sum(t**power, axis=1, keepdims=True) for power in (1, 2, 4, 8, 16)]
    )
    miss = np.abs(np.asarray(fitted.surface(t)) - front(t)).max(axis=0)
    assert (miss <= 1.5 * fitted.max).all()
    assert fitted.is_rough == (least == 1e-5)


def test_a_rough_front_is_flagged_in_a_file_and_not_where_the_objectives_are(tmp_path):
    steep = lambda x: jnp.log(jnp.sum((x - jnp.eye(2)) ** 2, axis=1) + 1e-6)
    solution = distances_to_points(2, 2, degree=1)
    ends = bf.BezierSimplex(np.eye(2), 2, 1)
    solution = dataclasses.replace(solution, pareto_set=ends, objectives=steep, known_front=None)
    solution.save(tmp_path / "steep.bez")
    assert "FRONT_ROUGH" in [flag.name for flag in bf.load(tmp_path / "steep.bez").error.flags]
    assert bf.load(tmp_path / "steep.bez", objectives=steep).error.flags == ()
