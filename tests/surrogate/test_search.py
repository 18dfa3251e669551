"""The search for expensive objectives: asked, told, restored, and the surface that it ends in."""

import json
import re

import jax
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.gaussian import mean_path, means, stds
from bezierflow.precision import double_precision
from bezierflow.surrogate import Search, find_sets

RNG = np.random.default_rng


def in_cube(search, x):
    return search.domain.to_cube(np.asarray(x))


def apart(u):
    """The least distance between any two, along the variable where it is largest."""
    return np.abs(u[:, None] - u[None]).max(axis=2)[np.triu_indices(len(u), 1)].min()


def test_settings_told_points_and_memory_restore_the_next_points_to_the_last_bit(searched):
    """Also with memory from before the last evaluations were told, and with points in flight."""
    search, told = searched.search, searched.told
    asked = [(number, x) for number, x, _ in sorted(told, key=lambda row: row[0])]
    through_json = json.loads(json.dumps([search.settings, asked, told[:10]]))
    restored = Search.restore(*through_json, memory=json.loads(searched.memories[-1]))
    assert restored.settings == search.settings
    assert sorted(restored.pending) == sorted(number for number, _, _ in told[10:])
    for number, x, y in told[10:]:
        restored.tell(x, y)
        assert number not in restored.pending
    assert restored.memory == search.memory
    uninterrupted = Search.restore(search.settings, asked, told, search.memory)
    np.testing.assert_array_equal(restored.ask(3), uninterrupted.ask(3))


@pytest.mark.parametrize("batch", [0, 1, 2])
def test_a_search_that_is_restored_before_a_batch_asks_for_it_again(searched, batch):
    told = searched.told[: 4 * batch]
    asked = [(number, x) for number, x, _ in told]
    memory = json.loads(searched.memories[batch - 1]) if batch else None
    restored = Search.restore(searched.search.settings, asked, told, memory)
    x = {number: x for number, x, _ in searched.told}
    expected = [x[number] for number in range(4 * batch, 4 * batch + 4)]
    np.testing.assert_array_equal(restored.ask(4), expected)
    assert json.dumps(restored.memory) == searched.memories[batch]


def test_values_may_be_told_one_by_one_or_all_at_once(problem, searched):
    x, y = searched.search.evaluated
    at_once, one_by_one = problem.new(), problem.new()
    at_once.tell(x[:8], y[:8])
    for row, values in zip(x[:8], y[:8], strict=True):
        one_by_one.tell(row, values)
    np.testing.assert_array_equal(at_once.evaluated[1], y[:8])
    np.testing.assert_array_equal(at_once.ask(2), one_by_one.ask(2))


def test_points_are_within_bounds_apart_from_each_other_and_from_failed_ones(searched):
    search = searched.search
    u = in_cube(search, [x for _, x, _ in searched.told])
    assert ((u >= 0) & (u <= 1)).all()
    assert apart(u) > 1e-3
    assert len(search.evaluated[0]) == 11
    assert search.model()[1].is_point.sum() == 11


def test_points_in_flight_are_not_asked_for_again(problem, searched):
    x, y = searched.search.evaluated
    search = problem.new()
    search.tell(x, y)
    batches = [search.ask(2) for _ in range(3)]
    assert apart(in_cube(search, np.concatenate([x, *batches]))) >= 1e-4
    assert list(search.pending) == list(range(6))
    np.testing.assert_array_equal(list(search.pending.values()), np.concatenate(batches))
    search.pending.clear()  # a copy
    assert len(search.pending) == 6


def test_first_points_are_evenly_spread_whatever_the_objectives_are(problem):
    search, other = problem.new(), problem.new(seed=4)
    x = search.ask(6)
    assert search.n_initial == 6
    # of a Sobol sequence, four points in a row lie in different quarters of each variable
    quarters = np.sort(np.floor(4 * in_cube(search, x[:4])), axis=0)
    np.testing.assert_array_equal(quarters, np.tile(np.arange(4.0)[:, None], 2))
    np.testing.assert_array_equal(problem.new().ask(6), x)
    assert (other.ask(6) != x).all()
    parts = problem.new()
    np.testing.assert_array_equal(np.vstack([parts.ask(1), parts.ask(5)]), x)


