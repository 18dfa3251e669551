"""Engines: every point comes back once, with its values or with why there are none, whatever
happens to workers."""

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import worker_functions as workers
from bezierflow.runs import Evaluation, FlatFunction, Pool, RayExecutor

loky = pytest.importorskip("loky")


def outcomes(pool: Pool, n: int) -> dict[int | None, Evaluation]:
    """What a pool makes of the points 0, 1, …, n − 1."""
    pool.submit((i, np.array([float(i)])) for i in range(n))
    found: dict[int | None, Evaluation] = {}
    while pool.n_open:
        for one in pool.arrivals():
            assert one.number not in found
            assert one.x == one.number
            found[one.number] = one
    assert pool.arrivals() == []
    return found


@pytest.fixture(scope="module", autouse=True)
def _workers_find_their_functions():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "PYTHONPATH",
            os.pathsep.join([os.path.dirname(workers.__file__), os.environ.get("PYTHONPATH", "")]),
        )
        yield


@pytest.fixture(scope="module")
def dask():
    """A local Dask cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def ray():
    """A Ray cluster of two workers, where Ray is installed (`pip install ray`): continuous
    integration goes without."""
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, logging_level="error", log_to_driver=False)
    yield RayExecutor()
    ray.shutdown()


def test_every_point_comes_back_with_its_values_whatever_the_engine(dask):
    threads = ThreadPoolExecutor(3)
    for executor in (None, threads, lambda: ThreadPoolExecutor(2), 2, dask.get_executor()):
        found = outcomes(Pool(workers.values, executor), 40)
        assert {number: tuple(outcome.y) for number, outcome in found.items()} == {
            i: (float(i), 1.0 - i) for i in range(40)
        }


def test_failures_are_retried_then_left_out_with_the_reason(dask):
    for executor in (None, 2, dask.get_executor()):
        found = outcomes(Pool(workers.troubled, executor, timeout=0.3), 8)
        failures = {number: outcome.failure for number, outcome in found.items() if outcome.failed}
        assert failures == {
            3: "ZeroDivisionError: at 3",
            4: "returned [nan, 1.0]",
            5: "no answer within timeout=0.3 s",
        }
        assert len(found) == 8


def test_a_failure_is_tried_as_often_as_said(tmp_path):
    def flaky(x):
        workers.counted(str(tmp_path), x)
        tries = len((tmp_path / f"{x[0]:g}").read_text())
        return [1.0] if tries > x[0] else [np.inf]

    found = outcomes(Pool(flaky, retries=2), 5)
    assert {number: outcome.failed for number, outcome in found.items()} == {
        0: False,
        1: False,
        2: False,
        3: True,
        4: True,
    }
    assert [len((tmp_path / str(i)).read_text()) for i in range(5)] == [1, 2, 3, 3, 3]


def test_only_the_point_that_kills_its_worker_is_left_out():
    found = outcomes(Pool(workers.deadly, 2), 10)
    assert [number for number, outcome in found.items() if outcome.failed] == [3]
    assert "its worker died" in found[3].failure
    assert all(tuple(found[i].y) == (float(i), 1.0) for i in range(10) if i != 3)


def test_a_worker_of_dask_that_is_killed_in_the_middle_costs_nothing(dask, tmp_path):
    pool = Pool(partial(workers.counted, str(tmp_path)), dask.get_executor())
    pid = next(iter(dask.run(os.getpid).values()))
    threading.Timer(0.2, os.kill, (pid, signal.SIGKILL)).start()
    found = outcomes(pool, 60)
    assert {number: tuple(outcome.y) for number, outcome in found.items()} == {
        i: (float(i), 1.0 - i) for i in range(60)
    }


def test_ray_gives_the_same_with_failures_and_dying_workers(ray):
    found = outcomes(Pool(workers.values, ray), 40)
    assert {number: tuple(outcome.y) for number, outcome in found.items()} == {
        i: (float(i), 1.0 - i) for i in range(40)
    }
    found = outcomes(Pool(workers.troubled, ray, timeout=0.5), 8)
    failures = {number: outcome.failure for number, outcome in found.items() if outcome.failed}
    assert failures == {
        3: "ZeroDivisionError: at 3",
        4: "returned [nan, 1.0]",
        5: "no answer within timeout=0.5 s",
    }
    found = outcomes(Pool(workers.deadly, ray), 10)
    assert [number for number, outcome in found.items() if outcome.failed] == [3]
    assert all(tuple(found[i].y) == (float(i), 1.0) for i in range(10) if i != 3)


def test_forks_are_refused_and_other_processes_are_not():
    with pytest.raises(
        ValueError, match=r"a fork of a process in which JAX runs hangs.*get_context\(\"spawn\"\)"
    ):
        Pool(workers.values, ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert len(outcomes(Pool(workers.values, executor), 3)) == 3


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"executor": "processes"}, "executor must be a concurrent.futures.Executor"),
        ({"executor": 0}, "executor must be"),
        ({"executor": True}, "executor must be"),
        ({"executor": lambda: 3}, "must have a method submit"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0"),
        ({"retries": -1}, "retries must be a whole number"),
        ({"retries": 1.5}, "retries must be a whole number"),
    ],
)
def test_misuse_is_said_at_the_door(settings, words):
    with pytest.raises((TypeError, ValueError), match=words):
        Pool(workers.values, **settings)


def test_functions_of_jax_compute_in_double_precision_and_lists_side_by_side():
    import jax.numpy as jnp

    exact = FlatFunction((lambda x: jnp.sum(x) + 1e-12, lambda x: x[0]), is_list=True)
    np.testing.assert_array_equal(exact(np.array([1.0, 2.0])), [3 + 1e-12, 1.0])
    many = FlatFunction((lambda x: np.stack([x[:, 0], x[:, 1]], axis=1),), vectorized=True)
    np.testing.assert_array_equal(many(np.array([1.0, 2.0])), [1.0, 2.0])
