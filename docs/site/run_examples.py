"""Runs the Python examples of every page while the site is built, and shows what they print and
write below them.

An example that fails ends the build. What a page printed and wrote is kept in `_build/examples` and
used again while neither the page's code nor the data nor the package changed. Interactive pages
that an example writes become part of the site, and so do notebooks (`notebooks.PAGES`), with their
results.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from notebooks import PAGES, notebook, path_of
from page_runner import DATA, Done, run_page
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

BLOCK = re.compile(r"^```python\n.*?^```$", re.MULTILINE | re.DOTALL)

PLACE = "<!-- window: {} -->"
"""Where a page has this line, the interactive page of that name is shown; else below the block that
writes it."""

LONGEST = 40
"""Of what an example prints so many lines are shown."""

WRITTEN = "_written"
"""The folder of the site that has the interactive pages, one folder for each page with examples,
and the notebooks."""


def run(page: Path, kept: Path, version: str) -> tuple[list[Done], Path]:
    """What each block of a page did, and the folder with the interactive pages that they wrote and
    the page's notebook."""
    code = [cell["source"] for cell in notebook(page)["cells"] if cell["cell_type"] == "code"]
    digest = hashlib.sha256(json.dumps([code, version]).encode()).hexdigest()[:24]
    known = kept / f"{path_of(page).stem}-{digest}"
    if not (known / "done.json").exists():
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = run_page(page, Path(folder))
            except RuntimeError as error:
                raise ExtensionError(f"an example of {page.name} fails:\n{error}") from error
            known.mkdir(parents=True, exist_ok=True)
            for written in done.folder.glob("*.html"):
                shutil.copy(written, known)
        (known / path_of(page).name).write_text(done.notebook, "utf-8")
        (known / "done.json").write_text(json.dumps(done.blocks))
    return [Done(*each) for each in json.loads((known / "done.json").read_text())], known


def run_all(app: Sphinx) -> None:
    """Runs the examples of all pages, a few at a time."""
    import bezierflow

    app.examples = {}
    root = Path(app.srcdir)
    if not app.config.run_examples:
        return
    package = sorted(Path(bezierflow.__file__).parent.rglob("*.*"))  # the page's scripts included
    sources = [*(path for path in package if path.suffix != ".pyc"), *sorted(DATA.rglob("*.*"))]
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
    each, elsewhere = iter(blocks), {}

    def with_output(block: re.Match) -> str:
        done = next(each, Done("", []))
        lines = done.printed.rstrip().splitlines()
        shown = [block.group(0)]
        if lines:
            lines = lines if len(lines) <= LONGEST else [*lines[:LONGEST], "..."]
            shown += ["", "```{code-block} text", ":class: printed", "", *lines, "```"]
        for written in [file for file in done.written if file.endswith(".html")]:
            if (place := PLACE.format(written)) in source[0]:
                elsewhere[place] = _window(name, written)
            else:
                shown.append(_window(name, written))
        return "\n".join(shown)

    source[0] = BLOCK.sub(with_output, source[0])
    for place, window in elsewhere.items():
        source[0] = source[0].replace(place, window)
    if blocks and name in PAGES:
        file = path_of(Path(app.srcdir) / f"{name}.md").name
        address = _address(name, f"notebooks/{file}")
        source[0] += f'\n<p><a href="{address}" download>This page as a notebook</a></p>\n'


def _address(name: str, file: str) -> str:
    """Of a file that examples wrote, as seen from a page."""
    return "../" * name.count("/") + f"{WRITTEN}/{file}"


def _window(name: str, written: str) -> str:
    """An interactive page within the page where there is room, and a link to it."""
    address = _address(name, f"{name}/{written}")
    return (
        f'\n<div class="explorer"><iframe src="{address}" title="{written}"></iframe>'
        f'<p><a href="{address}" target="_blank">Open {written} in a window of its own</a></p>'
        "</div>\n"
    )


def copy_written(app: Sphinx, error: Exception | None) -> None:
    """Copies the interactive pages and the notebooks into the site."""
    for name, (_, folder) in app.examples.items() if error is None else ():
        files = [(page, name) for page in folder.glob("*.html")]
        if name in PAGES:
            files += [(made, "notebooks") for made in folder.glob("*.ipynb")]
        for file, part in files:
            target = Path(app.outdir) / WRITTEN / part / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the extension."""
    app.add_config_value("run_examples", True, "env", bool)
    app.connect("builder-inited", run_all)
    app.connect("source-read", show)
    app.connect("build-finished", copy_written)
    return {"parallel_read_safe": False}
