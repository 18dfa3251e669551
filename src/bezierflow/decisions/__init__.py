"""Questions to a finished surface: which one do I pick, and what does it cost me?"""

from .aspiration import nearest
from .best import best
from .choice import Certainty, Choice, Concession
from .compromise import compromise
from .keeping import keep, zoom
from .knee import knee
from .location import Location, locate, locate_front
from .polishing import polish
from .ranges import Ranges, ranges
from .rates import Rates, rate, rates
from .region import Region
from .robust import robust

__all__ = [
    "Certainty",
    "Choice",
    "Concession",
    "Location",
    "Ranges",
    "Rates",
    "Region",
    "best",
    "compromise",
    "keep",
    "knee",
    "locate",
    "locate_front",
    "nearest",
    "polish",
    "ranges",
    "rate",
    "rates",
    "robust",
    "zoom",
]
