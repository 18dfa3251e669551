"""Other libraries' problems, results and models, in and out. Each file needs its library, and is
imported only when asked for.

`pip install 'bezierflow[interop]'` brings pandas, pymoo, scikit-learn and Optuna; pytorch-bsf is
installed by its own name.
"""

from importlib import import_module as _import_module
from types import ModuleType

_PARTS = ("optuna", "pymoo", "pytorch_bsf", "sklearn", "torch")


# PEP 562: a part, and its library with it, is imported when it is first asked for.
def __getattr__(name: str) -> ModuleType:
    if name in _PARTS:
        return _import_module(f".{name}", __name__)
    raise AttributeError(f"module 'bezierflow.interop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS})


def require(
    module: str, library: str, line: str = "pip install 'bezierflow[interop]'"
) -> ModuleType:
    """A module of another library, or an ImportError with the line that installs it."""
    try:
        return _import_module(module)
    except ImportError as error:
        raise ImportError(f"this part of bezierflow.interop needs {library}: {line}") from error
