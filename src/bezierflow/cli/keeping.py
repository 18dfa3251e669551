"""The command that began a run, in the folder of the run."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

COMMAND = "command.json"


def read_command(path: Path) -> dict[str, object]:
    """The parameters of the command, as `keep_command` wrote them."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def keep_command(folder: str, parameters: Mapping[str, object]) -> None:
    """Writes down the parameters of a command, with a full path to its problem, unless the folder
    has some already."""
    from bezierflow.bezier import write_atomically

    path, separator, function = str(parameters["problem"]).rpartition(":")
    kept = {
        **parameters,
        "problem": f"{os.path.abspath(path)}:{function}" if separator else function,
    }
    target = Path(folder) / COMMAND
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, json.dumps(kept, indent=1).encode())
