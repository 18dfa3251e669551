"""Optuna: a finished multi-objective study as a solution."""

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np

from ..answer import Result, Solution
from ..names import Names
from ..points import from_points
from .requirements import require

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import FloatDistribution, IntDistribution


def from_study(study: "optuna.Study") -> Solution:
    """The solution through the completed trials of a multi-objective study (see
    `bezierflow.from_points`).

    bezierflow minimizes: an objective that the study maximizes has its sign changed, and is called
    "accuracy (negated)" where its name is "accuracy". The result says so. Variables are the study's
    numeric parameters as they are, with their bounds.

    Args:
        study: an `optuna.Study` with two directions or more. Trials that failed or broke a
            constraint are left out.
    """
    library = require("optuna", "Optuna")
    if len(study.directions) < 2:
        raise ValueError(
            "study must have two objectives or more, got one; study.best_trial is the answer to"
            " that"
        )
    trials = [trial for trial in study.get_trials(deepcopy=False) if _counts(trial, library)]
    if not trials:
        raise ValueError(
            f"study has no completed trials that keep its constraints, of {len(study.trials)}"
            " trials"
        )
    spaces = _spaces(trials, library)
    flipped = np.array(
        [direction == library.study.StudyDirection.MAXIMIZE for direction in study.directions]
    )
    x, f = _arrays(trials, list(spaces))
    names = study.metric_names or [f"f{m + 1}" for m in range(len(flipped))]
    lower, upper = np.array([(space.low, space.high) for space in spaces.values()], dtype=float).T
    solution = from_points(
        x,
        np.where(flipped, -f, f),
        names=Names(_signed(names, flipped), tuple(spaces)),
        bounds=(lower, upper),
    )
    return _told(solution, [names[m] for m in np.flatnonzero(flipped)])


def _arrays(
    trials: "list[optuna.trial.FrozenTrial]", variables: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Parameters and values, one trial a row."""
    x = np.array([[float(trial.params[name]) for name in variables] for trial in trials])
    return x, np.array([trial.values for trial in trials], dtype=float)


def _signed(names: Sequence[str], flipped: np.ndarray) -> tuple[str, ...]:
    """The names of objectives as they are minimized."""
    return tuple(
        f"{name} (negated)" if sign else name for name, sign in zip(names, flipped, strict=True)
    )


def _told(solution: Solution, maximized: list[str]) -> Solution:
    """The solution whose result says which signs were changed."""
    if not maximized:
        return solution
    message = (
        f"{solution.result.message}; the study maximizes {', '.join(maximized)}, so that their"
        " signs are changed here"
    )
    return replace(solution, result=Result(solution.result.reason, message))


def _counts(trial: "optuna.trial.FrozenTrial", library: ModuleType) -> bool:
    """Whether a trial was completed and kept its constraints."""
    constraints = trial.system_attrs.get("constraints") or ()
    return trial.state == library.trial.TrialState.COMPLETE and all(
        value <= 0 for value in constraints
    )


def _spaces(
    trials: "list[optuna.trial.FrozenTrial]", library: ModuleType
) -> "dict[str, FloatDistribution | IntDistribution]":
    """The distributions of the parameters that vary, by name, or an error that names the one that
    is not numeric or missing."""
    names = sorted(set().union(*(trial.params for trial in trials)))
    conditional = [name for name in names if any(name not in trial.params for trial in trials)]
    if conditional:
        raise ValueError(
            f"study must have all parameters in all trials, but {conditional[0]!r} is missing in"
            " some of them"
        )
    spaces = {name: trials[-1].distributions[name] for name in names}
    kinds = library.distributions.FloatDistribution, library.distributions.IntDistribution
    numeric = {
        name: cast("FloatDistribution | IntDistribution", s)
        for name, s in spaces.items()
        if isinstance(s, kinds)
    }
    wrong = sorted(spaces.keys() - numeric.keys())
    if wrong:
        raise TypeError(
            "study must have numeric parameters alone, got the categorical"
            f" {', '.join(map(repr, wrong))}"
        )
    return {name: space for name, space in numeric.items() if space.low < space.high}
