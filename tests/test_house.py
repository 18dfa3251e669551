"""The house: imports run one way, and importing the package stays light."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "bezierflow"

FLOORS = [
    {"compilation", "jax_constants"},
    {"precision"},
    {"simplex"},
    {"bezier", "scalarizations", "methods", "problems", "metrics"},
    {"normal"},
    {"flow"},
    {"stability", "decisions", "plots", "explorer", "interop"},
    {"demo"},
    {"cli"},
]
"""From the ground up: a room may import rooms on lower floors only, never a neighbor or one above."""


def room(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """The rooms of this package that a file imports, wherever in the file it does so."""
    package = ["bezierflow", *path.relative_to(SOURCE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            target = [*base, *(node.module or "").split(".")] if node.module else base
            if target[:1] == ["bezierflow"]:
                found |= {target[1]} if len(target) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("bezierflow.")}
    return found


def floor(name: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if name in rooms)


FILES = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


def test_every_room_has_its_floor():
    assert {room(path) for path in FILES} <= set().union(*FLOORS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_run_one_way(path):
    own = room(path)
    if own == "cli":  # the command line imports the package itself, inside its commands
        return
    for other in imported_rooms(path) - {own}:
        assert floor(other) < floor(own), f"{path.relative_to(SOURCE)} imports {other}"


def imported_neighbors(path: Path) -> set[str]:
    """The files of the same room that a file imports, wherever in the file it does so."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("name", ["simplex", "bezier", "problems", "metrics"])
def test_files_of_a_room_do_not_import_each_other_in_a_circle(name):
    files = [path for path in (SOURCE / name).glob("*.py") if path.stem != "__init__"]
    TopologicalSorter({path.stem: imported_neighbors(path) for path in files}).prepare()  # raises a CycleError


def test_importing_the_package_imports_nothing_heavy():
    heavy = ["matplotlib", "sklearn", "torch", "pandas", "scipy.stats", "optimistix", "moocore", "pymoo"]
    code = f"import sys, bezierflow; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_help_does_not_wait_for_jax():
    code = "import sys, bezierflow.cli; bezierflow.cli.main(['--help'], standalone_mode=False); print('jax' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "bezierflow solve scaled-med" in out
    assert out.strip().endswith("False")


def test_every_public_name_exists_and_has_a_docstring():
    import bezierflow as bf

    for name in bf.__all__:
        assert getattr(bf, name).__doc__, name
    assert bf.__version__
    assert set(bf.__all__) <= set(dir(bf))
    with pytest.raises(AttributeError, match="no attribute 'minimise'"):
        bf.minimise  # noqa: B018
