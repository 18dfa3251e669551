"""`minimize`: which flows answer a problem, in which order, and what is said about the end."""

from .call import Call, Checkpoint, with_limits
from .causes import jump_beside
from .checkpoint import kept_arguments
from .checkup import check
from .choice import offer_search
from .kinked import settle_on_atlas
from .loading import load
from .minimize import minimize, train
from .mixed import minimize_mixed
from .probing import Probed, only_point, probe

__all__ = [
    "Call",
    "Checkpoint",
    "Probed",
    "check",
    "jump_beside",
    "kept_arguments",
    "load",
    "minimize",
    "minimize_mixed",
    "offer_search",
    "only_point",
    "probe",
    "settle_on_atlas",
    "train",
    "with_limits",
]
