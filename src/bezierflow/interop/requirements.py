"""The libraries that interop needs, or an ImportError that names the line to install them."""

from importlib import import_module
from types import ModuleType

EXTRA = "pip install 'bezierflow[interop]'"


def require(module: str, library: str, line: str = EXTRA) -> ModuleType:
    """A module of another library, or an ImportError with the line that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"this part of bezierflow.interop needs {library}: {line}") from error
