"""The search for expensive objectives: asked, told, restored, and the surface that it ends in."""

import json
import re
from functools import cache

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.gaussian import Parameters, condition, mean_path
from bezierflow.surrogate.diagnosis import what_is_wrong
from bezierflow.surrogate.held_out import HeldOut
from bezierflow.surrogate.model_sets import find_sets, properly_nondominated
from bezierflow.surrogate.proposals import CLOSE, Known, Wanted, emptiest, is_taken, propose

BOUNDS = ([-2.0, -1.0], [2.0, 3.0])
RNG = np.random.default_rng


def values(x):
    """Distances to two points; the Pareto set is the segment between them. The second is maximized
    as its negative."""
    x = np.asarray(x)
    first, second = np.sum((x - [-1.0, 0.0]) ** 2, axis=-1), np.sum((x - [1.0, 1.0]) ** 2, axis=-1)
    return np.stack([first, -second], axis=-1)


def new(**settings):
    return bf.surrogate.Search(BOUNDS, 2, maximize=[1], **{"seed": 3, "budget": 12, **settings})


@cache
def searched():
    """A search of 12 evaluations, one of them failed, and what it was asked and told."""
    search, told, memories = new(), [], []
    while search.ledger.n_told < 12:
        x = search.ask(4)
        numbers = list(search.pending)
        memories.append(json.dumps(search.memory))
        for k in (2, 0, 3, 1):
            y = None if numbers[k] == 5 else values(x[k])
            search.tell(x[k], y)
            told.append((numbers[k], x[k].tolist(), None if y is None else y.tolist()))
    return search, told, memories


@cache
def solved():
    return searched()[0].solution()


def test_settings_told_points_and_memory_restore_the_next_points_to_the_last_bit():
    """Also with memory from before the last evaluations were told, and with points in flight."""
    search, told, memories = searched()
    asked = [(number, x) for number, x, _ in sorted(told, key=lambda row: row[0])]
    through_json = json.loads(json.dumps([search.settings, asked, told[:10]]))
    restored = bf.surrogate.Search.restore(*through_json, memory=json.loads(memories[-1]))
    assert restored.settings == search.settings
    assert sorted(restored.pending) == sorted(number for number, _, _ in told[10:])
    for number, x, y in told[10:]:
        restored.tell(x, y)
        assert number not in restored.pending
    assert restored.memory == search.memory
    uninterrupted = bf.surrogate.Search.restore(search.settings, asked, told, search.memory)
    np.testing.assert_array_equal(restored.ask(3), uninterrupted.ask(3))


def test_points_are_within_bounds_apart_from_each_other_and_from_failed_ones():
    search, told, _ = searched()
    x = np.array([row for _, row, _ in told])
    u = search.domain.to_cube(x)
    assert ((u >= 0) & (u <= 1)).all()
    away = np.abs(u[:, None] - u[None]).max(axis=2)[np.triu_indices(len(u), 1)]
    assert away.min() > 1e-3
    assert int((~search.ledger.good).sum()) == 1
    assert search.model().posterior.is_point.sum() == 11


def test_the_surface_is_the_segment_and_its_error_is_that_of_predictions_before_evaluations():
    solution, (search, told, _) = solved(), searched()
    points = solution.spread(20)
    along = np.clip((points.X - [-1.0, 0.0]) @ np.array([2.0, 1.0]) / 5, 0, 1)
    exact = np.array([-1.0, 0.0]) + along[:, None] * np.array([2.0, 1.0])
    assert np.abs(points.X - exact).max() < 0.1
    np.testing.assert_allclose(points.F, values(points.X), atol=0.1)
    errors = np.array([miss.error for miss in search.held_out.misses])
    by_objective = np.sqrt(np.mean(errors**2, axis=0))
    np.testing.assert_allclose(solution.error.by_objective, by_objective)
    # not the flow's own estimate on the mean
    assert float(solution.error) > np.abs(points.F - values(points.X)).max() / 10
    y = np.array([row for _, _, row in told if row is not None])
    np.testing.assert_array_equal(solution.evaluated.F, y)
    dominated = [
        (((other[0] <= row[0]) & (other[1] >= row[1])) & (other != row).any())
        for row in y
        for other in y
    ]
    np.testing.assert_array_equal(
        solution.evaluated.nondominated, ~np.reshape(dominated, (len(y), len(y))).any(axis=1)
    )
    assert (solution.front_std(points.t) > 0).all()


