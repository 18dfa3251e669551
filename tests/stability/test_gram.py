"""U, Γ and what follows from it: closed forms against simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import design_matrix
from bezierflow.simplex import grid
from bezierflow.stability import (
    basis_norm_bound,
    coherence,
    expected_gram,
    expected_smallest_eigenvalue,
)
from bezierflow.stability.gram import gram_root

SIZES = [(2, 1), (2, 4), (3, 2), (3, 3), (4, 2), (5, 3)]


@pytest.mark.parametrize(("n_objectives", "degree"), SIZES)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), sharpness=st.floats(0.05, 2.0))
def test_the_basis_is_longest_at_the_vertices(n_objectives, degree, seed, sharpness):
    U = basis_norm_bound(n_objectives, degree)
    t = np.random.default_rng(seed).dirichlet(np.full(n_objectives, sharpness), 50)
    assert np.all(np.linalg.norm(design_matrix(t, degree), axis=1) <= U + 1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(design_matrix(np.eye(n_objectives), degree), axis=1), U
    )
    inner = t[t.max(axis=1) < 0.99]
    assert np.all(np.linalg.norm(design_matrix(inner, degree), axis=1) < U)


@pytest.mark.parametrize(("n_objectives", "degree"), SIZES)
def test_the_expected_gram_matrix_agrees_with_simulation(n_objectives, degree):
    Z = design_matrix(np.random.default_rng(1).dirichlet(np.ones(n_objectives), 100_000), degree)
    products = np.einsum("ni,nj->ij", Z, Z) / len(Z)
    noise = np.sqrt(np.einsum("ni,nj->ij", Z**2, Z**2)) / len(Z)
    assert np.all(np.abs(products - expected_gram(n_objectives, degree)) < 6 * noise)


@pytest.mark.parametrize(("n_objectives", "degree"), SIZES)
def test_its_smallest_eigenvalue_and_coherence_have_closed_forms(n_objectives, degree):
    gram = expected_gram(n_objectives, degree)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(gram)[0], expected_smallest_eigenvalue(n_objectives, degree), rtol=1e-9
    )
    Z = design_matrix(grid(n_objectives, 8), degree)
    lengths = np.einsum("ni,ij,nj->n", Z, np.linalg.inv(gram), Z)
    np.testing.assert_allclose(lengths.max(), coherence(n_objectives, degree), rtol=1e-9)
    assert lengths[0] == pytest.approx(lengths.max())  # the first grid point is a vertex
    root = gram_root(n_objectives, degree)
    np.testing.assert_allclose(root @ root, gram, atol=1e-12)
