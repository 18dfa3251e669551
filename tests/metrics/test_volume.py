"""The hypervolume of whole fronts, against volumes known in closed form."""

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.metrics import hypervolume
from bezierflow.simplex import grid
from solved import distances_to_points


def plane(M):
    """The front f_1 + … + f_M = 1, f ≥ 0."""
    x = grid(M, 8 if M < 4 else 4)
    surface = bf.BezierSimplex(np.eye(M), M, 1)
    from dataclasses import replace

    solution = distances_to_points(M, M)
    front = replace(solution.known_front, surface=surface)
    assert np.allclose(surface(x), x)
    return replace(solution, pareto_set=surface, known_front=front)


@pytest.mark.parametrize("M", [2, 3, 4])
def test_a_plane_against_its_closed_form(M):
    """Of the unit cube, all but the simplex below the front is dominated: 1 − 1/M!."""
    exact = 1 - 1 / float(np.prod(np.arange(1, M + 1)))
    volume = hypervolume(plane(M), np.ones(M))
    assert abs(volume - exact) <= volume.error
    assert volume.error < {2: 1e-4, 3: 0.01, 4: 0.05}[M]


def test_a_curve_against_its_integral():
    """f = (s², (1 − s)²): the area below the curve is ∫ (1 − √u)² du = 1/6."""
    s = np.linspace(0, 1, 40)
    solution = bf.from_points(s, np.column_stack([s**2, (1 - s) ** 2]))
    volume = hypervolume(solution, [1.0, 1.0])
    assert volume == pytest.approx(5 / 6, abs=1e-3)
    assert volume.error < 1e-4


def test_a_volume_is_a_number_that_states_its_error():
    finite = hypervolume([[0.0, 0.5]], [1.0, 1.0])
    assert (finite, finite.error, repr(finite)) == (0.5, 0.0, "0.5")
    assert "±" in repr(hypervolume(plane(2), [1.0, 1.0]))


def test_a_reference_that_does_not_fit_is_named():
    with pytest.raises(ValueError, match="reference must be one finite point of 2 objectives"):
        hypervolume(plane(2), [1.0, 1.0, 1.0])
