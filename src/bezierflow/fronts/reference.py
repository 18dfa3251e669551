"""`reference`: the certified front of a benchmark problem, from a file of the package; `available`:
the names of those problems."""

import gzip
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from jaxtyping import PyTree

from ..answer import Solution
from ..arguments import shown
from ..solve import load

DATA, PACKED = Path(__file__).parent / "data", ".bez.gz"
"""The files and their ending: packed, since a front takes a tenth of its `.bez` then."""


def available() -> tuple[str, ...]:
    """The problems that have a certified front."""
    return tuple(sorted(path.name.removesuffix(PACKED) for path in DATA.glob("*" + PACKED)))


def reference(name: str, objectives: Callable[..., PyTree] | None = None) -> Solution:
    """The certified front of a benchmark problem, such as "RE21", "ZDT3" or "port5".

    A `Solution` whose run converged: `front(t)`, `spread(n)` and `metrics.hypervolume` answer from
    the file, `error` says how far they may be off. `docs/fronts.md` lists the problems.

    Args:
        name: the problem, in upper or lower case.
        objectives: the problem's code. With three and more objectives the file has a coarse
            surface; answers are solved for where the code is given and bounds are all that limits
            designs.
    """
    known = {one.lower(): one for one in available()}
    if not isinstance(name, str) or name.strip().lower() not in known:
        raise ValueError(
            f"name must be one of {', '.join(available())}, the problems that have a certified"
            f" front, got {shown(name)}"
        )
    packed = DATA / (known[name.strip().lower()] + PACKED)
    with TemporaryDirectory() as folder:
        unpacked = Path(folder) / packed.stem
        unpacked.write_bytes(gzip.decompress(packed.read_bytes()))
        found = load(unpacked, objectives)
    assert isinstance(found, Solution)
    return found
