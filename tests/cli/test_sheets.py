"""The lab's sheet: what people type into it is taken as typed, or refused by row and column."""

import csv
import re

import numpy as np
import pytest
from click.testing import CliRunner

import bezierflow as bf
from bezierflow.cli import main

NEW = ("--bounds", "20,0:95,1", "--variables", "temperature,dose", "--objectives", "cost,yield")


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def study(tmp_path):
    """The folder of a study that four designs were asked of, in steps of 5 and 0.05."""
    folder = tmp_path / "study"
    steps = ("--steps", "temperature=5", "--steps", "dose=0.05", "--maximize", "yield")
    run("ask", folder, "-n", "4", *NEW, *steps, "-o", tmp_path / "today.csv")
    return folder


def told(folder):
    return {one.number: one for one in bf.Study.open(folder).evaluations}


def tell(folder, text, code=0, encoding="utf-8"):
    path = folder.parent / "sheet.csv"
    path.write_bytes(text.encode(encoding))
    return run("tell", folder, path, code=code)


def test_a_sheet_has_empty_cells_and_settings_on_the_steps_of_their_knobs(study):
    path = study.parent / "today.csv"
    rows = list(csv.DictReader(path.open()))
    assert [row["number"] for row in rows] == ["0", "1", "2", "3"]
    for row in rows:
        assert row["cost"] == row["yield"] == ""
        assert float(row["temperature"]) % 5 == 0
        assert re.fullmatch(r"0|1|0\.\d5?", row["dose"])
    assert "is there already, and may hold results" in run("ask", study, "-o", path, code=2)
    assert "4 without results yet" in run("tell", study, path)
    assert len(bf.Study.open(study).pending) == 4


def test_settings_that_were_really_used_count_and_are_said(study):
    said = tell(study, "number,temperature,dose,cost,yield,remark\n2,77.5,0.31,1,2,hot\n")
    assert "number 2: temperature 77.5 in place of" in said
    assert "not read: remark" in said
    assert "1 new; 1 in all" in said
    assert told(study)[2].x.tolist() == [77.5, 0.31]
    assert list(bf.Study.open(study).pending) == [0, 1, 3]
    run("ask", study)
    np.testing.assert_array_equal(told(study)[2].y, [1.0, 2.0])


def test_decimal_commas_semicolons_any_order_and_own_rows(study):
    text = (
        "sep=;\nyield;cost;number;dose;temperature\n1,5;2;3;;\n\n0,25;\u22123,5;;0,1;20\n"
        "1;1;probe A;0,2;25\n;;1;;\nfailed: nozzle clogged;;0;;\n"
    )
    assert "4 new, 1 without results yet; 4 in all" in tell(study, text, encoding="utf-16")
    assert "0 new, 1 without results yet; 4 in all" in tell(study, text)
    rows = told(study)
    assert rows[3].y.tolist() == [2.0, 1.5]
    assert rows[0].failure == "nozzle clogged"
    assert rows[None].x.tolist() == [20.0, 0.1]
    assert rows[None].y.tolist() == [-3.5, 0.25]
    more = (
        "number,temperature,dose,cost,yield\nprobe A,25,0.2,7,8\n,20,0.1,4,4\n,20,0.1,-3.5,0.25\n"
    )
    assert "1 new, 1 corrected; 5 in all" in tell(study, more)
    assert told(study)["probe A"].y.tolist() == [7.0, 8.0]


def test_corrections_count_keep_their_history_and_can_be_undone(study):
    tell(study, "number,cost,yield\n1,10,20\n2,11,21\n")
    assert "0 new, 1 corrected; 2 in all" in tell(study, "number,cost,yield\n1,1.0,20\n2,11,21\n")
    opened = bf.Study.open(study)
    assert [(one.number, counts) for one, counts in opened.history] == [
        (1, False),
        (2, True),
        (1, True),
    ]
    assert told(study)[1].y.tolist() == [1.0, 20.0]
    assert "taken back: the result of 1 at" in run("undo", study)
    assert told(study)[1].y.tolist() == [10.0, 20.0]
    run("undo", study)
    assert not told(study)
    assert list(opened.pending) == [0, 1, 2, 3]
    assert "not asked for any more: 0, 1, 2, 3" in run("undo", study)
    assert not opened.pending
    assert "there is nothing to undo" in run("undo", study, code=2)
    assert run("ask", study).splitlines()[1].startswith("4,")


def test_what_will_not_be_made_is_skipped_and_can_be_told_later(study):
    tell(study, "number,cost,yield\n1,skip,\n2,1,2\n")
    assert list(bf.Study.open(study).pending) == [0, 3]
    assert list(told(study)) == [2]
    tell(study, "number,cost,yield\n1,3,4\n")
    assert sorted(told(study)) == [1, 2]


def test_the_study_so_far_is_a_sheet_that_can_be_told_a_page_and_a_picture(study, tmp_path):
    tell(study, "number,temperature,dose,cost,yield\n1,50,0.3,10,20\n2,,,<b>,\n", code=2)
    tell(
        study, "number,temperature,dose,cost,yield\n1,50,0.3,10,20\n2,,,failed: <b>,\n,30,0.1,1,2\n"
    )
    tell(study, "number,cost,yield\n1,11,20\n")
    for semicolons in ((), ("--semicolons",)):
        run("show", study, "-o", tmp_path / "all.csv", *semicolons)
        said = run("tell", study, tmp_path / "all.csv")
        assert "0 new, 2 without results yet; 3 in all" in said
    run("show", study, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "failed: <b>" not in page
    assert "&lt;b&gt;" in page
    assert "Corrected since" in page
    assert page.count('class="best"') == 2
    run("show", study, "-o", tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text().count("<circle") == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("number,cost\n1,1\n", r"row 1: there is no column yield; it has number, cost"),
        ("number,cost,cost,yield\n", "row 1: there are two columns cost"),
        ("number,dose,cost,yield\n1,0.5,1,1\n", "row 1: there is no column temperature"),
        ("number,cost,yield\n1,1,1\n2,x1,1\n", "row 3, column cost: 'x1' is no number such as"),
        ("number,cost,yield\n1,1,\n", "row 2, column yield: it is empty and others are not"),
        ("number,cost,yield\n1,1,1\n1,2,2\n", "row 3, column number: 1 is in row 2 already"),
        ("number,cost,yield\n17,1,1\n", "row 2, column number: 17 is not asked for"),
        ("number,cost,yield\n1,3,5,1\n", "row 2, column yield: there are more cells"),
        ("number,temperature,dose,cost,yield\n1,96,0,1,1\n", "column temperature: 96 is beyond"),
        ("number,temperature,dose,cost,yield\n1,90,,1,1\n", "column dose: it is empty: type what"),
        ("number,temperature,dose,cost,yield\n,,,1,1\n", "column temperature: it is empty"),
        ('number,cost,yield\n1,"1,234",1\n', "column cost: 1,234 may be 1.234 or 1234"),
        ("number;cost;yield\n1;1.234;0,5\n", "column cost: 1.234 may be 1.234 or 1234"),
        ("number,cost,yield\n1,1.2.3,1\n", "column cost: '1.2.3' is no number"),
        ("PK\x03\x04", "is a workbook: save the sheet as CSV"),
        ("", "row 1: there is no column"),
    ],
)
def test_a_bad_sheet_is_refused_by_row_and_column_and_nothing_is_taken(study, text, says):
    before = (study / "journal.jsonl").read_bytes()
    said = tell(study, text, code=2)
    assert re.search(says, said), said
    assert "sheet.csv" in said
    assert (study / "journal.jsonl").read_bytes() == before
