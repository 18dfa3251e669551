"""Every Python example in the README and in docs/ runs as it stands, page by page, top to bottom.

A line `<!-- slow -->` before a block says that it takes more than about four seconds: it runs while
the site is built (`make docs`) and with `--slow`. Without, it is left out, and so is every block that
uses a name which a block left out was to bind. Nothing has to be said about those.
"""

import ast
import dis
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^(<!-- slow -->\n)?```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "examples").glob("*.md")),
]


class Block(NamedTuple):
    """An example."""

    code: str
    line: int
    """Of the page, before the code."""

    slow: bool


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(found[2], text.count("\n", 0, found.start(2)), found[1] is not None)
        for found in BLOCK.finditer(text)
    ]


def used_and_bound(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names of the page that a statement reads, also inside of functions, and those that it
    gives a value: by its compiled code, since what a comprehension binds is its own there."""

    def named(code: CodeType, operations: set[str]) -> set[str]:
        return {step.argval for step in dis.get_instructions(code) if step.opname in operations}

    def used(code: CodeType) -> set[str]:
        inside = (part for part in code.co_consts if isinstance(part, CodeType))
        return named(code, {"LOAD_NAME", "LOAD_GLOBAL"}).union(*map(used, inside))

    top = compile(ast.unparse(statement), "statement", "exec")
    return used(top), named(top, {"STORE_NAME"})


def quick(page_blocks: list[Block]) -> list[Block]:
    """The blocks that are not slow and need nothing of those that are."""
    kept, missing = [], set()
    for block in page_blocks:
        statements = [used_and_bound(statement) for statement in ast.parse(block.code).body]
        lost, given = block.slow, set()
        for used, bound in statements:
            lost |= bool(used & (missing - given))
            given |= bound
        missing = missing | given if lost else missing - given
        if not lost:
            kept.append(block)
    return kept


PAGES = [page for page in WRITTEN if blocks(page)]
COMING_FROM = ROOT / "docs" / "coming_from.md"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES[1:] if page != COMING_FROM],
    ids=lambda page: page.relative_to(ROOT).as_posix().removeprefix("docs/"),
)
def test_examples_run(page, tmp_path, monkeypatch, request):
    """In this process, with nothing of it in reach: importing everything once more would take
    longer than most pages."""
    shutil.copytree(ROOT / "docs" / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    chosen = blocks(page) if request.config.getoption("--slow") else quick(blocks(page))
    assert chosen, "a page has an example that is quick, if only its first lines"
    names = {"__name__": "__main__"}
    for block in chosen:
        # as many empty lines before it as in the page, so that an error names the page's line
        exec(compile("\n" * block.line + block.code, page.name, "exec"), names)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "peer", ["pymoo", "SciPy", "Optuna", pytest.param("BoTorch", marks=pytest.mark.slow)]
)
def test_both_columns_of_the_tables_run(peer, tmp_path, monkeypatch, request):
    """Where the peer is installed. What makes a surface takes seconds, and is left out."""
    pytest.importorskip(peer.lower())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    section = COMING_FROM.read_text("utf-8").split(f"\n## {peer}\n")[1].split("\n## ")[0]
    names, rows = {"__name__": "__main__"}, re.findall(r"^\| `(.+?)` \| `(.+?)` \|", section, re.M)
    for code in re.findall(r"^```py(?:thon)?\n(.*?)^```$", section, re.M | re.S):
        exec(compile(code, COMING_FROM.name, "exec"), names)
    assert len(rows) == section.count("\n| `") >= 6
    for cell in [cell for row in rows for cell in row]:
        if request.config.getoption("--slow") or not re.search("s.solution|bf.minimize", cell):
            eval(compile(cell, cell, "eval"), names)


def test_the_first_page_runs_in_a_process_of_its_own(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(block.code for block in blocks(PAGES[0]))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_blocks_that_need_a_slow_one_are_left_out():
    page = [
        Block("import numpy as np\nx = 1", 0, False),
        Block("y = np.zeros(3) + x", 0, True),
        Block("def f(a):\n    return a + y", 0, False),  # needs y, so f is missing as well
        Block("print(f(1))", 0, False),
        Block("z = [y for y in range(3)]", 0, False),  # another y
        Block("y = 2\nprint(x + y)", 0, False),  # from here on y has a value
        Block("print(y, z)", 0, False),
    ]
    assert quick(page) == [page[0], *page[4:]]


def test_links_lead_somewhere():
    pages = [ROOT / "CONTRIBUTING.md", *ROOT.glob("*/README.md"), *WRITTEN]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_notebooks_are_those_of_the_pages(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "site")
    import notebooks

    kept = {path: path.read_text("utf-8") for path in notebooks.FOLDER.glob("*.ipynb")}
    assert kept == notebooks.expected(), "a page has changed: run `make notebooks`"
    listed = re.findall(r"\((\w+\.ipynb)\)", (notebooks.FOLDER / "index.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in kept)
    for text in kept.values():
        for cell in json.loads(text)["cells"]:
            for target in re.findall(r"\]\(([^)#]+)[^)]*\)", "".join(cell["source"])):
                if cell["cell_type"] == "markdown" and "://" not in target:
                    assert (notebooks.FOLDER / target).exists(), target


def test_what_examples_read_is_kept_and_nothing_else():
    code = "\n".join(block.code for page in PAGES for block in blocks(page))
    read = set(re.findall(r'"data/([\w.]+)"', code))
    assert read == {path.name for path in (ROOT / "docs" / "data").iterdir() if path.is_file()}
