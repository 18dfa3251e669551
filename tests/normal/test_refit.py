import numpy as np
import pytest

from bezierflow.normal.refit import dense_refit, slide_refit


def problem(seed=0, n=14, n_free=6, n_variables=4, n_tangents=2):
    rng = np.random.default_rng(seed)
    tangents = np.linalg.qr(rng.normal(size=(n, n_variables, n_tangents)))[0]
    tangents[0, :, 1] = 0  # a node on an edge
    return (
        rng.random((n, n_free)),
        rng.normal(size=(n, n_variables)),
        tangents,
        rng.random(n) + 0.1,
        10 ** rng.uniform(-4, -1, n),
    )


def objective(change, design, y, tangents, weights, damping):
    moved = design @ change
    missed = moved - y
    missed = missed - np.einsum("nlk,nk->nl", tangents, np.einsum("nlk,nl->nk", tangents, missed))
    return np.sum(weights**2 * (np.sum(missed**2, axis=1) + damping * np.sum(moved**2, axis=1)))


@pytest.mark.parametrize("refit", [slide_refit, dense_refit])
def test_is_the_minimizer(refit):
    parts = problem()
    change = refit(*parts)
    least = objective(change, *parts)
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert objective(change + 1e-4 * rng.normal(size=change.shape), *parts) > least


@pytest.mark.parametrize("seed", range(5))
def test_both_ways_agree(seed):
    np.testing.assert_allclose(slide_refit(*problem(seed)), dense_refit(*problem(seed)), atol=1e-9)


def test_slides_alone_cost_nothing():
    # Targets displaced along their tangents only: nothing has to move.
    design, y, tangents, weights, damping = problem()
    y = np.einsum("nlk,nk->nl", tangents, np.ones(tangents.shape[::2]))
    np.testing.assert_allclose(slide_refit(design, y, tangents, weights, damping), 0, atol=1e-9)


def test_a_singular_system_gets_the_shortest_answer_and_one_that_is_not_finite_none():
    design, y, tangents, weights, damping = problem()
    idle = np.column_stack([design, np.zeros(len(design))])  # a control point that moves nothing
    change = dense_refit(idle, y, tangents, weights, damping)
    np.testing.assert_allclose(
        change[:-1], dense_refit(design, y, tangents, weights, damping), atol=1e-8
    )
    np.testing.assert_allclose(change[-1], 0, atol=1e-8)
    assert np.isnan(dense_refit(np.full_like(design, np.nan), y, tangents, weights, damping)).all()
