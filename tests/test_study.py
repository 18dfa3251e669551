"""Studies by ask and tell: of flows against the same runs by calls, of a surrogate in memory."""

import gc
import threading

import numpy as np
import pytest

import bezierflow as bf

C = np.array([[0.0, 0.0], [1.0, 0.5]])

FLOW = bf.NormalFlow(degree=3, max_degree=3)


def f(x):
    return np.stack(
        [np.sum((x - c) ** 2, axis=-1) + 0.1 * (x[..., 0] - c[0]) ** 4 for c in C], axis=-1
    )


def df(x):
    rows = [
        2 * (x - c) + np.stack([0.4 * (x[..., 0] - c[0]) ** 3, 0 * x[..., 0]], axis=-1) for c in C
    ]
    return np.stack(rows, axis=-2)


def answer(study, with_jac=True, rng=None):
    """Tells values until nothing is asked; with a generator in any order and in parts."""
    while len(x := study.ask()):
        rows = np.arange(len(x)) if rng is None else rng.permutation(len(x))[: max(1, len(x) // 2)]
        study.tell(x[rows], f(x[rows]), df(x[rows]) if with_jac else None)
    assert study.done
    return study.solution


@pytest.fixture(scope="module")
def called():
    return bf.minimize(bf.Objectives(f, jac=df, vectorized=True), np.zeros(2), FLOW)


def new(folder=None, **changes):
    settings = {"x0": np.zeros(2), "with_jac": True, "method": FLOW}
    return bf.Study(None, 2, folder=folder, **{**settings, **changes})


def test_the_answer_of_a_flow_is_that_of_calls_bit_for_bit(called):
    solution = answer(new(), rng=np.random.default_rng(0))
    np.testing.assert_array_equal(
        solution.pareto_set.control_points, called.pareto_set.control_points
    )
    assert solution.result.reason == called.result.reason
    assert solution.error.rms == called.error.rms


@pytest.mark.slow
def test_a_flow_goes_on_from_what_was_told_without_asking_again(called):
    first = new()
    for _ in range(4):
        x = first.ask(7)
        first.tell(x, f(x), df(x))
    known = first.evaluations
    first.close()
    with pytest.raises(ValueError, match="the study was closed"):
        first.ask()
    second = new()
    x, y, jac = (np.array([getattr(one, part) for one in known]) for part in ("x", "y", "jac"))
    second.tell(x, y, jac)
    assert not (second.ask()[:, None] == x[None]).all(axis=2).any()
    np.testing.assert_array_equal(
        answer(second).pareto_set.control_points, called.pareto_set.control_points
    )


def test_a_flow_in_a_folder_goes_on_in_another_process_with_names(called, tmp_path):
    names = {"objectives": ["cost", "mass"]}
    first, n = new(tmp_path, names=names), 0
    for _ in range(3):
        x = first.ask(5)
        n += first.tell(x, f(x), df(x))
    first.close()
    second = bf.Study.open(tmp_path)
    assert len(second.evaluations) == n
    x = second.ask()
    assert second.pending.keys() == set(range(min(second.pending), max(second.pending) + 1))
    second.tell({})
    assert not second.done
    solution = answer(second)
    assert solution.names.objectives == ("cost", "mass")
    np.testing.assert_array_equal(
        solution.pareto_set.control_points, called.pareto_set.control_points
    )
    with pytest.raises(ValueError, match="are told and cannot be called"):
        solution.front(np.array([0.123, 0.877]))
    table = second.to_pandas()
    np.testing.assert_array_equal(table[["cost", "mass"]], f(table[["x1", "x2"]].to_numpy()))
    for change, words in (
        ({"method": bf.NormalFlow(degree=3)}, "method was"),
        ({"tol": 1e-3}, "tol was None and is 0.001"),
    ):
        with pytest.raises(ValueError, match=words):
            new(tmp_path, names=names, **change)
    with pytest.raises(ValueError, match="holds another study: n_objectives was 2 and is 3"):
        bf.Study(None, 3, "auto", x0=np.zeros(2), folder=tmp_path)
    with pytest.raises(ValueError, match="begun by hand and calls no objectives"):
        bf.resume(tmp_path)


def test_what_a_folder_cannot_hold_is_asked_for(tmp_path):
    constraints = [lambda x: x[0] - 2.0]
    bf.Study(None, 2, "auto", x0=np.zeros(2), constraints=constraints, folder=tmp_path)
    with pytest.raises(ValueError, match=r"give it again: bf.Study\(.*, constraints=...\)"):
        bf.Study.open(tmp_path)


def test_a_lifted_method_with_values_alone_and_infinite_ones():
    flow = bf.lift(bf.GradientDescent(0.2), 2, n_iterations=3)
    study = bf.Study(None, 2, flow, x0=np.zeros(2))
    by_differences = lambda x: np.array([[float(v) for v in row] for row in f(x)])  # not traced
    called = bf.minimize(bf.Objectives(by_differences, vectorized=True), np.zeros(2), flow)
    study.tell([9.0, 9.0], [np.inf, 1.0])
    np.testing.assert_array_equal(
        answer(study, with_jac=False).pareto_set.control_points, called.pareto_set.control_points
    )
    np.testing.assert_array_equal(study.evaluations[0].y, [np.inf, 1.0])
    assert study.evaluations[0].failed


def test_rounded_designs_are_recognized_and_what_does_not_fit_is_refused():
    study = bf.Study(None, 2, "auto", x0=np.full(2, 1 / 3))
    x = study.ask()
    study.tell([[float(f"{v:.14g}") for v in row] for row in x], f(x))
    assert {one.number for one in study.evaluations} == set(range(len(x)))
    assert not (study.ask()[:, None] == x[None]).all(axis=2).any()
    with pytest.raises(ValueError, match="y must have 2 values per design"):
        study.tell(x[0], [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="with_jac=True"):
        study.tell(x[0], [1.0, 2.0], df(x[0]))
    with pytest.raises(ValueError, match="has not ended"):
        study.solution  # noqa: B018
    with pytest.raises(TypeError, match="jac does not go with a Study"):
        bf.Study(None, 2, "auto", x0=np.zeros(2), jac=df)
    with pytest.raises(ValueError, match="x0 must be given"):
        bf.Study(None, 2, "auto")
    with pytest.raises(ValueError, match="x0 goes with a flow"):
        bf.Study(([0.0], [1.0]), 2, x0=[0.5])
    study.close()


def test_misuse_of_minimize_comes_from_ask_and_a_forgotten_run_ends():
    with pytest.raises(ValueError, match="tol"):
        bf.Study(None, 2, "auto", x0=np.zeros(2), tol=-1.0).ask()
    study = bf.Study(None, 2, "auto", x0=np.zeros(2))
    study.ask()
    (thread,) = (one for one in threading.enumerate() if one.name == "bezierflow study")
    del study
    gc.collect()
    thread.join(timeout=60)
    assert not thread.is_alive()


def test_a_surrogate_in_memory_is_asked_and_told_like_one_in_a_folder(tmp_path):
    box = ([-1.0, -1.0], [1.0, 1.0])
    designs = []
    for folder in (None, tmp_path):
        study = bf.Study(box, 2, bf.Surrogate(batch=2), folder=folder, seed=3, budget=9)
        x = study.ask(3)
        study.tell(x[2], f(x[2]))
        assert list(study.pending) == [0, 1]
        study.tell({0: None})
        study.tell(
            [[0.5, 0.5], [0.25, 0.0], [0.1, 0.9]],
            f(np.array([[0.5, 0.5], [0.25, 0.0], [0.1, 0.9]])),
        )
        study.tell(x[1], [np.nan, 1.0])
        assert [one.failed for one in study.evaluations] == [False, True, False, False, False, True]
        assert not study.done
        designs.append(np.concatenate([x, study.ask(4)]))
    np.testing.assert_array_equal(*designs)
    assert bf.Study.open(tmp_path).to_pandas()["nondominated"].sum() >= 1
