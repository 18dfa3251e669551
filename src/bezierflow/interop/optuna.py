"""Optuna: a finished multi-objective study as a solution."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..flow import Result, Solution
from ..points import from_points
from ..problems import Names
from .requirements import require


def from_study(study: Any) -> Solution:
    """The solution through the completed trials of a multi-objective study (see `bezierflow.from_points`).

    bezierflow minimizes: an objective that the study maximizes has its sign changed, and is called "accuracy (negated)" where
    its name is "accuracy". The result says so. Variables are the study's numeric parameters as they are, with their bounds.

    Args:
        study: an `optuna.Study` with two directions or more. Trials that failed or broke a constraint are left out.
    """
    optuna = require("optuna", "Optuna")
    if len(study.directions) < 2:
        raise ValueError("study must have two objectives or more, got one; study.best_trial is the answer to that")
    trials = [trial for trial in study.get_trials(deepcopy=False) if _counts(trial, optuna)]
    if not trials:
        raise ValueError(f"study has no completed trials that keep its constraints, of {len(study.trials)} trials")
    spaces = _spaces(trials, optuna)
    x = np.array([[float(trial.params[name]) for name in spaces] for trial in trials])
    flipped = np.array([direction == optuna.study.StudyDirection.MAXIMIZE for direction in study.directions])
    f = np.array([trial.values for trial in trials], dtype=float) * np.where(flipped, -1.0, 1.0)
    texts = study.metric_names or [f"f{m + 1}" for m in range(len(flipped))]
    objectives = tuple(f"{text} (negated)" if sign else text for text, sign in zip(texts, flipped, strict=True))
    lower, upper = np.array([(space.low, space.high) for space in spaces.values()], dtype=float).T
    solution = from_points(x, f, names=Names(objectives, tuple(spaces)), bounds=(lower, upper))
    if not flipped.any():
        return solution
    told = ", ".join(text for text, sign in zip(texts, flipped, strict=True) if sign)
    message = f"{solution.result.message}; the study maximizes {told}, so that their signs are changed here"
    return replace(solution, result=Result(solution.result.reason, message))


def _counts(trial: Any, optuna: Any) -> bool:
    """Whether a trial was completed and kept its constraints."""
    constraints = trial.system_attrs.get("constraints") or ()
    return trial.state == optuna.trial.TrialState.COMPLETE and all(value <= 0 for value in constraints)


def _spaces(trials: list[Any], optuna: Any) -> dict[str, Any]:
    """The distributions of the parameters that vary, by name, or an error that names the one that is not numeric or missing."""
    names = sorted({name for trial in trials for name in trial.params})
    for name in names:
        if any(name not in trial.params for trial in trials):
            raise ValueError(f"study must have all parameters in all trials, but {name!r} is missing in some: it is conditional")
    spaces = {name: trials[-1].distributions[name] for name in names}
    kinds = optuna.distributions.FloatDistribution, optuna.distributions.IntDistribution
    wrong = [name for name, space in spaces.items() if not isinstance(space, kinds)]
    if wrong:
        raise TypeError(f"study must have numeric parameters alone, got the categorical {', '.join(map(repr, wrong))}")
    return {name: space for name, space in spaces.items() if space.low < space.high}
