"""Trouble with files that a run survives: said at once, whatever warnings are silenced."""

import warnings


class StorageWarning(UserWarning):
    """Something could not be written; the run goes on, and would be lost if the process ended
    now."""


def tell(message: str) -> None:
    """Shows a warning even where those of libraries are silenced."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", StorageWarning)
        warnings.warn(message, StorageWarning, stacklevel=3)
