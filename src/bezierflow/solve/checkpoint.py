"""What ties a call of `minimize` to the folder that its run is kept in."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from ..answer import Reason, Solution
from ..bezier import BezierSimplex
from ..objectives import JaxEvaluator, Problem
from ..runs import Checkpoint, say_how_to_go_on

PROBES, REACH = 3, 0.1
"""Objectives are compared with those of the run at so many points: the start, and others up to so
far from it, relative to its size."""


def kept_arguments(arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments as a folder keeps them: a surface on the host stands for an x0 that has one."""
    x0 = arguments["x0"]
    if isinstance(x0, Solution):
        if x0.paused is not None:
            raise ValueError(
                "x0 is a solution whose run was stopped, which a checkpoint cannot hold; give"
                " x0=solution.pareto_set to start from its surface"
            )
        x0 = x0.pareto_set
    return {**arguments, "x0": x0.on_host() if isinstance(x0, BezierSimplex) else x0}


def check_objectives(checkpoint: Checkpoint, problem: Problem) -> None:
    """Compares the objectives with those of the run, at a few points that keep the bounds."""
    # a fixed seed: the points are the same in every process, whatever the seed of the run
    start = np.asarray(problem.start.control_points, dtype=float)[0]
    steps = np.random.default_rng(0).uniform(-REACH, REACH, (PROBES, len(start)))
    steps *= 1 + np.abs(start)
    x = start + np.concatenate([np.zeros((1, len(start))), steps])[:PROBES]
    if problem.feasible is not None:
        x = np.asarray(problem.feasible.clip(x))
    checkpoint.check(x, JaxEvaluator(problem.flat, problem.start.n_objectives, x.shape[1]).values)


def end_checkpoint(checkpoint: Checkpoint, solution: Solution) -> None:
    """Writes down how the run ended, and its surface."""
    reason, paused = solution.result.reason, solution.paused is not None
    checkpoint.end(reason.value, paused, partial(solution.save, estimate=False))
    if reason in (Reason.INTERRUPTED, Reason.STOPPED):
        say_how_to_go_on(checkpoint.folder)
