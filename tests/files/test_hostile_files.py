"""Files made to do harm, each by a way that has worked once: refused in one line, soon, and without
much memory."""

import io
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.bezier import BezierSimplex
from files.mutations import zipped
from solved import distances_to_points

SPARE, FACTOR = 16_000_000, 10

pytestmark = pytest.mark.usefixtures("unchecked")


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def surface_file(
    points=((0.0,), (1.0,)),
    n_objectives=2,
    degree=1,
    version=2,
    others=(),
    kind=zipfile.ZIP_STORED,
    **more,
):
    manifest = {
        "format": "bezierflow",
        "version": version,
        "kind": "surface",
        "n_objectives": n_objectives,
        "degree": degree,
        "control_points": {"leaf": "p/0"},
        **more,
    }
    return zipped(
        [
            ("manifest.json", json.dumps(manifest).encode()),
            ("p/0.npy", npy(np.array(points))),
            *others,
        ],
        kind,
    )


def bsf_file(
    controls=(0, 1),
    degree=(1,),
    dimensions=(1,),
    rows=((0.0,), (1.0,)),
    more="",
    kind=zipfile.ZIP_STORED,
):
    cell = {"dimensions": list(dimensions), "degree": list(degree), "controls": list(controls)}
    model = {
        "schema_version": 1,
        "dtype": "torch.float64",
        "space": {"cells": [cell], "main_cells": [0], "more": more},
    }
    return zipped(
        [("model.json", json.dumps(model).encode()), ("coefficients.npy", npy(np.array(rows)))],
        kind,
    )


class Harmful:
    def __reduce__(self):
        return (exec, ("raise SystemExit('executed')",))


HUGE_HEADER = npy(np.zeros(1)).replace(b"(1,)", b"(1000000000000,)")[:128] + bytes(8)

PICKLED_ARRAY = npy(np.zeros(1)).replace(b"'<f8'", b"'|O' ") + pickle.dumps(Harmful())

FILES = {
    "compressed.bez": lambda: surface_file(kind=zipfile.ZIP_DEFLATED),
    "bomb.bez": lambda: zipped([("manifest.json", bytes(60_000_000))], zipfile.ZIP_DEFLATED),
    "bomb.bsf": lambda: bsf_file(more=" " * 60_000_000, kind=zipfile.ZIP_DEFLATED),
    "brackets.bsf": lambda: bsf_file(more=[[]] * 2_000_000, kind=zipfile.ZIP_DEFLATED),
    "huge.bez": lambda: surface_file(n_objectives=10**6, degree=10**6),
    "huge_degree.bez": lambda: surface_file(degree=10**18),
    "huge_shape.bez": lambda: zipped(
        [
            ("manifest.json", b'{"format":"bezierflow","version":2,"kind":"surface"}'),
            ("a.npy", HUGE_HEADER),
        ]
    ),
    "nested.bez": lambda: zipped([("manifest.json", b"[" * 100_000)]),
    "nested.json": lambda: b'{"a":' * 100_000,
    "long_number.json": lambda: b'{"(1, 0)": [' + b"9" * 100_000 + b"]}",
    "long_index.csv": lambda: b'"(' + b"9" * 100_000 + b', 0)",1\n',
    "huge_index.csv": lambda: b'"(999999999, 999999999, 999999999)",1\n',
    "many_objectives.csv": lambda: b'"(' + b"0," * 100_000 + b'0)",1\n',
    "not_utf8.csv": lambda: b'"(1, 0)",1\n"(0, 1)",\xff\n',
    "not_utf8.json": lambda: b'{"(1, 0)": [1], "(0, 1)": [\xff]}',
    "not_utf8.bez": lambda: zipped([("manifest.json", b'{"format": "\xff"}')]),
    "twice.bez": lambda: surface_file(others=[("p/0.npy", npy(np.ones((2, 1))))]),
    "unnamed.bez": lambda: surface_file(others=[("q/0.npy", npy(np.ones((2, 1))))]),
    "program.bez": lambda: surface_file(others=[("run.py", b"raise SystemExit")]),
    "version.bez": lambda: surface_file(version=-3),
    "version_true.bez": lambda: surface_file(version=True),
    "nan.bez": lambda: surface_file(points=((0.0,), (np.nan,))),
    "infinite.bez": lambda: surface_file(points=((0.0,), (np.inf,))),
    "complex.bez": lambda: surface_file(points=((0.0,), (1j,))),
    "float_degree.bez": lambda: surface_file(degree=1.0),
    "key_twice.bez": lambda: zipped(
        [("manifest.json", b'{"format":"bezierflow","version":2,"kind":"a","kind":"surface"}')]
    ),
    "pickle.bez": lambda: zipped([("manifest.json", pickle.dumps(Harmful()))]),
    "pickled_array.bez": lambda: surface_file(others=[("q.npy", PICKLED_ARRAY)]),
    "negative.bsf": lambda: bsf_file(controls=(0, -1)),
    "repeated.bsf": lambda: bsf_file(controls=(1, 1)),
    "float.bsf": lambda: bsf_file(controls=(0, 0.9)),
    "nan.bsf": lambda: bsf_file(rows=((0.0,), (np.nan,))),
    "huge.bsf": lambda: bsf_file(dimensions=(10**6,), degree=(10**6,)),
    "no_degree.bsf": lambda: bsf_file(degree=()),
    "swapped.bsf": lambda: bsf_file(controls=(0, 2)),
    "infinite.csv": lambda: b'"(1, 0)",1e999\n"(0, 1)",1\n',
    "formula.csv": lambda: b'=cmd|" /C calc"!A0,1\n',
}


