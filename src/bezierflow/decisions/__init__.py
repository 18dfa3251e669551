"""Questions to a finished surface: which one do I pick, and what does it cost me?"""

from .asking import Region, keep, zoom
from .choice import Choice, Confidence, Relaxation
from .polishing import polish
from .questions import best, best_ratio, compromise, knee, nearest, robust
from .tradeoffs import Location, Ranges, Rates, locate, locate_front, ranges, rate, rates

__all__ = [
    "Choice",
    "Confidence",
    "Location",
    "Ranges",
    "Rates",
    "Region",
    "Relaxation",
    "best",
    "best_ratio",
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
