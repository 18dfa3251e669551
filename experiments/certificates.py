"""Errors that are proved and errors that are sampled: certificates of quadratics and of other convex
objectives, and dents that no sample sees."""

import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow.bezier import project
from bezierflow.precision import double_precision
from bezierflow.problems import by_name
from bezierflow.simplex import grid

from .trial_files import TrialFile

PROBLEMS = (
    *("scaled-med", "quadratic-2-3", "quadratic-2-5", "quadratic-3-3", "quadratic-3-5"),
    *("quadratic-4-4", "quadratic-4-5"),
)
DEPTH, WIDTH, N_DENTS = 0.05, 0.02, 20
CORNERS = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0.5, 3**0.5 / 2, 0, 0]])
STEPS = {2: 400, 3: 60, 4: 16}
"""Of the grid, faces included, at which true distances are taken."""


def exponentials(x: jax.Array) -> jax.Array:
    """Three quadratics, each with an exponential."""
    directions = np.array([[0.1, -0.3, 0.4], [0.5, 0.2, -0.1], [-0.2, 0.6, 0.3]])
    return jnp.sum((x - CORNERS[:, :3]) ** 2, axis=1) + jnp.exp(directions @ x)


def logistic(x: jax.Array) -> jax.Array:
    """Two regularized logistic regressions on 40 random rows each."""
    rows = np.random.default_rng(0).normal(size=(40, 3))
    signs = np.sign(rows @ np.array([[1.0, -1.0, 0.5], [-1.0, 1.0, 1.0]]).T).T
    return jnp.mean(jax.nn.softplus(-signs * (rows @ x)), axis=1) + 0.1 * jnp.sum(x**2)


def softmax(x: jax.Array) -> jax.Array:
    """Two regularized softmax regressions with three classes, on 40 random numbers each."""
    rng = np.random.default_rng(0)
    numbers, classes = rng.normal(size=40), rng.integers(0, 3, (2, 40))
    scores = jax.nn.log_softmax(numbers[:, None] * x, axis=1)
    losses = [-jnp.mean(scores[np.arange(40), each]) for each in classes]
    return jnp.stack(losses) + 0.1 * jnp.sum(x**2)


OTHERS = {"exponentials": exponentials, "logistic": logistic, "softmax": softmax}
"""Convex objectives that are no quadratics, of three variables."""

N_CASES = len(PROBLEMS) + len(OTHERS) + 1
"""How often `run_certificates` reports."""


def run_certificates(
    folder: Path, command: str = "", on_case: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """The certificate of the normal flow's surface, of degree 3 and at the tolerance, beside its true
    distance from the set, both ways, and the processor time that it took."""
    values = ["degree", "bound", "sampled", "true", "estimate", "seconds"]
    file = TrialFile(folder / "certificates.csv", ["problem", "asked"], values, {}, command)
    for name in (*PROBLEMS, *OTHERS):
        for asked in ("3", "auto"):
            file.once(
                lambda name=name, asked=asked: [_certificate(name, asked)],
                problem=name,
                asked=asked,
            )
        on_case(name)
    return file


def _certificate(name: str, asked: str) -> dict[str, float]:
    flow = bf.NormalFlow() if asked == "auto" else bf.NormalFlow(degree=int(asked))
    problem = OTHERS.get(name) or by_name(name)
    solution = bf.minimize(problem, np.linspace(0.1, 0.3, getattr(problem, "n_variables", 3)), flow)
    start = time.process_time()
    certificate = solution.certify()
    seconds, M = time.process_time() - start, solution.n_objectives
    t = np.concatenate([grid(M, STEPS[M]), np.random.default_rng(0).dirichlet(np.ones(M), 4000)])
    x = np.asarray(solution.pareto_set(t))
    points = _minimizers(problem, t, x)
    distances = [project(solution.pareto_set, points)[1]]
    if name in PROBLEMS:
        distances.append(by_name(name).distance(x))
    return {
        "degree": solution.degree,
        "bound": certificate.bound,
        "sampled": certificate.sampled,
        "true": max(float(np.max(found)) for found in distances),
        "estimate": float(solution.error.max),
        "seconds": seconds,
    }


def _minimizers(objectives: Callable, w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Of weighted sums, by Newton's method from points of the surface: Pareto points."""
    with double_precision():
        slopes, curvatures = jax.jacfwd(objectives), jax.jacfwd(jax.jacfwd(objectives))
        many = jax.jit(jax.vmap(lambda x: (slopes(x), curvatures(x))))
        for _ in range(10):
            g, H = (np.asarray(part) for part in many(x))
            rho, H = np.einsum("nm,nmi->ni", w, g), np.einsum("nm,nmij->nij", w, H)
            x = x - np.linalg.solve(H, rho[..., None])[..., 0]
    return x


def run_dents(folder: Path, command: str = "") -> TrialFile:
    """A plane triangle of side 1 with a bump of depth 0.05 and width 0.02 at random places: what the
    run says, and what is true."""
    settings = {"depth": DEPTH, "width": WIDTH}
    file = TrialFile(
        folder / "dents.csv", ["place"], ["reason", "estimate", "miss"], settings, command
    )
    places = np.random.default_rng(0).dirichlet(np.ones(3), N_DENTS) @ CORNERS[:, :2]
    for number, place in enumerate(places):
        file.once(lambda place=place: [_dent(place)], place=number)
    return file


def _dent(place: np.ndarray) -> dict[str, object]:
    def objectives(x):
        bump = DEPTH * jnp.exp(-jnp.sum((x[:2] - place) ** 2) / WIDTH**2)
        y = x - bump * jnp.array([0.0, 0.0, 1.0, 0.0])
        return jnp.stack([jnp.sum((y - corner) ** 2) for corner in CORNERS])

    solution = bf.minimize(objectives, np.full(4, 0.2))
    t = np.concatenate([np.eye(3), np.random.default_rng(1).dirichlet(np.ones(3), 20_000)])
    x = np.asarray(solution.pareto_set(t))
    bump = DEPTH * np.exp(-np.sum((x[:, :2] - place) ** 2, axis=1) / WIDTH**2)
    return {
        "reason": solution.result.reason.name,
        "estimate": float(solution.error.max),
        "miss": float(np.abs(x[:, 2] - bump).max()),  # heights above the triangle
    }
