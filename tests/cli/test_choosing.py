"""The questions on the command line, and what a user says about a problem there."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import bezierflow as bf
from bezierflow.cli import main
from bezierflow.names import Names
from solved import distances_to_points, turned


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def solution():
    return turned(distances_to_points(3, 3, names=Names(objectives=("cost", "mass", "gain"))), 2)


@pytest.fixture(scope="module")
def file(solution, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "result.bez"
    solution.save(path)
    return path


def test_questions_are_those_of_python(file, solution, tmp_path):
    span = bf.decisions.ranges(solution)
    limit = span.ideal[0] + 0.3 * span.width[0]
    asked = {
        ("best", "gain", "-s", f"cost<={limit}"): bf.decisions.best(
            solution, maximize="gain", subject_to={"cost": (None, limit)}
        ),
        ("best", "mass"): bf.decisions.best(solution, "mass"),
        ("nearest", "cost=0", "gain=0"): bf.decisions.nearest(solution, {"cost": 0, "gain": 0}),
        ("compromise", "cost=1", "mass=3"): bf.decisions.compromise(
            solution, {"cost": 1, "mass": 3}
        ),
        ("robust", "cost=1", "mass=2:5"): bf.decisions.robust(
            solution, {"cost": (1, 1), "mass": (2, 5)}
        ),
        ("knee",): bf.decisions.knee(solution),
    }
    for arguments, choice in asked.items():
        output = run("choose", file, *arguments, "--json", tmp_path / "choice.json")
        found = json.loads((tmp_path / "choice.json").read_text())
        np.testing.assert_allclose(found["f"], choice.f, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found["x"], choice.x, rtol=1e-5, atol=1e-6)
        assert choice.question in output


def test_ranges_are_printed_with_the_users_signs(file, solution):
    assert f"gain: {bf.decisions.ranges(solution).ideal[2]:.6g} (best) to" in run(
        "choose", file, "ranges"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("best",), "best takes one objective"),
        (("best", "price"), "'price' is no objective"),
        (("nearest",), "takes values by name"),
        (("compromise", "cost"), "must be pairs such as cost=1"),
        (("knee", "-s", "cost=3"), "--subject-to must be such as"),
        (("compromise", "cost=much"), "cost must be a number such as 0.5, got 'much'"),
    ],
)
def test_mistakes_are_told(file, arguments, words):
    result = CliRunner().invoke(main, ["choose", str(file), *arguments])
    assert result.exit_code != 0
    assert words in result.output


def test_plot_lists_kinds_without_a_file():
    assert "ternary" in run("plot", "--list")
    assert "needs the FILE" in run("plot", code=2)


def test_solve_takes_names_directions_bounds_and_logarithms(tmp_path):
    source = tmp_path / "mine.py"
    source.write_text(
        "import jax.numpy as jnp\ndef process(x):\n    rate = jnp.log10(x[0])\n    return"
        " jnp.array([90 - (rate + 4) ** 2 - (x[1] - 1) ** 2, (rate + 2) ** 2 + (x[1] + 1) ** 2])\n"
    )
    output = run(
        "solve", f"{source}:process", "--names", "yield [%],cost", "--variables", "rate,width", "--maximize", "yield",
        "--transform", "rate=log10", "--bounds", "1e-6,-3:1,3", "--tol", "1e-4", "--budget", 20000, "-o", tmp_path / "a.bez",
    )  # fmt: skip
    assert "converged" in output
    solution = bf.load(tmp_path / "a.bez")
    assert solution.names.objective_labels == ("yield [%]", "cost")
    np.testing.assert_allclose(solution.front(np.eye(2)), [[90, 8], [82, 0]], atol=1e-4)
    np.testing.assert_allclose(solution.design(np.eye(2)), [[1e-4, 1], [1e-2, -1]], rtol=1e-3)
    assert "'loss' is no objective" in run(
        "solve", f"{source}:process", "--x0", "1,1", "--maximize", "loss", code=2
    )
    assert "must be lower:upper" in run(
        "solve", f"{source}:process", "--x0", "1,1", "--bounds", "0,1", code=2
    )
