"""Acquisition functions against direct computations, and what is proposed by them."""

import itertools
from functools import cache

import numpy as np
import pytest

from bezierflow.gaussian import (
    condition,
    covariances,
    fit_posterior,
    mean_path,
    means,
    sample_paths,
)
from bezierflow.surrogate import (
    Gate,
    Known,
    ModelSet,
    VarianceReduction,
    chance,
    emptiest,
    find_sets,
    is_taken,
    most_improvement,
    properly_nondominated,
    propose,
    shortfall,
)

RNG = np.random.default_rng
ANY = np.full(2, np.inf)
NOTHING = np.zeros((0, 2))
CLOSE = 1e-4


def hyperparameters(n_variables, length=0.7, nugget=1e-6):
    return {
        "lengths": np.full((2, n_variables), length),
        "variance": np.ones(2),
        "nugget": np.full(2, nugget),
        "level": np.zeros(2),
        "kind": np.array([0, 1]),
    }


def processes(u, f, length=0.7, nugget=1e-6):
    return condition(u, f, hyperparameters(u.shape[1], length, nugget), np.zeros(2), np.ones(2))


@cache
def known_processes():
    """Squared distances to two points of the square, at 16 points."""
    u = RNG(0).random((16, 2))
    f = np.stack([((u - center) ** 2).sum(axis=1) for center in (0.2, 0.8)], axis=1)
    return u, processes(u, f, length=1.5)


def volume(points, reference):
    """The dominated volume of points with whole coordinates, cell by cell."""
    corners = itertools.product(*(range(int(end)) for end in reference))
    return sum(
        any(all(p <= c for p, c in zip(point, corner, strict=True)) for point in points)
        for corner in corners
    )


@pytest.mark.parametrize("n_objectives", [2, 3])
def test_the_largest_hypervolume_improvement_is_that_of_counted_cells(n_objectives):
    rng = RNG(n_objectives)
    for _ in range(8):
        known, f = (rng.integers(0, 8, (n, n_objectives)).astype(float) for n in (4, 12))
        reference, free = np.full(n_objectives, 7.0), rng.random(12) < 0.7
        before = volume(known, reference)
        gains = np.array([volume([*known, row], reference) - before for row in f]) * free
        row = most_improvement(f, known, reference, free.astype(float))
        if gains.max() == 0:
            assert row is None
        else:
            assert free[row]
            assert gains[row] == gains.max()


def test_what_is_dominated_or_beyond_the_reference_point_improves_nothing():
    known, reference = np.array([[1.0, 1.0]]), np.full(2, 3.0)
    free = np.ones(1)
    for f in ([2.0, 2.0], [1.0, 1.0], [0.0, 3.0], [4.0, 0.0]):
        assert most_improvement(np.array([f]), known, reference, free) is None
    assert most_improvement(np.array([[0.0, 2.0]]), known, reference, free) == 0
    assert most_improvement(np.array([[0.0, 2.0]]), known, reference, 0 * free) is None


@cache
def exploring(pending=(), failed=()):
    """A table over two sets of three points each, with what it was made of."""
    u, posterior = known_processes()
    sets = [ModelSet(v, np.zeros((3, 2))) for v in RNG(1).random((2, 3, 2))]
    known = Known(u, np.reshape(pending, (-1, 2)), np.reshape(failed, (-1, 2)))
    span = np.array([0.5, 2.0])
    return VarianceReduction(posterior, sets, known, span, RNG(0)), sets, span


def mean_variance(sets, span, extra=()):
    """Along sets, after evaluations at `extra`, from a posterior that is conditioned anew."""
    points = np.vstack([known_processes()[0], np.reshape(extra, (-1, 2))])
    after = processes(points, np.zeros((len(points), 2)), length=1.5)
    targets = np.concatenate([one.u for one in sets])
    variances = np.diagonal(covariances(after, targets), axis1=1, axis2=2)
    return (variances / span[:, None] ** 2).mean(axis=1).sum()


def test_the_most_informative_point_is_that_of_posteriors_conditioned_anew():
    table, sets, span = exploring()
    every = np.ones(len(table.candidates))
    row = table.best(every)
    sample = [row, *range(0, len(every), 12)]
    left = [mean_variance(sets, span, table.candidates[k]) for k in sample]
    # jitter makes posteriors differ a little
    assert left[0] <= min(left[1:]) * (1 + 1e-3)
    assert left[0] < mean_variance(sets, span)
    every[row] = 0.0
    assert table.best(every) != row
    assert table.best(np.zeros(len(every))) is None


def test_points_that_are_pending_or_failed_teach_nothing_any_more():
    table, _, _ = exploring()
    row = table.best(np.ones(len(table.candidates)))
    place = tuple(table.candidates[row])
    for changed in (exploring(pending=place)[0], exploring(failed=place)[0]):
        np.testing.assert_array_equal(changed.candidates, table.candidates)
        other = changed.best(np.ones(len(table.candidates)))
        assert np.linalg.norm(changed.candidates[other] - place) > 0.05