@pytest.mark.parametrize("name", FILES)
def test_harmful_files_are_refused_in_one_line_with_little_memory(tmp_path, name):
    path = tmp_path / name
    written = FILES[name]()
    path.write_bytes(written)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"\A[ -~]+\Z") as refused:
            bf.load(path)
        assert tracemalloc.get_traced_memory()[1] <= max(SPARE, FACTOR * len(written))
    finally:
        tracemalloc.stop()
    assert str(refused.value).startswith(str(path))
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize(("degree", "width"), [(0, 300_000), (250, 1000), (5000, 1)])
@pytest.mark.parametrize("ending", [".csv", ".json", ".tsv", ".bez", ".bsf"])
def test_large_sound_files_take_ten_times_their_size_at_most(tmp_path, ending, degree, width):
    path = tmp_path / f"large{ending}"
    # numbers as short as they can be: most of them in a file of a size
    points = np.ones((degree + 1, width))
    BezierSimplex(points, 2, degree).save(path)
    tracemalloc.start()
    try:
        found = bf.load(path)
        assert tracemalloc.get_traced_memory()[1] <= FACTOR * path.stat().st_size + 1_000_000
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(found.control_points, points)


def changed(solution, tmp_path, change):
    """A file of the solution with another manifest."""
    path = tmp_path / "solution.bez"
    solution.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest, members)
    members["manifest.json"] = json.dumps(manifest).encode()
    path.write_bytes(zipped(list(members.items())))
    return path


CHANGES = {
    "too few names": (
        lambda manifest, members: manifest["names"].update(
            objectives=["a"], directions=[], objective_units=[]
        )
    ),
    "too many variables": lambda manifest, members: manifest["names"]["variables"].append("x9"),
    "a name with an escape": (
        lambda manifest, members: manifest["names"]["objectives"].__setitem__(0, "\x1b[31mred")
    ),
    "a negative error": lambda manifest, members: manifest["error"].update(rms=-1.0),
    "an error that is text": lambda manifest, members: manifest["error"].update(max="small"),
    "an unknown flag": lambda manifest, members: manifest["error"].update(flags=["GOOD"]),
    "an unknown reason": lambda manifest, members: manifest["result"].update(reason="FINE"),
    "negative counts": lambda manifest, members: manifest["stats"].update(iterations=-1),
    "no error": lambda manifest, members: manifest.pop("error"),
    "a front of other objectives": (
        lambda manifest, members: manifest["front"].update(n_objectives=2, degree=5)
    ),
    "a front error of other objectives": lambda manifest, members: members.update(
        {"front_error/max.npy": npy(np.zeros(2))}
    ),
    "a negative front error": lambda manifest, members: members.update(
        {"front_error/max.npy": npy(np.full(3, -1.0))}
    ),
    "a front that is not finite": lambda manifest, members: members.update(
        {"front/0.npy": npy(np.full((6, 3), np.nan))}
    ),
    "a table as history": lambda manifest, members: members.update(
        {"history/movement.npy": npy(np.zeros((2, 2)))}
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_files_that_cannot_be_of_a_solution_are_refused(tmp_path, name):
    path = changed(distances_to_points(3, 2), tmp_path, CHANGES[name])
    with pytest.raises(ValueError, match=r"solution\.bez is damaged") as refused:
        bf.load(path)
    assert "\x1b" not in str(refused.value)


def test_messages_from_files_are_printable(tmp_path):
    path = changed(
        distances_to_points(3, 2),
        tmp_path,
        lambda manifest, members: manifest["result"].update(claim="\x1b[2J", details=["\nok"]),
    )
    result = bf.load(path).result
    assert (result.claim, result.details) == ("\\x1b[2J", ("\\nok",))


def test_objectives_that_are_not_those_of_the_file_are_refused(tmp_path):
    solution = distances_to_points(3, 2, objectives=True)
    solution.save(tmp_path / "solution.bez")
    assert bf.load(tmp_path / "solution.bez", objectives=solution.objectives).objectives is not None
    with pytest.raises(
        ValueError,
        match=r"objectives are not those of .*solution\.bez: f2 is .*, where the file has",
    ):
        bf.load(tmp_path / "solution.bez", objectives=lambda x: 2 * solution.objectives(x))