def test_designs_that_nobody_asked_for_replace_first_points(problem):
    search = problem.new()
    x = RNG(0).uniform(*problem.bounds, (6, 2))
    search.tell(x, problem.values(x))
    spread = in_cube(search, problem.new().ask(4))
    asked = in_cube(search, search.ask(2))
    assert not np.isclose(asked[:, None], spread[None]).all(axis=2).any()
    assert search.memory["fits"]


def test_where_evaluations_fail_more_points_are_spread_until_there_are_enough(problem):
    search = problem.new(budget=None)
    expected = problem.new(budget=None).ask(12)
    x = search.ask(8)
    search.tell(x[:6], None)
    search.tell(x[6:], problem.values(x[6:]))
    np.testing.assert_array_equal(search.ask(4), expected[8:])
    assert not search.memory["fits"]


def test_something_wrong_in_what_is_told_changes_nothing(problem):
    search = problem.new()
    x = search.ask(2)
    before = json.dumps(search.memory)
    with pytest.raises(ValueError, match="y must have 2 values"):
        search.tell(x, [[1.0, 2.0], [1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="y must have values for each of the 2 designs, got 1"):
        search.tell(x, [[1.0, 2.0]])
    assert len(search.pending) == 2
    assert json.dumps(search.memory) == before
    assert len(search.evaluated[0]) == 0


@pytest.mark.parametrize("bad", [None, [np.nan, 1.0], [np.inf, 1.0]])
def test_values_that_are_not_finite_are_failures(problem, bad):
    search = problem.new()
    x = search.ask(1)[0]
    search.tell(x, bad)
    assert not search.pending
    assert len(search.evaluated[1]) == 0


@pytest.mark.parametrize("constant", [0.0, 5.0])
def test_an_objective_that_is_constant_does_not_stop_the_search(problem, constant):
    search = problem.new()
    x = RNG(0).uniform(*problem.bounds, (8, 2))
    search.tell(x, np.column_stack([problem.values(x)[:, 0], np.full(8, constant)]))
    u = in_cube(search, np.vstack([x, search.ask(3)]))
    assert ((u >= 0) & (u <= 1)).all()
    assert apart(u) >= 1e-4
    # what is left is the minimum of the other one
    assert np.linalg.norm(search.domain.from_cube(u)[8:] - [-1.0, 0.0], axis=1).min() < 0.5


@pytest.mark.parametrize(("is_noise", "n_spread"), [(True, 2), (False, 0)])
def test_half_of_the_points_are_spread_evenly_while_an_objective_is_mostly_noise(
    problem, is_noise, n_spread
):
    search = problem.new()
    x = search.ask(12)
    y = problem.values(x)
    y[:, 1] = RNG(1).standard_normal(len(x)) if is_noise else y[:, 1]
    search.tell(x, y)
    spread, asked = in_cube(search, problem.new().ask(16)[12:]), in_cube(search, search.ask(4))
    assert np.isclose(asked[:, None], spread[None]).all(axis=2).any(axis=1).sum() == n_spread


def test_noise_of_values_is_learned_and_part_of_predictions(problem):
    search = problem.new(budget=40)
    x = RNG(0).uniform(*problem.bounds, (30, 2))
    search.tell(x, problem.values(x) + 0.5 * RNG(1).standard_normal((30, 2)))
    _, posterior, _ = search.model()
    np.testing.assert_allclose(posterior.scale * np.sqrt(posterior.nugget), 0.5, rtol=0.5)
    search.ask(1)
    for _, (_, std) in search.held_out.open.items():
        assert min(std) > 0.25


def test_the_surface_is_the_segment_and_its_error_is_that_of_predictions_before_evaluations(
    problem, searched, solved
):
    points = solved.spread(20)
    along = np.clip((points.X - [-1.0, 0.0]) @ np.array([2.0, 1.0]) / 5, 0, 1)
    exact = np.array([-1.0, 0.0]) + along[:, None] * np.array([2.0, 1.0])
    assert np.abs(points.X - exact).max() < 0.1
    np.testing.assert_allclose(points.F, problem.values(points.X), atol=0.1)
    errors = np.array([error for _, _, error in searched.search.held_out.misses.values()])
    by_objective = np.sqrt(np.mean(errors**2, axis=0))
    np.testing.assert_allclose(solved.error.by_objective, by_objective)
    # not the flow's own estimate on the mean
    assert float(solved.error) > np.abs(points.F - problem.values(points.X)).max() / 10
    assert solved.stats.evaluations.objective == 12
    assert len(solved.history["error"]) == len(searched.search.held_out.rounds)


def test_the_solution_has_the_evaluations_and_which_of_them_are_best(searched, solved):
    y = np.array([row for _, _, row in searched.told if row is not None])
    np.testing.assert_array_equal(solved.evaluated.F, y)
    dominated = [
        (((other[0] <= row[0]) & (other[1] >= row[1])) & (other != row).any())
        for row in y
        for other in y
    ]
    np.testing.assert_array_equal(
        solved.evaluated.nondominated, ~np.reshape(dominated, (len(y), len(y))).any(axis=1)
    )
    assert solved.made_by["method"] == "surrogate"
    assert {solved.made_by[name] for name in ("seed", "noise", "budget")} == {3, "auto", 12}


def test_the_uncertainty_of_the_front_is_that_of_the_posterior_calibrated(searched, solved):
    search, t = searched.search, solved.spread(20).t
    expected = search.held_out.calibration * stds(
        search.model()[1], in_cube(search, solved.design(t))
    )
    np.testing.assert_allclose(solved.front_std(t), expected, rtol=1e-6)
    assert (expected > 0).all()


def test_a_solution_of_a_surrogate_answers_after_a_file_as_before(solved, tmp_path):
    solved.save(tmp_path / "found.bez")
    loaded = bf.load(tmp_path / "found.bez")
    t = solved.spread(5).t
    np.testing.assert_allclose(loaded.front(t), solved.front(t), rtol=1e-12)
    np.testing.assert_allclose(loaded.front_std(t), solved.front_std(t), rtol=1e-6)
    np.testing.assert_array_equal(loaded.evaluated.X, solved.evaluated.X)
    assert loaded.error.by_objective == solved.error.by_objective
    choice = bf.decisions.best(solved, minimize="f1", subject_to={"f2": (-1.0, None)})
    assert choice.f[1] >= -1.0 - 1e-6
    assert "expected by a surrogate" in str(choice)
    assert "surrogate" in bf.explore(solved, tmp_path / "page.html").read_text(encoding="utf-8")


def test_pictures_mark_the_best_evaluations_and_how_uncertain_the_front_is(solved):
    best, front, designs = (
        solved.evaluated.nondominated,
        bf.plots.front(solved),
        bf.plots.surface(solved),
    )

    def marked(ax):
        return next(
            one.get_offsets() for one in ax.collections if one.get_label() == "best evaluations"
        )

    np.testing.assert_array_equal(marked(front), solved.evaluated.F[best])
    np.testing.assert_array_equal(marked(designs), solved.evaluated.X[best])
    segments = np.array(front.containers[0][2][0].get_segments())
    deviations = solved.front_std(solved.spread(len(segments)).t)
    # two each way
    np.testing.assert_allclose(np.ptp(segments[:, :, 0], axis=1), 4 * deviations[:, 0], rtol=1e-6)


@pytest.mark.slow
def test_for_hypervolume_designs_are_chosen_within_the_worst_values_of_use_and_the_surface_ends_there(
    told,
):
    search, whole = told((("f1", 2.0), (1, -3.0))), told()
    chosen, of_whole = (one.evaluated[1][one.n_initial :] for one in (search, whole))

    def is_useful(f):
        return (f[:, 0] <= 2.1) & (f[:, 1] >= -3.1)

    assert is_useful(chosen).mean() > 0.7 > is_useful(of_whole).mean()
    F = search.solution().spread(50).F
    assert F[:, 0].max() == pytest.approx(2.0, abs=1e-4)
    assert F[:, 1].min() == pytest.approx(-3.0, abs=1e-4)
    assert search.worst == [2.0, -3.0]
    assert Search.restore(json.loads(json.dumps(search.settings))).settings == search.settings


def test_worst_values_far_beyond_the_set_do_not_draw_designs_to_its_ends(told):
    """Of 14 designs hardly any two are nearly the same, and no part of the set is left empty."""
    f1 = told(((0, 1e6), (1, -1e6))).evaluated[1][6:, 0]
    gaps = np.diff(np.sort(f1[f1 < 5.2]))
    assert gaps.max() < 1.3
    assert np.sum(gaps < 0.02) <= 2


@pytest.mark.slow
def test_worst_values_out_of_reach_are_said_and_left_out_of_account(problem, told):
    search = problem.new(worst=[-1.0, None], budget=20)
    search.tell(*told().evaluated)
    solution = search.solution()
    assert solution.result.reason is bf.Reason.SUSPECT
    assert re.search(
        r"no design is expected within worst, the nearest one has f1 \S+ \(worst: -1\)",
        solution.result.message,
    )
    assert solution.made_by["worst"] == [-1.0, None]
    np.testing.assert_allclose(np.ptp(solution.spread(50).F, axis=0), 5.0, rtol=0.05)


@pytest.mark.slow
def test_a_set_of_which_little_is_of_use_is_found(problem, told):
    search = told()
    _, posterior, _ = search.model()
    unit, shift = np.asarray(posterior.scale), np.asarray(posterior.shift)
    x, y = search.evaluated
    whole = find_sets(mean_path(posterior), in_cube(search, x), np.full(2, np.inf), RNG(0))[0]
    z = (whole.f - whole.f.min(axis=0)) / np.ptp(whole.f, axis=0)
    corner = whole.f.min(axis=0) + 1.001 * z.max(axis=1).min() * np.ptp(whole.f, axis=0)
    search = problem.new(worst=search.domain.names.signs * (corner * unit + shift), budget=20)
    search.tell(x, y)
    assert "no design is expected within worst" not in search.solution().result.message


def test_a_search_is_done_when_its_predictions_hold(told):
    """Smooth objectives are known well after 20 evaluations; not to any tolerance."""
    evaluations = [(None, x, y) for x, y in zip(*told().evaluated, strict=True)]
    search = Search.restore(told().settings, told=evaluations, memory=told().memory)
    search.ask(1)
    last = search.held_out.rounds[-3:]
    assert [one.n for one in last] == [12, 16, 20]
    largest = max(max(one.error, one.uncertainty) for one in last)
    assert largest < 0.1
    for tol, done in ((1.01 * largest, True), (0.99 * largest, False)):
        settings = {**search.settings, "tol": tol}
        assert Search.restore(settings, memory=search.memory).done is done


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda new: new(noise="loud"), "noise must be one of 'none', 'some', 'auto', got 'loud'"),
        (lambda new: new(batch=0), "batch must be a whole number of at least 1, got 0"),
        (lambda new: new(tol=-1.0), "tol must be a finite number of at least 0, got -1.0"),
        (lambda new: new().ask(0), "n must be a whole number of at least 1, got 0"),
        (lambda new: new().ask(1.5), "n must be a whole number of at least 1, got 1.5"),
        (lambda new: new().tell([0.0, 9.0], [1.0, 2.0]), "within the bounds"),
        (lambda new: new().tell([0.0, np.nan], [1.0, 2.0]), "x must have 2 finite numbers"),
        (lambda new: new().tell([0.0, 0.0, 0.0], [1.0, 2.0]), "x must have 2 finite numbers"),
        (lambda new: new().tell([0.0, 0.0], [1.0]), "y must have 2 values"),
        (lambda new: new().solution(), "needs 4 evaluations at least that did not fail, got 0"),
    ],
)
def test_misuse_is_said_at_the_door(problem, wrong, says):
    with pytest.raises((TypeError, ValueError), match=says):
        wrong(problem.new)


