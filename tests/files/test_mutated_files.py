"""Thousands of mutated files: each is refused in one line with its path, or gives something
sound."""

import json
import signal
import tracemalloc
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bezierflow as bf
from files.mutations import corpus, mutate_bytes, mutated, zipped

TESTS = Path(__file__).parent.parent
N, N_SLOW = 2_000, 10_000
"""So many mutations, and so many with `--slow`."""

SECONDS = 2
"""Of processor time, that no file may take."""

SPARE, FACTOR = 16_000_000, 10
"""The memory that a file may take: so many bytes, or this many times its size."""

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return corpus(
        tmp_path_factory.mktemp("real"), TESTS / "explorer" / "atlases", TESTS / "bezier" / "data"
    )


@pytest.fixture
def alarm():
    """Ends a load that takes too long."""

    def late(*_):
        raise AssertionError(f"loading took more than {SECONDS} s")

    before = signal.signal(signal.SIGVTALRM, late)
    yield lambda seconds: signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def load(path, alarm):
    """What is in a file, or the line that refuses it; held against the promises on time, memory and
    the error."""
    alarm(SECONDS)
    try:
        found = bf.load(path)
    except ValueError as error:
        found = str(error)
        assert found.startswith(str(path)), found
        assert found.isprintable(), found
        assert len(found) < 1000
    finally:
        alarm(0)
    return found


def load_in_bounded_memory(path, alarm):
    tracemalloc.start()
    try:
        found = load(path, alarm)
        assert tracemalloc.get_traced_memory()[1] <= max(SPARE, FACTOR * path.stat().st_size)
    finally:
        tracemalloc.stop()
    return found


def check_sound(found):
    """A surface or solution with finite numbers, and as many names as there are objectives and
    variables."""
    if isinstance(found, bf.BezierSimplex):
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(found.control_points))
        assert all(len(leaf) == found.n_controls for leaf in jax.tree.leaves(found.control_points))
        return
    M, L = found.n_objectives, found.raveling.n_variables
    assert (len(found.names.objectives), len(found.names.variables)) == (M, L)
    t = np.eye(M)[0]
    with np.errstate(all="ignore"):
        values = [*jax.tree.leaves(found.pareto_set(t)), found.front(t)]
    huge = 1e300  # a number that was put in may overflow in a sum
    controls = (
        jax.tree.leaves(found.pareto_set.control_points)
        if isinstance(found.pareto_set, bf.BezierSimplex)
        else []
    )
    if all(np.abs(leaf).max() < huge for leaf in controls):
        assert all(np.isfinite(value).all() for value in values) or isinstance(
            found.pareto_set, bf.BezierAtlas
        )
    assert not float(found.error) < 0
    assert found.result.message.isprintable()


@pytest.mark.usefixtures("unchecked")
def test_thousands_of_mutated_files(files, tmp_path, alarm, request):
    n, rng = N_SLOW if request.config.getoption("--slow") else N, np.random.default_rng(0)
    atlas = "constrained.bez"  # takes twenty times as long as the others
    names = [name for name in sorted(files) if name != atlas] * 10 + [atlas]
    refused = 0
    for number in range(n):
        name = names[number % len(names)]
        path = tmp_path / name
        path.write_bytes(mutated(files[name], rng))
        try:
            found = load(path, alarm) if number % 31 else load_in_bounded_memory(path, alarm)
            if isinstance(found, str):
                refused += 1
            else:
                check_sound(found)
        except Exception as error:
            raise AssertionError(f"mutation {number}, of {name}: {error!r}") from error
    assert n / 2 < refused < n


def test_changed_bytes_of_an_archive_never_give_other_numbers(files, tmp_path, alarm):
    rng = np.random.default_rng(1)
    path = tmp_path / "solution.bez"
    path.write_bytes(files["solution.bez"])
    true = bf.load(path).pareto_set.control_points
    for _ in range(500):
        path.write_bytes(mutate_bytes(files["solution.bez"], rng))
        try:
            found = bf.load(path)
        except ValueError:
            continue
        np.testing.assert_array_equal(found.pareto_set.control_points, true)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = (
    "format",
    "version",
    "kind",
    "n_objectives",
    "degree",
    "control_points",
    "names",
    "error",
    "atlas",
    "example",
)
MANIFESTS = st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON)).map(
    lambda manifest: {
        **manifest,
        "format": "bezierflow",
        "version": 2,
        "kind": manifest.get("kind", "solution"),
    }
)


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from([".bez", ".bsf", ".json", ".csv", ".tsv"]),
    st.binary(max_size=60) | st.text(max_size=60).map(str.encode),
)
def test_any_bytes_are_refused(tmp_path_factory, ending, content):
    path = tmp_path_factory.mktemp("bytes") / f"any{ending}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"any\."):
        bf.load(path)


@settings(deadline=None, max_examples=150)
@given(MANIFESTS)
def test_any_manifest_without_its_arrays_is_refused(tmp_path_factory, manifest):
    path = tmp_path_factory.mktemp("manifests") / "any.bez"
    path.write_bytes(zipped([("manifest.json", json.dumps(manifest).encode())]))
    with pytest.raises(ValueError, match=r"any\.bez"):
        bf.load(path)
