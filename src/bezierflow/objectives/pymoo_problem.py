"""A pymoo problem as a `Problem`: its objectives on the host, its bounds and its constraints."""

import sys
from typing import Any

import numpy as np

from ..problems import Problem
from .host import Objectives


def is_pymoo(problem: object) -> bool:
    """Whether this is a problem of pymoo's; pymoo is not imported for the question."""
    module = sys.modules.get("pymoo.core.problem")
    return module is not None and isinstance(problem, module.Problem)


class PymooRows:
    """The rows F, G and H of a pymoo problem at batches of points; the last batch is kept, since
    each kind is asked for alone."""

    def __init__(self, problem: Any):
        self.problem, self.last = problem, (b"", {})

    def __call__(self, kind: str, x: np.ndarray) -> np.ndarray:
        """One kind of rows at n points."""
        key = np.ascontiguousarray(x).tobytes()
        if key != self.last[0]:
            self.last = (
                key,
                self.problem.evaluate(np.asarray(x, dtype=float), return_as_dictionary=True),
            )
        return np.asarray(self.last[1][kind], dtype=float)


def from_pymoo(problem: Any) -> Problem:
    """A pymoo problem with its bounds, G(x) <= 0 and H(x) = 0, which `bf.minimize` takes;
    derivatives are finite differences.

    Raises:
        ValueError: For variables that are not real numbers.
    """
    from scipy.optimize import NonlinearConstraint

    kinds = getattr(problem, "vars", None)
    if kinds and any(type(kind).__name__ != "Real" for kind in kinds.values()):
        raise ValueError(
            f"the variables of {type(problem).__name__} must be real numbers, got {kinds}"
        )
    rows = PymooRows(problem)
    of = {kind: Objectives(lambda x, kind=kind: rows(kind, x), vectorized=True) for kind in "FGH"}
    n_inequalities, n_equalities = int(problem.n_ieq_constr), int(problem.n_eq_constr)
    constraints = (
        [NonlinearConstraint(of["G"], -np.inf, np.zeros(n_inequalities))] if n_inequalities else []
    )
    constraints += (
        [NonlinearConstraint(of["H"], np.zeros(n_equalities), np.zeros(n_equalities))]
        if n_equalities
        else []
    )
    bounds = (
        None
        if problem.xl is None or problem.xu is None
        else (np.array(problem.xl, float), np.array(problem.xu, float))
    )
    return Problem(
        of["F"],
        int(problem.n_obj),
        int(problem.n_var),
        bounds=bounds,
        constraints=constraints or None,
    )
