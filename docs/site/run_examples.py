"""Runs the Python examples of every page while the site is built, and shows what they print below them.

The blocks of a page run one after the other in one process, as a reader would type them. An example that fails ends the build.
What a page printed is kept in `_build/examples` and used again while neither the page's code nor the package changed.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONGEST = 40
"""Of what an example prints so many lines are shown."""

RUNNER = """
import contextlib, io, json, sys
names, printed = {"__name__": "__main__"}, []
for number, block in enumerate(json.load(open(sys.argv[1]))):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, f"block {number + 1}", "exec"), names)
    printed.append(out.getvalue())
json.dump(printed, open(sys.argv[2], "w"))
"""


def run(page: Path, kept: Path, package: str) -> list[str]:
    """What each block of a page prints."""
    blocks = BLOCK.findall(page.read_text("utf-8"))
    key = hashlib.sha256(json.dumps([blocks, package]).encode()).hexdigest()[:24]
    known = kept / f"{page.stem}-{key}.json"
    if not known.exists():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "blocks.json").write_text(json.dumps(blocks))
            command = [sys.executable, "-W", "ignore", "-c", RUNNER, "blocks.json", "printed.json"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "Agg"})
            if done.returncode:
                raise ExtensionError(f"an example of {page.name} fails:\n{done.stderr[-3000:]}")
            known.parent.mkdir(parents=True, exist_ok=True)
            known.write_text((Path(folder) / "printed.json").read_text())
    return json.loads(known.read_text())


def run_all(app: Sphinx) -> None:
    """Runs the examples of all pages, a few at a time."""
    import bezierflow

    app.printed = {}
    root = Path(app.srcdir)
    if not app.config.run_examples:
        return
    source = Path(bezierflow.__file__).parent
    package = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(source.rglob("*.py")))).hexdigest()
    pages = [
        page for page in sorted(root.glob("**/*.md")) if "_build" not in page.parts and BLOCK.search(page.read_text("utf-8"))
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = pool.map(lambda page: run(page, Path(app.outdir).parent / "examples", package), pages)
        app.printed = {
            page.relative_to(root).with_suffix("").as_posix(): found for page, found in zip(pages, outputs, strict=True)
        }


def show(app: Sphinx, name: str, source: list[str]) -> None:
    """Puts what a block printed below it."""
    printed = iter(app.printed.get(name, []))

    def with_output(block: re.Match) -> str:
        lines = next(printed, "").rstrip().splitlines()
        if not lines:
            return block.group(0)
        shown = lines if len(lines) <= LONGEST else [*lines[:LONGEST], "..."]
        return "\n".join([block.group(0), "", "```{code-block} text", ":class: printed", "", *shown, "```"])

    source[0] = BLOCK.sub(with_output, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the extension."""
    app.add_config_value("run_examples", True, "env", bool)
    app.connect("builder-inited", run_all)
    app.connect("source-read", show)
    return {"parallel_read_safe": False}
