"""Mutated files: seeded changes of real files, of their bytes and of what the bytes mean.

`python -m files.hunt` goes on with them for as long as it is told, and keeps those that reach new
lines of the readers.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

NUMBERS = (
    0,
    -1,
    1,
    2,
    3,
    7,
    255,
    10**6,
    2**31,
    2**63,
    2**70,
    10**40,
    -(2**63),
    0.5,
    -0.0,
    1e308,
    1e-320,
    True,
    False,
)
OTHERS = (
    None,
    "",
    "nan",
    "inf",
    "-inf",
    "NaN",
    "1",
    "\x1b[31m",
    "a" * 1000,
    [],
    {},
    [[]],
    [[[]]],
    {"leaf": "x"},
    {"none": True},
)
TEXTS = (
    b"nan",
    b"inf",
    b"1e999",
    b"-1",
    b"99999999999999999999",
    b"0x10",
    b"1_0",
    b"'",
    b'"',
    b"{",
    b"]",
    b"(1, 1)",
    b"\x00",
    b"\xff",
)


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The bytes of a file with one change, sometimes several."""
    change = mutate_zip if content.startswith(b"PK") and rng.random() < 0.6 else mutate_bytes
    return change(content, rng)


def mutate_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Flipped bits, cuts, repeats, insertions, other numbers."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        place = int(rng.integers(len(data))) if data else 0
        end = min(len(data), place + int(rng.integers(1, 30)))
        what = rng.integers(7)
        if what == 0 and data:
            data[place] ^= 1 << int(rng.integers(8))
        elif what == 1:
            data = data[:place]
        elif what == 2:
            del data[place:end]
        elif what == 3:
            data[place:place] = data[place:end]
        elif what == 4:
            data[place:place] = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), dtype=np.uint8))
        elif what == 5:
            data[place:end] = TEXTS[rng.integers(len(TEXTS))]
        elif data:
            other = int(rng.integers(len(data)))
            data[place:end], data[other : other + 4] = data[other : other + 4], data[place:end]
    return bytes(data)


def mutate_zip(content: bytes, rng: np.random.Generator) -> bytes:
    """A zip file with other members, all with right checksums: JSON with other values, arrays with
    other numbers and headers."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    row = int(rng.integers(len(members)))
    name, data = members[row]
    what = rng.integers(10)
    if what == 0:
        members[row] = (
            str(
                rng.choice(
                    ["x.npy", "manifest.json", "../x.npy", "a/0.npy", name.upper(), name + "\x00"]
                )
            ),
            data,
        )
    elif what == 1:
        members.append((str(rng.choice([name, "extra.npy", "history/x.npy", "x.py"])), data))
    elif what == 2:
        del members[row]
    elif what == 3:
        other = int(rng.integers(len(members)))
        members[row], members[other] = (name, members[other][1]), (members[other][0], data)
    elif name.endswith(".json"):
        members[row] = (name, mutate_json(data, rng))
    else:
        members[row] = (name, mutate_array(data, rng))
    return zipped(members, zipfile.ZIP_DEFLATED if rng.random() < 0.05 else zipfile.ZIP_STORED)


def zipped(members: list[tuple[str, bytes]], kind: int = zipfile.ZIP_STORED) -> bytes:
    """A zip file, with members of the same name too."""
    import warnings

    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", kind) as archive:
        warnings.simplefilter("ignore")
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, kind)
    return buffer.getvalue()


def mutate_json(data: bytes, rng: np.random.Generator) -> bytes:
    """A JSON text in which a value, a key or two values are changed."""
    document = json.loads(data)
    places = list(walk(document))
    owner, key = places[rng.integers(len(places))]
    what = rng.integers(6)
    if what < 3:
        owner[key] = (*NUMBERS, *OTHERS)[rng.integers(len(NUMBERS) + len(OTHERS))]
    elif what == 3:
        del owner[key]
    elif what == 4:
        other, second = places[rng.integers(len(places))]
        owner[key], other[second] = other[second], owner[key]
    else:
        owner[key] = [owner[key]] * int(rng.choice([0, 2, 50]))
    text = json.dumps(document, default=str) if not _is_circular(document) else "{"
    return text.encode()


def _is_circular(document: Any) -> bool:
    try:
        json.dumps(document, default=str)
    except (ValueError, RecursionError):
        return True
    return False


def walk(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a JSON document: what holds it, and under which key."""
    keys = (
        list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    )
    for key in keys:
        yield tree, key
        yield from walk(tree[key])


def mutate_array(data: bytes, rng: np.random.Generator) -> bytes:
    """A `.npy` file with another number, shape, type or header."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    changes: list[Callable[[], np.ndarray]] = [
        lambda: array.reshape(-1),
        lambda: array[None],
        lambda: array[:0],
        lambda: np.concatenate([np.atleast_1d(array)] * 2),
        lambda: array.astype(complex),
        lambda: np.zeros(array.shape, dtype=[("a", "<i4"), ("b", "<f8")]),
        lambda: array.astype("<U5"),
        lambda: array.astype(np.float32),
        lambda: array.T,
        lambda: _with_entry(array, rng),
        lambda: _with_entry(array, rng),
    ]
    which = int(rng.integers(len(changes) + 3))
    if which >= len(changes):
        return mutate_bytes(data[:128], rng) + data[128:]
    buffer = io.BytesIO()
    np.save(buffer, changes[which](), allow_pickle=False)
    return buffer.getvalue()


def _with_entry(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    changed = np.array(array, dtype=float)
    if changed.size:
        changed.flat[rng.integers(changed.size)] = rng.choice(
            [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308]
        )
    return changed


def corpus(folder: Path, explorer_atlases: Path, theirs: Path) -> dict[str, bytes]:
    """Small real files of every format, by name."""
    from bezierflow.bezier import BezierSimplex
    from solved import distances_to_points

    surface = BezierSimplex(np.sqrt(np.arange(1.0, 13)).reshape(6, 2), 3, 2)
    for ending in (".bez", ".bsf", ".json", ".csv", ".tsv"):
        surface.save(folder / f"surface{ending}")
    BezierSimplex({"a": np.arange(3.0), "b": [np.ones((3, 2)), None]}, 2, 2).save(
        folder / "tree.bez"
    )
    distances_to_points(3, 2).save(folder / "solution.bez")
    files = [
        *folder.iterdir(),
        min(explorer_atlases.glob("*.bez"), key=lambda path: path.stat().st_size),
        *theirs.iterdir(),
    ]
    return {path.name: path.read_bytes() for path in files}
