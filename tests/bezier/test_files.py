"""Surfaces as files: every format gives back the same numbers, and pytorch-bsf's own files are read
as it means them."""

import json
import zipfile
from collections import namedtuple
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bezierflow.bezier import (
    BezierSimplex,
    describe_surface,
    load_surface,
    restore_surface,
    write_archive,
)
from bezierflow.simplex import n_controls

DATA = Path(__file__).parent / "data"


def triangle(dtype=np.float64):
    """The surface in the files that pytorch-bsf 0.22.0 wrote for these tests: roots of 1 to 20,
    every other one scaled."""
    points = np.sqrt(np.arange(1, 21, dtype=np.float64)).reshape(10, 2) * np.array([1.0, -1e-3])
    return BezierSimplex(points.astype(dtype), 3, 3)


def assert_same(found, expected):
    assert (found.n_objectives, found.degree) == (expected.n_objectives, expected.degree)
    assert jax.tree.structure(found.control_points) == jax.tree.structure(expected.control_points)
    for mine, theirs in zip(
        jax.tree.leaves(found.control_points), jax.tree.leaves(expected.control_points), strict=True
    ):
        assert isinstance(mine, np.ndarray)
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert mine.tobytes() == np.asarray(theirs).tobytes()


@settings(deadline=None, max_examples=40)
@given(
    st.data(),
    st.sampled_from([".bez", ".bsf", ".json", ".csv", ".tsv"]),
    st.integers(2, 5),
    st.integers(0, 4),
    st.integers(1, 3),
)
def test_float64_survives_every_format_bit_for_bit(
    tmp_path_factory, data, ending, n_objectives, degree, width
):
    shape = (n_controls(n_objectives, degree), width)
    points = data.draw(
        arrays(np.float64, shape, elements=st.floats(allow_nan=False, allow_infinity=False))
    )
    path = tmp_path_factory.mktemp("files") / f"surface{ending}"
    BezierSimplex(points, n_objectives, degree).save(path)
    assert_same(load_surface(path), BezierSimplex(points, n_objectives, degree))


@pytest.mark.parametrize("ending", ["bsf", "csv", "json"])
def test_files_of_pytorch_bsf_are_read_exactly(ending):
    assert_same(load_surface(DATA / f"pytorch_bsf_triangle.{ending}"), triangle())


def test_bsf_is_written_with_the_schema_of_pytorch_bsf(tmp_path):
    triangle().save(tmp_path / "ours.bsf")
    with (
        zipfile.ZipFile(tmp_path / "ours.bsf") as ours,
        zipfile.ZipFile(DATA / "pytorch_bsf_triangle.bsf") as theirs,
    ):
        assert sorted(ours.namelist()) == sorted(theirs.namelist())
        assert json.loads(ours.read("model.json")) == json.loads(theirs.read("model.json"))
        assert ours.read("coefficients.npy") == theirs.read("coefficients.npy")


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_tables_are_written_as_pytorch_bsf_writes_them(tmp_path, ending):
    triangle().save(tmp_path / f"ours.{ending}")
    ours, theirs = (
        (tmp_path / f"ours.{ending}").read_text(),
        (DATA / f"pytorch_bsf_triangle.{ending}").read_text(),
    )
    assert ours == theirs if ending == "csv" else json.loads(ours) == json.loads(theirs)


def test_the_ending_may_be_in_capitals_and_the_path_a_text(tmp_path):
    triangle().save(tmp_path / "a.bez")
    triangle().save(str(tmp_path / "b.BEZ"))
    assert (tmp_path / "a.bez").read_bytes() == (tmp_path / "b.BEZ").read_bytes()


def test_bez_keeps_any_pytree(tmp_path):
    rng = np.random.default_rng(0)
    tree = {
        "b": [rng.normal(size=(6, 2)), None],
        "a": (rng.normal(size=6).astype(np.float32), {"deep": np.arange(12).reshape(6, 2)}),
    }
    surface = BezierSimplex(tree, 3, 2)
    surface.save(tmp_path / "a.bez")
    assert_same(load_surface(tmp_path / "a.bez"), surface)


def test_a_loaded_surface_computes(tmp_path):
    BezierSimplex(jnp.asarray(triangle().control_points, jnp.float32), 3, 3).save(
        tmp_path / "a.bez"
    )
    loaded = load_surface(tmp_path / "a.bez")
    assert loaded.control_points.dtype == np.float32
    np.testing.assert_allclose(loaded(np.eye(3))[0], triangle().control_points[0], rtol=1e-6)


def test_a_surface_can_be_a_part_of_another_archive():
    description, parts = describe_surface(triangle(), "front")
    assert [*parts] == ["front/0"]
    assert_same(restore_surface(json.loads(json.dumps(description)), parts), triangle())
    with pytest.raises(ValueError, match="incomplete or damaged"):
        restore_surface(description, {})
    with pytest.raises(ValueError, match="incomplete or damaged"):
        restore_surface({"degree": 3}, parts)


def test_tables_are_read_in_any_order_with_either_bracket(tmp_path):
    (tmp_path / "a.csv").write_text(
        '\ufeff"[0, 2]", 3, 4\n\n"(2, 0)", 1.0, 2.0\n"(1,1)",5e0,-6\n', encoding="utf-8"
    )
    (tmp_path / "a.tsv").write_text('"(0, 2)"\t3\t4\n"(2, 0)"\t1\t2\n"(1, 1)"\t5\t-6\n')
    (tmp_path / "a.json").write_text('{"[1, 1]": [5, -6], "(2, 0)": [1, 2], "(0, 2)": [3, 4]}')
    for ending in ("csv", "tsv", "json"):
        np.testing.assert_array_equal(
            load_surface(tmp_path / f"a.{ending}").control_points, [[1, 2], [5, -6], [3, 4]]
        )


