"""The gallery in bounded form: its quickest problems, one of each kind among them; none may be
silently wrong.

`python -m benchmarks.gallery` runs all of it.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from benchmarks.gallery.case import Case
from benchmarks.gallery.classes import classes
from benchmarks.gallery.families import families
from benchmarks.gallery.outcomes import FLOOR, answers, compare_answers, compare_truth, judge, solve
from benchmarks.gallery.pitfalls import pitfalls
from benchmarks.gallery.places import places
from benchmarks.gallery.problems import KINDS, far, on_segments, problems
from benchmarks.gallery.truth import make_truth

import bezierflow as bf

QUICK = (
    "double-well tilt -0.2",
    "hole 6.0 0.3 (2.0, -2.0)",
    "ripples 0.1 2",
    "narrow pits 0.7",
    "banana pair 10",
    "axes 1e6",
    "norm to the 4",
    "distance and square from (1.0, 1.0)",
    "same minimizer",
    "3 points on a line",
    "L = 1: parabola and sine",
    "bent bowls, noise 1e-08",
    "minimizer at the edge of the domain",
    "lasso of two",
    "bowls cut",
    "stopped by budget 12",
    "stopped by callback 1",
)

QUICK_PITFALLS = (
    "offset 1e6, range 1e-6, L = 1",
    "bowls + 1, noise 1e-05",
    "two equalities that cross once",
    "monotone copy: log",
    "pit of 0.004 beside the set",
    "shells: inside of three, L = 2",
    "opposed 1e3",
    "root of a distance from 0.0",
)

of_the_gallery = cache(lambda: tuple(problems()))
of_later_trials = cache(lambda: (*classes(), *pitfalls(), *places()))

SEGMENT = Case("", "", lambda x, xp: [far(x, (0, 0)), far(x, (1, 0.5))], -2, 2, (0.3, 0.3))


def test_the_gallery_is_large_and_the_sample_has_every_kind():
    cases = of_the_gallery()
    names = [case.name for case in cases]
    assert len(cases) >= 150
    assert len(set(names)) == len(names)
    assert {case.kind for case in cases if case.name in QUICK} == {case.kind for case in cases}
    assert len({case.kind for case in cases}) == len(KINDS)


@pytest.mark.slow(
    "lasso of two",
    "3 points on a line",
    "bowls cut",
    "banana pair 10",
    "axes 1e6",
    "ripples 0.1 2",
)
@pytest.mark.parametrize("name", QUICK)
def test_no_problem_of_the_sample_is_silently_wrong(name):
    (case,) = [case for case in of_the_gallery() if case.name == name]
    found = solve(case)
    assert found.outcome not in ("silently wrong", "error"), found


@pytest.mark.slow("bowls + 1, noise 1e-05", "two equalities that cross once")
@pytest.mark.slow("monotone copy: log", "offset 1e6, range 1e-6, L = 1")
@pytest.mark.slow("pit of 0.004 beside the set", "shells: inside of three, L = 2")
@pytest.mark.slow("root of a distance from 0.0")
@pytest.mark.parametrize("name", QUICK_PITFALLS)
def test_quick_problems_of_later_trials_are_right(name):
    (case,) = [case for case in (*of_the_gallery(), *of_later_trials()) if case.name == name]
    found = solve(case)
    assert found.outcome == "right", found


def test_the_trials_are_large_and_every_problem_has_a_name_of_its_own():
    more = of_later_trials()
    assert len(more) >= 200
    names = [case.name for case in [*more, *of_the_gallery()]]
    assert len(set(names)) == len(names)


def test_a_random_problem_is_not_silently_wrong():
    case = next(case for case in families(1) if case.kind == "random warped")
    assert solve(case).outcome not in ("silently wrong", "error")


def test_a_dense_sample_is_the_closed_form():
    truth, exact = make_truth(SEGMENT), on_segments((0, 0), (1, 0.5))(2000)
    f, known = SEGMENT.values(exact), truth.scaled(truth.f)
    over = (known[None] - truth.scaled(f)[:, None]).max(axis=2).min(axis=1)
    assert over.max() < 2e-3  # half of the distance between neighbors
    beyond, beats = compare_answers(SEGMENT, truth, exact[::20])
    assert beyond < 1e-9
    assert beats < 1e-4


def test_designs_off_the_set_and_missing_parts_are_seen():
    truth = make_truth(SEGMENT)
    exact = on_segments((0, 0), (1, 0.5))(50)
    # |f − f*| is 0.1² for both objectives, of ranges 1.25
    off = exact + np.array([-0.1, 0.2]) / np.hypot(0.1, 0.2) * 0.1
    beyond, _ = compare_answers(SEGMENT, truth, off)
    # up to the spacing of the truth at its ends
    np.testing.assert_allclose(beyond, 0.01 / 1.25, rtol=0.1)
    half = bf.minimize(
        lambda x: ((x - np.array([[0, 0], [0.5, 0.25]])) ** 2).sum(axis=1), np.zeros(2)
    )
    # Of (1, 0.5) the half knows (0.5, 0.25), which is worse by a quarter of the range.
    np.testing.assert_allclose(compare_truth(SEGMENT, truth, half), 0.25, rtol=1e-2)
    assert len(answers(half)) >= 300


def test_outcomes_are_what_the_page_says():
    Reason = bf.Reason
    assert judge(Reason.CONVERGED, 0.0, 0.0, 0.0, SEGMENT) == "right"
    assert judge(Reason.CONVERGED, 0.1, 0.01, 0.1, SEGMENT) == "silently wrong"
    assert judge(Reason.NOT_AT_TOLERANCE, 0.02, 0.01, 0.1, SEGMENT) == "less exact"
    assert judge(Reason.NOT_AT_TOLERANCE, 0.1, 0.01, 0.1, SEGMENT) == "silently wrong"
    assert judge(Reason.SUSPECT, 0.1, 0.0, 0.0, SEGMENT) == "flagged"
    assert judge(Reason.SUSPECT, FLOOR / 2, 0.0, 0.0, SEGMENT) == "flagged although right"
    assert (
        judge(Reason.STOPPED, 0.1, 0.0, 0.0, replace(SEGMENT, kind="stopped")) == "silently wrong"
    )
    assert judge(Reason.STOPPED, 0.1, 0.2, 0.2, replace(SEGMENT, kind="stopped")) == "flagged"