def test_a_picked_point_counts_as_evaluated():
    u, posterior = known_processes()
    sets = [ModelSet(RNG(1).random((3, 2)), np.zeros((3, 2)))]
    picked, asked = (
        VarianceReduction(posterior, sets, Known(u, pending, NOTHING), np.ones(2), RNG(0))
        for pending in (NOTHING, sets[0].u[:1])
    )
    picked.condition(0)
    every = np.ones(len(picked.candidates))
    assert picked.best(every) == asked.best(every)


def test_places_that_are_taken_or_failed_are_left_for_the_emptiest():
    known = Known(np.array([[0.1, 0.1]]), np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]]))
    points = np.array([[0.1, 0.10005], [0.9, 0.1], [0.51, 0.5], [0.11, 0.1]])
    assert is_taken(points, known).tolist() == [True, True, True, False]
    place = emptiest(known, RNG(0))
    assert min(np.linalg.norm(place - other) for other in np.concatenate(known[:3])) > 0.6
    assert not is_taken(points, Known(NOTHING, NOTHING, NOTHING)).any()


def test_tails_that_gain_less_than_a_hundredth_of_what_they_lose_are_left_out():
    front = np.column_stack([np.linspace(0, 1, 11), np.linspace(1, 0, 11)])
    tail = np.array([[-1e-4, 3.0], [-2e-4, 9.0]])
    keep = properly_nondominated(np.concatenate([front, tail]))
    assert keep[:11].all()
    assert not keep[11:].any()


def test_properly_nondominated_points_are_nondominated_whatever_units_and_order_are():
    f = RNG(0).random((60, 3)) ** 2
    keep = properly_nondominated(f)
    for row in f[keep]:
        assert not ((f <= row).all(axis=1) & (f < row).any(axis=1)).any()
    np.testing.assert_array_equal(properly_nondominated(f * [8.0, 0.25, 1024.0]), keep)
    order = RNG(1).permutation(60)
    np.testing.assert_array_equal(properly_nondominated(f[order]), keep[order])
    constant = np.column_stack([f[:, 0], np.full(60, 3.0)])
    assert properly_nondominated(constant).sum() == 1


def test_the_set_of_distances_is_the_segment():
    u, posterior = known_processes()
    (found,) = find_sets(mean_path(posterior), u[:3], ANY, RNG(0))
    assert ((found.u >= 0) & (found.u <= 1)).all()
    assert np.abs(found.u[:, 0] - found.u[:, 1]).max() < 0.08
    assert np.median(np.abs(found.u[:, 0] - found.u[:, 1])) < 0.01
    ends = found.u[found.f.argmin(axis=0)]
    np.testing.assert_allclose(ends, [[0.2, 0.2], [0.8, 0.8]], atol=0.03)
    # values are those of the mean, and no gap is left
    np.testing.assert_allclose(found.f, means(posterior, found.u), atol=1e-10)
    assert np.diff(np.sort(found.u[:, 0])).max() < 0.05


@pytest.mark.slow
def test_sets_of_paths_are_theirs_and_the_same_for_the_same_seed():
    u, posterior = known_processes()
    paths = sample_paths(posterior, 2, RNG(0))
    found, again = (find_sets(paths, u[:3], ANY, RNG(1)) for _ in range(2))
    for one, same in zip(found, again, strict=True):
        np.testing.assert_array_equal(one.u, same.u)
        assert properly_nondominated(one.f).all()
    # drawn where nearly all is known: both are near the mean's
    for one in found:
        assert np.abs(one.u[:, 0] - one.u[:, 1]).max() < 0.2


def test_the_end_of_a_set_is_found_whichever_of_two_basins_it_is_in():
    """f2 has two wells at opposite corners, one of which is a little deeper; f1 is least in the
    other one."""
    u = RNG(0).random((120, 5))
    wells = [np.exp(-2 * ((u - corner) ** 2).sum(axis=1)) for corner in (0.1, 0.9)]
    f = np.column_stack([u.sum(axis=1), -wells[0] - 1.03 * wells[1]])
    known = {**hyperparameters(5), "kind": np.zeros(2, dtype=int)}
    path = mean_path(condition(u, f, known, np.zeros(2), np.ones(2)))
    for seed in range(4):
        found = find_sets(path, u[:3], ANY, RNG(seed))[0]
        np.testing.assert_allclose(found.u[found.f[:, 1].argmin()], 0.9, atol=0.1)


def proposed(calibration=0.0, known=None, n=8, seed=0, worst=ANY):
    u, posterior = known_processes()
    known = known or Known(u, NOTHING, NOTHING)
    return propose(posterior, known, range(n), worst, calibration, RNG(seed))


def apart(*points):
    """The least distance between any two, along the variable where it is largest."""
    rows = np.concatenate(points)
    return np.abs(rows[:, None] - rows[None]).max(axis=2)[np.triu_indices(len(rows), 1)].min()


def test_one_point_of_eight_explores_while_the_surface_is_uncertain():
    assert proposed(1e9).on_surface.tolist() == [True] * 7 + [False]
    assert proposed(0.0).on_surface.all()