def test_bsf_with_permuted_rows_and_faces_listed(tmp_path):
    """A main cell may name its rows in any order, beside cells that are its faces."""
    space = {
        "cells": [
            {"dimensions": [1], "degree": [1], "controls": [1, 0]},
            {"dimensions": [], "degree": [], "controls": [0]},
        ],
        "n_controls": 2,
        "main_cells": [0],
    }
    write_bsf(
        tmp_path / "a.bsf",
        {"schema_version": 1, "dtype": "torch.float64", "space": space},
        [[1.0], [2.0]],
    )
    np.testing.assert_array_equal(load_surface(tmp_path / "a.bsf").control_points, [[2.0], [1.0]])


def write_bsf(path, document, rows):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", json.dumps(document))
        with archive.open("coefficients.npy", "w") as member:
            np.save(member, np.array(rows))


def model(schema, dimensions, degree, controls):
    cell = {"dimensions": dimensions, "degree": degree, "controls": controls}
    return {"schema_version": schema, "space": {"cells": [cell], "main_cells": [0]}}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"schema_version": 1}, "not a pytorch-bsf model"),
        (model(2, [1], [1], [0, 1]), "has schema 2"),
        (model(1, [1, 1], [1, 1], [0]), "one Bézier simplex"),
        (model(1, [1], [2], [0, 1]), "damaged"),
    ],
)
def test_models_that_are_no_simplex_are_named(tmp_path, document, message):
    write_bsf(tmp_path / "a.bsf", document, [[1.0], [2.0]])
    with pytest.raises(ValueError, match=message):
        load_surface(tmp_path / "a.bsf")


@pytest.mark.parametrize(
    ("ending", "text", "message"),
    [
        ("csv", "", "has no control points"),
        ("csv", "a,1\n", "multi-indices such as"),
        ("csv", '"(1, 0)",x\n', r"finite numbers behind the multi-index \(1, 0\)"),
        ("csv", '"(1, 0)",nan\n', r"finite numbers behind the multi-index \(1, 0\)"),
        ("csv", '"(1, 0)",1\n"(1, 0)",1\n', "twice"),
        ("csv", '"(1, 0)",1\n', r"1 of the 2 control points .* \(0, 1\) is missing"),
        ("csv", '"(1, 0)",1\n"(0, 1)",1,2\n', "mixes"),
        ("csv", '"(1, 0)",1\n"(0, 2)",1\n', "mixes"),
        ("json", "{", "not a JSON file"),
        ("json", "[1]", "must hold an object"),
        ("json", '{"(1, 0)": 1}', "must hold an object"),
        ("json", '{"(1, 0)": [1], "(1, 0)": [2]}', "twice"),
        ("json", '{"((1, 0), (1, 0))": [1]}', "multi-indices such as"),
    ],
)
def test_wrong_tables_are_named(tmp_path, ending, text, message):
    path = tmp_path / f"a.{ending}"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        load_surface(path)


def test_what_a_format_cannot_hold_is_refused(tmp_path):
    pair = namedtuple("Pair", "a b")
    with pytest.raises(TypeError, match="in a Pair cannot be saved"):
        BezierSimplex(pair(np.zeros(3), np.zeros(3)), 3, 1).save(tmp_path / "a.bez")
    with pytest.raises(TypeError, match="strings as keys"):
        BezierSimplex({1: np.zeros(3)}, 3, 1).save(tmp_path / "a.bez")
    for ending in ("bsf", "csv", "json"):
        with pytest.raises(ValueError, match=r"one matrix; save other surfaces as \.bez"):
            BezierSimplex(np.zeros(3), 3, 1).save(tmp_path / f"a.{ending}")
        with pytest.raises(ValueError, match="finite control points only"):
            BezierSimplex(np.full((3, 1), np.nan), 3, 1).save(tmp_path / f"a.{ending}")
    with pytest.raises(TypeError, match="float16, float32 or float64"):
        BezierSimplex(np.zeros((3, 1), int), 3, 1).save(tmp_path / "a.bsf")
    with pytest.raises(
        ValueError, match=r"path must end in one of \.bez, \.bsf, \.json, \.csv, \.tsv"
    ):
        triangle().save(tmp_path / "a.txt")
    with pytest.raises(TypeError, match="traced"):
        jax.jit(lambda points: BezierSimplex(points, 3, 1).save(tmp_path / "a.bez"))(
            np.zeros((3, 1))
        )
    assert not list(tmp_path.iterdir())


def test_an_archive_of_another_kind_says_who_reads_it(tmp_path):
    write_archive(tmp_path / "a.bez", {"kind": "solution"}, {})
    with pytest.raises(
        ValueError, match=r"holds a solution, not a surface alone; bezierflow\.load reads it"
    ):
        load_surface(tmp_path / "a.bez")


def test_one_objective(tmp_path):
    """A single point: the tables keep the degree, a pytorch-bsf model of dimension 0 has none."""
    point = BezierSimplex(np.array([[1.5, 2.5]]), 1, 3)
    for ending, degree in ((".bez", 3), (".csv", 3), (".json", 3), (".bsf", 0)):
        point.save(tmp_path / f"a{ending}")
        assert_same(
            load_surface(tmp_path / f"a{ending}"), BezierSimplex(point.control_points, 1, degree)
        )
