"""The paper's verdict: which of two methods is better, by the Wilcoxon rank-sum test."""

from typing import NamedTuple

import numpy as np

LEVEL = 0.01
"""The paper's significance level."""


class Verdict(NamedTuple):
    """Who has the lower scores, and how surely."""

    better: int | None
    """0 or 1 for the first or the second sample; None where the difference is not significant."""
    p_value: float


def rank_sum(first: np.ndarray, second: np.ndarray, level: float = LEVEL) -> Verdict:
    """The two-sided Wilcoxon rank-sum test of two samples of scores, lower ones being better.

    Args:
        first: the first method's scores, one a trial.
        second: the second method's.
        level: the p-value below which the difference counts.
    """
    from scipy.stats import ranksums

    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if len(first) < 2 or len(second) < 2:
        raise ValueError(
            f"a rank-sum test needs at least 2 trials of each method, got {len(first)} and"
            f" {len(second)}"
        )
    statistic, p_value = ranksums(first, second)
    # Few trials cannot reach a low level: with 3 against 3 even complete separation has p = 0.0495.
    better = (0 if statistic < 0 else 1) if p_value < level else None
    return Verdict(better, float(p_value))
