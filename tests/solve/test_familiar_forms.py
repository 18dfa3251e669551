"""Results in the forms that other tools expect: SciPy's and pymoo's names, tables, and what is
printed."""

import csv
import dataclasses
import json
import sys

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.answer import Result
from bezierflow.names import Names
from solved import distances_to_points, solved


def objectives(x):
    import jax.numpy as jnp

    return jnp.array([jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2)])


@pytest.fixture(scope="module")
def solution():
    return bf.minimize(objectives, np.zeros(3))


@pytest.fixture(scope="module")
def named():
    return distances_to_points(
        3,
        2,
        names=Names(("=cost", "mass", "noise"), ("mass", "@width"), ("EUR", "kg", ""), ("", "mm")),
    )


def test_fields_have_the_names_that_scipy_and_pymoo_use(solution):
    assert solution.success is True
    assert solution.message == solution.result.message
    assert (solution.nfev, solution.njev, solution.nhev) == tuple(solution.stats.evaluations)
    assert solution.nit == solution.stats.iterations
    assert solution.X.shape == (100, 3)
    assert solution.F.shape == (100, 2)
    np.testing.assert_allclose([objectives(x) for x in solution.X[:5]], solution.F[:5], rtol=1e-5)


def test_a_data_frame_has_variables_objectives_and_t(named):
    pytest.importorskip("pandas")
    table = named.to_pandas(20)
    assert list(table.columns) == [
        "mass",
        "@width",
        "=cost",
        "mass (objective)",
        "noise",
        "t1",
        "t2",
        "t3",
    ]
    assert len(table) == 20
    np.testing.assert_allclose(table[["t1", "t2", "t3"]].sum(axis=1), 1)
    np.testing.assert_array_equal(table["=cost"], named.spread(20).F[:, 0])


def test_a_missing_pandas_names_its_line(named, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        ImportError, match=r"data frames need pandas: pip install 'bezierflow\[interop\]'"
    ):
        named.to_pandas(5)


def test_a_csv_file_reads_back_exactly_and_starts_no_formula(named, tmp_path):
    named.to_csv(tmp_path / "points.csv", 12)
    with open(tmp_path / "points.csv", newline="", encoding="utf-8") as file:
        heading, *rows = csv.reader(file)
    assert heading == ["mass", "'@width", "'=cost", "mass (objective)", "noise", "t1", "t2", "t3"]
    points = named.spread(12)
    np.testing.assert_array_equal(
        np.array(rows, dtype=float), np.hstack([points.X, points.F, points.t])
    )
    assert [path.name for path in tmp_path.iterdir()] == ["points.csv"]


def test_a_json_file_reads_back_exactly(named, tmp_path):
    text = named.to_json(tmp_path / "points.json", 7)
    data = json.loads((tmp_path / "points.json").read_text(encoding="utf-8"))
    assert data == json.loads(text)
    assert Names.from_dict(data["names"]) == named.names
    for key, values in zip("tXF", named.spread(7), strict=True):
        np.testing.assert_array_equal(data[key], values)


def test_designs_in_a_dict_have_a_column_for_each_number():
    x = {"a": np.linspace(0, 1, 20), "b": np.linspace(0, 1, 20)[:, None] * [1, 2]}
    solution = bf.from_points(x, np.column_stack([x["a"] ** 2, (1 - x["a"]) ** 2]))
    heading = solution.to_csv(n=5).splitlines()[0]
    assert heading == "x1,x2,x3,f1,f2,t1,t2"


def test_a_solution_prints_as_a_short_table(solution, named):
    """A line for each objective beside seven others; what to do next depends on how it ended."""
    lines = str(solution).splitlines()
    headings = [line.split(":")[0] for line in lines if line[0] != " "]
    rows = ["result", "set", "objectives", "error", "evaluations", "details", "derivatives", "next"]
    assert headings == rows
    assert "converged" in lines[0]
    first = next(line for line in lines if line.startswith("objectives:"))
    assert first.split() == ["objectives:", "f1", "0", "to", "12"]
    assert "=cost [EUR] " in str(named)
    assert str(distances_to_points(5, 4)).count(" to ") >= 5
    assert max(map(len, lines)) <= 96
    assert "the estimated distance" not in str(solution)  # it has a row of its own
    assert "knee" in str(solution).split("\nnext:")[1]
    doubtful = dataclasses.replace(
        distances_to_points(2, 2), result=Result(bf.Reason.SUSPECT, "it folds")
    )
    assert "bf.check(" in str(doubtful).split("\nnext:")[1]
    assert "color:#b3141c" in doubtful._repr_html_()
    assert "color:#b3141c" not in named._repr_html_()


