import numpy as np

from bezierflow.normal.nodes import MOST_NODES, inner_nodes, largest_degree


def test_inner_nodes_lie_on_no_edge():
    for n_objectives in (3, 4, 5):
        t = inner_nodes(n_objectives, 6)
        assert ((t > 0).sum(axis=1) > 2).all()
        np.testing.assert_allclose(t.sum(axis=1), 1, atol=1e-12)


def test_orders_do_not_share_their_nodes():
    first, second = inner_nodes(3, 7), inner_nodes(3, 8)
    apart = np.abs(first[:, None] - second[None]).max(axis=2)
    assert (apart.min(axis=1) > 1e-3).mean() > 0.9


def test_many_objectives_get_a_choice_of_nodes_that_changes_with_the_order():
    first, second = inner_nodes(8, 6), inner_nodes(8, 7)
    assert len(first) == len(second) == MOST_NODES
    assert not np.array_equal(first, second)


def test_the_largest_degree_falls_with_the_number_of_objectives():
    degrees = [largest_degree(n_objectives) for n_objectives in range(2, 12)]
    assert degrees == sorted(degrees, reverse=True)
    assert degrees[-1] >= 2
