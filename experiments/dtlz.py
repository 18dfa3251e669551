"""DTLZ instances: problems that are not simplicial, to see what a Bézier simplex can represent of
them and what it cannot.

(Deb, Thiele, Laumanns and Zitzler, "Scalable multi-objective optimization test problems", CEC
2002.) Three objectives.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow.metrics import gd, igd
from bezierflow.precision import double_precision

from .all_at_once import all_at_once
from .methods import N_ITERATIONS, harmonic
from .trial_files import TrialFile

N_DISTANCE = 5
"""How many variables measure the distance from the Pareto set; two more say where on it."""

N_SCORED = 2000
N_FITTED = 1000
N_SAMPLES = 100
DEGREES = (3, 6)
COLUMNS = ("gd", "igd", "largest_gap")


class Instance(NamedTuple):
    """A DTLZ problem with three objectives, and its Pareto set."""

    objectives: Callable[[Any], Any]
    pareto_set: Callable[[np.ndarray], np.ndarray]
    """From points u of the unit square to points of the Pareto set, onto all of it."""
    about: str


def _sphere(x, angles):
    g = jnp.sum((x[2:] - 0.5) ** 2)
    a, b = angles(x, g)
    return (1 + g) * jnp.array([jnp.cos(a) * jnp.cos(b), jnp.cos(a) * jnp.sin(b), jnp.sin(a)])


def dtlz1(x: Any) -> Any:
    """A plane front, Σ f_m = 1/2, behind many local fronts."""
    x = jnp.clip(x, 0.0, 1.0)
    away = x[2:] - 0.5
    g = 100 * (N_DISTANCE + jnp.sum(away**2 - jnp.cos(20 * jnp.pi * away)))
    return 0.5 * (1 + g) * jnp.array([x[0] * x[1], x[0] * (1 - x[1]), 1 - x[0]])


def dtlz2(x: Any) -> Any:
    """An eighth of the unit sphere: a concave front."""
    return _sphere(jnp.clip(x, 0.0, 1.0), lambda x, g: (x[0] * jnp.pi / 2, x[1] * jnp.pi / 2))


def dtlz5(x: Any) -> Any:
    """A curve in place of a surface: three objectives with a front of one dimension."""
    return _sphere(
        jnp.clip(x, 0.0, 1.0),
        lambda x, g: (x[0] * jnp.pi / 2, jnp.pi / (4 * (1 + g)) * (1 + 2 * g * x[1])),
    )


def dtlz7(x: Any) -> Any:
    """Four separate patches."""
    x = jnp.clip(x, 0.0, 1.0)
    g = 1 + 9 * jnp.mean(x[2:])
    shape = 3 - jnp.sum(x[:2] / (1 + g) * (1 + jnp.sin(3 * jnp.pi * x[:2])))
    return jnp.array([x[0], x[1], (1 + g) * shape])


def _with_rest(value: float) -> Callable[[np.ndarray], np.ndarray]:
    """A square of places, all distance variables at their best."""
    return lambda u: np.column_stack([u, np.full((len(u), N_DISTANCE), value)])


def _dtlz7_set(u: np.ndarray) -> np.ndarray:
    """The non-dominated part of the square: in each place variable, the two intervals on which x(1
    + sin 3πx) sets records."""
    fine = np.linspace(0, 1, 20_001)
    height = fine * (1 + np.sin(3 * np.pi * fine))
    records = fine[height >= np.maximum.accumulate(height)]
    return _with_rest(0.0)(records[(u * (len(records) - 1)).astype(int)])


INSTANCES = {
    "DTLZ1": Instance(dtlz1, _with_rest(0.5), "plane front, many local fronts"),
    "DTLZ2": Instance(dtlz2, _with_rest(0.5), "concave front"),
    "DTLZ5": Instance(dtlz5, _with_rest(0.5), "front is a curve"),
    "DTLZ7": Instance(dtlz7, _dtlz7_set, "front in four pieces"),
}


def flow_front(instance: Instance, degree: int, seed: int) -> np.ndarray:
    """The front that Algorithm 2 reaches (N = 100, K = 1000, α = 1/k), from the middle of the box;
    x is clipped to the box."""
    flow = bf.lift(
        bf.GradientDescent(harmonic), degree, bf.Uniform(N_SAMPLES), n_iterations=N_ITERATIONS
    )
    x0 = np.full(2 + N_DISTANCE, 0.45)
    surface = bf.minimize(instance.objectives, x0, flow, seed=seed).pareto_set
    return _front(instance, np.asarray(surface(_places(seed))))


def fitted_set_front(instance: Instance, degree: int, seed: int) -> np.ndarray:
    """What a surface in decision space can represent: the front of the all-at-once fit to exact
    points of the Pareto set."""
    x = instance.pareto_set(np.random.default_rng(seed).uniform(size=(N_FITTED, 2)))
    surface = all_at_once(x, x[np.argmin(_front(instance, x), axis=0)], degree)
    return _front(instance, np.asarray(surface(_places(seed))))


def fitted_front(instance: Instance, degree: int, seed: int) -> np.ndarray:
    """What a surface in objective space can represent: the all-at-once fit to exact points of the
    front itself."""
    f = _front(
        instance, instance.pareto_set(np.random.default_rng(seed).uniform(size=(N_FITTED, 2)))
    )
    return np.asarray(all_at_once(f, f[np.argmin(f, axis=0)], degree)(_places(seed)))


def exact_front(instance: Instance, degree: int, seed: int) -> np.ndarray:
    """Another sample of the exact front: the scores that no method can beat."""
    return _front(
        instance, instance.pareto_set(np.random.default_rng(seed).uniform(size=(N_SCORED, 2)))
    )


FRONTS = {
    "flow": ("Algorithm 2", flow_front),
    "fit-set": ("fit to the exact set", fitted_set_front),
    "fit-front": ("fit to the exact front", fitted_front),
    "exact": ("exact front", exact_front),
}


def run_dtlz(
    folder: Path,
    seed: int = 0,
    command: str = "",
    on_case: Callable[[str], None] = lambda label: None,
) -> TrialFile:
    """GD, IGD and the largest gap (the worst distance from the exact front to the surface), all in
    objective space."""
    settings = {
        "variables": 2 + N_DISTANCE,
        "scored": N_SCORED,
        "fitted": N_FITTED,
        "seed": seed,
        "iterations": N_ITERATIONS,
    }
    file = TrialFile(
        folder / "dtlz.csv", ["problem", "method", "degree"], COLUMNS, settings, command
    )
    for name, instance in INSTANCES.items():
        truth = _front(
            instance,
            instance.pareto_set(np.random.default_rng(seed + 1).uniform(size=(N_SCORED, 2))),
        )
        for method, (title, solve) in FRONTS.items():
            for degree in DEGREES if method != "exact" else (0,):

                def case(
                    solve=solve, instance=instance, degree=degree, truth=truth
                ) -> list[dict[str, float]]:
                    front = solve(instance, degree, seed)
                    return [
                        {
                            "gd": gd(front, truth),
                            "igd": igd(front, truth),
                            "largest_gap": _largest_gap(front, truth),
                        }
                    ]

                file.once(case, problem=name, method=method, degree=degree)
                on_case(f"{name}, {title}, degree {degree}")
    return file


def _largest_gap(front: np.ndarray, truth: np.ndarray) -> float:
    return max(igd(front, point[None, :]) for point in truth)


def _places(seed: int) -> np.ndarray:
    return np.random.default_rng(seed + 2).dirichlet(np.ones(3), N_SCORED)


def _front(instance: Instance, x: np.ndarray) -> np.ndarray:
    with double_precision():
        return np.asarray(jax.vmap(instance.objectives)(x))
