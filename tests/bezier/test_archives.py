"""The archive: exact, the same bytes for the same content, never half written, and clear about what
is wrong with a file."""

import json
import os
import zipfile

import numpy as np
import pytest

from bezierflow.bezier import read_archive, write_archive

CONTENT = {"kind": "note", "names": ["cost", "größe"], "nested": {"a": [1, 2.5, None, True]}}
ARRAYS = {
    "x": np.array([[0.1, np.nan], [np.inf, -0.0]]),
    "part/one.t": np.arange(3),
    "s": np.float32(1.5),
}


def test_content_comes_back_exactly(tmp_path):
    write_archive(tmp_path / "a.bez", CONTENT, ARRAYS)
    manifest, arrays = read_archive(tmp_path / "a.bez")
    assert manifest == {"format": "bezierflow", "version": 2, **CONTENT}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert arrays[name].tobytes() == array.tobytes()


def test_same_content_gives_the_same_bytes_in_any_order_and_layout(tmp_path):
    write_archive(tmp_path / "a.bez", CONTENT, ARRAYS)
    turned = {
        name: np.array(ARRAYS[name], ARRAYS[name].dtype.newbyteorder(">"), order="F")
        for name in reversed(ARRAYS)
    }
    write_archive(tmp_path / "b.bez", dict(reversed(CONTENT.items())), turned)
    assert (tmp_path / "a.bez").read_bytes() == (tmp_path / "b.bez").read_bytes()


def test_members_are_plain_json_and_npy(tmp_path):
    write_archive(tmp_path / "a.bez", CONTENT, ARRAYS)
    with zipfile.ZipFile(tmp_path / "a.bez") as archive:
        assert archive.namelist() == ["manifest.json", "part/one.t.npy", "s.npy", "x.npy"]
        assert json.loads(archive.read("manifest.json"))["kind"] == "note"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.bez"
    write_archive(path, CONTENT, ARRAYS)
    before = path.read_bytes()

    def no_space(descriptor):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="no space left"):
        write_archive(path, {"kind": "other"}, {})
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.bez"]


def test_the_target_of_a_link_is_replaced_not_the_link(tmp_path):
    write_archive(tmp_path / "a.bez", CONTENT, {})
    (tmp_path / "link.bez").symlink_to(tmp_path / "a.bez")
    write_archive(tmp_path / "link.bez", {"kind": "new"}, {})
    assert (tmp_path / "link.bez").is_symlink()
    assert read_archive(tmp_path / "a.bez")[0]["kind"] == "new"


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.bez"):
        read_archive(tmp_path / "absent.bez")
    with pytest.raises(FileNotFoundError, match=r"create .*no_such_folder first"):
        write_archive(tmp_path / "no_such_folder" / "a.bez", CONTENT, {})


def test_foreign_files_are_named_as_such(tmp_path):
    path = tmp_path / "a.bez"
    path.write_text("hello")
    with pytest.raises(ValueError, match="not a bezierflow file: it starts with b'hell'"):
        read_archive(path)
    for content in (
        {"other.txt": "x"},
        {"manifest.json": "{"},
        {"manifest.json": "[]"},
        {"manifest.json": '{"format": "zip"}'},
    ):
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in content.items():
                archive.writestr(name, text)
        with pytest.raises(ValueError, match="a zip file, but not one of bezierflow"):
            read_archive(path)


def test_later_versions_ask_for_an_update(tmp_path):
    later = {"format": "bezierflow", "version": 3, "kind": "note"}
    with zipfile.ZipFile(tmp_path / "a.bez", "w") as archive:
        archive.writestr("manifest.json", json.dumps(later))
    message = r"has version 3 of the format, this library reads up to version 2; update"
    with pytest.raises(ValueError, match=message):
        read_archive(tmp_path / "a.bez")


def test_every_cut_and_every_flipped_byte_of_an_array_is_noticed(tmp_path):
    path = tmp_path / "a.bez"
    write_archive(path, CONTENT, ARRAYS)
    whole = path.read_bytes()
    for end in range(4, len(whole), 37):
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError, match="damaged or was cut off"):
            read_archive(path)
    place = whole.index(ARRAYS["x"].tobytes())
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    with pytest.raises(ValueError, match="damaged"):
        read_archive(path)


def test_pickles_are_refused(tmp_path):
    path = tmp_path / "a.bez"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "manifest.json", json.dumps({"format": "bezierflow", "version": 1, "kind": "surface"})
        )
        with archive.open("x.npy", "w") as member:
            np.lib.format.write_array(member, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="an array in it cannot be read"):
        read_archive(path)


@pytest.mark.parametrize(
    ("manifest", "arrays", "error", "message"),
    [
        ({}, {}, ValueError, "must have a 'kind'"),
        ({"kind": "x", "version": 3}, {}, ValueError, "leave 'format' and 'version' free"),
        ({"kind": "x", "value": float("nan")}, {}, ValueError, "JSON"),
        ({"kind": "x"}, {"../x": np.zeros(1)}, ValueError, "names of letters, digits"),
        ({"kind": "x"}, {"x": np.array(["text"])}, TypeError, "x has the type <U4"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_writing(tmp_path, manifest, arrays, error, message):
    with pytest.raises(error, match=message):
        write_archive(tmp_path / "a.bez", manifest, arrays)
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_left_is_removed_and_what_another_one_writes_is_not(tmp_path):
    target = tmp_path / "a.bez"
    left, written_now, another = (
        tmp_path / name
        for name in ("a.bez.0123abcd.part", "a.bez.4567ef01.part", "b.bez.0123abcd.part")
    )
    for path in (left, written_now, another):
        path.write_bytes(b"")
    for path in (left, another):
        os.utime(path, (0, 0))
    write_archive(target, CONTENT, ARRAYS)
    assert sorted(tmp_path.iterdir()) == sorted([target, written_now, another])
