"""Multi-indices: all of them, in the one order, with exact coefficients; faces and their controls."""

from itertools import product
from math import comb, factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.simplex import (
    check_face,
    controls_on_face,
    faces,
    index_positions,
    largest_degree_within,
    multi_indices,
    multinomial,
    multinomials,
    n_controls,
    neighbor_positions,
    raised_positions,
    support,
)

small = st.tuples(st.integers(1, 5), st.integers(0, 6))


@settings(deadline=None)
@given(small)
def test_all_indices_in_descending_order(shape):
    n_objectives, degree = shape
    found = [tuple(row) for row in multi_indices(n_objectives, degree).tolist()]
    everything = [
        index for index in product(range(degree + 1), repeat=n_objectives) if sum(index) == degree
    ]
    assert found == sorted(everything, reverse=True)
    assert len(found) == n_controls(n_objectives, degree)
    assert found[0] == (degree, *[0] * (n_objectives - 1))
    assert found[-1] == (*[0] * (n_objectives - 1), degree)


@settings(deadline=None)
@given(small)
def test_positions_invert_the_order(shape):
    indices = multi_indices(*shape)
    np.testing.assert_array_equal(index_positions(indices), np.arange(len(indices)))
    assert index_positions(indices[-1]) == len(indices) - 1


def test_positions_of_indices_too_many_to_list():
    index = np.zeros(20, dtype=int)
    index[[3, 19]] = 30, 30
    # larger entries at places 0 to 2
    before = sum(comb(60 - 1 + 20 - place - 1, 20 - place - 1) for place in range(3))
    position = int(index_positions(index))
    assert 0 < before < position < n_controls(20, 60)
    assert int(index_positions(np.eye(20, dtype=int)[0] * 60)) == 0
    assert int(index_positions(np.eye(20, dtype=int)[-1] * 60)) == n_controls(20, 60) - 1


@settings(deadline=None)
@given(st.tuples(st.integers(1, 5), st.integers(1, 6)))
def test_raised_positions_point_to_the_next_degree(shape):
    n_objectives, degree = shape
    above, below = multi_indices(n_objectives, degree), multi_indices(n_objectives, degree - 1)
    raised = raised_positions(n_objectives, degree)
    for m in range(n_objectives):
        np.testing.assert_array_equal(
            above[raised[:, m]], below + np.eye(n_objectives, dtype=int)[m]
        )


@settings(deadline=None)
@given(small)
def test_neighbors_differ_by_one_unit_moved(shape):
    indices, neighbors = multi_indices(*shape), neighbor_positions(*shape)
    expected = [
        {row for row, other in enumerate(indices) if np.abs(other - index).sum() == 2}
        for index in indices
    ]
    assert [set(row) - {own} for own, row in enumerate(neighbors.tolist())] == expected


@settings(deadline=None)
@given(st.integers(2, 8), st.integers(1, 500))
def test_the_largest_degree_within_a_limit(n_objectives, limit):
    degree = largest_degree_within(n_objectives, limit)
    assert n_controls(n_objectives, degree) <= limit or degree == 1
    assert n_controls(n_objectives, degree + 1) > limit
    assert largest_degree_within(1, limit) == 1


@settings(deadline=None)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=6))
def test_multinomial_is_its_definition(index):
    assert multinomial(tuple(index)) * prod(map(factorial, index)) == factorial(sum(index))


def test_multinomial_stays_exact_where_floats_do_not():
    even = (3,) * 20
    assert multinomial(even) == factorial(60) // 6**20
    assert multinomial(even) > 2**53
    assert multinomial((60, *[0] * 19)) == 1


@pytest.mark.parametrize(("n_objectives", "degree"), [(1, 4), (2, 60), (3, 20), (6, 6), (20, 3)])
def test_coefficients_are_the_nearest_floats_and_sum_to_a_power(n_objectives, degree):
    indices, coefficients = multi_indices(n_objectives, degree), multinomials(n_objectives, degree)
    step = max(1, len(indices) // 50)
    for index, coefficient in zip(indices[::step].tolist(), coefficients[::step], strict=True):
        assert coefficient == float(multinomial(tuple(index)))
    exact = sum(int(c) for c in coefficients) if n_objectives**degree < 2**53 else None
    if exact is not None:
        assert exact == n_objectives**degree
    else:
        np.testing.assert_allclose(coefficients.sum(), float(n_objectives**degree), rtol=1e-13)


def test_arrays_are_shared_and_therefore_read_only():
    for array in (multi_indices(3, 2), multinomials(3, 2), raised_positions(3, 2)):
        assert not array.flags.writeable


def test_impossible_sets_are_refused():
    with pytest.raises(
        ValueError, match="n_objectives must be a whole number of at least 1, got 0"
    ):
        multi_indices(0, 2)
    with pytest.raises(ValueError, match="degree must be a whole number of at least 0, got -1"):
        n_controls(3, -1)
    with pytest.raises(
        ValueError, match=r"n_objectives=20 with degree=20 needs 68,923,264,410 control points"
    ):
        multi_indices(20, 20)


@settings(deadline=None)
@given(st.integers(1, 7))
def test_every_subset_once_small_ones_first(n_objectives):
    found = list(faces(n_objectives))
    assert len(found) == len(set(found)) == 2**n_objectives - 1
    assert [len(face) for face in found] == sorted(len(face) for face in found)
    for size in range(1, n_objectives + 1):
        assert len(list(faces(n_objectives, size))) == comb(n_objectives, size)


def test_the_support_of_a_point_is_the_smallest_face_that_holds_it():
    t = np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(support(t), [[True, False, True], [False, True, False]])


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 5), st.integers(0, 5), st.data())
def test_controls_of_a_face_are_its_own_indices_in_order(n_objectives, degree, data):
    face = sorted(data.draw(st.sets(st.integers(0, n_objectives - 1), min_size=1)))
    rows = controls_on_face(face, n_objectives, degree)
    np.testing.assert_array_equal(
        multi_indices(n_objectives, degree)[rows][:, face], multi_indices(len(face), degree)
    )
    assert len(rows) == n_controls(len(face), degree)


@pytest.mark.parametrize("face", [(), (0, 0), (-1,), (3,)])
def test_impossible_faces_are_named(face):
    with pytest.raises(ValueError, match=r"distinct numbers from 0 to 2, at least one, got \("):
        check_face(face, 3)
