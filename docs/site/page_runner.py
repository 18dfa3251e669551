"""Runs the Python examples of a page as a reader would: as its notebook, from top to bottom, with a
copy of docs/data.

    python docs/site/page_runner.py docs/examples/brake.md         # prints what they print, and keeps the pictures they make
    python docs/site/page_runner.py --all docs/examples/brake.md   # with the parts that take minutes, and keeps their results

There are three kinds of blocks. One that opens with ```python runs in the tests and while the site
is built. With a line `<!-- slow -->` before it, it takes seconds: the tests leave it out, with the
blocks that use its names (tests/test_docs.py), unless `make slow` runs them. One that opens with
```py takes minutes, or needs a tool that is not installed: it runs here with `--all` alone, and what
it leaves in `data/` is kept in docs/data, where the blocks after it find it.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from notebooks import as_text, notebook

DATA = Path(__file__).parent.parent / "data"


class Done(NamedTuple):
    """What a block did."""

    printed: str
    written: list[str]
    """Names of the files that it wrote."""


class Run(NamedTuple):
    """What a page did."""

    blocks: list[Done]
    notebook: str
    """The page as a notebook's text, with all results."""

    folder: Path
    """With the files that it wrote."""


def run_page(page: Path, folder: Path, everything: bool = False) -> Run:
    """Runs a page as its notebook, in a folder beside a copy of docs/data.

    Args:
        page: its file.
        folder: an empty one.
        everything: also the blocks that take minutes.

    Raises:
        RuntimeError: with the end of what a failing block said.
    """
    place, written = folder / "notebooks", []
    place.mkdir()
    shutil.copytree(DATA, folder / "data")
    content = nbformat.reads(as_text(notebook(page, everything)), as_version=4)

    def note_files(cell: dict, cell_index: int, execute_reply: dict) -> None:
        if cell["cell_type"] == "code":
            known = {name for names in written for name in names}
            files = {path.name for path in place.iterdir() if path.is_file()}
            written.append(sorted(files - known))

    client = NotebookClient(
        content,
        timeout=None,
        record_timing=False,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(place)}},
        on_cell_executed=note_files,
    )
    client.log.setLevel("WARNING")
    try:
        client.execute(env={**os.environ, "PYTHONWARNINGS": "ignore"})
    except CellExecutionError as error:
        raise RuntimeError(str(error)[-3000:]) from error
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    printed = [
        "".join(out["text"] for out in cell["outputs"] if out.get("name") == "stdout")
        for cell in cells
    ]
    blocks = [Done(*each) for each in zip(printed, written, strict=True)]
    return Run(blocks, nbformat.writes(content), place)


def main(arguments: list[str]) -> None:
    """Runs pages, prints what their blocks print, and keeps their pictures and, with --all, their
    results."""
    everything = "--all" in arguments
    for name in [argument for argument in arguments if argument != "--all"]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            run = run_page(page, Path(folder), everything)
            for block in run.blocks:
                print(block.printed, *block.written, sep="\n")
            for picture in run.folder.glob("*.png"):
                (page.parent / "images").mkdir(exist_ok=True)
                shutil.copy(picture, page.parent / "images")
            if everything:
                shutil.copytree(Path(folder) / "data", DATA, dirs_exist_ok=True)


if __name__ == "__main__":
    main(sys.argv[1:])
