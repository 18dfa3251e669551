"""The command line, as a user meets it."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import bezierflow as bf
from bezierflow.cli import main


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A solution file and its figures, made by `solve` from a file of the user's own."""
    folder = tmp_path_factory.mktemp("cli")
    source = folder / "mine.py"
    source.write_text(
        "import jax.numpy as jnp\ndef spread(x):\n    return jnp.array([jnp.sum((x - 1.0) ** 2),"
        " jnp.sum((x + 1.0) ** 2)])\n"
    )
    output = run(
        "solve",
        f"{source}:spread",
        "--x0",
        "0,0",
        "--method",
        "newton",
        "-o",
        folder / "a.bez",
        "--json",
        folder / "a.json",
    )
    return folder, output, json.loads((folder / "a.json").read_text())


def test_solve_prints_writes_and_reports(solved):
    folder, output, figures = solved
    assert "converged" in output
    assert f"written: {folder / 'a.bez'}" in output
    assert figures["result"]["reason"] == "converged"
    assert figures["evaluations"]["hessian"] > 0
    assert figures["error"]["max"] < 1e-10
    solution = bf.load(folder / "a.bez")
    np.testing.assert_allclose(solution.pareto_set(np.array([1.0, 0.0])), [1, 1], atol=1e-10)


def test_evaluate_prints_the_design_and_its_objectives(solved):
    folder, _, _ = solved
    output = run("evaluate", folder / "a.bez", "0.25,0.75", "--json", folder / "e.json")
    assert "x1" in output
    values = json.loads((folder / "e.json").read_text())
    np.testing.assert_allclose(values["x"], [[-0.5, -0.5]], atol=1e-10)
    np.testing.assert_allclose(values["f"], [[4.5, 0.5]], atol=1e-8)


def test_solve_takes_built_in_problems_and_the_papers_settings(tmp_path):
    run(
        "solve", "scaled-med", "--method", "gradient-descent", "--samples", 30, "--iterations", 50, "--degree", 2, "--seed", 4,
        "--json", tmp_path / "s.json",
    )  # fmt: skip
    figures = json.loads((tmp_path / "s.json").read_text())
    assert figures["evaluations"] == {"objective": 0, "jacobian": 1500, "hessian": 0}
    assert figures["iterations"] == 50
    assert figures["degree"] == 2


def test_fit_with_known_weights_and_without(tmp_path):
    problem = bf.problems.ScaledMED()
    t = np.random.default_rng(0).dirichlet(np.ones(3), 80)
    np.savetxt(
        tmp_path / "x.csv", problem.pareto_map(t), delimiter=",", header="a,b,c", comments=""
    )
    np.savetxt(tmp_path / "t.csv", t, delimiter=",")
    run(
        "fit",
        tmp_path / "x.csv",
        "--objectives",
        3,
        "--weights",
        tmp_path / "t.csv",
        "-o",
        tmp_path / "known.bez",
    )
    run(
        "fit",
        tmp_path / "x.csv",
        "--objectives",
        3,
        "-o",
        tmp_path / "unknown.bsf",
        "--json",
        tmp_path / "u.json",
    )
    fresh = np.random.default_rng(1).dirichlet(np.ones(3), 500)
    assert bf.metrics.mse(bf.load(tmp_path / "known.bez"), problem, fresh) < 1e-3
    assert json.loads((tmp_path / "u.json").read_text())["residual_rms"] < 0.02
    assert problem.distance(np.asarray(bf.load(tmp_path / "unknown.bsf")(fresh))).mean() < 0.02


def fitted_points(tmp_path, text, encoding="utf-8"):
    """How many rows `fit` reads from a CSV with this text."""
    (tmp_path / "x.csv").write_text(text, encoding=encoding)
    run(
        "fit",
        tmp_path / "x.csv",
        "--objectives",
        2,
        "--degree",
        1,
        "-o",
        tmp_path / "x.bez",
        "--json",
        tmp_path / "x.json",
    )
    return json.loads((tmp_path / "x.json").read_text())["points"]


def test_fit_skips_headings_and_comments_and_keeps_every_row_of_numbers(tmp_path):
    rows = "0,1\n0.5,0.5\n\n1,0\n"
    assert fitted_points(tmp_path, rows) == 3
    assert fitted_points(tmp_path, rows, encoding="utf-8-sig") == 3  # as a spreadsheet saves it
    assert (
        fitted_points(tmp_path, "# made by hand\nfirst,second\n" + rows, encoding="utf-8-sig") == 3
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,1\n0.5,half\n1,0\n", "'half'"),
        ("0,one\n1,0\n", "'one'"),
        ("0,1\n1\n", "columns"),
        ("a,b\n", "no rows"),
    ],
)
def test_a_cell_that_is_no_number_is_named(tmp_path, text, words):
    (tmp_path / "bad.csv").write_text(text)
    output = run("fit", tmp_path / "bad.csv", "--objectives", 2, "-o", tmp_path / "x.bez", code=2)
    assert words in output
    assert "bad.csv" in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solve", "no-such-problem"), "no built-in problem is called 'no-such-problem'"),
        (("solve", "nowhere.py:f", "--x0", "0"), "nowhere.py is not a file"),
        (("solve", "scaled-med", "--x0", "0,0"), "x0 must have 3 variables"),
        (("solve", "scaled-med", "--x0", "zero"), "must be numbers with commas"),
        (("solve", "scaled-med", "--samples", "50"), "--samples goes with a method"),
        (("solve", "scaled-med", "--method", "newton", "--samples", "5"), "n_samples=5"),
        (("stability", "scaled-med", "--method", "auto"), "'auto' is not one of"),
        (("stability", "scaled-med", "--samples", "many"), "--samples must be numbers with commas"),
        (("stability", "scaled-med", "--degree", "2", "--samples", "5"), "n_samples=5"),
    ],
)
def test_mistakes_end_in_one_clear_line(arguments, words):
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code != 0
    assert words in result.output
    assert "Traceback" not in result.output


def test_a_function_needs_x0_and_a_file_needs_the_function(solved):
    folder, _, _ = solved
    assert "needs --x0" in run("solve", f"{folder / 'mine.py'}:spread", code=2)
    assert "it has: spread" in run("solve", f"{folder / 'mine.py'}:sprea", "--x0", "0", code=2)
    assert "sum 1.1" in run("evaluate", folder / "a.bez", "0.2,0.9", code=2)


def test_a_run_that_fails_says_so_and_exits_with_one(tmp_path):
    output = run(
        "solve",
        "scaled-med",
        "--method",
        "gradient-descent",
        "--step-size",
        "10",
        "--iterations",
        "100",
        code=1,
    )
    assert "diverged" in output


def test_a_surface_that_is_only_less_exact_is_a_warning():
    output = run("solve", "scaled-med", "--degree", "2")
    assert "not at tolerance" in output
    assert "warning: the surface is less exact than asked" in output


def test_demo_shows_the_floor_and_draws(tmp_path):
    output = run("demo", "-o", tmp_path, "--json", tmp_path / "demo.json")
    rows = json.loads((tmp_path / "demo.json").read_text())["rows"]
    assert "Algorithm 2" in output
    assert all(row["mse"] >= row["floor"] * (1 - 1e-9) for row in rows[:2])
    assert rows[2]["distance"] < 1e-6 < 1e-3 < rows[0]["distance"]
    assert rows[0]["mse"] < 1.3 * rows[0]["floor"]
    assert (tmp_path / "scaled-med.png").stat().st_size > 20_000
    assert bf.load(tmp_path / "scaled-med.bez").degree == 3
