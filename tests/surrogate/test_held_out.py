"""Held-out errors: predictions before evaluations, calibration, rounds; what is wrong with values."""

import json

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.gaussian import means, stds
from bezierflow.surrogate import HeldOut, what_is_wrong

SPAN, NO_NOISE = np.ones(2), np.zeros(2)


def held_out(errors, std=0.01):
    """After predictions of 0 that were off by these errors."""
    held = HeldOut()
    for number, error in enumerate(errors):
        held.predict(number, np.zeros(2), np.full(2, std))
        held.tell(number, np.full(2, error))
    return held


def round_error(held, noise=NO_NOISE, span=SPAN):
    held = HeldOut(misses=held.misses)
    held.note_round(8, span, noise, 0.0, batch=4)
    return held.rounds[0].error


def test_errors_calibrate_standard_deviations():
    assert held_out([0.03] * 6).calibration == pytest.approx(3.0)
    assert held_out([0.03, -0.03] * 3).calibration == pytest.approx(3.0)
    assert held_out([0.01] * 3 + [0.05] * 3).calibration == pytest.approx(np.sqrt(13))
    # small errors do not make it more certain than it says, and few errors say nothing
    assert held_out([0.001] * 6).calibration == 1.0
    assert held_out([9.0] * 2).calibration == 1.0


def test_the_error_of_a_round_is_in_units_of_ranges_and_without_noise():
    held = held_out([0.03] * 6)
    assert round_error(held) == pytest.approx(0.03)
    assert round_error(held, span=np.array([3.0, 3.0])) == pytest.approx(0.01)
    assert round_error(held, noise=np.full(2, 0.03)) == pytest.approx(0.0, abs=1e-9)
    # of one objective noise explains all, of the other nothing
    assert round_error(held, noise=np.array([0.03, 0.0])) == pytest.approx(0.03 / np.sqrt(2))
    assert np.isnan(round_error(held_out([0.03] * 2)))


def test_only_the_last_six_errors_count():
    held = held_out([9.0] * 5 + [0.03] * 6)
    assert len(held.misses) == 6
    assert held.errors.max() == 0.03


def test_evaluations_that_failed_or_were_never_predicted_say_nothing():
    held = held_out([0.03] * 6)
    before = json.dumps(held.to_dict())
    held.predict(9, np.zeros(2), np.ones(2))
    assert 9 in held.open
    held.tell(9, np.array([1.0, np.nan]))
    held.tell(77, np.ones(2))
    held.tell(None, np.ones(2))
    assert json.dumps(held.to_dict()) == before


def test_a_search_is_calm_after_three_rounds_within_the_tolerance():
    held = held_out([0.03] * 6)
    for n in (8, 10, 12, 16):  # there is a round for each batch, and none at 10
        held.note_round(n, SPAN, NO_NOISE, 0.01, batch=4)
    assert [one.n for one in held.rounds] == [8, 12, 16]
    assert [one.uncertainty for one in held.rounds] == pytest.approx([0.03] * 3)
    assert held.calm(0.031)
    assert not held.calm(0.029)
    held.note_round(20, SPAN, NO_NOISE, 0.02, batch=4)  # the error is the same, but not how sure
    assert not held.calm(0.031)
    unknown = HeldOut()
    for n in (8, 12, 16):
        unknown.note_round(n, SPAN, NO_NOISE, 0.01, batch=4)
    assert not unknown.calm(1e9)


def test_it_survives_json():
    held = held_out([0.03] * 6)
    held.predict(9, np.array([1.0, 2.0]), np.array([0.1, 0.2]))
    held.note_round(8, SPAN, NO_NOISE, 0.01, batch=4)
    again = HeldOut.from_dict(json.loads(json.dumps(held.to_dict())))
    assert again == held
    few = held_out([])
    few.note_round(8, SPAN, NO_NOISE, 0.01, batch=4)
    assert "null" in json.dumps(few.to_dict())
    assert np.isnan(HeldOut.from_dict(few.to_dict()).rounds[0].error)


