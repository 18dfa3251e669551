"""What is released says one version everywhere, and holds what it needs and nothing else."""

import re
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def field(name, text):
    return re.search(rf"^{name}: *\"?([^\"\n]+)", text, re.MULTILINE)[1]


def test_the_version_is_the_same_everywhere():
    version, citation = PROJECT["version"], (ROOT / "CITATION.cff").read_text("utf-8")
    changes = re.findall(
        r"^## (\S+)(?: \((.+)\))?$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M
    )
    released = [change for change in changes if change[0] != "Unreleased"]
    assert field("version", citation) == version
    assert released[0] == (version, field("date-released", citation))
    numbers = [tuple(map(int, number.split("."))) for number, _ in released]
    assert numbers == sorted(set(numbers), reverse=True)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in released)


def test_the_citation_agrees_with_the_readme_and_the_license():
    citation, readme = ((ROOT / name).read_text("utf-8") for name in ("CITATION.cff", "README.md"))
    assert field("license", citation) == PROJECT["license"]
    paper = citation.split("preferred-citation:")[1].split("\nreferences:")[0]
    bibtex = re.search(r"^```bibtex\n(.*?)^```", readme, re.M | re.S)[1]
    plain = bibtex.replace("{", "").replace("}", "").replace(r"\'e", "é")
    for name in re.findall(r"family-names: (.+)", paper):
        assert name in bibtex
    assert field("  title", paper) in plain
    assert re.search(r"year: (\d+)", paper)[1] in bibtex
    assert re.search(r"arXiv:([\d.]+)", paper)[1] in bibtex
    assert PROJECT["version"] in bibtex


def test_addresses_of_the_project_are_complete():
    assert PROJECT["urls"]
    assert all(address.startswith("https://") for address in PROJECT["urls"].values())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The names in the wheel and in the sdist, and the wheel's metadata."""
    pytest.importorskip(
        "hatch_fancy_pypi_readme", reason="no hatchling: pip install 'bezierflow[test]'"
    )
    wheels = pytest.importorskip("hatchling.builders.wheel")
    sdists = pytest.importorskip("hatchling.builders.sdist")
    folder = tmp_path_factory.mktemp("dist")
    (wheel,) = wheels.WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    (sdist,) = sdists.SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    with tarfile.open(sdist) as archive:
        parts = [name.split("/", 1)[1] for name in archive.getnames()]
    return set(names), set(parts), metadata


def sources():
    """The files of the package that are under version control."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    command = ["git", "ls-files", "src/bezierflow", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split() if (ROOT / name).exists()}


def test_the_wheel_holds_the_package_and_nothing_else(built):
    wheel, _, _ = built
    own = {name for name in wheel if ".dist-info/" not in name}
    assert own == {name.removeprefix("src/") for name in sources()}
    kinds = {Path(name).suffix for name in own}
    assert kinds <= {".py", ".js", ".css", ".html", ".typed", ".gz", ""}, "no pictures"
    data = {name for name in own if name.endswith(".gz")}
    assert all(name.startswith("bezierflow/fronts/data/") for name in data), "fronts alone"
    assert "bezierflow/explorer/assets/page.html" in own
    assert "bezierflow/py.typed" in own


def test_the_sdist_holds_what_builds_the_wheel_and_nothing_else(built):
    _, sdist, _ = built
    beside = {"pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"}
    assert sdist == sources() | beside | {"PKG-INFO", ".gitignore"}


def test_the_description_has_no_links_into_the_repository(built):
    _, _, metadata = built
    assert f"Version: {PROJECT['version']}" in metadata
    text = metadata.split("\n\n", 1)[1]
    assert "# bezierflow" in text
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []
    assert "<img" not in text
    assert "![" not in text
