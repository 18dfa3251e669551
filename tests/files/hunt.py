"""A hunt for files that the readers do not stand: mutations that reach new lines are kept and
mutated again.

    PYTHONPATH=src:tests python -m files.hunt --seconds 600

Coverage is seen by `sys.settrace` over the files that read. What breaks a promise is kept in the
folder that is printed.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import bezierflow as bf
from files.mutations import corpus, mutated

TESTS = Path(__file__).parent.parent
READERS = (
    "archives.py",
    "files.py",
    "solution_file.py",
    "atlas_file.py",
    "names.py",
)


def traced_load(path: Path) -> tuple[frozenset[tuple[str, int]], BaseException | None]:
    """The lines of the readers that a load runs through, and what it raised."""
    lines: set[tuple[str, int]] = set()

    def trace(frame, event, _):
        if not frame.f_code.co_filename.endswith(READERS):
            return None
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    error = None
    sys.settrace(trace)
    try:
        bf.load(path)
    except BaseException as raised:
        error = raised
    finally:
        sys.settrace(None)
    return frozenset(lines), error


def hunt(seconds: float, seed: int) -> int:
    """Mutates files until the time is over; how many broke a promise."""
    rng, folder = np.random.default_rng(seed), Path(tempfile.mkdtemp(prefix="hunt-"))
    real = folder / "real"
    real.mkdir()
    pool = list(corpus(real, TESTS / "explorer" / "atlases", TESTS / "bezier" / "data").items())
    seen: set[tuple[str, int]] = set()
    tried, broken, end = 0, 0, time.monotonic() + seconds
    while time.monotonic() < end:
        name, content = pool[rng.integers(len(pool))]
        try:
            content = mutated(content, rng)
        except Exception:  # a file that is broken already may not be taken apart as a zip
            continue
        path = folder / name
        path.write_bytes(content)
        began = time.process_time()
        lines, error = traced_load(path)
        tried += 1
        if not lines <= seen:
            seen |= lines
            pool.append((name, content))
        refused = error is None or (
            isinstance(error, ValueError) and str(error).startswith(str(path))
        )
        # ten times the promise: tracing is slow
        if not refused or time.process_time() - began > 20:
            broken += 1
            (folder / f"broken-{broken}-{name}").write_bytes(content)
            print(f"broken: {name}: {error!r}")
    print(
        f"{tried} files, {len(seen)} lines reached, {len(pool)} files kept, {broken} broke a"
        f" promise; in {folder}"
    )
    return broken


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    raise SystemExit(bool(hunt(options.seconds, options.seed)))
