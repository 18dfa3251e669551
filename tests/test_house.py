"""The house: imports run one way, functions stay small, and importing the package stays light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "bezierflow"

FLOORS = [
    {"arguments", "compilation", "evaluations", "interrupts", "jax_constants", "threads"},
    {"names", "precision", "quiet"},
    {"simplex"},
    {"bezier", "scalarizations", "methods", "problems", "metrics"},
    {"runs"},
    {"gaussian", "objectives"},
    {"answer", "kinks"},
    {"flows"},
    {"normal", "atlas"},
    {"solve"},
    {"points", "surrogate"},
    {"stability", "decisions", "plots", "explorer", "interop"},
    {"demo", "study"},
    {"cli"},
]
"""From the ground up: a room may import rooms on lower floors only, never a neighbor or one
above."""


MOST_LINES, MOST_BRANCHES = 80, 12
"""Of one function, the docstring not counted; branches as radon counts them, inner functions
included."""

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def room(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else parts[0].removesuffix(".py")


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_modules(tree: ast.AST, path: Path) -> Iterator[list[str]]:
    """What the tree imports of this package, wherever it does so: ["flow"] for `..flow`, ["flow",
    "lift"] for `..flow.lift`."""
    package = ["bezierflow", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            target = [*base, *(node.module.split(".") if node.module else [])]
            if target[:1] == ["bezierflow"]:
                yield from (
                    [target[1:]] if len(target) > 1 else [[alias.name] for alias in node.names]
                )
        elif isinstance(node, ast.Import):
            yield from (
                alias.name.split(".")[1:]
                for alias in node.names
                if alias.name.startswith("bezierflow.")
            )


def floor(name: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if name in rooms)


def branches(function: ast.AST) -> int:
    """The cyclomatic complexity: 1, and 1 for each place where the function can go two ways."""
    total = 1
    for node in ast.walk(function):
        if isinstance(
            node,
            ast.If
            | ast.IfExp
            | ast.For
            | ast.While
            | ast.ExceptHandler
            | ast.Assert
            | ast.match_case,
        ):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
    return total


def lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    docstring = first.end_lineno - first.lineno + 1 if documented else 0
    return function.end_lineno - function.lineno + 1 - docstring


FILES = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]
FUNCTIONS = [
    (path, node) for path in FILES for node in ast.walk(parsed(path)) if isinstance(node, FUNCTION)
]


def test_every_room_has_its_floor():
    assert {room(path) for path in FILES} <= set().union(*FLOORS)


def test_imports_run_one_way():
    """The command line is free to import the package itself."""
    imports = {
        (path, module[0]) for path in FILES for module in imported_modules(parsed(path), path)
    }
    wrong = [
        (path, other)
        for path, other in imports
        if other != room(path) and floor(other) >= floor(room(path))
    ]
    assert [(str(path), other) for path, other in wrong if room(path) != "cli"] == []


def test_rooms_import_public_names_of_other_rooms():
    """`from ..bezier import fit`, never `from ..bezier.fitting import fit`: what a room offers is
    in its `__init__`."""
    imports = [(path, module) for path in FILES for module in imported_modules(parsed(path), path)]
    assert [
        (str(path), module)
        for path, module in imports
        if module[0] != room(path) and len(module) > 1
    ] == []


def test_no_import_is_hidden_in_a_function():
    """An import of this package inside a function hides a cycle. The command line waits with JAX,
    which is another reason."""
    hidden = [(path, node.name) for path, node in FUNCTIONS if any(imported_modules(node, path))]
    assert [(str(path), name) for path, name in hidden if room(path) != "cli"] == []


def test_functions_are_short_and_simple():
    measured = [(str(path), node.name, lines(node), branches(node)) for path, node in FUNCTIONS]
    assert [found for found in measured if found[2] > MOST_LINES or found[3] > MOST_BRANCHES] == []


def imported_neighbors(path: Path) -> set[str]:
    """The files of the same room that a file imports, wherever in the file it does so."""
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= (
                {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
            )
    return found


@pytest.mark.parametrize("name", sorted({room(path) for path in FILES if path.parent != SOURCE}))
def test_files_of_a_room_do_not_import_each_other_in_a_circle(name):
    files = [path for path in (SOURCE / name).glob("*.py") if path.stem != "__init__"]
    # raises a CycleError
    TopologicalSorter({path.stem: imported_neighbors(path) for path in files}).prepare()


def test_importing_the_package_imports_nothing_heavy():
    heavy = [
        "matplotlib",
        "sklearn",
        "torch",
        "pandas",
        "scipy.stats",
        "optimistix",
        "moocore",
        "pymoo",
    ]
    code = f"import sys, bezierflow; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"


def test_help_does_not_wait_for_jax():
    code = (
        "import sys, bezierflow.cli; bezierflow.cli.main(['--help'], standalone_mode=False);"
        " print('jax' in sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
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
