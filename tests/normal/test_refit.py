import jax
import numpy as np
import pytest

from bezierflow.normal.refit import dense_refit, slide_refit
from bezierflow.precision import double_precision


def problem(seed=0, n=14, n_free=6, n_variables=4, n_tangents=2):
    rng = np.random.default_rng(seed)
    tangents = np.linalg.qr(rng.normal(size=(n, n_variables, n_tangents)))[0]
    tangents[0, :, 1] = 0  # a node on an edge
    return rng.random((n, n_free)), rng.normal(size=(n, n_variables)), tangents, rng.random(n) + 0.1, 10 ** rng.uniform(-4, -1, n)


def objective(change, design, y, tangents, weights, damping):
    moved = design @ change
    missed = moved - y
    missed = missed - np.einsum("nlk,nk->nl", tangents, np.einsum("nlk,nl->nk", tangents, missed))
    return np.sum(weights**2 * (np.sum(missed**2, axis=1) + damping * np.sum(moved**2, axis=1)))


@pytest.mark.parametrize("refit", [slide_refit, dense_refit])
def test_is_the_minimizer(refit):
    parts = problem()
    change = refit(*parts, xp=np)
    least = objective(change, *parts)
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert objective(change + 1e-4 * rng.normal(size=change.shape), *parts) > least


@pytest.mark.parametrize("seed", range(5))
def test_both_ways_agree(seed):
    np.testing.assert_allclose(slide_refit(*problem(seed), xp=np), dense_refit(*problem(seed), xp=np), atol=1e-9)


def test_one_damping_for_all_is_allowed_and_compiled_it_is_the_same():
    design, y, tangents, weights, _ = problem()
    expected = slide_refit(design, y, tangents, weights, 1e-3, xp=np)
    with double_precision():
        compiled = jax.jit(slide_refit, static_argnums=5)(design, y, tangents, weights, 1e-3)
        dense = jax.jit(dense_refit, static_argnums=5)(design, y, tangents, weights, 1e-3)
    np.testing.assert_allclose(compiled, expected, atol=1e-10)
    np.testing.assert_allclose(dense, expected, atol=1e-9)


def test_slides_alone_cost_nothing():
    # Targets displaced along their tangents only: nothing has to move.
    design, y, tangents, weights, damping = problem()
    y = np.einsum("nlk,nk->nl", tangents, np.ones(tangents.shape[::2]))
    np.testing.assert_allclose(slide_refit(design, y, tangents, weights, damping, xp=np), 0, atol=1e-9)
