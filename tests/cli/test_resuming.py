"""`--checkpoint`, `resume`, `ask`, `tell` and Ctrl-C on the command line."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

import bezierflow as bf
from bezierflow.cli import main
from bezierflow.runs import read_journal


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_a_run_is_kept_and_goes_on_with_more_iterations(tmp_path):
    solve = (
        "solve",
        "quadratic-2-2",
        "--method",
        "gradient-descent",
        "--samples",
        "8",
        "--degree",
        "2",
    )
    run(*solve, "--iterations", "3", "--checkpoint", tmp_path / "run")
    run("resume", tmp_path / "run", "--iterations", "6", "-o", tmp_path / "a.bez")
    run(*solve, "--iterations", "6", "-o", tmp_path / "b.bez")
    one, other = (bf.load(tmp_path / name) for name in ("a.bez", "b.bez"))
    assert (one.pareto_set.control_points == other.pareto_set.control_points).all()
    assert one.stats.iterations == 6
    assert "seed was 0 and is 1" in run(
        *solve, "--iterations", "6", "--seed", "1", "--checkpoint", tmp_path / "run", code=2
    )
    assert "holds no run" in run("resume", tmp_path, code=2)


LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
from bezierflow.cli import main
main()
"""


def test_ctrl_c_ends_with_130_and_the_surface_and_the_run_goes_on(tmp_path):
    """The objectives are slow until the interrupt was sent, so that it comes in the middle of a
    run."""
    (tmp_path / "slow").touch()
    (tmp_path / "mine.py").write_text(
        "import time, numpy as np\nfrom pathlib import Path\ndef f(x):\n"
        f"    time.sleep(0.1 if Path({str(tmp_path / 'slow')!r}).exists() else 0)\n"
        "    return np.array([np.sum((x - 1.0) ** 2), np.sum((x + 1.0) ** 2)])\n"
    )
    solve = [
        "solve",
        f"{tmp_path / 'mine.py'}:f",
        "--x0",
        "0,0",
        "--method",
        "gradient-descent",
        "--step-size",
        "0.01",
    ]
    options = [
        "--degree",
        "1",
        "--iterations",
        "40",
        "--checkpoint",
        str(tmp_path / "run"),
        "-o",
        str(tmp_path / "a.bez"),
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING, *solve, *options],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "run" / "0.bez").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    (tmp_path / "slow").unlink()
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "interrupted: ends after the step at hand" in errors
    assert f"to go on: bf.resume({str(tmp_path / 'run')!r})" in errors
    assert "interrupted after iteration" in output
    assert bf.load(tmp_path / "a.bez").stats.iterations < 40
    assert not [name for name in os.listdir(tmp_path / "run") if name.endswith(".part")]
    found = bf.resume(tmp_path / "run", method=bf.lift(bf.GradientDescent(0.01), 1))
    assert found.stats.iterations == 40
    assert read_journal(tmp_path / "run" / "journal.jsonl")[-1]["kind"] in ("ended", "paused")


def test_ask_and_tell(tmp_path):
    folder, table = tmp_path / "study", tmp_path / "designs.csv"
    assert "begin one with --bounds and --objectives" in run("ask", folder, code=2)
    new = ("--bounds", "0,1:1,5", "--objectives", "cost,mass", "--budget", "9", "--worst")
    assert "--worst mass must be a number such as 0.5, got 'much'" in run(
        "ask", folder, *new, "mass=much", code=2
    )
    assert "must name each only once" in run(
        "ask", folder, *new, "mass=8", "--worst", "mass=9", code=2
    )
    run("ask", folder, "-n", "3", *new, "mass=8", "-o", table)
    assert read_journal(folder / "journal.jsonl")[0]["settings"]["worst"] == [None, 8.0]
    lines = table.read_text().splitlines()
    assert lines[0] == "number,x1,x2,cost,mass"
    rows = [line.removesuffix(",") + f"{n},{3 - n}" for n, line in enumerate(lines[1:])]
    (tmp_path / "results.csv").write_text(
        f"\ufeff{lines[0]}\n" + "\n".join([*rows[:2], lines[3] + "failed"]) + "\n"
    )
    assert "3 new; 3 in all" in run("tell", folder, tmp_path / "results.csv")
    assert "0 new; 3 in all" in run("tell", folder, tmp_path / "results.csv")
    evaluations = bf.Study.open(folder).evaluations
    assert [one.failed for one in evaluations] == [False, False, True]
    np.testing.assert_array_equal([one.y for one in evaluations[:2]], [[0.0, 3.0], [1.0, 2.0]])
    assert run("ask", folder).splitlines()[1].startswith("3,")
    assert run("ask", folder, *new, "mass=8").splitlines()[1].startswith("4,")
    assert "worst was [None, 8.0] and is [None, 7.0]" in run("ask", folder, *new, "mass=7", code=2)
    assert "whose settings stay: leave out --worst" in run(
        "ask", folder, "--worst", "mass=7", code=2
    )
    (tmp_path / "wrong.csv").write_text("number,cost\n3,1\n")
    assert "there is no column mass" in run("tell", folder, tmp_path / "wrong.csv", code=2)


@pytest.mark.slow
def test_a_study_by_hand_has_a_surface_and_nothing_to_call(tmp_path):
    folder, file = tmp_path / "study", tmp_path / "found.bez"
    study = bf.Study(([0.0], [1.0]), 2, folder=folder, names={"objectives": ["cost", "mass"]})
    assert "a surface needs 3 evaluations at least" in run("surface", folder, code=2)
    x = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 1.0])
    study.tell(x[:, None], np.column_stack([x**2, (x - 0.7) ** 2]))
    said = run("surface", folder, "-o", file)
    assert "an atlas of" in said
    assert re.search(r"error +not known", said)  # nothing was predicted before it was told
    assert len(bf.load(file).evaluated.F) == 7
    x = np.array(
        [float(line.split(",")[0]) for line in run("sample", folder, "-n", "5").splitlines()[1:]]
    )
    np.testing.assert_allclose([x.min(), x.max()], [0.0, 0.7], atol=0.02)
    assert "was begun by hand and calls no objectives" in run("resume", folder, code=2)


def test_the_folder_of_a_run_is_as_good_as_a_file(tmp_path):
    run(
        "solve",
        "scaled-med",
        "--method",
        "newton",
        "--iterations",
        "2",
        "--checkpoint",
        tmp_path / "run",
    )
    assert run("sample", tmp_path / "run", "-n", "4").count("\n") == 5
    assert "holds no run and no study" in run("sample", tmp_path, code=2)


@pytest.mark.parametrize("second", [False, True])
def test_an_interrupt_is_a_request_and_a_second_one_is_not(second):
    from bezierflow.interrupts import orderly_interrupts, raise_if_interrupted

    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with orderly_interrupts(), orderly_interrupts():
            raise_if_interrupted()
            interrupt()
            if second:
                with pytest.raises(KeyboardInterrupt):
                    interrupt()
            with pytest.raises(KeyboardInterrupt):
                raise_if_interrupted()
            raise_if_interrupted()  # once is enough
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    finally:
        signal.signal(signal.SIGINT, before)
