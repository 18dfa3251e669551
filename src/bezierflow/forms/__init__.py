"""Functions in the forms that people have: JAX, NumPy, plain Python, torch; each becomes a function
that JAX can call."""

from .bridge import Bridge, bridges, raise_failures
from .differences import Differences
from .host import HostFunction, Rows, TorchFunction
from .pymoo_problem import from_pymoo, is_pymoo
from .raveled import Raveled, as_vector
from .reading import Domain, Form, domain_around, read_function

__all__ = [
    "Bridge",
    "Differences",
    "Domain",
    "Form",
    "HostFunction",
    "Raveled",
    "Rows",
    "TorchFunction",
    "as_vector",
    "bridges",
    "domain_around",
    "from_pymoo",
    "is_pymoo",
    "raise_failures",
    "read_function",
]