def test_the_estimate_of_a_surface_is_that_of_its_held_out_errors():
    held = HeldOut()
    errors = np.array([[0.1, 4.0], [-0.3, 2.0], [0.2, -6.0]])
    for number, error in enumerate(errors):
        held.predict(number, np.ones(2), np.ones(2))
        held.tell(number, 1 + error)
    estimate = held.estimate(np.array([1.0, 20.0]), 17)
    relative = errors / [1.0, 20.0]
    assert float(estimate) == pytest.approx(np.sqrt(np.mean(relative**2)))
    assert estimate.max == pytest.approx(0.3)
    assert estimate.by_objective == pytest.approx(np.sqrt(np.mean(errors**2, axis=0)))
    assert (estimate.n_samples, estimate.evaluations) == (3, 17)
    assert np.isnan(float(held_out([0.1]).estimate(SPAN, 9)))
    assert held_out([0.1]).estimate(SPAN, 9).by_objective is None


def test_predictions_are_those_of_the_model_before_the_evaluation(searched):
    """Of the last batch: what was noted when it was asked for, and what became of it."""
    memory, model, search = (
        json.loads(searched.memories[-1]),
        searched.models[-1],
        searched.search,
    )
    asked = {number: x for number, x, _ in searched.told}
    noise = model.scale * np.sqrt(model.nugget)
    assert memory["held_out"]["open"]
    for number, mean, std in memory["held_out"]["open"]:
        u = search.domain.to_cube(np.array([asked[number]]))
        np.testing.assert_allclose(mean, means(model, u)[0] * [1, -1], rtol=1e-9)
        np.testing.assert_allclose(std, np.hypot(stds(model, u)[0], noise), rtol=1e-6)
    told = {number: y for number, _, y in searched.told}
    opened = {number: mean for number, mean, _ in memory["held_out"]["open"]}
    errors = [np.subtract(told[n], opened[n]).tolist() for n, _, _ in searched.told if n in opened]
    n = len(errors)
    assert [error for _, _, error in search.held_out.misses.values()][-n:] == errors
    assert not search.held_out.open


def test_degenerate_values_are_said():
    x = np.random.default_rng(0).random((20, 2))
    y = np.column_stack([x[:, 0], np.ones(20)])
    names = bf.Names(("cost", "mass"), ("a", "b"))
    assert "mass was 1 in all 20 evaluations" in what_is_wrong(x, y, names)[0]
    assert "all values were the same" in what_is_wrong(x, np.ones((20, 2)), names)[0]
    y[:, 1] = x[:, 1]
    assert what_is_wrong(x, y, names) == []
    y[7, 1] = 1e6
    (said,) = what_is_wrong(x, y, names)
    assert said.startswith("mass was 1e+06 at x = ")
    # nine values are too few to call one of them an outlier
    assert what_is_wrong(x[:9], y[:9], names) == []


def test_values_that_differ_by_rounding_alone_are_constant():
    x = np.random.default_rng(0).random((20, 2))
    y = np.column_stack([x[:, 0], 5e8 + 1e-6 * x[:, 1]])
    names = bf.Names(("cost", "mass"), ("a", "b"))
    assert len(what_is_wrong(x, y, names)) == 1
    assert what_is_wrong(x, y * [1, 0] + x, names) == []


def test_values_below_zero_that_cannot_be_are_named_where_they_are_not_noise():
    x, names = np.linspace(0, 1, 20)[:, None], bf.Names(("mass", "cost")).complete(2, 1)
    y = np.stack([1 + x[:, 0], 2 - x[:, 0]], axis=1)
    y[3, 0] = -0.1
    assert what_is_wrong(x, y, names, (True, True)) == []
    y[3, 0] = -1.0
    (said,) = what_is_wrong(x, y, names, (True, True))
    assert said.startswith("mass was -1 at x = [0.157895], and is predicted to be 0 at least")
    assert what_is_wrong(x, y, names, (False, True)) == []
