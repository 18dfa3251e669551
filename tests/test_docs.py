"""Every Python example in the README and in docs/ runs as it stands, file by file, top to bottom."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if BLOCK.search(page.read_text("utf-8"))]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_examples_run(page, tmp_path, monkeypatch):
    """In this process, with nothing of it in reach: importing everything once more would take longer than most pages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    code = "\n".join(BLOCK.findall(page.read_text("utf-8")))
    exec(compile(code, page.name, "exec"), {"__name__": "__main__"})


def test_the_first_page_runs_in_a_process_of_its_own(tmp_path):
    code = "\n".join(BLOCK.findall(PAGES[0].read_text("utf-8")))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "Agg"}
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
