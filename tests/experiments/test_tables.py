import numpy as np
import pytest
from experiments.methods import METHODS, Method
from experiments.rendering import markdown
from experiments.run import Request, reproduce
from experiments.scores import table1_scores, table2_scores

from bezierflow.problems import by_name
from experiments import tables


@pytest.fixture
def quick_methods(monkeypatch):
    """Surfaces without any optimization: the true map, shifted by a little for one method and by
    more for the other."""

    def shifted(by):
        return lambda task: (
            lambda t: np.asarray(task.problem.pareto_point(t)) + by * (1 + task.seed / 100)
        )

    quick = {
        "proposed": Method("Proposed", "N", shifted(0.01)),
        "baseline": Method("NSGA-II + all-at-once", "p", shifted(0.1)),
        "further": Method("a further method", "", shifted(0.001)),
    }
    monkeypatch.setattr(tables, "METHODS", quick)
    monkeypatch.setattr("experiments.scores.N_TEST", 100)
    monkeypatch.setattr("experiments.scores.N_SURFACE", 20)
    for module in ("experiments.rendering", "experiments.run"):
        monkeypatch.setattr(f"{module}.METHODS", quick)
    return quick


def test_table1_from_trials_to_verdict(tmp_path, quick_methods):
    methods = list(quick_methods)
    file = tables.run_trials(tables.TABLE1, tmp_path, 5, 0, methods)
    assert len(file.rows) == 5 * (3 + 3 + 1)
    lines = tables.lines(tables.TABLE1, file, 5, 0, methods)
    first = lines[0]
    assert (first.problem, first.score, first.size) == ("scaled-med", "mse", 30)
    expected = [3 * (0.01 * (1 + seed / 100)) ** 2 for seed in range(5)]
    np.testing.assert_allclose(first.cells["proposed"].values, expected, rtol=1e-6)
    assert first.cells["proposed"].sd == pytest.approx(np.std(expected, ddof=1))
    assert first.verdict is not None
    assert first.verdict.better == 0
    assert first.paper == {"proposed": (5.51e-5, 2.40e-6), "baseline": (1.51e-1, 1.56e-3)}


def test_a_further_method_is_a_further_column(tmp_path, quick_methods):
    file = tables.run_trials(tables.TABLE1, tmp_path, 5, 0, list(quick_methods))
    text = markdown(tables.lines(tables.TABLE1, file, 5, 0, list(quick_methods)))
    heading, _, row = text.splitlines()[:3]
    assert heading.count("paper") == 2
    assert "a further method: ours" in heading
    assert row.split(" | ")[3:6] == [
        "5.51e-05±2.40e-06",
        "**3.12e-04±9.68e-06**",
        "1.51e-01±1.56e-03",
    ]


def test_trials_continue_and_nothing_is_computed_twice(tmp_path, quick_methods):
    tables.run_trials(tables.TABLE1, tmp_path, 2, 0, ["proposed"])
    before = (tmp_path / "table1.csv").read_text().splitlines()
    quick_methods["proposed"] = Method(
        "Proposed", "N", lambda task: pytest.fail("computed twice") if task.seed < 2 else np.asarray
    )
    tables.run_trials(tables.TABLE1, tmp_path, 3, 0, ["proposed"])
    after = (tmp_path / "table1.csv").read_text().splitlines()
    assert after[: len(before)] == before
    assert len(after) == len(before) + 3


def test_unknown_methods_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"'magic'.*proposed, baseline"):
        tables.run_trials(tables.TABLE1, tmp_path, 1, 0, ["magic"])
    with pytest.raises(ValueError, match="table1, table2"):
        reproduce("table3", Request(1, 0, tmp_path))


def test_every_number_of_the_paper_is_there():
    assert len(tables.paper_values(tables.TABLE1)) == 6
    table2 = tables.paper_values(tables.TABLE2)
    assert len(table2) == 24
    # "Proposed beats baseline" in all twelve rows of the paper.
    rows = {(problem, score, size) for problem, score, _, size in table2}
    assert all(table2[p, s, "proposed", n][0] < table2[p, s, "baseline", n][0] for p, s, n in rows)


def test_scores_of_the_exact_set():
    problem = by_name("scaled-med")
    scores = table1_scores(problem.pareto_map, problem, seed=0)
    assert scores["mse"] == 0
    assert scores["set_mse"] < 1e-25
    skew = by_name("skew-3med")
    exact = table2_scores(skew.pareto_point, skew, skew.pareto_point(np.eye(3)), seed=0)
    assert exact["distance"] < 1e-12
    # a validation set of three corners finds fault even with the exact set
    assert exact["gd"] > 0.1


def test_proposed_lowers_the_error_a_thousandfold(tmp_path, monkeypatch):
    """The real column, with fewer iterations: from the zero surface (MSE 1.9) to a few times the
    best of degree 3 (3.4e-5)."""
    monkeypatch.setattr("experiments.methods.N_ITERATIONS", 200)
    monkeypatch.setattr(tables, "ROW_SIZES", (100,))
    file = tables.run_trials(tables.TABLE1, tmp_path, 1, 0, ["proposed"])
    assert [row["size"] for row in file.rows] == ["100"]
    assert 3.0e-5 < float(file.rows[0]["mse"]) < 1e-3


def test_methods_of_the_paper_come_first():
    assert list(METHODS)[:2] == ["proposed", "baseline"]
