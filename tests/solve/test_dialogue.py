"""Runs by ask and tell, against the same runs by calls."""

import gc
import threading

import numpy as np
import pytest

import bezierflow as bf

C = np.array([[0.0, 0.0], [1.0, 0.5]])


def f(x):
    return np.stack(
        [np.sum((x - c) ** 2, axis=-1) + 0.1 * (x[..., 0] - c[0]) ** 4 for c in C], axis=-1
    )


def df(x):
    rows = [
        2 * (x - c) + np.stack([0.4 * (x[..., 0] - c[0]) ** 3, 0 * x[..., 0]], axis=-1) for c in C
    ]
    return np.stack(rows, axis=-2)


def talk(dialogue, rng=None, n=None):
    """Answers until nothing is asked; with a generator in any order and in parts."""
    while len(x := dialogue.ask(n)):
        rows = np.arange(len(x)) if rng is None else rng.permutation(len(x))[: max(1, len(x) // 2)]
        jac = (df(x[rows]),) if dialogue.with_jac else ()
        dialogue.tell(x[rows], f(x[rows]), *jac)
    return dialogue.solution()


@pytest.fixture(scope="module")
def called():
    return bf.minimize(
        bf.Objectives(f, jac=df, vectorized=True),
        np.zeros(2),
        bf.NormalFlow(degree=3, max_degree=3),
    )


def test_the_answer_is_that_of_calls_bit_for_bit(called):
    solution = talk(
        bf.Dialogue(np.zeros(2), 2, bf.NormalFlow(degree=3, max_degree=3), with_jac=True),
        np.random.default_rng(0),
    )
    np.testing.assert_array_equal(
        solution.pareto_set.control_points, called.pareto_set.control_points
    )
    assert solution.result.reason == called.result.reason
    assert solution.error.rms == called.error.rms


def test_it_goes_on_from_what_was_told_without_asking_again(called):
    first = bf.Dialogue(np.zeros(2), 2, bf.NormalFlow(degree=3, max_degree=3), with_jac=True)
    for _ in range(4):
        x = first.ask(7)
        first.tell(x, f(x), df(x))
    known = first.told
    first.close()
    second = bf.Dialogue(np.zeros(2), 2, bf.NormalFlow(degree=3, max_degree=3), with_jac=True)
    second.tell(*known)
    x = second.ask()
    assert not (x[:, None] == known[0][None]).all(axis=2).any()
    solution = talk(second)
    np.testing.assert_array_equal(
        solution.pareto_set.control_points, called.pareto_set.control_points
    )


def test_a_lifted_method_with_values_alone():
    dialogue = bf.Dialogue(
        np.zeros(2), 2, bf.lift(bf.GradientDescent(0.2), degree=2, n_iterations=3)
    )
    asked = bf.minimize(
        bf.Objectives(f, vectorized=True),
        np.zeros(2),
        bf.lift(bf.GradientDescent(0.2), degree=2, n_iterations=3),
    )
    np.testing.assert_array_equal(
        talk(dialogue).pareto_set.control_points, asked.pareto_set.control_points
    )


def test_rounded_designs_are_recognized_and_what_does_not_fit_is_refused():
    dialogue = bf.Dialogue(np.full(2, 1 / 3), 2)
    x = dialogue.ask()
    dialogue.tell([[float(f"{v:.14g}") for v in row] for row in x], f(x))
    assert not (dialogue.ask()[:, None] == x[None]).all(axis=2).any()
    with pytest.raises(ValueError, match=r"y must have the shape \(1, 2\)"):
        dialogue.tell(x[0], [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="with_jac=True"):
        dialogue.tell(x[0], [1.0, 2.0], df(x[:1]))
    with pytest.raises(ValueError, match="has not ended"):
        dialogue.solution()
    with pytest.raises(TypeError, match="jac does not go with a Dialogue"):
        bf.Dialogue(np.zeros(2), 2, jac=df)
    dialogue.close()


def test_misuse_of_minimize_comes_from_ask_and_a_forgotten_run_ends():
    with pytest.raises(ValueError, match="tol"):
        bf.Dialogue(np.zeros(2), 2, tol=-1.0).ask()
    dialogue = bf.Dialogue(np.zeros(2), 2)
    dialogue.ask()
    thread = dialogue._thread
    del dialogue
    gc.collect()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert "bezierflow dialogue" not in {other.name for other in threading.enumerate()}
