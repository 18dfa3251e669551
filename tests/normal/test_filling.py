import numpy as np
import pytest

from bezierflow.normal.filling import fill_inside
from bezierflow.simplex import multi_indices


@pytest.mark.parametrize(("n_objectives", "degree"), [(3, 3), (3, 7), (4, 5)])
def test_a_flat_net_is_filled_exactly(n_objectives, degree):
    rng = np.random.default_rng(0)
    indices = multi_indices(n_objectives, degree)
    flat = indices / degree @ rng.normal(size=(n_objectives, 4))
    inner = (indices > 0).sum(axis=1) > 2
    np.testing.assert_allclose(
        fill_inside(np.where(inner[:, None], 99.0, flat), n_objectives, degree), flat, atol=1e-10
    )


def test_edges_are_kept_and_the_net_is_the_smoothest_one():
    rng = np.random.default_rng(1)
    indices = multi_indices(3, 5)
    net = rng.normal(size=(len(indices), 1))
    outer = (indices > 0).sum(axis=1) <= 2
    filled = fill_inside(net, 3, 5)
    np.testing.assert_array_equal(filled[outer], net[outer])
    assert all(
        roughness(indices, filled) <= roughness(indices, filled + change)
        for change in inner_changes(rng, outer)
    )


def inner_changes(rng, outer):
    return [
        np.where(outer[:, None], 0.0, 0.1 * rng.normal(size=(len(outer), 1))) for _ in range(20)
    ]


def roughness(indices, net):
    """Σ |p_{d+2e_i} − 2p_{d+e_i+e_j} + p_{d+2e_j}|²."""
    place = {tuple(index): row for row, index in enumerate(indices.tolist())}
    total = 0.0
    for i, j in ((0, 1), (0, 2), (1, 2)):
        for below in multi_indices(3, int(indices[0].sum()) - 2):
            e_i, e_j = np.eye(3, dtype=int)[[i, j]]
            rows = [
                place[tuple((below + shift).tolist())] for shift in (2 * e_i, e_i + e_j, 2 * e_j)
            ]
            total += float((net[rows[0]] - 2 * net[rows[1]] + net[rows[2]])[0] ** 2)
    return total


def test_a_low_degree_has_no_inside():
    net = np.arange(6.0)[:, None]
    np.testing.assert_array_equal(fill_inside(net, 3, 2), net)
