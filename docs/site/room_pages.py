"""Writes a page of the reference for each room of the package: every public name, with its
signature and a link to its source."""

import importlib
import importlib.util
import inspect
import re
from pathlib import Path

from sphinx.application import Sphinx

ROOMS = (
    *(
        "flow",
        "bezier",
        "atlas",
        "methods",
        "scalarizations",
        "simplex",
        "problems",
        "decisions",
        "explorer",
        "plots",
        "metrics",
    ),
    *(
        "stability",
        "points",
        "forms",
        "feasible",
        "surrogate",
        "gaussian",
        "studies",
        "folders",
        "engines",
        "storage",
        "interop",
    ),
    *("normal", "evaluation", "kinks"),
)
"""In the order in which people meet them."""


def page(name: str) -> str:
    """The page of one room."""
    module = importlib.import_module(f"bezierflow.{name}")
    parts = [f"# {name}", inspect.getdoc(module) or ""]
    for public in getattr(module, "__all__", ()):
        found = getattr(module, public)
        ours = inspect.ismodule(found) or getattr(found, "__module__", "").startswith("bezierflow")
        # numbers, and names for others' types
        if not ours or not (callable(found) or inspect.ismodule(found)):
            parts.append(f"`{name}.{public}`")
            continue
        kind = (
            "autoclass"
            if inspect.isclass(found)
            else "autofunction"
            if callable(found)
            else "automodule"
        )
        target = found.__name__ if kind == "automodule" else f"bezierflow.{name}.{public}"
        options = ":members:\n" if kind in ("autoclass", "automodule") else ""
        at_home = getattr(found, "__module__", "").startswith(f"bezierflow.{name}")
        options += "" if at_home or kind == "automodule" else ":no-index:\n"
        parts.append(
            f"```{{eval-rst}}\n.. {kind}:: {target}\n"
            + "".join(f"   {line}\n" for line in options.splitlines())
            + "```"
        )
    return "\n\n".join(parts) + "\n"


def as_written(
    app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]
) -> None:
    """Docstrings hold mathematics and Markdown's code: |x|, x* and `code` mean what they mean
    there."""
    for number, line in enumerate(lines):
        parts = re.split(r"(`[^`]+`)", line)
        plain = [re.sub(r"([|*\\]|_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
        code = [f"`{part}`" for part in parts[1::2]]
        lines[number] = "".join(a + b for a, b in zip(plain, [*code, ""], strict=True))


def write_all(app: Sphinx) -> None:
    """Writes the pages of all rooms that there are, where they changed."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    rooms = [room for room in ROOMS if importlib.util.find_spec(f"bezierflow.{room}")]
    index = (
        "# Reference\n\nEvery public name, room by room.\n\n```{toctree}\n"
        + "\n".join(rooms)
        + "\n```\n"
    )
    for name, text in {"index": index, **{room: page(room) for room in rooms}}.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the extension."""
    app.connect("builder-inited", write_all)
    app.connect("autodoc-process-docstring", as_written, priority=400)
    return {"parallel_read_safe": True}
