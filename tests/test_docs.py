"""Every Python example in the README and in docs/ runs as it stands, file by file, top to
bottom."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "examples").glob("*.md")),
]
PAGES = [page for page in WRITTEN if BLOCK.search(page.read_text("utf-8"))]


@pytest.mark.slow(
    "atlas.md",
    "expensive.md",
    "explorer.md",
    "extending.md",
    "interop.md",
    "large.md",
    "networks.md",
    "stability.md",
    "examples/brake.md",
    "examples/portfolio.md",
    "examples/location.md",
    "examples/regression.md",
    "examples/networks.md",
    "examples/controller.md",
)
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "page", PAGES[1:], ids=lambda page: page.relative_to(ROOT).as_posix().removeprefix("docs/")
)
def test_examples_run(page, tmp_path, monkeypatch):
    """In this process, with nothing of it in reach: importing everything once more would take
    longer than most pages."""
    shutil.copytree(ROOT / "docs" / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    code = "\n".join(BLOCK.findall(page.read_text("utf-8")))
    exec(compile(code, page.name, "exec"), {"__name__": "__main__"})


def test_the_first_page_runs_in_a_process_of_its_own(tmp_path):
    code = "\n".join(BLOCK.findall(PAGES[0].read_text("utf-8")))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_links_lead_somewhere():
    for page in [ROOT / "CONTRIBUTING.md", *WRITTEN]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_what_examples_read_is_kept_and_nothing_else():
    read = {
        name
        for page in PAGES
        for name in re.findall(
            r'"data/([\w.]+)"', "\n".join(BLOCK.findall(page.read_text("utf-8")))
        )
    }
    assert read == {path.name for path in (ROOT / "docs" / "data").iterdir()}
