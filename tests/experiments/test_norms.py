"""Table 2 in both norms, from the same populations."""

import numpy as np
import pytest
from experiments.rendering import headings, markdown
from experiments.scores import mean_l1_distance, table2_scores

from bezierflow.problems import by_name
from experiments import tables


def test_the_l1_distances_are_those_of_all_pairs():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    pairs = np.abs(x[:, None] - y[None]).sum(axis=2)
    assert mean_l1_distance(x, y) == pytest.approx(pairs.min(axis=1).mean())
    problem = by_name("skew-3med")
    scores = table2_scores(lambda t: t @ x[:3], problem, y, seed=0)
    assert scores["gd"] < scores["gd_l1"] < np.sqrt(3) * scores["gd"]
    assert scores["igd"] < scores["igd_l1"] < np.sqrt(3) * scores["igd"]


def test_the_papers_numbers_stand_beside_both_norms(tmp_path):
    file = tables.run_trials(tables.TABLE2, tmp_path, 0, 0, [])
    score = dict.fromkeys(tables.TABLE2.scores, 0.1)
    keys = list(tables.trial_keys(tables.TABLE2, 2, 0, ["proposed", "baseline"]))
    file.add(
        [
            {"problem": problem, "method": name, "size": size, "seed": seed, **score}
            for problem, name, size, seed in keys
        ]
    )
    lines = tables.lines(tables.TABLE2, file, 2, 0, ["proposed", "baseline"])
    beside = {
        line.score: line.paper for line in lines if (line.problem, line.size) == ("skew-3med", 30)
    }
    assert (
        beside["igd"]
        == beside["igd_l1"]
        == {
            "proposed": (9.50e-2, 3.68e-4),
            "baseline": (1.38e-1, 8.63e-4),
        }
    )
    assert beside["gd"] == beside["gd_l1"]
    assert beside["distance"] == {}
    assert "| skew-3mmd | IGD, L1 | 100 | 6.54e-02±4.81e-04 |" in markdown(lines)
    assert headings(lines).count("Proposed: paper") == 1


def test_committed_proposed_columns_in_l1_are_within_a_quarter_of_the_papers():
    file = tables.run_trials(tables.TABLE2, tables.PAPER.parent / "results", 20, 0, [])
    for line in tables.lines(tables.TABLE2, file, 20, 0, ["proposed"]):
        if line.score.endswith("_l1"):
            assert line.cells["proposed"].mean == pytest.approx(line.paper["proposed"][0], rel=0.25)
