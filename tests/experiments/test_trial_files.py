import pytest
from experiments.trial_files import TrialFile

SETTINGS = {"degree": 3}


def trial_file(tmp_path, settings=SETTINGS):
    return TrialFile(
        tmp_path / "trials.csv",
        ["method", "seed"],
        ["score"],
        settings,
        "bezierflow reproduce table1",
    )


def test_a_trial_is_computed_once_and_read_back_exactly(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return [{"score": 0.1 + 0.2}]

    for _ in range(2):
        rows = trial_file(tmp_path).once(compute, method="proposed", seed=4)
        assert float(rows[0]["score"]) == 0.1 + 0.2
    assert len(calls) == 1


def test_a_killed_run_continues_behind_its_last_whole_trial(tmp_path):
    def run(stop_at):
        file = trial_file(tmp_path)
        for seed in range(5):

            def compute(seed=seed):
                if seed == stop_at:
                    raise KeyboardInterrupt
                made.append(seed)
                return [{"score": float(seed)}, {"score": -float(seed)}]

            file.once(compute, method="proposed", seed=seed)

    made = []
    with pytest.raises(KeyboardInterrupt):
        run(stop_at=3)
    run(stop_at=None)
    assert made == [0, 1, 2, 3, 4]
    assert len(trial_file(tmp_path).rows) == 10
    assert list(tmp_path.iterdir()) == [tmp_path / "trials.csv"]


def test_the_file_says_what_made_it(tmp_path):
    trial_file(tmp_path).add([{"method": "a", "seed": 0, "score": 1.0}])
    head = (tmp_path / "trials.csv").read_text().splitlines()[:4]
    assert head[0] == "# command: bezierflow reproduce table1"
    assert "jax" in head[1]
    assert '{"degree": 3}' in head[2]
    assert head[3] == "method,seed,score"


def test_trials_with_other_settings_are_never_mixed_in(tmp_path):
    trial_file(tmp_path).add([{"method": "a", "seed": 0, "score": 1.0}])
    with pytest.raises(ValueError, match="--output"):
        trial_file(tmp_path, {"degree": 4})
    with pytest.raises(ValueError, match="columns"):
        TrialFile(tmp_path / "trials.csv", ["seed"], ["score"], SETTINGS)
