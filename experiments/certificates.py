"""Errors that are proved and errors that are sampled: certificates of quadratics, and dents that no
sample sees."""

from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow.bezier import project
from bezierflow.problems import AbstractSolvedProblem, by_name

from .trial_files import TrialFile

PROBLEMS = (
    *("scaled-med", "quadratic-2-3", "quadratic-2-5", "quadratic-3-3", "quadratic-3-5"),
    *("quadratic-4-4", "quadratic-4-5"),
)
DEPTH, WIDTH, N_DENTS = 0.05, 0.02, 20
CORNERS = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0.5, 3**0.5 / 2, 0, 0]])
N_CASES = len(PROBLEMS) + 1
"""How often `run_certificates` reports."""


def run_certificates(
    folder: Path, command: str = "", on_case: Callable[[str], None] = lambda label: None
) -> TrialFile:
    """The certificate of the normal flow's surface, of degree 3 and at the tolerance, beside its true
    distance from the set, both ways."""
    values = ["degree", "bound", "sampled", "true", "estimate"]
    file = TrialFile(folder / "certificates.csv", ["problem", "asked"], values, {}, command)
    for name in PROBLEMS:
        for asked in ("3", "auto"):
            file.once(
                lambda name=name, asked=asked: [_certificate(by_name(name), asked)],
                problem=name,
                asked=asked,
            )
        on_case(name)
    return file


def _certificate(problem: AbstractSolvedProblem, asked: str) -> dict[str, float]:
    flow = bf.NormalFlow() if asked == "auto" else bf.NormalFlow(degree=int(asked))
    solution = bf.minimize(problem, np.linspace(0.1, 0.3, problem.n_variables), flow)
    certificate, M = solution.certify(), problem.n_objectives
    t = np.concatenate([np.eye(M), np.random.default_rng(0).dirichlet(np.ones(M), 4000)])
    to_set = problem.distance(np.asarray(solution.pareto_set(t)))
    to_surface = project(solution.pareto_set, np.asarray(problem.pareto_point(t[:1000])))[1]
    return {
        "degree": solution.degree,
        "bound": certificate.bound,
        "sampled": certificate.sampled,
        "true": float(max(np.max(to_set), np.max(to_surface))),
        "estimate": float(solution.error.max),
    }


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
