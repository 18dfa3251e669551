"""Runs the Python examples of a page as a reader would type them: one after the other, in one
process, with a copy of docs/data.

    python docs/site/page_runner.py docs/examples/brake.md         # prints what they print, and keeps the pictures they make
    python docs/site/page_runner.py --all docs/examples/brake.md   # with the parts that take minutes, and keeps their results

There are three kinds of blocks. One that opens with ```python runs in the tests and while the site
is built. With a line `<!-- slow -->` before it, it takes seconds: the tests leave it out, with the
blocks that use its names (tests/test_docs.py), unless `make slow` runs them. One that opens with
```py takes minutes, or needs a tool that is not installed: it runs here with `--all` alone, and what
it leaves in `data/` is kept in docs/data, where the blocks after it find it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_BLOCK = re.compile(r"^```py(?:thon)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATA = Path(__file__).parent.parent / "data"

RUNNER = """
import contextlib, io, json, pathlib, sys
names, done, known = {"__name__": "__main__"}, [], set(pathlib.Path().glob("*"))
for number, block in enumerate(json.load(open(sys.argv[1]))):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, f"block {number + 1}", "exec"), names)
    new = {path for path in pathlib.Path().glob("*") if path.is_file()} - known
    known |= new
    done.append([out.getvalue(), sorted(path.name for path in new)])
json.dump(done, open(sys.argv[2], "w"))
"""


class Done(NamedTuple):
    """What a block did."""

    printed: str
    written: list[str]
    """Names of the files that it wrote."""


def run_blocks(blocks: list[str], folder: Path) -> list[Done]:
    """Runs blocks in a folder, which gets a copy of docs/data. Raises `RuntimeError` with the end
    of what a failing one said."""
    shutil.copytree(DATA, folder / "data", dirs_exist_ok=True)
    with tempfile.TemporaryDirectory() as aside:
        blocks_file, done_file = Path(aside) / "blocks.json", Path(aside) / "done.json"
        blocks_file.write_text(json.dumps(blocks))
        command = [sys.executable, "-W", "ignore", "-c", RUNNER, str(blocks_file), str(done_file)]
        ended = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "MPLBACKEND": "Agg"},
        )
        if ended.returncode:
            raise RuntimeError(ended.stderr[-3000:])
        return [Done(*done) for done in json.loads(done_file.read_text())]


def main(arguments: list[str]) -> None:
    """Runs pages, prints what their blocks print, and keeps their pictures and, with --all, their
    results."""
    everything = "--all" in arguments
    for name in [argument for argument in arguments if argument != "--all"]:
        page = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            for block in run_blocks(
                (ANY_BLOCK if everything else BLOCK).findall(page.read_text("utf-8")), Path(folder)
            ):
                print(block.printed, *block.written, sep="\n")
            for picture in Path(folder).glob("*.png"):
                (page.parent / "images").mkdir(exist_ok=True)
                shutil.copy(picture, page.parent / "images")
            if everything:
                shutil.copytree(Path(folder) / "data", DATA, dirs_exist_ok=True)


if __name__ == "__main__":
    main(sys.argv[1:])
