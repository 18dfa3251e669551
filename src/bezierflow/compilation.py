"""How programs are compiled: options where JAX's own choice is not safe, how few programs serve
batches of any size, and a folder that keeps them for the next process."""

import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, TypeVar

import equinox as eqx
import jax
import numpy as np
from jax.experimental.compilation_cache.compilation_cache import reset_cache
from jaxtyping import PyTree, Shaped

NO_NESTED_THREADS = {"xla_cpu_multi_thread_eigen": False}
"""Compiler options for programs with batched factorizations (`eigh`, `qr`, `solve` under `vmap`).

On a CPU such a kernel splits its batch over a pool of threads and waits for it, from a thread of
the same pool. Two of them at once, on a machine with two cores, can wait for each other for good.
With this option each runs in the thread that calls it; the batches of this library are too small to
lose by it.
"""

QUICKLY = {"xla_cpu_use_fusion_emitters": False} if jax.__version__.startswith("0.10.") else {}
"""Compiler options for the user's objectives: XLA's older code generator compiles small programs in
half of the time, and what it makes runs as fast. An option that a version does not know is an
error, so it is given to versions that were tried."""

MOST_KEPT = 48
"""So many compiled forms of each program are kept. JAX keeps all, some 5 MB for each new function
that is minimized."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_PROGRAMS: list[Any] = []
"""JAX's compiled functions behind all `program`s and `compiled` ones."""


def program(
    function: Callable[_Parameters, _Result], **options: Any
) -> Callable[_Parameters, _Result]:
    """`equinox.filter_jit` of the function; `forget_programs` knows of it. For module-level
    functions only."""
    wrapper = eqx.filter_jit(function, **options)
    # JAX's own function, which equinox has under a private name
    _PROGRAMS.append(getattr(wrapper, "_cached", None))
    return wrapper


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """A `program` with `NO_NESTED_THREADS`."""
    return program(function, compiler_options=NO_NESTED_THREADS)


def quickly_compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """A `program` with `QUICKLY`."""
    return program(function, compiler_options=QUICKLY)


def forget_programs() -> int:
    """Forgets all compiled forms of programs that have more than `MOST_KEPT`; how many programs
    that were.

    Called before a run: a process that minimizes thousands of functions, each made afresh, keeps
    the memory of some dozens.
    """
    full = [
        inner
        for inner in _PROGRAMS
        if hasattr(inner, "_cache_size") and inner._cache_size() > MOST_KEPT
    ]
    for inner in full:
        inner.clear_cache()
    return len(full)


def pad_rows(
    rows: Shaped[np.ndarray, "n *width"], least: int = 1
) -> Shaped[np.ndarray, "n_padded *width"]:
    """The rows and copies of the last one, up to the next power of two: batches of similar size
    share a compiled program."""
    size = max(least, 1 << (len(rows) - 1).bit_length())
    return rows.take(np.minimum(np.arange(size), len(rows) - 1), axis=0)


def map_in_batches(function: Callable[[PyTree], PyTree], rows: PyTree, most: int) -> PyTree:
    """`jax.vmap` of the function over the leading axis, at most that many rows side by side.
    Traceable.

    `jax.lax.map` compiles the function a second time for a last batch that is smaller. Here all
    batches have the same size, and copies of the last row fill up the last one: fewer of them than
    there are batches.
    """
    n = len(jax.tree.leaves(rows)[0])
    n_batches = -(-n // most)
    if n_batches <= 1:
        return jax.vmap(function)(rows)
    size = -(-n // n_batches)
    filled = np.minimum(np.arange(n_batches * size), n - 1).reshape(n_batches, size)
    results = jax.lax.map(jax.vmap(function), jax.tree.map(lambda leaf: leaf[filled], rows))
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:n], results)


CACHE_VARIABLE = "BEZIERFLOW_CACHE"
"""The environment variable with another folder for compiled programs; "off" for none."""

MOST_BYTES, CLEAN_SECONDS = 2**28, 60.0
"""Beyond so many bytes the oldest programs leave the folder, which is looked at so often."""

LEAST_SECONDS = 0.02
"""Programs that were compiled faster are not worth a file."""


class _Cache:
    """Blocks in which JAX keeps compiled programs in this library's folder: how many there are, in
    all threads, when the folder was last cleaned, and JAX's own settings meanwhile."""

    lock, blocks, cleaned = threading.Lock(), 0, -np.inf
    before: ClassVar[dict[str, Any]] = {}


@contextmanager
def kept_programs() -> Iterator[None]:
    """A block whose compiled programs are kept in the user's cache folder, where the next process
    finds them; JAX's own settings are the user's again after it."""
    with _Cache.lock:
        _Cache.blocks += 1
        # Whoever has a cache of their own, or wants none, keeps it that way.
        own = getattr(jax.config, "jax_compilation_cache_dir", None)
        wanted = own is None and getattr(jax.config, "jax_enable_compilation_cache", False)
        folder = _cache_folder() if wanted and _Cache.blocks == 1 else None
        if folder is not None:
            if time.monotonic() - _Cache.cleaned > CLEAN_SECONDS:
                _Cache.cleaned = time.monotonic()
                _remove_oldest(folder)
            options = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
            _Cache.before = {name: getattr(jax.config, name) for name in options}
            _configure(zip(options, (str(folder), LEAST_SECONDS), strict=True))
    try:
        yield
    finally:
        with _Cache.lock:
            _Cache.blocks -= 1
            if _Cache.blocks == 0 and _Cache.before:
                _configure(_Cache.before.items())
                _Cache.before = {}


def _configure(options: Iterable[tuple[str, Any]]) -> None:
    for name, value in options:
        jax.config.update(name, value)
    reset_cache()  # JAX opens a folder once, and stays with it


def _cache_folder() -> Path | None:
    """Where programs are kept; None where that is switched off, or where the folder is not
    writable, or writable by others.

    JAX runs what it finds there, so it must belong to this user alone. A program is made for one
    kind of processor, and homes are shared among machines: each kind has a folder of its own.
    """
    chosen = os.environ.get(CACHE_VARIABLE, "")
    if chosen.lower() in ("off", "0"):
        return None
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        # of x86 and of Arm
        named = ("model name", "flags", "Features", "CPU implementer", "CPU part")
        processor = sorted({line for line in lines if line.startswith(named)})
    except OSError:
        processor = [platform.node(), platform.processor()]
    kind = sha256("\n".join([platform.machine(), *processor]).encode()).hexdigest()[:12]
    homes = {"win32": "~/AppData/Local", "darwin": "~/Library/Caches"}
    home = os.environ.get("XDG_CACHE_HOME") or homes.get(sys.platform, "~/.cache")
    place = Path(chosen) if chosen else Path(home) / "bezierflow"
    with suppress(OSError, RuntimeError):  # the latter where a user has no home
        folder = place.expanduser() / f"programs-{kind}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
        private = os.name == "nt" or (state.st_uid == os.getuid() and not state.st_mode & 0o022)
        return folder if private and os.access(folder, os.W_OK) else None
    return None


def _remove_oldest(folder: Path) -> None:
    """Removes the oldest half of the files where they are larger than `MOST_BYTES` in all."""
    with suppress(OSError):  # another process may clean up at the same time
        files = [(entry.stat(), entry.path) for entry in os.scandir(folder) if entry.is_file()]
        size = sum(state.st_size for state, _ in files)
        if size <= MOST_BYTES:
            return
        for state, path in sorted(files, key=lambda file: file[0].st_mtime):
            if size <= MOST_BYTES // 2:
                return
            os.unlink(path)
            size -= state.st_size
