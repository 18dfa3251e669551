"""Studies: a journal cut anywhere goes on to the same points; nothing that is written down is
evaluated again."""

import json
import runpy
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.runs import (
    Evaluation,
    FolderTakenError,
    Plan,
    Pool,
    kept_settings,
    open_search,
    read_checked,
    read_journal,
    run_study,
    write_checked,
)

BOX = (np.zeros(1), np.ones(1))
PLAN = Plan(budget=7, batch=2, in_flight=3)


class Objectives:
    """Two objectives, one evaluation in five of which fails; knows what it was asked for."""

    def __init__(self):
        self.calls: list[float] = []

    def __call__(self, x):
        self.calls.append(float(x[0]))
        if len(self.calls) % 5 == 0 and round(x[0] * 1e6) % 2:
            raise ArithmeticError("odd")
        return [x[0] ** 2, (x[0] - 0.7) ** 2]


def smooth(x):
    return [x[0] ** 2, (x[0] - 0.7) ** 2]


def run(folder: Path, function, executor=None, plan: Plan = PLAN, **settings) -> list[dict]:
    """The journal of a study that was run to its end, without times."""
    with open_search(
        folder,
        bf.surrogate.Search(BOX, 2, budget=plan.budget, **settings),
        bf.surrogate.Search.restore,
    ) as study:
        assert run_study(study, Pool(function, executor, retries=0), plan) is None
        assert study.n_asked == plan.budget == len(study.told)
    return [{**record, "seconds": 0} for record in read_journal(folder / "journal.jsonl")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A study with points that a surrogate proposes, and its journal."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run(folder, smooth)


def told(records: list[dict]) -> dict[int, list[float]]:
    return {record["number"]: record["y"] for record in records if record["kind"] == "told"}


def test_the_points_do_not_depend_on_time_or_engine(whole, tmp_path):
    asked = [record for record in whole[1] if record["kind"] == "asked"]
    assert sum(len(record["x"]) for record in asked) == PLAN.budget
    assert asked[-1]["memory"]["fits"]  # the last ones were proposed by a surrogate

    rng = np.random.default_rng(0)

    def slow(x):
        time.sleep(rng.uniform(0, 0.02))
        return smooth(x)

    records = run(tmp_path, slow, ThreadPoolExecutor(4))
    assert told(records) == told(whole[1])
    number = {
        i: record["number"] for i, record in enumerate(r for r in records if r["kind"] == "told")
    }
    assert [
        [number[i] for i in record["after"]] for record in records if record["kind"] == "asked"
    ] == [record["after"] for record in asked]


def test_a_journal_cut_in_any_line_goes_on_to_the_same_study(whole, tmp_path):
    folder, records = whole
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for cut in (7, len(lines) - 2):
        known = {record["number"] for record in records[:cut] if record["kind"] == "told"}
        (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:cut]) + lines[cut][:25])
        calls = []
        again = run(tmp_path, lambda x, calls=calls: (calls.append(1), smooth(x))[1])
        assert again == records
        assert len(calls) == PLAN.budget - len(known)


def test_evaluations_that_arrived_out_of_order_are_not_made_again(tmp_path):
    """Of the first batch only the last point has arrived when the process dies."""
    search = bf.surrogate.Search(BOX, 2, budget=4)
    with open_search(tmp_path, search, bf.surrogate.Search.restore) as study:
        points = study.ask(4)
        study.arrive(Evaluation(3, points[3], np.array(smooth(points[3]))))
    objectives = Objectives()
    run(tmp_path, objectives, plan=Plan(4, 4))
    assert objectives.calls == [float(x[0]) for x in points[:3]]


def test_failed_evaluations_count_and_are_listed(tmp_path):
    objectives = Objectives()
    records = run(tmp_path, objectives, plan=Plan(4, 4))
    failed = [record for record in records if record["kind"] == "told" and "failure" in record]
    assert len(objectives.calls) == 4
    assert all(record["failure"].startswith("ArithmeticError") for record in failed)


def test_another_study_is_refused_and_a_larger_budget_is_not(tmp_path):
    run(tmp_path, smooth, plan=Plan(3, 3))
    with pytest.raises(ValueError, match="holds another study: seed was 0 and is 1"):
        run(tmp_path, smooth, plan=Plan(3, 3), seed=1)
    calls = []
    run(tmp_path, lambda x: (calls.append(1), smooth(x))[1], plan=Plan(4, 3))
    assert len(calls) == 1
    with pytest.raises(ValueError, match="budget was 4 and is 3"):
        run(tmp_path, smooth, plan=Plan(3, 3))


