"""Notebooks made of pages: the same text and the same examples, so that there is one source.

    python docs/site/notebooks.py      # writes docs/notebooks (make notebooks); a test compares them with the pages

They are kept without results. `make docs` runs each page as its notebook, shows on the page what it
printed, and puts the notebook with all its results beside the page.
"""

import json
import os
import re
from pathlib import Path

DOCS = Path(__file__).parent.parent
FOLDER = DOCS / "notebooks"

PAGES = (
    *("guide", "own_problems", "decisions", "explorer", "expensive", "studies", "interop"),
    *("coming_from", "large", "networks", "extending"),
    *("examples/brake", "examples/portfolio", "examples/location", "examples/regression"),
    *("examples/reactor", "examples/controller", "examples/networks"),
)
"""Pages that people work along. The others explain, or report."""

FENCE = re.compile(r"^(?:<!-- slow -->\n)?```(python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")
LAYOUT = re.compile(r"^</?div\b.*>\n?", re.MULTILINE)
PAGE_WRITTEN = re.compile(r'^\w*(?: = )?bf\.explore\(.*"([\w.]+\.html)"', re.MULTILINE)


def path_of(page: Path) -> Path:
    """Where the notebook of a page is kept."""
    name = page.relative_to(DOCS).with_suffix(".ipynb").as_posix()
    return FOLDER / name.replace("examples/", "example_")


def notebook(page: Path, everything: bool = False) -> dict:
    """A page as a notebook without results, in version 4.5 of the format.

    Args:
        page: its file in docs/.
        everything: blocks that take minutes run too; else they are text.
    """
    text = page.read_text("utf-8")
    cells, end = [], 0
    for block in FENCE.finditer(text):
        if block[1] == "python" or everything:
            cells += [("markdown", text[end : block.start()]), ("code", block[2])]
            end = block.end()
    cells.append(("markdown", text[end:]))
    made = [_cell(kind, source, page.parent) for kind, source in cells]
    made = [cell for cell in made if cell["source"]]
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, source: str, folder: Path) -> dict:
    """A cell, with paths as seen from the notebooks' folder."""
    if kind == "markdown":
        plain = LAYOUT.sub("", source)
        inside = LINK.sub(lambda link: os.path.relpath(folder / link[0], FOLDER), plain)
        return {"cell_type": "markdown", "metadata": {}, "source": _lines(inside)}
    source = source.replace('"data/', '"../data/')
    if written := PAGE_WRITTEN.findall(source):
        source += f'\nfrom IPython.display import IFrame\nIFrame("{written[-1]}", "100%", 760)\n'
    empty = {"execution_count": None, "metadata": {}, "outputs": []}
    return {"cell_type": "code", **empty, "source": _lines(source)}


def _lines(text: str) -> list[str]:
    return text.strip("\n").splitlines(keepends=True)


def as_text(content: dict) -> str:
    """The text of a notebook's file."""
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def expected() -> dict[Path, str]:
    """What docs/notebooks should hold."""
    pages = [DOCS / f"{name}.md" for name in PAGES]
    return {path_of(page): as_text(notebook(page)) for page in pages}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for former in set(FOLDER.glob("*.ipynb")) - set(expected()):
        former.unlink()
    for path, text in expected().items():
        path.write_text(text, "utf-8")