def test_a_solution_of_a_surrogate_answers_after_a_file_as_before(tmp_path):
    solution = solved()
    solution.save(tmp_path / "found.bez")
    loaded = bf.load(tmp_path / "found.bez")
    t = solution.spread(5).t
    np.testing.assert_allclose(loaded.front(t), solution.front(t), rtol=1e-12)
    np.testing.assert_allclose(loaded.front_std(t), solution.front_std(t), rtol=1e-6)
    np.testing.assert_array_equal(loaded.evaluated.X, solution.evaluated.X)
    assert loaded.error.by_objective == solution.error.by_objective
    choice = bf.decisions.best(solution, minimize="f1", subject_to={"f2": (-1.0, None)})
    assert choice.f[1] >= -1.0 - 1e-6
    assert "expected by a surrogate" in str(choice)
    assert "surrogate" in bf.explore(solution, tmp_path / "page.html").read_text(encoding="utf-8")


def test_pictures_mark_the_best_evaluations_and_how_uncertain_the_front_is():
    solution = solved()
    best, front, designs = (
        solution.evaluated.nondominated,
        bf.plots.front(solution),
        bf.plots.surface(solution),
    )

    def marked(ax):
        return next(
            one.get_offsets() for one in ax.collections if one.get_label() == "best evaluations"
        )

    np.testing.assert_array_equal(marked(front), solution.evaluated.F[best])
    np.testing.assert_array_equal(marked(designs), solution.evaluated.X[best])
    segments = np.array(front.containers[0][2][0].get_segments())
    deviations = solution.front_std(solution.spread(len(segments)).t)
    # two each way
    np.testing.assert_allclose(np.ptp(segments[:, :, 0], axis=1), 4 * deviations[:, 0], rtol=1e-6)


@pytest.mark.slow
def test_minimize_keeps_the_budget_takes_known_values_and_says_that_an_objective_is_constant():
    calls = []

    def one_constant(x):
        calls.append(x)
        return [values(x)[0], 5.0]

    known = np.random.default_rng(0).uniform(*BOUNDS, (10, 2))
    F = np.column_stack([values(known)[:, 0], np.full(10, 5.0)])
    solution = bf.minimize(
        one_constant,
        (known, F),
        bf.Surrogate(batch=2),
        bounds=BOUNDS,
        maximize=[1],
        budget=2,
        tol=1e-9,
    )
    assert len(calls) == 2
    assert len(solution.evaluated.F) == 12
    assert solution.result.reason is bf.Reason.SUSPECT
    assert "f2 was 5 in all 12 evaluations" in solution.result.message


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


def test_held_out_errors_calibrate_and_end_the_search():
    held = HeldOut()
    for number in range(6):
        held = held.predicted(number, np.zeros(2), np.full(2, 0.01)).told(number, np.full(2, 0.03))
    assert held.calibration == pytest.approx(3.0)
    assert held.relative_error(np.ones(2), np.zeros(2)) == pytest.approx(0.03)
    assert held.relative_error(np.ones(2), np.full(2, 0.03)) == pytest.approx(0.0, abs=1e-9)
    for n in (8, 10, 12, 16):
        held = held.noted(n, np.ones(2), np.zeros(2), 0.01, batch=4)
    assert [round.n for round in held.rounds] == [8, 12, 16]
    assert held.calm(0.031)
    assert not held.calm(0.029)
    assert HeldOut.from_dict(json.loads(json.dumps(held.to_dict()))) == held
    assert (
        held.predicted(9, np.zeros(2), np.ones(2)).told(9, np.full(2, np.nan)).misses == held.misses
    )


def test_places_that_are_taken_or_failed_are_left_for_the_emptiest():
    known = Known(np.array([[0.1, 0.1]]), np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]]))
    picked = np.zeros((0, 2))
    points = np.array([[0.1, 0.10005], [0.9, 0.1], [0.51, 0.5], [0.11, 0.1]])
    assert is_taken(points, known, picked).tolist() == [True, True, True, False]
    place = emptiest(known, picked, np.random.default_rng(0))
    assert (
        min(np.linalg.norm(place - other) for other in ([0.1, 0.1], [0.9, 0.1], [0.5, 0.5])) > 0.6
    )