def test_proposals_are_within_the_cube_apart_and_on_the_set():
    u, _ = known_processes()
    found = proposed()
    assert ((found.u >= 0) & (found.u <= 1)).all()
    assert apart(u, found.u) >= CLOSE
    assert np.abs(found.u[:, 0] - found.u[:, 1]).max() < 0.03
    np.testing.assert_allclose(found.span, 0.72, rtol=0.05)  # from 0 to 2 · 0.6²
    assert 0 < found.uncertainty < 0.01
    np.testing.assert_array_equal(found.u, proposed().u)


def test_proposals_spread_over_the_set():
    """The first improves hypervolume most: near the middle, or where least is known. No part of the
    set is left empty."""
    along = np.sort(proposed().u.mean(axis=1))
    assert np.diff(along).max() < 0.25
    assert along[-1] - along[0] > 0.4


def test_pending_points_count_with_the_values_that_are_expected_of_them():
    u, posterior = known_processes()
    first = proposed()
    then = proposed(known=Known(u, first.u, NOTHING))
    assert apart(u, first.u, then.u) >= CLOSE
    # as if they had been evaluated with these values
    both, f = np.vstack([u, first.u]), means(posterior, np.vstack([u, first.u]))
    told = propose(
        processes(both, f, length=1.5), Known(both, NOTHING, NOTHING), range(8), ANY, 0.0, RNG(0)
    )
    assert max(np.abs(told.u - one).max(axis=1).min() for one in then.u) < 0.06


def test_nothing_is_proposed_where_an_evaluation_failed():
    u, _ = known_processes()
    failed = np.column_stack([np.linspace(0.2, 0.8, 31)] * 2)[:16]
    found = proposed(known=Known(u, NOTHING, failed))
    away = np.abs(found.u[:, None] - failed[None]).max(axis=2).min(axis=1)
    assert away.min() >= 0.02
    assert found.on_surface.any()


def test_where_the_whole_set_is_taken_the_emptiest_places_are_proposed():
    u, _ = known_processes()
    line = np.linspace(0, 1, 51)
    failed = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    failed = failed[np.abs(failed[:, 0] - failed[:, 1]) < 0.2]
    found = proposed(known=Known(u, NOTHING, failed), n=3)
    assert not found.on_surface.any()
    assert apart(found.u) > 0.02
    assert np.abs(found.u[:, 0] - found.u[:, 1]).min() > 0.2


def test_worst_values_of_use_move_proposals_to_what_is_of_use():
    worst = np.array([0.18, np.inf])  # a distance of at most 0.3 from (0.2, 0.2) along the diagonal
    _, posterior = known_processes()
    assert (means(posterior, proposed(worst=worst).u)[:, 0] <= 0.18 + 1e-6).all()
    assert (means(posterior, proposed().u)[:, 0] > 0.18).any()


def success_process(fails, n=60, n_variables=2):
    """The process of success where a function of points says what fails, from random points."""
    u = RNG(5).random((n, n_variables))
    labels = np.where(fails(u), -1.0, 1.0)[:, None]
    posterior = fit_posterior(u, labels, "some", None, "full", (0.14, 0.42))[1]
    return u, Gate.of_success(posterior)


def test_success_is_likely_where_evaluations_succeeded_and_not_where_they_failed():
    def fails(u):
        return u[:, 0] > 0.6

    _, success = success_process(fails)
    u = RNG(6).random((300, 2))
    clear = np.abs(u[:, 0] - 0.6) > 0.12
    likely = chance((success,), u) > 0.5
    assert (likely == ~fails(u))[clear].mean() > 0.97
    assert (chance((), u) == 1).all()
    assert (shortfall((success,), u)[clear & fails(u)] > 0).mean() > 0.97


def test_sets_and_proposals_keep_to_where_success_is_expected():
    """The set is the diagonal between two points; the part beyond 0.5 cannot be evaluated."""

    def fails(u):
        return u[:, 0] > 0.5

    u, posterior = known_processes()
    _, success = success_process(fails)
    whole = find_sets(mean_path(posterior), u, ANY, RNG(0))[0]
    part = find_sets(mean_path(posterior), u, ANY, RNG(0), (success,))[0]
    assert fails(whole.u).mean() > 0.3
    assert fails(part.u).mean() < 0.02
    # what is left is the set within the limits: nothing inside dominates it
    assert part.u[:, 0].max() > 0.4
    known = Known(u[~fails(u)], NOTHING, u[fails(u)], (success,))
    proposed = propose(posterior, known, range(8), ANY, 1.0, RNG(0)).u
    assert fails(proposed).sum() <= 1
    places = [emptiest(known, RNG(k)) for k in range(20)]
    assert fails(np.array(places)).sum() <= 1


def test_an_improvement_counts_by_its_chance():
    known, reference = np.array([[2.0, 2.0]]), np.full(2, 4.0)
    f = np.array([[0.0, 0.0], [1.0, 1.0]])
    for worth, row in (([1.0, 1.0], 0), ([0.1, 0.9], 1), ([0.0, 0.0], None)):
        assert most_improvement(f, known, reference, np.array(worth)) == row