def test_designs_on_steps_are_apart_and_predicted_where_they_are(problem):
    search = problem.new(steps={"x1": 0.5, 1: 0.25}, budget=None)
    told = []
    while len(told) < 18:
        x = search.ask(3)
        assert (x % [0.5, 0.25] == 0).all()
        told += x.tolist()
        for number, (mean, _) in search.held_out.open.items():
            expected = search.domain.names.signs * means(
                search.model()[1], in_cube(search, search.pending[number][None])
            )
            np.testing.assert_allclose(mean, expected[0])
        search.tell(x, problem.values(x))
    assert len({tuple(x) for x in told}) == 18
    assert Search.restore(json.loads(json.dumps(search.settings))).settings == search.settings


@pytest.mark.slow
def test_a_search_keeps_away_from_where_evaluations_fail_and_so_does_its_surface(problem):
    """All designs with x1 > 0.3 fail: half of the segment that is the Pareto set."""
    search, failed = problem.new(budget=None, seed=1), []
    while len(failed) < 28:
        x = search.ask(4)
        failed += (x[:, 0] > 0.3).tolist()
        search.tell(x, [None if one[0] > 0.3 else problem.values(one) for one in x])
    assert sum(failed[12:]) <= 5
    restored = Search.restore(search.settings, memory=json.loads(json.dumps(search.memory)))
    assert len(restored.memory["fits"]) == 3  # that of success is the last
    solution = search.solution()
    points = np.asarray(solution.spread(40).X)
    assert (points[:, 0] > 0.35).mean() < 0.1
    assert points[:, 0].max() > 0.0
    assert "of the front lies along designs that are expected to fail" in solution.result.message
    assert 0 <= solution.made_by["limited"] < 0.5


