"""The surrogate: a Gaussian process for each objective, from evaluations as they were told."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..gaussian import Fit, Parameters, Posterior, condition, fit


class Model(NamedTuple):
    """Fitted processes and their posterior, of the objectives as they are minimized."""

    fits: tuple[Fit, ...]
    posterior: Posterior


def make_model(
    u: Float[np.ndarray, "n n_free"],
    values: Float[np.ndarray, "n n_objectives"],
    noise: str,
    former: Sequence[Fit] | None,
    fits: Sequence[Fit] | None,
) -> Model:
    """The processes fitted to values at points of the cube, from a former fit on; or with `fits` as
    they are."""
    shift, spread = values.mean(axis=0), values.std(axis=0)
    scale = np.where(spread > 1e-13 * np.abs(shift), spread, np.maximum(np.abs(shift), 1.0))
    found = tuple(fits) if fits else fit(u, (values - shift) / scale, noise, former)
    return Model(found, condition(u, values, Parameters.of(found), shift, scale))
