"""Batches that share one program, and the folder that keeps programs."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow import compilation
from bezierflow.compilation import kept_programs, map_in_batches


@pytest.mark.parametrize("n", [1, 3, 7, 10])
def test_rows_in_batches_are_the_rows_one_by_one_and_the_function_is_traced_once(n):
    traces = []

    def function(row):
        key, x = row
        traces.append(1)
        return {"sum": x.sum(), "moved": x + jax.random.uniform(key)}

    keys, x = jax.random.split(jax.random.key(0), n), np.arange(2.0 * n).reshape(n, 2)
    mapped = jax.jit(lambda keys, x: map_in_batches(function, (keys, x), 3))(keys, jnp.asarray(x))
    assert len(traces) == 1
    np.testing.assert_array_equal(mapped["sum"], x.sum(axis=1))
    expected = x + np.asarray(jax.vmap(jax.random.uniform)(keys))[:, None]
    np.testing.assert_allclose(mapped["moved"], expected, rtol=1e-6)


@pytest.fixture
def no_cache():
    """JAX without the folder in which the tests keep programs."""
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", None)
    compilation.reset_cache()
    yield
    jax.config.update("jax_compilation_cache_dir", before)
    compilation.reset_cache()


@pytest.fixture
def folder(no_cache, tmp_path, monkeypatch):
    """Where programs are kept in this test, however fast they were compiled."""
    monkeypatch.setenv("BEZIERFLOW_CACHE", str(tmp_path))
    monkeypatch.setattr(compilation, "LEAST_SECONDS", 0.0)
    return tmp_path


def compile_one():
    """A program that no other test compiles."""
    number = compile_one.n = getattr(compile_one, "n", 0) + 1
    return jax.jit(lambda x: jnp.sin(x) + number)(np.ones(3))


def kept(folder):
    return list(folder.rglob("*-cache"))


def test_programs_of_a_block_are_kept_and_settings_are_the_users_again(folder):
    before = jax.config.jax_persistent_cache_min_compile_time_secs
    with kept_programs():
        with kept_programs():
            compile_one()
        first = len(kept(folder))
        compile_one()  # in the outer block still
    assert 0 < first < len(kept(folder))
    assert jax.config.jax_compilation_cache_dir is None
    assert jax.config.jax_persistent_cache_min_compile_time_secs == before
    n = len(kept(folder))
    compile_one()
    assert len(kept(folder)) == n


def test_a_cache_of_the_users_own_is_used_as_it_is(folder, tmp_path):
    own = tmp_path / "own"
    jax.config.update("jax_compilation_cache_dir", str(own))
    with kept_programs():
        assert jax.config.jax_compilation_cache_dir == str(own)
    assert jax.config.jax_compilation_cache_dir == str(own)


@pytest.mark.parametrize("value", ["off", "0"])
def test_nothing_is_kept_where_that_is_switched_off(folder, monkeypatch, value):
    monkeypatch.setenv("BEZIERFLOW_CACHE", value)
    with kept_programs():
        assert jax.config.jax_compilation_cache_dir is None


@pytest.mark.skipif(os.name == "nt", reason="rights of files are others there")
def test_a_folder_that_others_can_write_to_is_not_used(folder):
    """JAX runs what it finds in it."""
    with kept_programs():
        place = jax.config.jax_compilation_cache_dir
    assert place is not None
    os.chmod(place, 0o777)
    with kept_programs():
        assert jax.config.jax_compilation_cache_dir is None


@pytest.mark.usefixtures("no_cache")
def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BEZIERFLOW_CACHE", str(tmp_path / "file"))
    with kept_programs():
        compile_one()


def test_the_oldest_programs_leave_a_full_folder(folder, monkeypatch):
    with kept_programs():
        place = jax.config.jax_compilation_cache_dir
    for age in range(10):
        path = os.path.join(place, f"{age}-cache")
        with open(path, "wb") as file:
            file.write(bytes(100))
        os.utime(path, (1e9 - age, 1e9 - age))
    monkeypatch.setattr(compilation, "MOST_BYTES", 600)
    monkeypatch.setattr(compilation, "CLEAN_SECONDS", 0.0)
    with kept_programs():
        assert sorted(os.listdir(place)) == ["0-cache", "1-cache", "2-cache"]
