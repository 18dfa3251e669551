"""What is wrong with evaluations as the data of a surrogate, in words."""

import numpy as np
from jaxtyping import Float

from ..names import Names

SAME = 1e-12
"""Values that differ by less than this share of their size are the same."""

FAR = 50.0
"""A value is an outlier if it is so many times farther from the median than nine tenths of all
values are."""

LEAST_POINTS = 10
"""Outliers are looked for among so many values at least."""


def what_is_wrong(
    x: Float[np.ndarray, "n n_variables"], y: Float[np.ndarray, "n n_objectives"], names: Names
) -> list[str]:
    """Sentences about objectives that do not vary, and about single values that dwarf all
    others."""
    constant = [m for m in range(y.shape[1]) if np.ptp(y[:, m]) <= SAME * np.abs(y[:, m]).max()]
    if len(constant) == y.shape[1]:
        return [
            f"all values were the same in all {len(y)} evaluations: there is nothing to trade off;"
            " check what is evaluated"
        ]
    found = [
        f"{names.objectives[m]} was {y[0, m]:.6g} in all {len(y)} evaluations: drop it, or widen"
        " the bounds"
        for m in constant
    ]
    for m in range(y.shape[1]):
        away = np.abs(y[:, m] - np.median(y[:, m]))
        usual = float(np.quantile(away, 0.9)) if len(y) >= LEAST_POINTS else np.inf
        row = int(away.argmax())
        if m not in constant and away[row] > FAR * max(usual, SAME * np.abs(y[:, m]).max()):
            place = np.array2string(x[row], precision=6, separator=", ")
            found.append(
                f"{names.objectives[m]} was {y[row, m]:.6g} at x = {place}, far from all other"
                " values: the surrogate can tell little about the others beside it; tell it as"
                " failed if it is wrong, or give the logarithm of the objective"
            )
    return found
