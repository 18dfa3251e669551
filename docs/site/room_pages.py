"""Writes a page of the reference for each room of the package: every public name, with its
signature and a link to its source."""

import importlib
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOMS = (
    *("solve", "answer", "bezier", "flows", "methods", "scalarizations", "simplex", "problems"),
    *("decisions", "plots", "explorer", "metrics", "normal", "atlas", "surrogate", "gaussian"),
    *("objectives", "kinks", "points", "runs", "study", "stability", "interop"),
    *("fronts", "names", "evaluations"),
)
"""In the order in which people meet them."""


def page(name: str) -> str:
    """The page of one room."""
    module = importlib.import_module(f"bezierflow.{name}")
    parts = [f"# {name}", inspect.getdoc(module) or ""]
    own = [key for key, value in vars(module).items() if _is_own(value, name) and key[0] != "_"]
    for public in getattr(module, "__all__", own):
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
        options += "" if _is_own(found, name) or kind == "automodule" else ":no-index:\n"
        parts.append(
            f"```{{eval-rst}}\n.. {kind}:: {target}\n"
            + "".join(f"   {line}\n" for line in options.splitlines())
            + "```"
        )
    return "\n\n".join(parts) + "\n"


def _is_own(found: object, room: str) -> bool:
    return str(getattr(found, "__module__", "")).startswith(f"bezierflow.{room}")


def as_written(
    app: "Sphinx", what: str, name: str, found: object, options: object, lines: list[str]
) -> None:
    """Docstrings hold mathematics and Markdown's code: |x|, x* and `code` mean what they mean
    there."""
    for number, line in enumerate(lines):
        parts = re.split(r"(`[^`]+`)", line)
        plain = [re.sub(r"([|*\\]|_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
        code = [f"`{part}`" for part in parts[1::2]]
        lines[number] = "".join(a + b for a, b in zip(plain, [*code, ""], strict=True))


def write_all(app: "Sphinx") -> None:
    """Writes the pages of all rooms, where they changed."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    index = (
        "# Reference\n\nEvery public name, room by room.\n\n```{toctree}\n"
        + "\n".join(ROOMS)
        + "\n```\n"
    )
    for name, text in {"index": index, **{room: page(room) for room in ROOMS}}.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Registers the extension."""
    app.connect("builder-inited", write_all)
    app.connect("autodoc-process-docstring", as_written, priority=400)
    return {"parallel_read_safe": True}
