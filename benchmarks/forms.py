"""One problem with bounds in five forms: the four bar truss RE21 of Tanabe and Ishibuchi (2020),
doi:10.1016/j.asoc.2020.106078.

    python -m benchmarks.forms

For each form: the largest distance of its answers, at 200 aspirations along the front of the JAX
form, from that front, in units of the objectives' ranges; the evaluations; the seconds. torch and
pymoo are left out where they are not installed.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import bezierflow as bf

LENGTH, FORCE, YOUNG, STRESS = 200.0, 10.0, 2e5, 10.0
ROOT = np.sqrt(2.0)
LOWER = FORCE / STRESS * np.array([1.0, ROOT, ROOT, 1.0])
UPPER = FORCE / STRESS * np.full(4, 3.0)


def volume(x: Any, sqrt: Callable) -> Any:
    return LENGTH * (2 * x[0] + ROOT * x[1] + sqrt(x[2]) + x[3])


def displacement(x: Any) -> Any:
    return FORCE * LENGTH / YOUNG * (2 / x[0] + 2 * ROOT / x[1] - 2 * ROOT / x[2] + 2 / x[3])


def in_jax(x: Any) -> Any:
    return jnp.array([volume(x, jnp.sqrt), displacement(x)])


def in_numpy(x: Any) -> np.ndarray:
    x = np.asarray(x)
    return np.array([volume(x, np.sqrt), displacement(x)])


def jac(x: np.ndarray) -> np.ndarray:
    first = LENGTH * np.array([2, ROOT, 0.5 / np.sqrt(x[2]), 1])
    return np.array(
        [first, FORCE * LENGTH / YOUNG * np.array([-2, -2 * ROOT, 2 * ROOT, -2]) / x**2]
    )


def forms() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    yield "JAX", in_jax, {}
    yield "NumPy with jac", bf.Objectives(in_numpy, jac=jac), {}
    yield "NumPy", in_numpy, {}
    yield "list of functions", [lambda x: in_numpy(x)[0], lambda x: in_numpy(x)[1]], {}
    try:
        import torch

        yield "torch", lambda x: torch.stack([volume(x, torch.sqrt), displacement(x)]), {}
    except ImportError:
        print("torch is not installed")
    try:
        from pymoo.core.problem import ElementwiseProblem
    except ImportError:
        print("pymoo is not installed")
        return

    class Truss(ElementwiseProblem):
        def __init__(self) -> None:
            super().__init__(n_var=4, n_obj=2, xl=LOWER, xu=UPPER)

        def _evaluate(self, x: np.ndarray, out: dict, *args: Any, **kwargs: Any) -> None:
            out["F"] = in_numpy(x)

    yield "pymoo", Truss(), {"bounds": None}


def main() -> None:
    reference = None
    for name, objectives, arguments in forms():
        began = time.perf_counter()
        solution = bf.minimize(objectives, **({"bounds": (LOWER, UPPER)} | arguments))
        seconds = time.perf_counter() - began
        reference = solution.spread(200).F if reference is None else reference
        answers = np.stack([in_numpy(solution.at(aspiration=wish)) for wish in reference])
        miss = (np.abs(answers - reference) / np.ptp(reference, axis=0)).max()
        spent = solution.stats.evaluations
        counts = f"{spent.objective} values, {spent.jacobian} Jacobians, {spent.hessian} Hessians"
        print(
            f"{name:18} {solution.result.reason.value:10} {miss:8.1e}  {counts}, {seconds:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
