"""Runs in folders: whatever ends them, they go on to the result of a run that was never
interrupted, to the last bit."""

import dataclasses
import warnings
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import bezierflow as bf
from bezierflow.runs import FolderTakenError, StorageWarning, read_checked, read_journal


def objectives(x):
    return jnp.stack([jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2) + x[0]])


START = np.zeros(2)
CASES = {
    "normal": {"x0": START, "tol": 1e-4},
    "Hessian-free": {"x0": START, "method": bf.NormalFlow(hessian="free", tol=1e-4)},
    "weights": {"x0": START, "method": bf.WeightsFlow(max_degree=4)},
    "atlas": {"x0": START, "bounds": (-0.5, 0.7), "tol": 1e-3},
} | {
    name: {"x0": START, "method": method}
    for name, method in {
        "gradient descent": bf.lift(
            bf.GradientDescent(lambda k: 0.3 / k), 2, bf.Uniform(12), n_iterations=12
        ),
        "adam": bf.lift(bf.Optax(optax.adam(0.05)), 2, n_iterations=12),
        "newton": bf.lift(bf.Newton(), 2, n_iterations=12),
        "scipy": bf.lift(bf.SciPy("L-BFGS-B", 1), 2, n_iterations=4),
    }.items()
}


def content(solution: bf.Solution, folder: Path) -> bytes:
    """Everything about a solution but the time that it took."""
    solution = dataclasses.replace(solution, stats=dataclasses.replace(solution.stats, seconds=0.0))
    solution.save(folder / "content.bez", estimate=False)
    return (folder / "content.bez").read_bytes()


class Death(Exception):
    """Ends a run from within."""


def dying_after(n: int):
    """A callback that ends the run with an error after n iterations of its flows together."""
    left = [n]

    def callback(iteration: bf.flows.Iteration) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Death

    return callback


