"""Runs the Python examples of every page while the site is built, and shows what they print and
write below them.

An example that fails ends the build. What a page printed and wrote is kept in `_build/examples` and
used again while neither the page's code nor the data nor the package changed. Interactive pages
that an example writes become part of the site.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from page_runner import BLOCK, DATA, Done, run_blocks
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

LONGEST = 40
"""Of what an example prints so many lines are shown."""

WRITTEN = "_written"
"""The folder of the site that has the interactive pages, one folder for each page with examples."""


def run(page: Path, kept: Path, version: str) -> tuple[list[Done], Path]:
    """What each block of a page did, and the folder with the interactive pages that they wrote."""
    blocks = BLOCK.findall(page.read_text("utf-8"))
    known = (
        kept
        / f"{page.stem}-{hashlib.sha256(json.dumps([blocks, version]).encode()).hexdigest()[:24]}"
    )
    if not (known / "done.json").exists():
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = run_blocks(blocks, Path(folder))
            except RuntimeError as error:
                raise ExtensionError(f"an example of {page.name} fails:\n{error}") from error
            known.mkdir(parents=True, exist_ok=True)
            for written in Path(folder).glob("*.html"):
                shutil.copy(written, known)
        (known / "done.json").write_text(json.dumps(done))
    return [Done(*each) for each in json.loads((known / "done.json").read_text())], known


def run_all(app: Sphinx) -> None:
    """Runs the examples of all pages, a few at a time."""
    import bezierflow

    app.examples = {}
    root = Path(app.srcdir)
    if not app.config.run_examples:
        return
    sources = [*sorted(Path(bezierflow.__file__).parent.rglob("*.py")), *sorted(DATA.iterdir())]
    version = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    pages = [
        page
        for page in sorted(root.glob("**/*.md"))
        if "_build" not in page.parts and BLOCK.search(page.read_text("utf-8"))
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(
            lambda page: run(page, Path(app.outdir).parent / "examples", version), pages
        )
        app.examples = {
            page.relative_to(root).with_suffix("").as_posix(): each
            for page, each in zip(pages, found, strict=True)
        }


def show(app: Sphinx, name: str, source: list[str]) -> None:
    """Puts below a block what it printed, and the interactive pages that it wrote."""
    blocks, _ = app.examples.get(name, ([], None))
    each = iter(blocks)

    def with_output(block: re.Match) -> str:
        done = next(each, Done("", []))
        lines = done.printed.rstrip().splitlines()
        shown = [block.group(0)]
        if lines:
            lines = lines if len(lines) <= LONGEST else [*lines[:LONGEST], "..."]
            shown += ["", "```{code-block} text", ":class: printed", "", *lines, "```"]
        shown += [_window(name, written) for written in done.written if written.endswith(".html")]
        return "\n".join(shown)

    source[0] = BLOCK.sub(with_output, source[0])


def _window(name: str, written: str) -> str:
    """An interactive page within the page where there is room, and a link to it."""
    address = "../" * name.count("/") + f"{WRITTEN}/{name}/{written}"
    return (
        f'\n<div class="explorer"><iframe src="{address}" title="{written}"'
        f' loading="lazy"></iframe><p><a href="{address}" target="_blank">Open {written} in a'
        " window of its own</a></p></div>\n"
    )


def copy_written(app: Sphinx, error: Exception | None) -> None:
    """Copies the interactive pages into the site."""
    for name, (_, folder) in app.examples.items() if error is None else ():
        for page in folder.glob("*.html"):
            target = Path(app.outdir) / WRITTEN / name / page.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(page, target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the extension."""
    app.add_config_value("run_examples", True, "env", bool)
    app.connect("builder-inited", run_all)
    app.connect("source-read", show)
    app.connect("build-finished", copy_written)
    return {"parallel_read_safe": False}
