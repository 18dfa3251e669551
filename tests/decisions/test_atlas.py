"""Questions to an atlas: answers against a dense sample of a set that is known in closed form."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import nnls

import bezierflow as bf
from bezierflow.decisions import (
    best,
    compromise,
    keep,
    knee,
    locate,
    locate_front,
    nearest,
    polish,
    ranges,
    rates,
    robust,
    zoom,
)
from bezierflow.precision import double_precision
from clipped_means import CENTERS, atlas_in_the_box, clipped_means, distances


@pytest.fixture(scope="module")
def solution():
    return atlas_in_the_box()


@pytest.fixture(scope="module")
def dense():
    """Designs and objectives of 100,000 points of the set: clipped means of the centers."""
    w = np.random.default_rng(0).dirichlet(np.full(3, 0.7), 100_000)
    x = clipped_means(np.concatenate([np.eye(3), w]))
    with double_precision():
        return x, np.asarray(jax.vmap(distances)(x))


def test_ranges_are_those_of_the_front(solution, dense):
    found, f = ranges(solution), dense[1]
    np.testing.assert_allclose(found.ideal, f.min(axis=0), atol=1e-4)
    assert (found.nadir >= f.max(axis=0) - 1e-4).all()
    # the sample rarely has the very ends
    np.testing.assert_allclose(found.nadir, f.max(axis=0), atol=2e-2)


@pytest.mark.parametrize("limits", [{1: (None, 0.8)}, {1: (None, 1.0), 0: (None, 1.5)}])
def test_the_best_under_bounds_is_no_worse_than_a_dense_sample(solution, dense, limits):
    choice, f = best(solution, 2, limits), dense[1]
    allowed = np.all([f[:, m] <= high for m, (_, high) in limits.items()], axis=0)
    assert choice.feasible
    assert choice.f[2] < f[allowed, 2].min() + 1e-4
    assert all(choice.f[m] <= high + 1e-4 for m, (_, high) in limits.items())


def test_what_cannot_be_met_is_said(solution):
    choice = best(solution, 0, {1: (None, 0.2), 2: (None, 0.3)})
    assert not choice.feasible
    assert {relaxation.objective for relaxation in choice.relaxed} == {"f2", "f3"}


@pytest.mark.slow
def test_totals_aspirations_and_regrets_are_no_worse_than_a_dense_sample(solution, dense):
    f, width = dense[1], ranges(solution).width
    prices = np.array([1.0, 2.0, 0.5])
    assert compromise(solution, prices).value < (f @ prices).min() + 1e-4
    hope = np.full(3, 0.3)
    assert (
        np.max((nearest(solution, hope).f - hope) / width)
        < ((f - hope) / width).max(axis=1).min() + 1e-3
    )
    assert knee(solution).value < 0
    choice = robust(solution, {0: (1, 2), 1: (0.5, 1.5), 2: (1, 1)})
    corners = np.array([[a, b, 1.0] for a in (1, 2) for b in (0.5, 1.5)])
    regret = (f @ corners.T - (f @ corners.T).min(axis=0)).max(axis=1)
    assert choice.value < regret.min() + 1e-3


def test_rates_are_ratios_of_weights(solution):
    w = np.array([0.4, 0.35, 0.25])
    with double_precision():
        f = np.asarray(distances(jnp.asarray(clipped_means(w))))
    found = rates(solution, solution.pareto_set.t(f))
    assert found.definite
    assert found[0, 1] == pytest.approx(-w[1] / w[0], abs=1e-3)


def test_the_nearest_point_of_the_set(solution, dense):
    x, f = dense
    design = np.array([0.5, 0.4, 0.6])
    found = locate(solution, design)
    assert found.distance < np.linalg.norm(x - design, axis=1).min() + 1e-4
    np.testing.assert_allclose(np.linalg.norm(found.x - design), found.distance, atol=1e-12)
    target, span = np.array([1.0, 0.5, 0.9]), solution.pareto_set.units.span
    assert (
        locate_front(solution, target).distance
        < np.linalg.norm((f - target) / span, axis=1).min() + 1e-4
    )


def test_a_part_of_the_front(solution):
    part = keep(solution, {0: (None, 1.0)})
    assert best(part, 1).f[0] <= 1.0 + 1e-4
    assert part.contains(solution.spread(20).t).any()


def test_files_answer_too(solution, tmp_path):
    solution.save(tmp_path / "atlas.bez")
    loaded = bf.load(tmp_path / "atlas.bez")
    mine, own = knee(loaded), knee(solution)
    # Patches alone are off by their error, and where the front bulges most by that much it is flat.
    off = loaded.error.front
    assert off < 0.04  # how coarse patches are depends on rounding
    assert np.abs((mine.f - solution.front(mine.t)) / solution.pareto_set.units.span).max() < off
    assert abs(mine.value - own.value) < off
    assert mine.confidence.source == "fitted front"


def test_what_an_atlas_cannot_is_said(solution):
    with pytest.raises(TypeError, match="one simplex"):
        zoom(solution, np.eye(3))
    with pytest.raises(TypeError, match="method must be left open"):
        polish(solution, knee(solution), bf.GradientDescent(0.1))


def off_the_set(x):
    """How far x is from a minimizer of some weighted sum in the box: the least sum of slopes along
    free variables."""
    free = (x > 0) & (x < 1)
    slopes = 2 * (x - CENTERS)[:, free].T
    return nnls(np.vstack([slopes, np.ones(3)]), np.append(np.zeros(free.sum()), 1.0))[1]


def test_polish_moves_a_choice_onto_the_set_within_the_bounds(solution):
    choice = compromise(solution, [1.0, 1.2, 0.9])
    moved = replace(choice, x=np.clip(choice.x + 1e-3 * np.array([1.0, -2.0, 1.0]), 0, 1))
    moved = replace(moved, f=np.asarray(distances(moved.x)))
    assert off_the_set(moved.x) > 1e-5
    for one in (choice, moved):
        polished = polish(solution, one)
        assert off_the_set(polished.x) < 1e-10
        assert (polished.x >= 0).all()
        assert (polished.x <= 1).all()
        np.testing.assert_allclose(polished.x, one.x, atol=1e-2)
        np.testing.assert_allclose(polished.f, distances(polished.x), rtol=1e-6)
    assert (polish(solution, moved).f < moved.f + 1e-6).all(), (
        "what is off the set is dominated by the point above"
    )
    assert "polished by Newton" in polished.question
