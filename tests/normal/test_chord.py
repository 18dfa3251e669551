from dataclasses import replace

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.normal import Survey, estimate_error
from bezierflow.normal.chord import follow_chord, settle_chords, settle_own
from bezierflow.normal.lending import KnownHessians
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import ScaledMED, SkewMMD


def survey_of(problem, corners, diameter=1.0):
    return Survey(JaxEvaluator(problem, 3, 3), corners, diameter)


def near_the_set(problem, n, off, seed=3):
    rng = np.random.default_rng(seed)
    t = rng.dirichlet([3.0] * 3, size=n)
    return t, problem.pareto_point(t) + off * rng.normal(size=(n, 3)), rng


@pytest.mark.parametrize("problem", [ScaledMED(), SkewMMD(3)], ids=["scaled-MED", "skew-3MMD"])
def test_a_chord_measures_by_how_much_it_misses(problem):
    """Points 1e-3 off the set, Hessians from points 0.1 away: two gradients reach the set as nearly
    as they say."""
    t, x, rng = near_the_set(problem, 40, 1e-3)
    survey = survey_of(problem, problem.pareto_point(np.eye(3)))
    survey.look(x + 0.1 * rng.normal(size=x.shape))
    start = survey.look_by_gradients(x)
    chord = follow_chord(survey, start, survey.linearize(start, t > 0), t > 0)
    before, after = problem.distance(x), problem.distance(x + chord.displacement)
    assert chord.accepted.mean() > 0.9
    assert np.median(after / before) < 0.02
    kept = chord.accepted
    assert (after[kept] < 5 * chord.miss[kept] + 1e-6).all()
    assert survey.evaluator.evaluations.hessian == 40


def too_stiff(problem, away, factor):
    """Points that far from the set, seen with Hessians multiplied by a factor."""
    t, x, _ = near_the_set(problem, 20, away)
    survey = survey_of(problem, problem.pareto_point(np.eye(3)))
    start = survey.evaluator.hessians(x)
    start.hessians[:] *= factor
    return t, x, survey, start


def test_a_chord_with_a_wrong_hessian_is_rejected_and_a_hessian_computed():
    """Ten times too stiff, it would make any surface look ten times better than it is."""
    problem = ScaledMED()
    t, x, survey, start = too_stiff(problem, 1e-3, 10)
    first = survey.linearize(start, t > 0)
    assert not follow_chord(survey, start, first, t > 0).accepted.any()
    _, settled, miss = settle_chords(survey, start, first, t > 0)
    np.testing.assert_allclose(
        np.linalg.norm(settled.displacement, axis=1), problem.distance(x), rtol=0.05
    )
    assert np.isnan(miss).all()


def test_a_displacement_that_misses_by_more_than_assumed_says_so():
    """A Hessian three times too stiff leaves two thirds of the way; the usual assumption, |y|²/ℓ,
    is a thousandth of it."""
    problem = ScaledMED()
    t, x, survey, start = too_stiff(problem, 1e-4, 3)
    _, miss = settle_own(survey, start, survey.linearize(start, t > 0), t > 0)
    np.testing.assert_allclose(miss, 2 / 9 * problem.distance(x), rtol=0.2)
    right = survey.evaluator.hessians(x)
    settled, miss = settle_own(survey, right, survey.linearize(right, t > 0), t > 0)
    assert (problem.distance(x + settled.displacement) < 1e-2 * problem.distance(x)).all()
    assert np.isnan(miss).all()


def test_a_rejected_chord_is_measured_where_variables_are_many():
    """Here from three on: a displacement from far away misses the set by more than assumed, and
    says by how much."""
    problem = ScaledMED()
    t, x, survey, start = too_stiff(problem, 0.03, 10)
    assert not survey.measures
    look = replace(survey.schedule.look, measured_from=3, follow=np.inf, straight=1e3)
    survey.schedule = replace(survey.schedule, look=look)
    assert survey.measures
    # so that the length over which directions change is that of the schedule
    survey.corners = survey.corners + 1e6
    _, settled, miss = settle_chords(survey, start, survey.linearize(start, t > 0), t > 0)
    found = ~np.isnan(miss)
    assert found.any()
    assert (problem.distance(x + settled.displacement)[found] <= 3 * miss[found] + 1e-9).all()


def test_the_estimate_is_the_same_with_borrowed_hessians():
    problem = ScaledMED()
    t = np.random.default_rng(0).dirichlet([1.0] * 3, size=400)
    surface = bf.fit(t, problem.pareto_map(t), 4)
    nearby = problem.pareto_point(np.random.default_rng(1).dirichlet([1.0] * 3, size=60))
    known = KnownHessians().add(JaxEvaluator(problem, 3, 3).hessians(nearby))
    own, lent = estimate_error(problem, surface), estimate_error(problem, surface, known=known)
    assert lent.max == pytest.approx(own.max, rel=0.05)
    assert lent.rms == pytest.approx(own.rms, rel=0.02)
    assert lent.flags == own.flags
