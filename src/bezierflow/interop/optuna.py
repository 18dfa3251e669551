"""Optuna: a finished multi-objective study as a solution."""

from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np

from ..answer import Solution
from ..names import Names
from ..points import from_points
from . import require

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
    trials = _completed(study, library)
    spaces = _spaces(trials, library)
    x = np.array([[float(trial.params[name]) for name in spaces] for trial in trials])
    f = np.array([trial.values for trial in trials], dtype=float)
    names = study.metric_names or [f"f{m + 1}" for m in range(f.shape[1])]
    flipped = np.equal(study.directions, library.study.StudyDirection.MAXIMIZE)
    maximized = np.array(names)[flipped].tolist()
    signed = tuple(f"{name} (negated)" if name in maximized else name for name in names)
    lower, upper = np.array([(space.low, space.high) for space in spaces.values()], dtype=float).T
    minimized = np.where(flipped, -f, f)
    solution = from_points(x, minimized, names=Names(signed, tuple(spaces)), bounds=(lower, upper))
    if not maximized:
        return solution
    note = f"the study maximizes {', '.join(maximized)}, so that their signs are changed here"
    return replace(solution, result=solution.result.noted(note))


def _completed(study: "optuna.Study", library: ModuleType) -> "list[optuna.trial.FrozenTrial]":
    """The trials that were completed and kept their constraints, or an error if there are none."""
    trials = [
        trial
        for trial in study.get_trials(deepcopy=False)
        if trial.state == library.trial.TrialState.COMPLETE
        # where Optuna's samplers keep the values of constraints, positive where one is broken
        and all(value <= 0 for value in trial.system_attrs.get("constraints") or ())
    ]
    if not trials:
        raise ValueError(
            f"study has no completed trials that keep its constraints, of {len(study.trials)}"
            " trials"
        )
    return trials


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
    wrong = [name for name, space in spaces.items() if not isinstance(space, kinds)]
    if wrong:
        raise TypeError(
            f"study must have numeric parameters alone, got the categorical"
            f" {', '.join(map(repr, wrong))}: no surface leads from one category to the next. Make"
            " one of each category, from its trials alone: X and F of [trial for trial in"
            f" study.get_trials() if trial.params[{wrong[0]!r}] == category] for bf.from_points(X,"
            " F)"
        )
    numeric = cast("dict[str, FloatDistribution | IntDistribution]", spaces)
    # a parameter with one value would be a variable that its bounds fix
    return {name: space for name, space in numeric.items() if space.low < space.high}
