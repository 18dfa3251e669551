"""The command line, misused: one line, exit code 2, no traceback, and nothing computed first."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bezierflow as bf
from bezierflow.cli import main
from solved import distances_to_points

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("misuse")
    distances_to_points(2, 2).save(folder / "a.bez")
    bf.BezierSimplex(np.array([[0.0], [1.0]]), 2, 1).save(folder / "surface.bez")
    files = {
        "broken.bez": "no zip",
        "points.csv": "0,1\n0.5,0.5\n1,0\n",
        "text.csv": "0,1\nhalf,0.5\n",
        "empty.csv": "",
        "ragged.csv": "0,1\n1\n",
        "nan.csv": "0,1\nnan,1\n",
        "bytes.csv": "",
        "mine.py": "def f(x):\n    return [x[0] ** 2, (x[0] - 1) ** 2]\n",
        "beyond.py": (
            "import jax.numpy as jnp\ndef f(x):\n    return jnp.array([x[5] ** 2, x[0]])\n"
        ),
        "syntax.py": "def f(x:\n",
        "raises.py": "raise RuntimeError('no\\nlicense')\n",
        "scalar.py": "def f(x):\n    return x[0]\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "bytes.csv").write_bytes(b"\xff\xfe1,2\n")
    (folder / "is_folder.bez").mkdir()
    return folder


MISUSES = """
solve
solve nothing
solve skew-0med
solve scaled-med --x0 0,0
solve scaled-med --x0 zero
solve scaled-med --x0 nan,0,0
solve scaled-med --x0 ,
solve scaled-med --seed -1
solve scaled-med --seed 1.5
solve scaled-med --seed 99999999999999999999999
solve scaled-med --degree 0
solve scaled-med --degree 1000000000
solve scaled-med --degree two
solve scaled-med --tol -1
solve scaled-med --tol nan
solve scaled-med --tol small
solve scaled-med --budget -1
solve scaled-med --budget 1.5
solve scaled-med --iterations 0
solve scaled-med --iterations many
solve scaled-med --method sgd
solve scaled-med --samples 50
solve scaled-med --method newton --samples 0
solve scaled-med --method gradient-descent --step-size 0
solve scaled-med --method gradient-descent --step-size fast
solve scaled-med --method gradient-descent --step-size nan
solve scaled-med --bounds 1
solve scaled-med --bounds 1:0
solve scaled-med --bounds a:b
solve scaled-med --bounds 0,0:1,1
solve scaled-med --bounds nan:1
solve scaled-med --maximize f9
solve scaled-med --transform x1
solve scaled-med --transform x1=sqrt
solve scaled-med --transform x9=log
solve scaled-med --names a
solve scaled-med --names a,a,b
solve scaled-med --variables a
solve scaled-med -o out.txt
solve scaled-med -o nowhere/out.bez
solve scaled-med -o is_folder.bez
solve scaled-med --json nowhere/out.json
solve scaled-med --nonsense
solve nowhere.py:f --x0 0
solve mine.py:g --x0 0
solve mine.py:f
solve mine.py:f --x0 zero
solve beyond.py:f --x0 0,0
solve syntax.py:f --x0 0
solve raises.py:f --x0 0
solve scalar.py:f --x0 0
check
check nothing
check mine.py:f
check beyond.py:f --x0 0,0
check scaled-med --x0 0
check scaled-med --json nowhere/out.json
evaluate
evaluate nowhere.bez 1,0
evaluate broken.bez 1,0
evaluate a.bez
evaluate a.bez 1
evaluate a.bez 0.5,0.6
evaluate a.bez nan,1
evaluate a.bez x,y
evaluate a.bez 1,0 1
evaluate a.bez 1,0 --json nowhere/a.json
evaluate surface.bez 2,-1
choose a.bez
choose a.bez cheapest
choose a.bez best
choose a.bez best f9
choose a.bez nearest
choose a.bez nearest f1
choose a.bez nearest f1=cheap
choose a.bez compromise f1=-1 f2=-1
choose a.bez robust f1=a:b
choose a.bez knee -s f1
choose a.bez knee -s f1<=x
choose a.bez knee -s f9<=1
choose surface.bez knee
choose broken.bez knee
sample a.bez -n 0
sample a.bez -n 1
sample a.bez -n 1000000
sample a.bez -o out.txt
sample a.bez -o nowhere/out.csv
sample surface.bez
fit
fit points.csv
fit points.csv --objectives 1 -o x.bez
fit points.csv --objectives 2 --degree 0 -o x.bez
fit points.csv --objectives 2 --degree 50 -o x.bez
fit points.csv --objectives 2 -o x.txt
fit points.csv --objectives 2 -o nowhere/x.bez
fit points.csv --objectives 2 --weights text.csv -o x.bez
fit text.csv --objectives 2 -o x.bez
fit empty.csv --objectives 2 -o x.bez
fit ragged.csv --objectives 2 -o x.bez
fit nan.csv --objectives 2 -o x.bez
fit bytes.csv --objectives 2 -o x.bez
plot
plot broken.bez
plot a.bez --kind pie
plot a.bez --dpi 3
plot a.bez -o nowhere/x.png
explore a.bez -o x.txt
explore a.bez -o nowhere/x.html
explore surface.bez
stability scaled-med --samples 0.5
stability scaled-med --samples many
stability scaled-med --runs 1
stability scaled-med --degree 2 --samples 5
reproduce nothing
reproduce table1 --trials 0
demo nothing
"""


@pytest.fixture
def no_hang():
    def late(*_):
        raise AssertionError("this misuse was not refused within seconds")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, 5.0)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("line", MISUSES.strip().splitlines())
def test_misuse_is_one_line_with_exit_code_two(folder, monkeypatch, line, no_hang):
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 2, (result.output, result.exception)
    said = [text for text in result.output.splitlines() if text.startswith("Error: ")]
    assert len(said) == 1, result.output
    assert result.output.splitlines()[-1] == said[0] or "--help" in result.output, result.output
    assert "Traceback" not in result.output
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_process_ends_with_the_code_and_the_line(folder):
    command = [sys.executable, "-m", "bezierflow.cli", "evaluate", "a.bez", "0.5,0.6"]
    environment = {**os.environ, "PYTHONPATH": str(Path(bf.__file__).parents[1])}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1


def test_control_characters_do_not_reach_the_terminal(folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(main, ["choose", "a.bez", "best", "\x1b[31mred"])
    assert result.exit_code == 2
    assert "\x1b" not in result.output
    assert (
        "\x1b"
        not in CliRunner().invoke(main, ["solve", "scaled-med", "--names", "a,b,\x1b[2J"]).output
    )


def test_check_says_what_it_found(folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(
        main, ["check", "mine.py:f", "--x0", "0.5", "--json", "report.json"]
    )
    assert result.exit_code == 0, result.output
    assert "2 objectives, 1 variables: a function that JAX traces" in result.output
    assert "minimize will: look for one surface" in result.output
    (folder / "report.json").unlink()
