import numpy as np
import pytest
from experiments.significance import rank_sum


def test_lower_scores_win_where_the_samples_are_apart():
    low, high = np.arange(20.0), np.arange(20.0) + 100
    assert rank_sum(low, high).better == 0
    assert rank_sum(high, low).better == 1
    # The normal approximation for 20 against 20, completely apart: z = 200/√(20·20·41/12) = 5.41.
    assert rank_sum(low, high).p_value == pytest.approx(6.3e-8, rel=0.02)


def test_samples_alike_have_no_winner():
    rng = np.random.default_rng(0)
    verdict = rank_sum(rng.normal(size=20), rng.normal(size=20))
    assert verdict.better is None
    assert verdict.p_value > 0.01


def test_three_trials_cannot_reach_the_level():
    assert rank_sum(np.array([1.0, 2, 3]), np.array([7.0, 8, 9])).better is None


def test_one_trial_is_refused():
    with pytest.raises(ValueError, match="at least 2 trials"):
        rank_sum(np.array([1.0]), np.array([2.0, 3.0]))