def test_printing_starts_no_error_estimate():
    solution = bf.minimize(objectives, np.zeros(3), bf.lift(bf.Newton(), n_iterations=2))
    text = str(solution)
    assert "error" not in vars(solution)
    assert "solution.error" in text or solution.known_error is not None


def test_a_notebook_shows_a_table_and_a_picture_with_names_as_text():
    import xml.etree.ElementTree as ET

    for M in (2, 3, 5):
        names = Names(tuple(f"<script>{m}" for m in range(M)))
        page = distances_to_points(M, 3, names=names)._repr_html_()
        tree = ET.fromstring(f"<div>{page}</div>")
        assert tree.find(".//script") is None
        assert len(tree.findall(".//tr")) == 6
        assert [text.text for text in tree.findall("./svg/text")] == list(names.objectives)


def test_choices_and_errors_introduce_themselves_in_a_notebook(named):
    import xml.etree.ElementTree as ET

    choice = bf.decisions.knee(named)
    for page in (choice._repr_html_(), named.error._repr_html_()):
        assert ET.fromstring(f"<div>{page}</div>").findall(".//tr")
    rows = ET.fromstring(f"<div>{choice._repr_html_()}</div>").findall("./table/tr")
    assert [row[0].text for row in rows][1:4] == list(named.names.axis_labels)
    assert float(rows[1][1].text) == pytest.approx(choice.f[0], rel=1e-5)
    assert "held-out" in str(named.error)


def test_a_choice_shows_its_design(named):
    text = str(bf.decisions.knee(named))
    assert "\n  x: mass = " in text
    assert "@width [mm] = " in text
    many = str(bf.decisions.knee(distances_to_points(2, 50)))
    assert "x8 = " in many
    assert "x9 = " not in many
    assert "(50 variables; choice.x has all)" in many


@pytest.mark.parametrize("n_objectives", [2, 3, 4, 5])
def test_points_are_spread_evenly(n_objectives):
    from scipy.spatial import KDTree

    f = distances_to_points(n_objectives, 6).spread(60).F
    f = (f - f.min(axis=0)) / np.ptp(f, axis=0)
    apart = KDTree(f).query(f, k=2)[0][:, 1]
    assert apart.max() < (1.01 if n_objectives == 2 else 2.2) * apart.min()


def test_objectives_by_name_are_called_so():
    functions = {"cost": lambda x: np.sum((x - 1) ** 2), "yield": lambda x: 4 - np.sum(x**2)}
    solution = bf.minimize(functions, [0.5, 0.2], maximize="yield")
    assert solution.names.objectives == ("cost", "yield")
    listed = bf.minimize(list(functions.values()), [0.5, 0.2], maximize=[False, True])
    t = np.array([0.3, 0.7])
    np.testing.assert_array_equal(solution.design(t), listed.design(t))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("wrong", [{"cost": 3.0}, {}])
def test_names_of_no_functions_are_refused(wrong):
    with pytest.raises(TypeError, match="objectives given by name must each be a function"):
        bf.minimize(wrong, [0.5, 0.2])


def test_numbers_alone_are_neither_weights_nor_hopes():
    solution = solved(bf.problems.ScaledMED(), 3)
    with pytest.raises(
        TypeError, match=r"at\(weights=\[0\.5, 0\.5\]\).*at\(aspiration=.*design\(t\)"
    ):
        solution.at([0.5, 0.5])


@pytest.mark.parametrize("name", ["points.csv", "points.tsv", "points.xlsx"])
def test_a_table_of_points_is_said_to_be_one(tmp_path, name):
    (tmp_path / name).write_text("x1,x2,cost,mass\n1,2,3,4\n")
    with pytest.raises(ValueError, match=r"is a table.*bf\.from_points\(X, F"):
        bf.load(tmp_path / name)
