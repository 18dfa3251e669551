"""Every annotation of the package is checked while the tests run: types, dtypes, and shapes from one argument to the next.

jaxtyping's import hook puts beartype around each function and dataclass. `JAXTYPING_DISABLE=1` in the environment turns it off.
"""

import jaxtyping
import pytest

CHECKED = ("bezierflow",)

# As for every type checker, an int will do where a float is annotated.
CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"

jaxtyping.install_import_hook(CHECKED, CHECKER)


@pytest.fixture
def unchecked():
    """For tests of misuse: annotations are not checked, so that a wrong argument meets the package's own message."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)