def test_what_is_refused_changes_nothing(tmp_path):
    """A call with other settings leaves the folder as it was, so that the right one goes on."""
    bf.Study(BOX, 2, folder=tmp_path / "by_hand", seed=5)
    run(tmp_path / "run", smooth, plan=Plan(3, 3))
    for folder in (tmp_path / "by_hand", tmp_path / "run"):
        before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        with pytest.raises(ValueError, match="holds another study"):
            bf.minimize(
                smooth, None, bf.Surrogate(batch=3), bounds=BOX, budget=9, seed=1, checkpoint=folder
            )
        assert {
            path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()
        } == before


def test_two_processes_on_one_study_one_wins(tmp_path):
    taken = pytest.raises(FolderTakenError, match="another process works on")
    with open_search(tmp_path, bf.surrogate.Search(BOX, 2), bf.surrogate.Search.restore), taken:
        bf.Study.open(tmp_path).ask(1)


def test_by_hand_ask_and_tell_in_any_order(tmp_path):
    names, folder = {"objectives": ["cost", "mass"]}, tmp_path / "study"
    study = bf.Study(BOX, 2, folder=folder, names=names, maximize=["mass"])
    asked = study.ask(3)
    np.testing.assert_array_equal([study.pending[number] for number in (0, 1, 2)], asked)
    assert study.tell({2: [1.0, 2.0], 0: None}) == 2
    assert study.tell({2: [1.0, 2.0], 1: [0.5, 3.0]}) == 1  # what is the same stays
    assert study.tell([0.25], [0.6, 2.5]) == 1
    table = study.to_pandas()
    assert table["number"].tolist()[:3] == [2, 0, 1]
    assert table["nondominated"].tolist() == [False, False, True, False]
    np.testing.assert_array_equal(table["cost"], [1.0, np.nan, 0.5, 0.6])
    study.ask()
    assert list(study.pending) == [3]
    for wrong, words in (
        (({7: [1, 2]},), "7 was never asked for"),
        (({3: [1]},), "2 values"),
        (([2.0], [1, 2]), "within the bounds"),
        (([0.1, 0.2], [1, 2]), "x must hold 1 variables"),
        (([[0.1], [0.2]], [[1, 2]]), "a row for each of 2 designs"),
    ):
        with pytest.raises(ValueError, match=words):
            study.tell(*wrong)
    with pytest.raises(TypeError, match="y must be given"):
        study.tell([0.1])
    assert len(study.evaluations) == 4
    assert (
        json.loads((tmp_path / "study" / "journal.jsonl").read_text().splitlines()[0])["kind"]
        == "study"
    )
    with pytest.raises(FileNotFoundError, match="holds no run and no study"):
        bf.Study.open(tmp_path)


