"""The generalization gap and its scaling: where it is known exactly, and two ways to measure it
that must agree."""

import jax
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.precision import double_precision
from bezierflow.stability import (
    Distance,
    Exchange,
    Setting,
    Stationarity,
    against_samples,
    empirical_stability,
    generalization_gap,
    mean_interval,
    slope,
)

PROBLEM = bf.problems.Quadratic(
    np.array([[1.0, 4.0], [3.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
)


def one_newton_step(n_samples):
    return Setting(
        bf.lift(bf.Newton(), 2, bf.Uniform(n_samples)),
        PROBLEM,
        bf.BezierSimplex.constant(np.zeros(2), 2, 2),
        1,
    )


def test_interpolation_has_no_empirical_error_and_so_the_whole_error_for_a_gap():
    """One Newton step reaches x*(t) of a quadratic, and as many samples as control points are
    interpolated: R_S = 0."""
    with double_precision():
        gap = generalization_gap(one_newton_step(3), keys=jax.random.split(jax.random.key(0), 20))
    np.testing.assert_allclose(gap.gaps, -gap.risks, rtol=1e-6)
    assert np.all(gap.risks > 0)


def test_twins_and_held_out_losses_measure_the_same_gap():
    """E[R_S − R] = E[ℓ(P; t_i) − ℓ(P'; t_i)]: the identity behind the theorem that stability bounds
    the gap."""
    setting = one_newton_step(6)
    with double_precision():
        keys = jax.random.split(jax.random.key(1), 3000)
        twins = empirical_stability(
            setting, Exchange.random(np.ones(3000, dtype=int), 6, 2), keys=keys
        )
        gap = generalization_gap(setting, keys=keys, control_points=twins.ends)
    by_twins = mean_interval(twins.at_example, 0.999)
    direct = mean_interval(gap.gaps, 0.999)
    assert gap.expected.high < 0  # seen examples look better
    assert by_twins.low <= direct.high
    assert direct.low <= by_twins.high
    assert by_twins.low < gap.expected.estimate < by_twins.high
    assert abs(gap.expected.estimate) <= np.mean(twins.sup_loss)  # the theorem
    narrower = (gap.expected.high - gap.expected.low) / (direct.high - direct.low)
    assert narrower < 1


def test_the_surrogate_encloses_the_distance():
    """residual/β ≤ |b(t) − x*(t)| ≤ residual/m, with the extreme curvatures of this problem's
    weighted sums."""
    t = np.random.default_rng(0).dirichlet(np.ones(2), 50)
    with double_precision():
        P = jax.random.normal(jax.random.key(0), (3, 2))
        distance = np.asarray(Distance(PROBLEM)(P, jax.numpy.asarray(t), 2))
        residual = np.asarray(
            Stationarity(lambda x: PROBLEM(x), bf.WeightedSum())(P, jax.numpy.asarray(t), 2)
        )
    assert np.all(residual / 8 <= distance * (1 + 1e-9))
    assert np.all(distance <= residual / 2 * (1 + 1e-9))


def test_a_slope_is_found_exactly_on_a_power_law():
    n = np.array([10.0, 20, 50, 300])
    found = slope(n, 7 * n**-1.3)
    assert (found.estimate, found.low, found.high) == pytest.approx((-1.3, -1.3, -1.3))
    noisy = slope(n, n**-1.0 * np.array([1.1, 0.9, 1.1, 0.9]))
    assert noisy.low < -1 < noisy.high


@pytest.mark.parametrize("value", [0.0, -1e-9, np.nan, np.inf])
def test_no_slope_is_made_of_a_value_without_logarithm(value):
    assert slope(np.array([10.0, 20, 50]), np.array([1.0, value, 0.2])) is None


def test_equal_values_have_an_interval_of_no_width():
    assert mean_interval(np.full(5, 2.0)).low == mean_interval(np.full(5, 2.0)).high == 2


@pytest.mark.slow
def test_stability_and_gap_fall_with_n():
    flow = bf.lift(bf.Newton(), 2)
    scaling = against_samples(flow, PROBLEM, np.zeros(2), [8, 32, 128], 2, n_runs=40)
    assert scaling.slopes["last"].estimate < -0.7
    assert scaling.slopes["gap"].estimate < -0.6
    assert -1.1 < scaling.slopes["spread"].estimate < -0.3
    assert np.all(scaling.gap <= scaling.worst)
    # Efron and Stein: twins bound how much runs vary, up to the noise of both estimates; here
    # nearly with equality.
    assert np.all(scaling.spread < scaling.by_twins_high * (1 + 2 / np.sqrt(40)))
    assert np.all(scaling.by_twins_low < 2 * scaling.spread)
    # the loss is a distance, so it changes by no more
    assert np.all(scaling.last <= scaling.last_move * (1 + 1e-9))
    for row in scaling.rows():
        assert row["gap"] <= max(abs(row["gap_low"]), abs(row["gap_high"]))
    assert [row["n_samples"] for row in scaling.rows()] == [8, 32, 128]


@pytest.mark.parametrize(
    ("n_samples", "words"),
    [
        ([8, 16], "at least three different N"),
        ([2, 8, 16], "n_samples=2 is below the 3 control points"),
    ],
)
def test_mistakes_are_named(n_samples, words):
    with pytest.raises(ValueError, match=words):
        against_samples(bf.lift(bf.Newton(), 2), PROBLEM, np.zeros(2), n_samples, 2)