def test_what_cannot_be_negative_is_not_predicted_to_be(problem):
    searches = [problem.new(nonnegative=chosen) for chosen in (None, "f1")]
    assert searches[1].settings["nonnegative"] == [True, False]
    x = searches[0].ask(12)
    for search in searches:
        # a steep valley, of which processes overshoot the floor
        search.tell(x, problem.values(x) ** 2 * [1, -1])
    free, bent = (search.solution() for search in searches)
    grid = np.stack(np.meshgrid(np.linspace(-2, 2, 60), np.linspace(-1, 3, 60)), axis=-1)
    with double_precision():
        before, after = (
            np.asarray(jax.vmap(s.surrogate)(grid.reshape(-1, 2))) for s in (free, bent)
        )
    assert before[:, 0].min() < 0 < after[:, 0].min()
    high = before[:, 0] > 1
    np.testing.assert_allclose(after[high], before[high], rtol=1e-3)
    np.testing.assert_array_equal(after[:, 1], before[:, 1])
    assert bent.front(bent.spread(50).t)[:, 0].min() > 0
    again = Search.restore(json.loads(json.dumps(searches[1].settings)))
    assert again.settings == searches[1].settings


def test_objectives_that_cannot_be_negative_must_be_known(problem):
    with pytest.raises(ValueError, match="nonnegative: 'cost' is no objective"):
        problem.new(nonnegative=["cost"])
