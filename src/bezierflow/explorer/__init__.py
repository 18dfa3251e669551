"""The explorer: a solution as one interactive page that needs no server, no network and no
installation; and the page of a study so far."""

from .explore import explore
from .page import write_study

__all__ = ["explore", "write_study"]
