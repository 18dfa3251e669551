"""The house: imports run one way, rooms and functions stay small, importing the package stays
light, and CONTRIBUTING.md has all of it on its map."""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "bezierflow"

FLOORS = [
    {"kinds"},
    {"arguments", "compilation", "evaluations", "interrupts", "jax_constants", "jaxprs"},
    {"names", "precision", "quiet"},
    {"simplex", "problem"},
    {"bezier", "scalarizations", "methods", "problems", "metrics"},
    {"runs"},
    {"gaussian", "objectives"},
    {"answer", "kinks"},
    {"flows"},
    {"normal", "atlas"},
    {"solve"},
    {"points", "surrogate", "fronts"},
    {"stability", "decisions", "plots", "explorer", "interop"},
    {"demo", "study"},
    {"cli"},
]
"""From the ground up: a room may import rooms on lower floors only, never a neighbor or one
above."""


MOST_LINES, MOST_BRANCHES = 80, 12
"""Of one function, the docstring not counted; branches as radon counts them, inner functions
included."""

MOST_FILES = 25
"""Of one room, its `__init__` not counted."""

MOST_FOR_A_PICTURE = 70
"""Files of the package that `bezierflow.plots` imports."""

MOST_PARAMETERS = 15
"""Of `minimize`, which is allowed more than other functions: what belongs to the form of a function
goes with the function, what belongs to a method with the method."""

STILL_PRIVATE = {"tests/atlas", "tests/decisions", "tests/explorer", "tests/normal", "tests/plots"}
"""Folders and files that still import modules which their room does not offer; what imports none any
more is taken off."""

LIBRARIES = {"optuna", "pymoo", "pytorch_bsf", "sklearn", "torch"}
"""Files of interop that people import by name: each needs its library."""

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def room(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else parts[0].removesuffix(".py")


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_modules(tree: ast.AST, path: Path) -> Iterator[list[str]]:
    """What the tree imports of this package, wherever it does so: ["flows"] for `..flows`, ["flows",
    "lift"] for `..flows.lift`."""
    inside = path.is_relative_to(SOURCE)
    package = ["bezierflow", *path.relative_to(SOURCE).parts[:-1]] if inside else []
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


ROOMS = {room(path) for path in FILES}


def test_every_room_has_its_floor():
    assert set().union(*FLOORS) == ROOMS


def test_the_map_has_every_room_once_from_the_ground_up():
    """A line of the map is a name, with a slash for a folder, and what it is for."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    drawn = re.search(r"^src/bezierflow/\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [re.fullmatch(r"  (\w+)(/?) +\S.*", line) for line in drawn[1].splitlines()]
    assert all(lines), "each line of the map is a room and what it is for"
    names = [line[1] for line in lines]
    assert sorted(names) == sorted(ROOMS)
    assert [line[1] for line in lines if line[2]] == [n for n in names if (SOURCE / n).is_dir()]
    floors = [floor(name) for name in names]
    assert floors == sorted(floors), "rooms stand in the order of FLOORS"


def test_the_reference_has_every_room_that_people_import():
    location = ROOT / "docs" / "site" / "room_pages.py"
    spec = importlib.util.spec_from_file_location("room_pages", location)
    room_pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(room_pages)
    folders = {name for name in ROOMS if (SOURCE / name).is_dir()} - {"cli"}
    assert folders <= set(room_pages.ROOMS) <= ROOMS


@pytest.mark.parametrize("folder", ["experiments", "benchmarks"])
def test_every_script_is_in_the_readme_of_its_folder(folder):
    text = (ROOT / folder / "README.md").read_text("utf-8")
    scripts = {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__"}
    scripts |= {path.parent.name for path in (ROOT / folder).glob("*/__main__.py")}
    assert [name for name in sorted(scripts) if not re.search(rf"\b{name}\b", text)] == []


def test_rooms_have_few_files():
    files = {name: len(list((SOURCE / name).glob("*.py"))) - 1 for name in ROOMS}
    assert {name for name, n in files.items() if n > MOST_FILES} == set()


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


def test_minimize_has_few_parameters():
    from bezierflow import minimize

    assert len(inspect.signature(minimize).parameters) <= MOST_PARAMETERS


def private_imports(path: Path) -> Iterator[str]:
    """Modules of the package's rooms that a file outside of it imports though the room does not
    offer them, and names with an underscore."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            targets = [(alias.name.split("."), "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            targets = [(node.module.split("."), alias.name) for alias in node.names]
        else:
            continue
        for (package, *inside), name in targets:
            library = inside[:1] == ["interop"] and (inside[1:] or [name])[0] in LIBRARIES
            if package != "bezierflow" or library:
                continue
            offered = room_offers(inside[0]) if inside else set()
            is_file = len(inside) == 1 and (SOURCE / inside[0] / f"{name}.py").exists()
            if len(inside) > 1 or name.startswith("_") or (is_file and name not in offered):
                yield ".".join([*inside, name])


def room_offers(name: str) -> set[str]:
    """The names in the `__all__` of a room."""
    init = SOURCE / name / "__init__.py"
    for node in parsed(init).body if init.exists() else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


@pytest.mark.parametrize("folder", ["tests", "experiments", "benchmarks", "docs"])
def test_nothing_outside_imports_private_modules(folder):
    """Tests, experiments and benchmarks use what rooms offer, so that files can be rearranged."""
    files = [path for path in (ROOT / folder).rglob("*.py") if "_build" not in path.parts]
    found = [(path.relative_to(ROOT), name) for path in files for name in private_imports(path)]
    assert [
        (str(path), name)
        for path, name in found
        if not {path.as_posix(), path.parent.as_posix()} & STILL_PRIVATE
    ] == []


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


def test_the_package_and_minimize_import_nothing_heavy():
    heavy = [
        "matplotlib",
        "sklearn",
        "torch",
        "pandas",
        "scipy.stats",
        "optax",
        "optimistix",
        "moocore",
        "pymoo",
    ]
    heavy += [f"bezierflow.{room}" for room in ("surrogate", "explorer", "plots")]
    code = (
        "import sys, bezierflow; bezierflow.minimize;"
        f" print([name for name in {heavy} if name in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"


def test_a_picture_reaches_few_files():
    """A picture needs the answer, no solver, method or run."""
    code = (
        "import sys, bezierflow.plots;"
        " print(*[name for name in sys.modules if name.startswith('bezierflow.')])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {name.split(".")[1] for name in out} & {"methods", "scalarizations", "runs"} == set()
    assert len(out) <= MOST_FOR_A_PICTURE


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
