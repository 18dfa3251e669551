"""`bezierflow sample`: points of a file as a table."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from bezierflow.cli import main
from solved import distances_to_points


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("sample") / "pareto.bez"
    distances_to_points(2, 3).save(path)
    return str(path)


def run(*arguments):
    return CliRunner().invoke(main, ["sample", *map(str, arguments)])


def test_points_are_printed_as_csv(file):
    lines = run(file, "-n", 5).output.splitlines()
    assert lines[0] == "x1,x2,x3,f1,f2,t1,t2"
    assert len(lines) == 6
    np.testing.assert_allclose(np.array(lines[1].split(",")[-2:], dtype=float).sum(), 1)


def test_points_are_written_in_the_format_of_the_ending(file, tmp_path):
    assert (
        f"written: {tmp_path / 'points.csv'} (100 points)"
        in run(file, "-o", tmp_path / "points.csv").output
    )
    assert len((tmp_path / "points.csv").read_text().splitlines()) == 101
    run(file, "-n", 7, "-o", tmp_path / "points.json")
    assert np.shape(json.loads((tmp_path / "points.json").read_text())["F"]) == (7, 2)


def test_mistakes_are_clean_lines(file, tmp_path):
    wrong = run(file, "-o", tmp_path / "points.xlsx")
    assert wrong.exit_code == 2
    assert "must end in .csv or .json" in wrong.output
    assert "n must be a whole number from 2" in run(file, "-n", 1).output
