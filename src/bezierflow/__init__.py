"""Multi-objective optimization whose answer is a surface: a Bézier simplex that lies on the Pareto
set.

Names are loaded when they are first used, so that `bezierflow --help` does not wait for JAX.
"""

import gc as _gc
import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import decisions, metrics, plots, problems, simplex, stability
    from .answer import BezierAtlas, Reason, Solution
    from .atlas import AtlasFlow
    from .bezier import BezierSimplex, fit, fit_points, fit_skeleton
    from .explorer import explore
    from .flows import Flow, LeastSquares, PullBack, lift
    from .fronts import reference
    from .methods import GradientDescent, Newton, Optax, Optimistix, ProximalGradient, SciPy
    from .names import Names
    from .normal import NormalFlow, WeightsFlow
    from .objectives import Choice, Integer, Objectives, Steps, constraint
    from .points import from_points
    from .scalarizations import SmoothTchebycheff, WeightedPower, WeightedSum
    from .simplex import Fixed, Leverage, LowDiscrepancy, Stratified, Uniform
    from .solve import Checkpoint, check, load, minimize, train
    from .study import Study, resume
    from .surrogate import Surrogate

_ROOMS = (
    *("answer", "atlas", "bezier", "decisions", "explorer", "flows", "gaussian", "interop"),
    *("fronts", "kinks", "methods", "metrics", "names", "normal", "objectives", "plots", "points"),
    *("problems", "runs", "scalarizations", "simplex", "solve", "stability", "study", "surrogate"),
)

_HOMES = {
    "answer": ("BezierAtlas", "Reason", "Solution"),
    "atlas": ("AtlasFlow",),
    "bezier": ("BezierSimplex", "fit", "fit_points", "fit_skeleton"),
    "explorer": ("explore",),
    "flows": ("Flow", "LeastSquares", "PullBack", "lift"),
    "fronts": ("reference",),
    "methods": ("GradientDescent", "Newton", "Optax", "Optimistix", "ProximalGradient", "SciPy"),
    "names": ("Names",),
    "normal": ("NormalFlow", "WeightsFlow"),
    "objectives": ("Choice", "Integer", "Objectives", "Steps", "constraint"),
    "points": ("from_points",),
    "scalarizations": ("SmoothTchebycheff", "WeightedPower", "WeightedSum"),
    "simplex": ("Fixed", "Leverage", "LowDiscrepancy", "Stratified", "Uniform"),
    "solve": ("Checkpoint", "check", "load", "minimize", "train"),
    "study": ("Study", "resume"),
    "surrogate": ("Surrogate",),
}

__all__ = [
    "AtlasFlow",
    "BezierAtlas",
    "BezierSimplex",
    "Checkpoint",
    "Choice",
    "Fixed",
    "Flow",
    "GradientDescent",
    "Integer",
    "LeastSquares",
    "Leverage",
    "LowDiscrepancy",
    "Names",
    "Newton",
    "NormalFlow",
    "Objectives",
    "Optax",
    "Optimistix",
    "ProximalGradient",
    "PullBack",
    "Reason",
    "SciPy",
    "SmoothTchebycheff",
    "Solution",
    "Steps",
    "Stratified",
    "Study",
    "Surrogate",
    "Uniform",
    "WeightedPower",
    "WeightedSum",
    "WeightsFlow",
    "check",
    "constraint",
    "decisions",
    "explore",
    "fit",
    "fit_points",
    "fit_skeleton",
    "from_points",
    "lift",
    "load",
    "metrics",
    "minimize",
    "plots",
    "problems",
    "reference",
    "resume",
    "simplex",
    "stability",
    "train",
]


def _room(name: str) -> _ModuleType:
    """A room of the package."""
    known = _sys.modules.get(f"{__name__}.{name}")
    if known is not None or not _gc.isenabled():
        return known or _import_module(f".{name}", __name__)
    # While modules are made there is no garbage, and looking for it takes an eighth of the time.
    _gc.disable()
    try:
        return _import_module(f".{name}", __name__)
    finally:
        _gc.enable()


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return _room(name)
    for room, names in _HOMES.items():
        if name in names:
            home = _room(room)
            if room == "solve":  # `minimize` may choose a `Surrogate`, which is in a room above
                home.offer_search(lambda: _room("surrogate").Surrogate())
            return getattr(home, name)
    if name == "__version__":
        from importlib.metadata import version

        return version("bezierflow")
    raise AttributeError(f"module 'bezierflow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
