"""Single-objective methods A, one short file each; `bezierflow.lift` makes any of them
multi-objective."""

from ..evaluations import Evaluations
from .from_optax import Optax
from .from_optimistix import Optimistix
from .from_scipy import SciPy
from .gradient_descent import GradientDescent
from .method import AbstractGradientMethod, AbstractMethod
from .newton import Newton
from .proximal_gradient import ProximalGradient

__all__ = [
    "AbstractGradientMethod",
    "AbstractMethod",
    "Evaluations",
    "GradientDescent",
    "Newton",
    "Optax",
    "Optimistix",
    "ProximalGradient",
    "SciPy",
]