@pytest.mark.slow("Hessian-free")
@pytest.mark.slow("atlas")
@pytest.mark.parametrize("name", CASES)
def test_a_run_that_dies_twice_ends_where_it_would_have_ended(name, tmp_path):
    case, folder = CASES[name], tmp_path / "run"
    whole = content(bf.minimize(objectives, **case), tmp_path)
    for n in (1, 1) if name == "weights" else (2, 1):
        with pytest.raises(Death):
            bf.minimize(
                objectives,
                checkpoint=bf.Checkpoint(folder, every=0),
                callback=dying_after(n),
                **case,
            )
    again = bf.minimize(objectives, checkpoint=bf.Checkpoint(folder, every=0), **case)
    assert content(again, tmp_path) == whole
    kinds = [record["kind"] for record in read_journal(folder / "journal.jsonl")]
    assert kinds.count("resumed") == 2
    assert kinds[-1] in ("ended", "paused")
    assert not list(folder.glob("*.part"))


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A run of a problem that a folder can hold, ended after two iterations of five."""
    folder, problem = tmp_path_factory.mktemp("begun") / "run", bf.problems.Quadratic.random(2, 2)
    with pytest.raises(Death):
        bf.minimize(
            problem,
            START,
            bf.lift(bf.Newton(0.5), n_iterations=5),
            checkpoint=bf.Checkpoint(folder, every=0),
            callback=dying_after(2),
        )
    return problem, folder


def copied(folder: Path, to: Path) -> Path:
    to.mkdir()
    for path in folder.iterdir():
        (to / path.name).write_bytes(path.read_bytes())
    return to


def test_a_folder_that_can_name_everything_needs_nothing_else(begun, tmp_path):
    problem, folder = begun
    found = bf.resume(copied(folder, tmp_path / "run"))
    # once more, when it has ended
    assert content(bf.resume(tmp_path / "run"), tmp_path) == content(found, tmp_path)
    assert content(found, tmp_path) == content(
        bf.minimize(problem, START, bf.lift(bf.Newton(0.5), n_iterations=5)), tmp_path
    )
    assert bf.Study.open(tmp_path / "run").solution.stats.iterations == 5


def test_more_iterations_are_gone_on_with_and_fewer_are_not(begun, tmp_path):
    problem, folder = begun
    folder = copied(folder, tmp_path / "run")
    longer = bf.resume(folder, n_iterations=8)
    assert content(longer, tmp_path) == content(
        bf.minimize(problem, START, bf.lift(bf.Newton(0.5), n_iterations=8)), tmp_path
    )
    with pytest.raises(ValueError, match=r"n_iterations was 8 and is 7.*may be larger"):
        bf.resume(folder, n_iterations=7)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": bf.Newton(0.25)}, "method was"),
        ({"method": bf.lift(bf.Newton(0.5), 2)}, "method was"),
        ({"seed": 1}, "seed was 0 and is 1"),
        ({"x0": np.ones(2)}, r"x0 was array\(\[0., 0.\]\) and is array\(\[1., 1.\]\)"),
        (
            {"objectives": bf.problems.Quadratic.random(2, 2, seed=5)},
            "the objectives are not those of the run",
        ),
        ({"objectives": objectives}, "the objectives are not those of the run"),
    ],
)
def test_another_problem_or_method_is_said_and_refused(begun, tmp_path, change, words):
    folder = copied(begun[1], tmp_path / "run")
    with pytest.raises(ValueError, match=words):
        bf.resume(folder, **change)


def test_what_a_folder_cannot_hold_is_asked_for(tmp_path):
    def mine(x):
        return objectives(x)

    method = bf.lift(bf.GradientDescent(lambda k: 0.1 / k), degree=1, n_iterations=2)
    bf.minimize(mine, START, method, checkpoint=tmp_path)
    with pytest.raises(
        ValueError,
        match=r"cannot hold objectives, method .*bf.resume\(.*, objectives, method=...\)",
    ):
        bf.resume(tmp_path)
    assert bf.resume(tmp_path, mine, method=method).stats.iterations == 2
    with pytest.raises(TypeError, match="not iterations"):
        bf.resume(tmp_path, mine, iterations=3)
    with pytest.raises(FileNotFoundError, match="holds no run"):
        bf.resume(tmp_path / "elsewhere")


def test_functions_of_a_file_are_found_again(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import jax.numpy as jnp\ndef f(x):\n    return jnp.stack([jnp.sum((x - 1) ** 2),"
        " jnp.sum((x + 1) ** 2)])\n"
    )
    f = __import__("runpy").run_path(str(file))["f"]
    bf.minimize(
        f, START, bf.lift(bf.Newton(), degree=1, n_iterations=2), checkpoint=tmp_path / "run"
    )
    assert bf.resume(tmp_path / "run").stats.iterations == 2
    file.write_text(file.read_text().replace("x + 1", "x + 2"))
    with pytest.raises(ValueError, match="the objectives are not those of the run"):
        bf.resume(tmp_path / "run")


def test_a_larger_budget_is_gone_on_with(tmp_path):
    small = bf.minimize(objectives, START, budget=8, checkpoint=tmp_path / "run")
    assert bf.answer.Flag.BUDGET_SPENT in small.error.flags
    large = bf.resume(tmp_path / "run", objectives, budget=100_000)
    assert large.result.success
    assert not large.error.flags


def test_a_damaged_state_is_never_taken_for_a_good_one(begun, tmp_path):
    """Every seventh byte is changed: the file is refused, with its path, or what it holds is
    unchanged."""
    whole, path = (begun[1] / "0.bez").read_bytes(), tmp_path / "0.bez"
    path.write_bytes(whole)
    manifest, arrays = read_checked(path, "run.state/1")
    messages = []
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            found, others = read_checked(path, "run.state/1")
        except ValueError as error:
            messages.append(str(error))
        else:
            assert found == manifest
            assert all(
                np.array_equal(others[name], arrays[name], equal_nan=True) for name in arrays
            )
    assert len(messages) > len(whole) // 14
    assert all("0.bez" in message for message in messages)


def test_two_runs_in_one_folder_one_wins(begun, tmp_path):
    folder = copied(begun[1], tmp_path / "run")

    def callback(iteration: bf.flows.Iteration) -> None:
        with pytest.raises(FolderTakenError, match="another process works on"):
            bf.resume(folder)

    assert bf.resume(folder, callback=callback).stats.iterations == 5


def test_a_folder_that_cannot_be_written_is_said_before_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="cannot be written"):
        bf.minimize(lambda x: 1 / 0, START, checkpoint=tmp_path / "file" / "run")
    with pytest.raises(ValueError, match="every must be a number of seconds"):
        bf.minimize(objectives, START, checkpoint=bf.Checkpoint(tmp_path / "run", every=-1))


def test_a_disk_that_is_full_later_does_not_stop_the_run(begun, tmp_path):
    """The place of the state is taken by a folder, so that no new state can be put there."""
    problem, _ = begun
    folder = tmp_path / "run"

    def callback(iteration: bf.flows.Iteration) -> None:
        if iteration.number == 1:
            (folder / "0.bez").unlink()
            (folder / "0.bez").mkdir()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = bf.minimize(
            problem,
            START,
            bf.lift(bf.Newton(0.5), n_iterations=5),
            checkpoint=bf.Checkpoint(folder, every=0),
            callback=callback,
        )
    assert found.stats.iterations == 5
    assert any(
        issubclass(one.category, StorageWarning) and "0.bez cannot be written" in str(one.message)
        for one in caught
    )
