"""Optuna's studies in."""

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.interop.optuna import from_study

optuna = pytest.importorskip("optuna")


def study_of(n, directions, objective, names=None):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        directions=directions, sampler=optuna.samplers.RandomSampler(seed=0)
    )
    if names:
        study.set_metric_names(names)
    study.optimize(objective, n_trials=n)
    return study


def trade_off(trial):
    """Cost s², quality −(1 − s)², for designs along one line, with small steps off it."""
    s, off = trial.suggest_float("size", 0.0, 1.0), trial.suggest_float("offset", 0.0, 1e-3)
    return s**2 + off**2, -((1 - s) ** 2) - off**2


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_a_study_becomes_a_solution_with_its_directions():
    solution = from_study(study_of(60, ["minimize", "maximize"], trade_off, ["cost", "quality"]))
    assert solution.names.objectives == ("cost", "quality (negated)")
    assert set(solution.names.variables) == {"size", "offset"}
    assert "the study maximizes quality, so that their signs are changed here" in solution.message
    size = solution.names.variables.index("size")
    choice = bf.decisions.knee(solution)
    assert choice.x[size] == pytest.approx(0.5, abs=0.05)
    assert choice.f == pytest.approx([0.25, 0.25], abs=0.05)


@pytest.mark.slow
def test_failed_trials_are_left_out_and_one_objective_is_refused():
    def sometimes(trial):
        if trial.number % 5 == 0:
            raise optuna.TrialPruned
        return trade_off(trial)

    solution = from_study(study_of(60, ["minimize", "maximize"], sometimes))
    assert np.isfinite(solution.F).all()
    with pytest.raises(ValueError, match="two objectives or more"):
        from_study(optuna.create_study())


def test_parameters_that_are_no_numbers_are_named():
    def categorical(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        s = trial.suggest_float("s", 0, 1)
        return s, 1 - s + (kind == "a")

    with pytest.raises(TypeError, match=r"categorical 'kind'.*each category.*from_points"):
        from_study(study_of(10, ["minimize", "minimize"], categorical))


def test_trials_that_broke_a_constraint_are_left_out_and_conditional_parameters_are_named():
    spaces = {name: optuna.distributions.FloatDistribution(0, 1) for name in ("a", "b")}

    def study(*trials):
        found = optuna.create_study(directions=["minimize", "minimize"])
        for names, attributes in trials:
            found.add_trial(
                optuna.trial.create_trial(
                    params=dict.fromkeys(names, 0.5),
                    distributions={name: spaces[name] for name in names},
                    values=[0.0, 1.0],
                    system_attrs=attributes,
                )
            )
        return found

    broken = {"constraints": (-1.0, 0.1)}
    with pytest.raises(ValueError, match="no completed trials that keep its constraints, of 2"):
        from_study(study(("a", broken), ("ab", broken)))
    with pytest.raises(ValueError, match="but 'b' is missing in some of them"):
        from_study(study(("a", {}), ("ab", {"constraints": (-1.0, 0.0)})))
