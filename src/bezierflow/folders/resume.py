"""`resume`: a run goes on where it was, from its folder."""

import inspect
from os import PathLike
from pathlib import Path
from typing import Any

from ..flow import ARGUMENTS, JOURNAL, MISSING, Callback, Solution, minimize, read_arguments
from ..storage import read_journal


def resume(
    folder: str | PathLike[str],
    objectives: object = None,
    *,
    callback: Callback | None = None,
    progress: bool = False,
    every: float | None = None,
    **given: Any,
) -> Solution:
    """Goes on with a run from its checkpoint folder, to the result of a run that was never
    interrupted, bit for bit.

    Args:
        folder: what `minimize` was given as `checkpoint`.
        objectives: the same as then; built-in problems and functions of a file (which is run to
            load them) may be left out.
        callback: as in `minimize`.
        progress: likewise.
        every: likewise.
        **given: arguments of `minimize`: those that a folder cannot hold, such as functions, once
            more; `n_iterations`, `budget` and `max_degree` larger than they were.
    """
    path = Path(folder)
    _check_folder(path)
    unknown = given.keys() - inspect.signature(minimize).parameters.keys()
    if unknown:
        raise TypeError(f"resume takes arguments of minimize, not {', '.join(sorted(unknown))}")
    kept = read_arguments(path / ARGUMENTS)
    if objectives is not None:
        given["objectives"] = objectives
    arguments = {
        name: given[name] if name in given else kept.value(name) for name in kept.documents
    }
    missing = sorted(
        (name for name, value in arguments.items() if value is MISSING),
        key=lambda name: name != "objectives",
    )
    if missing:
        call = ", ".join(
            [repr(str(folder))]
            + [name if name == "objectives" else f"{name}=..." for name in missing]
        )
        words = "; ".join(
            f"{name} was {' '.join(kept.documents[name]['words'].split())}" for name in missing
        )
        raise ValueError(
            f"{path} cannot hold {', '.join(missing)} ({words}); give it again: bf.resume({call})"
        )
    return minimize(
        **arguments, callback=callback, progress=progress, checkpoint=folder, every=every
    )


def _check_folder(path: Path) -> None:
    """An error if a folder holds nothing that goes on by itself."""
    records = read_journal(path / JOURNAL)
    if not records:
        raise FileNotFoundError(
            f"{path} holds no run: it has no {JOURNAL}; it was to be the checkpoint of a call of"
            " minimize"
        )
    if records[0]["kind"] == "study" and not (path / ARGUMENTS).exists():
        raise ValueError(
            f"the study in {path} was begun by hand and calls no objectives: evaluate what"
            f" bf.Study({str(path)!r}).ask(4), or `bezierflow ask {path}`, gives, and tell the"
            f" values; its surface is bf.Study({str(path)!r}).solution"
        )
