"""Faces: all subsets once, inclusion onto them, and the control points that carry them."""

from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.simplex import (
    check_face,
    check_on_simplex,
    controls_on_face,
    faces,
    include,
    multi_indices,
    n_controls,
    support,
)


@settings(deadline=None)
@given(st.integers(1, 7))
def test_every_subset_once_small_ones_first(n_objectives):
    found = list(faces(n_objectives))
    assert len(found) == len(set(found)) == 2**n_objectives - 1
    assert [len(face) for face in found] == sorted(len(face) for face in found)
    for size in range(1, n_objectives + 1):
        assert len(list(faces(n_objectives, size))) == comb(n_objectives, size)


@st.composite
def faces_with_points(draw):
    n_objectives = draw(st.sampled_from([2, 4]))
    face = tuple(draw(st.sets(st.integers(0, n_objectives - 1), min_size=1)))
    t = np.random.default_rng(draw(st.integers(0, 10**6))).dirichlet(np.ones(len(face)), (2, 3))
    return n_objectives, face, t


@settings(deadline=None, max_examples=12)
@given(faces_with_points())
def test_inclusion_keeps_coordinates_and_fills_with_zeros(case):
    n_objectives, face, t = case
    found = include(t, face, n_objectives)
    assert found.dtype == np.float64
    assert found.shape == (2, 3, n_objectives)
    check_on_simplex(found, n_objectives)
    np.testing.assert_array_equal(found[..., sorted(face)], t)
    np.testing.assert_array_equal(
        np.asarray(support(found)).any(axis=(0, 1)), np.isin(np.arange(n_objectives), face)
    )


def test_inclusion_traces_and_keeps_float32():
    t = jnp.asarray([[0.25, 0.75]], jnp.float32)
    found = jax.jit(lambda t: include(t, (2, 0), 3))(t)
    assert found.dtype == jnp.float32
    np.testing.assert_array_equal(found, [[0.25, 0, 0.75]])


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


def test_inclusion_names_a_wrong_number_of_coordinates():
    with pytest.raises(
        ValueError, match=r"t must have 2 coordinates for the face \(0, 1\), got shape \(4, 3\)"
    ):
        include(np.ones((4, 3)), (1, 0), 3)
