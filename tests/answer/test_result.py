"""A result is put together once: a claim for the person, and the notes that it rests on."""

import json
import zipfile

import pytest

import bezierflow as bf
from bezierflow.answer import Result
from solved import solved


@pytest.mark.parametrize(
    ("reason", "lead"),
    [
        (bf.Reason.CONVERGED, "Details"),
        (bf.Reason.NOT_AT_TOLERANCE, "Details"),
        (bf.Reason.TIME_LIMIT, "So far"),
        (bf.Reason.SUSPECT, "Result so far, not certified"),
    ],
)
def test_the_claim_comes_first(reason, lead):
    result = Result(reason, "It is found.", ("one", "two"))
    assert result.message == f"It is found. {lead}: one; two"
    assert str(result) == f"{reason.value}: {result.message}"
    assert Result(reason, "It is found").message == "It is found"
    assert Result(reason, "", ("one", "two")).message == "one; two"


def test_notes_are_added_and_doubts_take_the_place_of_the_claim():
    result = Result(bf.Reason.CONVERGED, "It is found", ("one",)).noted("two", None, "")
    assert result.details == ("one", "two")
    doubted = result.doubted("It folds")
    assert doubted.message == "It folds. Result so far, not certified: one; two"
    assert Result(bf.Reason.CONVERGED, "It is found").doubted("It folds").details == (
        "It is found",
    )


def test_files_keep_both_and_older_ones_the_message(tmp_path):
    solution = solved(bf.problems.ScaledMED(), 3)
    result = Result(bf.Reason.CONVERGED, "It is found", ("one", "two"))
    object.__setattr__(solution, "result", result)
    path, old = tmp_path / "new.bez", tmp_path / "old.bez"
    solution.save(path)
    assert bf.load(path).result == result
    with zipfile.ZipFile(path) as read, zipfile.ZipFile(old, "w") as written:
        for name in read.namelist():
            data = read.read(name)
            if name == "manifest.json":
                manifest = json.loads(data)
                del manifest["result"]["claim"], manifest["result"]["details"]
                data = json.dumps(manifest).encode()
            written.writestr(name, data)
    assert bf.load(old).result == Result(bf.Reason.CONVERGED, result.message)


def test_what_is_next_makes_sense_for_the_result():
    def next_of(f, **options):
        return str(bf.minimize(f, [0.5, 0.2], **options)).split("next:")[1]

    pair = lambda x: [(x - 1) @ (x - 1), (x + 1) @ (x + 1)]
    assert "knee" in next_of(pair)
    assert "goes on" not in next_of(pair)
    assert "goes on" in next_of(pair, callback=lambda iteration: True)
    alone, agreed = next_of(lambda x: [x @ x]), next_of(lambda x: [x @ x, 2 * (x @ x)])
    assert alone.split() == ["solution.design([1.0])", "is", "the", "best", "design"]
    assert agreed.split() == ["solution.design([1.0,", "0.0])", "is", "the", "best", "design"]
