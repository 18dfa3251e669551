"""Every annotation of the package is checked while the tests run: types, dtypes, and shapes from one argument to the next.

jaxtyping's import hook puts beartype around each function and dataclass. `JAXTYPING_DISABLE=1` in the environment turns it off.

Programs are compiled quickly rather than well, as tests run most of them once. `XLA_FLAGS=` in the environment, empty or with
flags of one's own, turns that off.
"""

import os
from importlib.metadata import version

import jaxtyping
import pytest

CHECKED = ("bezierflow",)

# As for every type checker, an int will do where a float is annotated.
CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"

jaxtyping.install_import_hook(CHECKED, CHECKER)

# Without LLVM's optimizations and without XLA's newer code generator for fusions, compiling takes half of the processor time.
# XLA reads the variable before the first program is compiled, workers and other processes inherit it. A version that does not
# know one of these flags would end the process, so they are given to versions that were tried.
QUICK_COMPILATION = (
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_use_fusion_emitters=false",
)
if version("jaxlib").startswith("0.10."):
    os.environ.setdefault("XLA_FLAGS", " ".join(QUICK_COMPILATION))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Gives each worker one thread for linear algebra: there is a worker for each core.

    Threads of OpenBLAS beside them wait for each other in busy loops, which takes a third of the processor time of tests that
    factor matrices. Workers inherit the variable, and OpenBLAS reads it when NumPy is imported.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def unchecked():
    """For tests of misuse: annotations are not checked, so that a wrong argument meets the package's own message."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--slow` runs the tests that take half a minute as well."""
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips what is marked as slow, unless asked for."""
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="slow: pytest --slow runs it"))
