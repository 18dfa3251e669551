"""Where objectives are evaluated: in this process, in others, on a cluster. Nothing here imports
JAX: workers start fast."""

from .executors import AnyExecutor, as_engine
from .function import FlatFunction
from .outcome import Outcome, evaluate_chunk
from .pool import Pool
from .ray_executor import RayExecutor

__all__ = [
    "AnyExecutor",
    "FlatFunction",
    "Outcome",
    "Pool",
    "RayExecutor",
    "as_engine",
    "evaluate_chunk",
]
