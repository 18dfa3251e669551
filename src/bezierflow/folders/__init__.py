"""What is done with the folder of a run or a study: go on with it, look at it, evaluate for it."""

from .resume import resume
from .study import Study

__all__ = ["Study", "resume"]
