"""Every annotation of the package is checked while the tests run: types, dtypes, and shapes from
one argument to the next.

jaxtyping's import hook puts beartype around each function and dataclass. The first call of a
function in each test is checked, more in each file, but fewer and fewer (see `type_checks`), with
`--slow` all of them. `JAXTYPING_DISABLE=1` in the environment turns it off.

Programs are compiled quickly rather than well, as tests run most of them once, and are kept in
`build`. `XLA_FLAGS=` in the environment, empty or with flags of one's own, turns the first off,
`JAX_COMPILATION_CACHE_DIR=` the second.
"""

import gc
import os
import platform
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

# What stands in the environment is read when NumPy and JAX are imported, also by workers and by
# other processes, which inherit it.

# There is a worker for each core. More threads of OpenBLAS would wait for each other in busy loops,
# which takes most of the processor time of tests that factor matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Without LLVM's optimizations and without XLA's newer code generator for fusions, compiling takes
# half of the processor time. A version that does not know one of these flags would end the process,
# so they are given to versions that were tried.
QUICK_COMPILATION = (
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_use_fusion_emitters=false",
)
if version("jaxlib").startswith("0.10."):
    os.environ.setdefault("XLA_FLAGS", " ".join(QUICK_COMPILATION))

# JAX keeps compiled programs for other workers and the next run. A checkout may be shared among
# machines, and programs are made for one kind of processor.
PROGRAMS = Path(__file__).parents[1] / "build" / f"programs-{platform.node()}"
MOST_PROGRAMS = 40_000
"""Beyond so many files, about 400 MB, all of them go: most belong to code that has changed."""
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(PROGRAMS))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

# Tests leave nothing in a user's folders, and find nothing there.
os.environ["BEZIERFLOW_CACHE"] = "off"

import jaxtyping  # noqa: E402

import type_checks  # noqa: E402

type_checks.install("bezierflow")


@pytest.fixture
def unchecked():
    """For tests of misuse: annotations are not checked, so that a wrong argument meets the
    package's own message."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--slow` runs the tests marked as slow as well."""
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_configure(config: pytest.Config) -> None:
    """With `--slow` annotations are checked in every call. A full folder of programs is emptied."""
    config.addinivalue_line(
        "markers",
        "slow(*ids): takes four seconds or more, and quicker tests go through the same code; with"
        " ids, only the parameter sets of these ids",
    )
    if config.getoption("--slow"):
        type_checks.check_every_call()
    is_worker = hasattr(config, "workerinput")
    if not is_worker and PROGRAMS.is_dir() and len(os.listdir(PROGRAMS)) > MOST_PROGRAMS:
        shutil.rmtree(PROGRAMS)


def pytest_collection_finish() -> None:
    """The garbage collector leaves out what lives until the end, and looks less often at the rest:
    its time is halved."""
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


@pytest.fixture(scope="module", autouse=True)
def _calls_are_counted_from_the_start_of_a_file() -> None:
    type_checks.begin_file()


def pytest_runtest_setup() -> None:
    """The first calls in a test are checked."""
    type_checks.begin_test()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips tests marked as slow, unless asked for."""
    for item in [] if config.getoption("--slow") else items:
        ids = [marker.args for marker in item.iter_markers("slow")]
        if any(not one or item.callspec.id in one for one in ids):
            item.add_marker(pytest.mark.skip(reason="slow: pytest --slow runs it"))