def test_objectives_that_were_edited_are_noticed(tmp_path):
    path, folder, box = tmp_path / "simulator.py", tmp_path / "study", (np.zeros(2), np.ones(2))

    def one_more(n: int, center: float) -> None:
        """One more evaluation; few as they are, they make no surface, which takes no time."""
        path.write_text(
            f"def simulate(x):\n    return [x[0] ** 2, (x[0] - {center}) ** 2 + x[1]]\n"
        )
        function, settings = runpy.run_path(str(path))["simulate"], bf.Surrogate(batch=1)
        with pytest.raises(
            ValueError, match=f"a surface needs . evaluations at least that did not fail, got {n}"
        ):
            bf.minimize(
                function,
                None,
                settings,
                bounds=box,
                budget=8,
                checkpoint=folder,
                callback=lambda now: now.number >= n,
            )

    one_more(1, 0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one_more(2, 0.7)
    with pytest.warns(
        UserWarning,
        match="the code of the objectives has changed .* and its 2 evaluations are kept",
    ):
        one_more(3, 0.6)


def test_a_first_evaluation_that_fails_loses_neither_directions_nor_worst_values(tmp_path):
    """How many objectives there are is known with the first values; a study that was begun by older
    code goes on as well."""
    folder, calls = tmp_path / "study", []

    def simulate(x):
        calls.append(x)
        if len(calls) == 1:
            raise ArithmeticError("did not converge")
        return [float(x[0] ** 2), -float((x[0] - 1) ** 2 + x[1])]

    def run(n: int) -> None:
        method = bf.Surrogate(retries=0, batch=2, worst={"f2": -3.0})
        with pytest.raises(ValueError, match="a surface needs 4 evaluations at least"):
            bf.minimize(
                simulate,
                None,
                method,
                bounds=(np.zeros(2), np.ones(2)),
                maximize=["f2"],
                budget=8,
                checkpoint=folder,
                callback=lambda now: now.number >= n,
            )

    run(1)
    study = bf.Study.open(folder)
    assert study.names.directions == ("minimize", "maximize")
    assert kept_settings(read_journal(folder / "journal.jsonl"))["worst"] == [None, -3.0]
    assert len(study.to_pandas()) == 2
    manifest, arrays = read_checked(folder / "run.bez", "run.arguments/1")
    fields = manifest["arguments"]["method"]["value"]["fields"]
    manifest["arguments"]["method"]["value"]["fields"] = [
        pair for pair in fields if pair[0] != "in_flight"
    ]
    kept = {"kind": "run.arguments/1", "arguments": manifest["arguments"]}
    write_checked(folder / "run.bez", kept, arrays)
    run(2)
    assert len(study.evaluations) == 4
    assert len(calls) == 4


def corrected(study, opened=lambda study: study):
    """What a study asks for on its way through corrections, a skipped design and steps back."""
    asked = [study.ask(5)]
    opened(study).tell(asked[0][:4], [smooth(x) for x in asked[0][:4]])
    asked.append(opened(study).ask(2))  # proposed by a surrogate, with predictions
    opened(study).tell({5: smooth(asked[1][0]), 6: [9.0, 9.0]})
    asked.append(opened(study).ask(2))
    opened(study).tell({6: smooth(asked[1][1]), 4: "skipped"})
    opened(study).tell([[0.33]], [smooth([0.33])], numbers=[7])
    asked.append(opened(study).ask(1))
    opened(study).tell({1: [5.0, 5.0], 8: None})
    opened(study).undo()
    opened(study).tell([[0.9]], [smooth([0.9])], numbers=["mine"])
    opened(study).tell({"mine": smooth([0.9])[::-1]})
    asked.append(opened(study).ask(2))
    return np.concatenate(asked)


def test_corrections_and_steps_back_are_the_same_in_memory_in_a_folder_and_from_any_cut(tmp_path):
    in_memory = bf.Study(BOX, 2, seed=1)
    x = corrected(in_memory)
    folder = tmp_path / "study"
    kept = bf.Study(BOX, 2, seed=1, folder=folder)
    # opened anew before each step, as by the command line
    np.testing.assert_array_equal(corrected(kept, lambda study: bf.Study.open(folder)), x)
    current = {one.number: one for one in kept.evaluations}
    assert list(current) == [0, 1, 2, 3, 5, 6, 7, "mine"]
    assert current[1].y.tolist() == smooth(current[1].x)
    assert current[6].y.tolist() == smooth(current[6].x)
    assert current[7].x == 0.33
    assert list(kept.pending) == [8, 9, 10, 11]
    assert len(kept.history) == len(current) + 5
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    asked = 0
    for n in range(1, len(lines) + 1):
        cut = tmp_path / f"cut{n}"
        cut.mkdir()
        (cut / "journal.jsonl").write_bytes(b"".join(lines[:n]) + b'{"torn": ')
        study, records = bf.Study.open(cut), [json.loads(line) for line in lines[:n]]
        assert len(study.history) == sum(one["kind"] == "told" for one in records)
        if n < len(lines) and json.loads(lines[n])["kind"] == "asked":
            again = study.ask(len(json.loads(lines[n])["x"]))
            np.testing.assert_array_equal(again, x[asked : asked + len(again)])
            asked += len(again)
    assert asked == len(x)


def test_what_is_refused_in_a_correction_changes_nothing(tmp_path):
    study = bf.Study(BOX, 2, folder=tmp_path)
    study.ask(2)
    before = (tmp_path / "journal.jsonl").read_bytes()
    for wrong, numbers, says in (
        ([[0.1], [0.2]], [0, 0], "numbers must name each design only once, got 0 twice"),
        ([[0.1], [0.2]], [0], "numbers must have a row for each of 2 designs, got 1"),
        ([[0.1], [1.2]], [0, 1], "within the bounds"),
        ([[0.1], [0.2]], [0, 2], "number 2 was never asked for; pending are"),
    ):
        with pytest.raises(ValueError, match=says):
            study.tell(wrong, [[1.0, 2.0]] * 2, numbers=numbers)
    with pytest.raises(ValueError, match="x must be given with 'mine', which nobody asks for"):
        study.tell({"mine": [1.0, 2.0]})
    with pytest.raises(ValueError, match="'mine' cannot be skipped: nobody asked for it"):
        study.tell([[0.5]], ["skipped"], numbers=["mine"])
    assert (tmp_path / "journal.jsonl").read_bytes() == before
