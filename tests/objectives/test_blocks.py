import numpy as np
import pytest

from bezierflow.objectives import block_size, in_blocks


@pytest.mark.parametrize("n", [0, 1, 4, 7])
def test_blocks_of_one_size_serve_any_number_of_rows(n):
    sizes = []

    def double(rows, other):
        sizes.append(len(rows))
        return 2 * rows, rows + other

    rows = np.arange(3.0 * n).reshape(n, 3)
    doubled, added = in_blocks(double, 4, rows, np.ones((n, 3)))
    np.testing.assert_array_equal(doubled, 2 * rows)
    np.testing.assert_array_equal(added, rows + 1)
    assert set(sizes) == {4}


def test_blocks_shrink_where_hessians_are_large():
    assert block_size(3, 10, 20_000_000) == 16
    assert block_size(3, 2000, 20_000_000) == 1