def test_one_point_of_eight_teaches_while_the_surface_is_uncertain_and_none_is_asked_for_twice():
    search = new()
    x = search.ask(search.n_initial)
    search.tell(x, values(x))
    u = search.domain.to_cube(x)
    nothing = u[:0]

    def proposed(calibration):
        known, wanted = Known(u, nothing, nothing), Wanted(range(8), np.full(2, np.inf))
        return propose(
            search.model().posterior, known, wanted, calibration, np.random.default_rng(0)
        )

    assert proposed(1e9).on_surface.tolist() == [True] * 7 + [False]
    known_well = proposed(0.0)
    assert known_well.on_surface.all()
    places = np.concatenate([u, known_well.u])
    away = np.abs(places[:, None] - places[None]).max(axis=2) + np.eye(len(places))
    assert away.min() >= CLOSE


@cache
def told(worst):
    """A search of 20 evaluations; f1 (minimized) ranges over [0, 5] on the whole set, f2
    (maximized) over [-5, 0]."""
    search = new(worst=dict(worst), budget=20)
    while search.ledger.n_told < 20:
        x = search.ask(4)
        search.tell(x, values(x))
    return search


def test_for_hypervolume_designs_are_chosen_within_the_worst_values_of_use_and_the_surface_ends_there():
    search, whole = told((("f1", 2.0), (1, -3.0))), told(())
    chosen, of_whole = (one.ledger.values()[one.n_initial :] for one in (search, whole))

    def is_useful(f):
        return (f[:, 0] <= 2.1) & (f[:, 1] >= -3.1)

    assert is_useful(chosen).mean() > 0.7 > is_useful(of_whole).mean()
    F = search.solution().spread(50).F
    assert F[:, 0].max() == pytest.approx(2.0, abs=1e-4)
    assert F[:, 1].min() == pytest.approx(-3.0, abs=1e-4)
    assert search.worst == [2.0, -3.0]
    assert (
        bf.surrogate.Search.restore(json.loads(json.dumps(search.settings))).settings
        == search.settings
    )


def test_worst_values_far_beyond_the_set_do_not_draw_designs_to_its_ends():
    """Of 14 designs hardly any two are nearly the same, and no part of the set is left empty."""
    f1 = told(((0, 1e6), (1, -1e6))).ledger.values()[6:, 0]
    gaps = np.diff(np.sort(f1[f1 < 5.2]))
    assert gaps.max() < 1.3
    assert np.sum(gaps < 0.02) <= 2


def test_worst_values_out_of_reach_are_said_and_left_out_of_account():
    search = new(worst=[-1.0, None], budget=20)
    search.tell(told(()).ledger.designs(good=True), told(()).ledger.values())
    solution = search.solution()
    assert solution.result.reason is bf.Reason.SUSPECT
    assert re.search(
        r"no design is expected within worst, the nearest one has f1 \S+ \(worst: -1\)",
        solution.result.message,
    )
    assert solution.made_by["worst"] == [-1.0, None]
    np.testing.assert_allclose(np.ptp(solution.spread(50).F, axis=0), 5.0, rtol=0.05)


def test_a_set_of_which_little_is_of_use_is_found():
    search = told(())
    posterior = search.model().posterior
    unit, shift = np.asarray(posterior.scale), np.asarray(posterior.shift)
    whole = find_sets(
        mean_path(posterior),
        search.domain.to_cube(search.ledger.designs(good=True)),
        np.full(2, np.inf),
        RNG(0),
    )[0]
    z = (whole.f - whole.f.min(axis=0)) / np.ptp(whole.f, axis=0)
    corner = whole.f.min(axis=0) + 1.001 * z.max(axis=1).min() * np.ptp(whole.f, axis=0)
    search = new(worst=search.domain.names.signs * (corner * unit + shift), budget=20)
    search.tell(told(()).ledger.designs(good=True), told(()).ledger.values())
    assert "no design is expected within worst" not in search.solution().result.message


