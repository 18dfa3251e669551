import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.objectives import find_multipliers


def directions_and_face(seed, n_objectives, n_variables):
    rng = np.random.default_rng(seed)
    gradients = rng.normal(size=(n_objectives, n_variables)) + rng.choice([0, 2]) * rng.normal(
        size=n_variables
    )
    face = rng.random(n_objectives) < 0.7
    face[rng.integers(n_objectives)] = True
    return gradients / np.linalg.norm(gradients, axis=1, keepdims=True), face


@pytest.mark.parametrize("size", [(2, 3), (4, 3), (5, 2), (6, 3), (12, 7)])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_solves_the_quadratic_program(size, seed):
    directions, face = directions_and_face(seed, *size)
    (w,) = find_multipliers((directions @ directions.T)[None], face[None])
    rho = w @ directions
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1, abs=1e-12)
    assert np.all(w[~face] == 0)
    # Optimality on the simplex: no vertex of it makes a smaller product with ρ than ρ itself.
    assert (directions @ rho)[face].min() >= rho @ rho - 1e-12


def test_no_combination_beats_the_critical_one_past_rounding():
    # Three directions that balance exactly: a pair alone must not win by rounding.
    angles = np.array([0.3, 0.3 + 2.2, 0.3 + 4.1])
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    (w,) = find_multipliers((directions @ directions.T)[None], np.ones((1, 3), dtype=bool))
    assert np.linalg.norm(w @ directions) < 1e-15
    assert (w > 0).all()
