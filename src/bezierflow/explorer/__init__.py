"""The explorer: a solution as one interactive page that needs no server, no network and no
installation."""

from .explore import explore

__all__ = ["explore"]