def test_the_end_of_a_set_is_found_whichever_of_two_basins_it_is_in():
    """f2 has two wells at opposite corners, one of which is a little deeper; f1 is least in the
    other one."""
    u = RNG(0).random((120, 5))
    wells = [np.exp(-2 * ((u - corner) ** 2).sum(axis=1)) for corner in (0.1, 0.9)]
    f = np.column_stack([u.sum(axis=1), -wells[0] - 1.03 * wells[1]])
    known = Parameters(
        np.full((2, 5), 0.7), np.ones(2), np.full(2, 1e-6), np.zeros(2), np.zeros(2, dtype=int)
    )
    path = mean_path(condition(u, f, known, np.zeros(2), np.ones(2)))
    for seed in range(4):
        found = find_sets(path, u[:3], np.full(2, np.inf), RNG(seed))[0]
        np.testing.assert_allclose(found.u[found.f[:, 1].argmin()], 0.9, atol=0.1)


@pytest.mark.parametrize(("is_noise", "n_spread"), [(True, 2), (False, 0)])
def test_half_of_the_points_are_spread_evenly_while_an_objective_is_mostly_noise(
    is_noise, n_spread
):
    search = new()
    x = search.ask(search.n_initial + 6)
    y = values(x)
    y[:, 1] = RNG(1).standard_normal(len(x)) if is_noise else y[:, 1]
    search.tell(x, y)
    spread, asked = search._spread(4), search.domain.to_cube(search.ask(4))
    assert np.isclose(asked[:, None], spread[None]).all(axis=2).any(axis=1).sum() == n_spread


def test_tails_that_gain_less_than_a_hundredth_of_what_they_lose_are_left_out():
    front = np.column_stack([np.linspace(0, 1, 11), np.linspace(1, 0, 11)])
    tail = np.array([[-1e-4, 3.0], [-2e-4, 9.0]])
    keep = properly_nondominated(np.concatenate([front, tail]))
    assert keep[:11].all()
    assert not keep[11:].any()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: bf.surrogate.Search(([0, 0], [1, np.inf]), 2), "bounds must be finite"),
        (
            lambda: bf.surrogate.Search(BOUNDS, 1),
            "n_objectives must be a whole number of at least 2",
        ),
        (lambda: bf.surrogate.Search(BOUNDS, 2, noise="loud"), "noise must be one of"),
        (
            lambda: bf.surrogate.Search(BOUNDS, 2, worst={"cost": 1.0}),
            "worst: 'cost' is no objective; there are 'f1', 'f2'",
        ),
        (
            lambda: bf.surrogate.Search(BOUNDS, 2, worst={1.0: 1.0}),
            "worst must give each objective by name, or by its number from 0 to 1, got 1.0",
        ),
        (
            lambda: bf.surrogate.Search(BOUNDS, 2, worst={0: 1.0, "f1": 2.0}),
            "worst has two values for 'f1'",
        ),
        (
            lambda: bf.surrogate.Search(BOUNDS, 2, worst=[1.0]),
            "worst must have a value for each of 2 objectives",
        ),
        (
            lambda: bf.surrogate.Search(BOUNDS, 2, worst=[1.0, np.nan]),
            r"worst\[1\] must be a finite number, got nan; leave an objective out",
        ),
        (lambda: bf.surrogate.Search(BOUNDS, 2, worst=b"ab"), "worst must be a dict such as"),
        (
            lambda: bf.surrogate.Search(BOUNDS, 2, worst=np.array(3.0)),
            "worst must be a dict such as",
        ),
        (
            lambda: bf.minimize(
                values, None, bf.Surrogate(worst={"cost": 1}), bounds=BOUNDS, budget=9
            ),
            "they are f1, f2",
        ),
        (
            lambda: bf.surrogate.Search(([0.0, 1.0], [1.0, 2.0]), 2, transforms={0: "log10"}),
            "bounds must be positive for x1",
        ),
        (lambda: new().ask(0), "n must be a whole number"),
        (lambda: new().tell([0.0, 9.0], [1.0, 2.0]), "within the bounds"),
        (lambda: new().tell([0.0, 0.0], [1.0]), "y must have 2 values"),
        (lambda: new().solution(), "needs 4 evaluations"),
        (lambda: bf.minimize(values, None, bf.Surrogate(), bounds=BOUNDS), "budget must be given"),
        (lambda: bf.minimize(values, None, bf.Surrogate(), budget=9), "bounds must be given"),
        (
            lambda: bf.minimize(
                values, None, bf.Surrogate(), bounds=BOUNDS, budget=9, constraints=[values]
            ),
            "constraints=.* do not go with a Surrogate",
        ),
    ],
)
def test_misuse_is_said_at_the_door(wrong, says):
    with pytest.raises((TypeError, ValueError), match=says):
        wrong()
